//===- LinkObjectTest.cpp - Links by LLD inside this process --------------===//

#include "TestKernel.h"
#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include "llvm/Support/CommandLine.h"

#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>

using namespace tessera;

static ObjectBytes makeObject() {
  ErrorOr<ObjectBytes> object =
      assembleText(test::kTestKernel, *findTarget("gfx942"));
  EXPECT_TRUE(object) << object.getStatus().getMessage();
  return object ? *object : ObjectBytes();
}

// The result is a shared object (ELF type 3) that still has its metadata.
TEST(LinkObject, MakesACodeObject) {
  ErrorOr<ObjectBytes> linked = linkObject(makeObject());
  ASSERT_TRUE(linked) << linked.getStatus().getMessage();
  EXPECT_EQ(std::string_view(linked->data(), 4), "\177ELF");
  EXPECT_EQ((*linked)[16], 3);
  ErrorOr<std::vector<KernelMetadata>> kernels = readMetadata(*linked);
  ASSERT_TRUE(kernels) << kernels.getStatus().getMessage();
  EXPECT_EQ(kernels->size(), 1u);
}

// A hundred links from four threads all give the same bytes.
TEST(LinkObject, WorksFromManyThreads) {
  ObjectBytes object = makeObject();
  ErrorOr<ObjectBytes> expected = linkObject(object);
  ASSERT_TRUE(expected) << expected.getStatus().getMessage();
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i != 25; ++i) {
        ErrorOr<ObjectBytes> linked = linkObject(object);
        same += linked && *linked == *expected;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(same, 100);
}

// Garbage and empty input are errors that say why, and the next link works.
TEST(LinkObject, SurvivesGarbage) {
  for (std::string_view garbage : {"this is no object file", ""}) {
    ErrorOr<ObjectBytes> linked = linkObject(garbage);
    ASSERT_FALSE(linked);
    EXPECT_NE(linked.getStatus().getMessage().find("cannot link"),
              std::string::npos)
        << linked.getStatus().getMessage();
    EXPECT_TRUE(linkObject(makeObject()));
  }
}

// An undefined symbol is reported by the linker, not only by the loader of the
// GPU.
TEST(LinkObject, RefusesUndefinedSymbols) {
  ErrorOr<ObjectBytes> object =
      assembleText(".globl f\nf:\n\ts_getpc_b64 s[0:1]\n\ts_add_u32 s0, s0, "
                   "missing@rel32@lo+4\n\ts_endpgm\n",
                   *findTarget("gfx942"));
  ASSERT_TRUE(object) << object.getStatus().getMessage();
  ErrorOr<ObjectBytes> linked = linkObject(*object);
  ASSERT_FALSE(linked);
  EXPECT_NE(linked.getStatus().getMessage().find("missing"), std::string::npos)
      << linked.getStatus().getMessage();
}

static size_t countOpenFiles() {
  std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

// Neither success nor failure leaves a file descriptor open.
TEST(LinkObject, ClosesWhatItOpens) {
  ObjectBytes object = makeObject();
  EXPECT_TRUE(linkObject(object));
  size_t before = countOpenFiles();
  EXPECT_TRUE(linkObject(object));
  EXPECT_FALSE(linkObject(std::string_view("garbage")));
  EXPECT_EQ(countOpenFiles(), before);
}

// LLD does not reset the LLVM options of other users in the process.
TEST(LinkObject, LeavesOptionsAlone) {
  static llvm::cl::opt<int> option("tessera-test-option", llvm::cl::init(1));
  const char *args[] = {"test", "-tessera-test-option=7"};
  ASSERT_TRUE(llvm::cl::ParseCommandLineOptions(2, args));
  EXPECT_TRUE(linkObject(makeObject()));
  EXPECT_EQ(option, 7);
}
