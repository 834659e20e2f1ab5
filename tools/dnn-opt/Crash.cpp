//===- Crash.cpp - When MLIR or LLVM does not survive an input ------------===//

#include "tools/dnn-opt/Crash.h"

#include "tools/support/Tool.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"

#include <cstdio>
#include <string_view>
#include <unistd.h>

/// Called by the handler of a signal.
static void refuseCrash(void *) {
  constexpr std::string_view kText =
      "dnn-opt: error: MLIR or LLVM crashes on this input; it has something "
      "that their own checks do not find\n";
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, kText.data(), kText.size());
  _exit(1);
}

static void refuseFatalError(void *, const char *reason, bool) {
  std::fprintf(stderr, "dnn-opt: error: LLVM refuses this input: %s\n", reason);
  _exit(1);
}

void tessera::catchCrashes() {
  llvm::setBugReportMsg("");
  llvm::EnablePrettyStackTrace();
  llvm::sys::AddSignalHandler(refuseCrash, nullptr);
  llvm::install_fatal_error_handler(refuseFatalError);
  surviveFileLimits();
}
