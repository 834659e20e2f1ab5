//===- Main.cpp - tessera-compile-worker ----------------------------------===//
//
// Run by the library and by nobody else:
//
//   tessera-compile-worker LIBRARY REVISION MEMORY_MIB NICENESS IDLE_MS
//
// with a socket as descriptor 3. Loads the compiler, says so, and answers one
// request after the other, until the socket is closed or nothing has been asked
// for the idle time. What it writes on its outputs, the client reads.
//
//===----------------------------------------------------------------------===//

#include "runtime/Worker/Fault.h"
#include "runtime/Worker/LibraryCompiler.h"
#include "runtime/Worker/Serve.h"
#include "runtime/Worker/WorkerProcess.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace tessera;

static uint64_t memoryMib = 0;

[[noreturn]] static void reportMemory() {
  dprintf(STDERR_FILENO, "more memory is needed than the limit of %llu MiB\n",
          static_cast<unsigned long long>(memoryMib));
  abort();
}

static void setLimit(decltype(RLIMIT_AS) resource, rlim_t value) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0)
    return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  setrlimit(resource, &limit);
}

static void limitResources(int niceness) {
  if (kWorkersLimitMemory && memoryMib != 0)
    setLimit(RLIMIT_AS, memoryMib << 20);
  std::set_new_handler(reportMemory);
  // A crash is told by a sentence and leaves no file in the client's folder;
  // what a loop may write on its outputs is in nobody's memory limit.
  setLimit(RLIMIT_CORE, 0);
  setLimit(RLIMIT_FSIZE, 64u << 20);
  if (niceness != 0)
    setpriority(PRIO_PROCESS, 0, niceness);
  // Of client and worker, the system shall take this one.
  if (const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
      file >= 0) {
    dprintf(file, "500");
    close(file);
  }
}

/// Ends the process when the client is gone, also while it compiles. (The
/// system's signal for that would come when the client's thread ends that
/// started us.)
static void watchClient() {
  pollfd entry = {kWorkerSocket, POLLRDHUP, 0};
  while (poll(&entry, 1, -1) < 0 && errno == EINTR)
    ;
  _exit(0);
}

/// Returns when there is no more to do.
static void serveClient(KernelCompiler &compiler,
                        std::chrono::milliseconds idleTime) {
  while (true) {
    const ErrorOr<std::string> message = receiveMessage(
        kWorkerSocket, std::chrono::steady_clock::now() + idleTime);
    if (!message)
      return;
    const ErrorOr<WorkerRequest> request = decodeRequest(*message);
    if (!request) {
      std::fprintf(stderr, "%s\n", request.getStatus().getMessage().c_str());
      _exit(2);
    }
    injectFault(*request);
    WorkerReply reply = serve(compiler, *request);
    injectFault(*request, reply);
    if (!sendMessage(kWorkerSocket, encode(reply)))
      return;
  }
}

int main(int count, char **arguments) {
  if (count != 6) {
    std::fprintf(stderr, "%s is started by libtessera.so\n", arguments[0]);
    return 2;
  }
  const std::string library = arguments[1], revision = arguments[2];
  memoryMib = std::strtoull(arguments[3], nullptr, 10);
  limitResources(std::atoi(arguments[4]));
  std::thread(watchClient).detach();
  injectFaultAtStart();
  const ErrorOr<std::unique_ptr<KernelCompiler>> compiler =
      loadCompiler(library, revision);
  // Nobody should be kept from unmounting the client's folder by us.
  if (chdir("/") != 0)
    return 2;
  if (sendMessage(kWorkerSocket,
                  encode(WorkerReply{compiler.getStatus(), {}, {}})) &&
      compiler)
    serveClient(**compiler, std::chrono::milliseconds(
                                std::strtoull(arguments[5], nullptr, 10)));
  // Without the destructors of LLVM, whose work nobody needs.
  _exit(0);
}
