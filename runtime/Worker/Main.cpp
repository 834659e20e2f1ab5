//===- Main.cpp - tessera-compile-worker ----------------------------------===//
//
// Only the library runs this program:
//
//   tessera-compile-worker LIBRARY REVISION MEMORY_MIB NICENESS IDLE_MS
//
// with a socket as descriptor 3. It loads the compiler, reports that, and
// answers one request after another, until the socket is closed or no request
// has come for the idle time. The client reads what it writes to stdout and
// stderr.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/KeepMemory.h"
#include "runtime/Worker/Fault.h"
#include "runtime/Worker/LibraryCompiler.h"
#include "runtime/Worker/Serve.h"
#include "runtime/Worker/WorkerProcess.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static uint64_t memoryMib = 0;
/// The message for a limit that was too small. It is made in advance, because a
/// signal handler may have to write it without memory.
static char memorySentence[160];

/// Addresses that a process needs besides one large block: stacks, the C
/// library's arenas.
static constexpr size_t kSparedBytes = 64u << 20;

static void setMemorySentence() {
  const unsigned long long limit = memoryMib;
  const unsigned long long enough = WorkerSettings().memoryMib;
  std::snprintf(memorySentence, sizeof memorySentence,
                limit < enough
                    ? "TESSERA_COMPILE_MEMORY=%llu MiB was too little; %llu, "
                      "the default, is enough\n"
                    : "TESSERA_COMPILE_MEMORY=%llu MiB was too little for "
                      "this kernel\n",
                limit, enough);
}

static void tellMemory() {
  static volatile sig_atomic_t isTold = 0;
  if (!isTold)
    (void)!write(STDERR_FILENO, memorySentence, strlen(memorySentence));
  isTold = 1;
}

/// Whether the limit leaves fewer than `bytes` of addresses.
static bool areAddressesSpent(size_t bytes) {
  void *block = mmap(nullptr, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    return true;
  munmap(block, bytes);
  return false;
}

[[noreturn]] static void reportMemory() {
  tellMemory();
  abort();
}

/// A lack of addresses has many symptoms: the C library's malloc() fails in
/// LLVM, which aborts, a thread cannot be made, a stack cannot grow. So every
/// crash checks whether addresses are lacking, and then continues as it would
/// have.
static void explainCrash(int) {
  const int error = errno;
  if (areAddressesSpent(kSparedBytes))
    tellMemory();
  errno = error;
}

static void watchMemory() {
  static char stack[16 << 10]; // The ordinary stack may be full.
  const stack_t alternative = {stack, 0, sizeof stack};
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = explainCrash;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS})
    sigaction(signal, &action, nullptr);
}

/// Ends the process if the compiler could not be loaded for lack of addresses;
/// the loader's message does not name the limit.
static void explainMissing(const std::string &library) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(library, error);
  if (!error && areAddressesSpent(bytes + kSparedBytes))
    reportMemory();
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

static void setLimit(decltype(RLIMIT_AS) resource, rlim_t value) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0)
    return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  setrlimit(resource, &limit);
}

static void limitResources(int niceness) {
  setMemorySentence();
  if (kWorkersLimitMemory && memoryMib != 0) {
    watchMemory();
    setLimit(RLIMIT_AS, memoryMib << 20);
  }
  std::set_new_handler(reportMemory);
  // A crash is reported by a sentence and leaves no core file in the client's
  // folder; no memory limit covers what an endless loop writes to stdout.
  setLimit(RLIMIT_CORE, 0);
  setLimit(RLIMIT_FSIZE, 64u << 20);
  if (niceness != 0)
    setpriority(PRIO_PROCESS, 0, niceness);
  // If memory is short, the system shall kill this process instead of the
  // client.
  if (const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
      file >= 0) {
    dprintf(file, "500");
    close(file);
  }
}

/// Ends the process when the client is gone, also while it compiles.
/// (PR_SET_PDEATHSIG would send its signal when the client's thread that
/// started us ends.)
static void watchClient() {
  pollfd entry = {kWorkerSocket, POLLRDHUP, 0};
  while (poll(&entry, 1, -1) < 0 && errno == EINTR)
    ;
  _exit(0);
}

/// Serves requests; returns when there are no more.
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
  keepFreedMemory();
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
  if (!compiler && kWorkersLimitMemory)
    explainMissing(library);
  // The worker must not keep the client's folder from being unmounted.
  if (chdir("/") != 0)
    return 2;
  if (sendMessage(kWorkerSocket,
                  encode(WorkerReply{compiler.getStatus(), {}, {}})) &&
      compiler)
    serveClient(**compiler, std::chrono::milliseconds(
                                std::strtoull(arguments[5], nullptr, 10)));
  // This skips the destructors of LLVM, whose work nobody needs.
  _exit(0);
}
