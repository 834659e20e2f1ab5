//===- Barriers.cpp - Do all waves and lanes meet at a barrier? -----------===//

#include "runtime/Emulator/Check/Barriers.h"

#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Wave.h"

#include <cstdio>

using namespace tessera::emulator;

void BarrierChecker::onGroupStart(GroupContext &,
                                  std::span<Wave *const> waves) {
  firstLanes.clear();
  for (const Wave *wave : waves)
    firstLanes.push_back(wave->exec);
  passed.assign(waves.size(), 0);
  mismatch = {};
}

static std::string describeMismatch(const Wave &wave, unsigned otherWave,
                                    const Instruction &other) {
  return "waves of the group meet at different barriers: wave " +
         std::to_string(otherWave) + " stands at " +
         wave.group->program->describe(other);
}

/// Checks what the language requires of a wave at a barrier. `ended` is a wave
/// of the group that has ended without coming to the barrier, or null.
void BarrierChecker::checkWave(Wave &wave, const Wave *ended) const {
  const Instruction &barrier = wave.getPrevious();
  if (ended)
    wave.report(FaultKind::DivergentBarrier, barrier, -1, 0,
                "wave " + std::to_string(ended->indexInGroup) +
                    " of the group has ended without coming to this barrier");
  uint64_t missing = firstLanes[wave.indexInGroup] & ~wave.exec;
  if (!missing)
    return;
  char text[112];
  std::snprintf(text, sizeof text,
                "%d of the wave's lanes do not come to this barrier "
                "(EXEC is 0x%llx)",
                std::popcount(missing),
                static_cast<unsigned long long>(wave.exec));
  wave.report(FaultKind::DivergentBarrier, barrier, std::countr_zero(missing),
              0, text);
}

void BarrierChecker::onBarrier(GroupContext &, std::span<Wave *const> waves) {
  const Wave *ended = nullptr;
  Wave *first = nullptr;
  for (Wave *wave : waves) {
    if (wave->stop == StopReason::End)
      ended = wave;
    else
      ++passed[wave->indexInGroup];
    // On gfx12 a wave may have signalled without waiting yet.
    if (wave->stop != StopReason::Barrier)
      continue;
    if (!first)
      first = wave;
    const Instruction &here = wave->getPrevious();
    if (&here != &first->getPrevious() && !mismatch.first)
      mismatch = {&first->getPrevious(), &here, first->indexInGroup,
                  wave->indexInGroup};
  }
  if (!isStrict)
    return;
  for (Wave *wave : waves)
    if (wave->stop == StopReason::Barrier)
      checkWave(*wave, ended);
  if (mismatch.first)
    waves[mismatch.firstWave]->report(
        FaultKind::DivergentBarrier, *mismatch.first, -1, 0,
        describeMismatch(*waves[mismatch.firstWave], mismatch.secondWave,
                         *mismatch.second));
  mismatch = {};
}

void BarrierChecker::onGroupEnd(GroupContext &, std::span<Wave *const> waves) {
  if (!mismatch.first ||
      passed[mismatch.firstWave] == passed[mismatch.secondWave])
    return;
  Wave &wave = *waves[mismatch.firstWave];
  wave.report(FaultKind::DivergentBarrier, *mismatch.first, -1, 0,
              describeMismatch(wave, mismatch.secondWave, *mismatch.second) +
                  ", and in the end they have passed " +
                  std::to_string(passed[mismatch.firstWave]) + " and " +
                  std::to_string(passed[mismatch.secondWave]) + " barriers");
}
