//===- Scalar.cpp - Scalar arithmetic -------------------------------------===//
//
// Handlers are made from one-line functions, as in VectorOps.h. Each
// instruction defines what happens to SCC: amd-isa section "Scalar".
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/LaneTypes.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

#include <utility>

using namespace tessera::emulator;

namespace {
enum class Scc { Keep, NonZero };

template <typename T>
T readOperand(const Wave &wave, const Operand &operand) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(wave.scalar64(operand));
  else
    return std::bit_cast<T>(wave.scalar32(operand));
}

template <typename T>
void writeOperand(Wave &wave, const Operand &operand, T value) {
  if constexpr (sizeof(T) == 8)
    wave.writeScalar64(operand.reg, std::bit_cast<uint64_t>(value));
  else
    wave.writeScalar(operand.reg, std::bit_cast<uint32_t>(value));
}

/// Makes a handler from Fn(args...) -> result or Fn(bool &scc, args...) ->
/// result.
template <auto Fn, Scc Rule, typename Result, typename... Args>
struct ScalarOp {
  template <size_t... I>
  static void run(Wave &wave, const Instruction &in,
                  std::index_sequence<I...>) {
    Result value = Fn(readOperand<Args>(wave, in.op[1 + I])...);
    writeOperand(wave, in.op[0], value);
    if constexpr (Rule == Scc::NonZero)
      wave.scc = value != 0;
  }
  static void execute(Wave &wave, const Instruction &in) {
    run(wave, in, std::index_sequence_for<Args...>());
  }
  static std::vector<ValueType> getTypes() {
    return {Lane<Result>::type, Lane<Args>::type...};
  }
};
template <auto Fn, Scc Rule, typename Result, typename... Args>
struct ScalarOp<Fn, Rule, Result, bool &, Args...> {
  template <size_t... I>
  static void run(Wave &wave, const Instruction &in,
                  std::index_sequence<I...>) {
    bool scc = wave.scc;
    Result value = Fn(scc, readOperand<Args>(wave, in.op[1 + I])...);
    wave.scc = scc;
    writeOperand(wave, in.op[0], value);
  }
  static void execute(Wave &wave, const Instruction &in) {
    run(wave, in, std::index_sequence_for<Args...>());
  }
  static std::vector<ValueType> getTypes() {
    return {Lane<Result>::type, Lane<Args>::type...};
  }
};

template <auto Fn, Scc Rule>
struct BindScalarOp {
  template <typename Result, typename... Args>
  using Op = ScalarOp<Fn, Rule, Result, Args...>;
  using Type = typename CallSignature<
      decltype(&decltype(Fn)::operator())>::template Apply<Op>;
};
} // namespace

template <auto Fn, Scc Rule = Scc::Keep>
static void add(OpcodeTable &table, std::initializer_list<const char *> names) {
  using Op = typename BindScalarOp<Fn, Rule>::Type;
  for (const char *name : names)
    table.add(name, {&Op::execute, InstructionClass::Salu, 0, Op::getTypes()});
}

static void addMoves(OpcodeTable &table) {
  add<[](uint32_t a) { return a; }>(table, {"s_mov_b32"});
  add<[](uint64_t a) { return a; }>(table, {"s_mov_b64"});
  add<[](bool &scc, uint32_t a, uint32_t b) { return scc ? a : b; }>(
      table, {"s_cselect_b32"});
  add<[](bool &scc, uint64_t a, uint64_t b) { return scc ? a : b; }>(
      table, {"s_cselect_b64"});
  add<[](uint32_t a) { return ~a; }, Scc::NonZero>(table, {"s_not_b32"});
  add<[](uint64_t a) { return ~a; }, Scc::NonZero>(table, {"s_not_b64"});
  add<[](uint32_t a) { return static_cast<int32_t>(static_cast<int8_t>(a)); }>(
      table, {"s_sext_i32_i8"});
  add<[](uint32_t a) { return static_cast<int32_t>(static_cast<int16_t>(a)); }>(
      table, {"s_sext_i32_i16"});
  add<[](uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; }>(
      table, {"s_pack_ll_b32_b16"});
  add<[](uint32_t a, uint32_t b) { return (a & 0xffff) | (b & 0xffff0000); }>(
      table, {"s_pack_lh_b32_b16"});
  add<[](uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); }>(
      table, {"s_pack_hh_b32_b16"});
  add<[](uint32_t a, uint32_t b) { return a >> 16 | b << 16; }>(
      table, {"s_pack_hl_b32_b16"});
}

static void addArithmetic(OpcodeTable &table) {
  add<[](bool &scc, uint32_t a, uint32_t b) {
    uint32_t sum = a + b;
    scc = sum < a;
    return sum;
  }>(table, {"s_add_u32", "s_add_co_u32"});
  add<[](bool &scc, uint32_t a, uint32_t b) {
    uint64_t sum = uint64_t(a) + b + scc;
    scc = sum >> 32;
    return static_cast<uint32_t>(sum);
  }>(table, {"s_addc_u32", "s_add_co_ci_u32"});
  add<[](bool &scc, uint32_t a, uint32_t b) {
    scc = b > a;
    return a - b;
  }>(table, {"s_sub_u32", "s_sub_co_u32"});
  add<[](bool &scc, uint32_t a, uint32_t b) {
    uint64_t subtrahend = uint64_t(b) + scc;
    scc = subtrahend > a;
    return static_cast<uint32_t>(a - subtrahend);
  }>(table, {"s_subb_u32", "s_sub_co_ci_u32"});
  add<[](bool &scc, int32_t a, int32_t b) {
    int32_t sum;
    scc = __builtin_add_overflow(a, b, &sum);
    return sum;
  }>(table, {"s_add_i32", "s_add_co_i32"});
  add<[](bool &scc, int32_t a, int32_t b) {
    int32_t difference;
    scc = __builtin_sub_overflow(a, b, &difference);
    return difference;
  }>(table, {"s_sub_i32", "s_sub_co_i32"});
  add<[](uint32_t a, uint32_t b) { return a * b; }>(table, {"s_mul_i32"});
  add<[](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(uint64_t(a) * b >> 32);
  }>(table, {"s_mul_hi_u32"});
  add<[](int32_t a, int32_t b) {
    return static_cast<int32_t>(int64_t(a) * b >> 32);
  }>(table, {"s_mul_hi_i32"});
  add<[](uint64_t a, uint64_t b) { return a * b; }>(table, {"s_mul_u64"});
  add<[](uint64_t a, uint64_t b) { return a + b; }>(table, {"s_add_nc_u64"});
  add<[](uint64_t a, uint64_t b) { return a - b; }>(table, {"s_sub_nc_u64"});
  add<[](bool &scc, int32_t a, int32_t b) {
    scc = a < b;
    return scc ? a : b;
  }>(table, {"s_min_i32"});
  add<[](bool &scc, uint32_t a, uint32_t b) {
    scc = a < b;
    return scc ? a : b;
  }>(table, {"s_min_u32"});
  add<[](bool &scc, int32_t a, int32_t b) {
    scc = a >= b;
    return scc ? a : b;
  }>(table, {"s_max_i32"});
  add<[](bool &scc, uint32_t a, uint32_t b) {
    scc = a >= b;
    return scc ? a : b;
  }>(table, {"s_max_u32"});
  add<[](uint32_t a) { return a >> 31 ? 0 - a : a; }, Scc::NonZero>(
      table, {"s_abs_i32"});
  add<[](int32_t a, int32_t b) {
    int64_t difference = int64_t(a) - b;
    return static_cast<uint32_t>(difference < 0 ? -difference : difference);
  },
      Scc::NonZero>(table, {"s_absdiff_i32"});
}

template <unsigned Shift>
static void addShiftAdd(OpcodeTable &table, const char *name) {
  add<[](bool &scc, uint32_t a, uint32_t b) {
    uint64_t sum = (uint64_t(a) << Shift) + b;
    scc = sum >> 32;
    return static_cast<uint32_t>(sum);
  }>(table, {name});
}

static void addLogic(OpcodeTable &table) {
  add<[](uint32_t a, uint32_t b) { return a & b; }, Scc::NonZero>(
      table, {"s_and_b32"});
  add<[](uint64_t a, uint64_t b) { return a & b; }, Scc::NonZero>(
      table, {"s_and_b64"});
  add<[](uint32_t a, uint32_t b) { return a | b; }, Scc::NonZero>(table,
                                                                  {"s_or_b32"});
  add<[](uint64_t a, uint64_t b) { return a | b; }, Scc::NonZero>(table,
                                                                  {"s_or_b64"});
  add<[](uint32_t a, uint32_t b) { return a ^ b; }, Scc::NonZero>(
      table, {"s_xor_b32"});
  add<[](uint64_t a, uint64_t b) { return a ^ b; }, Scc::NonZero>(
      table, {"s_xor_b64"});
  add<[](uint32_t a, uint32_t b) { return a & ~b; }, Scc::NonZero>(
      table, {"s_andn2_b32", "s_and_not1_b32"});
  add<[](uint64_t a, uint64_t b) { return a & ~b; }, Scc::NonZero>(
      table, {"s_andn2_b64", "s_and_not1_b64"});
  add<[](uint32_t a, uint32_t b) { return a | ~b; }, Scc::NonZero>(
      table, {"s_orn2_b32", "s_or_not1_b32"});
  add<[](uint64_t a, uint64_t b) { return a | ~b; }, Scc::NonZero>(
      table, {"s_orn2_b64", "s_or_not1_b64"});
  add<[](uint32_t a, uint32_t b) { return ~(a & b); }, Scc::NonZero>(
      table, {"s_nand_b32"});
  add<[](uint64_t a, uint64_t b) { return ~(a & b); }, Scc::NonZero>(
      table, {"s_nand_b64"});
  add<[](uint32_t a, uint32_t b) { return ~(a | b); }, Scc::NonZero>(
      table, {"s_nor_b32"});
  add<[](uint64_t a, uint64_t b) { return ~(a | b); }, Scc::NonZero>(
      table, {"s_nor_b64"});
  add<[](uint32_t a, uint32_t b) { return ~(a ^ b); }, Scc::NonZero>(
      table, {"s_xnor_b32"});
  add<[](uint64_t a, uint64_t b) { return ~(a ^ b); }, Scc::NonZero>(
      table, {"s_xnor_b64"});
}

static void addShifts(OpcodeTable &table) {
  add<[](uint32_t a, uint32_t b) { return a << (b & 31); }, Scc::NonZero>(
      table, {"s_lshl_b32"});
  add<[](uint64_t a, uint32_t b) { return a << (b & 63); }, Scc::NonZero>(
      table, {"s_lshl_b64"});
  add<[](uint32_t a, uint32_t b) { return a >> (b & 31); }, Scc::NonZero>(
      table, {"s_lshr_b32"});
  add<[](uint64_t a, uint32_t b) { return a >> (b & 63); }, Scc::NonZero>(
      table, {"s_lshr_b64"});
  add<[](int32_t a, uint32_t b) { return a >> (b & 31); }, Scc::NonZero>(
      table, {"s_ashr_i32"});
  add<[](int64_t a, uint32_t b) { return a >> (b & 63); }, Scc::NonZero>(
      table, {"s_ashr_i64"});
  addShiftAdd<1>(table, "s_lshl1_add_u32");
  addShiftAdd<2>(table, "s_lshl2_add_u32");
  addShiftAdd<3>(table, "s_lshl3_add_u32");
  addShiftAdd<4>(table, "s_lshl4_add_u32");
}

template <typename T>
static T extractField(T value, uint32_t control, bool isSigned) {
  constexpr unsigned kBits = 8 * sizeof(T);
  unsigned offset = control & (kBits - 1);
  unsigned width = control >> 16 & 0x7f;
  if (width == 0)
    return 0;
  value >>= offset;
  if (width >= kBits - offset)
    width = kBits - offset;
  if (width >= kBits)
    return value;
  using Signed = std::make_signed_t<T>;
  T shifted = value << (kBits - width);
  return isSigned && offset + width <= kBits
             ? static_cast<T>(static_cast<Signed>(shifted) >> (kBits - width))
             : shifted >> (kBits - width);
}

/// Returns the number of bits before the first that differs from the sign, or
/// -1 if all are alike.
template <typename T>
static int32_t countSignBits(T value) {
  auto folded =
      static_cast<std::make_unsigned_t<T>>(value < 0 ? ~value : value);
  return folded ? std::countl_zero(folded) : -1;
}

/// Returns one bit for each four bits of `value` that says whether any of them
/// is set. With `spread`, all four positions get the bit (whole quads);
/// otherwise the bits are packed.
template <typename T>
static T findQuads(T value, bool spread) {
  T result = 0;
  for (unsigned quad = 0; quad < 2 * sizeof(T); ++quad)
    if (value >> (4 * quad) & 15)
      result |= spread ? T(15) << (4 * quad) : T(1) << quad;
  return result;
}

static uint64_t replicateBits(uint32_t value) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 32; ++i)
    result |= uint64_t(value >> i & 1) * 3 << (2 * i);
  return result;
}

static void addQuads(OpcodeTable &table) {
  add<[](uint32_t a) { return findQuads(a, false); }, Scc::NonZero>(
      table, {"s_quadmask_b32"});
  add<[](uint64_t a) { return findQuads(a, false); }, Scc::NonZero>(
      table, {"s_quadmask_b64"});
  add<[](uint32_t a) { return findQuads(a, true); }, Scc::NonZero>(
      table, {"s_wqm_b32"});
  add<[](uint64_t a) { return findQuads(a, true); }, Scc::NonZero>(
      table, {"s_wqm_b64"});
  add<[](uint32_t a) { return replicateBits(a); }>(table,
                                                   {"s_bitreplicate_b64_b32"});
}

static void addBits(OpcodeTable &table) {
  add<[](uint32_t a, uint32_t b) { return extractField(a, b, false); },
      Scc::NonZero>(table, {"s_bfe_u32"});
  add<[](uint32_t a, uint32_t b) { return extractField(a, b, true); },
      Scc::NonZero>(table, {"s_bfe_i32"});
  add<[](uint64_t a, uint32_t b) { return extractField(a, b, false); },
      Scc::NonZero>(table, {"s_bfe_u64"});
  add<[](uint64_t a, uint32_t b) { return extractField(a, b, true); },
      Scc::NonZero>(table, {"s_bfe_i64"});
  add<[](uint32_t a, uint32_t b) {
    return ((1u << (a & 31)) - 1) << (b & 31);
  }>(table, {"s_bfm_b32"});
  add<[](uint32_t a, uint32_t b) {
    return ((uint64_t(1) << (a & 63)) - 1) << (b & 63);
  }>(table, {"s_bfm_b64"});
  add<[](uint32_t a) { return __builtin_bitreverse32(a); }>(table,
                                                            {"s_brev_b32"});
  add<[](uint64_t a) { return __builtin_bitreverse64(a); }>(table,
                                                            {"s_brev_b64"});
  add<[](uint32_t a) { return static_cast<uint32_t>(std::popcount(a)); },
      Scc::NonZero>(table, {"s_bcnt1_i32_b32"});
  add<[](uint64_t a) { return static_cast<uint32_t>(std::popcount(a)); },
      Scc::NonZero>(table, {"s_bcnt1_i32_b64"});
  add<[](uint32_t a) { return static_cast<uint32_t>(std::popcount(~a)); },
      Scc::NonZero>(table, {"s_bcnt0_i32_b32"});
  add<[](uint64_t a) { return static_cast<uint32_t>(std::popcount(~a)); },
      Scc::NonZero>(table, {"s_bcnt0_i32_b64"});
  add<[](uint32_t a) { return a ? std::countr_zero(a) : -1; }>(
      table, {"s_ff1_i32_b32", "s_ctz_i32_b32"});
  add<[](uint64_t a) { return a ? std::countr_zero(a) : -1; }>(
      table, {"s_ff1_i32_b64", "s_ctz_i32_b64"});
  add<[](uint32_t a) { return a ? std::countl_zero(a) : -1; }>(
      table, {"s_flbit_i32_b32", "s_clz_i32_u32"});
  add<[](uint64_t a) { return a ? std::countl_zero(a) : -1; }>(
      table, {"s_flbit_i32_b64", "s_clz_i32_u64"});
  add<[](int32_t a) { return countSignBits(a); }>(table,
                                                  {"s_flbit_i32", "s_cls_i32"});
  add<[](int64_t a) { return countSignBits(a); }>(
      table, {"s_flbit_i32_i64", "s_cls_i32_i64"});
}

// The 16-bit constant of these is printed unsigned, so it is read from the
// encoding.
static void moveConstant(Wave &wave, const Instruction &in) {
  wave.writeScalar(in.op[0].reg, static_cast<uint32_t>(in.getSimm16()));
}
static void conditionalMoveConstant(Wave &wave, const Instruction &in) {
  if (wave.scc)
    moveConstant(wave, in);
}
static void addConstant(Wave &wave, const Instruction &in) {
  auto old = static_cast<int32_t>(wave.readScalar(in.op[0].reg));
  int32_t sum;
  wave.scc = __builtin_add_overflow(old, int32_t(in.getSimm16()), &sum);
  wave.writeScalar(in.op[0].reg, static_cast<uint32_t>(sum));
}
static void multiplyConstant(Wave &wave, const Instruction &in) {
  wave.writeScalar(in.op[0].reg, wave.readScalar(in.op[0].reg) *
                                     static_cast<uint32_t>(in.getSimm16()));
}
static void conditionalMove32(Wave &wave, const Instruction &in) {
  if (wave.scc)
    wave.writeScalar(in.op[0].reg, wave.scalar32(in.op[1]));
}
static void conditionalMove64(Wave &wave, const Instruction &in) {
  if (wave.scc)
    wave.writeScalar64(in.op[0].reg, wave.scalar64(in.op[1]));
}
template <bool Value>
static void setBit32(Wave &wave, const Instruction &in) {
  uint32_t bit = 1u << (wave.scalar32(in.op[1]) & 31);
  uint32_t old = wave.readScalar(in.op[0].reg);
  wave.writeScalar(in.op[0].reg, Value ? old | bit : old & ~bit);
}
template <bool Value>
static void setBit64(Wave &wave, const Instruction &in) {
  uint64_t bit = uint64_t(1) << (wave.scalar32(in.op[1]) & 63);
  uint64_t old = wave.readScalar64(in.op[0].reg);
  wave.writeScalar64(in.op[0].reg, Value ? old | bit : old & ~bit);
}

/// Moves a register whose number, of the source or the destination, is relative
/// to M0.
template <bool Source, bool Is64>
static void moveRelative(Wave &wave, const Instruction &in) {
  unsigned offset = wave.readScalar(kM0);
  unsigned from = in.op[1].reg + (Source ? offset : 0);
  unsigned to = in.op[0].reg + (Source ? 0 : offset);
  // Numbers above those of the registers name other things, or nothing.
  if (uint64_t(in.op[Source ? 1 : 0].reg) + offset + Is64 >= kVccLo) {
    wave.fail(FaultKind::IllegalState, in, -1, 0,
              "a scalar register number relative to M0 is out of range");
    return;
  }
  Operand source = in.op[1];
  source.reg = static_cast<uint16_t>(from);
  if (Is64)
    wave.writeScalar64(to, wave.scalar64(source));
  else
    wave.writeScalar(to, wave.scalar32(source));
}

/// D = EXEC; EXEC = Fn(S0, EXEC); SCC = (EXEC != 0). The wrexec forms write the
/// new EXEC to D instead of the old one.
template <auto Fn, bool Is64, bool GivesNew>
static void saveExec(Wave &wave, const Instruction &in) {
  uint64_t source = Is64 ? wave.scalar64(in.op[1]) : wave.scalar32(in.op[1]);
  uint64_t old = wave.exec;
  uint64_t changed = Fn(source, old) & wave.getLaneMask();
  uint64_t given = GivesNew ? changed : old;
  if (Is64)
    wave.writeScalar64(in.op[0].reg, given);
  else
    wave.writeScalar(in.op[0].reg, static_cast<uint32_t>(given));
  wave.setExec(changed);
  wave.scc = changed != 0;
}

template <auto Fn, bool GivesNew = false>
static void addSaveExec(OpcodeTable &table,
                        std::initializer_list<const char *> names32,
                        std::initializer_list<const char *> names64) {
  for (const char *name : names32)
    table.add(name, {saveExec<Fn, false, GivesNew>,
                     InstructionClass::Salu,
                     0,
                     {ValueType::U32, ValueType::U32}});
  for (const char *name : names64)
    table.add(name, {saveExec<Fn, true, GivesNew>,
                     InstructionClass::Salu,
                     0,
                     {ValueType::U64, ValueType::U64}});
}

static void addSaveExecs(OpcodeTable &table) {
  using U = uint64_t;
  addSaveExec<[](U s, U e) { return s & e; }>(table, {"s_and_saveexec_b32"},
                                              {"s_and_saveexec_b64"});
  addSaveExec<[](U s, U e) { return s | e; }>(table, {"s_or_saveexec_b32"},
                                              {"s_or_saveexec_b64"});
  addSaveExec<[](U s, U e) { return s ^ e; }>(table, {"s_xor_saveexec_b32"},
                                              {"s_xor_saveexec_b64"});
  addSaveExec<[](U s, U e) { return s & ~e; }>(
      table, {"s_andn2_saveexec_b32", "s_and_not1_saveexec_b32"},
      {"s_andn2_saveexec_b64", "s_and_not1_saveexec_b64"});
  addSaveExec<[](U s, U e) { return ~s & e; }>(
      table, {"s_andn1_saveexec_b32", "s_and_not0_saveexec_b32"},
      {"s_andn1_saveexec_b64", "s_and_not0_saveexec_b64"});
  addSaveExec<[](U s, U e) { return s | ~e; }>(
      table, {"s_orn2_saveexec_b32", "s_or_not1_saveexec_b32"},
      {"s_orn2_saveexec_b64", "s_or_not1_saveexec_b64"});
  addSaveExec<[](U s, U e) { return ~s | e; }>(
      table, {"s_orn1_saveexec_b32", "s_or_not0_saveexec_b32"},
      {"s_orn1_saveexec_b64", "s_or_not0_saveexec_b64"});
  addSaveExec<[](U s, U e) { return ~(s & e); }>(table, {"s_nand_saveexec_b32"},
                                                 {"s_nand_saveexec_b64"});
  addSaveExec<[](U s, U e) { return ~(s | e); }>(table, {"s_nor_saveexec_b32"},
                                                 {"s_nor_saveexec_b64"});
  addSaveExec<[](U s, U e) { return ~(s ^ e); }>(table, {"s_xnor_saveexec_b32"},
                                                 {"s_xnor_saveexec_b64"});
  addSaveExec<[](U s, U e) { return s & ~e; }, true>(
      table, {"s_andn2_wrexec_b32", "s_and_not1_wrexec_b32"},
      {"s_andn2_wrexec_b64", "s_and_not1_wrexec_b64"});
  addSaveExec<[](U s, U e) { return ~s & e; }, true>(
      table, {"s_andn1_wrexec_b32", "s_and_not0_wrexec_b32"},
      {"s_andn1_wrexec_b64", "s_and_not0_wrexec_b64"});
}

static void addConstants(OpcodeTable &table) {
  auto addRow = [&](const char *name, Handler handler,
                    std::vector<ValueType> types) {
    table.add(name, {handler, InstructionClass::Salu, 0, std::move(types)});
  };
  using enum ValueType;
  addRow("s_movk_i32", moveConstant, {U32});
  addRow("s_cmovk_i32", conditionalMoveConstant, {U32});
  addRow("s_addk_i32", addConstant, {U32});
  addRow("s_addk_co_i32", addConstant, {U32});
  addRow("s_mulk_i32", multiplyConstant, {U32});
  addRow("s_cmov_b32", conditionalMove32, {U32, U32});
  addRow("s_cmov_b64", conditionalMove64, {U64, U64});
  addRow("s_movrels_b32", moveRelative<true, false>, {U32, U32});
  addRow("s_movrels_b64", moveRelative<true, true>, {U64, U64});
  addRow("s_movreld_b32", moveRelative<false, false>, {U32, U32});
  addRow("s_movreld_b64", moveRelative<false, true>, {U64, U64});
  addRow("s_bitset0_b32", setBit32<false>, {U32, U32});
  addRow("s_bitset1_b32", setBit32<true>, {U32, U32});
  addRow("s_bitset0_b64", setBit64<false>, {U64, U32});
  addRow("s_bitset1_b64", setBit64<true>, {U64, U32});
}

void tessera::emulator::addScalarAlu(OpcodeTable &table) {
  addMoves(table);
  addArithmetic(table);
  addLogic(table);
  addShifts(table);
  addBits(table);
  addQuads(table);
  addConstants(table);
  addSaveExecs(table);
}
