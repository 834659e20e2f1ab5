//===- RunRowWise.cpp - Compiles, runs and judges row-wise operations -----===//

#include "test/unit/Support/RunRowWise.h"

#include "runtime/Reference/CaseMemory.h"
#include "runtime/Reference/RowWiseRecipe.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

namespace {
/// A case's tensors on the device and their launch.
class Run {
public:
  Run(Engine &engine, const RowWiseProblem &problem, RowWiseCase &host,
      const SharedMemory &shared, Placement placement)
      : gpu(engine.getGpu()), engine(engine), problem(problem), host(host),
        shared(shared), tensors(gpu, placement) {}

  Status launch(const LoadedKernel &kernel) {
    for (int i = 0; i < problem.tensorCount; ++i)
      args.tensors[i] =
          tensors.add(host.tensors[i], getByteSize(problem.tensors[i].type));
    for (auto [input, output] : shared)
      args.tensors[output] = args.tensors[input];
    std::ranges::copy(host.scalars, args.scalars.begin());
    args.workspace = tensors.add(
        std::vector<char>(kernel.getKernel().workspaceBytes + 1, '\xff'));
    if (!tensors.getStatus().isOk())
      return tensors.getStatus();
    return engine.launch(kernel, nullptr, args);
  }

  /// Copies the outputs to the case. Returns what is wrong if an input has
  /// changed, else an empty text.
  ErrorOr<std::string> collect() {
    for (int i = 0; i < problem.tensorCount; ++i) {
      const bool isInput = problem.tensors[i].role == RowRole::Input;
      std::vector<char> before = host.tensors[i];
      std::vector<char> &into = isInput ? before : host.tensors[i];
      Status status = readBack(gpu, args.tensors[i], into);
      if (!status.isOk())
        return status;
      if (isInput && !isShared(i) && before != host.tensors[i])
        return "input " + std::to_string(i) + " was written";
    }
    return std::string();
  }

private:
  bool isShared(int input) const {
    return std::ranges::any_of(shared,
                               [&](auto pair) { return pair.first == input; });
  }

  const GpuApi &gpu;
  Engine &engine;
  const RowWiseProblem &problem;
  RowWiseCase &host;
  const SharedMemory &shared;
  DeviceTensors tensors;
  LaunchArgs args;
};
} // namespace

RowOutcome test::runRowWise(Engine &engine, const RowWiseProblem &problem,
                            uint64_t seed, int64_t sample,
                            const SharedMemory &shared, Placement placement) {
  RowOutcome outcome;
  outcome.status = problem.verify();
  if (outcome.status.isOk() && !findRowRecipe(problem))
    outcome.status = invalidArgument("no recipe matches this problem");
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
    RowWiseCase host(problem, seed);
    Run run(engine, problem, host, shared, placement);
    Status status = run.launch(**kernel);
    if (!status.isOk())
      return status;
    ErrorOr<std::string> fault = run.collect();
    if (fault)
      outcome.fault = fault->empty() ? host.check(sample, seed) : *fault;
    return fault.getStatus();
  });
  return outcome;
}
