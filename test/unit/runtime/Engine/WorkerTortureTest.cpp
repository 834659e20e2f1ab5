//===- WorkerTortureTest.cpp - Workers, clients and files that die --------===//
//
// Rounds of processes that compile kernels in workers and share a database.
// Workers are killed while they choose tiles and while they compile, clients
// are killed at any moment, and between rounds the file is cut off or garbled.
// No call of a process that lives fails, no kernel is a wrong one, and what was
// stored in a sound file is found.
//
// With TESSERA_TORTURE_ROUNDS=18 there are 1,152 processes and some 648 kills.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Env.h"
#include "runtime/Engine/Engine.h"
#include "runtime/Worker/WorkerCompiler.h"

#include "test/unit/Support/ChildProcess.h"
#include "test/unit/Support/TemporaryDirectory.h"
#include "test/unit/runtime/Engine/Torture.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <set>
#include <thread>

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

static constexpr int kClients = 64;
static constexpr int kKilledClients = 36; // Of each round, at most.
/// The number of problems that all clients ask for, and of those of each
/// client.
static constexpr int kShared = 20, kOwn = 20;
static constexpr int kProblems = kShared + kClients * kOwn;

namespace {
enum class Doing { Nothing, Choosing, Compiling };

/// Counts what the processes have done, in memory that they share.
struct Score {
  std::atomic<Doing> doing[kClients] = {};
  std::atomic<bool> isDone[kClients] = {};
  std::atomic<bool> isStored[kProblems] = {};
  std::atomic<int> calls{0}, failed{0}, wrong{0}, made{0}, detours{0}, lost{0};
};

/// Records in the score what the compiler behind it is asked for.
class WatchedCompiler final : public KernelCompiler {
public:
  WatchedCompiler(const WorkerSettings &settings, std::atomic<Doing> &doing)
      : compiler(settings, 1), doing(doing) {}

  std::string getRevision() const override { return compiler.getRevision(); }
  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &target) const override {
    const Mark mark(doing, Doing::Choosing);
    return compiler.chooseTile(problem, target);
  }
  ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &problem,
                                             const GpuTarget &target,
                                             size_t limit) const override {
    const Mark mark(doing, Doing::Choosing);
    return compiler.rankTiles(problem, target, limit);
  }
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &target) override {
    const Mark mark(doing, Doing::Compiling);
    return compiler.compile(problem, tile, target);
  }
  ErrorOr<Kernel> compileHere(const Problem &problem, const TileConfig &tile,
                              const GpuTarget &target) override {
    return compiler.compileHere(problem, tile, target);
  }

private:
  struct Mark {
    Mark(std::atomic<Doing> &doing, Doing now) : doing(doing) { doing = now; }
    ~Mark() { doing = Doing::Nothing; }
    std::atomic<Doing> &doing;
  };
  WorkerCompiler compiler;
  std::atomic<Doing> &doing;
};

struct WorkerTorture : testing::Test {
  TemporaryDirectory folder;
  const std::string home = folder.get("home");
  const std::string file = home + "/kernels.db";
  Score &score = *new (mmap(nullptr, sizeof(Score), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Score;
  RandomProblem random;
  WorkerSettings settings;
  int killedClients = 0, killedChoosing = 0, killedCompiling = 0,
      killedIdle = 0;

  WorkerTorture() {
    (void)loadFakeHip();
    settings.program = WORKER_PROGRAM;
    settings.library = TORTURE_COMPILER;
    settings.revision = kTortureRevision;
    setenv("TESSERA_COMPILER_LIBRARY", TORTURE_COMPILER, 1);
  }
  ~WorkerTorture() override {
    unsetenv("TESSERA_COMPILER_LIBRARY");
    munmap(&score, sizeof(Score));
  }

  void ask(Engine &engine, int number);
  void runClient(int client, int seed);
  ChildProcess start(int client, int seed);
  void killWorkerOf(int client, pid_t process);
  void runRound(int round);
  void countLost();
};
} // namespace

void WorkerTorture::ask(Engine &engine, int number) {
  ++score.calls;
  const ErrorOr<const LoadedKernel *> loaded =
      engine.prepare(makeTortureProblem(number));
  if (!loaded) {
    ++score.failed;
    std::fprintf(stderr, "%s\n", loaded.getStatus().getMessage().c_str());
    return;
  }
  const Kernel &kernel = (*loaded)->getKernel();
  const bool isDetour = kernel.tile == "general-tile";
  if (getStoredFields(kernel) !=
      getStoredFields(
          makeTortureKernel(number, isDetour ? "general-tile" : "igemm-tile")))
    ++score.wrong;
  if ((*loaded)->getOrigin() != LoadedKernel::Origin::Compiled)
    return;
  ++score.made;
  score.detours += isDetour;
  if (!isDetour)
    score.isStored[number] = true;
}

/// Asks for everything, in an order that `seed` decides.
void WorkerTorture::runClient(int client, int seed) {
  EngineOptions options;
  options.compiler =
      std::make_shared<WatchedCompiler>(settings, score.doing[client]);
  options.cacheDirectory = home;
  options.takesOtherTiles = true;
  ErrorOr<std::unique_ptr<Engine>> engine =
      Engine::create(loadFakeHip(), std::move(options));
  std::vector<int> order(kShared + kOwn);
  std::iota(order.begin(), order.begin() + kShared, 0);
  std::iota(order.begin() + kShared, order.end(), kShared + client * kOwn);
  std::ranges::shuffle(order, std::minstd_rand(seed + 1));
  for (const int number : order)
    ask(**engine, number);
}

ChildProcess WorkerTorture::start(int client, int seed) {
  score.doing[client] = Doing::Nothing;
  score.isDone[client] = false;
  return ChildProcess([=, this] {
    const int log = open(folder.get("log").c_str(),
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    dup2(log, STDERR_FILENO);
    runClient(client, seed);
    score.isDone[client] = true;
  });
}

/// Kills a worker of `process`, if it has any; counts what it was killed over.
void WorkerTorture::killWorkerOf(int client, pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  pid_t worker = 0;
  if (!(children >> worker))
    return;
  const Doing doing = score.doing[client];
  if (kill(worker, SIGKILL) != 0)
    return;
  killedChoosing += doing == Doing::Choosing;
  killedCompiling += doing == Doing::Compiling;
  killedIdle += doing == Doing::Nothing;
}

void WorkerTorture::runRound(int round) {
  std::vector<ChildProcess> processes;
  for (int client = 0; client < kClients; ++client)
    processes.push_back(start(client, client + 1000 * round));
  std::set<int> living;
  for (int client = 0; client < kClients; ++client)
    living.insert(client);
  const Clock::time_point begin = Clock::now();
  int killed = 0;
  while (true) {
    std::erase_if(living,
                  [&](int client) { return score.isDone[client].load(); });
    if (living.empty())
      break;
    ASSERT_LT(Clock::now() - begin, 5min) << "a process hangs";
    std::this_thread::sleep_for(
        std::chrono::microseconds(random.pick(0, 1000)));
    const int victim =
        *std::next(living.begin(),
                   random.pick(0, static_cast<int64_t>(living.size()) - 1));
    if (killed < kKilledClients && random.pick(0, 5) == 0) {
      processes[victim].kill();
      living.erase(victim);
      ++killed;
    } else {
      killWorkerOf(victim, processes[victim].getId());
    }
  }
  killedClients += killed;
  for (ChildProcess &process : processes)
    EXPECT_EQ(process.wait(), 0);
}

/// Counts what another, undisturbed process does not find though it was stored.
void WorkerTorture::countLost() {
  ChildProcess judge([&] {
    EngineOptions options;
    options.cacheDirectory = home;
    options.compiler =
        std::make_shared<WatchedCompiler>(settings, score.doing[0]);
    ErrorOr<std::unique_ptr<Engine>> engine =
        Engine::create(loadFakeHip(), std::move(options));
    for (int number = 0; number < kProblems; ++number)
      if (score.isStored[number]) {
        const uint64_t before = (*engine)->getCounters().fromDatabase;
        ask(**engine, number);
        score.lost += (*engine)->getCounters().fromDatabase == before;
      }
  });
  EXPECT_EQ(judge.wait(), 0);
}

// Half of the rounds begin with nothing, and half with the file that the
// previous round has left, damaged; what is stored in a damaged file may be put
// aside with it.
TEST_F(WorkerTorture, NoCallFails) {
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  const auto rounds =
      static_cast<int>(getEnvInt("TESSERA_TORTURE_ROUNDS").value_or(2));
  for (int round = 0; round < rounds; ++round) {
    const bool isSpoilt = round % 2 == 1;
    for (int i = 0; isSpoilt && i < 3; ++i)
      spoil(file, random);
    if (!isSpoilt)
      fs::remove_all(home);
    for (std::atomic<bool> &isStored : score.isStored)
      isStored = false;
    runRound(round);
    if (!isSpoilt)
      countLost();
  }
  std::printf("%d rounds, %d processes, %d of them killed; %d calls made %d "
              "kernels, %d of them with another tile; workers killed: %d while "
              "choosing, %d while compiling, %d idle; failed calls %d, wrong "
              "kernels %d, lost rows %d\n",
              rounds, rounds * kClients, killedClients, score.calls.load(),
              score.made.load(), score.detours.load(), killedChoosing,
              killedCompiling, killedIdle, score.failed.load(),
              score.wrong.load(), score.lost.load());
  std::ifstream log(folder.get("log"));
  const std::string said(std::istreambuf_iterator<char>(log), {});
  EXPECT_EQ(score.failed, 0) << said;
  EXPECT_EQ(score.wrong, 0);
  EXPECT_EQ(score.lost, 0) << said;
  EXPECT_GT(killedClients, 0);
  EXPECT_GT(killedChoosing, 0);
  EXPECT_GT(killedCompiling, 0);
}
