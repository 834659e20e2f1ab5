//===- RunConv.cpp - Compiles, runs and judges a convolution --------------===//

#include "test/unit/Support/RunConv.h"

#include "runtime/Reference/CaseMemory.h"
#include "runtime/Reference/ReferenceShape.h"

using namespace tessera;
using namespace tessera::test;

std::string ConvOutcome::toText() const {
  if (!status.isOk())
    return status.getMessage();
  if (!statistics.empty())
    return statistics;
  return gaps.empty() ? report.toText() : gaps;
}

/// Runs `kernel` on the case's tensors and copies the result back.
static Status launchCase(Engine &engine, const LoadedKernel &kernel,
                         ConvCase &data, const ConvProblem &problem,
                         Placement placement, bool isFromEnd) {
  const GpuApi &gpu = engine.getGpu();
  DeviceTensors tensors(gpu, placement);
  auto getBytes = [&](Direction resultOf) -> size_t {
    return getByteSize(getTypeOf(problem, resultOf));
  };
  const size_t resultBytes = getByteSize(problem.getResultType());
  LaunchArgs args;
  args.x = tensors.add(data.x, getBytes(Direction::BackwardData));
  args.w = tensors.add(data.w, getBytes(Direction::BackwardWeights));
  args.y = tensors.add(data.y, getBytes(Direction::Forward));
  args.bias = tensors.add(data.bias, resultBytes);
  args.residual = tensors.add(data.residual, resultBytes);
  args.mean = tensors.add(data.mean, sizeof(float));
  args.variance = tensors.add(data.variance, sizeof(float));
  for (size_t i = 0; i < data.normTensors.size(); ++i)
    args.tensors[i] = tensors.add(data.normTensors[i], resultBytes);
  args.workspace = tensors.add(nullptr, kernel.getKernel().workspaceBytes);
  args.alpha = data.alpha;
  args.beta = data.beta;
  args.activAlpha = data.activAlpha;
  args.activBeta = data.activBeta;
  args.activGamma = data.activGamma;
  args.setFromEnd(isFromEnd);
  if (!tensors.getStatus().isOk())
    return tensors.getStatus();
  if (Status launched = engine.launch(kernel, nullptr, args); !launched.isOk())
    return launched;
  std::vector<char> &result = data.getResult();
  const void *from = &result == &data.x   ? args.x
                     : &result == &data.w ? args.w
                                          : args.y;
  Status status = readBack(gpu, from, result);
  for (KernelArg arg : data.getChannelResults())
    if (status.isOk())
      status = readBack(gpu, args.getPointer(arg), *data.findTensor(arg));
  return status;
}

ConvOutcome test::runConv(Engine &engine, const ConvProblem &problem,
                          reference::DataKind kind, uint64_t seed,
                          int64_t sample, Placement placement) {
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

  const CaseUse use = {CaseUse::Purpose::Verify,
                       engine.getGpu().getKind() == DeviceKind::Emulated};
  outcome.status = withCaseMemory(problem, use, [&] {
    ConvCase data(problem, kind, seed);
    data.adaptTo(**target);
    Status status = launchCase(engine, **kernel, data, problem, placement,
                               /*isFromEnd=*/false);
    if (!status.isOk())
      return status;
    outcome.report = sample ? data.checkSample(sample, seed) : data.check();
    outcome.gaps = data.checkGaps();
    outcome.statistics = data.checkChannelResults();
    for (KernelArg arg : data.getChannelResults())
      outcome.channelResults.push_back(*data.findTensor(arg));
    if (walksBothWays((*kernel)->getKernel()) && outcome.passed()) {
      ConvCase again(problem, kind, seed);
      again.adaptTo(**target);
      status = launchCase(engine, **kernel, again, problem, placement,
                          /*isFromEnd=*/true);
      if (again.getResult() != data.getResult())
        outcome.gaps = "another result from the last tile on";
    }
    outcome.result = std::move(data.getResult());
    return status;
  });
  return outcome;
}
