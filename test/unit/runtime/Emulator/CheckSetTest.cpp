//===- CheckSetTest.cpp - Which checks a launch runs under ----------------===//

#include "runtime/Emulator/Check/CheckSet.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

static CheckSet parse(std::string_view text) {
  std::string unknown;
  std::optional<CheckSet> set = CheckSet::parse(text, &unknown);
  EXPECT_TRUE(set) << text << ": " << unknown;
  return set.value_or(CheckSet::none());
}

// Each check is found by its name, and only that one is on.
TEST(CheckSet, ParsesEachName) {
  for (unsigned i = 0; i < kCheckNames.size(); ++i) {
    CheckSet set = parse(kCheckNames[i]);
    for (unsigned other = 0; other < kCheckNames.size(); ++other)
      EXPECT_EQ(set.has(static_cast<Check>(other)), other == i)
          << kCheckNames[i];
  }
}

// "all" is every check, "none" and the empty text are none; the defaults are
// the checks whose cost is negligible.
TEST(CheckSet, ParsesWords) {
  CheckSet all = parse("all");
  for (unsigned i = 0; i < kCheckNames.size(); ++i)
    EXPECT_TRUE(all.has(static_cast<Check>(i)));
  EXPECT_TRUE(parse("none").isEmpty());
  EXPECT_TRUE(parse("").isEmpty());
  CheckSet defaults = parse("default");
  EXPECT_TRUE(defaults.has(Check::BarrierPairs));
  EXPECT_FALSE(defaults.has(Check::Barriers));
  EXPECT_FALSE(defaults.has(Check::LdsRaces));
}

// Words take effect from left to right; a minus removes a check again.
TEST(CheckSet, ParsesListsInOrder) {
  CheckSet set = parse("all,-global-races,-waits");
  EXPECT_TRUE(set.has(Check::LdsRaces));
  EXPECT_FALSE(set.has(Check::GlobalRaces));
  EXPECT_FALSE(set.has(Check::Waits));
  set = parse("default,lds-races");
  EXPECT_TRUE(set.has(Check::BarrierPairs));
  EXPECT_TRUE(set.has(Check::LdsRaces));
  EXPECT_TRUE(parse("waits,none").isEmpty());
  EXPECT_FALSE(parse("waits,-waits").has(Check::Waits));
}

// A word that is not a check is returned; a group of checks cannot have a
// minus.
TEST(CheckSet, RefusesUnknownWords) {
  for (std::string text : {"wait", "-all", "all, waits", "-", "Waits"}) {
    std::string unknown;
    EXPECT_FALSE(CheckSet::parse(text, &unknown)) << text;
    EXPECT_FALSE(unknown.empty());
    EXPECT_NE(text.find(unknown), std::string::npos);
  }
}
