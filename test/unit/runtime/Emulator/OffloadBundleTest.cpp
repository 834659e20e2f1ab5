//===- OffloadBundleTest.cpp - Code objects of several chips in one -------===//
//
// test/conformance runs bundles that clang made, including compressed ones.
// Here are invalid ones.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Decode/OffloadBundle.h"

#include <gtest/gtest.h>
#include <string>

using namespace tessera;
using namespace tessera::emulator;

static void append(std::vector<uint8_t> &bytes, uint64_t value) {
  for (unsigned i = 0; i < 8; ++i)
    bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

/// Makes a bundle whose entries contain their own index.
static std::vector<uint8_t> makeBundle(const std::vector<std::string> &names) {
  const std::string magic = "__CLANG_OFFLOAD_BUNDLE__";
  std::vector<uint8_t> bytes(magic.begin(), magic.end());
  uint64_t offset = magic.size() + 8;
  for (const std::string &name : names)
    offset += 24 + name.size();
  append(bytes, names.size());
  for (const std::string &name : names) {
    append(bytes, offset++);
    append(bytes, 1);
    append(bytes, name.size());
    bytes.insert(bytes.end(), name.begin(), name.end());
  }
  for (size_t i = 0; i < names.size(); ++i)
    bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

// A feature that the code requires must match the device; one that it does not
// mention may have any value. gfx90 is not gfx90a.
TEST(OffloadBundle, ComparesTargets) {
  const char *device = "gfx90a:sramecc+:xnack-";
  EXPECT_TRUE(isCompatibleTarget("gfx90a", device));
  EXPECT_TRUE(isCompatibleTarget("gfx90a:xnack-", device));
  EXPECT_FALSE(isCompatibleTarget("gfx90a:xnack+", device));
  EXPECT_FALSE(isCompatibleTarget("gfx90", device));
  EXPECT_FALSE(isCompatibleTarget("gfx906", device));
}

// The entry for the device is found among others, and the host's entry is
// skipped.
TEST(OffloadBundle, PicksEntry) {
  auto bundle = makeBundle({"host-x86_64-unknown-linux-gnu-",
                            "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+",
                            "hipv4-amdgcn-amd-amdhsa--gfx90a",
                            "hip-amdgcn-amd-amdhsa-gfx1030"});
  auto first =
      selectCodeObject(std::span(std::as_const(bundle)), *findChip("gfx90a"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->at(0), 2);
  auto second =
      selectCodeObject(std::span(std::as_const(bundle)), *findChip("gfx1030"));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->at(0), 3);
  auto none =
      selectCodeObject(std::span(std::as_const(bundle)), *findChip("gfx942"));
  EXPECT_EQ(none.getStatus().getCode(), StatusCode::NotSupported);
}

// A bundle that is cut off anywhere is refused and not read beyond its end.
TEST(OffloadBundle, RefusesWhatIsCutOff) {
  auto bundle = makeBundle({"hipv4-amdgcn-amd-amdhsa--gfx942"});
  for (size_t size = 1; size < bundle.size(); ++size) {
    std::vector<uint8_t> part(bundle.begin(), bundle.begin() + long(size));
    EXPECT_FALSE(
        selectCodeObject(std::span(std::as_const(part)), *findChip("gfx942")))
        << size;
  }
}
