//===- CheckSet.h - Which checks a launch runs under -----------*- C++ -*--===//
//
// The checks of bounds and alignment and the watchdog are always on, because
// their cost is negligible. The others are chosen by name.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_CHECKSET_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_CHECKSET_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::emulator {

enum class Check : uint8_t {
  BarrierPairs, ///< Waves of a group were paired at the wrong barriers.
  Barriers,     ///< Not all waves and lanes of a group reach the same barrier.
  Waits,        ///< A register is used before its load was waited for.
  Initialized,  ///< LDS or registers are used that nobody has written.
  LdsRaces,     ///< Two waves touch the same LDS bytes with no barrier between.
  GlobalRaces,  ///< Two groups of a launch touch the same global bytes.
};
inline constexpr std::array<std::string_view, 6> kCheckNames = {
    "barrier-pairs", "barriers",  "waits",
    "initialized",   "lds-races", "global-races"};
/// Descriptions of the checks for help texts, in the same order.
inline constexpr std::array<std::string_view, kCheckNames.size()> kCheckTexts =
    {"waves of a group meet at the wrong barriers",
     "not all waves and lanes of a group reach the same barrier",
     "a register is used before its load was waited for",
     "LDS or registers are used that nobody has written",
     "two waves touch the same LDS bytes with no barrier between",
     "two groups of a launch touch the same global bytes"};

class CheckSet {
public:
  static CheckSet none() { return {}; }
  /// The checks that are on unless the user asks for others.
  static CheckSet defaults() { return CheckSet().with(Check::BarrierPairs); }
  static CheckSet all();

  bool has(Check check) const { return bits >> unsigned(check) & 1; }
  bool isEmpty() const { return bits == 0; }
  CheckSet with(Check check) const;
  CheckSet without(Check check) const;

  /// Parses "all", "default", "none", or a list of names, each with an optional
  /// minus that removes the check again: "all,-global-races". Returns nothing
  /// when `text` has a word that is none of these, and stores that word in
  /// `unknown`.
  static std::optional<CheckSet> parse(std::string_view text,
                                       std::string *unknown = nullptr);

private:
  uint32_t bits = 0;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_CHECKSET_H
