//===- Barriers.h - Do all waves and lanes meet at a barrier? --*- C++ -*--===//
//
// The hardware only counts waves: a barrier opens when every wave that has not
// ended stands at a barrier instruction, no matter which instruction it is or
// which lanes are active. HIP and OpenCL require more, and a kernel that relies
// on the hardware's tolerance breaks with the next compiler. Few of the
// violations are certain to be bugs, so the check that is always on
// (BarrierPairs) is narrow, and the one of the language's rule (Barriers) has
// to be asked for.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_BARRIERS_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_BARRIERS_H

#include "runtime/Emulator/Check/Observer.h"

namespace tessera::emulator {

/// Does work at barriers only, so that its cost is negligible.
class BarrierChecker : public Observer {
public:
  /// If `isStrict`, each of these is a finding: waves at different barriers, a
  /// wave that has ended before the barrier, a lane that is inactive. Otherwise
  /// waves that met at different barriers are reported only if the waves of the
  /// group have passed different numbers of barriers in the end: then one of
  /// them was paired with the wrong barrier.
  explicit BarrierChecker(bool isStrict) : isStrict(isStrict) {}

  void onGroupStart(GroupContext &, std::span<Wave *const> waves) override;
  void onBarrier(GroupContext &, std::span<Wave *const> waves) override;
  void onGroupEnd(GroupContext &, std::span<Wave *const> waves) override;

private:
  void checkWave(Wave &wave, const Wave *ended) const;

  /// Two waves that met at different barriers.
  struct Mismatch {
    const Instruction *first = nullptr;
    const Instruction *second = nullptr;
    unsigned firstWave = 0, secondWave = 0;
  };

  bool isStrict;
  std::vector<uint64_t> firstLanes; ///< EXEC at the start, by wave.
  std::vector<uint32_t> passed;     ///< Barriers so far, by wave.
  Mismatch mismatch;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_BARRIERS_H
