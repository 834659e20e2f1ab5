//===- LaunchTest.cpp - Whole kernels on each chip ------------------------===//

#include "test/unit/runtime/Emulator/KernelTester.h"

using namespace tessera::emulator;

static constexpr const char *kChips[] = {"gfx906", "gfx908", "gfx90a", "gfx942",
                                         "gfx1030"};

/// Loads the kernarg pointer from the user SGPRs, which begin with it; the ids
/// follow.
static std::string loadArgument(const std::string &chip) {
  (void)chip;
  return "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n";
}

// Each item reads its ids and stores at its index. Workgroup ids are in the
// SGPRs after the user SGPRs; the chip decides whether item ids are packed.
TEST(Launch, IdsReachEveryItem) {
  for (std::string chip : kChips) {
    KernelSource source;
    source.chip = chip;
    source.argumentBytes = 8;
    source.directives = ".amdhsa_system_sgpr_workgroup_id_x 1\n"
                        ".amdhsa_system_sgpr_workgroup_id_y 1\n"
                        ".amdhsa_system_vgpr_workitem_id 1\n";
    bool packed = findChip(chip)->packedWorkitemIds;
    // index = ((gy * 2 + gx) * 4 + y) * 32 + x; value = index + 1
    source.body =
        loadArgument(chip) +
        (packed ? "v_bfe_u32 v1, v0, 10, 10\nv_and_b32 v0, 0x3ff, v0\n" : "") +
        "s_lshl_b32 s4, s3, 1\ns_add_i32 s4, s4, s2\ns_lshl_b32 s4, s4, 2\n"
        "v_mov_b32 v2, s4\n" +
        (chip == "gfx1030" ? "v_add_nc_u32 v2, v2, v1\n"
                           : "v_add_u32 v2, v2, v1\n") +
        "v_lshl_or_b32 v2, v2, 5, v0\n" +
        (chip == "gfx1030" ? "v_add_nc_u32 v3, 1, v2\n"
                           : "v_add_u32 v3, 1, v2\n") +
        "v_lshlrev_b32 v2, 2, v2\nglobal_store_dword v2, v3, s[8:9]";
    KernelTester tester(source);
    tester.launchWell({64, 12, 1}, {32, 4, 1});
    for (uint32_t i = 0; i < 2 * 3 * 128; ++i)
      ASSERT_EQ(tester.output[i], i + 1) << chip;
    EXPECT_EQ(tester.output[2 * 3 * 128], 0u);
  }
}

// With a limit, the first, the last and some groups between them are executed,
// each once.
TEST(Launch, SampleOfGroups) {
  KernelSource source;
  source.chip = "gfx942";
  source.argumentBytes = 8;
  source.directives = ".amdhsa_system_sgpr_workgroup_id_x 1\n";
  source.body = loadArgument(source.chip) +
                "s_lshl_b32 s2, s2, 2\nv_mov_b32 v1, s2\nv_mov_b32 v2, 1\n"
                "global_atomic_add v1, v2, s[8:9]";
  for (uint64_t limit : {0, 1, 3, 7, 100}) {
    KernelTester tester(source);
    tester.settings.maxGroups = limit;
    tester.launchWell({10, 1, 1}, {1, 1, 1});
    std::string run;
    for (int i = 0; i < 10; ++i)
      run += std::to_string(tester.output[i]);
    EXPECT_EQ(run, limit == 1   ? "1000000000"
                   : limit == 3 ? "1000100001"
                   : limit == 7 ? "1101101101"
                                : "1111111111")
        << limit;
  }
}

// A last group that is not full has fewer lanes, and the hidden arguments say
// so.
TEST(Launch, PartialGroupsAndHiddenArguments) {
  for (std::string chip : kChips) {
    KernelSource source;
    source.chip = chip;
    source.argumentBytes = 8;
    source.hidden = {{"hidden_block_count_x", 4},
                     {"hidden_group_size_x", 2},
                     {"hidden_remainder_x", 2},
                     {"hidden_grid_dims", 2}};
    source.body = loadArgument(chip) +
                  "s_load_dwordx2 s[10:11], s[0:1], 0x8\n"
                  "s_load_dword s12, s[0:1], 0x10\n"
                  "v_mov_b32 v1, 0\nv_mov_b32 v2, s10\nv_mov_b32 v3, s11\n"
                  "v_mov_b32 v4, s12\nv_mov_b32 v5, 1\n"
                  "global_store_dword v1, v2, s[8:9]\n"
                  "global_store_dword v1, v3, s[8:9] offset:4\n"
                  "global_store_dword v1, v4, s[8:9] offset:8\n"
                  "global_atomic_add v1, v5, s[8:9] offset:12";
    KernelTester tester(source);
    tester.launchWell({100, 1, 1}, {64, 1, 1});
    EXPECT_EQ(tester.output[0], 1u);
    EXPECT_EQ(tester.output[1], 64u | 36u << 16);
    EXPECT_EQ(tester.output[2] & 0xffff, 1u);
    EXPECT_EQ(tester.output[3], 100u) << chip;
  }
}

// The waves of a group meet at the barrier: one reads from LDS what the other
// wrote.
TEST(Launch, BarrierJoinsWaves) {
  for (std::string chip : kChips) {
    KernelSource source;
    source.chip = chip;
    source.argumentBytes = 8;
    source.ldsBytes = 512;
    source.body = loadArgument(chip) +
                  "v_and_b32 v0, 0x3ff, v0\n"
                  "v_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v0\n"
                  "s_waitcnt lgkmcnt(0)\ns_barrier\n"
                  "v_xor_b32 v2, 0x1fc, v1\nds_read_b32 v3, v2\n"
                  "s_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v3, s[8:9]";
    KernelTester tester(source);
    tester.launchWell({128, 1, 1}, {128, 1, 1});
    for (uint32_t i = 0; i < 128; ++i)
      ASSERT_EQ(tester.output[i], 127 - i) << chip;
  }
}

// Each lane has its own private memory, which each chip accesses in its own
// way.
TEST(Launch, PrivateMemory) {
  for (std::string chip : kChips) {
    KernelSource source;
    source.chip = chip;
    source.argumentBytes = 8;
    source.scratchBytes = 64;
    bool flat = findChip(chip)->architectedFlatScratch;
    std::string argument = loadArgument(chip);
    if (!flat) {
      source.directives = ".amdhsa_user_sgpr_private_segment_buffer 1\n";
      source.directives +=
          ".amdhsa_system_sgpr_private_segment_wavefront_offset 1\n";
      // s[0:3] is the descriptor, s[4:5] the arguments, s6 the group, s7 the
      // wave's offset.
      argument = "s_add_u32 s0, s0, s7\ns_addc_u32 s1, s1, 0\n"
                 "s_load_dwordx2 s[8:9], s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\n";
    } else {
      source.directives = ".amdhsa_enable_private_segment 1\n";
    }
    source.body = argument + "v_and_b32 v0, 0x3ff, v0\nv_mov_b32 v4, 8\n" +
                  (flat ? "scratch_store_dword off, v0, off offset:12\n"
                          "scratch_load_dword v2, v4, off offset:4\n"
                        : "buffer_store_dword v0, off, s[0:3], 0 offset:12\n"
                          "buffer_load_dword v2, v4, s[0:3], 0 offen "
                          "offset:4\n") +
                  "s_waitcnt vmcnt(0)\nv_lshlrev_b32 v1, 2, v0\n"
                  "global_store_dword v1, v2, s[8:9]";
    KernelTester tester(source);
    tester.launchWell({256, 1, 1}, {128, 1, 1});
    for (uint32_t i = 0; i < 128; ++i)
      ASSERT_EQ(tester.output[i], i) << chip;
  }
}

// A kernel that never ends is stopped, and the message says where.
TEST(Launch, WatchdogStopsEndlessLoop) {
  KernelSource source;
  source.body = "loop:\ns_branch loop";
  KernelTester tester(source);
  tester.settings.maxInstructions = 5000;
  LaunchOutcome outcome = tester.launch({64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(outcome.fault, FaultKind::Watchdog);
  EXPECT_NE(outcome.message.find("kernel 'kernel'"), std::string::npos);
  EXPECT_NE(outcome.message.find("s_branch"), std::string::npos);
}

// An access one byte beyond the end is noticed even when another allocation
// exists, and so is an access to freed memory; the device runs the next kernel
// all the same.
TEST(Launch, OverrunAndUseAfterFree) {
  KernelSource source;
  source.argumentBytes = 8;
  source.body = loadArgument("gfx942") +
                "v_lshlrev_b32 v1, 2, v0\nglobal_store_dword v1, v0, s[8:9] "
                "offset:4000";
  KernelTester tester(source);
  void *neighbour = tester.memory.allocate(65536, MemoryKind::Device);
  LaunchOutcome outcome = tester.launch({64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(outcome.fault, FaultKind::IllegalAddress);
  EXPECT_NE(outcome.message.find("lane 24"), std::string::npos)
      << outcome.message;
  tester.launchWell({16, 1, 1}, {16, 1, 1});
  EXPECT_TRUE(tester.memory.free(tester.output, MemoryKind::Device));
  outcome = tester.launch({16, 1, 1}, {16, 1, 1});
  EXPECT_EQ(outcome.fault, FaultKind::IllegalAddress);
  EXPECT_NE(outcome.message.find("freed"), std::string::npos)
      << outcome.message;
  tester.memory.free(neighbour, MemoryKind::Device);
}

// A register that nobody wrote holds a NaN.
TEST(Launch, UnwrittenRegistersArePoisoned) {
  KernelSource source;
  source.argumentBytes = 8;
  source.body = loadArgument("gfx942") +
                "v_mov_b32 v1, 0\nglobal_store_dword v1, v9, s[8:9]";
  KernelTester tester(source);
  tester.launchWell({1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(tester.output[0], 0xffffffffu);
}

// The hardware drops the low address bits of a scalar load; here it is an
// error.
TEST(Launch, MisalignedScalarLoad) {
  for (std::string chip : kChips) {
    KernelSource source;
    source.chip = chip;
    source.argumentBytes = 8;
    source.body = loadArgument(chip) + "s_load_dword s4, s[8:9], 0x4\n"
                                       "s_add_u32 s8, s8, 2\n"
                                       "s_load_dword s4, s[8:9], 0x4";
    KernelTester tester(source);
    LaunchOutcome outcome = tester.launch({64, 1, 1}, {64, 1, 1});
    EXPECT_EQ(outcome.fault, FaultKind::Misaligned) << chip;
    EXPECT_NE(outcome.message.find("6 bytes into the 4096-byte allocation"),
              std::string::npos)
        << outcome.message;
  }
}

// gfx950 has 160 KiB of LDS, the last dword of which works; one byte more,
// dynamic LDS included, is refused before anything runs. gfx942 refuses more
// than 64 KiB.
TEST(Launch, LdsLimit) {
  for (std::string chip : {"gfx942", "gfx950"}) {
    uint32_t limit = chip == "gfx950" ? 160 * 1024 : 64 * 1024;
    KernelSource source;
    source.chip = chip;
    source.argumentBytes = 8;
    source.ldsBytes = limit;
    source.body = loadArgument(chip) + "v_mov_b32 v1, " +
                  std::to_string(limit - 4) +
                  "\nv_mov_b32 v2, 77\nds_write_b32 v1, v2\n"
                  "ds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\n"
                  "v_mov_b32 v4, 0\nglobal_store_dword v4, v3, s[8:9]";
    KernelTester tester(source);
    Launch request = tester.makeLaunch({1, 1, 1}, {1, 1, 1});
    request.dynamicLdsBytes = 1;
    LaunchOutcome outcome = run(request, tester.memory, tester.settings);
    EXPECT_EQ(outcome.fault, FaultKind::IllegalState) << chip;
    EXPECT_NE(outcome.message.find(std::to_string(limit + 1) + " bytes of LDS"),
              std::string::npos)
        << outcome.message;
    EXPECT_EQ(tester.output[0], 0u);
    tester.launchWell({1, 1, 1}, {1, 1, 1});
    EXPECT_EQ(tester.output[0], 77u) << chip;
  }
}
