//===- RunConv.cpp - Compiles, runs and judges a convolution --------------===//

#include "test/unit/Support/RunConv.h"

#include "runtime/Gpu/DeviceBuffer.h"

#include <deque>

using namespace tessera;
using namespace tessera::test;

std::string ConvOutcome::toText() const {
  if (!status.isOk())
    return status.getMessage();
  return gaps.empty() ? report.toText() : gaps;
}

namespace {
/// The device's copies of a case's tensors.
class DeviceTensors {
public:
  explicit DeviceTensors(const GpuApi &gpu) : gpu(gpu) {}

  /// Allocates `bytes` and copies them from `data` unless that is null; an
  /// error is kept until getStatus() is asked.
  void *add(const char *data, size_t bytes) {
    auto buffer = DeviceBuffer::allocate(gpu, bytes);
    keep(buffer.getStatus());
    if (!buffer)
      return nullptr;
    if (data)
      keep(buffer->copyFromHost(data, bytes));
    return buffers.emplace_back(std::move(*buffer)).get();
  }
  void *add(const std::vector<char> &data) {
    return add(data.data(), data.size());
  }

  const Status &getStatus() const { return status; }

private:
  void keep(Status next) {
    if (status.isOk())
      status = std::move(next);
  }

  const GpuApi &gpu;
  std::deque<DeviceBuffer> buffers;
  Status status = Status::ok();
};
} // namespace

/// Runs `kernel` on the case's tensors and copies the result back.
static Status launchCase(Engine &engine, const LoadedKernel &kernel,
                         ConvCase &data) {
  const GpuApi &gpu = engine.getGpu();
  DeviceTensors tensors(gpu);
  LaunchArgs args;
  args.x = tensors.add(data.x);
  args.w = tensors.add(data.w);
  args.y = tensors.add(data.y);
  args.bias = tensors.add(data.bias);
  args.residual = tensors.add(data.residual);
  args.workspace = tensors.add(nullptr, kernel.getKernel().workspaceBytes);
  args.alpha = data.alpha;
  args.beta = data.beta;
  args.activAlpha = data.activAlpha;
  args.activBeta = data.activBeta;
  args.activGamma = data.activGamma;
  if (!tensors.getStatus().isOk())
    return tensors.getStatus();
  if (Status launched = engine.launch(kernel, nullptr, args); !launched.isOk())
    return launched;
  std::vector<char> &result = data.getResult();
  const void *from = &result == &data.x   ? args.x
                     : &result == &data.w ? args.w
                                          : args.y;
  return gpu.check(
      gpu.hipMemcpy(result.data(), from, result.size(), hipMemcpyDeviceToHost),
      "hipMemcpy of the result");
}

ConvOutcome test::runConv(Engine &engine, const ConvProblem &problem,
                          reference::DataKind kind, uint64_t seed,
                          int64_t sample) {
  ConvOutcome outcome;
  outcome.status = problem.verify();
  if (!outcome.status.isOk())
    return outcome;
  ErrorOr<const GpuTarget *> target = engine.getGpu().getTarget();
  ErrorOr<const LoadedKernel *> kernel = engine.prepare(problem);
  outcome.status = target ? kernel.getStatus() : target.getStatus();
  if (!outcome.status.isOk())
    return outcome;
  outcome.tile = (*kernel)->getKernel().tile;

  ConvCase data(problem, kind, seed);
  if ((*target)->has(Erratum::FlushesHalfSubnormals))
    data.flushSubnormals();
  outcome.status = launchCase(engine, **kernel, data);
  if (!outcome.status.isOk())
    return outcome;
  outcome.report = sample ? data.checkSample(sample, seed) : data.check();
  outcome.gaps = data.checkGaps();
  return outcome;
}
