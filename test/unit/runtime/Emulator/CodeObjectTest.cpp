//===- CodeObjectTest.cpp - Reading code objects --------------------------===//

#include "runtime/Emulator/Decode/CodeObject.h"
#include "test/unit/runtime/Emulator/Assembler.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::emulator;

static KernelSource makeSource() {
  KernelSource source;
  source.chip = "gfx90a";
  source.body = "s_nop 0";
  source.ldsBytes = 1024;
  source.argumentBytes = 16;
  source.hidden = {{"hidden_block_count_x", 4}};
  return source;
}

// Descriptor and metadata are read as the assembler wrote them.
TEST(CodeObject, ReadsKernel) {
  MemoryMap memory;
  std::vector<uint8_t> bytes = assembleKernel(makeSource());
  EXPECT_LE(getElfSize(bytes.data()), bytes.size());
  auto object =
      CodeObject::load(bytes.data(), bytes.size(), *findChip("gfx90a"), memory);
  ASSERT_TRUE(object) << object.getStatus().getMessage();
  const KernelImage *kernel = (*object)->findKernel("kernel");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->descriptor.ldsBytes, 1024u);
  EXPECT_EQ(kernel->descriptor.kernargBytes, 20u);
  ASSERT_EQ(kernel->arguments.size(), 3u);
  EXPECT_EQ(kernel->arguments[1].offset, 8u);
  EXPECT_TRUE(kernel->arguments[2].isHidden());
  EXPECT_EQ(kernel->codeBytes, 8u);
  EXPECT_FALSE((*object)->findKernel("other"));
}

// A code object for another chip gives another error than garbage.
TEST(CodeObject, RefusesOtherChipAndGarbage) {
  MemoryMap memory;
  std::vector<uint8_t> bytes = assembleKernel(makeSource());
  auto other =
      CodeObject::load(bytes.data(), bytes.size(), *findChip("gfx942"), memory);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.getStatus().getCode(), StatusCode::NotSupported);
  EXPECT_NE(other.getStatus().getMessage().find("gfx90a"), std::string::npos);
  std::vector<uint8_t> garbage(256, 0x5a);
  EXPECT_EQ(getElfSize(garbage.data()), 0u);
  EXPECT_FALSE(CodeObject::load(garbage.data(), garbage.size(),
                                *findChip("gfx90a"), memory));
}

// Whatever part is missing or overwritten, loading fails or succeeds but never
// reads out of bounds (run this test with the sanitizers).
TEST(CodeObject, SurvivesDamage) {
  MemoryMap memory;
  std::vector<uint8_t> bytes = assembleKernel(makeSource());
  for (size_t i = 0; i < bytes.size(); i += 5) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i] ^= 0xff;
    (void)CodeObject::load(damaged.data(), damaged.size(), *findChip("gfx90a"),
                           memory);
    (void)CodeObject::load(bytes.data(), i, *findChip("gfx90a"), memory);
  }
  EXPECT_EQ(memory.getAllocatedBytes(), 0u);
}
