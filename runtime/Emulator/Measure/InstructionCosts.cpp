//===- InstructionCosts.cpp - What one instruction costs a chip -----------===//

#include "runtime/Emulator/Measure/InstructionCosts.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>
#include <span>

using namespace tessera::emulator;

static constexpr ChipCosts kChips[] = {
#define TESSERA_CHIP_COSTS(name, ...) {#name, __VA_ARGS__},
#include "runtime/Emulator/Measure/ChipCosts.def"
};

namespace {
struct MatrixRate {
  std::string_view chip, type;
  uint32_t flopsPerClock;
};
struct TypeNumber {
  std::string_view type;
  uint32_t value;
};
struct MatrixShape {
  uint32_t m, n, k, blocks;
  std::string_view type;
  bool isSparse;

  uint64_t getMacs() const {
    uint64_t dense = uint64_t(m) * n * k * blocks;
    // Half of the elements of a sparse A are zero, and their products cost
    // nothing.
    return isSparse ? dense / 2 : dense;
  }
};
} // namespace

static constexpr MatrixRate kMatrixRates[] = {
#define TESSERA_MATRIX_RATE(chip, type, rate) {#chip, #type, rate},
#include "runtime/Emulator/Measure/ChipCosts.def"
};
static constexpr TypeNumber kBlockRates[] = {
#define TESSERA_BLOCK_RATE(type, rate) {#type, rate},
#include "runtime/Emulator/Measure/ChipCosts.def"
};
static constexpr TypeNumber kOldLaneElements[] = {
#define TESSERA_OLD_LANE_ELEMENTS(type, elements) {#type, elements},
#include "runtime/Emulator/Measure/ChipCosts.def"
};

static constexpr std::string_view kClassNames[kCostClasses] = {
    "matrix",     "dot",         "packed",   "transcendental", "double",
    "dual",       "valu",        "salu",     "smem",           "vmem_load",
    "vmem_store", "vmem_atomic", "lds_read", "lds_write",      "lds_atomic",
    "wait",       "barrier",     "branch",   "other"};

std::string_view tessera::emulator::getName(CostClass kind) {
  return kClassNames[static_cast<unsigned>(kind)];
}

const ChipCosts &tessera::emulator::getChipCosts(std::string_view chip) {
  auto it = std::ranges::find(kChips, chip, &ChipCosts::name);
  assert(it != std::end(kChips) && "ChipCosts.def lacks a chip of Chip.cpp");
  return *it;
}

static std::optional<uint32_t> find(std::span<const TypeNumber> table,
                                    std::string_view type) {
  auto it = std::ranges::find(table, type, &TypeNumber::type);
  return it == table.end() ? std::nullopt : std::optional(it->value);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

static bool startsWithAny(std::string_view text,
                          std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(
      prefixes, [&](std::string_view p) { return text.starts_with(p); });
}

static bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

static CostClass classifyScalar(std::string_view name) {
  if (startsWithAny(name, {"s_wait"}))
    return CostClass::Wait;
  if (startsWithAny(name, {"s_barrier"}))
    return CostClass::Barrier;
  if (startsWithAny(name, {"s_branch", "s_cbranch", "s_setpc", "s_swappc",
                           "s_call", "s_endpgm"}))
    return CostClass::Branch;
  if (startsWithAny(name,
                    {"s_load", "s_buffer_load", "s_store", "s_scratch_load",
                     "s_memtime", "s_memrealtime", "s_atomic"}))
    return CostClass::Smem;
  if (startsWithAny(name, {"s_nop", "s_delay_alu", "s_setprio", "s_sleep",
                           "s_clause", "s_set_inst_prefetch", "s_inst_prefetch",
                           "s_sched", "s_code_end", "s_sendmsg", "s_dcache",
                           "s_icache", "s_prefetch", "s_sethalt"}))
    return CostClass::Other;
  return CostClass::Salu;
}

static bool isTranscendental(std::string_view name) {
  name.remove_prefix(name.starts_with("v_s_") ? 4 : 2);
  return startsWithAny(
      name, {"exp_", "log_", "rcp_", "rsq_", "sqrt_", "sin_", "cos_"});
}

static CostClass classifyVector(std::string_view name) {
  if (startsWithAny(name, {"v_mfma", "v_smfma", "v_wmma", "v_swmma"}))
    return CostClass::Matrix;
  if (name.starts_with("v_dual_"))
    return CostClass::Dual;
  if (name.starts_with("v_dot"))
    return CostClass::Dot;
  if (isTranscendental(name))
    return CostClass::Transcendental;
  if (name.starts_with("v_pk_"))
    return CostClass::Packed;
  if (has(name, "_f64"))
    return CostClass::Double;
  return CostClass::Valu;
}

static CostClass classifyMemory(std::string_view name) {
  if (has(name, "_atomic_"))
    return CostClass::VmemAtomic;
  if (has(name, "_store_"))
    return CostClass::VmemStore;
  return has(name, "_load_") ? CostClass::VmemLoad : CostClass::Other;
}

static CostClass classifyLds(std::string_view name) {
  if (name == "ds_nop")
    return CostClass::Other;
  if (startsWithAny(name, {"ds_read", "ds_load", "ds_bpermute", "ds_permute",
                           "ds_swizzle"}))
    return CostClass::LdsRead;
  if (startsWithAny(name, {"ds_write", "ds_store_", "ds_store2"}))
    return CostClass::LdsWrite;
  return CostClass::LdsAtomic;
}

static CostClass classify(std::string_view name) {
  if (name.starts_with("s_"))
    return classifyScalar(name);
  if (name.starts_with("v_"))
    return classifyVector(name);
  if (name.starts_with("ds_"))
    return classifyLds(name);
  if (startsWithAny(name,
                    {"buffer_", "global_", "flat_", "scratch_", "tbuffer_"}))
    return classifyMemory(name);
  return CostClass::Other;
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// Parses a number at the front of `text` and removes it.
static uint32_t takeNumber(std::string_view &text) {
  uint32_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

static std::string_view getMatrixType(std::string_view rest) {
  for (std::string_view type : {"xf32", "bf16_1k", "bf16", "f16", "f32", "f64",
                                "iu8", "iu4", "i8", "fp8", "f8f6f4"})
    if (rest.starts_with(type))
      return type;
  return rest.starts_with("bf8") ? "fp8" : "";
}

/// Parses "v_mfma_f32_32x32x4_2b_f16", "v_mfma_f32_32x32x4f16" or "v_wmma_...".
static std::optional<MatrixShape> parseShape(std::string_view name) {
  size_t x = name.find('x');
  // A type (xf32) may contain an x before the shape, but the x of a shape is
  // between digits.
  while (x != name.npos &&
         (x + 1 == name.size() || name[x - 1] < '0' || name[x - 1] > '9' ||
          name[x + 1] < '0' || name[x + 1] > '9'))
    x = name.find('x', x + 1);
  if (x == name.npos)
    return std::nullopt;
  std::string_view rest = name.substr(name.rfind('_', x) + 1);
  MatrixShape shape{};
  shape.m = takeNumber(rest);
  rest.remove_prefix(1);
  shape.n = takeNumber(rest);
  rest.remove_prefix(std::min<size_t>(1, rest.size()));
  shape.k = takeNumber(rest);
  shape.isSparse = startsWithAny(name, {"v_smfma", "v_swmma"});
  bool isOldSpelling = !rest.starts_with('_') && name.starts_with("v_mfma");
  if (rest.starts_with('_'))
    rest.remove_prefix(1);
  shape.blocks = 1;
  if (size_t b = rest.find("b_"); b == 1 || b == 2) {
    shape.blocks = takeNumber(rest);
    rest.remove_prefix(2);
  }
  shape.type = getMatrixType(rest);
  if (!shape.m || !shape.n || !shape.k || shape.type.empty())
    return std::nullopt;
  if (isOldSpelling)
    shape.blocks = find(kOldLaneElements, shape.type).value_or(1) * 64 /
                   (shape.m * shape.k);
  return shape;
}

/// Returns the speed in halves of the rate in the table: gfx950 executes the
/// shapes of gfx942 at the speed of gfx942, and formats of less than 8 bits at
/// twice the speed of fp8.
static uint32_t getGfx950Halves(const MatrixShape &shape,
                                std::string_view text) {
  uint32_t laneElements = shape.m * shape.k * shape.blocks / 64;
  if (shape.type == "f16" || shape.type == "bf16")
    return laneElements >= 8 ? 2 : 1;
  if (shape.type == "i8")
    return laneElements >= 16 ? 2 : 1;
  auto isNarrow = [&](std::string_view modifier) {
    size_t at = text.find(modifier);
    return at != text.npos && at + modifier.size() < text.size() &&
           text[at + modifier.size()] >= '2';
  };
  if (shape.type == "f8f6f4" && isNarrow("cbsz:") && isNarrow("blgp:"))
    return 4;
  return 2;
}

/// Returns the clocks for which a matrix instruction occupies the matrix unit,
/// or 0 if the rate is not known.
static uint32_t getMatrixClocks(const ChipCosts &chip, const MatrixShape &shape,
                                std::string_view text) {
  auto it = std::ranges::find_if(kMatrixRates, [&](const MatrixRate &rate) {
    return rate.chip == chip.name && rate.type == shape.type;
  });
  if (it == std::end(kMatrixRates))
    return 0;
  uint64_t rate = it->flopsPerClock;
  if (shape.blocks > 1)
    rate = std::min<uint64_t>(
        rate, find(kBlockRates, shape.type).value_or(it->flopsPerClock));
  uint64_t halves = 2;
  if (chip.name == "gfx950" && shape.blocks == 1 && !shape.isSparse)
    halves = getGfx950Halves(shape, text);
  return static_cast<uint32_t>(4 * shape.getMacs() / (rate * halves));
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

/// Returns the multiply-adds of one half of a dual instruction, or of a single
/// instruction.
static uint32_t countFma(std::string_view name) {
  if (name.starts_with("pk_"))
    return 2 * countFma(name.substr(3));
  if (name.starts_with("dot2"))
    return 2;
  if (name.starts_with("dot4"))
    return 4;
  if (name.starts_with("dot8"))
    return 8;
  return startsWithAny(name, {"fma", "mac", "mad"}) && has(name, "_f") &&
         !has(name, "div_fmas");
}

static uint32_t countLaneMacs(std::string_view text) {
  uint32_t macs = 0;
  for (size_t at = text.find("v_dual_"); at != text.npos;
       at = text.find("v_dual_", at + 7))
    macs += countFma(text.substr(at + 7, text.find(' ', at) - at - 7));
  if (text.starts_with("v_dual_"))
    return macs;
  return countFma(text.substr(2, text.find(' ') - 2));
}

static uint32_t getLaneBytes(std::string_view name) {
  static constexpr TypeNumber kWidths[] = {
      {"x16", 64},  {"x4", 16},   {"x8", 32},   {"x3", 12},   {"x2", 8},
      {"b512", 64}, {"b256", 32}, {"b128", 16}, {"b96", 12},  {"64", 8},
      {"u16", 2},   {"i16", 2},   {"b16", 2},   {"short", 2}, {"byte", 1},
      {"u8", 1},    {"i8", 1},    {"b8", 1}};
  bool isTwice =
      has(name, "read2") || has(name, "write2") || has(name, "_2addr");
  // The numbers in "st64" and "stride64" are strides, not widths.
  std::string_view width = name;
  if (size_t st = name.find("st64"); st != name.npos)
    width = name.substr(st + 4);
  if (size_t stride = name.find("stride64"); stride != name.npos)
    width = name.substr(stride + 8);
  for (const TypeNumber &row : kWidths)
    if (has(width, row.type))
      return row.value * (isTwice ? 2 : 1);
  return isTwice ? 8 : 4;
}

/// Returns how many times longer than an ordinary vector operation it takes.
static uint32_t getValuFactor(const ChipCosts &chip, CostClass kind,
                              std::string_view name) {
  bool isDouble = has(name, "_f64");
  uint32_t factor = isDouble ? chip.doubleFactor : 1;
  if (kind == CostClass::Transcendental)
    return 4 * factor;
  // 32-bit products run at a quarter of the rate, but at the full rate on the
  // chips whose f64 is as fast as f32, gfx90a and later (LLVM 22 SISchedule.td,
  // WriteIntMul).
  bool isProduct =
      startsWithAny(name, {"v_mul_lo_u32", "v_mul_lo_i32", "v_mul_hi_u32",
                           "v_mul_hi_i32", "v_mad_u64_u32", "v_mad_i64_i32",
                           "v_mad_co_u64_u32", "v_mad_co_i64_i32"});
  if (isProduct && chip.doubleFactor > 1)
    return 4;
  return factor;
}

static uint32_t getNopCount(std::string_view text) {
  std::string_view rest = text.substr(std::min<size_t>(6, text.size()));
  if (rest.starts_with("0x")) {
    uint32_t value = 0;
    std::from_chars(rest.data() + 2, rest.data() + rest.size(), value, 16);
    return value;
  }
  return takeNumber(rest);
}

InstructionCost tessera::emulator::getInstructionCost(const ChipCosts &chip,
                                                      unsigned lanes,
                                                      std::string_view text) {
  std::string_view name = text.substr(0, text.find(' '));
  InstructionCost cost;
  cost.kind = classify(name);
  // A wave of 64 lanes takes two passes through RDNA's 32-lane units.
  uint32_t passes = std::max(1u, lanes / chip.waveSize);
  cost.issueClocks = chip.issueClocks;
  switch (cost.kind) {
  case CostClass::Matrix:
    if (std::optional<MatrixShape> shape = parseShape(name)) {
      cost.macs = shape->getMacs();
      cost.matrixClocks = getMatrixClocks(chip, *shape, text);
    }
    // RDNA multiplies matrices in the vector unit. CDNA has a separate matrix
    // unit, so only the issue slot is taken.
    cost.valuClocks = chip.waveSize == 32 && cost.matrixClocks
                          ? cost.matrixClocks
                          : chip.issueClocks;
    break;
  case CostClass::Dot:
  case CostClass::Packed:
  case CostClass::Transcendental:
  case CostClass::Double:
  case CostClass::Dual:
  case CostClass::Valu:
    cost.macsPerLane = countLaneMacs(text);
    cost.valuClocks =
        chip.issueClocks * passes * getValuFactor(chip, cost.kind, name);
    break;
  case CostClass::VmemLoad:
  case CostClass::VmemStore:
  case CostClass::VmemAtomic:
  case CostClass::LdsRead:
  case CostClass::LdsWrite:
  case CostClass::LdsAtomic:
    cost.laneBytes = getLaneBytes(name);
    break;
  default:
    break;
  }
  if (name == "s_nop")
    cost.issueClocks *= 1 + getNopCount(text);
  return cost;
}
