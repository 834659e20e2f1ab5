//===- Definedness.h - Which registers hold a value ------------*- C++ -*--===//
//
// Records what a wave has written: vector registers lane by lane, scalar
// registers bit by bit because they are lane masks, and private memory dword by
// dword. Correct code copies, spills and merges values that nobody wrote, so
// this only follows them; Initialized.cpp decides which uses are errors. Where
// the exact answer depends on the bits of a vector register, a value counts as
// written.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_DEFINEDNESS_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_DEFINEDNESS_H

#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Wave.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <vector>

namespace tessera::emulator {

/// The registers that hold a value when a kernel starts.
struct PresetRegisters {
  std::bitset<kScalarSlots> scalars;
  unsigned vectors = 0; ///< v0 up to but not including this one.
};

/// How an instruction's results depend on its sources.
enum class DefinednessRule : uint8_t {
  None,     ///< Writes nothing, or only what was loaded: see Load.
  All,      ///< A lane needs every source.
  Any,      ///< A lane needs one source, because bits are merged.
  PerDword, ///< Dword n of the result needs dword n of each source.
  Select,   ///< v_cndmask
  Lanes,    ///< Any lane of the source may reach any lane of the result.
  ReadLane,
  WriteLane,
  Swap,
  Matrix,
  MoveRelative,
  Load, ///< Defined, except that private memory may say otherwise.
  ScalarCopy,
  ScalarSelect,
  ScalarConditionalMove,
  ScalarBitwise,
  ScalarSaveExec,
  ScalarShift,
  ScalarPack,
  ScalarArithmetic, ///< A bit needs the sources' bits up to its own position.
  Scalar,           ///< Needs all bits of all sources.
};

struct DefinednessSource {
  uint16_t reg = 0;
  uint8_t dwords = 1;
  bool isScalar = false;
  bool isMask = false; ///< One bit for each lane.
  bool isPermuted = false;
};

/// One vector result and what it depends on. Dual-issue instructions have two.
struct DefinednessStep {
  DefinednessRule rule = DefinednessRule::All;
  uint16_t reg = 0;
  uint8_t dwords = 1;
  bool isMask = false;   ///< A scalar result with one bit for each lane.
  bool keepsOld = false; ///< Some bits of the destination stay.
  std::vector<DefinednessSource> sources;
};

/// What an instruction does to definedness. Computed once per instruction.
struct DefinednessPlan {
  DefinednessRule rule = DefinednessRule::None;
  const Effects *effects = nullptr;
  std::vector<DefinednessStep> steps; ///< For All, Any, PerDword and Lanes.
  /// The only result is a copy of the only source, so it also inherits the
  /// source's origin.
  bool isCopy = false;
  /// '&', '|' or '^' for ScalarBitwise; '<' or '>' for ScalarShift.
  char operation = 0;
  bool notSecond = false, notResult = false;
  bool firstIsHigh = false, secondIsHigh = false; ///< For ScalarPack.
};

DefinednessPlan makeDefinednessPlan(const Program &program,
                                    const Instruction &in);

/// The registers and private memory of one wave.
class Definedness {
public:
  static constexpr uint32_t kFromLaunch = ~0u;

  Definedness(const PresetRegisters &preset, const Wave &wave);

  /// Must be called before the instruction runs, while its sources still have
  /// their values.
  void apply(const DefinednessPlan &plan, Wave &wave, const Instruction &in);

  uint64_t getLanes(unsigned row) const { return vector[row]; }
  uint32_t getBits(unsigned slot) const { return scalar[slot]; }
  uint32_t getVectorOrigin(unsigned row) const { return vectorOrigin[row]; }
  uint32_t getScalarOrigin(unsigned slot) const { return scalarOrigin[slot]; }
  bool isScalarDefined(unsigned first, unsigned dwords) const;

  void storePrivate(const Wave &wave, const MemoryAccess &access, bool defined);
  bool isPrivateDefined(const Wave &wave, const MemoryAccess &access) const;
  /// Records whether the value that a load read from private memory is defined.
  void setLane(unsigned row, unsigned lane, bool defined, uint32_t origin);

private:
  struct Bits {
    uint64_t value, defined;
  };

  uint64_t getSourceLanes(const DefinednessSource &source, int dword,
                          const Wave &wave, const Instruction &in) const;
  uint64_t evaluate(const DefinednessStep &step, unsigned dword,
                    const Wave &wave, const Instruction &in) const;
  void applySteps(const DefinednessPlan &plan, const Wave &wave,
                  const Instruction &in);
  void applySelect(const DefinednessPlan &plan, const Wave &wave,
                   const Instruction &in);
  void applyMatrix(const Instruction &in);
  void applyMoveRelative(const Wave &wave, const Instruction &in);
  void applyLaneAccess(const DefinednessPlan &plan, const Wave &wave,
                       const Instruction &in);
  void applyScalar(const DefinednessPlan &plan, const Wave &wave,
                   const Instruction &in);
  uint64_t getScalarResult(const DefinednessPlan &plan, const Wave &wave,
                           const Instruction &in, bool &sccDefined) const;
  Bits combine(const DefinednessPlan &plan, Bits a, Bits b) const;
  Bits getOperand(const Wave &wave, const Operand &operand) const;

  void writeRow(unsigned row, uint64_t lanes, uint64_t written,
                const Instruction &in);
  void writeSlot(unsigned slot, uint32_t bits, const Instruction &in);
  size_t getPrivateDword(const Wave &wave, uint64_t address) const;

  /// The last four entries are padding: a 64-bit operand may name the last row.
  std::array<uint64_t, kVectorRows + 4> vector{};
  std::array<uint32_t, 256> scalar{};
  /// Indices of the instructions that left the registers undefined.
  std::array<uint32_t, kVectorRows + 4> vectorOrigin;
  std::array<uint32_t, 256> scalarOrigin;
  std::vector<uint64_t> privateLanes; ///< Lanes that are defined, by dword.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_DEFINEDNESS_H
