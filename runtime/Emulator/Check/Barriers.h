//===- Barriers.h - Do all waves and lanes meet at a barrier? --*- C++ -*-===//
//
// The hardware only counts waves: a barrier opens when every wave that has not
// ended stands at one, whichever it is and whatever its lanes are. HIP and
// OpenCL ask for more, and a kernel that relies on the hardware's tolerance
// breaks on the next compiler. What surely is wrong is little, so the rule that
// is always on (BarrierPairs) is narrow and the language's (Barriers) is asked
// for.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_BARRIERS_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_BARRIERS_H

#include "runtime/Emulator/Check/Observer.h"

namespace tessera::emulator {

/// Works at barriers only, and so costs nothing that matters.
class BarrierChecker : public Observer {
public:
  /// Unless `isStrict`, reports waves that met at different barriers only if
  /// in the end they had not passed equally many: then one of them was paired
  /// with the wrong one. Strictly, each of these is a finding:
  /// different barriers, a wave that has ended before, a lane that is off.
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
  std::vector<uint64_t> firstLanes; ///< By wave: EXEC at the start.
  std::vector<uint32_t> passed;     ///< By wave: barriers so far.
  Mismatch mismatch;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_BARRIERS_H
