//===- WaitsTest.cpp - Registers used before their load has ended ---------===//

#include "runtime/Emulator/Check/WaitModel.h"
#include "test/unit/runtime/Emulator/KernelTester.h"

using namespace tessera::emulator;

/// Returns the outcome of `body` under the check, run with the buffer's address
/// in s[8:9] and lane * 4 in v1.
static LaunchOutcome runChecked(const std::string &chip,
                                const std::string &body) {
  bool isOld = findChip(chip)->generation < 11;
  KernelSource source;
  source.chip = chip;
  source.argumentBytes = 8;
  source.ldsBytes = 1024;
  source.body = std::string(isOld ? "s_load_dwordx2" : "s_load_b64") +
                " s[8:9], s[0:1], 0x0\n" +
                (chip == "gfx1201" ? "s_wait_idle" : "s_waitcnt lgkmcnt(0)") +
                "\nv_and_b32 v1, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v1\n" + body;
  KernelTester tester(source);
  tester.settings.checks = CheckSet::none().with(Check::Waits);
  return tester.launch({64, 1, 1}, {64, 1, 1});
}

static void expectQuiet(const std::string &chip, const std::string &body) {
  LaunchOutcome outcome = runChecked(chip, body);
  EXPECT_EQ(outcome.fault, FaultKind::None) << outcome.message;
}

/// Expects a finding whose message has `words`.
static void expectMissing(const std::string &chip, const std::string &body,
                          const std::string &words) {
  LaunchOutcome outcome = runChecked(chip, body);
  EXPECT_EQ(outcome.fault, FaultKind::MissingWait) << chip << "\n" << body;
  EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
}

// A missing wait is found on each generation, and the message names the load
// and the counter.
TEST(Waits, DroppedWait) {
  expectMissing("gfx942",
                "global_load_dword v2, v1, s[8:9]\nv_add_u32 v3, v2, v1",
                "v2 is read before the load into it at pc 0x");
  expectMissing("gfx942",
                "global_load_dword v2, v1, s[8:9]\nv_add_u32 v3, v2, v1",
                "needs vmcnt(0), and nothing has waited for vmcnt");
  expectMissing("gfx1030",
                "global_load_dword v2, v1, s[8:9]\nv_add_nc_u32 v3, v2, v1",
                "(global_load_dword v2, v1, s[8:9])");
  expectMissing("gfx1100",
                "global_load_b32 v2, v1, s[8:9]\nv_add_nc_u32 v3, v2, v1",
                "needs vmcnt(0)");
}

// With the wait there is no finding on any generation.
TEST(Waits, PresentWait) {
  expectQuiet("gfx942", "global_load_dword v2, v1, s[8:9]\n"
                        "s_waitcnt vmcnt(0)\nv_add_u32 v3, v2, v1");
  expectQuiet("gfx1030", "global_load_dword v2, v1, s[8:9]\n"
                         "s_waitcnt vmcnt(0)\nv_add_nc_u32 v3, v2, v1");
  expectQuiet("gfx1100", "global_load_b32 v2, v1, s[8:9]\n"
                         "s_waitcnt vmcnt(0)\nv_add_nc_u32 v3, v2, v1");
}

// Three loads, of which the first is used: two may be outstanding, three may
// not. The message says what was waited for and what is needed.
TEST(Waits, WrongCount) {
  const std::string loads = "global_load_dword v2, v1, s[8:9]\n"
                            "global_load_dword v3, v1, s[8:9]\n"
                            "global_load_dword v4, v1, s[8:9]\n";
  expectMissing("gfx942", loads + "s_waitcnt vmcnt(3)\nv_mov_b32 v5, v2",
                "needs vmcnt(2) or less, but the last wait was vmcnt(3)");
  expectQuiet("gfx942", loads + "s_waitcnt vmcnt(2)\nv_mov_b32 v5, v2");
  expectMissing("gfx942", loads + "s_waitcnt vmcnt(2)\nv_mov_b32 v5, v3",
                "needs vmcnt(1) or less");
}

// Stores count in vmcnt on gfx9, and in a separate counter from gfx10 on, where
// waiting for one counter does not wait for the other.
TEST(Waits, StoresCountWhereTheChipSays) {
  const std::string body = "global_load_dword v2, v1, s[8:9]\n"
                           "global_store_dword v1, v1, s[8:9]\n"
                           "s_waitcnt vmcnt(1)\nv_mov_b32 v3, v2";
  expectQuiet("gfx942", body);
  expectMissing("gfx1030", body, "needs vmcnt(0)");
}

// Scalar loads complete in any order, so only a wait for zero proves something.
TEST(Waits, ScalarLoadsAreUnordered) {
  const std::string loads = "s_load_dword s10, s[8:9], 0x0\n"
                            "s_load_dword s11, s[8:9], 0x4\n";
  expectMissing("gfx90a", loads + "s_waitcnt lgkmcnt(1)\ns_mov_b32 s12, s10",
                "s10 is read before the load into it");
  expectQuiet("gfx90a", loads + "s_waitcnt lgkmcnt(0)\ns_mov_b32 s12, s10");
  // The destination may not be overwritten either.
  expectMissing("gfx90a", loads + "s_mov_b32 s11, 0", "s11 is written before");
}

// LDS operations complete in order, even beside scalar loads, and lane
// permutations through LDS are loads.
TEST(Waits, LdsIsInOrder) {
  expectQuiet("gfx942", "ds_read_b32 v2, v1\nds_read_b32 v3, v1\n"
                        "s_waitcnt lgkmcnt(1)\nv_mov_b32 v4, v2");
  expectMissing("gfx942",
                "ds_read_b32 v2, v1\nds_read_b32 v3, v1\n"
                "s_waitcnt lgkmcnt(1)\nv_mov_b32 v4, v3",
                "v3 is read before");
  expectMissing("gfx942", "ds_bpermute_b32 v2, v1, v1\nv_mov_b32 v4, v2",
                "needs lgkmcnt(0)");
  expectMissing("gfx942",
                "ds_add_rtn_u32 v2, v1, v1\ns_waitcnt vmcnt(0)\n"
                "v_mov_b32 v4, v2",
                "needs lgkmcnt(0)");
}

// A flat load is counted twice, and on gfx9 only waits for zero prove that it
// has completed.
TEST(Waits, FlatCountsTwice) {
  const std::string load = "v_mov_b32 v4, s8\nv_mov_b32 v5, s9\n"
                           "flat_load_dword v2, v[4:5]\n";
  expectMissing("gfx942", load + "s_waitcnt vmcnt(0)\nv_mov_b32 v3, v2",
                "needs lgkmcnt(0)");
  expectMissing("gfx942",
                load + "global_load_dword v6, v1, s[8:9]\n"
                       "s_waitcnt vmcnt(1) lgkmcnt(0)\nv_mov_b32 v3, v2",
                "needs vmcnt(0)");
  expectQuiet("gfx942",
              load + "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32 v3, v2");
  expectQuiet("gfx1030", load +
                             "global_load_dword v6, v1, s[8:9]\n"
                             "s_waitcnt vmcnt(1) lgkmcnt(0)\nv_mov_b32 v3, v2");
}

// A store's data may be overwritten at once, and before gfx12 so may a
// destination by the next load of the same kind.
TEST(Waits, WhatNeedsNoWait) {
  expectQuiet("gfx942", "global_store_dword v1, v1, s[8:9]\nv_mov_b32 v1, 0");
  expectQuiet("gfx942", "ds_write_b32 v1, v1\nv_mov_b32 v1, 0");
  expectQuiet("gfx942", "global_load_dword v2, v1, s[8:9]\n"
                        "global_load_dword v2, v1, s[8:9] offset:4");
  expectQuiet("gfx942", "global_load_dword v2, v1, s[8:9]");
}

// An atomic that returns the old value is a load; one that does not is a store.
TEST(Waits, Atomics) {
  expectMissing("gfx942",
                "global_atomic_add v2, v1, v1, s[8:9] sc0\nv_mov_b32 v3, v2",
                "needs vmcnt(0)");
  expectMissing("gfx1030",
                "global_load_dword v2, v1, s[8:9]\n"
                "global_atomic_add v1, v1, s[8:9]\n"
                "s_waitcnt vmcnt(1)\nv_mov_b32 v3, v2",
                "needs vmcnt(0)");
  expectQuiet("gfx1030", "global_load_dword v2, v1, s[8:9]\n"
                         "global_atomic_add v3, v1, v1, s[8:9] glc\n"
                         "s_waitcnt vmcnt(1)\nv_mov_b32 v4, v2");
}

// A counter has a maximum, at which instructions wait for the oldest before
// they are issued.
TEST(Waits, FullCounters) {
  std::string loads;
  for (unsigned i = 0; i < 16; ++i)
    loads += "ds_read_b32 v" + std::to_string(2 + i) + ", v1\n";
  expectQuiet("gfx942", loads + "v_mov_b32 v20, v2");
  expectMissing("gfx942", loads + "v_mov_b32 v20, v3", "v3 is read before");
}

// gfx12 has a counter for each kind of operation. Waiting for another one
// proves nothing, and vector loads may complete out of order.
TEST(Waits, Gfx12Counters) {
  const std::string load = "global_load_b32 v2, v1, s[8:9]\n";
  expectMissing("gfx1201", load + "v_add_nc_u32 v3, v2, v1",
                "needs loadcnt(0)");
  expectMissing("gfx1201", load + "s_wait_dscnt 0\nv_add_nc_u32 v3, v2, v1",
                "needs loadcnt(0)");
  expectQuiet("gfx1201", load + "s_wait_loadcnt 0\nv_add_nc_u32 v3, v2, v1");
  expectQuiet("gfx1201", load + "s_wait_idle\nv_add_nc_u32 v3, v2, v1");
  expectMissing("gfx1201", load + "global_load_b32 v2, v1, s[8:9] offset:4",
                "v2 is written before");
  expectMissing("gfx1201",
                "s_load_b32 s10, s[8:9], 0x0\ns_wait_loadcnt 0\n"
                "s_mov_b32 s12, s10",
                "needs kmcnt(0)");
}

// gfx12 can wait for two counters at once: LDS is in the low byte.
TEST(Waits, Gfx12CombinedWait) {
  const std::string loads = "global_load_b32 v2, v1, s[8:9]\n"
                            "ds_load_b32 v3, v1\nds_load_b32 v4, v1\n";
  expectQuiet("gfx1201", loads + "s_wait_loadcnt_dscnt 0x1\nv_mov_b32 v5, v2\n"
                                 "v_mov_b32 v6, v3");
  expectMissing("gfx1201", loads + "s_wait_loadcnt_dscnt 0x1\nv_mov_b32 v5, v4",
                "needs dscnt(0), but the last wait was dscnt(1)");
}

// The two numbers that the LDS check uses: what has completed in order, with
// flat accesses among them.
TEST(Waits, ModelCountsLdsAndDma) {
  const Chip &chip = *findChip("gfx942");
  WaitModel model(chip);
  WaitTraits lds, dma, flat, wait;
  lds.queues = 1u << unsigned(WaitQueue::Lds);
  dma.queues = 1u << unsigned(WaitQueue::Load);
  dma.isLdsDma = true;
  flat.queues =
      1u << unsigned(WaitQueue::FlatLoad) | 1u << unsigned(WaitQueue::FlatLds);
  model.step(lds);
  model.step(dma);
  model.step(flat);
  model.step(lds);
  EXPECT_EQ(model.getIssuedLds(), 3u);
  EXPECT_EQ(model.getIssuedDma(), 1u);
  EXPECT_EQ(model.getCompletedLdsSequence(), 0u);
  wait.limit[unsigned(WaitQueue::Lds)] = 1;
  wait.limit[unsigned(WaitQueue::FlatLds)] = 1;
  model.step(wait);
  EXPECT_EQ(model.getCompletedLdsSequence(), 1u);
  EXPECT_EQ(model.getCompletedDmaSequence(), 0u);
  wait.limit[unsigned(WaitQueue::Lds)] = 0;
  wait.limit[unsigned(WaitQueue::FlatLds)] = 0;
  wait.limit[unsigned(WaitQueue::Load)] = 0;
  model.step(wait);
  EXPECT_EQ(model.getCompletedLdsSequence(), 3u);
  EXPECT_EQ(model.getCompletedDmaSequence(), 1u);
}
