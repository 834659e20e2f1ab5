//===- EffectsReader.cpp - Effects from LLVM's descriptions ---------------===//

#include "runtime/Emulator/Decode/EffectsReader.h"

#include "runtime/Emulator/Instruction.h"
#include "runtime/Emulator/Wave.h"

#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"

#include <charconv>
#include <string_view>

using namespace tessera::emulator;

/// Parses "SGPR4_SGPR5" with prefix "SGPR" as two registers from 4 on.
static std::optional<RegisterUse> parseTuple(std::string_view name,
                                             std::string_view file,
                                             unsigned base, bool isScalar) {
  if (!name.starts_with(file))
    return std::nullopt;
  const char *end = name.data() + name.size();
  unsigned number = 0;
  if (std::from_chars(name.data() + file.size(), end, number).ec != std::errc())
    return std::nullopt;
  RegisterUse use;
  use.first = static_cast<uint16_t>(base + number);
  use.isScalar = isScalar;
  use.dwords = 0;
  for (size_t at = 0; at != std::string_view::npos;
       at = name.find(file, at + 1))
    ++use.dwords;
  return use;
}

static std::optional<RegisterUse> parseNamed(std::string_view name,
                                             bool isGfx9) {
  struct Named {
    std::string_view prefix;
    uint16_t slot;
  };
  // A name without _LO or _HI is the pair.
  static constexpr Named kPairs[] = {{"VCC", kVccLo},
                                     {"EXEC", kExecLo},
                                     {"FLAT_SCR", kFlatScratchLo},
                                     {"XNACK_MASK", 104}};
  static constexpr Named kSingles[] = {
      {"M0", kM0}, {"SCC", kScc}, {"SRC_SCC", kScc}};
  RegisterUse use;
  use.isScalar = true;
  for (const Named &named : kSingles)
    if (name == named.prefix || (named.slot == kM0 && name.starts_with("M0_")))
      return use.first = named.slot, use;
  if (name == "SRC_VCCZ")
    name = "VCC";
  for (const Named &named : kPairs) {
    if (!name.starts_with(named.prefix))
      continue;
    // RDNA keeps these two outside of the scalar registers, where instructions
    // cannot address them.
    if (!isGfx9 && named.slot < kVccLo)
      return std::nullopt;
    std::string_view rest = name.substr(named.prefix.size());
    bool isHigh = rest.starts_with("_HI");
    use.first = static_cast<uint16_t>(named.slot + isHigh);
    use.dwords = isHigh || rest.starts_with("_LO") ? 1 : 2;
    return use;
  }
  return std::nullopt;
}

static std::optional<RegisterUse> parseRegisterName(std::string_view name,
                                                    bool isGfx9) {
  RegisterUse::Part part = RegisterUse::Whole;
  if (name.ends_with("_LO16") || name.ends_with("_HI16")) {
    part = name.ends_with("_LO16") ? RegisterUse::Low : RegisterUse::High;
    name.remove_suffix(5);
  }
  std::optional<RegisterUse> use = parseTuple(name, "VGPR", 0, false);
  if (!use)
    use = parseTuple(name, "AGPR", kAccumulationRow, false);
  // SGPR_NULL does not parse because it has no number.
  if (!use)
    use = parseTuple(name, "SGPR", 0, true);
  if (!use)
    use = parseTuple(name, "TTMP", kTtmp0, true);
  if (!use)
    use = parseNamed(name, isGfx9);
  if (use)
    use->part = part;
  return use;
}

EffectsReader::EffectsReader(const Chip &chip, unsigned waveSize,
                             const llvm::MCRegisterInfo &registers,
                             const llvm::MCInstrInfo &instructions)
    : isWave32(waveSize == 32), instructions(instructions),
      uses(registers.getNumRegs()) {
  for (unsigned reg = 1; reg < registers.getNumRegs(); ++reg)
    uses[reg] = parseRegisterName(registers.getName(reg), chip.isGfx9());
}

void EffectsReader::add(Effects &effects, unsigned reg, bool isWrite) const {
  if (reg >= uses.size() || !uses[reg])
    return;
  RegisterUse use = *uses[reg];
  use.isWrite = isWrite;
  effects.push_back(use);
}

/// Instruction descriptions use the 64-bit VCC and EXEC for both wave sizes.
void EffectsReader::addImplicit(Effects &effects, unsigned reg,
                                bool isWrite) const {
  size_t before = effects.size();
  add(effects, reg, isWrite);
  if (isWave32 && effects.size() > before && effects.back().dwords == 2)
    effects.back().dwords = 1;
}

/// Descriptions of gfx9's LDS instructions list M0 only because gfx8 used it.
static bool ignoresM0(std::string_view name) {
  return name.starts_with("DS_") &&
         name.find("ADDTID") == std::string_view::npos &&
         name.find("GWS") == std::string_view::npos;
}

/// A 16-bit load that keeps the other half of its register has the whole
/// register as destination, and on some chips as a tied source, too.
static bool isHalfLoad(std::string_view name) {
  return name.find("_D16") != std::string_view::npos &&
         name.find("FORMAT") == std::string_view::npos &&
         (name.find("LOAD") != std::string_view::npos ||
          name.starts_with("DS_READ"));
}

Effects EffectsReader::read(const llvm::MCInst &instruction) const {
  const llvm::MCInstrDesc &description =
      instructions.get(instruction.getOpcode());
  llvm::StringRef llvmName = instructions.getName(instruction.getOpcode());
  std::string_view name(llvmName.data(), llvmName.size());
  bool keepsHalf = isHalfLoad(name);
  Effects effects;
  for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
    bool isWrite = i < description.getNumDefs();
    int tied = i < description.getNumOperands()
                   ? description.getOperandConstraint(i, llvm::MCOI::TIED_TO)
                   : -1;
    // The disassembler may leave a number as the tied operand.
    const llvm::MCOperand &operand =
        instruction.getOperand(tied >= 0 && !isWrite ? unsigned(tied) : i);
    // The addresses are operands 1 and 2, so a later operand that equals the
    // destination is the tied source.
    bool isKeptHalf = keepsHalf && i >= 3 && operand.isReg() &&
                      operand.getReg() == instruction.getOperand(0).getReg();
    if (operand.isReg() && !isKeptHalf)
      add(effects, operand.getReg(), isWrite);
  }
  if (keepsHalf && !effects.empty())
    effects.front().part = name.find("_HI") != std::string_view::npos
                               ? RegisterUse::High
                               : RegisterUse::Low;
  for (llvm::MCPhysReg reg : description.implicit_uses())
    if (!ignoresM0(name) || !uses[reg] || uses[reg]->first != kM0)
      addImplicit(effects, reg, false);
  for (llvm::MCPhysReg reg : description.implicit_defs())
    addImplicit(effects, reg, true);
  return effects;
}
