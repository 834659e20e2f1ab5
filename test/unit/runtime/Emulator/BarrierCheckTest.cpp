//===- BarrierCheckTest.cpp - Divergent barriers are found ----------------===//

#include "test/unit/runtime/Emulator/KernelTester.h"

using namespace tessera::emulator;

static constexpr const char *kChips[] = {"gfx906", "gfx908", "gfx90a", "gfx942",
                                         "gfx1030"};

namespace {
/// A kernel of two waves. s4 is the index of the wave in its group.
struct TwoWaves {
  explicit TwoWaves(const std::string &chip, const std::string &body) {
    KernelSource source;
    source.chip = chip;
    unsigned lanes = chip.starts_with("gfx1") ? 32 : 64;
    std::string mask = lanes == 32 ? "exec_lo" : "exec";
    source.body = "v_and_b32 v0, 0x3ff, v0\nv_readfirstlane_b32 s4, v0\n"
                  "s_lshr_b32 s4, s4, " +
                  std::string(lanes == 32 ? "5" : "6") + "\n" + body;
    size_t at;
    while ((at = source.body.find("EXEC")) != std::string::npos)
      source.body.replace(at, 4, mask);
    while ((at = source.body.find("MOV")) != std::string::npos)
      source.body.replace(at, 3, lanes == 32 ? "s_mov_b32" : "s_mov_b64");
    tester = std::make_unique<KernelTester>(source);
    items = 2 * lanes;
  }
  LaunchOutcome launch(const char *checks, uint32_t fewer = 0) {
    tester->settings.checks = *CheckSet::parse(checks);
    return tester->launch({items - fewer, 1, 1}, {items, 1, 1});
  }
  std::unique_ptr<KernelTester> tester;
  uint32_t items;
};
} // namespace

// Only the first wave comes to the barrier, and the other one ends. The
// hardware lets the first pass, so this is reported only by the strict check.
static constexpr const char *kOneEnds =
    "s_cmp_lg_u32 s4, 0\ns_cbranch_scc1 end\ns_barrier\nend:";

TEST(BarrierCheck, EndedWave) {
  for (std::string chip : kChips) {
    TwoWaves kernel(chip, kOneEnds);
    EXPECT_EQ(kernel.launch("default").fault, FaultKind::None) << chip;
    LaunchOutcome outcome = kernel.launch("barriers");
    EXPECT_EQ(outcome.fault, FaultKind::DivergentBarrier) << chip;
    EXPECT_NE(outcome.message.find("wave 1 of the group has ended"),
              std::string::npos)
        << outcome.message;
    EXPECT_NE(outcome.message.find("s_barrier"), std::string::npos);
  }
}

// With if (lane < 16) barrier(), lanes of one wave do not come.
TEST(BarrierCheck, MissingLanes) {
  for (std::string chip : kChips) {
    TwoWaves kernel(chip, "MOV EXEC, 0xffff\ns_barrier\nMOV EXEC, -1");
    EXPECT_EQ(kernel.launch("default").fault, FaultKind::None) << chip;
    LaunchOutcome outcome = kernel.launch("barriers");
    EXPECT_EQ(outcome.fault, FaultKind::DivergentBarrier) << chip;
    EXPECT_NE(outcome.message.find("lane 16"), std::string::npos)
        << outcome.message;
    EXPECT_NE(outcome.message.find(std::to_string(kernel.items / 2 - 16) +
                                   " of the wave's lanes"),
              std::string::npos)
        << outcome.message;
  }
}

// A barrier in a branch that one wave takes is paired with a later one of the
// other waves. Both are named, and since one wave passes more barriers than the
// others this is certainly wrong.
TEST(BarrierCheck, WrongPairIsFoundByDefault) {
  for (std::string chip : kChips) {
    TwoWaves kernel(chip, "s_cmp_lg_u32 s4, 0\ns_cbranch_scc1 skip\n"
                          "s_barrier\nskip:\ns_nop 3\ns_barrier");
    for (const char *checks : {"default", "barriers"}) {
      LaunchOutcome outcome = kernel.launch(checks);
      EXPECT_EQ(outcome.fault, FaultKind::DivergentBarrier) << chip;
      EXPECT_NE(outcome.message.find("meet at different barriers"),
                std::string::npos)
          << outcome.message;
    }
  }
}

// With warp specialization waves meet at two instructions of one barrier,
// equally often: the hardware accepts it, and so do the defaults.
TEST(BarrierCheck, SpecialisedWaves) {
  TwoWaves kernel("gfx942", "s_cmp_lg_u32 s4, 0\ns_cbranch_scc1 other\n"
                            "s_barrier\ns_branch end\nother:\ns_barrier\nend:");
  EXPECT_EQ(kernel.launch("default").fault, FaultKind::None);
  EXPECT_EQ(kernel.launch("barriers").fault, FaultKind::DivergentBarrier);
}

// Correct kernels have no finding: barriers in a loop, and a last group whose
// last wave has only some lanes.
TEST(BarrierCheck, NoFalseAlarm) {
  for (std::string chip : kChips) {
    TwoWaves kernel(chip, "s_mov_b32 s5, 3\nloop:\ns_barrier\n"
                          "s_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, 0\n"
                          "s_cbranch_scc1 loop\ns_barrier");
    for (uint32_t fewer : {0, 7})
      for (const char *checks : {"default", "all"}) {
        LaunchOutcome outcome = kernel.launch(checks, fewer);
        EXPECT_EQ(outcome.fault, FaultKind::None) << outcome.message;
      }
  }
}
