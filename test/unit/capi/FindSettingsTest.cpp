//===- FindSettingsTest.cpp - What the environment asks of Find -----------===//

#include "capi/lib/Find/FindSettings.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tessera::capi;

namespace {
/// Clears the variables before and after each test.
struct FindSettingsTest : testing::Test {
  static constexpr const char *kNames[] = {
      "MIOPEN_FIND_ENFORCE", "MIOPEN_FIND_MODE", "MIOPEN_TUNING_TIME_MS_MAX",
      "MIOPEN_DEBUG_TUNING_ITERATIONS_MAX", "TESSERA_BACKGROUND_TUNING"};
  void clear() {
    for (const char *name : kNames)
      unsetenv(name);
  }
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static FindSettings read(const char *name, const char *value) {
    setenv(name, value, 1);
    return readFindSettings();
  }
  /// The text on stderr while a variable is read.
  static std::string getWarning(const char *name, const char *value) {
    testing::internal::CaptureStderr();
    (void)read(name, value);
    return testing::internal::GetCapturedStderr();
  }
};
} // namespace

// Without variables there is no search, and a search that is asked for is
// short.
TEST_F(FindSettingsTest, Defaults) {
  const FindSettings settings = readFindSettings();
  EXPECT_FALSE(settings.mustSearch());
  EXPECT_FALSE(settings.tunesInBackground);
  EXPECT_EQ(settings.searchCandidates, 8u);
  EXPECT_EQ(settings.searchSeconds, 30);
}

// Numbers and names, in upper or lower case, mean the same; only two of them
// search.
TEST_F(FindSettingsTest, Enforce) {
  const std::pair<const char *, FindEnforce> cases[] = {
      {"1", FindEnforce::None},
      {"none", FindEnforce::None},
      {"2", FindEnforce::DbUpdate},
      {"DB_UPDATE", FindEnforce::DbUpdate},
      {"3", FindEnforce::Search},
      {"Search", FindEnforce::Search},
      {"4", FindEnforce::SearchDbUpdate},
      {"SEARCH_DB_UPDATE", FindEnforce::SearchDbUpdate},
      {"5", FindEnforce::DbClean},
      {"db_clean", FindEnforce::DbClean}};
  for (auto [text, enforce] : cases) {
    const FindSettings settings = read("MIOPEN_FIND_ENFORCE", text);
    EXPECT_EQ(settings.enforce, enforce) << text;
    EXPECT_EQ(settings.mustSearch(), enforce == FindEnforce::Search ||
                                         enforce == FindEnforce::SearchDbUpdate)
        << text;
  }
}

// The limits of a search are read from their variables.
TEST_F(FindSettingsTest, Bounds) {
  EXPECT_EQ(read("MIOPEN_TUNING_TIME_MS_MAX", "1500").searchSeconds, 1.5);
  EXPECT_EQ(read("MIOPEN_DEBUG_TUNING_ITERATIONS_MAX", "3").searchCandidates,
            3u);
  EXPECT_TRUE(read("TESSERA_BACKGROUND_TUNING", "1").tunesInBackground);
}

// A value that is not known causes a warning and counts as not set.
TEST_F(FindSettingsTest, WarnsOfNonsense) {
  EXPECT_NE(getWarning("MIOPEN_FIND_ENFORCE", "9")
                .find("MIOPEN_FIND_ENFORCE is '9', but must be NONE (1), "),
            std::string::npos);
  EXPECT_EQ(readFindSettings().enforce, FindEnforce::None);
  EXPECT_NE(getWarning("MIOPEN_FIND_MODE", "4").find("MIOPEN_FIND_MODE is '4'"),
            std::string::npos);
  clear();
  EXPECT_NE(getWarning("MIOPEN_TUNING_TIME_MS_MAX", "soon").find("'soon'"),
            std::string::npos);
  EXPECT_EQ(readFindSettings().searchSeconds, 30);
  clear();
  for (const char *mode : {"1", "FAST", "hybrid", "5", "DYNAMIC_HYBRID"})
    EXPECT_EQ(getWarning("MIOPEN_FIND_MODE", mode), "") << mode;
}
