//===- DefinednessPlan.cpp - What an instruction does to definedness ------===//

#include "runtime/Emulator/Check/Definedness.h"
#include "runtime/Emulator/Decode/InstructionText.h"

#include <algorithm>

using namespace tessera::emulator;

using Rule = DefinednessRule;

static bool startsWithAny(std::string_view text,
                          std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(
      prefixes, [&](auto prefix) { return text.starts_with(prefix); });
}

static Rule getVectorRule(std::string_view name) {
  if (startsWithAny(name, {"v_mfma", "v_smfmac", "v_wmma", "v_swmmac"}))
    return Rule::Matrix;
  if (startsWithAny(name, {"v_readlane", "v_readfirstlane"}))
    return Rule::ReadLane;
  if (name.starts_with("v_writelane"))
    return Rule::WriteLane;
  if (name.starts_with("v_cndmask"))
    return Rule::Select;
  // These swap or permute lanes; following which lanes go where is not worth
  // the effort.
  if (startsWithAny(name,
                    {"v_permlane", "ds_bpermute", "ds_permute", "ds_swizzle"}))
    return Rule::Lanes;
  if (name.starts_with("v_swap"))
    return Rule::Swap;
  if (name.starts_with("v_movrel"))
    return Rule::MoveRelative;
  if (startsWithAny(name, {"v_mov_b64", "v_lshlrev_b64", "v_lshl_add_u64",
                           "v_mad_u64", "v_mad_i64", "v_mad_co", "v_mad_nc",
                           "v_add_nc_u64", "v_sub_nc_u64"}))
    return Rule::PerDword;
  if (startsWithAny(name, {"v_and_", "v_or_", "v_or3", "v_xor", "v_xnor",
                           "v_bfi", "v_perm_", "v_align", "v_pk_", "v_pack_",
                           "v_cvt_pk", "v_lshl_or", "v_fma_mix", "v_mad_mix",
                           "v_bitop3", "v_lshrrev_b64", "v_ashrrev_i64",
                           "v_cvt_sr", "v_cvt_scalef32"}))
    return Rule::Any;
  return Rule::All;
}

static bool hasName(std::string_view name, std::string_view stem) {
  return name.starts_with(stem) &&
         (name.size() == stem.size() || name[stem.size()] == '_');
}

static void setBitwise(DefinednessPlan &plan, std::string_view name) {
  struct Operation {
    std::string_view stem;
    char bitwise;
    bool notSecond, notResult;
  };
  static constexpr Operation kOperations[] = {
      {"s_andn2", '&', true, false},   {"s_and_not1", '&', true, false},
      {"s_and", '&', false, false},    {"s_orn2", '|', true, false},
      {"s_or_not1", '|', true, false}, {"s_or", '|', false, false},
      {"s_xor", '^', false, false},    {"s_nand", '&', false, true},
      {"s_nor", '|', false, true},     {"s_xnor", '^', false, true},
  };
  for (const Operation &operation : kOperations)
    if (hasName(name, operation.stem)) {
      bool isSave = name.find("_saveexec") != std::string_view::npos;
      plan.rule = isSave ? Rule::ScalarSaveExec : Rule::ScalarBitwise;
      plan.operation = operation.bitwise;
      plan.notSecond = operation.notSecond;
      plan.notResult = operation.notResult;
      return;
    }
}

static void setScalarRule(DefinednessPlan &plan, std::string_view name) {
  plan.rule = Rule::Scalar;
  if (startsWithAny(name, {"s_mov_b", "s_not_b"}))
    plan.rule = Rule::ScalarCopy;
  else if (name.starts_with("s_cselect"))
    plan.rule = Rule::ScalarSelect;
  else if (name.starts_with("s_cmov"))
    plan.rule = Rule::ScalarConditionalMove;
  else if (startsWithAny(name, {"s_lshl_b", "s_lshr_b", "s_ashr_i"})) {
    plan.rule = Rule::ScalarShift;
    plan.operation = name.starts_with("s_lshl") ? '<' : '>';
  } else if (startsWithAny(name, {"s_pack_l", "s_pack_h"})) {
    plan.rule = Rule::ScalarPack;
    plan.firstIsHigh = name[7] == 'h';
    plan.secondIsHigh = name[8] == 'h';
  } else if (startsWithAny(name, {"s_add_", "s_sub_", "s_addk", "s_mul_i32",
                                  "s_mulk", "s_lshl1_", "s_lshl2_", "s_lshl3_",
                                  "s_lshl4_", "s_add_co", "s_sub_co"}))
    plan.rule = Rule::ScalarArithmetic;
  else
    setBitwise(plan, name);
}

/// Whether the source `reg` is read as a mask. The same register may be an
/// ordinary number and also, as the carry, the mask that is written.
static bool isMaskOperand(const Instruction &in, unsigned reg) {
  bool isMask = false;
  for (unsigned i = 0; i < in.operandCount; ++i) {
    if (in.op[i].kind != OperandKind::Scalar || in.op[i].reg != reg)
      continue;
    if (in.op[i].type != ValueType::Mask)
      return false;
    isMask = true;
  }
  return isMask;
}

/// Whether `use` is a destination that is read only to keep some of its bits or
/// lanes.
static bool isOldDestination(const Instruction &in, const RegisterUse &use) {
  if (use.isScalar || in.operandCount == 0)
    return false;
  for (unsigned i = 1; i < in.operandCount; ++i)
    if (in.op[i].kind == OperandKind::Vector && in.op[i].reg == use.first)
      return false;
  return true;
}

static void addSteps(DefinednessPlan &plan, const Instruction &in) {
  DefinednessStep step;
  step.rule = plan.rule;
  step.keepsOld = in.dstUnused == 2 || in.dstHighHalf || in.keepHighHalf;
  for (const RegisterUse &use : *plan.effects) {
    bool isExec = use.isScalar && (use.first == kExecLo);
    if (use.isWrite || isExec)
      continue;
    if (isOldDestination(in, use)) {
      step.keepsOld |= in.dpp == nullptr;
      continue;
    }
    bool isMask =
        use.isScalar && (isMaskOperand(in, use.first) || use.first == kVccLo);
    bool isPermuted = in.dpp && !use.isScalar && in.op[1].reg == use.first;
    step.sources.push_back(
        {use.first, use.dwords, use.isScalar, isMask, isPermuted});
  }
  for (const RegisterUse &use : *plan.effects) {
    if (!use.isWrite || (use.isScalar && use.first == kScc))
      continue;
    DefinednessStep &added = plan.steps.emplace_back(step);
    added.reg = use.first;
    added.dwords = use.dwords;
    added.isMask = use.isScalar;
    added.keepsOld |= use.part != RegisterUse::Whole;
  }
}

/// Adds one half of a dual-issue instruction, "v_dual_fmac_f32 v0, v1, v2".
static void addDualStep(DefinednessPlan &plan, std::string_view half) {
  InstructionText text = splitInstruction(half);
  DefinednessStep step;
  for (const OperandText &operand : text.operands) {
    std::optional<RegisterName> reg = parseRegister(operand.name);
    if (!reg)
      continue;
    bool isTtmp = reg->file == RegisterName::File::Ttmp;
    bool isScalar = isTtmp || reg->file == RegisterName::File::Scalar;
    auto number = static_cast<uint16_t>(reg->first + (isTtmp ? kTtmp0 : 0));
    step.sources.push_back({number, 1, isScalar});
  }
  if (step.sources.empty())
    return;
  step.reg = step.sources.front().reg;
  if (!startsWithAny(text.mnemonic, {"v_dual_fmac", "v_dual_dot2"}))
    step.sources.erase(step.sources.begin());
  // Which of the two sources a bit comes from is not followed.
  if (startsWithAny(text.mnemonic,
                    {"v_dual_cndmask", "v_dual_and", "v_dual_bitop"}))
    step.rule = Rule::Any;
  plan.steps.push_back(step);
}

DefinednessPlan tessera::emulator::makeDefinednessPlan(const Program &program,
                                                       const Instruction &in) {
  DefinednessPlan plan;
  plan.effects = &program.getEffects(in);
  std::string_view text = program.getText(in);
  std::string_view name = text.substr(0, text.find(' '));
  if (name.starts_with("v_dual_")) {
    size_t middle = text.find(" :: ");
    plan.rule = Rule::All;
    addDualStep(plan, text.substr(0, middle));
    if (middle != std::string_view::npos)
      addDualStep(plan, text.substr(middle + 4));
    return plan;
  }
  bool isLanesOfLds =
      startsWithAny(name, {"ds_bpermute", "ds_permute", "ds_swizzle"});
  if (name.starts_with("v_") || isLanesOfLds) {
    plan.rule = getVectorRule(name);
    // Despite their names, v_s_rcp_f32 and its kin are scalar instructions.
    if (name.starts_with("v_s_"))
      plan.rule = Rule::Scalar;
    if (plan.rule == Rule::All || plan.rule == Rule::Any ||
        plan.rule == Rule::PerDword || plan.rule == Rule::Lanes)
      addSteps(plan, in);
    plan.isCopy = startsWithAny(name, {"v_mov_b32", "v_accvgpr_"}) &&
                  plan.steps.size() == 1 && plan.steps[0].sources.size() == 1 &&
                  !plan.steps[0].sources[0].isScalar;
    return plan;
  }
  bool isScalarLoad =
      startsWithAny(name, {"s_load_", "s_buffer_load_", "s_memtime",
                           "s_memrealtime", "s_sendmsg_rtn", "s_get"});
  if (name.starts_with("s_") && !isScalarLoad)
    setScalarRule(plan, name);
  else
    plan.rule = Rule::Load;
  return plan;
}
