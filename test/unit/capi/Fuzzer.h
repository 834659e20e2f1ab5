//===- Fuzzer.h - Calls with arguments drawn by their types ----*- C++ -*--===//
//
// Half of the calls are kind: they get usual objects, small numbers and hardly
// a null pointer, so that many of them get to their end. The other half is wild
// and gets whatever the types allow. Only the rules that a function cannot
// check are kept: a destroyed object is not used again, and arrays are as long
// as their length says.
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

/// Whether T is a struct of the API that is no object behind a handle.
template <typename T>
inline constexpr bool kIsPlain = std::is_same_v<T, miopenConvAlgoPerf_t> ||
                                 std::is_same_v<T, miopenConvSolution_t> ||
                                 std::is_same_v<T, miopenTensorArgument_t> ||
                                 std::is_same_v<T, tesseraKernelInfo> ||
                                 std::is_same_v<T, tesseraCounters> ||
                                 std::is_same_v<T, tesseraProblemArguments>;

/// Whether T is a pointer to an object of the API.
template <typename T,
          typename Pointed =
              std::remove_cv_t<std::remove_pointer_t<std::remove_cv_t<T>>>>
inline constexpr bool kIsObject =
    std::is_pointer_v<T> && std::is_class_v<Pointed> && !kIsPlain<Pointed> &&
    !std::is_same_v<std::remove_cv_t<T>, hipStream_t>;

/// Properties of a function's arguments that its name shows.
struct FunctionTraits {
  explicit FunctionTraits(std::string_view name);

  bool isMaker;       ///< Makes an object, for its caller or a plan.
  bool isOpMaker;     ///< A plan owns the object.
  bool isDestroyer;   ///< Destroys its only object.
  bool changesObject; ///< Changes its first object.
  bool hasArrays;     ///< Their lengths, which it cannot check, are given.
  bool readsSolution; ///< Reads bytes, not a problem's text.
  bool isNetwork;     ///< Takes time steps, and sizes of large buffers.
  bool hasSteps;      ///< Reads them from an array that is not const.
  bool describes;     ///< Sets one of its tensor descriptors.
};

/// A client with one thread. Its seed determines all its calls.
class Fuzzer {
public:
  explicit Fuzzer(unsigned seed) : random(seed) {}

  /// Calls the function; whether it succeeded.
  template <typename... Args>
  bool call(miopenStatus_t (*function)(Args...), std::string_view name);
  /// Calls a function that cannot fail.
  template <typename Result, typename... Args>
  bool call(Result *(*function)(Args...), std::string_view name);

  /// The number of objects that were made and not destroyed.
  size_t countObjects() const;

  uint32_t drawBelow(uint32_t end) { return random() % end; }

  /// What a call gets instead of one of its objects.
  enum class Bad { None, OtherType, Destroyed };
  /// From here on each call gets a bad object as object `index`, and is kind in
  /// all else. Destroyed ones come from `destroyed`, whose memory is not used
  /// again.
  void spoilObject(size_t index, Bad kind) {
    bad = kind;
    badIndex = index;
  }
  void setDestroyed(UsualObjects::Map objects) {
    destroyed = std::move(objects);
  }
  miopenStatus_t getLastStatus() const { return lastStatus; }

  /// The number of objects among the arguments of a function, without those in
  /// arrays.
  template <typename Result, typename... Args>
  static constexpr size_t countObjects(Result (*)(Args...)) {
    return (0 + ... + kIsObject<Args>);
  }

  /// From here on an allocation fails in most calls that destroy nothing.
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
  std::map<std::type_index, Pool> objects; ///< Objects that calls have made.
  std::map<void *, Pool> planOps;          ///< Operations by their plans.
  bool failsAllocations = false;
  Bad bad = Bad::None;
  size_t badIndex = 0;
  UsualObjects::Map destroyed;
  miopenStatus_t lastStatus = miopenStatusSuccess;
  // The state of the current call:
  FunctionTraits traits{""};
  bool isKind = false;
  size_t arrayLength = kArrayLength;
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  void *target = nullptr; ///< The first object.
  size_t objectCount = 0; ///< Number of objects so far.
  void *tensor = nullptr; ///< The last tensor; the next may be the same.
  /// The slot and the type of the object that the call may make.
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
  // No object that a client can hold is uninitialised, so that no call returns
  // this.
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
    // Numbers of 64 bits may be ids of solutions.
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

/// Draws a number that may be the length of an array.
template <typename T>
T Fuzzer::drawArgumentNumber() {
  const T number = drawNumber<T>();
  if constexpr (std::is_same_v<T, size_t>)
    if (traits.isNetwork)
      return isKind ? 4096 : number;
  if constexpr (std::is_integral_v<T>)
    if (traits.hasArrays || (traits.isNetwork && sizeof(T) == sizeof(int)))
      return drawBelow(4) ? std::min(number, static_cast<T>(arrayLength))
                          : static_cast<T>(arrayLength);
  return number;
}

/// Draws null, a usual object or one that a call made. A call that destroys
/// gets one that a call made.
template <typename T>
T Fuzzer::drawObject() {
  const std::type_index type = typeid(T);
  if (bad != Bad::None && objectCount++ == badIndex)
    return static_cast<T>(chooseBad(type));
  // A call with a bad object changes nothing, so that it may get a usual
  // object.
  const bool isTensor = type == typeid(miopenTensorDescriptor_t);
  const bool mustOwn = bad == Bad::None && (traits.isDestroyer ||
                                            (traits.changesObject && !target) ||
                                            (traits.describes && isTensor));
  void *chosen = nullptr;
  if (isKind && !mustOwn && isTensor && drawBelow(4))
    chosen = traits.isNetwork ? usual.getStep() : tensor;
  if (!chosen && !isNull())
    chosen = chooseFrom(objects[type], usual.get(type), mustOwn);
  if (type == typeid(miopenTensorDescriptor_t))
    tensor = chosen;
  if (!target)
    target = chosen;
  return static_cast<T>(chosen);
}

/// Draws a pointer to an array, or to an empty slot if the call makes an
/// object.
template <typename T>
T Fuzzer::drawPointer() {
  if (isNull())
    return nullptr;
  using Pointed = std::remove_pointer_t<T>;
  using Target = std::remove_cv_t<Pointed>;
  if constexpr (std::is_pointer_v<Target> && !std::is_const_v<Pointed>) {
    if (!traits.hasSteps) {
      object = nullptr;
      made = typeid(Target);
      return reinterpret_cast<T>(&object);
    }
  }
  // The only array of bytes that is written is that of a solution.
  constexpr size_t kLength = sizeof(Target) == 1 ? 4096 : kArrayLength;
  auto *array = static_cast<Target *>(takeBlock(kLength * sizeof(Target)));
  for (size_t i = 0; i < kArrayLength; ++i)
    fill(*new (&array[i]) Target(), i);
  return array;
}

/// Draws an element of an array, or the old value of what a call writes.
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
