//===- ReadMetadataTest.cpp - Reads the metadata of code objects ----------===//

#include "TestKernel.h"
#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include <gtest/gtest.h>

using namespace tessera;

// Every number is read into its own field, from an object file and from a
// linked code object.
TEST(ReadMetadata, ReadsEveryField) {
  ErrorOr<ObjectBytes> object =
      assembleText(test::kTestKernel, *findTarget("gfx942"));
  ASSERT_TRUE(object) << object.getStatus().getMessage();
  ErrorOr<ObjectBytes> linked = linkObject(*object);
  ASSERT_TRUE(linked) << linked.getStatus().getMessage();
  for (const ObjectBytes &bytes : {*object, *linked}) {
    ErrorOr<std::vector<KernelMetadata>> kernels = readMetadata(bytes);
    ASSERT_TRUE(kernels) << kernels.getStatus().getMessage();
    ASSERT_EQ(kernels->size(), 1u);
    const KernelMetadata &kernel = kernels->front();
    EXPECT_EQ(kernel.name, "idle");
    EXPECT_EQ(kernel.resources.vgprs, 134u);
    EXPECT_EQ(kernel.resources.agprs, 6u);
    EXPECT_EQ(kernel.resources.sgprs, 31u);
    EXPECT_EQ(kernel.resources.vgprSpills, 2u);
    EXPECT_EQ(kernel.resources.sgprSpills, 3u);
    EXPECT_EQ(kernel.resources.ldsBytes, 32768u);
    EXPECT_EQ(kernel.resources.scratchBytes, 16u);
    EXPECT_EQ(kernel.kernargBytes, 12u);
    EXPECT_EQ(kernel.waveSize, 64u);
    EXPECT_EQ(kernel.maxBlockSize, 256u);
    ASSERT_EQ(kernel.args.size(), 2u);
    EXPECT_EQ(kernel.args[0].kind, "global_buffer");
    EXPECT_EQ(kernel.args[1].kind, "by_value");
    EXPECT_EQ(kernel.args[1].offset, 8u);
    EXPECT_EQ(kernel.args[1].bytes, 4u);
  }
}

// Bytes that are no ELF file are refused.
TEST(ReadMetadata, RefusesGarbage) {
  EXPECT_FALSE(readMetadata(std::string_view("this is no object file")));
  EXPECT_FALSE(readMetadata({}));
}

// An ELF file whose end is missing is refused, wherever it was cut.
TEST(ReadMetadata, RefusesEveryTruncation) {
  ErrorOr<ObjectBytes> object =
      assembleText(test::kTestKernel, *findTarget("gfx942"));
  ASSERT_TRUE(object) << object.getStatus().getMessage();
  for (size_t size = 0; size < object->size(); size += 8)
    EXPECT_FALSE(readMetadata({object->data(), size})) << size;
}

// An object without a note is an error, not a code object without kernels.
TEST(ReadMetadata, RefusesAnObjectWithoutNote) {
  ErrorOr<ObjectBytes> object =
      assembleText("s_endpgm\n", *findTarget("gfx942"));
  ASSERT_TRUE(object) << object.getStatus().getMessage();
  ErrorOr<std::vector<KernelMetadata>> kernels = readMetadata(*object);
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.getStatus().getMessage(),
            "the code object has no AMDGPU metadata note");
}
