//===- Wave.h - The state of one running wave ------------------*- C++ -*--===//
//
// Registers are stored [register][lane], so that the lanes of one register are
// consecutive and a loop over lanes is a vector loop of the host. Rows are 64
// lanes long on every chip; a wave of 32 uses the first half.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_WAVE_H
#define TESSERA_RUNTIME_EMULATOR_WAVE_H

#include "runtime/Emulator/Check/Observer.h"
#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Fault.h"
#include "runtime/Emulator/Instruction.h"
#include "runtime/Emulator/MemoryMap.h"

#include <bit>
#include <cstring>

namespace tessera::emulator {

class Program;
struct LaunchStats;

/// The longest wave; also the length of a register row.
inline constexpr unsigned kMaxLanes = 64;
/// Lane loops process blocks of this constant length, so that they vectorise
/// without a remainder for both wave sizes.
inline constexpr unsigned kLaneBlock = 32;
inline constexpr unsigned kVectorRows = 512;
/// The row of AGPR 0.
inline constexpr unsigned kAccumulationRow = 256;

using LaneRow = uint32_t[kMaxLanes];

/// A source operand: one row, or two for 64-bit values.
struct LaneRows {
  const uint32_t *lo;
  const uint32_t *hi;
};

/// Where a result is written: the registers themselves, or a buffer from which
/// finishWrite() merges it.
struct RowTarget {
  uint32_t *lo;
  uint32_t *hi;
  bool direct;
};

enum class StopReason : uint8_t { None, Barrier, End, Fault, Yield };

/// What all waves of a workgroup share. Owned by the workgroup's thread.
struct GroupContext {
  const Chip *chip = nullptr;
  const Program *program = nullptr;
  const MemoryMap *memory = nullptr; ///< Locked during the launch.
  const char *kernelName = "";
  std::array<uint32_t, 3> groupId{};
  uint8_t *lds = nullptr;
  uint32_t ldsBytes = 0;
  /// Null where an access beyond the end of LDS is a fault.
  LdsOverruns *ldsOverruns = nullptr;
  uint32_t waveCount = 1;      ///< Number of waves at the start.
  uint32_t liveWaves = 1;      ///< Waves that have not ended.
  uint32_t barrierSignals = 0; ///< Since the last barrier was completed.
  uint64_t barriersDone = 0;
  LaunchStats *stats = nullptr; ///< Null unless counting.
  Fault *fault = nullptr;       ///< Filled by the first fault.
  Allocation lastAllocation;    ///< The one that the previous access hit.
  /// Null unless an observer needs every instruction.
  const ObserverList *observers = nullptr;
  /// The accesses of the current instruction; only recorded for observers.
  AccessList accesses;
};

/// MODE[1:0] is the rounding of f32 results, MODE[3:2] that of f16 and f64.
inline constexpr uint32_t kRoundingModes = 0xf;

struct Wave {
  alignas(64) LaneRow vector[kVectorRows + 4];
  alignas(64) LaneRow operandScratch[8];
  alignas(64) LaneRow result[4];
  /// EXEC, with a word of all ones or zeros per lane.
  alignas(64) LaneRow execLanes;
  uint32_t scalar[kScalarSlots];
  uint64_t exec;
  const Instruction *pc;
  GroupContext *group;
  uint64_t dppWriteMask; ///< Lanes for which the current DPP operand is valid.
  uint64_t scratchBase;  ///< The private memory of this wave.
  uint64_t instructionCount;
  uint64_t barriersSeen; ///< GroupContext::barriersDone at its last wait.
  uint32_t scratchBytesPerLane;
  uint32_t lanes;
  uint32_t mode;
  uint32_t indexInGroup;
  bool scc;
  bool execFull;
  /// Flush denormals, as MODE says; f64 also for f16.
  bool flushF32, flushF64;
  bool isDefaultMode; ///< Flushes nothing and rounds to nearest even.
  StopReason stop;

  /// MODE.FP16_OVFL: a result that is too large for a 16- or 8-bit float
  /// becomes the largest number.
  bool saturatesNarrowFloats() const { return mode >> 23 & 1; }
  /// The instruction before pc: the barrier, for a wave that waits at one.
  const Instruction &getPrevious() const { return pc[-1]; }
  bool isWave64() const { return lanes == 64; }
  uint64_t getLaneMask() const {
    return lanes == 64 ? ~uint64_t(0) : 0xffffffffu;
  }

  // Scalar registers
  uint32_t readScalar(unsigned slot) const;
  void writeScalar(unsigned slot, uint32_t value);
  uint64_t readScalar64(unsigned slot) const {
    if (slot == kNull)
      return 0;
    return readScalar(slot) | uint64_t(readScalar(slot + 1)) << 32;
  }
  void writeScalar64(unsigned slot, uint64_t value);
  /// Reads a lane mask: one register or two, depending on the wave size.
  uint64_t readMask(unsigned slot) const {
    return isWave64() ? readScalar64(slot) : readScalar(slot);
  }
  void writeMask(unsigned slot, uint64_t value) {
    isWave64() ? writeScalar64(slot, value)
               : writeScalar(slot, static_cast<uint32_t>(value));
  }
  void setExec(uint64_t value);
  void setMode(uint32_t value);

  // Operands of scalar instructions
  uint32_t scalar32(const Operand &operand) const {
    return operand.kind == OperandKind::Scalar ? readScalar(operand.reg)
                                               : operand.value[0];
  }
  uint64_t scalar64(const Operand &operand) const {
    return operand.kind == OperandKind::Scalar
               ? readScalar64(operand.reg)
               : operand.value[0] | uint64_t(operand.value[1]) << 32;
  }

  // Operands of vector instructions. `slot` (0-3) names the scratch rows to use
  // when the operand is not simply a register.
  LaneRows source(const Instruction &instruction, unsigned operand,
                  unsigned slot) {
    const Operand &op = instruction.op[operand];
    if (op.isPlainVector & isDefaultMode) [[likely]]
      return {vector[op.reg], vector[op.reg + 1]};
    return sourceSlow(instruction, op, slot);
  }
  LaneRows sourceSlow(const Instruction &instruction, const Operand &operand,
                      unsigned slot);
  /// The lanes of one dword of an operand, without modifiers.
  const uint32_t *rawRow(const Operand &operand, unsigned dword, unsigned slot);

  RowTarget beginWrite(const Instruction &instruction, unsigned operand = 0) {
    const Operand &op = instruction.op[operand];
    if (execFull & !instruction.hasOutputModifiers & isDefaultMode) [[likely]]
      return {vector[op.reg], vector[op.reg + 1], true};
    if (mode & kRoundingModes) [[unlikely]]
      setHostRounding(op.type);
    return {result[0], result[1], false};
  }
  /// Applies output modifiers and EXEC to what is in `result`.
  void finishWrite(const Instruction &instruction, ValueType type,
                   unsigned operand = 0);
  /// Makes the host round as MODE says for results of `type`, until
  /// resetHostRounding(). beginWrite() and finishWrite() call both. The
  /// compiler must not be able to inline them, or it would move arithmetic past
  /// them.
  void setHostRounding(ValueType type) const;
  static void resetHostRounding();
  /// Applies omod, clamp and the flushing of denormals to one result.
  uint32_t modifyResult(const Instruction &instruction, ValueType type,
                        uint32_t bits) const;
  /// Copies one row for active lanes only.
  void writeRow(unsigned row, const uint32_t *lanes);

  /// Checks an access to `bytes` at `address`. Returns null after a fault.
  uint8_t *access(const Instruction &instruction, unsigned lane,
                  uint64_t address, uint32_t bytes, AccessKind kind);
  /// Stops the wave and records why. Only the first fault of a launch is kept.
  void fail(FaultKind kind, const Instruction &instruction, int lane,
            uint64_t address, std::string what);
  /// Records a finding of a check. The kernel continues, and its launch fails
  /// at the end. Only the first finding of a kind at an instruction is kept.
  void report(FaultKind kind, const Instruction &instruction, int lane,
              uint64_t address, const std::string &what);
  /// The same for something that was noticed earlier: `site` is the result of
  /// getSite() at that time.
  void report(FaultKind kind, const Instruction &instruction, FaultSite site);
  /// Describes where the wave is, with the current values of the instruction's
  /// operands.
  FaultSite getSite(const Instruction &instruction, int lane, uint64_t address,
                    const std::string &what) const;

private:
  std::string describe(const Instruction &instruction, int lane,
                       uint64_t address, const std::string &what) const;
};

/// Makes the host round as MODE says for results of `type` during its lifetime;
/// for handlers that write without beginWrite().
class RoundingScope {
public:
  RoundingScope(const Wave &wave, ValueType type)
      : isNeeded(wave.mode & kRoundingModes) {
    if (isNeeded) [[unlikely]]
      wave.setHostRounding(type);
  }
  ~RoundingScope() {
    if (isNeeded) [[unlikely]]
      Wave::resetHostRounding();
  }
  RoundingScope(const RoundingScope &) = delete;
  RoundingScope &operator=(const RoundingScope &) = delete;

private:
  const bool isNeeded;
};

inline uint32_t Wave::readScalar(unsigned slot) const {
  if (slot < kScalarSlots) [[likely]]
    return scalar[slot];
  switch (slot) {
  case kScc:
    return scc;
  case kVccz:
    return readMask(kVccLo) == 0;
  case kExecz:
    return exec == 0;
  default:
    return 0;
  }
}

inline void Wave::writeScalar(unsigned slot, uint32_t value) {
  if (slot == kNull)
    return;
  scalar[slot] = value;
  if (slot == kExecLo)
    setExec((exec & ~uint64_t(0xffffffff)) | value);
  else if (slot == kExecHi)
    setExec((exec & 0xffffffffu) | uint64_t(value) << 32);
}

inline void Wave::writeScalar64(unsigned slot, uint64_t value) {
  if (slot == kExecLo) {
    scalar[kExecHi] = static_cast<uint32_t>(value >> 32);
    setExec(value);
    return;
  }
  if (slot == kNull)
    return;
  scalar[slot] = static_cast<uint32_t>(value);
  scalar[slot + 1] = static_cast<uint32_t>(value >> 32);
}

inline uint8_t *Wave::access(const Instruction &instruction, unsigned lane,
                             uint64_t address, uint32_t bytes,
                             AccessKind kind) {
  const bool isWrite = kind != AccessKind::Load;
  Allocation &last = group->lastAllocation;
  if (!last.contains(address, bytes) || (isWrite && !last.isWritable()))
      [[unlikely]] {
    const Allocation *found = group->memory->findLocked(address);
    if (!found || !found->contains(address, bytes) ||
        (isWrite && !found->isWritable())) {
      fail(FaultKind::IllegalAddress, instruction, static_cast<int>(lane),
           address,
           std::string(isWrite ? "store" : "load") + " of " +
               std::to_string(bytes) + " bytes " +
               group->memory->describeLocked(address) +
               (found && found->contains(address, bytes) ? " (read-only memory)"
                                                         : ""));
      return nullptr;
    }
    last = *found;
  }
  if (group->observers) [[unlikely]]
    group->accesses.add({last.kind == MemoryKind::Scratch ? MemorySpace::Scratch
                                                          : MemorySpace::Global,
                         kind, static_cast<uint8_t>(lane), false, bytes,
                         address});
  return reinterpret_cast<uint8_t *>(address);
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_WAVE_H
