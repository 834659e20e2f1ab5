//===- EnvTest.cpp - The spellings of environment variables ---------------===//

#include "runtime/Base/Env.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tessera;

static constexpr const char *kName = "TESSERA_ENV_TEST";

static std::optional<bool> readBool(const char *value) {
  setenv(kName, value, 1);
  return getEnvBool(kName);
}

static std::optional<int64_t> readInt(const char *value) {
  setenv(kName, value, 1);
  return getEnvInt(kName);
}

// Unset is not the same as empty.
TEST(Env, TellsUnsetFromEmpty) {
  unsetenv(kName);
  EXPECT_EQ(getEnvText(kName), std::nullopt);
  EXPECT_EQ(getEnvBool(kName), std::nullopt);
  EXPECT_EQ(getEnvInt(kName), std::nullopt);
  setenv(kName, "", 1);
  EXPECT_EQ(getEnvText(kName), "");
  EXPECT_EQ(getEnvBool(kName), std::nullopt);
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
  for (const char *word : {"", "x", "7x", "1.5", "99999999999999999999"})
    EXPECT_EQ(readInt(word), std::nullopt) << word;
}
