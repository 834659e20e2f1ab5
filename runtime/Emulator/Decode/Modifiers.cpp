//===- Modifiers.cpp - What stands behind the operands --------------------===//

#include "runtime/Emulator/Decode/Modifiers.h"

#include "runtime/Emulator/Decode/DppControl.h"

#include <algorithm>

using namespace tessera::emulator;

namespace {
/// A modifier without a value.
struct FlagModifier {
  std::string_view name;
  uint16_t flag; ///< 0 if it has no effect in the emulator.
};
/// A modifier with a number, or with one bit for each source.
struct FieldModifier {
  std::string_view name;
  uint8_t Instruction::*field;
};
} // namespace

static constexpr FlagModifier kFlags[] = {
    {"offen", kOffen},
    {"idxen", kIdxen},
    {"lds", kToLds},
    {"glc", kReturnsOld},
    {"sc0", kReturnsOld},
    // Caches are not emulated.
    {"scope", 0},
    {"nv", 0},
    {"sc1", 0},
    {"nt", 0},
    {"slc", 0},
    {"dlc", 0},
    // Read from the encoding, because the printer leaves out zeros.
    {"bitop3", 0},
};
static constexpr FieldModifier kNumbers[] = {
    {"cbsz", &Instruction::cbsz},
    {"abid", &Instruction::abid},
    {"blgp", &Instruction::blgp},
};
/// The modifiers of packed instructions, which have one bit for each source.
static constexpr FieldModifier kSourceBits[] = {
    {"op_sel_hi", &Instruction::opSelHi},
    {"neg", &Instruction::negLo},
    {"neg_lo", &Instruction::negLo},
    {"neg_hi", &Instruction::negHi},
};

template <typename Modifier, size_t Size>
static const Modifier *find(const Modifier (&table)[Size],
                            std::string_view name) {
  const Modifier *found = std::ranges::find(table, name, &Modifier::name);
  return found == std::end(table) ? nullptr : found;
}

static int32_t parseNumber(std::string_view value) {
  return static_cast<int32_t>(parseInteger(value).value_or(0));
}

static uint8_t parseBits(std::string_view value) {
  uint8_t mask = 0;
  std::vector<int64_t> list = parseIntegerList(value);
  for (size_t i = 0; i < list.size() && i < 8; ++i)
    mask |= static_cast<uint8_t>((list[i] & 1) << i);
  return mask;
}

/// The index of the first source operand: after the one or two destinations.
/// RDNA's v_cmpx has no destination.
unsigned ModifierBinder::getFirstSource() const {
  if (opcode.flags & kComparesToExec)
    return instruction.operandCount - 2u;
  bool hasTwo = opcode.typeOf(0) != ValueType::Mask &&
                opcode.typeOf(1) == ValueType::Mask;
  return hasTwo ? 2 : 1;
}

// There is one bit for each source and then one for the destination.
// Comparisons have the last bit, too.
bool ModifierBinder::bindOpSel(std::string_view value) {
  std::vector<int64_t> bits = parseIntegerList(value);
  instruction.opSel |= parseBits(value);
  if (opcode.flags & (kVop3p | kRawModifiers))
    return true;
  if (!(opcode.flags & kPicksHalf))
    return instruction.opSel == 0;
  if (bits.empty())
    return false;
  for (size_t i = 0; i + 1 < bits.size(); ++i)
    if (bits[i])
      instruction.op[getFirstSource() + i].modifiers |= kHighHalf;
  if (bits.back()) {
    instruction.dstHighHalf = true;
    if (opcode.flags & kReadsDst)
      instruction.op[instruction.operandCount - 1u].modifiers |= kHighHalf;
  }
  return true;
}

static int parseSelect(std::string_view value) {
  static constexpr std::string_view kNames[] = {
      "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  for (int i = 0; i < 7; ++i)
    if (kNames[i] == value)
      return i;
  return -1;
}

bool ModifierBinder::bindSdwa(std::string_view name, std::string_view value) {
  if (name == "dst_unused") {
    instruction.dstUnused = value == "UNUSED_PRESERVE" ? 2
                            : value == "UNUSED_SEXT"   ? 1
                                                       : 0;
    return true;
  }
  int select = parseSelect(value);
  if (select < 0)
    return false;
  if (name == "dst_sel") {
    instruction.dstSelect = static_cast<uint8_t>(select);
    return true;
  }
  Operand &source = instruction.op[getFirstSource() + (name == "src1_sel")];
  source.select = static_cast<uint8_t>(select);
  if (select < 6 || source.modifiers & kSext)
    source.modifiers |= kSelect;
  return true;
}

bool ModifierBinder::bindOne(std::string_view name, std::string_view value) {
  if (const FlagModifier *modifier = find(kFlags, name)) {
    instruction.flags |= modifier->flag;
    return true;
  }
  if (const FieldModifier *modifier = find(kNumbers, name)) {
    instruction.*modifier->field = static_cast<uint8_t>(parseNumber(value));
    return true;
  }
  if (const FieldModifier *modifier = find(kSourceBits, name)) {
    instruction.*modifier->field = parseBits(value);
    return opcode.flags & (kVop3p | kRawModifiers);
  }
  if (name == "op_sel")
    return bindOpSel(value);
  if (name == "dst_unused" || name == "dst_sel" || name == "src0_sel" ||
      name == "src1_sel")
    return bindSdwa(name, value);
  return bindOther(name, value);
}

/// Binds the modifiers that each need code of their own.
bool ModifierBinder::bindOther(std::string_view name, std::string_view value) {
  if (name == "offset") {
    // The text of a swizzle pattern consists of words; the encoding has its
    // number.
    instruction.offset = value.starts_with("swizzle")
                             ? static_cast<int32_t>(instruction.raw[0] & 0xffff)
                             : parseNumber(value);
  } else if (name == "offset0") {
    instruction.offset = parseNumber(value);
  } else if (name == "offset1") {
    instruction.offset1 = parseNumber(value);
  } else if (name == "th") {
    if (value.starts_with("TH_ATOMIC") && value.ends_with("RETURN"))
      instruction.flags |= kReturnsOld;
  } else if (name == "clamp") {
    instruction.flags |= kClamp;
    return opcode.saturating || opcode.flags & (kClampOk | kRawModifiers);
  } else if (name == "mul") {
    instruction.outputScale = parseNumber(value) == 4 ? 2 : 1;
  } else if (name == "div") {
    instruction.outputScale = 3;
  } else if (name == "byte_sel") {
    // These are the bits that gfx9 sets by op_sel:[0,0,x,y].
    instruction.opSel |= static_cast<uint8_t>((parseNumber(value) & 3) << 2);
    return opcode.flags & kRawModifiers;
  } else {
    return isDppModifier(name);
  }
  return true;
}

bool ModifierBinder::bindDpp(const InstructionText &text) {
  bool isDpp = false;
  for (auto [name, value] : text.modifiers)
    isDpp |= isDppModifier(name);
  // v_permlane16_swap prints bound_ctrl and fi although it has no permutation,
  // and its handler reads them from the encoding.
  bool isPermuted = text.find("row_mask") || text.find("dpp8");
  if (!isDpp || (opcode.flags & kRawModifiers && !isPermuted))
    return true;
  DppControl control;
  if (!parseDpp(text, chip, control))
    return false;
  instruction.dpp = program.keepDpp(control);
  instruction.op[getFirstSource()].modifiers |= kDpp;
  return opcode.kind == InstructionClass::Valu;
}

/// The signs of v_fma_mix are printed at its sources but apply to the numbers
/// that are read, and the sign of an f16 is another bit than that of the
/// register.
void ModifierBinder::moveSigns() {
  for (unsigned s = 0; s < 3; ++s) {
    Operand &source = instruction.op[1 + s];
    instruction.negHi |= (source.modifiers & kAbs ? 1 : 0) << s;
    instruction.negLo |= (source.modifiers & kNeg ? 1 : 0) << s;
    source.modifiers &= ~(kAbs | kNeg);
  }
}

bool ModifierBinder::bind(const InstructionText &text) {
  // By default the upper result of a packed operation is made of the upper
  // halves, while v_fma_mix takes f32 sources.
  if (opcode.flags & kVop3p)
    instruction.opSelHi = opcode.flags & kMixSources ? 0 : 7;
  for (auto [name, value] : text.modifiers)
    if (!bindOne(name, value))
      return false;
  if (opcode.flags & kMixSources)
    moveSigns();
  if (!bindDpp(text))
    return false;
  bool is16Bit = opcode.typeOf(0) == ValueType::F16 ||
                 opcode.typeOf(0) == ValueType::Bf16 ||
                 opcode.typeOf(0) == ValueType::U16 ||
                 opcode.typeOf(0) == ValueType::I16;
  instruction.keepHighHalf =
      is16Bit && !chip.isGfx9() && opcode.kind == InstructionClass::Valu &&
      !instruction.dstHighHalf && instruction.dstSelect == 6;
  instruction.hasOutputModifiers =
      instruction.has(kClamp) || instruction.outputScale ||
      instruction.dstSelect < 6 || instruction.dstHighHalf ||
      instruction.keepHighHalf || instruction.dpp;
  return true;
}
