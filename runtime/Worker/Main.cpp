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
/// What is said where the limit was too little. Made in advance: who says it
/// may be a signal handler, without memory.
static char memorySentence[160];

/// What a process asks for beside one large block: stacks, the C library's
/// arenas.
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

/// Whether the limit leaves no `bytes` of addresses.
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

/// A lack of addresses shows in many ways: the C library's malloc() fails in
/// LLVM, which aborts, a thread cannot be made, a stack cannot grow. So any
/// crash asks whether there was a lack. It then goes on as it would have.
static void explainCrash(int) {
  const int error = errno;
  if (areAddressesSpent(kSparedBytes))
    tellMemory();
  errno = error;
}

static void watchMemory() {
  static char stack[16 << 10]; // The other one may be what is full.
  const stack_t alternative = {stack, 0, sizeof stack};
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = explainCrash;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS})
    sigaction(signal, &action, nullptr);
}

/// Ends the process where the compiler could not be loaded for want of
/// addresses; what the loader says of that does not name the limit.
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
  if (!compiler && kWorkersLimitMemory)
    explainMissing(library);
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
