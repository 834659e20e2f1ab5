//===- RuntimeCompilerTest.cpp - Other people's compilers -----------------===//

#include "runtime/Gpu/RuntimeCompiler.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tessera;

// Every compiler accepts this source; NVRTC has another name for the attribute.
static constexpr const char *kKernel = R"(
#ifndef VALUE
#error VALUE is not defined
#endif
#ifdef __CUDACC_RTC__
extern "C" __global__
#else
extern "C" __attribute__((global))
#endif
void store(int *to) { *to = VALUE; }
)";

/// Checks that a right source becomes an ELF file, options have an effect, and
/// a wrong source is refused with the compiler's own words.
static void checkCompiler(const RuntimeCompiler &compiler, const char *chip) {
  auto code = compiler.compile(kKernel, chip, {"-DVALUE=3"});
  ASSERT_TRUE(code) << code.getStatus().getMessage();
  ASSERT_GE(code->size(), 4u);
  EXPECT_EQ(std::string(code->data(), 4), "\177ELF");
  auto refused = compiler.compile(kKernel, chip);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.getStatus().getCode(), StatusCode::InvalidArgument);
  const std::string &message = refused.getStatus().getMessage();
  EXPECT_NE(message.find("VALUE is not defined"), std::string::npos) << message;
  EXPECT_NE(message.find(compiler.getName()), std::string::npos) << message;
  EXPECT_NE(message.find(chip), std::string::npos) << message;
}

// The clang in PATH is run as a program.
TEST(RuntimeCompiler, Clang) {
  auto clang = findClang();
  if (!clang)
    GTEST_SKIP() << clang.getStatus().getMessage();
  checkCompiler(**clang, "gfx942:sramecc+:xnack-");
}

// hiprtc is found, wherever HIP 5, 6 or 7 keeps it.
TEST(RuntimeCompiler, HipRtc) {
  auto rtc = openHipRtc();
  if (!rtc)
    GTEST_SKIP() << rtc.getStatus().getMessage();
  checkCompiler(**rtc, "gfx90a");
}

// NVRTC has the same functions under other names.
TEST(RuntimeCompiler, NvRtc) {
  auto rtc = openNvRtc();
  if (!rtc)
    GTEST_SKIP() << rtc.getStatus().getMessage();
  checkCompiler(**rtc, "sm_90");
}

// Without any clang the failure says so, and no program is run.
TEST(RuntimeCompiler, NoClangInPath) {
  const char *path = std::getenv("PATH");
  const std::string saved = path ? path : "";
  setenv("PATH", "/nonexistent:relative", 1);
  auto clang = findClang();
  setenv("PATH", saved.c_str(), 1);
  ASSERT_FALSE(clang);
  EXPECT_EQ(clang.getStatus().getCode(), StatusCode::NotFound);
  EXPECT_EQ(clang.getStatus().getMessage(), "there is no clang in PATH");
}

// Each kind of device uses the compilers that make code for it, and the failure
// names all of them when there is none.
TEST(RuntimeCompiler, DevicesHaveTheirOwn) {
  if (auto rtc = findRuntimeCompiler(DeviceKind::Nvidia))
    EXPECT_NE((*rtc)->getName().find("nvrtc"), std::string::npos);
  else
    EXPECT_NE(rtc.getStatus().getMessage().find("libnvrtc.so.12"),
              std::string::npos);
  if (auto clang = findClang()) {
    auto emulated = findRuntimeCompiler(DeviceKind::Emulated);
    ASSERT_TRUE(emulated);
    EXPECT_EQ((*emulated)->getName(), (*clang)->getName());
  }
}
