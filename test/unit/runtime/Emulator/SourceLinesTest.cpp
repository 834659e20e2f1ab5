//===- SourceLinesTest.cpp - Lines of source in messages ------------------===//

#include "runtime/Emulator/Launch.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace tessera::emulator;

/// Compiles a kernel whose fifth line stores out of bounds.
static std::vector<uint8_t> compile(const std::string &flags) {
  std::string folder =
      ::testing::TempDir() + "tessera-lines-" + std::to_string(getpid());
  std::string source = folder + "-store.cl", object = folder + ".hsaco";
  std::ofstream(source) << "kernel void store(global int *out) {\n"
                           "  int value = 1;\n"
                           "  if (out)\n"
                           "    value = 2;\n"
                           "  out[1 << 28] = value;\n"
                           "}\n";
  std::string command = "clang-22 -x cl -target amdgcn-amd-amdhsa "
                        "-mcpu=gfx942 -nogpulib " +
                        flags + " " + source + " -o " + object;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream file(object, std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  std::remove(source.c_str());
  std::remove(object.c_str());
  return bytes;
}

/// Returns the message of the fault.
static std::string runKernel(const std::vector<uint8_t> &bytes) {
  const Chip &chip = *findChip("gfx942");
  MemoryMap memory;
  auto object = CodeObject::load(bytes.data(), bytes.size(), chip, memory);
  EXPECT_TRUE(object) << object.getStatus().getMessage();
  Decoder decoder(chip, 64);
  Program program(decoder, (*object)->getText(), (*object)->getLoadAddress());
  program.setSourceLines((*object)->getSourceLines());
  void *output = memory.allocate(4096, MemoryKind::Device);
  Launch launch{
      (*object)->getKernels()[0], program, chip, {64, 1, 1}, {64, 1, 1}, 0,
      std::vector<uint8_t>(8)};
  std::memcpy(launch.arguments.data(), &output, 8);
  LaunchOutcome outcome = run(launch, memory, Settings());
  EXPECT_EQ(outcome.fault, FaultKind::IllegalAddress) << outcome.message;
  return outcome.message;
}

// With -g a message names the line; without it the line is left out.
TEST(SourceLines, AreInMessages) {
  if (std::system("clang-22 --version > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no clang-22 to compile the kernel with";
  EXPECT_NE(runKernel(compile("-g -O1")).find("-store.cl:5: store of 4 bytes"),
            std::string::npos);
  EXPECT_EQ(runKernel(compile("-O1")).find("store.cl"), std::string::npos);
}
