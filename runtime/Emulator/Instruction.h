//===- Instruction.h - A predecoded instruction ----------------*- C++ -*--===//
//
// A code object is decoded once. The running wave then needs only what is here:
// the function that does the work, and operands that need no further lookup.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_INSTRUCTION_H
#define TESSERA_RUNTIME_EMULATOR_INSTRUCTION_H

#include <array>
#include <cstdint>

namespace tessera::emulator {

struct Wave;
struct Instruction;
using Handler = void (*)(Wave &, const Instruction &);

/// The classes that the statistics count separately.
enum class InstructionClass : uint8_t {
  Mfma,
  Valu,
  Salu,
  Smem,
  VmemLoad,
  VmemStore,
  LdsRead,
  LdsWrite,
  Wait,
  Barrier,
  Branch,
  Other,
};

/// How the bits of an operand are to be read. Decides what an inline constant
/// means and which bit a negation flips.
enum class ValueType : uint8_t {
  U32,
  I32,
  F32,
  U16,
  I16,
  F16,
  U64,
  I64,
  F64,
  Mask, ///< One bit a lane: an SGPR, or a pair of them for 64 lanes.
  PackedF16,
  PackedI16,
  PairF32, ///< Two f32 in a register pair.
  DotF16,  ///< Two f16; an inline constant is used for both.
  Bf16,    ///< An inline float constant is the upper half of its f32.
  DotBf16, ///< Two bf16.
};

enum class OperandKind : uint8_t {
  None,
  Vector,   ///< Row `reg` of the vector registers; AGPR n is row 256 + n.
  Scalar,   ///< Slot `reg` of the scalar registers.
  Constant, ///< `value`; `rows` hold it once for each lane.
  Off,      ///< The word "off", or the null register as a destination.
};

/// Flags of Operand::modifiers.
enum OperandModifier : uint8_t {
  kAbs = 1,
  kNeg = 2,
  kSext = 4,
  kHighHalf = 8, ///< op_sel: a 16-bit operand is the upper half.
  kSelect = 16,  ///< SDWA: `select` selects a byte or a word.
  kDpp = 32,     ///< Lanes are permuted as Instruction::dpp says.
};

struct Operand {
  OperandKind kind = OperandKind::None;
  uint8_t modifiers = 0;
  ValueType type = ValueType::U32;
  uint8_t select = 6; ///< SDWA: 0-3 byte, 4-5 word, 6 dword.
  uint8_t dwords = 1; ///< Number of registers of the operand.
  /// A vector register that is read as it is: neither a mask nor modified.
  bool isPlainVector = false;
  uint16_t reg = 0;
  std::array<uint32_t, 2> value{};
  std::array<const uint32_t *, 2> rows{};
};

/// Numbers of the scalar slots that have a name.
enum ScalarSlot : uint16_t {
  kFlatScratchLo = 102, // gfx9 only; RDNA has s102-s105 instead.
  kFlatScratchHi = 103,
  kVccLo = 106,
  kVccHi = 107,
  kTtmp0 = 108,
  kM0 = 124,
  kNull = 125,
  kExecLo = 126,
  kExecHi = 127,
  kScalarSlots = 128,
  // These are not stored but computed when they are read.
  kVccz = 251,
  kExecz = 252,
  kScc = 253,
};

/// A DPP lane permutation. `source[lane]` is the lane to read, or kNoLane.
struct DppControl {
  static constexpr uint8_t kNoLane = 0xff;
  std::array<uint8_t, 64> source{};
  uint64_t writeMask = 0; ///< row_mask and bank_mask, expanded
  /// Invalid sources read 0 instead of suppressing the write.
  bool boundControl = false;
  bool fetchInactive = false;
};

enum InstructionFlag : uint16_t {
  kOffen = 1,
  kIdxen = 2,
  kToLds = 4,
  kReturnsOld = 8, ///< The atomic returns the old value.
  kClamp = 16,
  kHalvesOverlap = 32, ///< VOPD: the second half reads what the first writes.
};

struct Instruction {
  Handler execute = nullptr;
  std::array<Operand, 6> op{}; ///< In the order of the printed text.
  uint8_t operandCount = 0;
  InstructionClass kind = InstructionClass::Other;
  uint8_t bytes = 4;
  /// The result needs finishWrite(): output modifiers, or a partial write.
  bool hasOutputModifiers = false;
  uint16_t flags = 0;
  uint8_t outputScale = 0; ///< omod: 1 doubles, 2 quadruples, 3 halves.
  uint8_t dstSelect = 6;   ///< SDWA dst_sel
  uint8_t dstUnused = 0;   ///< SDWA: 0 zero, 1 sign-extend, 2 preserve
  /// op_sel: the result is written to the upper half.
  bool dstHighHalf = false;
  bool keepHighHalf = false; ///< 16-bit result that keeps bits 31:16 (gfx10+).
  // VOP3P, with one bit for each source operand.
  uint8_t opSel = 0;
  uint8_t opSelHi = 0;
  uint8_t negLo = 0;
  uint8_t negHi = 0;
  // MFMA
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  int32_t offset = 0; ///< Immediate offset; offset0 of two-address LDS forms.
  int32_t offset1 = 0;
  std::array<uint32_t, 2> raw{}; ///< The first eight bytes of the encoding.
  const DppControl *dpp = nullptr;
  /// The handler to run with register numbers relative to M0; null if they are
  /// absolute.
  Handler unindexed = nullptr;
  const Instruction *halves = nullptr; ///< VOPD: the two instructions.
  /// Index in the program; the pc in messages is made of it.
  uint32_t index = 0;
  uint32_t target = 0; ///< For a branch: index of the instruction to jump to.

  int16_t getSimm16() const { return static_cast<int16_t>(raw[0]); }
  bool has(InstructionFlag flag) const { return flags & flag; }
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_INSTRUCTION_H
