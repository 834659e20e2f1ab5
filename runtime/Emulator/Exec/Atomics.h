//===- Atomics.h - Read-modify-write on one element ------------*- C++ -*--===//
//
// Workgroups run on several host threads, so atomics must be atomic on the host
// as well. The lanes of a wave perform theirs in ascending order.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_ATOMICS_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_ATOMICS_H

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "runtime/Emulator/Wave.h"

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace tessera::emulator {

/// Returns the new value from (old, data, compare); `compare` is for
/// compare-and-swap only.
template <typename T>
using AtomicFunction = T (*)(T, T, T);

/// Element `lane` of register `row`, together with the next register for 64
/// bits.
template <typename T>
T getElement(const Wave &wave, unsigned row, unsigned lane) {
  if constexpr (sizeof(T) == 8)
    return wave.vector[row][lane] | uint64_t(wave.vector[row + 1][lane]) << 32;
  else
    return wave.vector[row][lane];
}
template <typename T>
void putElement(Wave &wave, unsigned row, unsigned lane, T value) {
  wave.vector[row][lane] = static_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 8)
    wave.vector[row + 1][lane] = static_cast<uint32_t>(value >> 32);
}

/// Replaces the element at `memory`, which is naturally aligned, and returns
/// the old value.
template <typename T>
T updateAtomically(uint8_t *memory, T data, T compare, T (*function)(T, T, T)) {
  T *element = reinterpret_cast<T *>(memory);
  T old = __atomic_load_n(element, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(element, &old,
                                      function(old, data, compare), false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return old;
}

/// The operations for both widths.
template <typename T>
struct AtomicOps {
  using Signed = std::make_signed_t<T>;
  static T add(T old, T data, T) { return old + data; }
  static T sub(T old, T data, T) { return old - data; }
  static T reverseSub(T old, T data, T) { return data - old; }
  static T smin(T old, T data, T) {
    return static_cast<Signed>(data) < static_cast<Signed>(old) ? data : old;
  }
  static T smax(T old, T data, T) {
    return static_cast<Signed>(data) > static_cast<Signed>(old) ? data : old;
  }
  static T umin(T old, T data, T) { return data < old ? data : old; }
  static T umax(T old, T data, T) { return data > old ? data : old; }
  static T subClamp(T old, T data, T) { return old < data ? 0 : old - data; }
  static T subIfNotLess(T old, T data, T) {
    return old < data ? old : old - data;
  }
  static T bitAnd(T old, T data, T) { return old & data; }
  static T bitOr(T old, T data, T) { return old | data; }
  static T bitXor(T old, T data, T) { return old ^ data; }
  static T swap(T, T data, T) { return data; }
  static T increment(T old, T data, T) { return old >= data ? 0 : old + 1; }
  static T decrement(T old, T data, T) {
    return old == 0 || old > data ? data : old - 1;
  }
  static T compareSwap(T old, T data, T compare) {
    return old == compare ? data : old;
  }
};

template <typename Float, typename T>
struct FloatAtomicOps {
  /// Compares as numbers: -0 equals 0, and NaN equals nothing.
  static T compareSwap(T old, T data, T compare) {
    return std::bit_cast<Float>(old) == std::bit_cast<Float>(compare) ? data
                                                                      : old;
  }
  static T add(T old, T data, T) {
    return std::bit_cast<T>(std::bit_cast<Float>(old) +
                            std::bit_cast<Float>(data));
  }
  static T min(T old, T data, T) {
    auto a = std::bit_cast<Float>(old), b = std::bit_cast<Float>(data);
    return a != a || b < a ? data : old;
  }
  static T max(T old, T data, T) {
    auto a = std::bit_cast<Float>(old), b = std::bit_cast<Float>(data);
    return a != a || b > a ? data : old;
  }
};

inline uint32_t addPackedF16(uint32_t old, uint32_t data, uint32_t) {
  uint32_t lo = floatToHalf(halfToFloat(old) + halfToFloat(data));
  uint32_t hi = floatToHalf(halfToFloat(old >> 16) + halfToFloat(data >> 16));
  return lo | hi << 16;
}
inline uint32_t addPackedBf16(uint32_t old, uint32_t data, uint32_t) {
  uint32_t lo = floatToBf16(bf16ToFloat(old) + bf16ToFloat(data));
  uint32_t hi = floatToBf16(bf16ToFloat(old >> 16) + bf16ToFloat(data >> 16));
  return lo | hi << 16;
}

/// Whether `function` needs the third value, which only compare-and-swap takes
/// from registers.
template <typename T>
constexpr bool comparesAndSwaps(AtomicFunction<T> function) {
  if constexpr (sizeof(T) == 4)
    if (function == &FloatAtomicOps<float, uint32_t>::compareSwap)
      return true;
  return function == &AtomicOps<T>::compareSwap;
}

/// Calls `visit` with each operation on memory and its names, those of gfx9 and
/// gfx10 first.
template <typename Visitor>
void forEachMemoryAtomic(Visitor visit) {
  using W = AtomicOps<uint32_t>;
  using D = AtomicOps<uint64_t>;
  using F = FloatAtomicOps<float, uint32_t>;
  using G = FloatAtomicOps<double, uint64_t>;
  visit.template operator()<uint32_t, &W::swap>({"swap", "swap_b32"});
  visit.template operator()<uint32_t, &W::compareSwap>(
      {"cmpswap", "cmpswap_b32"});
  visit.template operator()<uint32_t, &W::add>({"add", "add_u32"});
  visit.template operator()<uint32_t, &W::sub>({"sub", "sub_u32"});
  visit.template operator()<uint32_t, &W::smin>({"smin", "min_i32"});
  visit.template operator()<uint32_t, &W::umin>({"umin", "min_u32"});
  visit.template operator()<uint32_t, &W::smax>({"smax", "max_i32"});
  visit.template operator()<uint32_t, &W::umax>({"umax", "max_u32"});
  visit.template operator()<uint32_t, &W::bitAnd>({"and", "and_b32"});
  visit.template operator()<uint32_t, &W::bitOr>({"or", "or_b32"});
  visit.template operator()<uint32_t, &W::bitXor>({"xor", "xor_b32"});
  visit.template operator()<uint32_t, &W::increment>({"inc", "inc_u32"});
  visit.template operator()<uint32_t, &W::decrement>({"dec", "dec_u32"});
  visit.template operator()<uint64_t, &D::swap>({"swap_x2", "swap_b64"});
  visit.template operator()<uint64_t, &D::compareSwap>(
      {"cmpswap_x2", "cmpswap_b64"});
  visit.template operator()<uint64_t, &D::add>({"add_x2", "add_u64"});
  visit.template operator()<uint64_t, &D::sub>({"sub_x2", "sub_u64"});
  visit.template operator()<uint64_t, &D::smin>({"smin_x2", "min_i64"});
  visit.template operator()<uint64_t, &D::umin>({"umin_x2", "min_u64"});
  visit.template operator()<uint64_t, &D::smax>({"smax_x2", "max_i64"});
  visit.template operator()<uint64_t, &D::umax>({"umax_x2", "max_u64"});
  visit.template operator()<uint64_t, &D::bitAnd>({"and_x2", "and_b64"});
  visit.template operator()<uint64_t, &D::bitOr>({"or_x2", "or_b64"});
  visit.template operator()<uint64_t, &D::bitXor>({"xor_x2", "xor_b64"});
  visit.template operator()<uint64_t, &D::increment>({"inc_x2", "inc_u64"});
  visit.template operator()<uint64_t, &D::decrement>({"dec_x2", "dec_u64"});
  visit.template operator()<uint32_t, &W::subClamp>(
      {"csub", "csub_u32", "sub_clamp_u32"});
  visit.template operator()<uint32_t, &W::subIfNotLess>({"cond_sub_u32"});
  visit.template operator()<uint32_t, &F::compareSwap>(
      {"fcmpswap", "cmpswap_f32"});
  visit.template operator()<uint32_t, &F::add>({"add_f32"});
  visit.template operator()<uint32_t, &F::min>(
      {"fmin", "min_f32", "min_num_f32"});
  visit.template operator()<uint32_t, &F::max>(
      {"fmax", "max_f32", "max_num_f32"});
  visit.template operator()<uint64_t, &G::add>({"add_f64"});
  visit.template operator()<uint64_t, &G::min>({"min_f64", "fmin_x2"});
  visit.template operator()<uint64_t, &G::max>({"max_f64", "fmax_x2"});
  visit.template operator()<uint32_t, &addPackedF16>({"pk_add_f16"});
  visit.template operator()<uint32_t, &addPackedBf16>({"pk_add_bf16"});
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_ATOMICS_H
