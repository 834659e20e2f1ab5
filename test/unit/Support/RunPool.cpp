//===- RunPool.cpp - Compiles, runs and judges a pooling ------------------===//

#include "test/unit/Support/RunPool.h"

#include "runtime/Reference/CaseMemory.h"

using namespace tessera;
using namespace tessera::test;

/// Runs `kernel` on the case's tensors and copies all of them back.
static Status launchCase(Engine &engine, const LoadedKernel &kernel,
                         PoolCase &data, const PoolProblem &problem,
                         Placement placement, bool isFromEnd) {
  const GpuApi &gpu = engine.getGpu();
  DeviceTensors tensors(gpu, placement);
  const size_t elementBytes = getByteSize(problem.dataType);
  // A kernel without indices still has that parameter and gets an address.
  std::vector<char> none(1);
  LaunchArgs args;
  args.setFromEnd(isFromEnd);
  args.x = tensors.add(data.x, elementBytes);
  args.y = tensors.add(data.y, elementBytes);
  args.indices =
      data.indices.empty()
          ? tensors.add(none)
          : tensors.add(data.indices, getByteSize(problem.indexType));
  args.workspace = tensors.add(
      std::vector<char>(kernel.getKernel().workspaceBytes + 1, '\xff'));
  if (!tensors.getStatus().isOk())
    return tensors.getStatus();
  Status status = engine.launch(kernel, nullptr, args);
  if (status.isOk())
    status = readBack(gpu, args.x, data.x);
  if (status.isOk())
    status = readBack(gpu, args.y, data.y);
  if (status.isOk() && !data.indices.empty())
    status = readBack(gpu, args.indices, data.indices);
  return status;
}

PoolOutcome test::runPool(Engine &engine, const PoolProblem &problem,
                          PoolData data, uint64_t seed, int64_t sample,
                          Placement placement) {
  PoolOutcome outcome;
  outcome.status = problem.verify();
  if (!outcome.status.isOk())
    return outcome;
  ErrorOr<const LoadedKernel *> kernel = engine.prepare(problem);
  outcome.status = kernel.getStatus();
  if (!outcome.status.isOk())
    return outcome;
  outcome.tile = (*kernel)->getKernel().tile;
  const CaseUse use = {CaseUse::Purpose::Verify,
                       engine.getGpu().getKind() == DeviceKind::Emulated};
  outcome.status = withCaseMemory(problem, use, [&] {
    Status status;
    // From the first tile on, and from the last one where a launch may.
    for (bool isFromEnd : {false, true}) {
      if (isFromEnd && !walksBothWays((*kernel)->getKernel()))
        break;
      PoolCase host(problem, data, seed);
      status =
          launchCase(engine, **kernel, host, problem, placement, isFromEnd);
      if (status.isOk())
        outcome.fault = host.check(sample, seed);
      if (!outcome.passed() || !status.isOk())
        break;
    }
    return status;
  });
  return outcome;
}
