//===- ReadPtxTest.cpp - Reads the kernels of PTX -------------------------===//

#include "compiler/Target/NVPTX/NvptxTarget.h"

#include <gtest/gtest.h>

using namespace tessera;

static constexpr char kTwoKernels[] = R"(
.version 8.6
.target sm_90
.address_size 64

.visible .entry first(
	.param .u64 .ptr .global .align 1 first_param_0,
	.param .f64 first_param_1
)
.maxntid 128, 1, 1
{
	.shared .align 16 .b8 __wg_first_0[2048];
	.shared .align 16 .b8 __wg_first_1[1024];
	ret;
}
.visible .entry second(
	.param .u64 .ptr .global .align 1 second_param_0
)
.maxntid 64, 1, 1
{
	ret;
}
)";

// Every directive is read into its own field of its own kernel.
TEST(ReadPtx, ReadsEveryKernel) {
  ErrorOr<std::vector<KernelMetadata>> kernels = readPtx(kTwoKernels);
  ASSERT_TRUE(kernels) << kernels.getStatus().getMessage();
  ASSERT_EQ(kernels->size(), 2u);
  const KernelMetadata &first = kernels->at(0);
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.maxBlockSize, 128u);
  EXPECT_EQ(first.waveSize, 32u);
  EXPECT_EQ(first.resources.ldsBytes, 3072u);
  EXPECT_EQ(first.kernargBytes, 16u);
  ASSERT_EQ(first.args.size(), 2u);
  EXPECT_EQ(first.args[0].kind, "global_buffer");
  EXPECT_EQ(first.args[1].kind, "by_value");
  EXPECT_EQ(first.args[1].offset, 8u);
  EXPECT_EQ(first.args[1].bytes, 8u);
  const KernelMetadata &second = kernels->at(1);
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(second.maxBlockSize, 64u);
  EXPECT_EQ(second.resources.ldsBytes, 0u);
  EXPECT_EQ(second.args.size(), 1u);
}

// PTX without a kernel is refused, and so is a call of an undefined function.
TEST(ReadPtx, RefusesWhatCannotRun) {
  EXPECT_FALSE(readPtx(".version 8.6\n.target sm_90\n"));
  ErrorOr<std::vector<KernelMetadata>> kernels =
      readPtx(std::string(".extern .func  (.param .b32 result) __nv_expf\n") +
              kTwoKernels);
  ASSERT_FALSE(kernels);
  EXPECT_NE(kernels.getStatus().getMessage().find("__nv_expf"),
            std::string::npos);
}
