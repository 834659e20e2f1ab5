//===- OpenClCompiler.cpp - Compiled kernels for tests --------------------===//

#include "test/unit/runtime/Emulator/OpenClCompiler.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace tessera::emulator;

bool tessera::emulator::hasOpenClCompiler() {
  static const bool found =
      std::system("clang-22 --version > /dev/null 2>&1") == 0;
  return found;
}

// There is no library that provides get_local_id() and barrier().
static constexpr const char *kPrelude = R"(
#define TID ((int)__builtin_amdgcn_workitem_id_x())
#define GID ((int)__builtin_amdgcn_workgroup_id_x())
#define BARRIER() \
  do { \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)
#define FENCE() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")
)";

std::vector<uint8_t>
tessera::emulator::compileOpenCl(const std::string &chip,
                                 const std::string &source,
                                 const std::string &options) {
  std::string stem =
      ::testing::TempDir() + "tessera-opencl-" + std::to_string(getpid());
  std::ofstream(stem + ".cl") << kPrelude << source;
  std::string command =
      "clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -nogpulib -w " +
      options + " -mcpu=" + chip + " " + stem + ".cl -o " + stem + ".hsaco";
  EXPECT_EQ(std::system(command.c_str()), 0) << source;
  std::ifstream file(stem + ".hsaco", std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  std::remove((stem + ".cl").c_str());
  std::remove((stem + ".hsaco").c_str());
  return bytes;
}
