//===- FakeCuda.cpp - How tests load the fake libcuda.so.1 ----------------===//

#include "test/unit/Support/FakeCuda.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

using namespace tessera::test;

// dlopen("libcuda.so.1") finds a library that is loaded under that soname, so
// that everyone who opens it afterwards gets the fake.
FakeCuda &tessera::test::loadFakeCuda(const std::string &variant) {
  std::string path =
      std::string(FAKE_CUDA_FOLDER) + "/" + variant + "/libcuda.so.1";
  void *library = dlopen(path.c_str(), RTLD_NOW);
  using GetState = FakeCuda *();
  auto *get =
      library ? reinterpret_cast<GetState *>(dlsym(library, "fakeCudaState"))
              : nullptr;
  if (!get) {
    std::fprintf(stderr, "fake libcuda: %s\n", dlerror());
    std::abort();
  }
  return *get();
}
