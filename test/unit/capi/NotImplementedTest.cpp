//===- NotImplementedTest.cpp - Tests of names without a body -------------===//
//
// miopen.h is not included, because every name is called without arguments,
// which no function may read.
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>
#include <string>

extern "C" const char *tesseraGetLastErrorMessage();

#define TESSERA_NOT_IMPLEMENTED(name) extern "C" int name();
#include "capi/lib/Common/NotImplemented.def"

// Each function returns miopenStatusNotImplemented and leaves a message that
// begins with its name.
TEST(NotImplemented, EveryNameSaysSo) {
  int count = 0;
#define TESSERA_NOT_IMPLEMENTED(name)                                          \
  EXPECT_EQ(name(), 6) << #name;                                               \
  EXPECT_EQ(tesseraGetLastErrorMessage(),                                      \
            std::string(#name ": the function is not implemented"));           \
  ++count;
#include "capi/lib/Common/NotImplemented.def"
  EXPECT_GT(count, 0);
}
