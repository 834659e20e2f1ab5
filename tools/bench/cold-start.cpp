//===- cold-start.cpp - What the first run of a model costs ---------------===//
//
// Measures how long a model that starts takes to prepare all its kernels. A
// second start should cost next to nothing: kernels are stored for that
// purpose.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Env.h"
#include "runtime/Base/OwnFiles.h"
#include "tools/problems/ProblemFile.h"
#include "tools/support/Tool.h"

#include <tessera/problem.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace tessera;
using Clock = std::chrono::steady_clock;

static constexpr char kUsage[] =
    R"(cold-start: what the first run of a model costs

  cold-start [--list FILE] [--threads N] [--layout nchw|nhwc]
             [--max-cold MS] [--max-warm MS] [--each]

Starts two processes that make every kernel of a list ready through the C API:
one with an empty kernel database, and one that finds what the first has left.
Prints for each the time from its start to its end, the processor time of it and
of its compile workers, and how many kernels it compiled.

  --list FILE     problems (tools/bench/resnet50.txt)
  --threads N     of each process (2)
  --layout NAME   nhwc: of every convolution, whatever the list says
  --max-cold MS   limit of the first process
  --max-warm MS   limit of the second
  --each          also the median, the 99th percentile and the longest of the
                  times of a kernel, the same of its thread's processor time,
                  which other processes do not lengthen, and how many are for
                  unknown sizes; the second process may then compile

The device does nothing and calls itself gfx942, unless TESSERA_DEVICE says
otherwise. Exits with 1 if a kernel cannot be made, if the second process
compiles one, or if a time is above its limit.
)";

namespace {
struct Options {
  std::string list = TESSERA_SOURCE_FOLDER "/tools/bench/resnet50.txt";
  int threads = 2;
  std::string layout; ///< If empty, that of the list.
  double maxColdMs = 0;
  double maxWarmMs = 0; ///< 0: no limit.
  /// Whether this is one of the two measured processes.
  bool isMeasured = false;
  bool timesEach = false;
  bool help = false;
};
} // namespace

static Options parseOptions(int count, char **arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const char *value = i + 1 < count ? arguments[i + 1] : nullptr;
    if (name == "--measured") {
      options.isMeasured = true;
      continue;
    }
    if (name == "--each") {
      options.timesEach = true;
      continue;
    }
    if (name == "--help" || name == "-h") {
      options.help = true;
      continue;
    }
    ++i;
    if (name == "--list" && value)
      options.list = value;
    else if (name == "--threads" && value && std::atoi(value) > 0)
      options.threads = std::atoi(value);
    else if (name == "--layout" && value)
      options.layout = value;
    else if (name == "--max-cold" && value)
      options.maxColdMs = std::atof(value);
    else if (name == "--max-warm" && value)
      options.maxWarmMs = std::atof(value);
    else {
      std::fprintf(stderr,
                   "cold-start: '%s' is no flag, or its value is none; see "
                   "--help\n",
                   name.c_str());
      std::exit(2);
    }
  }
  return options;
}

//===----------------------------------------------------------------------===//
// One process
//===----------------------------------------------------------------------===//

static std::vector<std::string> readConfigs(const Options &options) {
  const ErrorOr<ProblemFile> file = readProblems(options.list);
  if (!file) {
    std::fprintf(stderr, "cold-start: %s\n",
                 file.getStatus().getMessage().c_str());
    std::exit(2);
  }
  std::vector<std::string> configs;
  for (const ListedProblem &listed : file->problems) {
    Problem problem = listed.problem;
    if (const ConvProblem *conv = problem.getConv();
        conv && options.layout == "nhwc") {
      ConvProblem other = *conv;
      other.xLayout = other.wLayout = other.yLayout = Layout::NHWC;
      problem = other;
    }
    configs.push_back(problem.toNetworkConfig());
  }
  return configs;
}

namespace {
/// Of each kernel: how long its call took, and how long its thread ran then.
struct Times {
  std::vector<double> wallMs, threadMs;
};
} // namespace

static double getThreadMs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 +
         static_cast<double>(time.tv_nsec) * 1e-6;
}

/// Prepares every kernel of the list and sets how long each took; returns the
/// number of failures.
static int prepareAll(const std::vector<std::string> &configs, int threads,
                      Times &times) {
  times.wallMs.assign(configs.size(), 0);
  times.threadMs.assign(configs.size(), 0);
  std::atomic<size_t> next = 0;
  std::atomic<int> failures = 0;
  auto work = [&] {
    miopenHandle_t handle = nullptr;
    if (miopenCreate(&handle) != miopenStatusSuccess) {
      ++failures;
      return;
    }
    for (size_t i = next++; i < configs.size(); i = next++) {
      tesseraKernelInfo info = {};
      info.structSize = sizeof info;
      const double startMs = getThreadMs();
      const Clock::time_point start = Clock::now();
      failures += tesseraGetProblemKernelInfo(handle, configs[i].c_str(),
                                              &info) != miopenStatusSuccess;
      times.wallMs[i] =
          std::chrono::duration<double, std::milli>(Clock::now() - start)
              .count();
      times.threadMs[i] = getThreadMs() - startMs;
    }
    (void)miopenDestroy(handle);
  };
  std::vector<std::thread> workers;
  for (int i = 0; i != threads; ++i)
    workers.emplace_back(work);
  for (std::thread &worker : workers)
    worker.join();
  return failures;
}

static void printTimes(const char *name, std::vector<double> timesMs) {
  std::ranges::sort(timesMs);
  auto getPercentile = [&](size_t percent) {
    return timesMs[std::min(timesMs.size() - 1,
                            timesMs.size() * percent / 100)];
  };
  std::printf("each kernel, %s: median %.3f ms, 99th percentile %.3f ms, "
              "longest %.3f ms\n",
              name, getPercentile(50), getPercentile(99), timesMs.back());
}

static double getOwnCpuMs() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto toMs = [](const timeval &time) {
    return time.tv_sec * 1e3 + time.tv_usec * 1e-3;
  };
  return toMs(usage.ru_utime) + toMs(usage.ru_stime);
}

/// CPU time of the processes that this one has started and that still run.
static double getChildrenCpuMs() {
  double ticks = 0;
  for (const auto &task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    for (int child = 0; children >> child;) {
      std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
      std::string line;
      std::getline(stat, line);
      unsigned long user = 0, system = 0;
      // The fields follow the name, which may contain anything.
      const size_t end = line.rfind(')');
      if (end != line.npos &&
          std::sscanf(line.c_str() + end,
                      ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                      &user, &system) == 2)
        ticks += static_cast<double>(user + system);
    }
  }
  return ticks * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

static int runMeasured(const Options &options) {
  const std::vector<std::string> configs = readConfigs(options);
  Times times;
  const int failures = prepareAll(configs, options.threads, times);
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  (void)tesseraGetCounters(&counters);
  std::printf("%zu kernels, %llu compiled, %llu from the database; processor "
              "time %.0f ms, of workers %.0f ms\n",
              configs.size(),
              static_cast<unsigned long long>(counters.compiled),
              static_cast<unsigned long long>(counters.fromDatabase),
              getOwnCpuMs(), getChildrenCpuMs());
  if (options.timesEach && !configs.empty()) {
    printTimes("wall clock", times.wallMs);
    printTimes("processor", times.threadMs);
    std::printf("%llu kernels are for unknown sizes\n",
                static_cast<unsigned long long>(counters.generic));
  }
  const bool isWarm =
      getEnvText("COLD_START_IS_WARM").has_value() && !options.timesEach;
  return failures != 0 || (isWarm && counters.compiled != 0) ? 1 : 0;
}

//===----------------------------------------------------------------------===//
// Both processes
//===----------------------------------------------------------------------===//

/// Runs this program again; false if it fails or takes too long.
static bool measure(const char *name, char **arguments, int count,
                    double maxMs) {
  std::vector<char *> words(arguments, arguments + count);
  std::string flag = "--measured";
  words.push_back(flag.data());
  words.push_back(nullptr);
  std::printf("%s: ", name);
  std::fflush(stdout);
  const Clock::time_point start = Clock::now();
  const pid_t process = fork();
  if (process == 0) {
    execv("/proc/self/exe", words.data());
    _exit(127);
  }
  int state = -1;
  if (process < 0 || waitpid(process, &state, 0) != process)
    return false;
  const double ms =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  std::printf("%s: %.0f ms from start to end\n", name, ms);
  if (maxMs > 0 && ms > maxMs) {
    std::printf("%s: the limit is %.0f ms\n", name, maxMs);
    return false;
  }
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/// Sets the environment so that the processes find the device that does
/// nothing.
static void chooseNullDevice() {
  std::string folders;
  for (const std::string &folder : getOwnLibraryFolders())
    folders += folder + "/null-hip:";
  setenv("LD_LIBRARY_PATH",
         (folders + getEnvText("LD_LIBRARY_PATH").value_or("")).c_str(), 1);
  setenv("TESSERA_DEVICE", "amd", 1);
}

static int runColdStart(int count, char **arguments) {
  const Options options = parseOptions(count, arguments);
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (options.isMeasured)
    return runMeasured(options);
  std::string cache =
      std::filesystem::temp_directory_path() / "cold-start-XXXXXX";
  if (!mkdtemp(cache.data())) {
    std::perror("cold-start: mkdtemp");
    return 2;
  }
  setenv("MIOPEN_CUSTOM_CACHE_DIR", cache.c_str(), 1);
  unsetenv("MIOPEN_DISABLE_CACHE");
  if (!getEnvText("TESSERA_DEVICE"))
    chooseNullDevice();
  bool isGood = measure("cold", arguments, count, options.maxColdMs);
  setenv("COLD_START_IS_WARM", "1", 1);
  isGood &= measure("warm", arguments, count, options.maxWarmMs);
  std::filesystem::remove_all(cache);
  return isGood ? 0 : 1;
}

int main(int count, char **arguments) {
  return runTool("cold-start", count, arguments, runColdStart);
}
