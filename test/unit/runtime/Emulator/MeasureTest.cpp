//===- MeasureTest.cpp - Counts, costs and the cycle estimate -------------===//
//
// Every number is computed by hand in the comment above it.
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Emulator/KernelTester.h"

using namespace tessera::emulator;

namespace {
/// The result of launching a kernel with everything counted.
struct Measured {
  LaunchSummary summary;
  LaunchTotals totals;
  LaunchStats stats;
  uint64_t count(CostClass kind) const {
    return totals.instructions[static_cast<unsigned>(kind)];
  }
};
} // namespace

static Measured measure(const KernelSource &source,
                        std::array<uint32_t, 3> items,
                        std::array<uint32_t, 3> group,
                        MeasureLevel level = MeasureLevel::Addresses) {
  KernelTester tester(source);
  Measured result;
  tester.launchWell(items, group, {level, &result.stats, {}});
  result.summary = makeSummary(tester.makeLaunch(items, group), 0);
  result.summary.kernel = "kernel";
  result.totals = sumUp(result.summary, *tester.program, result.stats);
  return result;
}

/// Loads the pointer argument of gfx942 and gfx1030 kernels to s[8:9].
static KernelSource makeSource(const std::string &chip,
                               const std::string &body) {
  KernelSource source;
  source.chip = chip;
  source.argumentBytes = 8;
  source.ldsBytes = 16384;
  source.body =
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + body;
  return source;
}

static InstructionCost getCost(const char *chip, const char *text,
                               unsigned lanes = 0) {
  const ChipCosts &costs = getChipCosts(chip);
  return getInstructionCost(costs, lanes ? lanes : costs.waveSize, text);
}

// Every chip has a row in the table, and it agrees with the table of targets.
TEST(Cost, TableHasEveryChip) {
  for (const tessera::GpuTarget &target : tessera::getAllTargets()) {
    const ChipCosts &costs = getChipCosts(target.name);
    EXPECT_EQ(costs.name, target.name);
    EXPECT_EQ(costs.waveSize, target.waveSize);
    EXPECT_EQ(costs.maxWaves, target.maxWavesPerSimd);
    EXPECT_EQ(costs.simds, target.simdsPerCu * costs.getComputeUnits());
    EXPECT_EQ(costs.ldsBytes, target.ldsBytes * costs.getComputeUnits());
  }
}

// The clocks of matrix instructions are those of LLVM's scheduling model
// (test/lit/Tools/matrix-clocks.test compares it with the same table). They do
// M * N * K * blocks multiplications, the sparse forms half as many.
TEST(Cost, MatrixInstructions) {
  struct Row {
    const char *chip, *text;
    uint32_t clocks;
    uint64_t macs;
  };
  static constexpr Row kRows[] = {
      {"gfx908", "v_mfma_f32_32x32x8f16 a[0:15], ", 64, 32 * 32 * 8},
      {"gfx908", "v_mfma_f32_32x32x4bf16 a[0:15], ", 64, 32 * 32 * 4},
      {"gfx90a", "v_mfma_f32_32x32x8f16 a[0:15], ", 64, 32 * 32 * 8},
      {"gfx90a", "v_mfma_f32_32x32x4f16 a[0:31], ", 64, 32 * 32 * 4 * 2},
      {"gfx90a", "v_mfma_f32_4x4x4f16 a[0:3], ", 8, 4 * 4 * 4 * 16},
      {"gfx90a", "v_mfma_f32_32x32x4bf16 a[0:15], ", 64, 32 * 32 * 4},
      {"gfx90a", "v_mfma_f32_32x32x8bf16_1k a[0:15], ", 64, 32 * 32 * 8},
      {"gfx90a", "v_mfma_f64_16x16x4f64 a[0:7], ", 32, 16 * 16 * 4},
      {"gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], ", 32, 32 * 32 * 8},
      {"gfx942", "v_mfma_f32_32x32x4_2b_f16 a[0:31], ", 64, 32 * 32 * 4 * 2},
      {"gfx942", "v_mfma_f32_32x32x4_xf32 a[0:15], ", 32, 32 * 32 * 4},
      {"gfx942", "v_mfma_i32_4x4x4_16b_i8 a[0:3], ", 8, 4 * 4 * 4 * 16},
      {"gfx942", "v_mfma_f32_16x16x32_fp8_bf8 a[0:3], ", 16, 16 * 16 * 32},
      {"gfx942", "v_mfma_f32_16x16x32_bf8_fp8 a[0:3], ", 16, 16 * 16 * 32},
      {"gfx942", "v_smfmac_f32_32x32x16_f16 a[0:15], ", 32, 32 * 32 * 8},
      {"gfx950", "v_mfma_f32_32x32x16_f16 a[0:15], ", 32, 32 * 32 * 16},
      {"gfx950", "v_mfma_f32_32x32x8_f16 a[0:15], ", 32, 32 * 32 * 8},
      {"gfx950", "v_mfma_i32_16x16x32_i8 a[0:3], ", 16, 16 * 16 * 32},
      {"gfx950", "v_mfma_f64_16x16x4_f64 a[0:7], ", 64, 16 * 16 * 4},
      {"gfx950", "v_mfma_f32_16x16x128_f8f6f4 a[0:3], cbsz:4 blgp:4", 16,
       16 * 16 * 128},
      {"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], ", 32,
       16 * 16 * 128},
      {"gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], ", 32, 16 * 16 * 16},
      {"gfx1201", "v_wmma_f32_16x16x16_bf8_fp8 v[0:7], ", 8, 16 * 16 * 16},
  };
  for (const Row &row : kRows) {
    InstructionCost cost = getCost(row.chip, row.text);
    EXPECT_EQ(cost.kind, CostClass::Matrix) << row.text;
    EXPECT_EQ(cost.matrixClocks, row.clocks) << row.chip << " " << row.text;
    EXPECT_EQ(cost.macs, row.macs) << row.chip << " " << row.text;
  }
}

// The mnemonic decides the class; a dual instruction is one instruction, and
// both of its halves multiply.
TEST(Cost, ClassesAndMultiplications) {
  struct Row {
    const char *text;
    CostClass kind;
    uint32_t macsPerLane;
  };
  static constexpr Row kRows[] = {
      {"v_add_f32_e32 v0, v1, v2", CostClass::Valu, 0},
      {"v_fma_f32 v0, v1, v2, v3", CostClass::Valu, 1},
      {"v_fmac_f32_e32 v0, v1, v2", CostClass::Valu, 1},
      {"v_mad_u32_u24 v0, v1, v2, v3", CostClass::Valu, 0},
      {"v_pk_fma_f32 v[0:1], v[2:3]", CostClass::Packed, 2},
      {"v_pk_add_f16 v0, v1, v2", CostClass::Packed, 0},
      {"v_dot2_f32_f16 v0, v1, v2, v3", CostClass::Dot, 2},
      {"v_dot4_i32_iu8 v0, v1, v2, v3", CostClass::Dot, 4},
      {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4", CostClass::Dual,
       1},
      {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_dot2acc_f32_f16 v3, v4, v5",
       CostClass::Dual, 3},
      {"v_exp_f32_e32 v0, v1", CostClass::Transcendental, 0},
      {"v_s_rcp_f32 s0, s1", CostClass::Transcendental, 0},
      {"v_fma_f64 v[0:1], v[2:3]", CostClass::Double, 1},
      {"v_div_fmas_f32 v0, v1, v2, v3", CostClass::Valu, 0},
      {"s_load_dwordx4 s[0:3]", CostClass::Smem, 0},
      {"s_add_u32 s0, s1, s2", CostClass::Salu, 0},
      {"s_cbranch_scc1 65000", CostClass::Branch, 0},
      {"s_wait_dscnt 0x0", CostClass::Wait, 0},
      {"s_barrier_signal -1", CostClass::Barrier, 0},
      {"ds_read2st64_b32 v[0:1]", CostClass::LdsRead, 0},
      {"ds_store_b32 v0, v1", CostClass::LdsWrite, 0},
      {"ds_storexchg_rtn_b32 v0", CostClass::LdsAtomic, 0},
      {"ds_add_rtn_u32 v0", CostClass::LdsAtomic, 0},
      {"global_atomic_add v0", CostClass::VmemAtomic, 0},
      {"buffer_load_dwordx4 v[0:3]", CostClass::VmemLoad, 0},
      {"scratch_store_b32 v0", CostClass::VmemStore, 0},
      {"buffer_inv sc1", CostClass::Other, 0},
      {"s_nop 3", CostClass::Other, 0},
  };
  for (const Row &row : kRows) {
    InstructionCost cost = getCost("gfx942", row.text);
    EXPECT_EQ(getName(cost.kind), getName(row.kind)) << row.text;
    EXPECT_EQ(cost.macsPerLane, row.macsPerLane) << row.text;
  }
}

// CDNA: 16 lanes a clock, so 64 lanes take 4 clocks, and transcendentals four
// times as long. RDNA: 32 lanes a clock, so 64 lanes take 2; f64 is 16 times
// and 32-bit products are four times slower.
TEST(Cost, VectorClocks) {
  EXPECT_EQ(getCost("gfx942", "v_add_f32_e32 v0, v1, v2").valuClocks, 4u);
  EXPECT_EQ(getCost("gfx942", "v_exp_f32_e32 v0, v1").valuClocks, 16u);
  EXPECT_EQ(getCost("gfx942", "v_fma_f64 v[0:1], ").valuClocks, 4u);
  EXPECT_EQ(getCost("gfx942", "v_mul_lo_u32 v0, v1, v2").valuClocks, 4u);
  EXPECT_EQ(getCost("gfx1100", "v_add_f32_e32 v0, v1, v2").valuClocks, 1u);
  EXPECT_EQ(getCost("gfx1100", "v_add_f32_e32 v0, v1, v2", 64).valuClocks, 2u);
  EXPECT_EQ(getCost("gfx1100", "v_exp_f32_e32 v0, v1").valuClocks, 4u);
  EXPECT_EQ(getCost("gfx1100", "v_fma_f64 v[0:1], ").valuClocks, 16u);
  EXPECT_EQ(getCost("gfx1100", "v_mul_lo_u32 v0, v1, v2").valuClocks, 4u);
  EXPECT_EQ(getCost("gfx942", "s_nop 3").issueClocks, 16u);
  EXPECT_EQ(getCost("gfx1030", "s_nop 0x3").issueClocks, 4u);
}

// The bytes of a lane do not depend on the spelling.
TEST(Cost, LaneBytes) {
  EXPECT_EQ(getCost("gfx942", "ds_read_b128 v[0:3]").laneBytes, 16u);
  EXPECT_EQ(getCost("gfx942", "ds_read2_b64 v[0:3]").laneBytes, 16u);
  EXPECT_EQ(getCost("gfx942", "ds_read2st64_b32 v[0:1]").laneBytes, 8u);
  EXPECT_EQ(getCost("gfx1100", "ds_store_2addr_stride64_b64 v0").laneBytes,
            16u);
  EXPECT_EQ(getCost("gfx942", "global_load_dwordx3 v[0:2]").laneBytes, 12u);
  EXPECT_EQ(getCost("gfx942", "global_load_ushort v0").laneBytes, 2u);
  EXPECT_EQ(getCost("gfx1100", "global_load_d16_b16 v0").laneBytes, 2u);
  EXPECT_EQ(getCost("gfx1100", "ds_load_u8 v0").laneBytes, 1u);
  EXPECT_EQ(getCost("gfx942", "global_atomic_add_f64 v0").laneBytes, 8u);
}

// Registers are allocated in granules: 8 of 512 on gfx9 (129 registers take
// 136: three waves), 16 of 1024 on gfx1030. A unit shares its LDS: 40 KiB do
// not fit twice into 64. More than 100 SGPRs leave space for 7 waves.
TEST(Occupancy, EachResourceLimits) {
  const ChipCosts &cdna = getChipCosts("gfx942");
  auto get = [](const ChipCosts &chip, KernelResources kernel) {
    return getOccupancy(chip, kernel);
  };
  EXPECT_EQ(get(cdna, {64, 0, 32, 0, 0, 64, 4}).wavesPerSimd, 8);
  EXPECT_STREQ(get(cdna, {64, 0, 32, 0, 0, 64, 4}).limit, "waves");
  EXPECT_EQ(get(cdna, {129, 0, 32, 0, 0, 64, 4}).wavesPerSimd, 3);
  EXPECT_STREQ(get(cdna, {129, 0, 32, 0, 0, 64, 4}).limit, "vgprs");
  EXPECT_EQ(get(cdna, {512, 256, 32, 0, 0, 64, 4}).wavesPerSimd, 1);
  EXPECT_EQ(get(cdna, {32, 0, 102, 0, 0, 64, 4}).wavesPerSimd, 7);
  EXPECT_STREQ(get(cdna, {32, 0, 102, 0, 0, 64, 4}).limit, "sgprs");
  EXPECT_EQ(get(cdna, {32, 0, 32, 40960, 0, 64, 4}).wavesPerSimd, 1);
  EXPECT_STREQ(get(cdna, {32, 0, 32, 40960, 0, 64, 4}).limit, "lds");
  // 160 KiB of LDS hold four.
  EXPECT_EQ(
      get(getChipCosts("gfx950"), {32, 0, 32, 40960, 0, 64, 4}).wavesPerSimd,
      4);
  // Two files of 256 with granules of 4, and up to ten waves: 129 registers of
  // either take 132, so one wave fits.
  const ChipCosts &mi100 = getChipCosts("gfx908");
  EXPECT_EQ(get(mi100, {24, 0, 32, 0, 0, 64, 4}).wavesPerSimd, 10);
  EXPECT_EQ(get(mi100, {25, 0, 32, 0, 0, 64, 4}).wavesPerSimd, 9);
  EXPECT_EQ(get(mi100, {24, 0, 96, 0, 0, 64, 4}).wavesPerSimd, 8);
  EXPECT_EQ(get(mi100, {129, 129, 32, 0, 0, 64, 4}).wavesPerSimd, 1);
  const ChipCosts &rdna = getChipCosts("gfx1030");
  EXPECT_EQ(get(rdna, {100, 0, 106, 0, 0, 32, 4}).wavesPerSimd, 9);
  EXPECT_EQ(get(rdna, {100, 0, 106, 0, 0, 64, 4}).wavesPerSimd, 4);
  // Groups of 8 waves: 9 waves a SIMD are 36, enough for four groups.
  EXPECT_EQ(get(rdna, {100, 0, 106, 0, 0, 32, 8}).groupsPerUnit, 4u);
}

// A loop of three iterations, two groups of two waves: each instruction of the
// body was executed 12 times, for the active lanes (64 and 36 of the two
// waves).
TEST(Measure, ExecutionsAndLanes) {
  Measured m = measure(makeSource("gfx942", "s_mov_b32 s4, 3\nloop:\n"
                                            "v_fma_f32 v1, v1, v2, v3\n"
                                            "s_sub_u32 s4, s4, 1\n"
                                            "s_cmp_lg_u32 s4, 0\n"
                                            "s_cbranch_scc1 loop"),
                       {200, 1, 1}, {100, 1, 1}, MeasureLevel::Counts);
  EXPECT_TRUE(m.stats.memory.empty());
  EXPECT_EQ(m.count(CostClass::Valu), 12u);
  EXPECT_EQ(m.count(CostClass::Salu), 4 + 24u);
  EXPECT_EQ(m.count(CostClass::Branch), 12 + 4u);
  EXPECT_EQ(m.totals.macs, 2 * 3 * 100u);
  EXPECT_EQ(m.totals.vectorInstructions, 12u);
  EXPECT_EQ(m.totals.vectorLanes, 2 * 3 * 100u);
}

// gfx942 has cache lines of 128 bytes. 64 lanes of 4 consecutive bytes touch
// two; with a stride of 32 bytes, four lanes share a line: 16; all lanes on one
// dword touch one. gfx90a has lines of 64 bytes. The address unit takes 4
// clocks for the first load and for the store, and 16 for each of the others;
// the scalar load does not pass it. A line takes L1 a clock, however long it is.
TEST(Measure, SegmentsShowCoalescing) {
  std::string body = "v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v2, 5, v0\n"
                     "v_mov_b32 v3, 0\n"
                     "global_load_dword v4, v1, s[8:9]\n"
                     "global_load_dword v4, v2, s[8:9]\n"
                     "global_load_dword v4, v3, s[8:9]\n"
                     "s_waitcnt vmcnt(0)\n"
                     "global_store_dword v1, v0, s[8:9]";
  Measured m = measure(makeSource("gfx942", body), {64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(m.totals.memory.bytesLoaded, 3 * 256u);
  EXPECT_EQ(m.totals.memory.segmentsLoaded, 2 + 16 + 1u);
  EXPECT_EQ(m.totals.memory.bytesStored, 256u);
  EXPECT_EQ(m.totals.memory.segmentsStored, 2u);
  EXPECT_EQ(m.totals.scalarBytesLoaded, 8u);
  EXPECT_EQ(m.totals.vmem[0].times, 3u);
  EXPECT_EQ(m.totals.vmem[0].addressClocks, 4 + 16 + 16u);
  EXPECT_EQ(m.totals.vmem[0].lines, 2 + 16 + 1u);
  EXPECT_EQ(m.totals.vmem[0].bytes, 3 * 256u);
  EXPECT_EQ(m.totals.vmem[1].addressClocks, 4u);
  EXPECT_EQ(m.totals.vmem[2].times, 0u);
  EXPECT_EQ(m.totals.memory.addressClocks, 40u);
  EXPECT_EQ(m.totals.pipes.vmem, 4 + 16 + 16 + 4u);
  m = measure(makeSource("gfx90a", body), {64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(m.totals.memory.segmentsLoaded, 4 + 32 + 1u);
}

// Loads of two bytes hold the address unit for as long as loads of a dword, and
// lanes that are off do not. A descriptor of 64 bytes gives the 48 lanes behind
// it zeros, whose three runs take a clock each. The summary has the lines of
// the average load and how much of them was asked for, for each class that was
// executed.
TEST(Measure, AddressClocksOfNarrowLoads) {
  Measured m = measure(
      makeSource("gfx942", "v_lshlrev_b32 v1, 2, v0\n"
                           "s_mov_b64 exec, 0xf0f\n"
                           "global_load_ushort v4, v1, s[8:9]\n"
                           "s_mov_b64 exec, -1\n"
                           "global_load_ushort v4, v1, s[8:9]\n"
                           "s_mov_b32 s10, 64\ns_mov_b32 s11, 0x27000\n"
                           "buffer_load_ushort v4, v1, s[8:11], 0 offen"),
      {64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(m.totals.vmem[0].addressClocks, 2 + 16 + 7u);
  EXPECT_EQ(m.totals.vmem[0].lines, 1 + 2 + 1u);
  EXPECT_EQ(m.totals.vmem[0].bytes, 2 * (8 + 64 + 16u));
  EXPECT_EQ(m.totals.pipes.vmem, 25u);
  std::string line = formatSummary(m.summary, m.totals, true);
  EXPECT_NE(line.find("\"vmem_load_access\":{\"address_clocks\":25,"
                      "\"lines_per_wave\":1.333,\"line_use\":0.344}"),
            line.npos)
      << line;
  EXPECT_EQ(line.find("vmem_store_access"), line.npos);
}

// A lane's 16 bytes that cross the end of a line touch both lines.
TEST(Measure, StraddlingAccessTouchesTwoSegments) {
  Measured m =
      measure(makeSource("gfx942", "v_mov_b32 v1, 0x78\n"
                                   "global_load_dwordx4 v[4:7], v1, s[8:9]"),
              {1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(m.totals.memory.bytesLoaded, 16u);
  EXPECT_EQ(m.totals.memory.segmentsLoaded, 2u);
}

// The planted fault: rows of 128 bytes are written down a column. All 64 lanes
// access one bank: 64 cycles instead of 2. With rows that are one dword longer
// there is no conflict. The conflicts are attributed to the right instruction.
TEST(Measure, BankConflictedLayoutIsFound) {
  auto column = [](const std::string &rowBytes) {
    return makeSource("gfx942", "v_mul_u32_u24 v1, " + rowBytes +
                                    ", v0\nds_write_b32 v1, v0\n"
                                    "s_waitcnt lgkmcnt(0)");
  };
  Measured bad = measure(column("0x80"), {64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(bad.totals.memory.ldsBytesWritten, 256u);
  EXPECT_EQ(bad.totals.memory.ldsWriteConflictCycles, 62u);
  EXPECT_EQ(bad.stats.memory[3].ldsWriteConflictCycles, 62u);
  Measured good = measure(column("0x84"), {64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(good.totals.memory.ldsWriteConflictCycles, 0u);
  EXPECT_EQ(bad.totals.pipes.lds, good.totals.pipes.lds + 62);
}

// The same column on gfx950: its 64 banks serve a wave in one cycle, and a row
// of 128 bytes is half a row of the banks, so two banks share the 64 lanes.
TEST(Measure, BanksOfGfx950) {
  auto count = [](const std::string &rowBytes) {
    return measure(makeSource("gfx950", "v_mul_u32_u24 v1, " + rowBytes +
                                            ", v0\nds_write_b32 v1, v0\n"
                                            "s_waitcnt lgkmcnt(0)"),
                   {64, 1, 1}, {64, 1, 1})
        .totals.memory.ldsWriteConflictCycles;
  };
  EXPECT_EQ(count("4"), 0u);
  EXPECT_EQ(count("0x80"), 31u);
  EXPECT_EQ(count("0x100"), 63u);
}

// ds_read2 does two accesses: each is free of conflicts here, although together
// they would use every bank four times.
TEST(Measure, TwoAddressFormsAreTwoAccesses) {
  Measured m = measure(makeSource("gfx942", "v_lshlrev_b32 v1, 2, v0\n"
                                            "ds_read2st64_b32 v[2:3], v1 "
                                            "offset1:1\n"
                                            "s_waitcnt lgkmcnt(0)"),
                       {64, 1, 1}, {64, 1, 1});
  EXPECT_EQ(m.totals.memory.ldsBytesRead, 512u);
  EXPECT_EQ(m.totals.memory.ldsReadConflictCycles, 0u);
}

// 640 groups of one wave on the 304 units of gfx942: the busiest gets 3, each
// on a SIMD of its own. A wave has 4 MFMAs of 32 clocks.
TEST(Estimate, MatrixBound) {
  std::string body;
  for (int i = 0; i < 4; ++i)
    body += "v_mfma_f32_32x32x8_f16 v[16:31], v[8:9], v[10:11], v[16:31]\n";
  Measured m = measure(makeSource("gfx942", body), {64 * 640, 1, 1}, {64, 1, 1},
                       MeasureLevel::Counts);
  IssueEstimate estimate = estimateIssue(m.summary, m.totals);
  EXPECT_STREQ(estimate.limit, "matrix");
  EXPECT_EQ(estimate.clocks, 4 * 32u);
  EXPECT_EQ(estimate.busiest.valu, 4 * 4u);
  EXPECT_EQ(m.totals.macs, 640 * 4 * 32 * 32 * 8u);
}

// Groups of 8 waves, one group on each unit: 2 waves a SIMD. Each wave has 10
// additions and 2 exponentials of CDNA: 10 * 4 + 2 * 16 clocks.
TEST(Estimate, ValuBound) {
  std::string body;
  for (int i = 0; i < 10; ++i)
    body += "v_add_f32 v1, v1, v2\n";
  body += "v_exp_f32 v1, v1\nv_exp_f32 v1, v1\n";
  Measured m = measure(makeSource("gfx942", body), {512 * 304, 1, 1},
                       {512, 1, 1}, MeasureLevel::Counts);
  IssueEstimate estimate = estimateIssue(m.summary, m.totals);
  EXPECT_STREQ(estimate.limit, "valu");
  EXPECT_EQ(estimate.clocks, 2 * (10 * 4 + 2 * 16u));
}

// LDS is shared by the SIMDs of a unit: 4 waves read 64 * 16 bytes each, 128
// bytes a clock; conflicts are added to that.
TEST(Estimate, LdsBound) {
  Measured m = measure(makeSource("gfx942", "v_and_b32 v1, 63, v0\n"
                                            "v_lshlrev_b32 v1, 4, v1\n"
                                            "ds_read_b128 v[4:7], v1\n"
                                            "s_waitcnt lgkmcnt(0)"),
                       {256, 1, 1}, {256, 1, 1});
  IssueEstimate estimate = estimateIssue(m.summary, m.totals);
  EXPECT_STREQ(estimate.limit, "lds");
  EXPECT_EQ(estimate.clocks, 4 * 64 * 16 / 128u);
  EXPECT_EQ(m.totals.memory.ldsReadConflictCycles, 0u);
}

// The registers suffice for one wave a SIMD: two groups of four waves run one
// after the other on a unit, and their issue slots add up (6 instructions of 4
// clocks each, of which the scalar pipe holds two).
TEST(Estimate, WavesOneAfterAnother) {
  KernelSource source;
  source.body = "v_add_f32 v1, v1, v2\ns_waitcnt vmcnt(0)\ns_nop 0\n"
                "s_waitcnt vmcnt(0)\ns_mov_b32 s4, 0";
  Measured m =
      measure(source, {256 * 608, 1, 1}, {256, 1, 1}, MeasureLevel::Counts);
  m.summary.resources.vgprs = 512;
  IssueEstimate estimate = estimateIssue(m.summary, m.totals);
  EXPECT_STREQ(estimate.limit, "wave");
  EXPECT_EQ(estimate.clocks, 2 * 6 * 4u);
  EXPECT_EQ(estimate.busiest.scalar, 2 * 2 * 4u);
}

// RDNA: a workgroup processor has two compute units. 40 groups of one wave are
// one for each; a wave of 32 lanes issues in one clock.
TEST(Estimate, WorkgroupProcessors) {
  KernelSource source;
  source.chip = "gfx1030";
  source.body = "v_add_f32 v1, v1, v2\nv_add_f32 v1, v1, v2\n"
                "v_add_f32 v1, v1, v2";
  Measured m =
      measure(source, {32 * 41, 1, 1}, {32, 1, 1}, MeasureLevel::Counts);
  IssueEstimate estimate = estimateIssue(m.summary, m.totals);
  EXPECT_EQ(estimate.busiest.valu, 3u);
  EXPECT_EQ(estimate.busiest.wave, 4u);
}

// The summary is one JSON object; unknown values are left out.
TEST(Summary, LineIsJson) {
  LaunchTotals totals;
  totals.instructions[static_cast<unsigned>(CostClass::Matrix)] = 7;
  totals.memory.bytesLoaded = 640;
  LaunchSummary summary;
  summary.kernel = "co\"nv";
  summary.chip = "gfx942";
  summary.groups = {2, 3, 1};
  summary.groupSize = {256, 1, 1};
  summary.resources = {128, 64, 30, 512, 0, 64, 4};
  summary.timeMs = 1.5;
  std::string counts = formatSummary(summary, totals, false);
  EXPECT_EQ(counts.find("bytes_loaded"), counts.npos);
  EXPECT_EQ(counts.find("useful_macs"), counts.npos);
  summary.usefulMacs = 12;
  EXPECT_EQ(
      formatSummary(summary, totals, true),
      "{\"kernel\":\"co\\\"nv\",\"chip\":\"gfx942\",\"grid\":[2,3,1],"
      "\"block\":[256,1,1],\"lds_bytes\":512,\"vgprs\":128,\"agprs\":64,"
      "\"sgprs\":30,\"scratch_bytes\":0,\"waves_per_group\":4,"
      "\"waves_per_simd\":4.000,\"occupancy_limit\":\"vgprs\","
      "\"host_ms\":1.500,\"instructions\":{\"matrix\":7,\"dot\":0,"
      "\"packed\":0,\"transcendental\":0,\"double\":0,\"dual\":0,\"valu\":0,"
      "\"salu\":0,\"smem\":0,\"vmem_load\":0,\"vmem_store\":0,"
      "\"vmem_atomic\":0,\"lds_read\":0,\"lds_write\":0,\"lds_atomic\":0,"
      "\"wait\":0,\"barrier\":0,\"branch\":0,\"other\":0},"
      "\"active_lanes\":0.000,\"macs\":0,\"useful_macs\":12,"
      "\"bytes_loaded\":640,\"bytes_stored\":0,\"scalar_bytes_loaded\":0,"
      "\"scratch_bytes_loaded\":0,\"scratch_bytes_stored\":0,"
      "\"segment_bytes\":128,\"segments_loaded\":0,\"segments_stored\":0,"
      "\"lds_bytes_read\":0,\"lds_bytes_written\":0,"
      "\"lds_read_conflict_cycles\":0,\"lds_write_conflict_cycles\":0,"
      "\"estimated_issue_cycles\":0,\"estimate_limit\":\"none\","
      "\"estimate_parts\":{\"matrix\":0,\"valu\":0,\"lds\":0,\"vmem\":0,"
      "\"scalar\":0,\"wave\":0}}");
}
