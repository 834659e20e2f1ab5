//===- DatabaseTortureTest.cpp - Many processes and one bad file ----------===//
//
// Processes with engines of their own share one database, die at any moment,
// and find the file cut off, garbled, full or read-only. Whatever happens, each
// process that lives gets every kernel it asks for, and the right one.
//
//===----------------------------------------------------------------------===//

#include "runtime/Engine/Engine.h"

#include "test/unit/Support/ChildProcess.h"
#include "test/unit/Support/FakeCompiler.h"
#include "test/unit/Support/TemporaryDirectory.h"
#include "test/unit/runtime/Engine/Torture.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

static constexpr int kProcesses = 64;
static constexpr int kProblems = 20;

namespace {
/// Counts what the processes of a test have done, in memory that they share.
struct Tally {
  std::atomic<bool> hasBegun{false};
  std::atomic<int> compiled[kProblems] = {};
  std::atomic<int> waited{0};

  int getCompiled() const {
    return std::accumulate(std::begin(compiled), std::end(compiled), 0);
  }
};

/// A compiler that takes some milliseconds for a kernel and counts it.
class SlowCompiler final : public KernelCompiler {
public:
  explicit SlowCompiler(Tally &tally) : tally(tally) {}

  std::string getRevision() const override { return kTortureRevision; }
  ErrorOr<TileConfig> chooseTile(const Problem &,
                                 const GpuTarget &) const override {
    return TileConfig{"igemm", "tile"};
  }
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &,
                          const GpuTarget &) override {
    const int number = getTortureNumber(problem);
    std::this_thread::sleep_for(5ms);
    ++tally.compiled[number];
    return makeTortureKernel(number);
  }

private:
  Tally &tally;
};

/// The exit status of a process: what went wrong.
enum Outcome { Good, NoEngine, NoKernel, WrongKernel };
} // namespace

/// Asks for all problems, in an order that `seed` decides.
static Outcome askForAll(const std::string &folder, Tally &tally, int seed) {
  ErrorOr<std::unique_ptr<Engine>> engine = Engine::create(
      loadFakeHip(), {std::make_shared<SlowCompiler>(tally), folder});
  if (!engine)
    return NoEngine;
  int order[kProblems];
  std::iota(std::begin(order), std::end(order), 0);
  std::shuffle(std::begin(order), std::end(order), std::minstd_rand(seed + 1));
  for (int number : order) {
    ErrorOr<const LoadedKernel *> kernel =
        (*engine)->prepare(makeTortureProblem(number));
    if (!kernel)
      return NoKernel;
    if (getStoredFields((*kernel)->getKernel()) !=
        getStoredFields(makeTortureKernel(number)))
      return WrongKernel;
  }
  tally.waited += static_cast<int>((*engine)->getCounters().waited);
  return Good;
}

namespace {
struct DatabaseTorture : testing::Test {
  TemporaryDirectory folder;
  const std::string home = folder.get("home");
  const std::string file = home + "/kernels.db";
  Tally &tally = *new (mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Tally;
  RandomProblem random;

  DatabaseTorture() { (void)loadFakeHip(); }
  ~DatabaseTorture() override { munmap(&tally, sizeof(Tally)); }

  /// Starts a process whose stderr goes to the file that all share; it runs
  /// `work` once all have been started.
  template <typename Work>
  ChildProcess start(Work work) {
    return ChildProcess([&] {
      const int log = open(folder.get("log").c_str(),
                           O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
      dup2(log, STDERR_FILENO);
      while (!tally.hasBegun)
        sched_yield();
      return static_cast<int>(work());
    });
  }

  /// Starts processes that ask for everything `rounds` times.
  std::vector<ChildProcess> startAll(int count, int rounds = 1) {
    std::vector<ChildProcess> processes;
    for (int i = 0; i < count; ++i)
      processes.push_back(start([&, i] {
        Outcome outcome = Good;
        for (int round = 0; round < rounds && outcome == Good; ++round)
          outcome = askForAll(home, tally, i + 1000 * round);
        return outcome;
      }));
    tally.hasBegun = true;
    return processes;
  }

  static void expectGood(std::vector<ChildProcess> &processes) {
    for (ChildProcess &process : processes) {
      const int status = process.wait();
      EXPECT_EQ(status, 0) << "signal " << (status & 0x7f) << ", outcome "
                           << WEXITSTATUS(status);
    }
  }

  /// The log of all processes.
  std::string getLog() const {
    std::ifstream log(folder.get("log"));
    return std::string(std::istreambuf_iterator<char>(log), {});
  }

  int countPutAside() const {
    int count = 0;
    for (const fs::directory_entry &entry : fs::directory_iterator(home))
      count += entry.path().string().find(".corrupt-") != std::string::npos;
    return count;
  }

  /// Checks that another process finds every kernel in the database.
  void expectWarm() {
    const int before = tally.getCompiled();
    std::vector<ChildProcess> later = startAll(1);
    expectGood(later);
    EXPECT_EQ(tally.getCompiled(), before) << getLog();
  }
};
} // namespace

static int countLines(const std::string &text, const std::string &part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

//===----------------------------------------------------------------------===//
// Many at once
//===----------------------------------------------------------------------===//

// Processes that begin with nothing compile each kernel once among them, and
// none logs a warning.
TEST_F(DatabaseTorture, EachKernelIsMadeOnce) {
  std::vector<ChildProcess> processes = startAll(kProcesses);
  expectGood(processes);
  for (int number = 0; number < kProblems; ++number)
    EXPECT_EQ(tally.compiled[number], 1) << "problem " << number;
  EXPECT_GT(tally.waited, 0);
  EXPECT_EQ(getLog(), "");
  expectWarm();
}

// Processes that are killed at any moment cost at most the kernel that they
// were compiling; the others do not notice.
TEST_F(DatabaseTorture, KilledProcessesCostWhatTheyWereMaking) {
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  std::vector<ChildProcess> processes = startAll(kProcesses);
  constexpr int killed = kProcesses / 2;
  for (int i = 0; i < killed; ++i) {
    std::this_thread::sleep_for(
        std::chrono::microseconds(random.pick(0, 8000)));
    processes.erase(processes.begin() +
                    random.pick(0, static_cast<int64_t>(processes.size()) - 1));
  }
  expectGood(processes);
  for (int number = 0; number < kProblems; ++number)
    EXPECT_GE(tally.compiled[number], 1) << "problem " << number;
  EXPECT_LE(tally.getCompiled(), kProblems + killed);
  EXPECT_EQ(getLog(), "");
  EXPECT_EQ(countPutAside(), 0);
  expectWarm();
}

//===----------------------------------------------------------------------===//
// Files that break
//===----------------------------------------------------------------------===//

// A file that is cut off and garbled again and again while processes use it
// gives no wrong kernel, and no process fails.
TEST_F(DatabaseTorture, DamageUnderWayGivesNoWrongKernel) {
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  std::vector<ChildProcess> processes = startAll(16, 5);
  for (int i = 0; i < 60; ++i) {
    std::this_thread::sleep_for(10ms);
    spoil(random.pick(0, 3) == 0 ? file + "-wal" : file, random);
  }
  expectGood(processes);
  // No process was left with a file that cannot be used.
  const std::string log = getLog();
  EXPECT_EQ(log.find("not cached"), log.npos) << log;
  // The first process that comes later may still meet damage; the second
  // compiles again what the first had read before it began the file anew.
  for (int i = 0; i < 2; ++i) {
    std::vector<ChildProcess> later = startAll(1);
    expectGood(later);
  }
  expectWarm();
}

// A file that was damaged while it was not in use is put aside once, and one
// process reports it.
TEST_F(DatabaseTorture, DamageIsToldOnce) {
  fs::create_directories(home);
  std::ofstream(file) << std::string(100000, 'g');
  std::vector<ChildProcess> processes = startAll(kProcesses);
  expectGood(processes);
  const std::string log = getLog();
  EXPECT_EQ(countLines(log, "\n"), 1) << log;
  EXPECT_EQ(countLines(log, "was damaged"), 1) << log;
  EXPECT_EQ(countPutAside(), 1);
  EXPECT_EQ(tally.getCompiled(), kProblems);
  expectWarm();
}

//===----------------------------------------------------------------------===//
// Disks that cannot be written
//===----------------------------------------------------------------------===//

// On a disk that fills up every process gets its kernels and reports the
// failure once, and what was stored before is found.
TEST_F(DatabaseTorture, FullDisk) {
  fs::create_directories(home);
  auto work = [&](int seed) {
    return [&, seed] { return askForAll(home, tally, seed); };
  };
  // The mount lives in a process of its own, which takes it along when it ends.
  ChildProcess owner([&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", home.c_str(), "tmpfs", 0, "size=200k") != 0)
      return 77;
    std::vector<ChildProcess> processes;
    for (int i = 0; i < 8; ++i)
      processes.push_back(start(work(i)));
    tally.hasBegun = true;
    int bad = 0;
    for (ChildProcess &process : processes)
      bad += process.wait() != 0;
    return bad;
  });
  const int status = owner.wait();
  if (WEXITSTATUS(status) == 77)
    GTEST_SKIP() << "a file system cannot be mounted here";
  EXPECT_EQ(status, 0);
  const std::string log = getLog();
  EXPECT_NE(log.find("Warning"), log.npos) << "the disk was not full";
  EXPECT_LE(countLines(log, "\n"), 8) << log;
}

// A limit on the size of files acts like a full disk and needs no mount.
TEST_F(DatabaseTorture, LimitedFileSize) {
  std::vector<ChildProcess> processes;
  for (int i = 0; i < 8; ++i)
    processes.push_back(start([&, i] {
      const rlimit limit = {100000, 100000};
      setrlimit(RLIMIT_FSIZE, &limit);
      signal(SIGXFSZ, SIG_IGN);
      return askForAll(home, tally, i);
    }));
  tally.hasBegun = true;
  expectGood(processes);
  const std::string log = getLog();
  EXPECT_NE(log.find("Warning"), log.npos) << "the limit was not reached";
  EXPECT_LE(countLines(log, "\n"), 8) << log;
}

/// Becomes a user whom permissions stop.
static void dropPrivileges() {
  if (geteuid() == 0 && setuid(65534) != 0)
    _exit(99);
}

// A home that cannot be written serves the kernels that it has. Without any,
// every process compiles its own.
TEST_F(DatabaseTorture, ReadOnlyHome) {
  const fs::perms all = fs::perms(0755), readOnly = fs::perms(0555);
  fs::permissions(folder.getPath(), all);
  std::ofstream(folder.get("log")).close();
  fs::permissions(folder.get("log"), fs::perms(0666));
  fs::create_directories(home);
  fs::permissions(home, readOnly);
  auto askAsNobody = [&] {
    std::vector<ChildProcess> processes;
    for (int i = 0; i < 4; ++i)
      processes.push_back(start([&, i] {
        dropPrivileges();
        return askForAll(home, tally, i);
      }));
    tally.hasBegun = true;
    expectGood(processes);
  };
  askAsNobody();
  EXPECT_EQ(tally.getCompiled(), 4 * kProblems);
  EXPECT_EQ(countLines(getLog(), "kernels are not cached on disk"), 4)
      << getLog();

  fs::permissions(home, all);
  std::vector<ChildProcess> writer = startAll(1);
  expectGood(writer);
  fs::permissions(home, readOnly);
  const int before = tally.getCompiled();
  askAsNobody();
  EXPECT_EQ(tally.getCompiled(), before);
  EXPECT_EQ(countLines(getLog(), "kernels are found on disk but not kept"), 4)
      << getLog();
  fs::permissions(home, all);
}
