//===- LdsCheckTest.cpp - Races and unwritten bytes in LDS are found ------===//

#include "test/unit/runtime/Emulator/KernelTester.h"
#include "test/unit/runtime/Emulator/OpenClCompiler.h"

using namespace tessera::emulator;

static constexpr const char *kChips[] = {"gfx906", "gfx908", "gfx90a", "gfx942",
                                         "gfx1030"};
/// One chip or more of each wave size, for kernels that have to be compiled.
static constexpr const char *kTwoChips[] = {"gfx942", "gfx1030", "gfx1201"};
static constexpr const char *kBoth = "lds-races,initialized";

/// Runs one group of 256 work-items of an OpenCL kernel `k`.
static LaunchOutcome runOpenCl(const std::string &chip,
                               const std::string &source,
                               const char *checks = kBoth,
                               const char *level = "-O2") {
  KernelTester tester(chip, compileOpenCl(chip, source, level));
  tester.settings.checks = *CheckSet::parse(checks);
  return tester.launch({256, 1, 1}, {256, 1, 1});
}

/// Runs one group of `items` work-items with 4 KiB of LDS. v0 is the item, v1
/// four times that, and v2 is v1 of the item half a group away.
static LaunchOutcome runAssembly(const std::string &chip,
                                 const std::string &body,
                                 uint32_t items = 128) {
  KernelSource source;
  source.chip = chip;
  source.ldsBytes = 4096;
  source.argumentBytes = 8;
  source.body = "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n"
                "v_xor_b32 v2, " +
                std::to_string(2 * items) + ", v1\n" + body;
  KernelTester tester(source);
  tester.settings.checks = *CheckSet::parse(kBoth);
  return tester.launch({items, 1, 1}, {items, 1, 1});
}

static void expectFault(const LaunchOutcome &outcome, FaultKind kind,
                        std::initializer_list<const char *> words) {
  EXPECT_EQ(outcome.fault, kind) << outcome.message;
  for (const char *word : words)
    EXPECT_NE(outcome.message.find(word), std::string::npos)
        << word << " is not in\n"
        << outcome.message;
}

static void expectClean(const LaunchOutcome &outcome) {
  EXPECT_EQ(outcome.fault, FaultKind::None) << outcome.message;
}

// A value is read that another wave wrote, with no barrier between: the message
// names both instructions, both waves, and the bytes.
TEST(LdsCheck, MissingBarrierReadAfterWrite) {
  for (std::string chip : kChips) {
    LaunchOutcome outcome =
        runAssembly(chip, "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n"
                          "ds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)");
    expectFault(outcome, FaultKind::Race,
                {"ds_write_b32 v1, v0", "ds_read_b32 v3, v2", "of wave 0",
                 "LDS bytes [0x0, 0x4)", "no barrier is between them"});
  }
}

// The other direction: a tile is overwritten while another wave may still be
// reading it. The emulator's own order of waves gives the right values.
TEST(LdsCheck, MissingBarrierWriteAfterRead) {
  if (!hasOpenClCompiler())
    GTEST_SKIP();
  for (std::string chip : kTwoChips) {
    LaunchOutcome outcome = runOpenCl(chip, R"(
      kernel void k(global int *out) {
        local int tile[256];
        int sum = 0;
        for (int step = 0; step < 3; ++step) {
          tile[TID] = TID + step;
          BARRIER();
          sum += tile[255 - TID]; // and here the second barrier is missing
        }
        out[TID] = sum;
      })");
    expectFault(outcome, FaultKind::Race,
                {"this write and the read of wave", "no barrier"});
  }
}

// There is a barrier, but the wave comes to it before its writes are complete.
TEST(LdsCheck, BarrierWithoutWait) {
  for (std::string chip : kChips) {
    const char *kTail = "s_barrier\nds_read_b32 v3, v2\n"
                        "s_waitcnt lgkmcnt(0)";
    expectClean(runAssembly(chip, std::string("ds_write_b32 v1, v0\n"
                                              "s_waitcnt lgkmcnt(0)\n") +
                                      kTail));
    expectFault(runAssembly(chip, std::string("ds_write_b32 v1, v0\n") + kTail),
                FaultKind::Race,
                {"a wait is missing before the barrier", "ds_read_b32",
                 "ds_write_b32"});
  }
}

// A byte that nobody wrote is reported with its address where it is read.
TEST(LdsCheck, UnwrittenByte) {
  for (std::string chip : kChips) {
    const char *kWait = "s_waitcnt lgkmcnt(0)\ns_barrier\n";
    expectFault(runAssembly(chip, std::string("ds_write_b16 v1, v0\n") + kWait +
                                      "ds_read_b32 v3, v1"),
                FaultKind::Uninitialized,
                {"ds_read_b32 v3, v1", "LDS bytes [0x0, 0x4)", "byte 0x2"});
    expectClean(runAssembly(chip, std::string("ds_write_b16 v1, v0\n") + kWait +
                                      "ds_read_u16 v3, v1"));
    expectFault(runAssembly(chip, "ds_add_u32 v1, v0"),
                FaultKind::Uninitialized, {"ds_add_u32"});
  }
}

// A compiled kernel never fills one row of its tile.
TEST(LdsCheck, UnwrittenTileEdge) {
  if (!hasOpenClCompiler())
    GTEST_SKIP();
  for (std::string chip : kTwoChips)
    expectFault(runOpenCl(chip, R"(
      kernel void k(global int *out) {
        local int tile[257];
        tile[TID] = TID;
        BARRIER();
        out[TID] = tile[TID + 1];
      })"),
                FaultKind::Uninitialized, {"byte 0x400"});
}

// Different waves access bytes of the same dword, which is no race.
TEST(LdsCheck, NeighbourBytes) {
  for (std::string chip : kChips) {
    // Both waves write the same dwords, one the lower and one the upper half.
    std::string address =
        "v_and_b32 v3, " + std::string(chip == "gfx1030" ? "31" : "63") +
        ", v0\nv_lshlrev_b32 v3, 2, v3\nv_lshrrev_b32 v4, " +
        (chip == "gfx1030" ? "5" : "6") + ", v0\nv_lshl_or_b32 v3, v4, 1, v3\n";
    uint32_t items = chip == "gfx1030" ? 64 : 128;
    expectClean(runAssembly(
        chip, address + "ds_write_b16 v3, v0\nds_read_u16 v5, v3", items));
    expectFault(runAssembly(chip,
                            address + "ds_write_b16 v3, v0\n"
                                      "v_and_b32 v3, 0xffc, v3\n"
                                      "ds_read_b32 v5, v3",
                            items),
                FaultKind::Race, {"ds_read_b32"});
  }
}

// Direct-to-LDS loads arrive when vmcnt says so, even for their own wave.
TEST(LdsCheck, DirectToLdsNeedsItsWait) {
  const std::string load = "s_load_dwordx2 s[8:9], s[0:1], 0x0\n"
                           "s_waitcnt lgkmcnt(0)\ns_mov_b32 m0, 0\n"
                           "global_load_lds_dword v1, s[8:9]\n";
  expectClean(runAssembly("gfx942",
                          load + "s_waitcnt vmcnt(0)\nds_read_b32 v3, v1", 64));
  expectFault(runAssembly("gfx942",
                          load + "s_waitcnt lgkmcnt(0)\nds_read_b32 v3, v1",
                          64),
              FaultKind::MissingWait, {"ds_read_b32", "global_load_lds_dword"});
}

// Correct kernels of the usual kinds have no finding under any check.
TEST(LdsCheck, NoFalseAlarm) {
  if (!hasOpenClCompiler())
    GTEST_SKIP();
  static constexpr const char *kSources[] = {
      // A reduction tree
      R"(kernel void k(global int *out) {
           local int s[256];
           s[TID] = TID;
           BARRIER();
           for (int n = 128; n > 0; n /= 2) {
             if (TID < n) s[TID] += s[TID + n];
             BARRIER();
           }
           if (TID == 0) out[0] = s[0];
         })",
      // A pipeline of two stages with one barrier per iteration
      R"(kernel void k(global int *out) {
           local int tile[2][256];
           int sum = 0;
           tile[0][TID] = out[TID];
           BARRIER();
           for (int step = 0; step < 6; ++step) {
             tile[(step + 1) % 2][TID] = out[TID] + step;
             sum += tile[step % 2][255 - TID];
             BARRIER();
           }
           out[TID] = sum;
         })",
      // A histogram by atomics
      R"(kernel void k(global int *out) {
           local int bins[16];
           if (TID < 16) bins[TID] = 0;
           BARRIER();
           __atomic_fetch_add(&bins[TID * 7 % 16], 1, __ATOMIC_RELAXED);
           BARRIER();
           if (TID < 16) out[TID] = bins[TID];
         })",
      // Lanes of one wave that exchange values without a barrier
      R"(kernel void k(global int *out) {
           local volatile int s[256];
           s[TID] = TID;
           out[TID] = s[TID ^ 1];
           s[TID] = out[TID] + s[TID ^ 3];
         })",
      // Bytes, transposed, so that four waves write each dword
      R"(kernel void k(global int *out) {
           local char s[256];
           s[(TID % 64) * 4 + TID / 64] = TID;
           BARRIER();
           out[TID] = s[TID];
         })",
  };
  for (const char *source : kSources)
    for (std::string chip : kTwoChips)
      for (const char *level : {"-O0", "-O2"}) {
        SCOPED_TRACE(chip + level + source);
        expectClean(runOpenCl(chip, source, "all", level));
      }
}

// An LDS atomic publishes what its wave did before: the wave that finds the
// count complete may read what the others wrote, without a barrier.
TEST(LdsCheck, AtomicsOrderWaves) {
  if (!hasOpenClCompiler())
    GTEST_SKIP();
  const std::string kernel = R"(
    kernel void k(global int *out) {
      local int s[256];
      local int count;
      if (TID == 0) count = 0;
      BARRIER();
      s[TID] = TID;
      __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
      int before = __scoped_atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL,
                                             __MEMORY_SCOPE_WRKGRP);
      if (LAST) out[TID] = s[255 - TID];
    })";
  for (std::string chip : kTwoChips) {
    expectClean(runOpenCl(chip, "#define LAST (before == 255)\n" + kernel));
    expectFault(runOpenCl(chip, "#define LAST (before >= 0)\n" + kernel),
                FaultKind::Race, {"no barrier"});
  }
}
