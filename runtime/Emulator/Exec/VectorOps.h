//===- VectorOps.h - Vector instructions from one-line functions -*- C++ -*-=//
//
// addVector<[](float a, float b) { return a + b; }>(table, "v_add_f32") makes
// the handler (a vectorised loop over the lanes) and the operand types from
// the function's signature. Include only in files compiled for the lane loops.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_VECTOROPS_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_VECTOROPS_H

#include "runtime/Emulator/Exec/LaneTypes.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

#include <initializer_list>
#include <limits>
#include <utility>

namespace tessera::emulator {

/// Calls `body(lane)` for every lane of the wave. Lanes never depend on each
/// other, even when a result row is also a source row, because each reads
/// before it writes. The inner loop has a constant length, so that it becomes
/// whole vectors without a remainder; it must not be unrolled before it is
/// vectorised. `body` must capture pointers by value: behind a reference to a
/// local variable they look as if the stores could change them, and the
/// compiler adds a scalar version of the loop.
template <typename Body>
[[gnu::always_inline]] inline void forEachLane(const Wave &wave, Body body) {
  const size_t lanes = wave.lanes;
  size_t block = 0;
  do {
#pragma clang loop vectorize(assume_safety) unroll(disable)
    for (size_t lane = 0; lane < kLaneBlock; ++lane)
      body(block + lane);
    block += kLaneBlock;
  } while (block < lanes);
}

template <auto Fn, unsigned FirstSource, typename Result, typename... Args>
struct VectorOp {
  template <size_t... I>
  static void run(Wave &wave, const Instruction &in,
                  std::index_sequence<I...>) {
    const LaneRows source[] = {wave.source(in, FirstSource + I, I)...};
    const RowTarget target = wave.beginWrite(in);
    forEachLane(wave, [=](size_t lane) {
      Lane<Result>::put(target, lane, Fn(Lane<Args>::get(source[I], lane)...));
    });
    if (!target.direct)
      wave.finishWrite(in, Lane<Result>::type);
  }
  static void execute(Wave &wave, const Instruction &in) {
    run(wave, in, std::index_sequence_for<Args...>());
  }
  static std::vector<ValueType> getTypes() {
    return {Lane<Result>::type, Lane<Args>::type...};
  }
};

template <auto Fn, typename... Types>
using PlainVectorOp = VectorOp<Fn, 1, Types...>;

template <auto Fn>
struct BindVectorOp {
  template <typename Result, typename... Args>
  using Op = VectorOp<Fn, 1, Result, Args...>;
  using Type = typename CallSignature<
      decltype(&decltype(Fn)::operator())>::template Apply<Op>;
};

/// True for a result that fills only half of its register; the chip decides
/// what happens to the other half.
inline bool is16Bit(ValueType type) {
  return type == ValueType::F16 || type == ValueType::U16 ||
         type == ValueType::I16;
}
inline bool isFloat(ValueType type) {
  return type == ValueType::F16 || type == ValueType::F32 ||
         type == ValueType::F64;
}

/// Adds one handler under several names, because chips rename instructions.
template <auto Fn>
void addVector(OpcodeTable &table, std::initializer_list<const char *> names,
               uint16_t flags = 0) {
  using Op = typename BindVectorOp<Fn>::Type;
  std::vector<ValueType> types = Op::getTypes();
  for (ValueType type : types)
    if (is16Bit(type))
      flags |= kPicksHalf;
  if (isFloat(types[0]))
    flags |= kClampOk;
  for (const char *name : names)
    table.add(name, {&Op::execute, InstructionClass::Valu, flags, types});
}
template <auto Fn>
void addVector(OpcodeTable &table, const char *name, uint16_t flags = 0) {
  addVector<Fn>(table, {name}, flags);
}

/// Clamps `value` to the range of V.
template <typename V>
inline V saturateTo(int64_t value) {
  constexpr int64_t kLow = std::numeric_limits<V>::min();
  constexpr int64_t kHigh = std::numeric_limits<V>::max();
  return static_cast<V>(value < kLow ? kLow : value > kHigh ? kHigh : value);
}

/// Adds an integer instruction: Fn computes in 64 bits, in which nothing
/// overflows; the result wraps, or saturates if "clamp" asks for it.
template <auto Fn, typename Result, typename... Args>
void addSaturating(OpcodeTable &table,
                   std::initializer_list<const char *> names,
                   uint16_t flags = 0) {
  constexpr auto kWrapping = [](Args... args) {
    return static_cast<Result>(Fn(static_cast<int64_t>(args)...));
  };
  constexpr auto kSaturating = [](Args... args) {
    return saturateTo<Result>(Fn(static_cast<int64_t>(args)...));
  };
  addVector<kWrapping>(table, names, flags);
  for (const char *name : names) {
    Opcode opcode = *table.find(name);
    opcode.saturating = &BindVectorOp<kSaturating>::Type::execute;
    table.add(name, opcode);
  }
}

/// Collects the bits of a row of all-ones or all-zeros words.
inline uint64_t collectMask(const Wave &wave, const uint32_t *row) {
  uint64_t mask = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    mask |= uint64_t(row[lane] & 1) << lane;
  return mask;
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_VECTOROPS_H
