//===- GlobalRaceTest.cpp - Races between workgroups are found ------------===//

#include "test/unit/runtime/Emulator/KernelTester.h"
#include "test/unit/runtime/Emulator/OpenClCompiler.h"

using namespace tessera::emulator;

/// These chips spell a load past the private caches differently.
static constexpr const char *kChips[] = {"gfx906", "gfx908",  "gfx90a",
                                         "gfx942", "gfx1030", "gfx1201"};

/// Runs eight groups of 64 work-items of an OpenCL kernel `k` whose argument
/// `out` has 4096 bytes of zeros.
static LaunchOutcome runGroups(const std::string &chip,
                               const std::string &source, const char *checks,
                               uint32_t items = 512,
                               const char *level = "-O2") {
  KernelTester tester(chip, compileOpenCl(chip, source, level));
  tester.settings.checks = *CheckSet::parse(checks);
  return tester.launch({items, 1, 1}, {64, 1, 1});
}

static void expectRace(const std::string &source,
                       std::initializer_list<const char *> words) {
  if (!hasOpenClCompiler())
    GTEST_SKIP();
  for (std::string chip : {"gfx942", "gfx1030", "gfx1201"}) {
    SCOPED_TRACE(chip + source);
    LaunchOutcome outcome = runGroups(chip, source, "global-races");
    EXPECT_EQ(outcome.fault, FaultKind::Race) << outcome.message;
    for (const char *word : words)
      EXPECT_NE(outcome.message.find(word), std::string::npos)
          << word << " is not in\n"
          << outcome.message;
  }
}

static void expectClean(const std::string &source, uint32_t items = 512) {
  if (!hasOpenClCompiler())
    GTEST_SKIP();
  for (std::string chip : kChips)
    for (const char *level : {"-O0", "-O2"}) {
      SCOPED_TRACE(chip + level + source);
      LaunchOutcome outcome = runGroups(chip, source, "all", items, level);
      EXPECT_EQ(outcome.fault, FaultKind::None) << outcome.message;
    }
}

// Two groups store different values to one element. The message names both
// instructions, the other group, the lane, and the offset in the allocation.
TEST(GlobalRaces, TwoGroupsWriteOneElement) {
  expectRace(R"(kernel void k(global int *out) { out[TID] = GID; })",
             {"race on 4 bytes", "bytes into the 4096-byte allocation",
              "this store and the store of workgroup (", "lane ",
              "global_store"});
}

// One group reads what another one wrote.
TEST(GlobalRaces, ReadOfAnotherGroupsResult) {
  expectRace(R"(kernel void k(global int *out) {
                  int i = GID * 64 + TID;
                  out[i] = i;
                  BARRIER();
                  out[512 + i] = out[(i + 64) % 512];
                })",
             {"this ", " and the ", "global_load"});
}

// The last group adds up what all groups have written, but the counter that
// decides which group is the last is not atomic.
TEST(GlobalRaces, CounterThatIsNotAtomic) {
  expectRace(R"(kernel void k(global int *out) {
                  if (TID == 0) out[0] = out[0] + 1;
                })",
             {"this load and the store of", "global_store"});
}

// Each group adds with an atomic, but one reads the sum without waiting for the
// others.
TEST(GlobalRaces, PlainReadOfAtomicSum) {
  expectRace(R"(kernel void k(global int *out) {
                  if (GID == 7) { if (TID == 0) out[1] = out[0]; }
                  else __scoped_atomic_fetch_add(out, 1, __ATOMIC_RELAXED,
                                                 __MEMORY_SCOPE_DEVICE);
                })",
             {"atomic"});
}

// Bytes of one dword belong to different groups: no race.
TEST(GlobalRaces, NeighbourBytes) {
  expectClean(R"(kernel void k(global int *out) {
                   global char *bytes = (global char *)out;
                   bytes[TID * 8 + GID] = GID;
                   bytes[TID * 8 + GID] += 1;
                 })");
}

// The last group to increment the counter may read what the others wrote.
TEST(GlobalRaces, LastGroupReduces) {
  expectClean(R"(kernel void k(global int *out) {
                   local int isLast;
                   out[GID * 64 + TID] = TID;
                   FENCE();
                   BARRIER();
                   if (TID == 0)
                     isLast = __scoped_atomic_fetch_add(
                         out + 1000, 1, __ATOMIC_ACQ_REL,
                         __MEMORY_SCOPE_DEVICE) == 7;
                   BARRIER();
                   if (!isLast) return;
                   int sum = 0;
                   for (int g = 0; g < 8; ++g) sum += out[g * 64 + TID];
                   out[TID] = sum;
                 })");
}

// A chain of flags: each group waits for the previous one, adds to what that
// one has left, and reads what the first one wrote, of which it knows only
// through the others.
TEST(GlobalRaces, ChainOfFlags) {
  expectClean(R"(kernel void k(global int *out) {
                   global int *flag = out + 512, *sum = out + 600;
                   if (GID > 0)
                     while (!__scoped_atomic_load_n(flag + GID - 1,
                                                    __ATOMIC_ACQUIRE,
                                                    __MEMORY_SCOPE_DEVICE))
                       __builtin_amdgcn_s_sleep(1);
                   if (TID == 0) {
                     int before = GID > 0 ? sum[GID - 1] : 5;
                     sum[GID] = before + GID + sum[0];
                   }
                   BARRIER();
                   if (TID == 0)
                     __scoped_atomic_store_n(flag + GID, 1, __ATOMIC_RELEASE,
                                             __MEMORY_SCOPE_DEVICE);
                 })");
}

// The same without the wait.
TEST(GlobalRaces, ChainWithoutFlags) {
  expectRace(R"(kernel void k(global int *out) {
                  global int *sum = out + 600;
                  if (TID == 0) sum[GID + 1] = sum[GID] + GID;
                })",
             {"store"});
}

// Correct by convention: several groups set a flag to the same value, groups
// use atomics on the same address, a lock is acquired and released, the last
// group is not full.
TEST(GlobalRaces, NoFalseAlarm) {
  expectClean(R"(kernel void k(global int *out) { out[0] = 1; })");
  expectClean(R"(kernel void k(global int *out) {
                   __scoped_atomic_fetch_add(out + TID % 16, GID,
                                             __ATOMIC_RELAXED,
                                             __MEMORY_SCOPE_DEVICE);
                 })");
  expectClean(R"(kernel void k(global int *out) {
                   if (TID == 0) {
                     int free = 0;
                     while (!__scoped_atomic_compare_exchange_n(
                         out, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                         __MEMORY_SCOPE_DEVICE)) {
                       free = 0;
                       __builtin_amdgcn_s_sleep(1);
                     }
                     out[1] += GID;
                     __scoped_atomic_store_n(out, 0, __ATOMIC_RELEASE,
                                             __MEMORY_SCOPE_DEVICE);
                   }
                 })");
  expectClean(R"(kernel void k(global int *out) {
                   int i = GID * 64 + TID;
                   out[i] = out[i] + 1;
                 })",
              500);
}
