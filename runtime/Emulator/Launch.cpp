//===- Launch.cpp - One kernel launch -------------------------------------===//

#include "runtime/Emulator/Launch.h"

#include "runtime/Base/Env.h"
#include "runtime/Emulator/Check/Barriers.h"
#include "runtime/Emulator/Check/GlobalRaces.h"
#include "runtime/Emulator/Check/Initialized.h"
#include "runtime/Emulator/Check/LdsChecker.h"
#include "runtime/Emulator/Check/Waits.h"
#include "runtime/Emulator/LaunchState.h"
#include "runtime/Emulator/Measure/AccessCounter.h"
#include "runtime/Emulator/Workgroup.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace tessera::emulator;

/// Additional private memory for a kernel whose stack has an unknown size.
static constexpr uint64_t kDynamicStackBytes = 16 * 1024;

namespace {
/// Owns the device memory of one launch.
class LaunchResources {
public:
  LaunchResources(const Launch &launch, MemoryMap &map, unsigned workers);
  ~LaunchResources();
  bool isComplete() const { return complete; }
  const LaunchMemory &get() const { return memory; }

private:
  MemoryMap &map;
  LaunchMemory memory;
  void *arguments = nullptr;
  void *scratch = nullptr;
  bool complete = false;
};
} // namespace

LaunchResources::LaunchResources(const Launch &launch, MemoryMap &map,
                                 unsigned workers)
    : map(map) {
  const KernelDescriptor &descriptor = launch.kernel.descriptor;
  std::vector<uint8_t> kernarg = makeKernarg(launch);
  // The queue structure and the dispatch packet lie in front of the arguments,
  // so that reading past the last argument is reading past the allocation.
  constexpr size_t kQueueBytes = 256, kPacketBytes = 64;
  size_t bytes = kQueueBytes + kPacketBytes + kernarg.size();
  arguments = map.allocate(bytes, MemoryKind::Kernarg);
  uint64_t perLane = descriptor.scratchBytes;
  if (descriptor.hasDynamicStack())
    perLane += kDynamicStackBytes;
  perLane = (perLane + 15) / 16 * 16;
  memory.scratchBytesPerLane = perLane;
  memory.scratchBytesPerWave = perLane * launch.getLanes();
  uint64_t scratchBytes =
      memory.scratchBytesPerWave * getWavesPerGroup(launch) * workers;
  if (scratchBytes)
    scratch = map.allocate(scratchBytes, MemoryKind::Scratch);
  if (!arguments || (scratchBytes && !scratch))
    return;
  auto base = reinterpret_cast<uint64_t>(arguments);
  memory.queue = base;
  memory.dispatchPacket = base + kQueueBytes;
  memory.kernarg = base + kQueueBytes + kPacketBytes;
  memory.scratch = reinterpret_cast<uint64_t>(scratch);
  auto *to = static_cast<uint8_t *>(arguments);
  std::memset(to, 0, kQueueBytes);
  auto packet = makeDispatchPacket(launch, memory);
  std::memcpy(to + kQueueBytes, packet.data(), packet.size());
  std::copy(kernarg.begin(), kernarg.end(), to + kQueueBytes + kPacketBytes);
  complete = true;
}

LaunchResources::~LaunchResources() {
  if (arguments)
    map.free(arguments, MemoryKind::Kernarg);
  if (scratch)
    map.free(scratch, MemoryKind::Scratch);
}

LaunchSummary tessera::emulator::makeSummary(const Launch &launch,
                                             double timeMs) {
  const KernelImage &kernel = launch.kernel;
  LaunchSummary summary;
  summary.kernel = kernel.name;
  summary.chip = launch.chip.name;
  summary.computeUnits = launch.chip.computeUnits;
  summary.groups = launch.getGroups();
  summary.groupSize = launch.groupSize;
  summary.resources = {kernel.vgprCount,
                       kernel.agprCount,
                       kernel.sgprCount,
                       launch.getLdsBytes(),
                       kernel.descriptor.scratchBytes,
                       launch.getLanes(),
                       getWavesPerGroup(launch)};
  summary.timeMs = timeMs;
  return summary;
}

/// Writes the statistics. A file that cannot be written does not fail the
/// launch; it is reported once on stderr.
static void writeStats(const Launch &launch, const Settings &settings,
                       const LaunchStats &stats, double timeMs) {
  LaunchSummary summary = makeSummary(launch, timeMs);
  const std::string line = formatSummary(
      summary, sumUp(summary, launch.program, stats), !stats.memory.empty());
  if (const tessera::Status status = appendStats(settings.statsPath, line);
      !status.isOk())
    tessera::reportEnvValue("TESSERA_EMULATOR_STATS",
                            "a file that can be written (" +
                                status.getMessage() + ")",
                            tessera::reportEnvOnStderr);
}

/// Makes the observers of one worker thread's groups for the checks that are
/// asked for.
static Observers makeObservers(CheckSet checks, const Launch &launch,
                               GlobalRaceState *globalRaces) {
  Observers observers;
  if (checks.has(Check::Barriers) || checks.has(Check::BarrierPairs))
    observers.barriers.push_back(
        std::make_unique<BarrierChecker>(checks.has(Check::Barriers)));
  bool ldsRaces = checks.has(Check::LdsRaces);
  bool unwritten = checks.has(Check::Initialized);
  if (launch.getLdsBytes() && (ldsRaces || unwritten))
    observers.everything.push_back(std::make_unique<LdsChecker>(
        launch.chip, launch.program, ldsRaces, unwritten));
  if (globalRaces)
    observers.everything.push_back(std::make_unique<GlobalRaceChecker>(
        *globalRaces, launch.chip, launch.program));
  if (checks.has(Check::Waits))
    observers.everything.push_back(makeWaitsCheck(launch.chip, launch.program));
  if (unwritten)
    observers.everything.push_back(
        makeInitializedCheck(launch.program, getPresetRegisters(launch)));
  return observers;
}

/// The outcome has the fault, if any, and all findings, one a line. The first
/// of them decides the kind.
static LaunchOutcome makeOutcome(const Fault &fault) {
  LaunchOutcome outcome;
  if (fault.isSet())
    outcome.findings.push_back(fault.getFirst());
  outcome.findings.insert(outcome.findings.end(), fault.getFindings().begin(),
                          fault.getFindings().end());
  for (const Fault::Finding &finding : outcome.findings) {
    if (outcome.fault == FaultKind::None)
      outcome.fault = finding.kind;
    outcome.message += (outcome.message.empty() ? "" : "\n") + finding.message;
  }
  return outcome;
}

/// The outcome of a launch that is refused before anything runs.
static LaunchOutcome refuse(FaultKind kind, std::string message) {
  LaunchOutcome outcome;
  outcome.fault = kind;
  outcome.message = std::move(message);
  outcome.findings.push_back(
      {kind, FaultSite::kNoInstruction, outcome.message, {}});
  return outcome;
}

tessera::Status tessera::emulator::checkGroupSize(const Launch &launch) {
  const std::array<uint32_t, 3> &required = launch.kernel.requiredGroupSize;
  if (!required[0] || required == launch.groupSize)
    return Status::ok();
  auto text = [](const std::array<uint32_t, 3> &size) {
    return std::to_string(size[0]) + "," + std::to_string(size[1]) + "," +
           std::to_string(size[2]);
  };
  return invalidArgument("kernel '" + launch.kernel.name +
                         "' was made for blocks of " + text(required) +
                         " work-items, not " + text(launch.groupSize));
}

tessera::Status tessera::emulator::checkLds(const Launch &launch) {
  uint32_t available = launch.chip.getTarget().ldsBytes;
  if (launch.getLdsBytes() <= available)
    return Status::ok();
  return invalidArgument("kernel '" + launch.kernel.name + "' asks for " +
                         std::to_string(launch.getLdsBytes()) +
                         " bytes of LDS, but there are " +
                         std::to_string(available));
}

static uint64_t getExecutedGroups(uint64_t total, const Settings &settings) {
  return settings.maxGroups ? std::min(settings.maxGroups, total) : total;
}

/// Returns the group to execute as number `index` of `executed`. These are
/// spread over the grid in ascending order and include its first and last
/// group.
static uint64_t getSampledGroup(uint64_t index, uint64_t executed,
                                uint64_t total) {
  if (executed == total || !index)
    return index;
  auto share = static_cast<double>(index) / static_cast<double>(executed - 1);
  return static_cast<uint64_t>(share * static_cast<double>(total - 1));
}

namespace {
/// The groups of a launch, which host threads execute.
class LaunchWork {
public:
  LaunchWork(const Launch &launch, MemoryMap &memory, const Settings &settings,
             const LaunchWatch &watch);

  /// The number of worker threads: not more than there are groups.
  unsigned getWorkers() const { return static_cast<unsigned>(stats.size()); }
  /// Returns when the last thread has ended.
  void run(const LaunchMemory &resources);
  LaunchStats sumStats() const;
  LaunchOutcome getOutcome() const;

private:
  void runGroups(const LaunchMemory &resources, unsigned worker);
  Observers observe(unsigned worker);

  const Launch &launch;
  MemoryMap &memory;
  const Settings &settings;
  const LaunchWatch &watch;
  const MeasureLevel level;
  const std::array<uint32_t, 3> groups;
  const uint64_t total = uint64_t(groups[0]) * groups[1] * groups[2];
  const uint64_t executed = watch.groups.empty()
                                ? getExecutedGroups(total, settings)
                                : watch.groups.size();
  std::vector<LaunchStats> stats; ///< by worker thread
  std::unique_ptr<GlobalRaceState> globalRaces;
  Fault fault;
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> instructions{0};
  std::atomic<uint64_t> overrunLoads{0}, overrunStores{0};
};
} // namespace

LaunchWork::LaunchWork(const Launch &launch, MemoryMap &memory,
                       const Settings &settings, const LaunchWatch &watch)
    : launch(launch), memory(memory), settings(settings), watch(watch),
      level(settings.statsPath.empty()
                ? watch.level
                : std::max(watch.level, settings.statsLevel)),
      groups(launch.getGroups()),
      stats(std::min<uint64_t>(settings.threads, executed)) {
  if (settings.checks.has(Check::GlobalRaces) && total > 1)
    globalRaces = std::make_unique<GlobalRaceState>(groups);
}

Observers LaunchWork::observe(unsigned worker) {
  Observers observers =
      makeObservers(settings.checks, launch, globalRaces.get());
  if (level == MeasureLevel::Addresses)
    observers.everything.push_back(
        std::make_unique<AccessCounter>(launch.chip, stats[worker]));
  if (watch.makeObserver)
    observers.everything.push_back(watch.makeObserver());
  return observers;
}

/// Executes groups that no other worker has taken, until none is left or one
/// has failed.
void LaunchWork::runGroups(const LaunchMemory &resources, unsigned worker) {
  stats[worker].prepare(launch.program.size(), level);
  Observers observers = observe(worker);
  WorkgroupRunner runner(launch, resources, memory, settings, fault,
                         level == MeasureLevel::None ? nullptr : &stats[worker],
                         observers, worker);
  for (uint64_t index; (index = next++) < executed && !fault.isSet();) {
    uint64_t i = watch.groups.empty() ? getSampledGroup(index, executed, total)
                                      : watch.groups[index];
    runner.run({static_cast<uint32_t>(i % groups[0]),
                static_cast<uint32_t>(i / groups[0] % groups[1]),
                static_cast<uint32_t>(i / groups[0] / groups[1])});
    if (watch.finishedGroups)
      ++*watch.finishedGroups;
  }
  instructions += runner.getInstructionCount();
  overrunLoads += runner.getLdsOverruns().loads;
  overrunStores += runner.getLdsOverruns().stores;
}

void LaunchWork::run(const LaunchMemory &resources) {
  std::vector<std::thread> threads;
  for (unsigned worker = 1; worker < getWorkers(); ++worker)
    threads.emplace_back([&, worker] { runGroups(resources, worker); });
  runGroups(resources, 0);
  for (std::thread &thread : threads)
    thread.join();
}

LaunchStats LaunchWork::sumStats() const {
  LaunchStats sum;
  for (const LaunchStats &part : stats)
    sum.merge(part);
  return sum;
}

LaunchOutcome LaunchWork::getOutcome() const {
  LaunchOutcome outcome = makeOutcome(fault);
  outcome.waveInstructions = instructions;
  outcome.ldsOverruns = {overrunLoads, overrunStores};
  return outcome;
}

LaunchOutcome tessera::emulator::run(const Launch &launch, MemoryMap &memory,
                                     const Settings &settings,
                                     const LaunchWatch &watch) {
  auto begin = std::chrono::steady_clock::now();
  if (Status status = checkLds(launch); !status.isOk())
    return refuse(FaultKind::IllegalState, status.getMessage());
  LaunchWork work(launch, memory, settings, watch);
  LaunchResources resources(launch, memory, work.getWorkers());
  if (!resources.isComplete())
    return refuse(FaultKind::IllegalState,
                  "no memory for the launch of kernel '" + launch.kernel.name +
                      "'");
  {
    // Resources are freed after this scope, because freeing needs the lock.
    auto lock = memory.lockForLaunch();
    work.run(resources.get());
  }
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - begin;
  LaunchStats sum = work.sumStats();
  if (!settings.statsPath.empty())
    writeStats(launch, settings, sum, time.count());
  if (watch.stats)
    *watch.stats = std::move(sum);
  LaunchOutcome outcome = work.getOutcome();
  outcome.timeMs = time.count();
  return outcome;
}
