//===- RunConv.cpp - Compiles, runs and judges a convolution --------------===//

#include "test/unit/Support/RunConv.h"

#include "test/unit/Support/DeviceTensors.h"

using namespace tessera;
using namespace tessera::test;

std::string ConvOutcome::toText() const {
  if (!status.isOk())
    return status.getMessage();
  return gaps.empty() ? report.toText() : gaps;
}

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
  return readBack(gpu, from, result);
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
