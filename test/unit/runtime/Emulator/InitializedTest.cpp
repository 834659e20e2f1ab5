//===- InitializedTest.cpp - Values that nobody has written ---------------===//

#include "test/unit/runtime/Emulator/KernelTester.h"

#include <algorithm>

using namespace tessera::emulator;

/// Returns the outcome of `body` under the check, run with the buffer's address
/// in s[8:9] and lane * 4 in v1. A lane has 64 bytes of private memory.
static LaunchOutcome runChecked(const std::string &body,
                                const std::string &chip = "gfx942") {
  KernelSource source;
  source.chip = chip;
  source.argumentBytes = 8;
  source.ldsBytes = 1024;
  if (chip == "gfx942")
    source.scratchBytes = 64;
  source.body = "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
                "v_and_b32 v1, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v1\n" +
                body;
  KernelTester tester(source);
  tester.settings.checks = CheckSet::none().with(Check::Initialized);
  return tester.launch({64, 1, 1}, {64, 1, 1});
}

static void expectQuiet(const std::string &body) {
  LaunchOutcome outcome = runChecked(body);
  EXPECT_EQ(outcome.fault, FaultKind::None) << outcome.message;
}

/// Expects a finding whose message has `words`. Addresses that nobody has
/// written fault as well.
static void expectFound(const std::string &body, const std::string &words) {
  LaunchOutcome outcome = runChecked(body);
  EXPECT_TRUE(std::ranges::any_of(outcome.findings, [](const auto &one) {
    return one.kind == FaultKind::Uninitialized;
  })) << body;
  EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
}

// Addresses of every kind are checked: vector, scalar, LDS, and the resource of
// a buffer.
TEST(Initialized, Addresses) {
  expectFound("global_load_dword v2, v7, s[8:9]",
              "lane 0: v7 is used as an address, but its value was never "
              "written");
  expectFound("global_load_dword v2, v1, s[20:21]",
              "s20 is used as an address");
  expectFound("s_load_dword s3, s[8:9], s20", "s20 is used as an address");
  expectFound("ds_read_b32 v2, v7", "v7 is used as an address");
  expectFound("buffer_load_dword v2, v1, s[20:23], 0 offen",
              "s20 is used as an address");
}

// The instruction at which the value became undefined is named, through
// arithmetic.
TEST(Initialized, NamesTheOrigin) {
  expectFound("v_add_u32 v8, v7, v1\nv_mul_lo_u32 v9, v8, v1\n"
              "global_load_dword v2, v9, s[8:9]",
              "it comes from pc 0x");
  expectFound("v_add_u32 v8, v7, v1\nglobal_load_dword v2, v8, s[8:9]",
              "(v_add_u32_e32 v8, v7, v1)");
}

// Branches by SCC, VCC and EXEC are checked, and jumps.
TEST(Initialized, Branches) {
  expectFound("s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 0", "scc decides a branch");
  expectFound("v_cmp_eq_u32 vcc, 0, v7\ns_and_b64 vcc, exec, vcc\n"
              "s_cbranch_vccz 0",
              "vcc_lo decides a branch");
  expectFound("v_cmp_eq_u32 vcc, 0, v7\ns_and_saveexec_b64 s[2:3], vcc\n"
              "s_cbranch_execz 0",
              "exec_lo decides a branch");
  // The kernel ends before the jump would be taken.
  expectFound("s_cmp_eq_u32 s20, s21\ns_cbranch_scc0 0", "scc decides");
}

// A mask with one lane that is known to be set decides a branch, whatever the
// others hold; inactive lanes give zeros.
TEST(Initialized, MasksAreJudgedByTheirBits) {
  expectQuiet("s_mov_b64 exec, 1\nv_mov_b32 v7, 0\ns_mov_b64 exec, -1\n"
              "v_cmp_eq_u32 vcc, 0, v7\ns_cbranch_vccnz 0");
  expectQuiet("s_mov_b64 exec, 1\nv_mov_b32 v7, 0\n"
              "v_cmp_ne_u32 vcc, 0, v7\ns_mov_b64 exec, -1\n"
              "s_cbranch_vccz 0");
  expectQuiet("s_and_b64 s[20:21], s[20:21], 0\ns_cmp_eq_u64 s[20:21], 0\n"
              "s_cbranch_scc1 0");
  expectQuiet("s_or_b32 s20, s20, 1\ns_cbranch_scc1 0");
  // Only the lower half has a value, and only that is used.
  expectQuiet("s_mov_b32 s21, 0\ns_pack_ll_b32_b16 s20, s21, s22\n"
              "s_and_b32 s20, s20, 0xffff\ns_cmp_eq_u32 s20, 0\n"
              "s_cbranch_scc1 0");
}

// Values that are stored to global memory are checked, through flat and buffer
// accesses and by atomics, too.
TEST(Initialized, Stores) {
  expectFound("global_store_dword v1, v7, s[8:9]",
              "lane 0: v7 is stored to global memory");
  expectFound("v_mov_b32 v2, s8\nv_mov_b32 v3, s9\n"
              "flat_store_dword v[2:3], v7",
              "v7 is stored");
  expectFound("s_mov_b32 s10, 0x1000\ns_mov_b32 s11, 0x27000\n"
              "buffer_store_dword v7, v1, s[8:11], 0 offen",
              "v7 is stored");
  expectFound("global_atomic_add v1, v7, s[8:9]", "v7 is stored");
  expectFound("v_mov_b32 v2, 0\nv_mov_b32 v5, 0\n"
              "global_store_dwordx4 v1, v[2:5], s[8:9]",
              "v3 is stored");
  expectFound("v_mfma_f32_4x4x4_16b_f16 v[4:7], v[2:3], v[2:3], v[4:7]\n"
              "global_store_dword v1, v4, s[8:9]",
              "v4 is stored");
}

// The fourth element of a vector of three may be undefined, and so may a value
// that is out of a buffer descriptor's range.
TEST(Initialized, StoresThatAreFine) {
  expectQuiet("v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_mov_b32 v4, 0\n"
              "global_store_dwordx4 v0, v[2:5], s[8:9]");
  expectQuiet("s_mov_b32 s10, 0\ns_mov_b32 s11, 0x27000\n"
              "buffer_store_dword v7, v1, s[8:11], 0 offen");
}

// A register pair that is a number may have a value in its lower half only,
// beside a carry that is written.
TEST(Initialized, NumbersBesideCarries) {
  expectQuiet("s_mov_b32 s20, 0\n"
              "v_mad_u64_u32 v[2:3], s[20:21], v1, 3, s[20:21]\n"
              "global_store_dword v1, v2, s[8:9]");
  expectFound("s_mov_b32 s20, 0\n"
              "v_mad_u64_u32 v[2:3], s[20:21], v1, 3, s[20:21]\n"
              "global_store_dword v1, v3, s[8:9]",
              "v3 is stored");
}

// Inactive lanes use no values.
TEST(Initialized, TailsWithLanesOff) {
  expectQuiet("s_mov_b64 exec, 0xff\nv_mov_b32 v7, v1\n"
              "global_store_dword v7, v7, s[8:9]\ns_mov_b64 exec, -1");
  expectFound("s_mov_b64 exec, 0xff\nv_mov_b32 v7, v1\ns_mov_b64 exec, 0x1ff\n"
              "global_store_dword v1, v7, s[8:9]",
              "lane 8: v7 is stored");
}

// Private memory keeps definedness: an undefined register that is saved and
// restored is still undefined, which is allowed; a local variable that was
// never set is reported when it is stored.
TEST(Initialized, PrivateMemory) {
  expectQuiet("scratch_store_dword off, v7, off offset:16\n"
              "scratch_load_dword v7, off, off offset:16\n"
              "scratch_store_dword off, v1, off offset:20\n"
              "scratch_load_dword v8, off, off offset:20\n"
              "global_store_dword v1, v8, s[8:9]");
  expectFound("scratch_store_dword off, v7, off offset:16\n"
              "scratch_load_dword v8, off, off offset:16\n"
              "global_store_dword v1, v8, s[8:9]",
              "(scratch_load_dword v8, off, off offset:16)");
  expectFound("scratch_load_dword v8, off, off offset:32\n"
              "global_store_dword v1, v8, s[8:9]",
              "v8 is stored");
  // The padding of a copied structure may be undefined.
  expectQuiet("scratch_store_dword off, v1, off\n"
              "scratch_store_dwordx2 off, v[0:1], off offset:8\n"
              "scratch_load_dwordx4 v[4:7], off, off\n"
              "global_store_dwordx4 v1, v[4:7], s[8:9]\n"
              "v_mov_b32 v8, v4\nv_mov_b32 v9, v5\n"
              "v_mov_b32 v10, v6\nv_mov_b32 v11, v7\n"
              "global_store_dwordx4 v1, v[8:11], s[8:9]");
}

// Compilers save scalar registers in the lanes of a vector register.
TEST(Initialized, LanesSaveScalars) {
  expectQuiet("v_writelane_b32 v7, s8, 0\nv_writelane_b32 v7, s9, 1\n"
              "v_writelane_b32 v7, s20, 2\nv_readlane_b32 s10, v7, 0\n"
              "v_readlane_b32 s11, v7, 1\nv_readlane_b32 s12, v7, 2\n"
              "global_load_dword v2, v1, s[10:11]");
  expectFound("v_writelane_b32 v7, s20, 0\nv_readlane_b32 s10, v7, 0\n"
              "s_mov_b32 s11, s9\nglobal_load_dword v2, v1, s[10:11]",
              "s10 is used as an address");
}

// v_cndmask uses one of its sources; DPP moves lanes; partial writes and bit
// fields need one source.
TEST(Initialized, Selections) {
  expectQuiet("s_mov_b64 vcc, -1\nv_cndmask_b32 v8, v7, v1, vcc\n"
              "global_store_dword v1, v8, s[8:9]");
  expectFound("s_mov_b64 vcc, 2\nv_cndmask_b32 v8, v1, v7, vcc\n"
              "global_store_dword v1, v8, s[8:9]",
              "lane 1: v8 is stored");
  expectQuiet("s_mov_b64 exec, 1\nv_mov_b32 v7, 0\ns_mov_b64 exec, -1\n"
              "v_mov_b32 v8, v1\n"
              "v_mov_b32_dpp v8, v7 quad_perm:[0,0,0,0] row_mask:0x1 "
              "bank_mask:0x1\n"
              "global_store_dword v1, v8, s[8:9]");
  expectQuiet("v_bfi_b32 v8, v1, v1, v7\nv_and_or_b32 v9, v7, v1, v1\n"
              "global_store_dword v1, v8, s[8:9]\n"
              "global_store_dword v1, v9, s[8:9]");
  expectQuiet("v_mov_b32_sdwa v7, v1 dst_sel:WORD_1 "
              "dst_unused:UNUSED_PRESERVE src0_sel:DWORD\n"
              "global_store_dword v1, v7, s[8:9]");
  expectQuiet("global_load_short_d16_hi v7, v1, s[8:9]\n"
              "global_store_dword v1, v7, s[8:9]");
}

// Vector rows whose number is that of a named scalar slot (VCC, M0, EXEC, SCC)
// are ordinary registers.
TEST(Initialized, RowsAreNotSlots) {
  for (std::string reg : {"v106", "v107", "v124", "v126", "v253"})
    expectQuiet("v_add_u32 " + reg + ", v1, v1\nglobal_store_dword v1, " + reg +
                ", s[8:9]");
}

// M0 is required only by instructions that use it: loads into LDS, but not LDS
// accesses.
TEST(Initialized, M0) {
  expectFound("global_load_lds_dword v1, s[8:9]", "m0 is used");
  expectQuiet("s_mov_b32 m0, 0\nglobal_load_lds_dword v1, s[8:9]");
  expectQuiet("ds_write_b32 v1, v1");
}

// The registers that a launch sets are defined, for each way of passing them.
TEST(Initialized, LaunchStateIsDefined) {
  for (const char *chip : {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030"}) {
    LaunchOutcome outcome =
        runChecked("s_lshl_b32 s4, s2, 8\nv_mov_b32 v2, s4\n"
                   "global_store_dword v1, v2, s[8:9]",
                   chip);
    EXPECT_EQ(outcome.fault, FaultKind::None) << chip << outcome.message;
    outcome = runChecked("global_store_dword v1, v3, s[8:9]", chip);
    EXPECT_EQ(outcome.fault, FaultKind::Uninitialized) << chip;
  }
}
