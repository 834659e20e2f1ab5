//===- Fuzzer.h - Calls with arguments drawn by their types ----*- C++ -*-===//
//
// Half of the calls are kind: usual objects, small numbers, hardly a null
// pointer, so that many of them get to their end. The other half is wild:
// whatever the types allow. Only what a caller must know is kept: an object
// that was destroyed is not used again, and arrays are as long as they are said
// to be.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_CAPI_FUZZER_H
#define TESSERA_TEST_UNIT_CAPI_FUZZER_H

#include "test/unit/capi/FailingNew.h"
#include "test/unit/capi/UsualObjects.h"

#include <gtest/gtest.h>
#include <tessera/problem.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tessera::test {

/// Structs of the API that are no objects behind a handle.
template <typename T>
inline constexpr bool kIsPlain = std::is_same_v<T, miopenConvAlgoPerf_t> ||
                                 std::is_same_v<T, miopenConvSolution_t> ||
                                 std::is_same_v<T, miopenTensorArgument_t> ||
                                 std::is_same_v<T, tesseraKernelInfo> ||
                                 std::is_same_v<T, tesseraCounters> ||
                                 std::is_same_v<T, tesseraProblemArguments>;

/// Whether T is a handle of an object of the API.
template <typename T,
          typename Pointed =
              std::remove_cv_t<std::remove_pointer_t<std::remove_cv_t<T>>>>
inline constexpr bool kIsObject =
    std::is_pointer_v<T> && std::is_class_v<Pointed> && !kIsPlain<Pointed> &&
    !std::is_same_v<std::remove_cv_t<T>, hipStream_t>;

/// What a function's name says of its arguments.
struct FunctionTraits {
  explicit FunctionTraits(std::string_view name);

  bool isMaker;       ///< Makes an object; its caller owns it, or a plan.
  bool isOpMaker;     ///< A plan does.
  bool isDestroyer;   ///< Its only object is gone.
  bool changesObject; ///< Its first one.
  bool hasArrays;     ///< As long as a number says, which it cannot check.
  bool readsSolution; ///< Bytes, not a problem's text.
};

/// A client of one thread. What it does follows from its seed.
class Fuzzer {
public:
  explicit Fuzzer(unsigned seed) : random(seed) {}

  /// Whether the call succeeded.
  template <typename... Args>
  bool call(miopenStatus_t (*function)(Args...), std::string_view name);
  /// A function that cannot fail.
  template <typename Result, typename... Args>
  bool call(Result *(*function)(Args...), std::string_view name);

  /// Those that were made and are not destroyed.
  size_t countObjects() const;

  uint32_t drawBelow(uint32_t end) { return random() % end; }

  /// What stands for the object with this number among a call's.
  enum class Bad { None, OtherType, Destroyed };
  /// From now on each call has a bad object, and is kind in all else. Those of
  /// `destroyed` were destroyed, and stay so.
  void spoilObject(size_t index, Bad kind) {
    bad = kind;
    badIndex = index;
  }
  void setDestroyed(UsualObjects::Map objects) {
    destroyed = std::move(objects);
  }
  miopenStatus_t getLastStatus() const { return lastStatus; }

  /// Objects among the arguments of a function, but those in arrays.
  template <typename Result, typename... Args>
  static constexpr size_t countObjects(Result (*)(Args...)) {
    return (0 + ... + kIsObject<Args>);
  }

  /// From now on an allocation fails in most calls that destroy nothing.
  void failAllocations() { failsAllocations = true; }

private:
  static constexpr size_t kArrayLength = 77;
  using Pool = std::vector<void *>;

  void begin(std::string_view name);
  void finish();
  template <typename T, size_t count>
  T pick(const T (&values)[count]) {
    return values[drawBelow(count)];
  }
  bool isNull() { return bad == Bad::None && drawBelow(isKind ? 64 : 8) == 0; }

  template <typename T>
  T draw();
  template <typename T>
  T drawNumber();
  template <typename T>
  T drawArgumentNumber();
  template <typename T>
  T drawObject();
  void *chooseBad(std::type_index type);
  template <typename T>
  T drawPointer();
  template <typename T>
  void fill(T &value, size_t index);
  void fillArguments(tesseraProblemArguments &arguments);
  const void *drawData();
  const char *drawText();
  void *takeBlock(size_t bytes);
  void *chooseFrom(Pool &own, const Pool &usual, bool mustOwn);

  std::mt19937 random;
  UsualObjects usual;
  std::map<std::type_index, Pool> objects; ///< Made by calls.
  std::map<void *, Pool> parts;            ///< Operations, by their plans.
  bool failsAllocations = false;
  Bad bad = Bad::None;
  size_t badIndex = 0;
  UsualObjects::Map destroyed;
  miopenStatus_t lastStatus = miopenStatusSuccess;
  // Of the call in hand:
  FunctionTraits traits{""};
  bool isKind = false;
  size_t arrayLength = kArrayLength;
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  void *target = nullptr; ///< The first object.
  size_t objectCount = 0; ///< That were drawn.
  void *tensor = nullptr; ///< The last tensor, which the next may be too.
  /// What the call may make: where it puts it, and of what type.
  void *object = nullptr;
  std::type_index made = typeid(void);
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

template <typename... Args>
bool Fuzzer::call(miopenStatus_t (*function)(Args...), std::string_view name) {
  begin(name);
  const std::tuple<Args...> arguments{draw<Args>()...};
  std::optional<FailingNew> failure;
  if (failsAllocations && !traits.isDestroyer)
    failure.emplace(drawBelow(1u << drawBelow(10)));
  const miopenStatus_t status = std::apply(function, arguments);
  failure.reset();
  lastStatus = status;
  EXPECT_GE(status, miopenStatusSuccess) << name;
  EXPECT_LE(status, miopenStatusVersionMismatch) << name;
  // Nothing that a client can hold is uninitialised.
  EXPECT_NE(status, miopenStatusNotInitialized) << name;
  if (status != miopenStatusSuccess)
    return false;
  finish();
  return true;
}

template <typename Result, typename... Args>
bool Fuzzer::call(Result *(*function)(Args...), std::string_view name) {
  begin(name);
  const std::tuple<Args...> arguments{draw<Args>()...};
  EXPECT_NE(std::apply(function, arguments), nullptr) << name;
  return true;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

template <typename T>
T Fuzzer::draw() {
  using Value = std::remove_const_t<T>;
  if constexpr (std::is_enum_v<Value>) {
    return static_cast<Value>(isKind || drawBelow(8) ? drawBelow(10)
                                                     : drawNumber<int>());
  } else if constexpr (std::is_same_v<Value, bool>) {
    return drawBelow(2);
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return drawArgumentNumber<Value>();
  } else if constexpr (std::is_function_v<std::remove_pointer_t<Value>>) {
    return isNull() ? nullptr : reinterpret_cast<Value>(+[] {});
  } else if constexpr (std::is_same_v<Value, const char *>) {
    return drawText();
  } else if constexpr (std::is_same_v<Value, hipStream_t> ||
                       std::is_void_v<std::remove_pointer_t<Value>>) {
    return reinterpret_cast<Value>(const_cast<void *>(drawData()));
  } else if constexpr (kIsObject<Value>) {
    return drawObject<Value>();
  } else {
    return drawPointer<Value>();
  }
}

template <typename T>
T Fuzzer::drawNumber() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr T kWild[] = {-1,
                                  Limits::max(),
                                  Limits::infinity(),
                                  Limits::quiet_NaN(),
                                  Limits::denorm_min(),
                                  77};
    static constexpr T kKind[] = {0, T(1e-5), T(0.5), 1, 2};
    return isKind || drawBelow(2) ? pick(kKind) : pick(kWild);
  } else {
    // Ids of solutions are among the numbers of 64 bits.
    static constexpr T kKind[] = {0, 1, 1, 2, 2, 3, 4, 6};
    static constexpr T kIds[] = {T(1001), T(1002), T(1003)};
    static constexpr T kWild[] = {T(-1),
                                  5,
                                  8,
                                  16,
                                  77,
                                  T(1) << (Limits::digits - 2),
                                  Limits::min(),
                                  Limits::max(),
                                  T(Limits::max() / 2 + 1),
                                  T(int64_t(1) << 31),
                                  T(int64_t(1) << 32)};
    if (sizeof(T) == 8 && drawBelow(8) == 0)
      return pick(kIds);
    return isKind || drawBelow(2) ? pick(kKind) : pick(kWild);
  }
}

/// A number that may be the length of an array.
template <typename T>
T Fuzzer::drawArgumentNumber() {
  const T number = drawNumber<T>();
  if constexpr (std::is_integral_v<T>)
    if (traits.hasArrays)
      return drawBelow(4) ? std::min(number, static_cast<T>(arrayLength))
                          : static_cast<T>(arrayLength);
  return number;
}

/// Null, or one that is usual or that a call made; of a destroying call, one
/// that a call made, for the last time.
template <typename T>
T Fuzzer::drawObject() {
  const std::type_index type = typeid(T);
  if (bad != Bad::None && objectCount++ == badIndex)
    return static_cast<T>(chooseBad(type));
  // A call with a bad object changes nothing.
  const bool mustOwn = bad == Bad::None && (traits.isDestroyer ||
                                            (traits.changesObject && !target));
  void *chosen = nullptr;
  if (isKind && !mustOwn && type == typeid(miopenTensorDescriptor_t) &&
      drawBelow(4))
    chosen = tensor;
  if (!chosen && !isNull())
    chosen = chooseFrom(objects[type], usual.get(type), mustOwn);
  if (type == typeid(miopenTensorDescriptor_t))
    tensor = chosen;
  if (!target)
    target = chosen;
  return static_cast<T>(chosen);
}

/// To an array; to an empty slot where an object is made.
template <typename T>
T Fuzzer::drawPointer() {
  if (isNull())
    return nullptr;
  using Pointed = std::remove_pointer_t<T>;
  using Target = std::remove_cv_t<Pointed>;
  if constexpr (std::is_pointer_v<Target> && !std::is_const_v<Pointed>) {
    object = nullptr;
    made = typeid(Target);
    return reinterpret_cast<T>(&object);
  } else {
    // The only bytes that are written are those of a solution.
    constexpr size_t kLength = sizeof(Target) == 1 ? 4096 : kArrayLength;
    auto *array = static_cast<Target *>(takeBlock(kLength * sizeof(Target)));
    for (size_t i = 0; i < kArrayLength; ++i)
      fill(*new (&array[i]) Target(), i);
    return array;
  }
}

/// An element of an array, or of what a call writes.
template <typename T>
void Fuzzer::fill(T &value, size_t index) {
  if constexpr (std::is_same_v<T, miopenTensorArgument_t>) {
    value = {static_cast<miopenTensorArgumentId_t>(isKind ? index % 3 + 1
                                                          : drawBelow(5)),
             nullptr, const_cast<void *>(drawData())};
  } else if constexpr (requires { value.structSize; }) {
    if (drawBelow(4))
      value.structSize = sizeof value;
    if constexpr (std::is_same_v<T, tesseraProblemArguments>)
      fillArguments(value);
  } else if constexpr (std::is_pointer_v<T>) {
    const Bad kept = std::exchange(bad, Bad::None);
    value = draw<T>();
    bad = kept;
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    value = drawNumber<T>();
  }
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_FUZZER_H
