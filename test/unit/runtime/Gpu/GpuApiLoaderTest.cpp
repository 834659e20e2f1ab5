//===- GpuApiLoaderTest.cpp - Which HIP runtime is chosen -----------------===//
//
// A runtime stays loaded until the process ends and then affects the next
// choice, so each case chooses in a child.
//
//===----------------------------------------------------------------------===//

#include "runtime/Gpu/GpuApiLoader.h"

#include "test/unit/Support/FakeHip.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

using namespace tessera;
using namespace tessera::test;

static HipCandidate make(DeviceKind kind, const char *variant) {
  return {kind, getFakeHipPath(variant)};
}

static const HipCandidate kAmd = make(DeviceKind::Amd, "fake-hip");
static const HipCandidate kNoDevice =
    make(DeviceKind::Amd, "fake-hip-no-device");
static const HipCandidate kIncomplete =
    make(DeviceKind::Amd, "fake-hip-incomplete");
static const HipCandidate kMissing = {DeviceKind::Amd, "libnot-there.so"};
static const HipCandidate kEmulated =
    make(DeviceKind::Emulated, "fake-hip-emulated");

using Candidates = std::vector<HipCandidate>;

/// Prints the choice, or why there is none, and exits.
[[noreturn]] static void printChoice(const char *setting,
                                     Candidates candidates) {
  ErrorOr<GpuApi> api = GpuApiLoader(std::move(candidates)).load(setting);
  if (api)
    std::fprintf(stderr, "chose %s %s\n",
                 std::string(getName(api->getKind())).c_str(),
                 api->getPath().c_str());
  else
    std::fprintf(stderr, "code %d: %s\n",
                 static_cast<int>(api.getStatus().getCode()),
                 api.getStatus().getMessage().c_str());
  std::exit(0);
}

/// Loads the runtime as an application would have done before.
static void loadBefore(const HipCandidate &candidate, int scope) {
  if (!dlopen(candidate.file.c_str(), RTLD_NOW | scope))
    std::exit(1);
}

static const testing::ExitedWithCode kExitsWell(0);

// With no setting the first runtime that has a device is taken.
TEST(GpuApiLoaderDeathTest, TakesTheFirstWithADevice) {
  EXPECT_EXIT(printChoice("", {kAmd, kEmulated}), kExitsWell,
              "chose amd .*libfake-hip.so");
  EXPECT_EXIT(
      printChoice("", {kMissing, kIncomplete, kNoDevice, kAmd, kEmulated}),
      kExitsWell, "chose amd .*libfake-hip.so");
}

// Without a GPU the emulated device is taken, and the user is informed.
TEST(GpuApiLoaderDeathTest, FallsBackToTheEmulatedDevice) {
  EXPECT_EXIT(printChoice("", {kMissing, kNoDevice, kEmulated}), kExitsWell,
              "Warning no GPU was found; kernels run on the emulated device\n"
              "chose emulated .*libfake-hip-emulated.so");
}

// A setting restricts the choice to its kind.
TEST(GpuApiLoaderDeathTest, ObeysTheSetting) {
  EXPECT_EXIT(printChoice("emulated", {kAmd, kEmulated}), kExitsWell,
              "^chose emulated .*libfake-hip-emulated.so");
  EXPECT_EXIT(printChoice("emulated:gfx950", {kAmd, kEmulated}), kExitsWell,
              "^chose emulated .*libfake-hip-emulated.so");
  EXPECT_EXIT(printChoice("amd", {kNoDevice, kAmd, kEmulated}), kExitsWell,
              "^chose amd .*libfake-hip.so");
}

// If no runtime can be used, the failure has the reason of every candidate.
TEST(GpuApiLoaderDeathTest, SaysWhyThereIsNone) {
  EXPECT_EXIT(
      printChoice("amd", {kMissing, kIncomplete, kNoDevice, kEmulated}),
      kExitsWell,
      "TESSERA_DEVICE is 'amd': no HIP runtime of kind 'amd' has a device "
      "\\(libnot-there.so: cannot open.*; .*incomplete.so has no function "
      "hipModuleUnload; .*no-device.so: hipGetDeviceCount: ");
  EXPECT_EXIT(printChoice("nvidia", {kAmd, kEmulated}), kExitsWell,
              "TESSERA_DEVICE is 'nvidia': no HIP runtime of kind 'nvidia'");
  EXPECT_EXIT(printChoice("", {kNoDevice}), kExitsWell,
              "code 5: no HIP runtime of kind 'amd'.*'nvidia'.*'emulated'");
}

// An unknown setting is the user's mistake.
TEST(GpuApiLoaderDeathTest, RefusesOtherSettings) {
  for (const char *setting : {"cuda", "AMD", "amd:gfx942", ":gfx942"})
    EXPECT_EXIT(printChoice(setting, {kAmd}), kExitsWell,
                "code 1: TESSERA_DEVICE is '.*', but must be amd, nvidia, "
                "emulated or emulated:<chip>");
  EXPECT_EXIT(printChoice("emulated:gfx941", {kEmulated}), kExitsWell,
              "code 1: TESSERA_DEVICE is 'emulated:gfx941': 'gfx941' is no "
              "target .is gfx942 meant.*; there are gfx906, .*gfx1201");
}

// The runtime that the application uses is taken, even if another one comes
// first.
TEST(GpuApiLoaderDeathTest, PrefersALoadedRuntime) {
  EXPECT_EXIT(
      {
        loadBefore(kEmulated, RTLD_GLOBAL);
        printChoice("", {kAmd, kEmulated});
      },
      kExitsWell, "^chose emulated .*libfake-hip-emulated.so");
}

// It is also found in a local scope, into which Python loads it.
TEST(GpuApiLoaderDeathTest, FindsARuntimeLoadedLocally) {
  EXPECT_EXIT(
      {
        loadBefore(kEmulated, RTLD_LOCAL);
        printChoice("", {kAmd, kEmulated});
      },
      kExitsWell, "^chose emulated .*libfake-hip-emulated.so");
}

// A loaded runtime that has no device is not used.
TEST(GpuApiLoaderDeathTest, SkipsALoadedRuntimeWithoutADevice) {
  EXPECT_EXIT(
      {
        loadBefore(kNoDevice, RTLD_GLOBAL);
        printChoice("", {kNoDevice, kAmd});
      },
      kExitsWell, "^chose amd .*libfake-hip.so");
}

// An emulator that the application loaded under another name, as a drop-in for
// libamdhip64, is taken instead of a second one with memory of its own.
TEST(GpuApiLoaderDeathTest, KnowsOurRuntimesUnderOtherNames) {
  EXPECT_EXIT(
      {
        loadBefore(kEmulated, RTLD_GLOBAL);
        printChoice("emulated", {kAmd, {DeviceKind::Emulated, "libnone.so"}});
      },
      kExitsWell, "^chose emulated .*libfake-hip-emulated.so");
  HipCandidate disguised = {DeviceKind::Amd, kEmulated.file};
  EXPECT_EXIT(printChoice("amd", {disguised}), kExitsWell,
              "libfake-hip-emulated.so is the runtime of 'emulated'");
}

// Our own runtimes are found beside our binary, without a search path.
TEST(GpuApiLoaderDeathTest, FindsOurLibrariesBesideTheBinary) {
  HipCandidate ours = {DeviceKind::Emulated, "libfake-hip-emulated.so", true};
  EXPECT_EXIT(printChoice("emulated", {ours}), kExitsWell, "^chose emulated ");
  ours.isOurs = false;
  EXPECT_EXIT(printChoice("emulated", {ours}), kExitsWell, "cannot open");
}

// Debian's HIP may be installed where no GPU is: it must not fail in another
// way than "no device".
TEST(GpuApiLoaderDeathTest, SurvivesTheInstalledRuntimes) {
  EXPECT_EXIT(
      {
        ErrorOr<GpuApi> api = GpuApiLoader().load("amd");
        if (!api && api.getStatus().getCode() != StatusCode::Unavailable)
          std::exit(1);
        std::exit(0);
      },
      kExitsWell, "");
}
