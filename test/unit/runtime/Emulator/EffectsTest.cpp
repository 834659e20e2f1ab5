//===- EffectsTest.cpp - Registers that instructions read and write -------===//

#include "runtime/Emulator/Decode/Decoder.h"
#include "runtime/Emulator/Wave.h"
#include "test/unit/runtime/Emulator/Assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace tessera::emulator;

static std::string nameScalar(const RegisterUse &use) {
  switch (use.first) {
  case kVccLo:
    return use.dwords == 2 ? "vcc" : "vcc_lo";
  case kVccHi:
    return "vcc_hi";
  case kExecLo:
    return use.dwords == 2 ? "exec" : "exec_lo";
  case kM0:
    return "m0";
  case kScc:
    return "scc";
  case kFlatScratchLo:
    return use.dwords == 2 ? "flat_scratch" : "flat_scratch_lo";
  default:
    return "";
  }
}

static std::string nameUse(const RegisterUse &use) {
  std::string name = use.isScalar ? nameScalar(use) : "";
  if (name.empty()) {
    bool isTtmp = use.isScalar && use.first >= kTtmp0;
    bool isAccumulation = !use.isScalar && use.first >= kAccumulationRow;
    unsigned first = use.first - (isTtmp           ? unsigned(kTtmp0)
                                  : isAccumulation ? kAccumulationRow
                                                   : 0);
    name = isTtmp ? "ttmp" : use.isScalar ? "s" : isAccumulation ? "a" : "v";
    name += use.dwords == 1 ? std::to_string(first)
                            : "[" + std::to_string(first) + ":" +
                                  std::to_string(first + use.dwords - 1) + "]";
  }
  if (use.part != RegisterUse::Whole)
    name += use.part == RegisterUse::Low ? ".l" : ".h";
  return name;
}

/// Returns "v0 = v1 v2 exec": writes, then reads, each sorted.
static std::string getEffects(const char *chipName, const char *text) {
  const Chip &chip = *findChip(chipName);
  std::vector<uint8_t> code = assemble(chipName, text);
  Decoder decoder(chip, chip.isGfx9() ? 64 : 32);
  std::vector<std::string> reads, writes;
  for (const RegisterUse &use : decoder.readEffects(code))
    (use.isWrite ? writes : reads).push_back(nameUse(use));
  std::ranges::sort(reads);
  std::ranges::sort(writes);
  std::string result;
  for (const std::string &name : writes)
    result += name + " ";
  result += "=";
  for (const std::string &name : reads)
    result += " " + name;
  return result;
}

namespace {
struct Row {
  const char *text;
  const char *effects;
};
} // namespace

static void check(const char *chip, std::initializer_list<Row> rows) {
  for (const Row &row : rows)
    EXPECT_EQ(getEffects(chip, row.text), row.effects) << row.text;
}

// Scalar instructions have SCC, EXEC and VCC that the text does not name, M0
// and the named registers, and tied destinations.
TEST(Effects, Scalar) {
  check("gfx942",
        {{"s_mov_b32 s0, s1", "s0 = s1"},
         {"s_addc_u32 s0, s1, s2", "s0 scc = s1 s2 scc"},
         {"s_and_saveexec_b64 s[0:1], vcc", "exec s[0:1] scc = exec vcc"},
         {"s_cmp_eq_u32 s0, s1", "scc = s0 s1"},
         {"s_cbranch_vccz 0", "= vcc"},
         {"s_cbranch_scc1 0", "= scc"},
         {"s_cbranch_execz 0", "= exec"},
         {"s_mov_b32 m0, ttmp9", "m0 = ttmp9"},
         {"s_swappc_b64 s[30:31], s[0:1]", "s[30:31] = s[0:1]"},
         {"s_cselect_b64 exec, s[2:3], 0", "exec = s[2:3] scc"},
         {"s_load_dwordx4 s[0:3], s[4:5], s6", "s[0:3] = s6 s[4:5]"},
         {"s_waitcnt vmcnt(0)", "="},
         {"s_endpgm", "="}});
  check("gfx90a",
        {{"s_add_u32 flat_scratch_lo, s0, s1", "flat_scratch_lo scc = s0 s1"}});
  check("gfx1030",
        {{"s_and_saveexec_b32 s0, vcc_lo", "exec_lo s0 scc = exec_lo vcc_lo"},
         {"s_cbranch_vccnz 0", "= vcc_lo"},
         {"s_waitcnt_vscnt null, 0", "="},
         {"s_mov_b32 s101, m0", "s101 = m0"}});
  check("gfx1100", {{"s_mov_b32 m0, s3", "m0 = s3"},
                    {"s_load_b128 s[0:3], s[4:5], null", "s[0:3] = s[4:5]"}});
  check("gfx1201", {{"s_mov_b32 s2, ttmp9", "s2 = ttmp9"},
                    {"s_fmac_f32 s0, s1, s2", "s0 = s0 s1 s2"}});
}

// In vector arithmetic the addend of a multiply-add is a source, too, masks
// have the size of the wave, and v_cmpx writes EXEC.
TEST(Effects, VectorAlu) {
  check("gfx942",
        {{"v_add_f32 v0, s1, v2", "v0 = exec s1 v2"},
         {"v_fmac_f32 v0, v1, v2", "v0 = exec v0 v1 v2"},
         {"v_fma_f64 v[0:1], v[2:3], v[4:5], s[6:7]",
          "v[0:1] = exec s[6:7] v[2:3] v[4:5]"},
         {"v_addc_co_u32 v0, vcc, v1, v2, vcc", "v0 vcc = exec v1 v2 vcc"},
         {"v_cmp_eq_u32 vcc, v0, v1", "vcc = exec v0 v1"},
         {"v_cmp_eq_u32 s[4:5], v0, v1", "s[4:5] = exec v0 v1"},
         {"v_cmpx_eq_u32 vcc, v0, v1", "exec vcc = exec v0 v1"},
         {"v_cndmask_b32 v0, v1, v2, vcc", "v0 = exec v1 v2 vcc"},
         {"v_div_fmas_f32 v0, v1, v2, v3", "v0 = exec v1 v2 v3 vcc"},
         {"v_add_f32_sdwa v0, v1, v2 dst_sel:DWORD src0_sel:WORD_1 "
          "src1_sel:DWORD",
          "v0 = exec v1 v2"},
         {"v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf",
          "v0 = exec v0 v1"},
         {"v_swap_b32 v0, v1", "v0 v1 = exec v0 v1"}});
  check("gfx1100",
        {{"v_add_co_ci_u32 v0, vcc_lo, v1, v2, vcc_lo",
          "v0 vcc_lo = exec_lo v1 v2 vcc_lo"},
         {"v_cmp_eq_u32 s4, v0, v1", "s4 = exec_lo v0 v1"},
         {"v_cmpx_eq_u32 v0, v1", "exec_lo = exec_lo v0 v1"},
         {"v_mad_u64_u32 v[0:1], null, v2, v3, v[4:5]",
          "v[0:1] = exec_lo v2 v3 v[4:5]"},
         {"v_add_f16 v0.l, v1.h, v2.l", "v0.l = exec_lo v1.h v2.l"},
         {"v_fmac_f16 v0.h, v1.h, v2.l", "v0.h = exec_lo v0.h v1.h v2.l"},
         {"v_pk_fma_f16 v0, v1, v2, v3", "v0 = exec_lo v1 v2 v3"}});
  check("gfx1030",
        {{"v_fma_mixlo_f16 v0, v1, v2, v3", "v0 = exec_lo v0 v1 v2 v3"}});
}

// Both halves of a dual-issue instruction are included.
TEST(Effects, DualIssue) {
  check("gfx1100",
        {{"v_dual_fmac_f32 v0, v1, v2 :: v_dual_cndmask_b32 v3, v4, v5",
          "v0 v3 = exec_lo v0 v1 v2 v4 v5 vcc_lo"},
         {"v_dual_mov_b32 v0, v1 :: v_dual_fmamk_f32 v3, v4, 0x42000000, v5",
          "v0 v3 = exec_lo v1 v4 v5"}});
  check("gfx1201", {{"v_dual_add_f32 v0, s2, v2 :: v_dual_mov_b32 v3, 0",
                     "v0 v3 = exec_lo s2 v2"}});
}

// These move values between lanes or between the register files.
TEST(Effects, LaneMovesAndMatrix) {
  check("gfx942", {{"v_readlane_b32 s1, v0, m0", "s1 = m0 v0"},
                   {"v_readfirstlane_b32 s1, v0", "s1 = exec v0"},
                   {"v_writelane_b32 v0, s1, 3", "v0 = s1 v0"},
                   {"v_accvgpr_write_b32 a3, v2", "a3 = exec v2"},
                   {"v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]",
                    "a[0:15] = a[0:15] exec v[0:1] v[2:3]"},
                   {"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], a[6:7], 0",
                    "v[0:3] = a[6:7] exec v[4:5]"}});
  check("gfx1100",
        {{"v_permlane16_b32 v0, v1, s2, s3", "v0 = exec_lo s2 s3 v0 v1"},
         {"v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
          "v[0:7] = exec_lo v[0:7] v[16:23] v[8:15]"}});
}

// Stores read their data, and loads and returning atomics write; AGPRs may be
// data; loads into LDS have no destination; 16-bit loads write a half.
TEST(Effects, VectorMemory) {
  check(
      "gfx90a",
      {{"buffer_load_dword a0, v1, s[4:7], s8 offen", "a0 = exec s8 s[4:7] v1"},
       {"buffer_store_dwordx2 v[2:3], v1, s[4:7], 0 offen",
        "= exec s[4:7] v1 v[2:3]"},
       {"buffer_load_dword v1, s[4:7], 0 offen lds", "= exec m0 s[4:7] v1"}});
  check("gfx942",
        {{"buffer_atomic_add v0, v1, s[4:7], 0 offen", "= exec s[4:7] v0 v1"},
         {"buffer_atomic_add v0, v1, s[4:7], 0 offen sc0",
          "v0 = exec s[4:7] v0 v1"},
         {"global_load_dwordx4 v[0:3], v4, s[2:3]", "v[0:3] = exec s[2:3] v4"},
         {"global_load_short_d16_hi v0, v1, s[2:3]", "v0.h = exec s[2:3] v1"},
         {"global_load_lds_dword v0, s[2:3]", "= exec m0 s[2:3] v0"},
         {"global_store_short_d16_hi v[0:1], v2, off", "= exec v2 v[0:1]"},
         {"flat_atomic_cmpswap_x2 v[0:1], v[2:3], v[4:7] sc0",
          "v[0:1] = exec flat_scratch v[2:3] v[4:7]"}});
  check("gfx1100",
        {{"global_load_d16_b16 v0, v1, s[2:3]", "v0.l = exec_lo s[2:3] v1"},
         {"scratch_store_b32 off, v0, s33", "= exec_lo s33 v0"},
         {"buffer_store_b32 v0, off, s[4:7], null", "= exec_lo s[4:7] v0"}});
}

// LDS instructions do not use M0, except those that add it to the address.
TEST(Effects, Lds) {
  check("gfx942",
        {{"ds_read_b32 v0, v1", "v0 = exec v1"},
         {"ds_write_b64 v0, a[2:3]", "= a[2:3] exec v0"},
         {"ds_write2_b64 v0, v[2:3], v[4:5]", "= exec v0 v[2:3] v[4:5]"},
         {"ds_add_rtn_u32 v0, v1, v2", "v0 = exec v1 v2"},
         {"ds_bpermute_b32 v0, v1, v2", "v0 = exec v1 v2"},
         {"ds_read_u16_d16 v0, v1", "v0.l = exec v1"},
         {"ds_read_addtid_b32 v0", "v0 = exec m0"}});
  check("gfx1201", {{"ds_load_b128 v[0:3], v4", "v[0:3] = exec_lo v4"},
                    {"ds_store_b32 v0, v1", "= exec_lo v0 v1"}});
}
