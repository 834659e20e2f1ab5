//===- Binder.cpp - From printed text to a predecoded instruction ---------===//

#include "runtime/Emulator/Decode/Binder.h"

#include "runtime/Emulator/Decode/Modifiers.h"
#include "runtime/Emulator/Exec/Dual.h"
#include "runtime/Emulator/Exec/HalfFloat.h"
#include "runtime/Emulator/Wave.h"

#include <cstdlib>
#include <cstring>

using namespace tessera::emulator;

static void stopUnknown(Wave &wave, const Instruction &instruction) {
  wave.fail(FaultKind::UnknownInstruction, instruction, -1, 0,
            "the emulator does not know this instruction");
}

static void stopUndecodable(Wave &wave, const Instruction &instruction) {
  wave.fail(FaultKind::UnknownInstruction, instruction, -1, 0,
            "these bytes are no instruction of this chip");
}

bool InstructionBinder::isUnknown(const Instruction &instruction) {
  return instruction.execute == stopUnknown ||
         instruction.execute == stopUndecodable;
}

void InstructionBinder::bindUndecodable(Instruction &instruction) {
  instruction.execute = stopUndecodable;
}

/// Removes the encoding's suffix: handlers are registered under the plain name,
/// because all encodings behave alike.
static std::string_view stripEncoding(std::string_view mnemonic) {
  for (std::string_view suffix :
       {"_e64_dpp", "_e32", "_e64", "_dpp8", "_dpp", "_sdwa"})
    if (mnemonic.ends_with(suffix)) {
      mnemonic.remove_suffix(suffix.size());
      break;
    }
  return mnemonic;
}

void InstructionBinder::setConstant(Operand &operand, uint64_t bits) {
  operand.kind = OperandKind::Constant;
  operand.value = {static_cast<uint32_t>(bits),
                   static_cast<uint32_t>(bits >> 32)};
  operand.rows = {program.getConstantRow(operand.value[0]),
                  program.getConstantRow(operand.value[1])};
}

static bool isDotOrPacked(ValueType type) {
  return type == ValueType::PackedF16 || type == ValueType::DotF16;
}

/// Encodes an inline float constant ("1.0", "0.15915494") in the operand's
/// format.
static uint64_t encodeFloat(double value, ValueType type) {
  // The hardware takes 1/(2 pi) from a table that has a value for each format.
  bool isInverseTwoPi = value > 0.159 && value < 0.16;
  if (type == ValueType::F64 || type == ValueType::U64 ||
      type == ValueType::I64)
    return isInverseTwoPi ? 0x3fc45f306dc9c882 : std::bit_cast<uint64_t>(value);
  if (type == ValueType::F16 || isDotOrPacked(type) || type == ValueType::U16 ||
      type == ValueType::I16 || type == ValueType::PackedI16) {
    uint64_t half =
        isInverseTwoPi ? 0x3118 : floatToHalf(static_cast<float>(value));
    return type == ValueType::DotF16 ? half | half << 16 : half;
  }
  uint64_t bits = isInverseTwoPi
                      ? 0x3e22f983
                      : std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == ValueType::Bf16)
    return bits >> 16;
  if (type == ValueType::DotBf16)
    return (bits >> 16) * 0x10001;
  return type == ValueType::PairF32 ? bits | bits << 32 : bits;
}

/// Encodes an inline integer or a literal. Literals are printed in hexadecimal.
static uint64_t encodeInteger(int64_t value, bool isLiteral, ValueType type) {
  auto bits = static_cast<uint64_t>(value);
  switch (type) {
  case ValueType::F64:
    return isLiteral && bits <= 0xffffffff ? bits << 32 : bits;
  case ValueType::I64:
    return isLiteral ? static_cast<uint64_t>(
                           static_cast<int64_t>(static_cast<int32_t>(bits)))
                     : bits;
  case ValueType::U64:
  case ValueType::Mask:
    return bits;
  case ValueType::PairF32:
    return (bits & 0xffffffff) | bits << 32;
  case ValueType::DotF16:
  case ValueType::DotBf16:
    return isLiteral ? bits : (bits & 0xffff) * 0x10001;
  case ValueType::PackedF16:
  case ValueType::PackedI16:
    return isLiteral ? bits : bits & 0xffff;
  default:
    return bits;
  }
}

bool InstructionBinder::bindConstant(std::string_view name, ValueType type,
                                     Operand &operand) {
  if (auto integer = parseInteger(name)) {
    bool isLiteral = name.find("0x") != std::string_view::npos;
    uint64_t bits = encodeInteger(*integer, isLiteral, type);
    bool isWide = type == ValueType::F64 || type == ValueType::U64 ||
                  type == ValueType::I64 || type == ValueType::PairF32 ||
                  type == ValueType::Mask;
    setConstant(operand, isWide ? bits : bits & 0xffffffff);
    return true;
  }
  char *end = nullptr;
  std::string copy(name);
  double value = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || *end)
    return false;
  setConstant(operand, encodeFloat(value, type));
  return true;
}

bool InstructionBinder::bindNamedScalar(std::string_view name,
                                        Operand &operand) {
  struct Named {
    std::string_view name;
    uint16_t slot;
    uint8_t dwords;
  };
  static constexpr Named kNames[] = {
      {"vcc", kVccLo, 2},
      {"vcc_lo", kVccLo, 1},
      {"vcc_hi", kVccHi, 1},
      {"exec", kExecLo, 2},
      {"exec_lo", kExecLo, 1},
      {"exec_hi", kExecHi, 1},
      {"m0", kM0, 1},
      {"null", kNull, 1},
      {"src_scc", kScc, 1},
      {"scc", kScc, 1},
      {"src_vccz", kVccz, 1},
      {"src_execz", kExecz, 1},
      {"vccz", kVccz, 1},
      {"execz", kExecz, 1},
      {"flat_scratch", kFlatScratchLo, 2},
      {"flat_scratch_lo", kFlatScratchLo, 1},
      {"flat_scratch_hi", kFlatScratchHi, 1},
      {"xnack_mask", 104, 2},
      {"xnack_mask_lo", 104, 1},
      {"xnack_mask_hi", 105, 1},
  };
  for (const Named &named : kNames)
    if (named.name == name) {
      operand.kind = OperandKind::Scalar;
      operand.reg = named.slot;
      operand.dwords = named.dwords;
      return true;
    }
  uint64_t shared = uint64_t(kSharedAperture) << 32;
  uint64_t hidden = uint64_t(kPrivateAperture) << 32;
  bool isLimit = name.ends_with("_limit");
  if (name == "src_shared_base" || name == "src_shared_limit")
    setConstant(operand, shared | (isLimit ? 0xffffffff : 0));
  else if (name == "src_private_base" || name == "src_private_limit")
    setConstant(operand, hidden | (isLimit ? 0xffffffff : 0));
  else
    return false;
  return true;
}

bool InstructionBinder::bindOperand(const OperandText &text, ValueType type,
                                    Operand &operand) {
  operand.type = type;
  operand.modifiers = static_cast<uint8_t>(
      (text.abs ? kAbs : 0) | (text.neg ? kNeg : 0) | (text.sext ? kSext : 0));
  std::string_view name = text.name;
  if (name == "off") {
    operand.kind = OperandKind::Off;
    return true;
  }
  if (auto reg = parseRegister(name)) {
    bool isVector = reg->file == RegisterName::File::Vector ||
                    reg->file == RegisterName::File::Accumulation;
    operand.kind = isVector ? OperandKind::Vector : OperandKind::Scalar;
    unsigned base = reg->file == RegisterName::File::Accumulation
                        ? kAccumulationRow
                    : reg->file == RegisterName::File::Ttmp ? unsigned(kTtmp0)
                                                            : 0;
    unsigned limit = isVector ? kVectorRows : unsigned(kScalarSlots);
    if (base + reg->first + reg->count > limit)
      return false;
    operand.reg = static_cast<uint16_t>(base + reg->first);
    operand.dwords = static_cast<uint8_t>(reg->count);
    if (reg->isHighHalf)
      operand.modifiers |= kHighHalf;
    return true;
  }
  if (bindNamedScalar(name, operand))
    return true;
  return bindConstant(name, type, operand);
}

bool InstructionBinder::bindOperands(const InstructionText &text,
                                     const Opcode &opcode,
                                     Instruction &instruction) {
  instruction.operandCount = static_cast<uint8_t>(text.operands.size());
  unsigned unprinted =
      opcode.flags & kComparesToExec && text.operands.size() == 2 ? 1 : 0;
  for (size_t i = 0; i < text.operands.size(); ++i)
    if (!bindOperand(text.operands[i],
                     opcode.typeOf(static_cast<unsigned>(i) + unprinted),
                     instruction.op[i]))
      return false;
  // v_dual_cndmask selects by VCC, which is not printed.
  if (instruction.operandCount == 3 && opcode.types.size() == 4 &&
      opcode.typeOf(3) == ValueType::Mask) {
    ++instruction.operandCount;
    if (!bindOperand({"vcc_lo"}, ValueType::Mask, instruction.op[3]))
      return false;
  }
  if (opcode.flags & kReadsDst) {
    Operand &last = instruction.op[instruction.operandCount];
    last = instruction.op[0];
    last.type = opcode.typeOf(instruction.operandCount++);
  }
  instruction.dstHighHalf = instruction.op[0].modifiers & kHighHalf;
  return true;
}

/// Binds a VOPD instruction as two instructions, one for each half. Each half
/// prints the operands of the plain form, so it is bound as that form.
void InstructionBinder::bindDual(std::string_view first,
                                 std::string_view second,
                                 Instruction &instruction) {
  std::array<Instruction, 2> halves{instruction, instruction};
  constexpr std::string_view kPrefix = "v_dual_";
  instruction.execute = stopUnknown;
  instruction.kind = InstructionClass::Valu;
  for (unsigned i = 0; i < 2; ++i) {
    std::string text(i ? second : first);
    if (!text.starts_with(kPrefix))
      return;
    bind("v_" + text.substr(kPrefix.size()), halves[i]);
    if (halves[i].execute == stopUnknown)
      return;
  }
  const Instruction &other = halves[1];
  for (unsigned i = 1; i < other.operandCount; ++i)
    if (other.op[i].kind == OperandKind::Vector &&
        other.op[i].reg == halves[0].op[0].reg)
      instruction.flags |= kHalvesOverlap;
  instruction.halves = program.keepHalves(halves);
  instruction.execute = executeDual;
}

void InstructionBinder::bind(std::string_view line, Instruction &instruction) {
  constexpr std::string_view kBetween = " :: ";
  if (size_t at = line.find(kBetween); at != std::string_view::npos) {
    bindDual(line.substr(0, at), line.substr(at + kBetween.size()),
             instruction);
    return;
  }
  InstructionText text = splitInstruction(line);
  const Opcode *opcode = OpcodeTable::get().find(stripEncoding(text.mnemonic));
  instruction.execute = stopUnknown;
  if (!opcode || text.operands.size() > instruction.op.size())
    return;
  instruction.kind = opcode->kind;
  // Handlers of control instructions (waits, messages, branches) read the
  // encoding; nothing needs the printed operands.
  bool readsOperands = !opcode->types.empty();
  if (readsOperands &&
      (!bindOperands(text, *opcode, instruction) ||
       !ModifierBinder(program, chip, *opcode, instruction).bind(text)))
    return;
  for (Operand &operand : instruction.op)
    operand.isPlainVector = operand.kind == OperandKind::Vector &&
                            !operand.modifiers &&
                            operand.type != ValueType::Mask;
  bool saturates = opcode->saturating && instruction.has(kClamp);
  instruction.execute = saturates ? opcode->saturating : opcode->handler;
}
