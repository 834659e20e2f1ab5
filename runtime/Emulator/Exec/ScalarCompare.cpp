//===- ScalarCompare.cpp - Comparisons that set SCC -----------------------===//

#include "runtime/Emulator/Exec/LaneTypes.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

#include <string>

using namespace tessera::emulator;

namespace {
enum class Relation { Eq, Lg, Gt, Ge, Lt, Le };
} // namespace

template <Relation R, typename T>
static bool compare(T a, T b) {
  switch (R) {
  case Relation::Eq:
    return a == b;
  case Relation::Lg:
    return a != b;
  case Relation::Gt:
    return a > b;
  case Relation::Ge:
    return a >= b;
  case Relation::Lt:
    return a < b;
  case Relation::Le:
    return a <= b;
  }
}

template <Relation R, typename T>
static void compare32(Wave &wave, const Instruction &in) {
  wave.scc = compare<R>(static_cast<T>(wave.scalar32(in.op[0])),
                        static_cast<T>(wave.scalar32(in.op[1])));
}
template <Relation R>
static void compare64(Wave &wave, const Instruction &in) {
  wave.scc = compare<R>(wave.scalar64(in.op[0]), wave.scalar64(in.op[1]));
}
/// s_cmpk: the constant is sign- or zero-extended as the type says.
template <Relation R, typename T>
static void compareConstant(Wave &wave, const Instruction &in) {
  T constant = std::is_signed_v<T>
                   ? static_cast<T>(in.getSimm16())
                   : static_cast<T>(static_cast<uint16_t>(in.getSimm16()));
  wave.scc =
      compare<R>(static_cast<T>(wave.readScalar(in.op[0].reg)), constant);
}
template <bool Value, bool Is64>
static void testBit(Wave &wave, const Instruction &in) {
  uint64_t word = Is64 ? wave.scalar64(in.op[0]) : wave.scalar32(in.op[0]);
  wave.scc =
      (word >> (wave.scalar32(in.op[1]) & (Is64 ? 63 : 31)) & 1) == Value;
}

static void addRow(OpcodeTable &table, const char *name, Handler handler,
                   ValueType type) {
  table.add(name, {handler, InstructionClass::Salu, 0, {type, type}});
}

template <Relation R>
static void addRelation(OpcodeTable &table, const char *const (&names)[4]) {
  addRow(table, names[0], compare32<R, int32_t>, ValueType::I32);
  addRow(table, names[1], compare32<R, uint32_t>, ValueType::U32);
  addRow(table, names[2], compareConstant<R, int32_t>, ValueType::I32);
  addRow(table, names[3], compareConstant<R, uint32_t>, ValueType::U32);
}

void tessera::emulator::addScalarCompare(OpcodeTable &table) {
  addRelation<Relation::Eq>(table, {"s_cmp_eq_i32", "s_cmp_eq_u32",
                                    "s_cmpk_eq_i32", "s_cmpk_eq_u32"});
  addRelation<Relation::Lg>(table, {"s_cmp_lg_i32", "s_cmp_lg_u32",
                                    "s_cmpk_lg_i32", "s_cmpk_lg_u32"});
  addRelation<Relation::Gt>(table, {"s_cmp_gt_i32", "s_cmp_gt_u32",
                                    "s_cmpk_gt_i32", "s_cmpk_gt_u32"});
  addRelation<Relation::Ge>(table, {"s_cmp_ge_i32", "s_cmp_ge_u32",
                                    "s_cmpk_ge_i32", "s_cmpk_ge_u32"});
  addRelation<Relation::Lt>(table, {"s_cmp_lt_i32", "s_cmp_lt_u32",
                                    "s_cmpk_lt_i32", "s_cmpk_lt_u32"});
  addRelation<Relation::Le>(table, {"s_cmp_le_i32", "s_cmp_le_u32",
                                    "s_cmpk_le_i32", "s_cmpk_le_u32"});
  addRow(table, "s_cmp_eq_u64", compare64<Relation::Eq>, ValueType::U64);
  addRow(table, "s_cmp_lg_u64", compare64<Relation::Lg>, ValueType::U64);
  auto addBitTest = [&](const char *name, Handler handler, ValueType type) {
    table.add(name,
              {handler, InstructionClass::Salu, 0, {type, ValueType::U32}});
  };
  addBitTest("s_bitcmp0_b32", testBit<false, false>, ValueType::U32);
  addBitTest("s_bitcmp1_b32", testBit<true, false>, ValueType::U32);
  addBitTest("s_bitcmp0_b64", testBit<false, true>, ValueType::U64);
  addBitTest("s_bitcmp1_b64", testBit<true, true>, ValueType::U64);
}
