//===- DeviceBench.cpp - Candidates on the current device -----------------===//

#include "runtime/Tuning/DeviceBench.h"

#include "runtime/Reference/CaseMemory.h"

#include <algorithm>
#include <cstring>

using namespace tessera;

/// More than any L2; AMD's chips have a memory-side cache of 256 MiB behind it.
static constexpr size_t kFlushBytes = size_t(128) << 20;
static constexpr size_t kAmdFlushBytes = size_t(512) << 20;

DeviceBench::DeviceBench(Engine &engine, const Problem &problem, uint64_t seed,
                         JudgeChoice choice, int device, Stream stream)
    : engine(engine), gpu(engine.getGpu()), problem(problem), seed(seed),
      choice(choice), device(device), stream(std::move(stream)) {}

ErrorOr<std::unique_ptr<DeviceBench>>
DeviceBench::create(Engine &engine, const Problem &problem, uint64_t seed,
                    JudgeChoice choice) {
  const GpuApi &gpu = engine.getGpu();
  int device = 0;
  if (Status status = gpu.check(gpu.hipGetDevice(&device), "hipGetDevice");
      !status.isOk())
    return status;
  ErrorOr<Stream> stream = Stream::createInBackground(gpu);
  if (!stream)
    return stream.getStatus();
  return std::unique_ptr<DeviceBench>(new DeviceBench(
      engine, problem, seed, choice, device, std::move(*stream)));
}

Status DeviceBench::allocate() {
  ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  trial = Trial::create(problem, **target, seed);
  if (!trial)
    return notSupported("no data is known for " + problem.toNetworkConfig());
  for (KernelArg arg : kTensorArgs) {
    const std::vector<char> &host = trial->getTensor(arg);
    if (host.empty())
      continue;
    ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, host.size());
    if (!buffer)
      return buffer.getStatus();
    if (Status status = buffer->copyFromHost(host.data(), host.size());
        !status.isOk())
      return status;
    tensors.emplace(arg, std::move(*buffer));
  }
  if (getObjective() == Objective::IssueCycles)
    return Status::ok();
  ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(
      gpu, gpu.getKind() == DeviceKind::Amd ? kAmdFlushBytes : kFlushBytes);
  if (buffer)
    flushed.emplace(std::move(*buffer));
  return buffer.getStatus();
}

Status DeviceBench::prepare() {
  Status status = checkMemory(
      getCaseBytes(problem, {CaseUse::Purpose::Tune,
                             gpu.getKind() == DeviceKind::Emulated}));
  if (status.isOk())
    status = allocate();
  if (!status.isOk())
    return status;
  ErrorOr<std::string> name = trial->prepareJudge(
      gpu,
      [&](const std::string &algorithm) { return runAlgorithm(algorithm); },
      choice);
  if (name)
    judge = std::move(*name);
  return name.getStatus();
}

Objective DeviceBench::getObjective() const {
  return gpu.takeIssueCycles ? Objective::IssueCycles : Objective::MeasuredTime;
}

MadeKernel DeviceBench::make(const TileConfig &tile) {
  // The current device is a property of the thread.
  if (Status status = gpu.check(gpu.hipSetDevice(device), "hipSetDevice");
      !status.isOk())
    return status;
  return engine.prepareTile(problem, tile);
}

//===----------------------------------------------------------------------===//
// One launch
//===----------------------------------------------------------------------===//

Status DeviceBench::reserveWorkspace(uint64_t bytes) {
  if (workspace && workspace->getByteSize() >= bytes)
    return Status::ok();
  workspace.reset();
  ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, bytes);
  if (buffer)
    workspace.emplace(std::move(*buffer));
  return buffer.getStatus();
}

/// Whether all bytes are the same, like those of poison.
static bool isUniform(const std::vector<char> &bytes) {
  return std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Fills the outputs with what they hold before a kernel runs, and the
/// workspace with garbage.
Status DeviceBench::poison() {
  Status status;
  for (KernelArg arg : trial->getOutputs()) {
    const std::vector<char> &host = trial->getTensor(arg);
    if (!status.isOk())
      break;
    status = isUniform(host)
                 ? tensors.at(arg).fill(static_cast<unsigned char>(host[0]))
                 : tensors.at(arg).copyFromHost(host.data(), host.size());
  }
  if (status.isOk() && workspace)
    status = workspace->fill(0xff);
  // The null stream copies, and our stream does not wait for it.
  if (status.isOk())
    status =
        gpu.check(gpu.hipStreamSynchronize(nullptr), "hipStreamSynchronize");
  return status;
}

Status DeviceBench::launch(const LoadedKernel &kernel) {
  LaunchArgs args;
  for (const auto &[arg, buffer] : tensors)
    args.getPointer(arg) = buffer.get();
  args.workspace = workspace ? workspace->get() : nullptr;
  trial->setScalars(args);
  if (!problem.getRows())
    args.setFromEnd(isFromEnd);
  return engine.launch(kernel, stream.get(), args);
}

/// Launches and waits; keeps the issue cycles if the device counts them.
Status DeviceBench::launchCounted(const LoadedKernel &kernel) {
  uint64_t taken = 0;
  if (gpu.takeIssueCycles)
    (void)gpu.takeIssueCycles(1, &taken);
  Status status = launch(kernel);
  if (status.isOk())
    status = stream.synchronize();
  if (gpu.takeIssueCycles)
    (void)gpu.takeIssueCycles(0, &taken);
  cycles = static_cast<double>(taken);
  return status;
}

ErrorOr<TrialOutputs> DeviceBench::run(const LoadedKernel &kernel) {
  Status status = reserveWorkspace(kernel.getKernel().workspaceBytes);
  if (status.isOk())
    status = poison();
  if (status.isOk())
    status = launchCounted(kernel);
  TrialOutputs outputs;
  for (KernelArg arg : trial->getOutputs()) {
    if (!status.isOk())
      return status;
    std::vector<char> &bytes = outputs[arg];
    bytes.resize(trial->getTensor(arg).size());
    status = tensors.at(arg).copyToHost(bytes.data(), bytes.size());
  }
  if (!status.isOk())
    return status;
  return outputs;
}

ErrorOr<TrialOutputs> DeviceBench::runAlgorithm(const std::string &algorithm) {
  ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  ErrorOr<std::vector<RankedTile>> ranked =
      engine.getCompiler()->rankTiles(problem, **target, SIZE_MAX);
  if (!ranked)
    return ranked.getStatus();
  for (const RankedTile &candidate : *ranked) {
    if (candidate.tile.algorithm != algorithm)
      continue;
    auto kernel = make(candidate.tile);
    return kernel ? run(**kernel) : kernel.getStatus();
  }
  return notSupported("the algorithm '" + algorithm +
                      "' does not cover the problem");
}

Status DeviceBench::verifyRun(const LoadedKernel &kernel) {
  ErrorOr<TrialOutputs> outputs = run(kernel);
  if (!outputs)
    return outputs.getStatus().withContext("launch");
  std::string fault = trial->judge(*outputs);
  return fault.empty() ? Status::ok() : internalError("wrong result: " + fault);
}

Status DeviceBench::verify(const LoadedKernel &kernel) {
  if (Status status = verifyRun(kernel);
      !status.isOk() || problem.getRows() || !walksBothWays(kernel.getKernel()))
    return status;
  isFromEnd = true;
  Status status = verifyRun(kernel);
  isFromEnd = false;
  return status.withContext("from the last tile on");
}

Status DeviceBench::checkDevice() {
  // After a fault every call fails; the fault may show only in one that waits.
  return gpu.check(gpu.hipDeviceSynchronize(),
                   "the device does not answer any more");
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

Status DeviceBench::flush() {
  return gpu.check(gpu.hipMemsetAsync(flushed->get(), 0, flushed->getByteSize(),
                                      stream.get()),
                   "hipMemsetAsync");
}

/// Microseconds of each of `count` launches, each after a flush of the caches.
ErrorOr<std::vector<double>> DeviceBench::time(const LoadedKernel &kernel,
                                               int count) {
  std::vector<Event> events;
  for (int i = 0; i < 2 * count; ++i) {
    ErrorOr<Event> event = Event::create(gpu);
    if (!event)
      return event.getStatus();
    events.push_back(std::move(*event));
  }
  Status status;
  for (int i = 0; i < count && status.isOk(); ++i) {
    status = flush();
    if (status.isOk())
      status = events[2 * i].record(stream.get());
    if (status.isOk())
      status = launch(kernel);
    if (status.isOk())
      status = events[2 * i + 1].record(stream.get());
  }
  if (status.isOk())
    status = stream.synchronize();
  if (!status.isOk())
    return status;
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    ErrorOr<float> ms = events[2 * i + 1].getMsSince(events[2 * i]);
    if (!ms)
      return ms.getStatus();
    times.push_back(1000.0 * static_cast<double>(*ms));
  }
  return times;
}

/// The clocks that the emulated device predicts for a launch, or the issue
/// cycles of the launch that was verified if it has no model of the chip. What
/// is predicted is not executed to its end, and so comes behind the judge.
ErrorOr<std::vector<double>> DeviceBench::predict(const LoadedKernel &kernel) {
  constexpr int kPredict = 2;
  uint64_t taken = 0;
  if (gpu.takeIssueCycles(kPredict, &taken) != hipSuccess)
    return std::vector<double>{cycles};
  Status status = launch(kernel);
  if (status.isOk())
    status = stream.synchronize();
  (void)gpu.takeIssueCycles(0, &taken);
  if (!status.isOk())
    return status.withContext("prediction");
  return std::vector<double>{static_cast<double>(taken)};
}

ErrorOr<std::vector<double>> DeviceBench::measure(const LoadedKernel &kernel) {
  if (getObjective() == Objective::IssueCycles)
    return predict(kernel);
  if (Status status = reserveWorkspace(kernel.getKernel().workspaceBytes);
      !status.isOk())
    return status;
  constexpr int kWarmUps = 2, kFewest = 5, kMost = 61;
  constexpr double kBudgetUs = 20e3;
  ErrorOr<std::vector<double>> first = time(kernel, kWarmUps);
  if (!first)
    return first;
  const double expected = std::max(first->back(), 1.0);
  return time(kernel, std::clamp(static_cast<int>(kBudgetUs / expected),
                                 kFewest, kMost));
}
