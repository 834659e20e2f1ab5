//===- Wave.cpp - The state of one running wave ---------------------------===//

#include "runtime/Emulator/Wave.h"

#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Exec/HalfFloat.h"

#include <cmath>
#include <cstdio>
#include <xmmintrin.h>

using namespace tessera::emulator;

void Wave::setExec(uint64_t value) {
  scalar[kExecLo] = static_cast<uint32_t>(value);
  if (isWave64())
    scalar[kExecHi] = static_cast<uint32_t>(value >> 32);
  exec = value & getLaneMask();
  execFull = exec == getLaneMask();
  for (unsigned half = 0; half < 2; ++half) {
    uint32_t bits = static_cast<uint32_t>(exec >> (32 * half));
    for (unsigned lane = 0; lane < 32; ++lane)
      execLanes[32 * half + lane] = 0u - (bits >> lane & 1);
  }
}

// A set bit of MODE[7:4] allows denormals: [4] in f32 inputs, [5] in f32
// results, [6] and [7] the same for f16 and f64. Inputs and results are treated
// alike here, because no compiler sets the bits differently.
void Wave::setMode(uint32_t value) {
  mode = value;
  flushF32 = (value >> 4 & 3) != 3;
  flushF64 = (value >> 6 & 3) != 3;
  isDefaultMode = !flushF32 && !flushF64 && !(value & kRoundingModes);
}

void Wave::setHostRounding(ValueType type) const {
  // The order is that of MODE's values: nearest even, up, down, towards zero.
  static constexpr unsigned kHost[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP,
                                       _MM_ROUND_DOWN, _MM_ROUND_TOWARD_ZERO};
  switch (type) {
  case ValueType::F32:
  case ValueType::PairF32:
    _MM_SET_ROUNDING_MODE(kHost[mode & 3]);
    break;
  case ValueType::F16:
  case ValueType::PackedF16:
  case ValueType::F64:
    _MM_SET_ROUNDING_MODE(kHost[mode >> 2 & 3]);
    break;
  default:
    break;
  }
}

void Wave::resetHostRounding() { _MM_SET_ROUNDING_MODE(_MM_ROUND_NEAREST); }

static uint32_t flushF32Bits(uint32_t bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}
static uint32_t flushF16Bits(uint32_t bits) {
  return (bits & 0x7c00) == 0 ? bits & ~0x3ffu : bits;
}

const uint32_t *Wave::rawRow(const Operand &operand, unsigned dword,
                             unsigned slot) {
  switch (operand.kind) {
  case OperandKind::Vector:
    return vector[operand.reg + dword];
  case OperandKind::Constant:
    return operand.rows[dword < 2 ? dword : 1];
  default:
    break;
  }
  uint32_t value = 0;
  if (operand.kind == OperandKind::Scalar)
    value = readScalar(operand.reg >= kScalarSlots ? operand.reg
                                                   : operand.reg + dword);
  uint32_t *row = operandScratch[2 * slot + (dword & 1)];
  for (unsigned lane = 0; lane < kMaxLanes; ++lane)
    row[lane] = value;
  return row;
}

static bool is64Bit(ValueType type) {
  return type == ValueType::U64 || type == ValueType::I64 ||
         type == ValueType::F64 || type == ValueType::PairF32;
}

static bool is16Bit(ValueType type) {
  return type == ValueType::F16 || type == ValueType::U16 ||
         type == ValueType::I16 || type == ValueType::Bf16;
}

static void permuteLanes(Wave &wave, const DppControl &dpp, uint32_t *row) {
  LaneRow from;
  std::memcpy(from, row, sizeof from);
  uint64_t valid = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    uint8_t source = dpp.source[lane];
    bool readable = source != DppControl::kNoLane &&
                    (dpp.fetchInactive || (wave.exec >> source & 1));
    row[lane] = readable ? from[source] : 0;
    valid |= uint64_t(readable || dpp.boundControl) << lane;
  }
  wave.dppWriteMask = valid & dpp.writeMask;
}

static void selectPart(const Operand &operand, uint32_t *row) {
  if (operand.modifiers & kHighHalf) {
    for (unsigned lane = 0; lane < kMaxLanes; ++lane)
      row[lane] >>= 16;
    return;
  }
  if (operand.select >= 6)
    return;
  bool isByte = operand.select < 4;
  unsigned shift = isByte ? 8 * operand.select : 16 * (operand.select - 4);
  uint32_t mask = isByte ? 0xff : 0xffff;
  uint32_t sign = operand.modifiers & kSext ? (isByte ? 0x80 : 0x8000) : 0;
  for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
    uint32_t part = row[lane] >> shift & mask;
    row[lane] = (part ^ sign) - sign;
  }
}

LaneRows Wave::sourceSlow(const Instruction &instruction,
                          const Operand &operand, unsigned slot) {
  uint32_t *lo = operandScratch[2 * slot];
  uint32_t *hi = operandScratch[2 * slot + 1];
  if (operand.type == ValueType::Mask) {
    uint64_t mask = operand.kind == OperandKind::Scalar
                        ? readMask(operand.reg)
                        : operand.value[0] | uint64_t(operand.value[1]) << 32;
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned lane = 0; lane < 32; ++lane)
        lo[32 * half + lane] =
            0u - (static_cast<uint32_t>(mask >> (32 * half)) >> lane & 1);
    return {lo, hi};
  }
  bool wide = is64Bit(operand.type);
  const uint32_t *rawLo = rawRow(operand, 0, slot);
  const uint32_t *rawHi = wide ? rawRow(operand, 1, slot) : rawLo;
  bool flush = (flushF32 && operand.type == ValueType::F32) ||
               (flushF64 && (operand.type == ValueType::F16 ||
                             operand.type == ValueType::F64));
  if (!operand.modifiers && !flush)
    return {rawLo, rawHi};

  if (rawLo != lo)
    std::memcpy(lo, rawLo, sizeof(LaneRow));
  if (wide && rawHi != hi)
    std::memcpy(hi, rawHi, sizeof(LaneRow));
  if (operand.modifiers & kDpp) {
    permuteLanes(*this, *instruction.dpp, lo);
    if (wide)
      permuteLanes(*this, *instruction.dpp, hi);
  }
  if (operand.modifiers & (kSelect | kHighHalf))
    selectPart(operand, lo);
  uint32_t sign = is16Bit(operand.type) ? 0x8000u : 0x80000000u;
  uint32_t *signRow = wide ? hi : lo;
  if (operand.modifiers & kAbs)
    for (unsigned lane = 0; lane < kMaxLanes; ++lane)
      signRow[lane] &= ~sign;
  if (operand.modifiers & kNeg)
    for (unsigned lane = 0; lane < kMaxLanes; ++lane)
      signRow[lane] ^= sign;
  if (flush)
    for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
      if (operand.type == ValueType::F32)
        lo[lane] = flushF32Bits(lo[lane]);
      else if (operand.type == ValueType::F16)
        lo[lane] = flushF16Bits(lo[lane]);
      else if ((hi[lane] & 0x7ff00000) == 0)
        hi[lane] &= 0x80000000, lo[lane] = 0;
    }
  return {lo, hi};
}

void Wave::writeRow(unsigned row, const uint32_t *from) {
  uint32_t *to = vector[row];
  for (unsigned lane = 0; lane < kMaxLanes; ++lane)
    to[lane] = (from[lane] & execLanes[lane]) | (to[lane] & ~execLanes[lane]);
}

static constexpr float kOutputScales[] = {1.0f, 2.0f, 4.0f, 0.5f};

/// Applies omod, then clamp, to one float.
template <typename Float>
static Float modifyOutput(Float value, const Instruction &instruction) {
  value *= static_cast<Float>(kOutputScales[instruction.outputScale]);
  if (instruction.outputScale && value == 0)
    value = 0; // -0 becomes +0
  if (instruction.has(kClamp))
    value = value > 0 ? (value < 1 ? value : Float(1)) : Float(0);
  return value;
}

/// A row of floats of which denormals are flushed and nothing else happens:
/// much faster than one result after the other.
static void flushRow(const Instruction &instruction, uint32_t *row) {
  for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
    // The product makes a signalling NaN quiet.
    const float value = std::bit_cast<float>(row[lane]) *
                        kOutputScales[instruction.outputScale];
    row[lane] = flushF32Bits(std::bit_cast<uint32_t>(value));
  }
}

uint32_t Wave::modifyResult(const Instruction &instruction, ValueType type,
                            uint32_t bits) const {
  if (type == ValueType::F32) {
    bits = std::bit_cast<uint32_t>(
        modifyOutput(std::bit_cast<float>(bits), instruction));
    return flushF32 || instruction.outputScale ? flushF32Bits(bits) : bits;
  }
  bits = floatToHalf(modifyOutput(halfToFloat(bits), instruction));
  return flushF64 || instruction.outputScale ? flushF16Bits(bits) : bits;
}

/// Inserts `value` into the part of `old` that SDWA or op_sel selects.
static uint32_t mergePart(const Instruction &instruction, uint32_t old,
                          uint32_t value) {
  if (instruction.dstHighHalf)
    return (old & 0xffff) | value << 16;
  if (instruction.keepHighHalf)
    return (old & 0xffff0000) | (value & 0xffff);
  if (instruction.dstSelect >= 6)
    return value;
  bool isByte = instruction.dstSelect < 4;
  unsigned shift =
      isByte ? 8 * instruction.dstSelect : 16 * (instruction.dstSelect - 4);
  uint32_t mask = (isByte ? 0xffu : 0xffffu) << shift;
  uint32_t part = value << shift & mask;
  if (instruction.dstUnused == 2)
    return part | (old & ~mask);
  if (instruction.dstUnused == 1) {
    unsigned width = isByte ? 8 : 16;
    auto extended = static_cast<int32_t>(value << (32 - width)) >> (32 - width);
    return static_cast<uint32_t>(extended) << shift;
  }
  return part;
}

void Wave::finishWrite(const Instruction &instruction, ValueType type,
                       unsigned operand) {
  if (mode & kRoundingModes) [[unlikely]]
    resetHostRounding();
  unsigned row = instruction.op[operand].reg;
  bool isFloat = type == ValueType::F32 || type == ValueType::F16;
  bool isModified = instruction.outputScale || instruction.has(kClamp) ||
                    flushF32 || flushF64;
  const bool isFlushed = type == ValueType::F32 && flushF32 &&
                         !instruction.outputScale && !instruction.has(kClamp);
  if (isFlushed)
    flushRow(instruction, result[0]);
  else if (isFloat && isModified)
    for (unsigned lane = 0; lane < lanes; ++lane)
      result[0][lane] = modifyResult(instruction, type, result[0][lane]);
  if (type == ValueType::F64 && isModified)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      auto value =
          modifyOutput(std::bit_cast<double>(result[0][lane] |
                                             uint64_t(result[1][lane]) << 32),
                       instruction);
      if (flushF64 && std::fpclassify(value) == FP_SUBNORMAL)
        value = std::copysign(0.0, value);
      auto bits = std::bit_cast<uint64_t>(value);
      result[0][lane] = static_cast<uint32_t>(bits);
      result[1][lane] = static_cast<uint32_t>(bits >> 32);
    }
  if (instruction.dstSelect < 6 || instruction.dstHighHalf ||
      instruction.keepHighHalf)
    for (unsigned lane = 0; lane < lanes; ++lane)
      result[0][lane] =
          mergePart(instruction, vector[row][lane], result[0][lane]);
  if (instruction.dpp)
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (!(dppWriteMask >> lane & 1)) {
        result[0][lane] = vector[row][lane];
        result[1][lane] = vector[row + 1][lane];
      }
  writeRow(row, result[0]);
  if (is64Bit(type))
    writeRow(row + 1, result[1]);
}

std::string Wave::describe(const Instruction &instruction, int lane,
                           uint64_t address, const std::string &what) const {
  char where[96];
  std::snprintf(
      where, sizeof where, "pc 0x%llx, wave %u, %s",
      static_cast<unsigned long long>(group->program->getOffset(instruction)),
      indexInGroup,
      lane < 0 ? "all lanes" : ("lane " + std::to_string(lane)).c_str());
  std::string message = std::string("kernel '") + group->kernelName +
                        "', workgroup (" + std::to_string(group->groupId[0]) +
                        ", " + std::to_string(group->groupId[1]) + ", " +
                        std::to_string(group->groupId[2]) + "), " + where;
  if (address) {
    std::snprintf(where, sizeof where, ", address 0x%llx",
                  static_cast<unsigned long long>(address));
    message += where;
  }
  std::string line = group->program->getSourceLine(instruction);
  if (!line.empty())
    message += ", at " + line;
  return message + ": " + what +
         "; instruction: " + group->program->getText(instruction);
}

/// Returns "v[2:3]", "a4" or "s7", as the assembler writes it.
static std::string getRegisterName(const Operand &operand) {
  if (operand.kind == OperandKind::Scalar && operand.reg >= kVccLo)
    switch (operand.reg) {
    case kVccLo:
      return operand.dwords == 2 ? "vcc" : "vcc_lo";
    case kVccHi:
      return "vcc_hi";
    case kM0:
      return "m0";
    case kNull:
      return "null";
    case kExecLo:
      return operand.dwords == 2 ? "exec" : "exec_lo";
    case kExecHi:
      return "exec_hi";
    case kScc:
      return "scc";
    }
  char file = operand.kind == OperandKind::Scalar ? 's'
              : operand.reg < kAccumulationRow    ? 'v'
                                                  : 'a';
  unsigned first = operand.reg % kAccumulationRow;
  if (operand.dwords == 1)
    return file + std::to_string(first);
  return std::string(1, file) + "[" + std::to_string(first) + ":" +
         std::to_string(first + operand.dwords - 1) + "]";
}

FaultSite Wave::getSite(const Instruction &instruction, int lane,
                        uint64_t address, const std::string &what) const {
  FaultSite site{
      group->groupId, static_cast<int>(indexInGroup), lane, address, what, {}};
  unsigned shown = lane >= 0 ? static_cast<unsigned>(lane)
                   : exec    ? static_cast<unsigned>(std::countr_zero(exec))
                             : 0;
  for (unsigned i = 0; i < instruction.operandCount; ++i) {
    const Operand &operand = instruction.op[i];
    bool isVector = operand.kind == OperandKind::Vector;
    if (!isVector && operand.kind != OperandKind::Scalar)
      continue;
    FaultSite::Register entry{getRegisterName(operand), {}};
    for (unsigned d = 0; d < operand.dwords; ++d)
      entry.values.push_back(isVector ? vector[operand.reg + d][shown]
                                      : readScalar(operand.reg + d));
    site.registers.push_back(std::move(entry));
  }
  return site;
}

void Wave::fail(FaultKind kind, const Instruction &instruction, int lane,
                uint64_t address, std::string what) {
  stop = StopReason::Fault;
  group->fault->record({kind, instruction.index,
                        describe(instruction, lane, address, what),
                        getSite(instruction, lane, address, what)});
}

void Wave::report(FaultKind kind, const Instruction &instruction, int lane,
                  uint64_t address, const std::string &what) {
  if (group->fault->isNew(kind, instruction.index))
    report(kind, instruction, getSite(instruction, lane, address, what));
}

void Wave::report(FaultKind kind, const Instruction &instruction,
                  FaultSite site) {
  if (!group->fault->isNew(kind, instruction.index))
    return;
  std::string message =
      describe(instruction, site.lane, site.address, site.what);
  group->fault->add(kind, instruction.index, std::move(message),
                    std::move(site));
}
