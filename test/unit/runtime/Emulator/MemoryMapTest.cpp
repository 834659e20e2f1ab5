//===- MemoryMapTest.cpp - The list of allocations ------------------------===//

#include "runtime/Emulator/MemoryMap.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

// Bounds are exact to the byte, and two allocations never touch.
TEST(MemoryMap, BoundsAreExact) {
  MemoryMap map;
  auto a = reinterpret_cast<uint64_t>(map.allocate(100, MemoryKind::Device));
  auto b = reinterpret_cast<uint64_t>(map.allocate(100, MemoryKind::Device));
  ASSERT_TRUE(a && b);
  EXPECT_GT(b > a ? b - a : a - b, 4096u);
  EXPECT_TRUE(map.find(a + 99)->contains(a + 99, 1));
  EXPECT_FALSE(map.find(a + 99)->contains(a + 99, 2));
  EXPECT_FALSE(map.find(a + 100));
  EXPECT_FALSE(map.find(a - 1));
}

// A freed address is not reused immediately, and messages describe what it was.
TEST(MemoryMap, RemembersFreedMemory) {
  MemoryMap map;
  void *first = map.allocate(100, MemoryKind::Device);
  auto address = reinterpret_cast<uint64_t>(first);
  EXPECT_FALSE(map.free(first, MemoryKind::Host));
  EXPECT_TRUE(map.free(first, MemoryKind::Device));
  EXPECT_FALSE(map.free(first, MemoryKind::Device));
  EXPECT_NE(map.allocate(100, MemoryKind::Device), first);
  auto lock = map.lockForLaunch();
  EXPECT_NE(map.describeLocked(address + 8).find("which was freed"),
            std::string::npos);
}

// New memory is full of NaN.
TEST(MemoryMap, NewMemoryIsPoisoned) {
  MemoryMap map;
  auto *values = static_cast<float *>(map.allocate(64, MemoryKind::Device));
  EXPECT_NE(values[3], values[3]);
  EXPECT_EQ(map.getAllocatedBytes(), 64u);
}

// A request for more memory than the host has is refused.
TEST(MemoryMap, RefusesTooMuch) {
  MemoryMap map;
  EXPECT_EQ(map.allocate(size_t(1) << 60, MemoryKind::Device), nullptr);
}

// Memory that is owned elsewhere is accessible until it is released, and
// releasing does not touch it.
TEST(MemoryMap, AdoptsMemory) {
  MemoryMap map;
  int owned[8] = {1, 2, 3};
  auto address = reinterpret_cast<uint64_t>(owned);
  EXPECT_TRUE(map.adopt(owned, sizeof owned));
  EXPECT_FALSE(map.adopt(owned + 7, 8));
  EXPECT_TRUE(map.find(address)->contains(address, sizeof owned));
  EXPECT_EQ(map.getAllocatedBytes(), 0u);
  EXPECT_TRUE(map.free(owned, MemoryKind::Adopted));
  EXPECT_FALSE(map.find(address));
  EXPECT_EQ(owned[2], 3);
}

// The second part of an allocation can be of another kind.
TEST(MemoryMap, SplitsAllocations) {
  MemoryMap map;
  void *whole = map.allocate(8192, MemoryKind::Code);
  auto begin = reinterpret_cast<uint64_t>(whole);
  map.split(begin + 4096, MemoryKind::Global);
  EXPECT_FALSE(map.find(begin)->isWritable());
  EXPECT_FALSE(map.find(begin)->contains(begin, 4097));
  EXPECT_TRUE(map.find(begin + 4096)->isWritable());
  EXPECT_TRUE(map.free(whole, MemoryKind::Code));
  EXPECT_TRUE(map.free(static_cast<char *>(whole) + 4096, MemoryKind::Global));
  EXPECT_EQ(map.getAllocatedBytes(), 0u);
}
