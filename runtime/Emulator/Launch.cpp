//===- Launch.cpp - One kernel launch -------------------------------------===//

#include "runtime/Emulator/Launch.h"

#include "runtime/Emulator/LaunchState.h"
#include "runtime/Emulator/Measure/Stats.h"
#include "runtime/Emulator/Workgroup.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace tessera::emulator;

/// Private memory that a kernel with a stack of unknown size gets besides.
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
  // The queue structure and the dispatch packet lie before the arguments, so
  // that reading past the last argument is reading past the allocation.
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

static void report(const Launch &launch, const Settings &settings,
                   std::span<const LaunchStats> workers, double timeMs) {
  LaunchStats total;
  for (const LaunchStats &stats : workers)
    total.merge(stats);
  LaunchSummary summary{launch.kernel.name,   launch.chip.name,
                        launch.getGroups(),   launch.groupSize,
                        launch.getLdsBytes(), timeMs};
  appendStats(settings.statsPath, formatStats(summary, total));
}

/// What watches one worker's groups, by the checks that are asked for.
static Observers makeObservers(CheckSet, const Launch &) { return {}; }

/// A fault, or else all findings, one a line; the first decides the kind.
static LaunchOutcome getOutcome(const Fault &fault) {
  LaunchOutcome outcome{fault.getKind(), fault.getMessage()};
  for (const Fault::Finding &finding : fault.getFindings()) {
    if (outcome.fault == FaultKind::None)
      outcome.fault = finding.kind;
    outcome.message += (outcome.message.empty() ? "" : "\n") + finding.message;
  }
  return outcome;
}

LaunchOutcome tessera::emulator::run(const Launch &launch, MemoryMap &memory,
                                     const Settings &settings) {
  auto begin = std::chrono::steady_clock::now();
  std::array<uint32_t, 3> groups = launch.getGroups();
  uint64_t total = uint64_t(groups[0]) * groups[1] * groups[2];
  auto workers =
      static_cast<unsigned>(std::min<uint64_t>(settings.threads, total));
  LaunchResources resources(launch, memory, workers);
  if (!resources.isComplete())
    return {FaultKind::IllegalState,
            "no memory for the launch of kernel '" + launch.kernel.name + "'"};
  auto lock = memory.lockForLaunch();
  Fault fault;
  std::atomic<uint64_t> next{0};
  bool counting = !settings.statsPath.empty();
  std::vector<LaunchStats> stats(workers);
  auto work = [&](unsigned worker) {
    Observers observers = makeObservers(settings.checks, launch);
    WorkgroupRunner runner(launch, resources.get(), memory, settings, fault,
                           counting ? &stats[worker] : nullptr, observers,
                           worker);
    for (uint64_t i; (i = next++) < total && !fault.isSet();)
      runner.run({static_cast<uint32_t>(i % groups[0]),
                  static_cast<uint32_t>(i / groups[0] % groups[1]),
                  static_cast<uint32_t>(i / groups[0] / groups[1])});
  };
  std::vector<std::thread> threads;
  for (unsigned worker = 1; worker < workers; ++worker)
    threads.emplace_back(work, worker);
  work(0);
  for (std::thread &thread : threads)
    thread.join();
  // Resources are freed after this scope; freeing needs the lock for itself.
  lock.unlock();
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - begin;
  if (counting)
    report(launch, settings, stats, time.count());
  return getOutcome(fault);
}
