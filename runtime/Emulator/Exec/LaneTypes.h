//===- LaneTypes.h - How a value sits in a register lane -------*- C++ -*--===//
//
// The handlers of most vector instructions are one-line functions on host
// types. This says how each type is read from and written to register rows, and
// so which ValueType the decoder gives to the operand.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_LANETYPES_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_LANETYPES_H

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "runtime/Emulator/Wave.h"

#include <type_traits>

namespace tessera::emulator {

/// An f16 operand, widened: f32 arithmetic on it, rounded once when written,
/// gives the correctly rounded f16 for +, -, *, / and sqrt.
struct F16 {
  float value;
};

/// One lane of a mask operand: the carry-in or the condition of v_cndmask.
struct MaskLane {
  uint32_t bits; ///< all ones or zero
};

template <typename T>
struct Lane;

template <typename T, ValueType Type>
struct WordLane {
  static constexpr ValueType type = Type;
  static constexpr unsigned dwords = 1;
  static T get(const LaneRows &rows, size_t lane) {
    return std::bit_cast<T>(rows.lo[lane]);
  }
  static void put(const RowTarget &target, size_t lane, T value) {
    target.lo[lane] = std::bit_cast<uint32_t>(value);
  }
};
template <typename T, ValueType Type>
struct ShortLane {
  static constexpr ValueType type = Type;
  static constexpr unsigned dwords = 1;
  static T get(const LaneRows &rows, size_t lane) {
    return static_cast<T>(rows.lo[lane]);
  }
  static void put(const RowTarget &target, size_t lane, T value) {
    target.lo[lane] = static_cast<uint16_t>(value);
  }
};
template <typename T, ValueType Type>
struct DoubleWordLane {
  static constexpr ValueType type = Type;
  static constexpr unsigned dwords = 2;
  static T get(const LaneRows &rows, size_t lane) {
    return std::bit_cast<T>(rows.lo[lane] | uint64_t(rows.hi[lane]) << 32);
  }
  static void put(const RowTarget &target, size_t lane, T value) {
    auto bits = std::bit_cast<uint64_t>(value);
    target.lo[lane] = static_cast<uint32_t>(bits);
    target.hi[lane] = static_cast<uint32_t>(bits >> 32);
  }
};

template <>
struct Lane<uint32_t> : WordLane<uint32_t, ValueType::U32> {};
template <>
struct Lane<int32_t> : WordLane<int32_t, ValueType::I32> {};
template <>
struct Lane<float> : WordLane<float, ValueType::F32> {};
template <>
struct Lane<uint16_t> : ShortLane<uint16_t, ValueType::U16> {};
template <>
struct Lane<int16_t> : ShortLane<int16_t, ValueType::I16> {};
template <>
struct Lane<uint64_t> : DoubleWordLane<uint64_t, ValueType::U64> {};
template <>
struct Lane<int64_t> : DoubleWordLane<int64_t, ValueType::I64> {};
template <>
struct Lane<double> : DoubleWordLane<double, ValueType::F64> {};

template <>
struct Lane<F16> {
  static constexpr ValueType type = ValueType::F16;
  static constexpr unsigned dwords = 1;
  static F16 get(const LaneRows &rows, size_t lane) {
    return {halfToFloat(rows.lo[lane])};
  }
  static void put(const RowTarget &target, size_t lane, F16 half) {
    target.lo[lane] = floatToHalf(half.value);
  }
};
template <>
struct Lane<MaskLane> {
  static constexpr ValueType type = ValueType::Mask;
  static constexpr unsigned dwords = 1;
  static MaskLane get(const LaneRows &rows, size_t lane) {
    return {rows.lo[lane]};
  }
};

/// The result and argument types of a captureless lambda.
template <typename>
struct CallSignature;
template <typename L, typename R, typename... A>
struct CallSignature<R (L::*)(A...) const> {
  using Result = R;
  template <template <typename, typename...> typename To>
  using Apply = To<R, A...>;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_LANETYPES_H
