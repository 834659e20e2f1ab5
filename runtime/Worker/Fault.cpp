//===- Fault.cpp - Faults on demand ---------------------------------------===//

#include "runtime/Worker/Fault.h"

#include "runtime/Base/Env.h"
#include "runtime/Worker/EndlessKernel.h"
#include "runtime/Worker/WorkerProcess.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <unistd.h>

using namespace tessera;

static std::string getFault() {
  return getEnvText("TESSERA_WORKER_FAULT").value_or("");
}

/// Allocates without end. The limit counts addresses, so the memory need not be
/// written.
static void eatMemory() {
  constexpr size_t kStep = 16u << 20;
  while (true)
    *static_cast<volatile char *>(::operator new(kStep)) = 1;
}

/// The faults of doFault() and of the two other functions.
static constexpr std::string_view kFaults[] = {
    "abort",   "segfault", "kill",    "loop", "memory",
    "garbage", "exit",     "endless", "start"};

static void doFault(std::string_view fault) {
  if (fault == "abort") {
    std::fprintf(stderr, "LLVM ERROR: a fault for a test\n");
    abort();
  }
  if (fault == "segfault") {
    // A sanitizer would turn the signal into a report and an exit.
    signal(SIGSEGV, SIG_DFL);
    *static_cast<volatile int *>(nullptr) = 0;
  }
  if (fault == "kill")
    raise(SIGKILL);
  if (fault == "loop")
    while (true)
      pause();
  if (fault == "memory")
    eatMemory();
  if (fault == "garbage")
    (void)sendMessage(kWorkerSocket, std::string(100, '\xff'));
  if (fault == "exit")
    _exit(3);
}

/// The fault that applies to the request; empty: none.
static std::string getFault(const WorkerRequest &request) {
  const std::string setting = getFault();
  const size_t colon = setting.find(':');
  const std::string fault = setting.substr(0, colon);
  const std::string whose =
      colon == setting.npos ? "" : setting.substr(colon + 1);
  if (request.kind != WorkerRequest::Kind::Compile)
    return whose == "choice" ? fault : "";
  const ErrorOr<TileConfig> tile = parseTileConfig(request.tile);
  const bool isMeant = colon == setting.npos || whose == request.tile ||
                       (tile && whose == tile->algorithm);
  return isMeant ? fault : "";
}

void tessera::injectFault(const WorkerRequest &request) {
  doFault(getFault(request));
}

void tessera::injectFault(const WorkerRequest &request, WorkerReply &reply) {
  if (reply.status.isOk() && getFault(request) == "endless" &&
      !makeEndless(reply.kernel.codeObject, request.target))
    reply.status = internalError("a fault for a test found no kernel");
}

void tessera::injectFaultAtStart() {
  const std::string fault = getFault();
  if (fault == "start")
    _exit(1);
  if (fault.empty() ||
      std::ranges::count(kFaults, fault.substr(0, fault.find(':'))))
    return;
  std::string allowed;
  for (std::string_view name : kFaults)
    allowed.append(allowed.empty() ? "" : ", ").append(name);
  reportEnvValue("TESSERA_WORKER_FAULT",
                 "one of " + allowed +
                     ", each with a tile or an algorithm behind a colon",
                 reportEnvOnStderr);
}
