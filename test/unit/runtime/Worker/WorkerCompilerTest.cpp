//===- WorkerCompilerTest.cpp - The compiler in other processes -----------===//

#include "runtime/Worker/WorkerCompiler.h"

#include "compiler/Driver/Revision.h"
#include "runtime/Base/Env.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using Clock = std::chrono::steady_clock;

static ConvProblem getTestProblem(int64_t channels = 64) {
  ConvProblem problem;
  problem.batch = 1;
  problem.inChannels = problem.outChannels = channels;
  problem.in = {1, 14, 14};
  return problem;
}

/// The worker of this build, unless another is named (tools/dev/sanitize.sh).
static std::string getProgram() {
  return getEnvText("TESSERA_COMPILE_WORKER").value_or(WORKER_PROGRAM);
}
static std::string getLibrary() {
  return getEnvText("TESSERA_COMPILER_LIBRARY").value_or(COMPILER_LIBRARY);
}

static WorkerSettings getSettings() {
  WorkerSettings settings;
  settings.program = getProgram();
  settings.library = getLibrary();
  settings.revision = getCompilerRevision();
  return settings;
}

/// Processes whose parent is this one.
static std::set<pid_t> getChildren() {
  std::set<pid_t> children;
  for (const auto &task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (pid_t child = 0; file >> child;)
      children.insert(child);
  }
  return children;
}

namespace {
struct WorkerCompilerTest : testing::Test {
  const GpuTarget &target = *findTarget("gfx942");
  WorkerSettings settings = getSettings();

  void TearDown() override { unsetenv("TESSERA_WORKER_FAULT"); }

  /// Compiles with a new compiler whose workers have the fault.
  Status compile(const char *fault) {
    setenv("TESSERA_WORKER_FAULT", fault, 1);
    WorkerCompiler compiler(settings, 1);
    return compile(compiler);
  }
  Status compile(WorkerCompiler &compiler, int64_t channels = 64) {
    const ConvProblem problem = getTestProblem(channels);
    const ErrorOr<TileConfig> tile = compiler.chooseTile(problem, target);
    if (!tile)
      return tile.getStatus();
    return compiler.compile(problem, *tile, target).getStatus();
  }
};
} // namespace

// A worker returns exactly the kernel, and the same tiles, that the compiler
// returns in this process.
TEST_F(WorkerCompilerTest, MakesTheSameKernel) {
  WorkerCompiler compiler(settings, 1);
  const auto inProcess = loadCompiler(getLibrary(), settings.revision);
  ASSERT_TRUE(inProcess) << inProcess.getStatus().getMessage();
  const ConvProblem problem = getTestProblem();
  const ErrorOr<TileConfig> tile = compiler.chooseTile(problem, target);
  ASSERT_TRUE(tile) << tile.getStatus().getMessage();
  EXPECT_EQ(*tile, *(*inProcess)->chooseTile(problem, target));
  const auto ranked = compiler.rankTiles(problem, target, 5);
  ASSERT_TRUE(ranked && ranked->size() == 5);
  EXPECT_EQ(ranked->front().tile, *tile);
  EXPECT_GT(ranked->front().cost, 0);
  const ErrorOr<Kernel> kernel = compiler.compile(problem, *tile, target);
  const ErrorOr<Kernel> other = (*inProcess)->compile(problem, *tile, target);
  ASSERT_TRUE(kernel && other) << kernel.getStatus().getMessage();
  EXPECT_EQ(kernel->codeObject, other->codeObject);
  EXPECT_EQ(kernel->launches, other->launches);
  EXPECT_EQ(kernel->tile, tile->toText());
  EXPECT_EQ(kernel->stageTimes.size(), other->stageTimes.size());
}

// A refusal is an answer of a worker that continues.
TEST_F(WorkerCompilerTest, CarriesRefusals) {
  WorkerCompiler compiler(settings, 1);
  const Status refusal =
      compiler
          .compile(getTestProblem(), {"igemm", "m1n1k1-w1x1-b1-fma"}, target)
          .getStatus();
  EXPECT_FALSE(refusal.isOk());
  const std::set<pid_t> workers = getChildren();
  EXPECT_TRUE(compile(compiler).isOk());
  EXPECT_EQ(getChildren(), workers);
}

// Workers that a background thread has started are not lent to others, who
// would wait for them: those get workers of their own niceness, within the
// limit of workers.
TEST_F(WorkerCompilerTest, AThreadGetsWorkersAsNiceAsItIs) {
  const int here = getNiceness();
  auto getWorkerNiceness = [] {
    const std::set<pid_t> children = getChildren();
    EXPECT_EQ(children.size(), 1u);
    return getpriority(PRIO_PROCESS, static_cast<id_t>(*children.begin()));
  };
  WorkerCompiler compiler(settings, 1);
  std::thread([&] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, gettid(), here + 3), 0);
    EXPECT_TRUE(compile(compiler).isOk());
    EXPECT_EQ(getWorkerNiceness(), here + 3);
  }).join();
  EXPECT_TRUE(compile(compiler).isOk());
  EXPECT_EQ(getWorkerNiceness(), here);
  const std::set<pid_t> workers = getChildren();
  EXPECT_TRUE(compile(compiler).isOk());
  EXPECT_EQ(getChildren(), workers);
}

// Whatever happens to the worker, the caller gets a sentence that says what,
// and later another worker.
TEST_F(WorkerCompilerTest, TellsHowAWorkerDied) {
  settings.memoryMib = 600;
  const std::pair<const char *, const char *> faults[] = {
      {"abort", "died of SIGABRT; it said: LLVM ERROR: a fault for a test"},
      {"segfault", "died of SIGSEGV"},
      {"memory",
       "TESSERA_COMPILE_MEMORY=600 MiB was too little; 4096, the default, is "
       "enough"},
      {"garbage", "a compile worker sent a reply that is none"},
      {"exit", "ended with status 3"}};
  for (const auto &[fault, words] : faults) {
    if (!kWorkersLimitMemory && fault == std::string("memory"))
      continue;
    setenv("TESSERA_WORKER_FAULT", fault, 1);
    WorkerCompiler compiler(settings, 1);
    const Status status = compile(compiler);
    EXPECT_EQ(status.getCode(), StatusCode::Unavailable) << fault;
    EXPECT_NE(status.getMessage().find(words), std::string::npos)
        << fault << ": " << status.getMessage();
    EXPECT_EQ(status.getMessage().rfind("tile igemm-", 0), 0u);
    unsetenv("TESSERA_WORKER_FAULT");
    EXPECT_TRUE(compile(compiler).isOk()) << fault;
  }
}

// A worker that never answers is killed when its time is over.
TEST_F(WorkerCompilerTest, KillsAWorkerThatHangs) {
  settings.timeLimit = std::chrono::seconds(1);
  const Clock::time_point start = Clock::now();
  const Status status = compile("loop");
  EXPECT_EQ(status.getCode(), StatusCode::Unavailable);
  EXPECT_NE(status.getMessage().find("took longer than 1 s"), std::string::npos)
      << status.getMessage();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
  EXPECT_TRUE(getChildren().empty());
}

/// Ends the first worker that it meets, once that has had time to reach its
/// fault; those started later have none.
static std::thread startKiller(int signal) {
  return std::thread([signal] {
    while (getChildren().empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    unsetenv("TESSERA_WORKER_FAULT");
    for (pid_t worker : getChildren())
      kill(worker, signal);
  });
}

// A worker that is killed in the middle of a request is replaced, and the
// caller does not notice, whatever the request was.
TEST_F(WorkerCompilerTest, RetriesAfterAKill) {
  for (const char *fault : {"loop", "loop:choice"})
    for (const int signal : {SIGKILL, SIGTERM}) {
      std::thread killer = startKiller(signal);
      const Status status = compile(fault);
      killer.join();
      EXPECT_TRUE(status.isOk()) << fault << ": " << status.getMessage();
    }
}

// When the second worker is killed too, the status says so, and that it is no
// fault of the compiler; this process can still compile the kernel.
TEST_F(WorkerCompilerTest, KnowsAKill) {
  setenv("TESSERA_COMPILER_LIBRARY", getLibrary().c_str(), 1);
  setenv("TESSERA_WORKER_FAULT", "kill", 1);
  WorkerCompiler compiler(settings, 1);
  const Status status = compile(compiler);
  EXPECT_EQ(status.getCode(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.getMessage().find("died of SIGKILL"), std::string::npos)
      << status.getMessage();
  const ConvProblem problem = getTestProblem();
  const ErrorOr<TileConfig> tile = compiler.chooseTile(problem, target);
  ASSERT_TRUE(tile);
  EXPECT_TRUE(compiler.compileHere(problem, *tile, target));
}

// If workers are killed over the choice of a tile, this process chooses as a
// worker would; kernels still come from workers.
TEST_F(WorkerCompilerTest, ChoosesHereWhenWorkersAreKilled) {
  WorkerCompiler sound(settings, 1);
  const ConvProblem problem = getTestProblem();
  const ErrorOr<TileConfig> expected = sound.chooseTile(problem, target);
  setenv("TESSERA_COMPILER_LIBRARY", getLibrary().c_str(), 1);
  setenv("TESSERA_WORKER_FAULT", "kill:choice", 1);
  WorkerCompiler compiler(settings, 1);
  const ErrorOr<TileConfig> tile = compiler.chooseTile(problem, target);
  ASSERT_TRUE(expected && tile) << tile.getStatus().getMessage();
  EXPECT_EQ(*tile, *expected);
  const auto ranked = compiler.rankTiles(problem, target, 3);
  ASSERT_TRUE(ranked) << ranked.getStatus().getMessage();
  EXPECT_EQ(ranked->size(), 3u);
  EXPECT_TRUE(compile(compiler).isOk());
}

// Threads share no worker, and there are no more workers than allowed; they are
// kept for the next kernel and end with their owner.
TEST_F(WorkerCompilerTest, KeepsAsManyAsAllowed) {
  {
    WorkerCompiler compiler(settings, 2);
    EXPECT_TRUE(getChildren().empty());
    std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    for (int i = 1; i <= 5; ++i)
      threads.emplace_back(
          [&, i] { made += compile(compiler, 16 * i).isOk(); });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(made, 5);
    const std::set<pid_t> workers = getChildren();
    EXPECT_EQ(workers.size(), 2u);
    EXPECT_TRUE(compile(compiler, 128).isOk());
    EXPECT_EQ(getChildren(), workers);
  }
  EXPECT_TRUE(getChildren().empty());
}

// A worker that gets no requests ends; the next call starts another.
TEST_F(WorkerCompilerTest, LeavesWhenIdle) {
  settings.idleTime = std::chrono::milliseconds(100);
  WorkerCompiler compiler(settings, 1);
  EXPECT_TRUE(compile(compiler).isOk());
  const std::set<pid_t> first = getChildren();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  EXPECT_TRUE(compile(compiler).isOk());
  EXPECT_NE(getChildren(), first);
}

// A worker that is killed while it waits is replaced without a message.
TEST_F(WorkerCompilerTest, ReplacesAWorkerThatWasKilled) {
  WorkerCompiler compiler(settings, 1);
  EXPECT_TRUE(compile(compiler).isOk());
  for (pid_t worker : getChildren())
    kill(worker, SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(compile(compiler).isOk());
}

// A client whose children cannot be waited for gets its kernels, and a sentence
// when a worker dies.
TEST_F(WorkerCompilerTest, WorksWhereChildrenAreIgnored) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  WorkerCompiler compiler(settings, 1);
  EXPECT_TRUE(compile(compiler).isOk());
  const Status status = compile("segfault");
  EXPECT_NE(status.getMessage().find("the compile worker ended"),
            std::string::npos)
      << status.getMessage();
  signal(SIGCHLD, before);
}

// A worker has none of its client's descriptors, and signals that the client
// ignores or blocks have their defaults.
TEST_F(WorkerCompilerTest, InheritsNothing) {
  // An exec does not close this descriptor.
  const int leak = open("/dev/null", O_RDONLY);
  ASSERT_GE(leak, 0);
  signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  WorkerCompiler compiler(settings, 1);
  ASSERT_TRUE(compile(compiler).isOk());
  const std::string folder =
      "/proc/" + std::to_string(*getChildren().begin()) + "/";
  std::set<int> open;
  for (const auto &entry : std::filesystem::directory_iterator(folder + "fd"))
    open.insert(std::stoi(entry.path().filename()));
  EXPECT_EQ(open, (std::set<int>{0, 1, 2, kWorkerSocket}));
  // Only the first 31 signals: the later ones are the C library's own.
  constexpr uint64_t kSignals = 0x7fffffff;
  int lines = 0;
  std::ifstream status(folder + "status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("SigIgn:", 0) == 0 || line.rfind("SigBlk:", 0) == 0) {
      EXPECT_EQ(std::stoull(line.substr(8), nullptr, 16) & kSignals, 0u)
          << line;
      ++lines;
    }
  EXPECT_EQ(lines, 2);
  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  signal(SIGPIPE, SIG_DFL);
  close(leak);
}

// Workers end with their client, however it dies, also in the middle of a
// kernel.
TEST_F(WorkerCompilerTest, EndsWithItsClient) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t client = fork();
  if (client == 0) {
    setenv("TESSERA_WORKER_FAULT", "loop", 1);
    WorkerCompiler compiler(settings, 1);
    std::thread([&] { (void)compile(compiler); }).detach();
    pid_t worker = 0;
    while (worker == 0)
      for (pid_t child : getChildren())
        worker = child;
    // The wait gives the worker time to reach its loop.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    (void)!write(ends[1], &worker, sizeof worker);
    kill(getpid(), SIGKILL);
  }
  pid_t worker = 0;
  ASSERT_EQ(read(ends[0], &worker, sizeof worker), ssize_t(sizeof worker));
  waitpid(client, nullptr, 0);
  const Clock::time_point limit = Clock::now() + std::chrono::seconds(10);
  const auto isThere = [&] {
    std::ifstream stat("/proc/" + std::to_string(worker) + "/stat");
    std::string line;
    std::getline(stat, line);
    return !line.empty() && line.find(") Z ") == line.npos;
  };
  while (isThere() && Clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(isThere());
  close(ends[0]);
  close(ends[1]);
}

// A fork of the client compiles with workers of its own and does not disturb
// those of the client.
TEST_F(WorkerCompilerTest, WorksInAFork) {
  WorkerCompiler compiler(settings, 1);
  ASSERT_TRUE(compile(compiler).isOk());
  const std::set<pid_t> workers = getChildren();
  const pid_t fork = ::fork();
  if (fork == 0) {
    const bool isMade = compile(compiler, 32).isOk();
    _exit(isMade && getChildren().size() == 1 ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(fork, &state, 0), fork);
  EXPECT_EQ(state, 0);
  EXPECT_TRUE(compile(compiler, 48).isOk());
  EXPECT_EQ(getChildren(), workers);
}

// If no worker can be started, this process compiles.
TEST_F(WorkerCompilerTest, CompilesHereWithoutAProgram) {
  setenv("TESSERA_COMPILER_LIBRARY", getLibrary().c_str(), 1);
  settings.program = "/nowhere/tessera-compile-worker";
  WorkerCompiler compiler(settings, 1);
  EXPECT_TRUE(compile(compiler).isOk());
  settings.program = getProgram();
  EXPECT_TRUE(compile("start").isOk());
  EXPECT_TRUE(getChildren().empty());
}

// If the limit is too small for a worker to start, or to load its compiler, the
// message names it and one that suffices; this process compiles.
TEST_F(WorkerCompilerTest, SaysThatMemoryIsTooLittle) {
  if (!kWorkersLimitMemory)
    GTEST_SKIP() << "an address sanitizer lets nobody limit addresses";
  setenv("TESSERA_COMPILER_LIBRARY", getLibrary().c_str(), 1);
  for (uint64_t mib : {1, 40}) {
    settings.memoryMib = mib;
    WorkerCompiler compiler(settings, 1);
    testing::internal::CaptureStderr();
    EXPECT_TRUE(compile(compiler).isOk());
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("TESSERA_COMPILE_MEMORY=" + std::to_string(mib) +
                        " MiB was too little; 4096, the default, is enough"),
              std::string::npos)
        << text;
  }
}

// If the compiler is missing, or of another build, the failure is NotSupported
// and names the file.
TEST_F(WorkerCompilerTest, SaysWhichCompilerIsMissing) {
  settings.library = "/nowhere/libtessera-compiler.so";
  Status status = compile("");
  EXPECT_EQ(status.getCode(), StatusCode::NotSupported);
  EXPECT_NE(status.getMessage().find("there is no compiler to make it: "
                                     "/nowhere/libtessera-compiler.so"),
            std::string::npos)
      << status.getMessage();
  settings.library = getLibrary();
  settings.revision = "llvm-1";
  status = compile("");
  EXPECT_EQ(status.getCode(), StatusCode::NotSupported);
  EXPECT_NE(status.getMessage().find("is the compiler of another build, " +
                                     std::string(getCompilerRevision()) +
                                     "; this one needs llvm-1"),
            std::string::npos)
      << status.getMessage();
}
