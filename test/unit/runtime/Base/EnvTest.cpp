//===- EnvTest.cpp - The spellings of environment variables ---------------===//

#include "runtime/Base/Env.h"
#include "runtime/Base/TileSetting.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <vector>

using namespace tessera;

static constexpr const char *kName = "TESSERA_ENV_TEST";

/// The reported sentences. The log's settings are read once in a process and
/// LogTest's children inherit them, so nothing here may reach the log.
static std::vector<std::string> sentences;
static void keepSentence(const std::string &sentence) {
  sentences.push_back(sentence);
}

static std::optional<bool> readBool(const char *value) {
  setenv(kName, value, 1);
  return getEnvBool(kName, keepSentence);
}

static std::optional<int64_t> readInt(const char *value) {
  setenv(kName, value, 1);
  return getEnvInt(kName, kLeastEnvInt, kMostEnvInt, keepSentence);
}

// Unset is not the same as empty, which only a text can be.
TEST(Env, TellsUnsetFromEmpty) {
  sentences.clear();
  unsetenv(kName);
  EXPECT_EQ(getEnvText(kName), std::nullopt);
  EXPECT_EQ(getEnvBool(kName), std::nullopt);
  EXPECT_EQ(getEnvInt(kName), std::nullopt);
  setenv(kName, "", 1);
  EXPECT_EQ(getEnvText(kName), "");
  EXPECT_EQ(readBool(""), std::nullopt);
  EXPECT_EQ(readInt(""), std::nullopt);
  EXPECT_TRUE(sentences.empty());
}

// Booleans have every spelling that MIOpen takes, in any case.
TEST(Env, ReadsBooleansAsMiopenDoes) {
  for (const char *word :
       {"1", "on", "yes", "true", "enable", "enabled", "ON", "True", "eNaBlEd"})
    EXPECT_EQ(readBool(word), true) << word;
  for (const char *word : {"0", "off", "no", "false", "disable", "disabled",
                           "OFF", "False", "DISABLED"})
    EXPECT_EQ(readBool(word), false) << word;
  for (const char *word : {"2", "maybe", "1 ", "y"})
    EXPECT_EQ(readBool(word), std::nullopt) << word;
}

// Integers are read whole or not at all.
TEST(Env, ReadsIntegers) {
  EXPECT_EQ(readInt("7"), 7);
  EXPECT_EQ(readInt("-3"), -3);
  for (const char *word :
       {"", "x", "7x", "1.5", "0x10", "99999999999999999999"})
    EXPECT_EQ(readInt(word), std::nullopt) << word;
}

// Values with names are known by name, in any case, or by number.
TEST(Env, ReadsWords) {
  static constexpr EnvWord kWords[] = {{"SLOW", 1}, {"FAST", 7}};
  for (auto [text, value] :
       {std::pair{"slow", 1}, {"Fast", 7}, {"1", 1}, {"7", 7}}) {
    setenv(kName, text, 1);
    EXPECT_EQ(getEnvWord(kName, kWords, keepSentence), value) << text;
  }
}

// Every reader reports a value that it does not accept once, with what it would
// accept; a second reader of the variable is silent.
TEST(Env, TellsOnceWhatIsAllowed) {
  static constexpr EnvWord kWords[] = {{"SLOW", 1}, {"FAST", 7}, {"OFF", 9}};
  struct Case {
    const char *value;
    std::function<bool(const char *)> read; ///< Whether there is a value.
    const char *allowed;
  };
  const Case cases[] = {
      {"maybe",
       [](const char *name) {
         return getEnvBool(name, keepSentence).has_value();
       },
       "1, on, yes, true, enable or enabled, or 0, off, no, false, disable or "
       "disabled"},
      {"1e3",
       [](const char *name) {
         return getEnvInt(name, kLeastEnvInt, kMostEnvInt, keepSentence)
             .has_value();
       },
       "a whole number"},
      {"0",
       [](const char *name) {
         return getEnvInt(name, 1, kMostEnvInt, keepSentence).has_value();
       },
       "a whole number of at least 1"},
      {"61",
       [](const char *name) {
         return getEnvInt(name, 1, 60, keepSentence).has_value();
       },
       "a whole number from 1 to 60"},
      {"-5",
       [](const char *name) {
         return getEnvInt(name, 1, 60, keepSentence).has_value();
       },
       "a whole number from 1 to 60"},
      {"2",
       [](const char *name) {
         return getEnvWord(name, kWords, keepSentence).has_value();
       },
       "SLOW (1), FAST (7) or OFF (9)"},
  };
  int number = 0;
  for (const Case &row : cases) {
    const std::string name = "TESSERA_ENV_TEST_" + std::to_string(++number);
    setenv(name.c_str(), row.value, 1);
    sentences.clear();
    EXPECT_FALSE(row.read(name.c_str()));
    EXPECT_FALSE(row.read(name.c_str()));
    EXPECT_EQ(sentences,
              std::vector{name + " is '" + row.value + "', but must be " +
                          row.allowed + "; it counts as not set"});
  }
}

// TESSERA_TILE is a tile of an existing algorithm. The compiler, which passes a
// null report, leaves the report to others.
TEST(Env, ReadsTheTile) {
  sentences.clear();
  setenv("TESSERA_TILE", "igemm-m1", 1);
  EXPECT_EQ(getEnvTile(keepSentence), (TileConfig{"igemm", "m1"}));
  EXPECT_TRUE(sentences.empty());
  for (const char *text : {"nonsense", "igem-m1", "@", "igemm-"}) {
    setenv("TESSERA_TILE", text, 1);
    EXPECT_EQ(getEnvTile(nullptr), std::nullopt) << text;
    EXPECT_TRUE(sentences.empty()) << text;
  }
  EXPECT_EQ(getEnvTile(keepSentence), std::nullopt);
  EXPECT_EQ(getEnvTile(keepSentence), std::nullopt);
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0].rfind("TESSERA_TILE is 'igemm-', but must be a tile "
                               "such as 'igemm-",
                               0),
            0u)
      << sentences[0];
  unsetenv("TESSERA_TILE");
}
