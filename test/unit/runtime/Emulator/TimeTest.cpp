//===- TimeTest.cpp - The timing model on kernels made by hand ------------===//
//
// Each kernel asks one question whose answer is published: ChipTimes.def has
// the sources of the latencies and rates that are expected here.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Time/Prediction.h"

#include "test/unit/runtime/Emulator/KernelTester.h"

using namespace tessera::emulator;

namespace {
/// A kernel whose only argument is a buffer of any size, in s[8:9].
class TimeTester {
public:
  TimeTester(const std::string &chip, const std::string &body,
             size_t bufferBytes, unsigned ldsBytes = 0)
      : tester(makeSource(chip, body, ldsBytes)) {
    buffer = tester.memory.allocate(bufferBytes, MemoryKind::Device);
    std::memset(buffer, 0, bufferBytes);
    options.times = findChipTimes(chip) ? *findChipTimes(chip) : ChipTimes();
    options.times.matrixSlowdown = 0;
    options.footprintBytes = double(bufferBytes);
  }

  tessera::ErrorOr<TimePrediction> tryPredict(uint32_t groups, uint32_t items) {
    Launch launch = tester.makeLaunch({groups * items, 1, 1}, {items, 1, 1});
    std::memcpy(launch.arguments.data(), &buffer, 8);
    return predictTime(launch, tester.memory, tester.settings, options);
  }
  TimePrediction predict(uint32_t groups, uint32_t items) {
    auto result = tryPredict(groups, items);
    EXPECT_TRUE(result) << result.getStatus().getMessage();
    return *result;
  }

  TimeOptions options;

private:
  static KernelSource makeSource(const std::string &chip,
                                 const std::string &body, unsigned ldsBytes) {
    KernelSource source;
    source.chip = chip;
    source.argumentBytes = 8;
    source.ldsBytes = ldsBytes;
    source.body =
        "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + body;
    return source;
  }

  KernelTester tester;
  void *buffer;
};
} // namespace

/// Repeats `step`; s20 counts.
static std::string loop(unsigned times, const std::string &step) {
  return "s_movk_i32 s20, " + std::to_string(times) + "\nagain:\n" + step +
         "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 again\n";
}

/// The clocks of one step, from loops of two lengths.
static double getStepClocks(const std::string &chip, const std::string &before,
                            const std::string &step, uint32_t items = 64,
                            size_t bufferBytes = 1 << 20,
                            unsigned ldsBytes = 0) {
  double clocks[2];
  for (unsigned i = 0; i < 2; ++i)
    clocks[i] = TimeTester(chip, before + loop(2000 + 2000 * i, step),
                           bufferBytes, ldsBytes)
                    .predict(1, items)
                    .clocks;
  return (clocks[1] - clocks[0]) / 2000;
}

/// What the loop itself takes: two scalar instructions and a jump.
static constexpr double kLoopClocks = 24;

// A chain of loads from one line takes L1's latency each: 116 clocks on an
// MI300X, 124 on an MI210.
TEST(Time, LatencyOfL1) {
  const std::string step =
      "global_load_dword v1, v1, s[8:9]\ns_waitcnt vmcnt(0)\n";
  const std::string before = "v_mov_b32 v1, 0\n";
  EXPECT_NEAR(getStepClocks("gfx942", before, step) - kLoopClocks, 116, 8);
  EXPECT_NEAR(getStepClocks("gfx90a", before, step) - kLoopClocks, 124, 8);
}

// Lines of 512 KB, one after the other and again, miss L1 of 32 KB and hit L2
// of 4 MB: 288 clocks each. 4096 lines are walked in the first round, so the
// loop is longer than that.
TEST(Time, LatencyOfL2) {
  const std::string step = "global_load_dword v2, v1, s[8:9]\n"
                           "v_add_u32 v1, 128, v1\n"
                           "v_and_b32 v1, 0x7ff80, v1\n"
                           "s_waitcnt vmcnt(0)\n";
  double clocks[2];
  for (unsigned i = 0; i < 2; ++i)
    clocks[i] =
        TimeTester("gfx942", "v_mov_b32 v1, 0\n" + loop(8000 + 4000 * i, step),
                   1 << 20)
            .predict(1, 1)
            .clocks;
  EXPECT_NEAR((clocks[1] - clocks[0]) / 4000 - kLoopClocks, 288, 16);
}

// Without a second round each line comes from memory: 900 clocks.
TEST(Time, LatencyOfMemory) {
  const std::string step = "global_load_dword v2, v1, s[8:9]\n"
                           "v_add_u32 v1, 128, v1\n"
                           "s_waitcnt vmcnt(0)\n";
  EXPECT_NEAR(getStepClocks("gfx942", "v_mov_b32 v1, 0\n", step, 1) -
                  kLoopClocks,
              900, 30);
}

// Sixteen waves of a compute unit read LDS. Without conflicts a read of 64
// dwords takes 2 clocks; with all lanes in one bank, 64.
TEST(Time, ConflictsOfLds) {
  const std::string reads = "ds_read_b32 v2, v1\nds_read_b32 v3, v1\n"
                            "ds_read_b32 v4, v1\nds_read_b32 v5, v1\n"
                            "s_waitcnt lgkmcnt(0)\n";
  auto predict = [&](const char *shift) {
    return TimeTester("gfx942",
                      "v_and_b32 v1, 63, v0\nv_lshlrev_b32 v1, " +
                          std::string(shift) + ", v1\n" + loop(200, reads),
                      4096, 8192)
        .predict(1, 1024);
  };
  const TimePrediction free = predict("2"), conflicts = predict("7");
  EXPECT_NEAR(conflicts.clocks, 16 * 200 * 4 * 64, 0.05 * 16 * 200 * 4 * 64);
  EXPECT_EQ(conflicts.bound, TimeBound::Lds);
  EXPECT_GT(conflicts.lds, 0.95);
  EXPECT_LT(free.clocks, conflicts.clocks / 8);
}

// Four waves, one a SIMD, multiply into four accumulators. AMD's peak of 1307
// TFLOPS are 512 FLOP a clock of a SIMD: 32 clocks for 32 x 32 x 8.
TEST(Time, RateOfMatrixInstructions) {
  std::string step;
  for (unsigned i = 0; i < 2; ++i)
    step += "v_mfma_f32_32x32x8_f16 a[" + std::to_string(16 * i) + ":" +
            std::to_string(16 * i + 15) + "], v[2:3], v[4:5], a[" +
            std::to_string(16 * i) + ":" + std::to_string(16 * i + 15) + "]\n";
  EXPECT_NEAR(getStepClocks("gfx942", "", step, 256), 64, 4);
  // Two waves of a SIMD share its matrix unit.
  EXPECT_NEAR(getStepClocks("gfx942", "", step, 512), 128, 4);
}

// A vector instruction that reads what a matrix instruction writes waits for
// its 32 clocks and three more slots of four.
TEST(Time, LatencyOfMatrixInstructions) {
  const std::string step = "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], 0\n"
                           "v_accvgpr_read_b32 v2, a0\n";
  EXPECT_NEAR(getStepClocks("gfx942", "", step) - kLoopClocks, 32 + 12 + 4, 8);
}

// Groups of 256 read 16 KB each, 256 MB in all: the rate is what was measured
// on an MI300X, 3690 GiB/s, and on an MI210, 1085 GiB/s, less what the first
// loads wait.
TEST(Time, RateOfMemory) {
  const std::string body = "v_lshlrev_b32 v1, 4, v0\n"
                           "s_lshl_b32 s3, s2, 14\n"
                           "v_add_u32 v1, s3, v1\n"
                           "global_load_dwordx4 v[4:7], v1, s[8:9]\n"
                           "v_add_u32 v1, 4096, v1\n"
                           "global_load_dwordx4 v[8:11], v1, s[8:9]\n"
                           "v_add_u32 v1, 4096, v1\n"
                           "global_load_dwordx4 v[12:15], v1, s[8:9]\n"
                           "v_add_u32 v1, 4096, v1\n"
                           "global_load_dwordx4 v[16:19], v1, s[8:9]\n"
                           "s_waitcnt vmcnt(0)\n";
  constexpr size_t kBytes = size_t(256) << 20;
  for (auto [chip, gibs] : {std::pair("gfx942", 3690.0), {"gfx90a", 1085.0}}) {
    const TimePrediction time =
        TimeTester(
            chip, "s_nop 0\n" + std::string("v_and_b32 v0, 0x3ff, v0\n") + body,
            kBytes)
            .predict(kBytes >> 14, 256);
    const double expectedMs = double(kBytes) / (gibs * 1.0737e9) * 1e3;
    EXPECT_EQ(time.bound, TimeBound::Memory) << chip;
    EXPECT_NEAR(time.milliseconds - time.launchMilliseconds, expectedMs,
                0.1 * expectedMs)
        << chip;
    EXPECT_NEAR(time.traffic.memory, double(kBytes), 0.02 * double(kBytes));
  }
}

/// 256 lanes that read `kilobytes` from `s3` on.
static std::string readPart(unsigned kilobytes) {
  return "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 4, v0\n"
         "v_add_u32 v1, s3, v1\n" +
         loop(kilobytes / 4, "global_load_dwordx4 v[4:7], v1, s[8:9]\n"
                             "v_add_u32 v1, 4096, v1\n") +
         "s_waitcnt vmcnt(0)\n";
}

// Of 912 groups 304, one on each unit of an MI300X, read the same 256 KB: what
// the second group of a unit reads comes from memory once, too. That is how
// splits of backward weights read pixels. One of seven companions of the sample
// is among other 304.
TEST(Time, MemoryIsAskedOnceForAllUnits) {
  constexpr size_t kBytes = size_t(3 * 256) << 10;
  TimeTester tester("gfx942",
                    "s_cmp_ge_u32 s2, 0x130\ns_cselect_b32 s3, 0x40000, 0\n"
                    "s_cmp_ge_u32 s2, 0x260\ns_cselect_b32 s3, 0x80000, s3\n" +
                        readPart(256),
                    kBytes);
  const TimePrediction time = tester.predict(912, 256);
  EXPECT_NEAR(time.traffic.memory, 1.25 * double(kBytes), 0.3 * double(kBytes));
  EXPECT_NEAR(time.traffic.far, 1.25 * 8 * double(kBytes),
              0.3 * 8 * double(kBytes));
}

// Two groups, on two dies, read the same 64 KB: half of what all read comes
// from memory, and each die asks the Infinity Cache for all of it.
TEST(Time, MemoryIsAskedOnceForTwoUnits) {
  constexpr unsigned kGroups = 608;
  constexpr double kRead = double(kGroups) * (64 << 10);
  TimeTester tester(
      "gfx942", "s_lshr_b32 s3, s2, 1\ns_lshl_b32 s3, s3, 16\n" + readPart(64),
      size_t(kRead) / 2);
  const TimePrediction time = tester.predict(kGroups, 256);
  EXPECT_NEAR(time.traffic.memory, kRead / 2, 0.05 * kRead);
  EXPECT_NEAR(time.traffic.far, kRead, 0.05 * kRead);
}

// Waves that wait for memory hide each other's latency: eight waves of a SIMD
// take hardly longer than one.
TEST(Time, WavesHideLatency) {
  const std::string body =
      "v_lshlrev_b32 v1, 2, v0\nv_and_b32 v1, 0xff, v1\n" +
      loop(500, "global_load_dword v2, v1, s[8:9]\ns_waitcnt vmcnt(0)\n");
  TimeTester tester("gfx942", body, 4096);
  const double one = tester.predict(304, 256).clocks;
  const double eight = tester.predict(304 * 8, 256).clocks;
  EXPECT_LT(eight, 1.6 * one);
  // With LDS for a quarter of them there are two rounds.
  TimeTester crowded("gfx942", body, 4096, 32768);
  const TimePrediction rounds = crowded.predict(304 * 8, 256);
  EXPECT_EQ(rounds.residentGroups, 2u);
  EXPECT_GT(rounds.clocks, 3.5 * one);
  EXPECT_EQ(rounds.bound, TimeBound::Occupancy);
}

// The first wave works between barriers and the others wait for it.
TEST(Time, BarriersWait) {
  const std::string work = "v_readfirstlane_b32 s4, v0\n"
                           "s_cmp_lg_u32 s4, 0\ns_cbranch_scc1 skip\n" +
                           loop(1000, "v_add_u32 v2, v2, v2\n") + "skip:\n";
  const double alone = TimeTester("gfx942", work, 4096).predict(1, 64).clocks;
  const double together =
      TimeTester("gfx942", work + "s_barrier\n" + "v_add_u32 v2, v2, v2\n",
                 4096)
          .predict(1, 512)
          .clocks;
  EXPECT_NEAR(together, alone, 0.02 * alone);
}

// A launch that is nothing but its start says so.
TEST(Time, ShortLaunchIsBoundByLaunch) {
  const TimePrediction time =
      TimeTester("gfx942", "s_nop 0\n", 4096).predict(1, 64);
  EXPECT_EQ(time.bound, TimeBound::Launch);
  EXPECT_LT(time.lowMilliseconds, time.milliseconds);
  EXPECT_GT(time.highMilliseconds, time.milliseconds);
}

// A launch that is cut off in the replay is extrapolated to what the whole one
// takes.
TEST(Time, ExtrapolatesLongWaves) {
  const std::string body =
      loop(20000, "v_add_u32 v2, v2, v2\nv_add_u32 v3, v3, v3\n");
  TimeTester whole("gfx942", body, 4096), cut("gfx942", body, 4096);
  whole.options.replayLimit = 4'000'000;
  cut.options.replayLimit = 20000;
  cut.options.recordLimit = 10000;
  const TimePrediction a = whole.predict(304 * 3, 256);
  const TimePrediction b = cut.predict(304 * 3, 256);
  EXPECT_EQ(a.replayedShare, 1.0);
  EXPECT_LT(b.replayedShare, 0.2);
  EXPECT_NEAR(b.clocks, a.clocks, 0.03 * a.clocks);
}

// Groups that are cut when enough of them was recorded count as long as the one
// that was executed to its end.
TEST(Time, CutsGroupsThatAreSeenEnough) {
  const std::string body =
      loop(30000, "v_add_u32 v2, v2, v2\nv_add_u32 v3, v3, v3\n");
  TimeTester tester("gfx942", body, 4096);
  tester.options.recordLimit = uint64_t(1) << 16;
  const TimePrediction some = tester.predict(304 * 2, 256);
  tester.options.recordLimit = uint64_t(1) << 20;
  tester.options.replayLimit = uint64_t(1) << 23;
  const TimePrediction whole = tester.predict(304 * 2, 256);
  EXPECT_LT(some.replayedShare, 0.6);
  EXPECT_EQ(some.groupSpread, 1.0);
  EXPECT_NEAR(some.clocks, whole.clocks, 0.03 * whole.clocks);
}

// A SIMD of RDNA issues an instruction of 32 lanes a clock, and a wave waits
// five clocks for each result: the oldest five of eight waves go first, then
// the rest.
TEST(Time, RateOfRdna) {
  std::string adds;
  for (unsigned i = 0; i < 16; ++i)
    adds += "v_add_nc_u32 v2, v2, v2\n";
  TimeTester tester("gfx1030", loop(500, adds), 4096);
  const double alone = tester.predict(40, 32).clocks;
  EXPECT_NEAR(alone, 500 * (5 * 16 + 18), 0.05 * 500 * (5 * 16 + 18));
  const double together = tester.predict(40, 1024).clocks;
  EXPECT_GT(together, 8 * 16 * 500);
  EXPECT_LT(together, 2 * alone);
}

// Eight groups of a compute unit walk the same 64 rows, 16 steps a line. In
// step they find each other's lines in L1; when each is two lines ahead of the
// next one they use more than L1 holds, and ask L2 for all of them at every
// step. A replay of whole groups has no middle of the launch to look at.
TEST(Time, GroupsDriftApart) {
  const std::string walk =
      "s_movk_i32 s21, 0x2040\nv_mul_lo_u32 v1, v0, s21\n" +
      loop(2000, "global_load_dword v2, v1, s[8:9]\n"
                 "v_add_u32 v1, 4, v1\n"
                 "s_waitcnt vmcnt(0)\n");
  auto predict = [&](double drift, uint64_t limit) {
    TimeTester tester("gfx90a", walk, 64 * 0x2040);
    tester.options.times.groupDrift = drift;
    tester.options.replayLimit = limit;
    return tester.predict(8 * 104, 64);
  };
  const TimePrediction inStep = predict(0, 32'000), apart = predict(2, 32'000);
  EXPECT_LT(inStep.replayedShare, 0.5);
  EXPECT_LT(inStep.traffic.l2, 0.2 * inStep.traffic.l1);
  EXPECT_GT(apart.traffic.l2, 0.8 * apart.traffic.l1);
  EXPECT_GT(apart.clocks, 1.5 * inStep.clocks);
  EXPECT_EQ(predict(2, 1'000'000).clocks, predict(0, 1'000'000).clocks);
}

// Waves that meet at barriers drift with their group: what they compute takes
// as long as in step.
TEST(Time, WavesAtBarriersDriftTogether) {
  auto predict = [&](double drift) {
    TimeTester tester("gfx90a",
                      loop(2000, "v_mul_f32 v1, v1, v1\nv_mul_f32 v1, v1, v1\n"
                                 "s_barrier\n"),
                      4096);
    tester.options.times.groupDrift = drift;
    tester.options.replayLimit = 50'000;
    return tester.predict(2 * 104, 256);
  };
  const double inStep = predict(0).clocks;
  EXPECT_NEAR(predict(2).clocks, inStep, 0.02 * inStep);
}

// There are no numbers for RDNA 3.
TEST(Time, RefusesOtherChips) {
  auto result = TimeTester("gfx1100", "s_nop 0\n", 4096).tryPredict(1, 32);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.getStatus().getCode(), tessera::StatusCode::NotSupported);
  EXPECT_EQ(result.getStatus().getMessage(),
            "the times of gfx1100 cannot be predicted; there are numbers for "
            "gfx90a, gfx942, gfx1030");
}

// A kernel that faults has no time.
TEST(Time, TellsFaults) {
  auto result = TimeTester("gfx942",
                           "v_mov_b32 v1, 0x7fffff00\n"
                           "global_load_dword v2, v1, s[8:9]\n",
                           4096)
                    .tryPredict(1, 64);
  ASSERT_FALSE(result);
  EXPECT_NE(result.getStatus().getMessage().find("the kernel failed: "),
            std::string::npos);
}

// Parameters are set by the names of the table.
TEST(Time, ParametersHaveNames) {
  ChipTimes times = *findChipTimes("gfx942");
  EXPECT_TRUE(setChipTime(times, "l2Latency", 300));
  EXPECT_EQ(times.l2Latency, 300);
  EXPECT_FALSE(setChipTime(times, "l5Latency", 300));
}
