//===- VectorSaturate.cpp - Integer sums that can saturate ----------------===//
//
// With "clamp" these give the nearest value of their type instead of the low
// bits of the result. Both are written once, on 64 bits, where nothing here
// overflows; the plain form is vectorised on the type's own bits.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/VectorOps.h"

#include <limits>

using namespace tessera::emulator;

using U = uint32_t;
using I = int32_t;
using S = uint16_t;
using T = int16_t;
using W = int64_t;

template <typename To>
static To nearest(W value) {
  constexpr W kLow = std::numeric_limits<To>::min();
  constexpr W kHigh = std::numeric_limits<To>::max();
  return static_cast<To>(value < kLow ? kLow : value > kHigh ? kHigh : value);
}

/// Arguments are widened to U, or to W when the result is clamped.
template <typename To, auto Fn, typename A = To, typename B = A, typename... C>
static void add(OpcodeTable &table, std::initializer_list<const char *> names) {
  constexpr auto kPlain = [](A a, B b, C... c) {
    return static_cast<To>(Fn(U(a), U(b), U(c)...));
  };
  constexpr auto kClamped = [](A a, B b, C... c) {
    return nearest<To>(Fn(W(a), W(b), W(c)...));
  };
  addVector<kPlain>(table, names);
  for (const char *name : names)
    table.setClamped(name, &BindVectorOp<kClamped>::Type::execute);
}

namespace {
constexpr auto kSum = [](auto a, auto b) { return a + b; };
constexpr auto kDifference = [](auto a, auto b) { return a - b; };
constexpr auto kReverseDifference = [](auto a, auto b) { return b - a; };
constexpr auto kProductSum = [](auto a, auto b, auto c) { return a * b + c; };
} // namespace

/// The low 24 bits, zero- or sign-extended.
static U mask24(U value) { return value & 0xffffff; }
static I sign24(U value) { return static_cast<I>(value << 8) >> 8; }

static void addProducts24(OpcodeTable &table) {
  addVector<[](U a, U b, U c) { return mask24(a) * mask24(b) + c; }>(
      table, "v_mad_u32_u24");
  constexpr auto kUnsigned = [](U a, U b, U c) {
    return nearest<U>(W(mask24(a)) * W(mask24(b)) + W(c));
  };
  table.setClamped("v_mad_u32_u24", &BindVectorOp<kUnsigned>::Type::execute);
  addVector<[](U a, U b, I c) {
    return static_cast<I>(U(sign24(a)) * U(sign24(b)) + U(c));
  }>(table, "v_mad_i32_i24");
  constexpr auto kSigned = [](U a, U b, I c) {
    return nearest<I>(W(sign24(a)) * W(sign24(b)) + W(c));
  };
  table.setClamped("v_mad_i32_i24", &BindVectorOp<kSigned>::Type::execute);
}

void tessera::emulator::addVectorSaturate(OpcodeTable &table) {
  add<U, kSum>(table, {"v_add_u32", "v_add_nc_u32"});
  add<U, kDifference>(table, {"v_sub_u32", "v_sub_nc_u32"});
  add<U, kReverseDifference>(table, {"v_subrev_u32", "v_subrev_nc_u32"});
  add<I, kSum>(table, {"v_add_i32", "v_add_nc_i32"});
  add<I, kDifference>(table, {"v_sub_i32", "v_sub_nc_i32"});
  add<S, kSum>(table, {"v_add_u16", "v_add_nc_u16"});
  add<S, kDifference>(table, {"v_sub_u16", "v_sub_nc_u16"});
  add<S, kReverseDifference>(table, {"v_subrev_u16"});
  add<T, kSum>(table, {"v_add_i16", "v_add_nc_i16"});
  add<T, kDifference>(table, {"v_sub_i16", "v_sub_nc_i16"});
  add<S, kProductSum, S, S, S>(table, {"v_mad_u16", "v_mad_legacy_u16"});
  add<T, kProductSum, T, T, T>(table, {"v_mad_i16", "v_mad_legacy_i16"});
  add<U, kProductSum, S, S, U>(table, {"v_mad_u32_u16"});
  add<I, kProductSum, T, T, I>(table, {"v_mad_i32_i16"});
  addProducts24(table);
}
