//===- Modifiers.cpp - What stands behind the operands --------------------===//

#include "runtime/Emulator/Decode/Modifiers.h"

#include "runtime/Emulator/Decode/DppControl.h"

#include <algorithm>

using namespace tessera::emulator;

namespace {
/// A modifier that is its name and nothing else.
struct FlagModifier {
  std::string_view name;
  uint16_t flag; ///< 0: it changes nothing here.
};
/// A modifier with a number, or with a bit for each source.
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
    // In the encoding, also where the printer leaves a zero away.
    {"bitop3", 0},
};
static constexpr FieldModifier kNumbers[] = {
    {"cbsz", &Instruction::cbsz},
    {"abid", &Instruction::abid},
    {"blgp", &Instruction::blgp},
};
/// Of instructions whose sources are packed.
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

/// The place of the first source operand: after the destination or the two, or
/// first of all for v_cmpx of RDNA.
unsigned ModifierBinder::getFirstSource() const {
  if (opcode.flags & kComparesToExec)
    return instruction.operandCount - 2u;
  bool hasTwo = opcode.typeOf(0) != ValueType::Mask &&
                opcode.typeOf(1) == ValueType::Mask;
  return hasTwo ? 2 : 1;
}

// One bit a source, then one for the destination, which comparisons have too.
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

/// Each has a meaning of its own.
bool ModifierBinder::bindOther(std::string_view name, std::string_view value) {
  if (name == "offset") {
    // A swizzle pattern has words in its text; the encoding has its number.
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
    // The bits that gfx9 sets by op_sel:[0,0,x,y].
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
  // v_permlane16_swap prints bound_ctrl and fi without a permutation, and
  // reads them from the encoding.
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

/// Signs of v_fma_mix are printed at its sources, but belong to the numbers
/// that are read, whose sign of f16 is another bit.
void ModifierBinder::moveSigns() {
  for (unsigned s = 0; s < 3; ++s) {
    Operand &source = instruction.op[1 + s];
    instruction.negHi |= (source.modifiers & kAbs ? 1 : 0) << s;
    instruction.negLo |= (source.modifiers & kNeg ? 1 : 0) << s;
    source.modifiers &= ~(kAbs | kNeg);
  }
}

bool ModifierBinder::bind(const InstructionText &text) {
  // Packed operations take the upper halves for the upper result unless told
  // otherwise; v_fma_mix takes f32 sources.
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
