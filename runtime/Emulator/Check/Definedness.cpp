//===- Definedness.cpp - Which registers hold a value ---------------------===//

#include "runtime/Emulator/Check/Definedness.h"

#include <bit>

using namespace tessera::emulator;

using Rule = DefinednessRule;

static constexpr uint64_t kAllLanes = ~uint64_t(0);

Definedness::Definedness(const PresetRegisters &preset, const Wave &wave)
    : privateLanes(wave.scratchBytesPerLane / 4) {
  vectorOrigin.fill(kFromLaunch);
  scalarOrigin.fill(kFromLaunch);
  for (unsigned row = 0; row < preset.vectors; ++row)
    vector[row] = kAllLanes;
  for (unsigned slot = 0; slot < kScalarSlots; ++slot)
    if (preset.scalars[slot])
      scalar[slot] = ~0u;
  scalar[kVccz] = scalar[kExecz] = ~0u;
}

bool Definedness::isScalarDefined(unsigned first, unsigned dwords) const {
  for (unsigned i = 0; i < dwords; ++i)
    if (first + i < scalar.size() && scalar[first + i] != ~0u)
      return false;
  return true;
}

void Definedness::writeRow(unsigned row, uint64_t lanes, uint64_t written,
                           const Instruction &in) {
  vector[row] = (vector[row] & ~written) | (lanes & written);
  if (~lanes & written)
    vectorOrigin[row] = in.index;
}

void Definedness::writeSlot(unsigned slot, uint32_t bits,
                            const Instruction &in) {
  if (slot == kNull)
    return;
  scalar[slot] = bits;
  if (bits != ~0u)
    scalarOrigin[slot] = in.index;
}

void Definedness::setLane(unsigned row, unsigned lane, bool defined,
                          uint32_t origin) {
  uint64_t bit = uint64_t(1) << lane;
  vector[row] = defined ? vector[row] | bit : vector[row] & ~bit;
  if (!defined)
    vectorOrigin[row] = origin;
}

//===----------------------------------------------------------------------===//
// Private memory
//===----------------------------------------------------------------------===//

/// Dwords of the lanes are interleaved: see getPrivateAddress().
size_t Definedness::getPrivateDword(const Wave &wave, uint64_t address) const {
  return (address - wave.scratchBase) / (4 * wave.lanes);
}

static uint64_t getPrivateBit(const Wave &wave, uint64_t address) {
  return uint64_t(1) << ((address - wave.scratchBase) / 4 % wave.lanes);
}

void Definedness::storePrivate(const Wave &wave, const MemoryAccess &access,
                               bool defined) {
  size_t dword = getPrivateDword(wave, access.address);
  if (dword >= privateLanes.size())
    return;
  uint64_t bit = getPrivateBit(wave, access.address);
  // A dword counts as written if one of its bytes was written.
  if (defined)
    privateLanes[dword] |= bit;
  else if (access.bytes >= 4)
    privateLanes[dword] &= ~bit;
}

bool Definedness::isPrivateDefined(const Wave &wave,
                                   const MemoryAccess &access) const {
  size_t dword = getPrivateDword(wave, access.address);
  return dword >= privateLanes.size() ||
         (privateLanes[dword] & getPrivateBit(wave, access.address));
}

//===----------------------------------------------------------------------===//
// Vector results
//===----------------------------------------------------------------------===//

/// Permutes the lanes of a source as DPP does. Lanes that read a 0 count as
/// having a value.
static uint64_t permute(uint64_t lanes, const DppControl &dpp,
                        const Wave &wave) {
  uint64_t result = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    uint8_t from = dpp.source[lane];
    bool readable = from != DppControl::kNoLane &&
                    (dpp.fetchInactive || (wave.exec >> from & 1));
    result |= uint64_t(!readable || (lanes >> from & 1)) << lane;
  }
  return result;
}

/// The lanes that DPP writes.
static uint64_t getDppLanes(const DppControl &dpp, const Wave &wave) {
  uint64_t result = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    uint8_t from = dpp.source[lane];
    bool readable = from != DppControl::kNoLane &&
                    (dpp.fetchInactive || (wave.exec >> from & 1));
    result |= uint64_t(readable || dpp.boundControl) << lane;
  }
  return result & dpp.writeMask;
}

/// The lanes in which a source has a value. A `dword` of -1 requires all of its
/// dwords to have one, -2 any of them.
uint64_t Definedness::getSourceLanes(const DefinednessSource &source, int dword,
                                     const Wave &wave,
                                     const Instruction &in) const {
  // VCC may also be the source of an ordinary number.
  if (source.isMask && (source.dwords > 1 || !wave.isWave64()))
    return scalar[source.reg] |
           (source.dwords > 1 ? uint64_t(scalar[source.reg + 1]) << 32 : 0);
  uint64_t all = kAllLanes, any = 0;
  for (unsigned i = 0; i < source.dwords; ++i) {
    if (dword >= 0 && source.dwords > 1 && unsigned(dword) != i)
      continue;
    uint64_t lanes = source.isScalar ? (scalar[source.reg + i] ? kAllLanes : 0)
                                     : vector[source.reg + i];
    if (source.isPermuted)
      lanes = permute(lanes, *in.dpp, wave);
    all &= lanes;
    any |= lanes;
  }
  return dword == -2 ? any : all;
}

uint64_t Definedness::evaluate(const DefinednessStep &step, unsigned dword,
                               const Wave &wave, const Instruction &in) const {
  uint64_t all = kAllLanes, any = 0;
  int wanted = step.rule == Rule::PerDword ? static_cast<int>(dword)
               : step.rule == Rule::Any    ? -2
                                           : -1;
  for (const DefinednessSource &source : step.sources) {
    uint64_t lanes = getSourceLanes(source, wanted, wave, in);
    if (step.rule == Rule::Lanes)
      lanes = lanes ? kAllLanes : 0;
    all &= lanes;
    any |= lanes;
  }
  return step.rule == Rule::Any && !step.sources.empty() ? any : all;
}

void Definedness::applySteps(const DefinednessPlan &plan, const Wave &wave,
                             const Instruction &in) {
  // Both halves of a dual-issue instruction read before either writes.
  std::array<uint64_t, 8> results;
  size_t count = 0;
  for (const DefinednessStep &step : plan.steps)
    for (unsigned d = 0; d < step.dwords && count < results.size(); ++d)
      results[count++] = evaluate(step, step.isMask ? 0 : d, wave, in);
  uint64_t written = wave.exec;
  if (in.dpp)
    written &= getDppLanes(*in.dpp, wave);
  size_t next = 0;
  for (const DefinednessStep &step : plan.steps)
    for (unsigned d = 0; d < step.dwords && next < count; ++d) {
      uint64_t lanes = results[next++];
      unsigned reg = step.reg + d;
      if (step.isMask) // Inactive lanes give a 0.
        writeSlot(reg, static_cast<uint32_t>((lanes | ~wave.exec) >> (32 * d)),
                  in);
      else
        writeRow(reg, step.keepsOld ? lanes | vector[reg] : lanes, written, in);
    }
  if (plan.isCopy)
    vectorOrigin[plan.steps[0].reg] =
        vectorOrigin[plan.steps[0].sources[0].reg];
}

void Definedness::applySelect(const DefinednessPlan &plan, const Wave &wave,
                              const Instruction &in) {
  auto lanesOf = [&](const Operand &operand) {
    DefinednessSource source{operand.reg, 1,
                             operand.kind == OperandKind::Scalar, false,
                             (operand.modifiers & kDpp) != 0};
    return operand.kind == OperandKind::Constant
               ? kAllLanes
               : getSourceLanes(source, -1, wave, in);
  };
  const Operand &mask = in.op[3];
  unsigned slot = mask.kind == OperandKind::Scalar ? mask.reg : kVccLo;
  uint64_t picks = wave.readMask(slot), known = scalar[slot];
  if (wave.isWave64())
    known |= uint64_t(scalar[slot + 1]) << 32;
  if (mask.kind == OperandKind::Constant)
    picks = known = kAllLanes;
  uint64_t lanes =
      known & ((picks & lanesOf(in.op[2])) | (~picks & lanesOf(in.op[1])));
  bool keepsOld = in.dstUnused == 2 || in.dstHighHalf || in.keepHighHalf;
  for (const RegisterUse &use : *plan.effects)
    keepsOld |= use.isWrite && use.part != RegisterUse::Whole;
  unsigned reg = in.op[0].reg;
  writeRow(reg, keepsOld ? lanes | vector[reg] : lanes,
           in.dpp ? wave.exec & getDppLanes(*in.dpp, wave) : wave.exec, in);
}

/// Each element of the result needs its own element of C. Which elements of A
/// and B it needs is not followed: one register of each that has a value is
/// enough.
void Definedness::applyMatrix(const Instruction &in) {
  auto hasAny = [&](const Operand &operand) {
    if (operand.kind != OperandKind::Vector)
      return true;
    for (unsigned i = 0; i < operand.dwords; ++i)
      if (vector[operand.reg + i])
        return true;
    return false;
  };
  const Operand &c = in.op[3];
  uint64_t operands = hasAny(in.op[1]) && hasAny(in.op[2]) ? kAllLanes : 0;
  std::array<uint64_t, 32> results;
  unsigned dwords = std::min<unsigned>(in.op[0].dwords, 32);
  for (unsigned i = 0; i < dwords; ++i)
    results[i] = operands & (c.kind == OperandKind::Vector && i < c.dwords
                                 ? vector[c.reg + i]
                                 : kAllLanes);
  for (unsigned i = 0; i < dwords; ++i)
    writeRow(in.op[0].reg + i, results[i], kAllLanes, in);
}

void Definedness::applyMoveRelative(const Wave &wave, const Instruction &in) {
  uint64_t lanes = kAllLanes;
  uint32_t offset = wave.readScalar(kM0);
  // M0 may be any offset, so these are the registers that may be read and
  // written: the one that is named and the one that M0 selects.
  unsigned from = in.op[1].reg, to = in.op[0].reg;
  if (in.op[1].kind == OperandKind::Vector) {
    lanes = vector[from];
    if (from + uint64_t(offset) < kVectorRows)
      lanes |= vector[from + offset];
  }
  for (uint64_t row : {uint64_t(to), to + uint64_t(offset)})
    if (row < kVectorRows)
      writeRow(static_cast<unsigned>(row), lanes | vector[row], wave.exec, in);
}

void Definedness::applyLaneAccess(const DefinednessPlan &plan, const Wave &wave,
                                  const Instruction &in) {
  if (plan.rule == Rule::WriteLane) {
    bool defined =
        in.op[1].kind != OperandKind::Scalar || scalar[in.op[1].reg] != 0;
    setLane(in.op[0].reg, wave.scalar32(in.op[2]) % wave.lanes, defined,
            in.index);
    return;
  }
  if (plan.rule == Rule::Swap) {
    uint64_t a = vector[in.op[0].reg], b = vector[in.op[1].reg];
    writeRow(in.op[0].reg, b, wave.exec, in);
    writeRow(in.op[1].reg, a, wave.exec, in);
    return;
  }
  unsigned lane = wave.exec ? unsigned(std::countr_zero(wave.exec)) : 0;
  if (in.operandCount > 2)
    lane = wave.scalar32(in.op[2]) % wave.lanes;
  const Operand &source = in.op[1];
  uint32_t bits = ~0u;
  if (source.kind == OperandKind::Vector)
    bits = vector[source.reg] >> lane & 1 ? ~0u : 0;
  else if (source.kind == OperandKind::Scalar)
    bits = scalar[source.reg];
  writeSlot(in.op[0].reg, bits, in);
}

//===----------------------------------------------------------------------===//
// Scalar results
//===----------------------------------------------------------------------===//

Definedness::Bits Definedness::getOperand(const Wave &wave,
                                          const Operand &operand) const {
  if (operand.kind != OperandKind::Scalar || operand.reg == kNull)
    return {operand.value[0] | uint64_t(operand.value[1]) << 32, kAllLanes};
  if (operand.dwords < 2)
    return {wave.readScalar(operand.reg),
            scalar[operand.reg] | 0xffffffff00000000};
  return {wave.readScalar64(operand.reg),
          scalar[operand.reg] | uint64_t(scalar[operand.reg + 1]) << 32};
}

Definedness::Bits Definedness::combine(const DefinednessPlan &plan, Bits a,
                                       Bits b) const {
  if (plan.notSecond)
    b.value = ~b.value;
  Bits result{0, a.defined & b.defined};
  if (plan.operation == '&') {
    result.value = a.value & b.value;
    result.defined |= (a.defined & ~a.value) | (b.defined & ~b.value);
  } else if (plan.operation == '|') {
    result.value = a.value | b.value;
    result.defined |= (a.defined & a.value) | (b.defined & b.value);
  } else {
    result.value = a.value ^ b.value;
  }
  if (plan.notResult)
    result.value = ~result.value;
  return result;
}

/// The bits of the result that have a value. The upper half counts as defined
/// if the result has one dword.
uint64_t Definedness::getScalarResult(const DefinednessPlan &plan,
                                      const Wave &wave, const Instruction &in,
                                      bool &sccDefined) const {
  Bits a = getOperand(wave, in.op[1]), b = getOperand(wave, in.op[2]);
  switch (plan.rule) {
  case Rule::ScalarCopy:
    sccDefined = a.defined == kAllLanes || (a.defined & a.value);
    return a.defined;
  case Rule::ScalarSelect:
    return scalar[kScc] ? (wave.scc ? a.defined : b.defined) : 0;
  case Rule::ScalarBitwise: {
    Bits result = combine(plan, a, b);
    // One bit that is known to be set decides the test for zero.
    uint64_t width = in.op[0].dwords > 1 ? kAllLanes : 0xffffffff;
    sccDefined =
        result.defined == kAllLanes || (result.defined & result.value & width);
    return result.defined;
  }
  case Rule::ScalarShift: {
    bool wide = in.op[0].dwords > 1;
    if (b.defined != kAllLanes)
      return 0;
    unsigned count = b.value & (wide ? 63 : 31);
    uint64_t width = wide ? kAllLanes : 0xffffffff;
    sccDefined = a.defined == kAllLanes;
    // Bits that are shifted in count as defined.
    return plan.operation == '<'
               ? a.defined << count | ((uint64_t(1) << count) - 1)
               : (a.defined & width) >> count | ~(width >> count);
  }
  case Rule::ScalarPack: {
    std::array<uint64_t, 2> halves{a.defined, b.defined};
    if (plan.firstIsHigh)
      halves[0] >>= 16;
    if (plan.secondIsHigh)
      halves[1] >>= 16;
    return (halves[0] & 0xffff) | (halves[1] & 0xffff) << 16 |
           0xffffffff00000000;
  }
  default:
    break;
  }
  uint32_t sources = ~0u;
  for (const RegisterUse &use : *plan.effects)
    if (!use.isWrite && use.isScalar)
      for (unsigned i = 0; i < use.dwords; ++i)
        sources &= scalar[use.first + i];
  sccDefined = sources == ~0u;
  if (sccDefined)
    return kAllLanes;
  uint32_t below = plan.rule == Rule::ScalarArithmetic
                       ? (uint32_t(1) << std::countr_one(sources)) - 1
                       : 0;
  return below;
}

void Definedness::applyScalar(const DefinednessPlan &plan, const Wave &wave,
                              const Instruction &in) {
  bool sccDefined = true;
  uint64_t result = 0;
  if (plan.rule == Rule::ScalarConditionalMove) {
    Bits source = getOperand(wave, in.op[1]);
    Bits old = getOperand(wave, in.op[0]);
    result = scalar[kScc] ? (wave.scc ? source.defined : old.defined) : 0;
  } else if (plan.rule == Rule::ScalarSaveExec) {
    // The destination gets the old EXEC, and EXEC gets the result of the
    // operation.
    Operand exec;
    exec.kind = OperandKind::Scalar;
    exec.reg = kExecLo;
    exec.dwords = wave.isWave64() ? 2 : 1;
    Bits old = getOperand(wave, exec);
    Bits next = combine(plan, getOperand(wave, in.op[1]), old);
    sccDefined = next.defined == kAllLanes || (next.defined & next.value);
    for (unsigned i = 0; i < exec.dwords; ++i) {
      writeSlot(in.op[0].reg + i, static_cast<uint32_t>(old.defined >> 32 * i),
                in);
      writeSlot(kExecLo + i, static_cast<uint32_t>(next.defined >> 32 * i), in);
    }
    writeSlot(kScc, sccDefined ? ~0u : 0, in);
    return;
  } else {
    result = getScalarResult(plan, wave, in, sccDefined);
  }
  for (const RegisterUse &use : *plan.effects) {
    if (!use.isWrite || !use.isScalar)
      continue;
    if (use.first == kScc)
      writeSlot(kScc, sccDefined ? ~0u : 0, in);
    else
      for (unsigned i = 0; i < use.dwords; ++i)
        writeSlot(use.first + i, static_cast<uint32_t>(result >> 32 * (i % 2)),
                  in);
  }
}

void Definedness::apply(const DefinednessPlan &plan, Wave &wave,
                        const Instruction &in) {
  switch (plan.rule) {
  case Rule::None:
    return;
  case Rule::All:
  case Rule::Any:
  case Rule::PerDword:
  case Rule::Lanes:
    return applySteps(plan, wave, in);
  case Rule::Select:
    return applySelect(plan, wave, in);
  case Rule::Matrix:
    return applyMatrix(in);
  case Rule::MoveRelative:
    return applyMoveRelative(wave, in);
  case Rule::ReadLane:
  case Rule::WriteLane:
  case Rule::Swap:
    return applyLaneAccess(plan, wave, in);
  case Rule::Load:
    for (const RegisterUse &use : *plan.effects)
      for (unsigned i = 0; use.isWrite && i < use.dwords; ++i)
        use.isScalar ? writeSlot(use.first + i, ~0u, in)
                     : writeRow(use.first + i, kAllLanes, wave.exec, in);
    return;
  default:
    return applyScalar(plan, wave, in);
  }
}
