//===- Main.cpp - Runs the conformance set on one device ------------------===//
//
// usage: conformance [CASE...]      all cases if none is named
// The exit status is 2 if there is no device.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

using namespace conformance;

static Case *first;
static std::atomic<unsigned> failures;

Case::Case(const char *name, void (*run)(), bool isByNameOnly)
    : name(name), run(run), isByNameOnly(isByNameOnly), next(first) {
  first = this;
}

void conformance::fail(const char *what, size_t index, double got,
                       double want) {
  if (++failures <= 5)
    std::printf("    %s[%zu]: got %.17g, want %.17g\n", what, index, got, want);
}

void conformance::check(hipError_t error, const char *what) {
  if (error == hipSuccess)
    return;
  ++failures;
  std::printf("    %s: %s\n", what, hipGetErrorString(error));
}

static bool isWanted(const Case &one, int count, char **names) {
  for (int i = 1; i < count; ++i)
    if (std::string_view(names[i]) == one.name)
      return true;
  return count == 1 && !one.isByNameOnly;
}

int main(int count, char **names) {
  hipDeviceProp_t properties;
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess) {
    std::printf("no device\n");
    return 2;
  }
  unsigned cases = 0, failed = 0;
  for (Case *one = first; one; one = one->next) {
    if (!isWanted(*one, count, names))
      continue;
    failures = 0;
    one->run();
    ++cases;
    failed += failures != 0;
    if (failures)
      std::printf("FAILED %s: %u differences\n", one->name, failures.load());
  }
  std::printf("%s: %u cases, %u failed\n", properties.gcnArchName, cases,
              failed);
  return failed || !cases;
}
