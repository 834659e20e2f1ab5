//===- FakeHip.cpp - How tests reach the fake HIP runtime -----------------===//

#include "test/unit/Support/FakeHip.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

using namespace tessera;
using namespace tessera::test;

std::vector<char> test::makeFakeCodeObject(const std::string &symbol) {
  std::string text = "FAKE-CODE-OBJECT:" + symbol;
  return {text.c_str(), text.c_str() + text.size() + 1};
}

std::string test::getFakeHipPath(const std::string &variant) {
  const bool hasFolder = variant.find('/') != variant.npos;
  return std::string(FAKE_HIP_FOLDER) + (hasFolder ? "/" : "/lib") + variant +
         ".so";
}

[[noreturn]] static void giveUp(const std::string &why) {
  std::fprintf(stderr, "fake HIP runtime: %s\n", why.c_str());
  std::abort();
}

const GpuApi &test::loadFakeHip(const std::string &variant) {
  static std::mutex mutex;
  static std::map<std::string, GpuApi> tables;
  std::lock_guard lock(mutex);
  if (auto found = tables.find(variant); found != tables.end())
    return found->second;
  ErrorOr<GpuApi> api =
      GpuApiLoader({{DeviceKind::Amd, getFakeHipPath(variant)}}).load("amd");
  if (!api)
    giveUp(api.getStatus().getMessage());
  return tables.emplace(variant, *api).first->second;
}

FakeHip &test::getFakeHip(const std::string &variant) {
  void *library = dlopen(getFakeHipPath(variant).c_str(), RTLD_NOW);
  if (!library)
    giveUp(dlerror());
  using GetState = FakeHip *();
  return *reinterpret_cast<GetState *>(dlsym(library, "fakeHipState"))();
}
