//===- NvptxTest.cpp - Compiles every kind of problem for NVIDIA ----------===//
//
// These tests need no GPU. They check that each problem has a kernel, that PTX
// and launch agree about it and, where NVIDIA's assembler is installed, that it
// accepts the PTX and hardly spills.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Pipeline.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tessera;

// The problems cover all directions, types, algorithms and layouts, and nested
// and flat reductions.
static constexpr const char *kProblems[] = {
    "convfp16 -n 2 -c 64 -H 14 -W 14 -k 64 -y 3 -x 3 -p 1 -q 1 -I NHWC -O NHWC "
    "-f NHWC -F 1",
    "convfp16 -n 2 -c 60 -H 13 -W 14 -k 50 -y 3 -x 3 -p 1 -q 1 -F 2",
    "convbfp16 -n 4 -c 64 -H 15 -W 15 -k 64 -y 3 -x 3 -u 2 -v 2 -p 1 -q 1 "
    "-I NHWC -O NHWC -f NHWC -F 2",
    "convbfp16 -n 64 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1 -I NHWC -O "
    "NHWC -f NHWC -F 1",
    "convfp16 -n 32 -c 256 -H 28 -W 28 -k 256 -y 3 -x 3 -p 1 -q 1 -I NHWC -O "
    "NHWC -f NHWC -F 2",
    "convbfp16 -n 4 -c 64 -H 15 -W 15 -k 64 -y 1 -x 1 -u 2 -v 2 -I NHWC -O "
    "NHWC -f NHWC -F 2",
    "convfp16 -n 2 -c 64 -H 14 -W 14 -k 50 -y 3 -x 3 -p 1 -q 1 -I NHWC -O NHWC "
    "-f NHWC -F 1 --epilogue beta+bias+residual+relu",
    "conv -n 2 -c 32 -H 17 -W 19 -k 48 -y 3 -x 3 -u 2 -v 2 -p 1 -q 1 -F 4",
    "conv -n 64 -c 32 -H 8 -W 8 -k 48 -y 3 -x 3 -p 1 -q 1 -F 4",
    "convint8 -n 2 -c 64 -H 14 -W 14 -k 64 -I NHWC -O NHWC -f NHWC -F 1",
    "conv -n 2 -c 32 -H 28 -W 28 -k 32 -y 3 -x 3 -g 32 -p 1 -q 1 -F 1",
    "convfp16 -n 2 -c 32 -H 28 -W 28 -k 32 -y 3 -x 3 -g 32 -p 1 -q 1 -F 4",
    "convbfp16 -n 64 -c 144 -H 28 -W 28 -k 144 -y 3 -x 3 -u 2 -v 2 -g 144 -p 1 "
    "-q 1 -I NHWC -O NHWC -f NHWC -F 4",
    "conv -n 64 -c 96 -H 28 -W 28 -k 96 -y 5 -x 5 -g 96 -p 2 -q 2 -I NHWC -O "
    "NHWC -f NHWC -F 4",
    "convfp64 -n 32 -c 96 -H 28 -W 28 -k 96 -y 3 -x 3 -g 96 -p 1 -q 1 -I NHWC "
    "-O NHWC -f NHWC -F 4",
    "convfp16 -n 32 -c 96 -H 56 -W 56 -k 96 -y 7 -x 7 -g 96 -p 3 -q 3 -I NHWC "
    "-O NHWC -f NHWC -F 1",
    "convbfp16 -n 32 -c 96 -H 56 -W 56 -k 96 -y 7 -x 7 -g 96 -p 3 -q 3 -I NHWC "
    "-O NHWC -f NHWC -F 4",
    "convbfp16 -n 64 -c 256 -H 28 -W 28 -k 256 -y 3 -x 3 -g 32 -p 1 -q 1 -I "
    "NHWC -O NHWC -f NHWC -F 1",
    "conv -n 1 -c 16 -H 9 -W 9 -k 16 -y 3 -x 3 --spatial_dim 3 -D 8 -@ 3 -p 1 "
    "-q 1 -F 1",
    "pool-fwd-max-f16-nhwc,nhwc-n2c64h112w112-y3x3-p1x1-s2x2-iu8mask",
    "pool-bwd-max-f16-nhwc,nhwc-n2c64h112w112-y3x3-p1x1-s2x2-iu8mask",
    "pool-fwd-max-f32-nhwc,nhwc-n2c8h28w28-y3x3-p1x1-s2x2-inone",
};

namespace {
class Nvptx : public testing::TestWithParam<std::string> {
protected:
  PipelineResult compile(const char *problem) {
    PipelineOptions options;
    options.target = findTarget(GetParam());
    ErrorOr<PipelineResult> result =
        compileText(context, Stage::Problem, problem, options);
    EXPECT_TRUE(result) << problem << ": " << result.getStatus().getMessage();
    return result ? std::move(*result) : PipelineResult();
  }

  CompileContext context;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Chips, Nvptx,
                         testing::Values("sm_80", "sm_90", "sm_100", "sm_103",
                                         "sm_110", "sm_120"),
                         [](const auto &info) { return info.param; });

// Each launch names a kernel that has the launch's arguments and threads, and
// that fits into the shared memory of the chip.
TEST_P(Nvptx, KernelsAreLaunchable) {
  for (const char *problem : kProblems) {
    PipelineResult result = compile(problem);
    EXPECT_FALSE(result.launches.empty()) << problem;
    for (const LaunchRecipe &launch : result.launches) {
      auto kernel = std::ranges::find(result.kernels, launch.symbol,
                                      &KernelMetadata::name);
      ASSERT_NE(kernel, result.kernels.end()) << launch.symbol;
      const size_t args = launch.args.size(), maps = launch.maps.size();
      EXPECT_EQ(kernel->args.size(), maps + args) << problem;
      EXPECT_EQ(kernel->kernargBytes, maps * 128 + args * 8) << problem;
      EXPECT_EQ(kernel->maxBlockSize, launch.block[0]) << problem;
      EXPECT_LE(kernel->resources.ldsBytes, findTarget(GetParam())->ldsBytes);
    }
  }
}

/// Returns the command of NVIDIA's assembler, or an empty text without one.
static std::string findPtxas() {
  for (const char *name : {"ptxas", "/usr/local/cuda/bin/ptxas"})
    if (std::system(
            (std::string(name) + " --version >/dev/null 2>&1").c_str()) == 0)
      return name;
  return {};
}

static std::string runAndRead(const std::string &command, int &status) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    text += static_cast<char>(c);
  status = pclose(pipe);
  return text;
}

/// Returns the architecture that the PTX names: for sm_90 it is "sm_90a", which
/// has the features that later chips lack.
static std::string getArchitecture(const std::string &ptx) {
  const std::string directive = ".target ";
  const size_t begin = ptx.find(directive) + directive.size();
  return ptx.substr(begin, ptx.find('\n', begin) - begin);
}

/// Before sm_90, ptxas spills some registers of a thread to gain occupancy.
static constexpr int kMaxSpillBytes = 32;

// The assembler accepts the PTX of every problem and hardly spills.
TEST_P(Nvptx, IsAssembled) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "NVIDIA's assembler, ptxas, is not installed";
  std::string file =
      std::filesystem::temp_directory_path() /
      ("tessera-nvptx-test-" + std::to_string(getpid()) + ".ptx");
  for (const char *problem : kProblems) {
    std::string ptx = compile(problem).output;
    ASSERT_FALSE(ptx.empty());
    ptx.pop_back(); // Drop the zero that ends the text for the driver.
    std::ofstream(file) << ptx;
    int status = 0;
    std::string said = runAndRead(ptxas + " -v -arch=" + getArchitecture(ptx) +
                                      " -o /dev/null " + file,
                                  status);
    EXPECT_EQ(status, 0) << problem << "\n" << said;
    // Warnings C75xx say that wgmma instructions are serialised.
    EXPECT_EQ(said.find("C75"), said.npos) << problem << "\n" << said;
    for (size_t at = said.find(" bytes spill"); at != said.npos;
         at = said.find(" bytes spill", at + 1)) {
      size_t number = said.find_last_not_of("0123456789", at - 1) + 1;
      EXPECT_LE(std::stoi(said.substr(number, at - number)), kMaxSpillBytes)
          << problem << "\n"
          << said;
    }
  }
  std::filesystem::remove(file);
}
