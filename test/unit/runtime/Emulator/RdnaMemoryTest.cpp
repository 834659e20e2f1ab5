//===- RdnaMemoryTest.cpp - Memory as gfx11 and gfx12 spell it ------------===//

#include "test/unit/runtime/Emulator/KernelTester.h"
#include "test/unit/runtime/Emulator/OpenClCompiler.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

static constexpr const char *kChips[] = {"gfx1100", "gfx1151", "gfx1200",
                                         "gfx1201"};

static bool isGfx12(const std::string &chip) {
  return chip.starts_with("gfx12");
}

/// Prepares 1024 bytes of device memory with their address in s[0:1], and a raw
/// descriptor of `records` bytes for them in s[4:7].
static uint8_t *prepare(WaveTester &tester, uint32_t records,
                        uint32_t outOfBoundsSelect = 3) {
  auto *data =
      static_cast<uint8_t *>(tester.memory.allocate(1024, MemoryKind::Device));
  for (unsigned i = 0; i < 1024; ++i)
    data[i] = static_cast<uint8_t>(i * 7 + i / 256);
  tester.setPair(0, reinterpret_cast<uint64_t>(data));
  tester.setPair(4, reinterpret_cast<uint64_t>(data));
  tester.s(6) = records;
  tester.s(7) = 0x01027000 | outOfBoundsSelect << 28;
  return data;
}

template <typename T>
static T read(const uint8_t *data, unsigned offset) {
  T value;
  std::memcpy(&value, data + offset, sizeof value);
  return value;
}

// Scalar loads have every width; gfx12 also has short ones, which are extended,
// and prefetches, which do nothing.
TEST(RdnaMemory, ScalarLoads) {
  for (std::string chip : kChips) {
    WaveTester tester(chip);
    uint8_t *data = prepare(tester, 64);
    tester.s(3) = 16;
    tester.runWell("s_load_b32 s8, s[0:1], 0x4\n"
                   "s_load_b64 s[10:11], s[0:1], s3 offset:0x8\n"
                   "s_load_b512 s[16:31], s[0:1], null\n"
                   "s_buffer_load_b128 s[12:15], s[4:7], 0x38");
    EXPECT_EQ(tester.s(8), read<uint32_t>(data, 4));
    EXPECT_EQ(tester.s(11), read<uint32_t>(data, 28));
    EXPECT_EQ(tester.s(31), read<uint32_t>(data, 60));
    EXPECT_EQ(tester.s(13), read<uint32_t>(data, 60));
    EXPECT_EQ(tester.s(14), 0u) << "behind the descriptor's end";
    if (!isGfx12(chip))
      continue;
    data[33] = 0x92;
    tester.runWell("s_load_b96 s[8:10], s[0:1], s3 offset:-0x8\n"
                   "s_load_u8 s11, s[0:1], 0x21\n"
                   "s_load_i8 s12, s[0:1], 0x21\n"
                   "s_load_u16 s13, s[0:1], 0x20\n"
                   "s_load_i16 s14, s[0:1], 0x20\n"
                   "s_buffer_load_u8 s15, s[4:7], 0x40\n"
                   "s_prefetch_data s[0:1], 0, s2, 3\n"
                   "s_prefetch_inst_pc_rel 100, null, 3");
    EXPECT_EQ(tester.s(10), read<uint32_t>(data, 16));
    EXPECT_EQ(tester.s(11), 0x92u);
    EXPECT_EQ(tester.s(12), 0xffffff92u);
    EXPECT_EQ(tester.s(13), read<uint16_t>(data, 32));
    EXPECT_EQ(tester.s(14), 0xffff0000u | read<uint16_t>(data, 32));
    EXPECT_EQ(tester.s(15), 0u);
  }
}

// A dword is in range only as a whole; the dwords of a wide load are checked
// one by one.
TEST(RdnaMemory, BufferRangeIsOfWholeDwords) {
  for (std::string chip : kChips) {
    WaveTester tester(chip);
    uint8_t *data = prepare(tester, 102);
    std::string soffset = isGfx12(chip) ? "null" : "0";
    for (unsigned lane = 0; lane < 32; ++lane)
      tester.v(1, lane) = 4 * lane;
    tester.runWell("buffer_load_b32 v0, v1, s[4:7], " + soffset +
                   " offen\nbuffer_load_b128 v[4:7], v1, s[4:7], " + soffset +
                   " offen offset:4");
    EXPECT_EQ(tester.v(0, 24), read<uint32_t>(data, 96));
    EXPECT_EQ(tester.v(0, 25), 0u) << "bytes 100 to 103 of 102";
    EXPECT_EQ(tester.v(5, 22), read<uint32_t>(data, 96));
    EXPECT_EQ(tester.v(6, 22), 0u);
  }
}

// In a structured buffer index and offset each have their own limit.
TEST(RdnaMemory, StructuredBuffer) {
  WaveTester tester("gfx1201");
  uint8_t *data = prepare(tester, 10, 0);
  tester.s(5) |= 8 << 16; // stride 8, ten records
  for (unsigned lane = 0; lane < 32; ++lane)
    tester.v(1, lane) = lane;
  tester.runWell("buffer_load_b32 v0, v1, s[4:7], null idxen offset:4\n"
                 "buffer_load_b32 v2, v1, s[4:7], null idxen offset:5");
  EXPECT_EQ(tester.v(0, 9), read<uint32_t>(data, 76));
  EXPECT_EQ(tester.v(0, 10), 0u);
  EXPECT_EQ(tester.v(2, 3), 0u) << "one byte behind the record";
}

// Buffer atomics in each spelling; out of range they return 0 and change
// nothing.
TEST(RdnaMemory, BufferAtomics) {
  struct Case {
    const char *chip, *add, *compareSwap;
  };
  static constexpr Case kCases[] = {
      {"gfx942", "buffer_atomic_add v2, v1, s[4:7], 0 offen sc0",
       "buffer_atomic_cmpswap v[4:5], v3, s[4:7], 0 offen sc0"},
      {"gfx1030", "buffer_atomic_add v2, v1, s[4:7], 0 offen glc",
       "buffer_atomic_cmpswap v[4:5], v3, s[4:7], 0 offen glc"},
      {"gfx1100", "buffer_atomic_add_u32 v2, v1, s[4:7], 0 offen glc",
       "buffer_atomic_cmpswap_b32 v[4:5], v3, s[4:7], 0 offen glc"},
      {"gfx1201",
       "buffer_atomic_add_u32 v2, v1, s[4:7], null offen th:TH_ATOMIC_RETURN",
       "buffer_atomic_cmpswap_b32 v[4:5], v3, s[4:7], null offen "
       "th:TH_ATOMIC_RETURN"},
  };
  for (const Case &test : kCases) {
    WaveTester tester(test.chip);
    uint8_t *data = prepare(tester, 64);
    if (findChip(test.chip)->isGfx9())
      tester.s(7) = 0x00027000;
    std::memset(data, 0, 64);
    for (unsigned lane = 0; lane < tester->lanes; ++lane) {
      tester.v(1, lane) = lane == 31 ? 64 : 4;
      tester.v(2, lane) = 3;
      tester.v(3, lane) = 8;
      tester.v(4, lane) = lane + 1; // new
      tester.v(5, lane) = lane;     // compare
    }
    uint32_t after = read<uint32_t>(data, 64);
    tester.runWell(std::string(test.add) + "\n" + test.compareSwap);
    EXPECT_EQ(read<uint32_t>(data, 4), 3 * (tester->lanes - 1)) << test.chip;
    EXPECT_EQ(read<uint32_t>(data, 64), after);
    EXPECT_EQ(tester.v(2, 7), 21u);
    EXPECT_EQ(tester.v(2, 31), 0u);
    EXPECT_EQ(read<uint32_t>(data, 8), tester->lanes);
    EXPECT_EQ(tester.v(4, 9), 9u);
  }
}

// gfx12 adds a subtraction that saturates at 0, and one that happens only if
// the result is not negative; th: says whether the old value is returned.
TEST(RdnaMemory, ConditionalSubtraction) {
  WaveTester tester("gfx1201");
  auto *data = reinterpret_cast<uint32_t *>(prepare(tester, 0));
  data[0] = data[1] = 10;
  tester->setExec(3);
  for (unsigned lane = 0; lane < 2; ++lane) {
    tester.v(1, lane) = 0;
    tester.v(2, lane) = lane ? 8 : 4;
  }
  tester.runWell(
      "global_atomic_sub_clamp_u32 v3, v1, v2, s[0:1] th:TH_ATOMIC_RETURN\n"
      "global_atomic_cond_sub_u32 v4, v1, v2, s[0:1] offset:4 "
      "th:TH_ATOMIC_RETURN scope:SCOPE_DEV");
  EXPECT_EQ(data[0], 0u);
  EXPECT_EQ(tester.v(3, 1), 6u);
  EXPECT_EQ(data[1], 6u);
  EXPECT_EQ(tester.v(4, 1), 6u);
}

// gfx11's names for halves, and negative offsets.
TEST(RdnaMemory, HalvesAndOffsets) {
  for (std::string chip : kChips) {
    WaveTester tester(chip);
    uint8_t *data = prepare(tester, 1024);
    tester->setExec(1);
    tester.v(1, 0) = 128;
    uint32_t v2 = tester.v(2, 0), v3 = tester.v(3, 0);
    tester.v(4, 0) = 0x11223344;
    tester.runWell("global_load_d16_b16 v2, v1, s[0:1] offset:-4\n"
                   "global_load_d16_hi_u8 v3, v1, s[0:1] offset:1\n"
                   "global_store_d16_hi_b16 v1, v4, s[0:1] offset:8\n"
                   "global_store_b8 v1, v4, s[0:1] offset:10\n"
                   "global_load_b96 v[8:10], v1, s[0:1]");
    EXPECT_EQ(tester.v(2, 0), (v2 & 0xffff0000) | read<uint16_t>(data, 124));
    EXPECT_EQ(tester.v(3, 0), (v3 & 0xffff) | data[129] << 16);
    EXPECT_EQ(read<uint16_t>(data, 136), 0x1122);
    EXPECT_EQ(data[138], 0x44);
    EXPECT_EQ(tester.v(10, 0), read<uint32_t>(data, 136));
  }
}

// LDS: two addresses, the operand order of cmpstore (new value, then
// comparand), the address made of M0 and lane, and a permutation that reads
// inactive lanes.
TEST(RdnaMemory, Lds) {
  for (std::string chip : kChips) {
    WaveTester tester(chip);
    for (unsigned lane = 0; lane < 32; ++lane) {
      tester.v(1, lane) = 8 * lane;
      tester.v(4, lane) = 77;
      tester.v(5, lane) = lane;
      tester.v(6, lane) = 100 + lane;
    }
    tester.s(kM0) = 4096;
    tester.runWell(
        "ds_store_2addr_stride64_b32 v1, v5, v6 offset0:0 offset1:2\n"
        "ds_load_2addr_b32 v[8:9], v1 offset0:0 offset1:128\n"
        "ds_cmpstore_rtn_b32 v10, v1, v4, v5\n"
        "ds_load_b32 v11, v1\n"
        "ds_store_addtid_b32 v6 offset:64\n"
        "ds_load_addtid_b32 v12 offset:64");
    EXPECT_EQ(tester.v(8, 9), 9u) << chip;
    EXPECT_EQ(tester.v(9, 9), 109u);
    EXPECT_EQ(tester.v(10, 9), 9u);
    EXPECT_EQ(tester.v(11, 9), 77u);
    EXPECT_EQ(tester.v(12, 9), 109u);
    EXPECT_EQ(read<uint32_t>(tester.lds.data(), 4096 + 64 + 36), 109u);
    if (!isGfx12(chip))
      continue;
    tester->setExec(0xffff);
    for (unsigned lane = 0; lane < 32; ++lane)
      tester.v(1, lane) = 4 * (lane + 16);
    tester.runWell("ds_bpermute_fi_b32 v14, v1, v6\n"
                   "ds_bpermute_b32 v15, v1, v6");
    EXPECT_EQ(tester.v(14, 3), 119u);
    EXPECT_EQ(tester.v(15, 3), 0u);
  }
}

/// Launches OpenCL C on every chip and passes the output to `check`.
template <typename Check>
static void runKernel(const std::string &source, std::array<uint32_t, 3> items,
                      std::array<uint32_t, 3> group, Check check) {
  if (!hasOpenClCompiler())
    GTEST_SKIP() << "no clang-22";
  for (const char *chip : {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030",
                           "gfx1100", "gfx1151", "gfx1200", "gfx1201"}) {
    SCOPED_TRACE(chip);
    KernelTester tester(chip, compileOpenCl(chip, source));
    tester.launchWell(items, group);
    check(tester.output);
  }
}

// Compiled code finds its ids in three dimensions, partial groups included.
TEST(RdnaLaunch, IdsInThreeDimensions) {
  runKernel(
      "kernel void k(global uint *out) {\n"
      "  uint lx = __builtin_amdgcn_workitem_id_x();\n"
      "  uint ly = __builtin_amdgcn_workitem_id_y();\n"
      "  uint lz = __builtin_amdgcn_workitem_id_z();\n"
      "  uint gx = __builtin_amdgcn_workgroup_id_x();\n"
      "  uint gy = __builtin_amdgcn_workgroup_id_y();\n"
      "  uint gz = __builtin_amdgcn_workgroup_id_z();\n"
      "  constant uint *hidden = __builtin_amdgcn_implicitarg_ptr();\n"
      "  uint x = gx * 8 + lx, y = gy * 3 + ly, z = gz * 2 + lz;\n"
      "  out[(z * 6 + y) * 20 + x] = lx | ly << 4 | lz << 8 | gx << 12 |\n"
      "    gy << 16 | gz << 20 | hidden[1] << 24 |\n"
      "    (uint)__builtin_amdgcn_workgroup_size_x() << 28;\n"
      "}",
      {20, 6, 4}, {8, 3, 2}, [](const uint32_t *out) {
        for (uint32_t z = 0; z < 4; ++z)
          for (uint32_t y = 0; y < 6; ++y)
            for (uint32_t x = 0; x < 20; ++x)
              ASSERT_EQ(out[(z * 6 + y) * 20 + x],
                        x % 8 | y % 3 << 4 | z % 2 << 8 | x / 8 << 12 |
                            y / 3 << 16 | z / 2 << 20 | 2u << 24 | 8u << 28);
      });
}

// Private memory is accessed with addresses known only at run time, and atomics
// have a pointer that may be private, LDS or global.
TEST(RdnaLaunch, ScratchAndGenericAtomics) {
  runKernel("kernel void k(global uint *out) {\n"
            "  local uint shared[64]; volatile uint own[16]; uint mine = 5;\n"
            "  uint i = TID;\n"
            "  for (uint j = 0; j < 16; ++j) own[(j + i) % 16] = j;\n"
            "  shared[i] = 1000; BARRIER();\n"
            "  out[64 + i] = 2000;\n"
            "  uint *p = i % 3 == 0 ? &mine : i % 3 == 1 ? (uint *)&shared[i]\n"
            "                                  : (uint *)&out[64 + i];\n"
            "  uint old = __opencl_atomic_fetch_add((atomic_uint *)p, i,\n"
            "      memory_order_relaxed, memory_scope_device);\n"
            "  out[i] = own[3] + 16 * (old + *p);\n"
            "}",
            {64, 1, 1}, {64, 1, 1}, [](const uint32_t *out) {
              for (uint32_t i = 0; i < 64; ++i) {
                uint32_t begin = i % 3 == 0 ? 5 : 1000 * (i % 3);
                ASSERT_EQ(out[i], (3 - i) % 16 + 16 * (2 * begin + i)) << i;
              }
            });
}

// Waves that meet at barriers again and again see each other's values.
TEST(RdnaLaunch, BarriersInALoop) {
  runKernel("kernel void k(global uint *out) {\n"
            "  local uint shared[256]; uint i = TID;\n"
            "  shared[i] = i; BARRIER();\n"
            "  for (uint s = 128; s; s /= 2) {\n"
            "    if (i < s) shared[i] += shared[i + s];\n"
            "    BARRIER();\n"
            "  }\n"
            "  out[i] = shared[0];\n"
            "}",
            {256, 1, 1}, {256, 1, 1}, [](const uint32_t *out) {
              for (uint32_t i = 0; i < 256; ++i)
                ASSERT_EQ(out[i], 255u * 128);
            });
}

static KernelSource makeSplitBarrier(const std::string &body) {
  KernelSource source;
  source.chip = "gfx1201";
  source.argumentBytes = 8;
  source.ldsBytes = 64;
  source.body = "s_load_b64 s[8:9], s[0:1], 0x0\ns_wait_kmcnt 0x0\n"
                "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n" +
                body;
  return source;
}

// A wave may signal, continue, and wait later; the first to signal learns that
// it was. In the second round a wave signals before another wave's first wait.
TEST(RdnaLaunch, SplitBarrier) {
  KernelTester tester(makeSplitBarrier(
      "s_mov_b32 s10, 0\n"
      "s_barrier_signal_isfirst -1\ns_cselect_b32 s11, 1, 0\n"
      "s_add_co_i32 s10, s10, s11\ns_barrier_wait -1\n"
      "s_barrier_signal_isfirst -1\ns_cselect_b32 s11, 1, 0\n"
      "s_add_co_i32 s10, s10, s11\ns_nop 0\ns_barrier_wait -1\n"
      "v_mov_b32 v2, s10\nglobal_store_b32 v1, v2, s[8:9]"));
  tester.launchWell({96, 1, 1}, {96, 1, 1});
  uint32_t firsts = 0;
  for (unsigned wave = 0; wave < 3; ++wave)
    firsts += tester.output[32 * wave];
  EXPECT_EQ(firsts, 2u) << "one a round";
}

// A wait that too few waves have signalled is an error instead of a hang.
TEST(RdnaLaunch, WaitWithoutSignalIsAnError) {
  KernelTester tester(makeSplitBarrier("s_barrier_wait -1"));
  LaunchOutcome outcome = tester.launch({64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(outcome.fault, FaultKind::IllegalState);
  EXPECT_NE(outcome.message.find("only 0 of 2"), std::string::npos)
      << outcome.message;
}
