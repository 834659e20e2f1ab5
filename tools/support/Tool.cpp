//===- Tool.cpp - What every tool's main() does ---------------------------===//

#include "tools/support/Tool.h"

#include "compiler/Driver/Revision.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

using namespace tessera;

/// This installs a handler instead of SIG_IGN, which processes that we start
/// would inherit.
void tessera::surviveFileLimits() {
  std::signal(SIGXFSZ, [](int) {});
}

static bool isStdoutWritten(const char *name) {
  errno = 0;
  const bool hadError = std::ferror(stdout);
  if (std::fflush(stdout) == 0 && !hadError)
    return true;
  std::fprintf(stderr, "%s: cannot write standard output: %s\n", name,
               errno ? std::strerror(errno) : "a write has failed");
  return false;
}

int tessera::runTool(const char *name, int argc, char **argv,
                     int (*work)(int, char **), int failure) {
  surviveFileLimits();
  int code = 0;
  if (std::any_of(argv + 1, argv + argc,
                  [](std::string_view word) { return word == "--version"; }))
    std::printf("%s of Tessera " TESSERA_VERSION ", compiler %s\n", name,
                getCompilerRevision());
  else
    code = work(argc, argv);
  return isStdoutWritten(name) || code != 0 ? code : failure;
}
