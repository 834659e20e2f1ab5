//===- ConvolutionCall.cpp - The calls of every direction -----------------===//

#include "capi/lib/Convolution/ConvolutionCall.h"

#include "capi/lib/Convolution/VectorConvolution.h"
#include "capi/lib/Find/FindSearch.h"
#include "capi/lib/Handle/KernelChecks.h"
#include "runtime/Base/Log.h"
#include "runtime/DriverCommand/LogCommand.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// A kernel that is about to run, with the arguments of its launch.
struct ReadyKernel {
  const LoadedKernel *kernel;
  bool isBest; ///< Else the best one has no workspace.
  LaunchArgs args;
};
} // namespace

static ErrorOr<const LoadedKernel *> prepareProblem(const ConvolutionCall &call,
                                                    const Problem &problem) {
  ErrorOr<const LoadedKernel *> kernel = call.handle.engine.prepare(problem);
  if (!kernel || call.operands.conv.deterministic == 0)
    return kernel;
  if (Status status = checkDeterministic(**kernel); !status.isOk())
    return status;
  return kernel;
}

/// The problem that a kernel is made for: that of the call, or that of copies
/// without blocks of channels.
static ErrorOr<ConvProblem> makeKernelProblem(const ConvolutionCall &call) {
  if (!hasVectors(call.operands)) [[likely]]
    return makeConvProblem(call.direction, call.operands);
  const VectorConvolution copies(call);
  return makeConvProblem(call.direction, copies.getOperands());
}

ErrorOr<const LoadedKernel *> capi::prepareKernel(const ConvolutionCall &call) {
  const ErrorOr<ConvProblem> problem = makeKernelProblem(call);
  if (!problem)
    return problem.getStatus();
  return prepareProblem(call, *problem);
}

/// The workspace of a call that runs `kernel`.
static size_t getWorkspaceBytes(const ConvolutionCall &call,
                                const LoadedKernel &kernel) {
  const size_t bytes = kernel.getKernel().workspaceBytes;
  return hasVectors(call.operands)
             ? bytes + VectorConvolution(call).getCopyBytes()
             : bytes;
}

static LaunchArgs getArgs(const ConvolutionCall &call,
                          const ConvolutionData &data, const Scaling &scaling) {
  LaunchArgs args;
  args.x = data.x;
  args.w = data.w;
  args.y = data.y;
  if (call.operands.areSwapped())
    std::swap(args.x, args.y);
  args.workspace = data.workspace;
  args.alpha = scaling.alpha;
  args.beta = scaling.beta;
  return args;
}

static bool fits(const LoadedKernel &kernel, const ConvolutionData &data) {
  return checkWorkspace(kernel, data.workspace, data.workspaceBytes).isOk();
}

/// Prepares the kernel of a call that brings the workspace of `data`: the best
/// one, or, if its workspace is larger, the best one without a workspace. If
/// there is none, the caller learns how large a workspace is missing.
static ErrorOr<ReadyKernel> prepareFitting(const ConvolutionCall &call,
                                           const ConvolutionData &data,
                                           const Problem &problem) {
  const ErrorOr<const LoadedKernel *> best = prepareProblem(call, problem);
  if (!best)
    return best.getStatus();
  if (fits(**best, data))
    return ReadyKernel{*best, /*isBest=*/true, {}};
  const ErrorOr<const LoadedKernel *> other =
      prepareProblem(call, problem.asWithoutWorkspace());
  const bool isBest = !other || !fits(**other, data);
  return ReadyKernel{isBest ? *best : *other, isBest, {}};
}

/// Prepares the kernel of a call that will run it. Only such calls are written
/// to the log of MIOPEN_ENABLE_LOGGING_CMD.
static ErrorOr<ReadyKernel> prepareToRun(const ConvolutionCall &call,
                                         const ConvolutionData &data,
                                         const Scaling &scaling = {}) {
  ErrorOr<ConvProblem> problem = makeKernelProblem(call);
  if (!problem)
    return problem.getStatus();
  problem->epilogue = scaling.epilogue;
  logCommand(*problem);
  ErrorOr<ReadyKernel> ready = prepareFitting(call, data, *problem);
  if (ready)
    ready->args = getArgs(call, data, scaling);
  return ready;
}

/// Checks the workspace, then launches on the handle's stream.
static Status runKernel(const ConvolutionCall &call,
                        const ConvolutionData &data, const Scaling &scaling) {
  const ErrorOr<ReadyKernel> ready = prepareToRun(call, data, scaling);
  if (!ready)
    return ready.getStatus();
  if (Status status =
          checkWorkspace(*ready->kernel, data.workspace, data.workspaceBytes);
      !status.isOk())
    return status;
  return call.handle.launch(*ready->kernel, ready->args);
}

/// Runs the kernel, behind and before copies of tensors with blocks of
/// channels.
static Status run(const ConvolutionCall &call, const ConvolutionData &data,
                  const Scaling &scaling = {}) {
  if (!hasVectors(call.operands)) [[likely]]
    return runKernel(call, data, scaling);
  const VectorConvolution copies(call);
  Status status = copies.checkWorkspace(data);
  if (status.isOk())
    status = copies.copyOperands(data, scaling.beta != 0);
  if (status.isOk())
    status = runKernel(call, copies.getData(data), scaling);
  return status.isOk() ? copies.copyResult(data) : status;
}

//===----------------------------------------------------------------------===//
// Find 1.0
//===----------------------------------------------------------------------===//

ApiResult capi::getWorkspaceSize(const ConvolutionCall &call, size_t &bytes) {
  const ErrorOr<const LoadedKernel *> kernel = prepareKernel(call);
  if (!kernel)
    return kernel.getStatus();
  bytes = getWorkspaceBytes(call, **kernel);
  return Status::ok();
}

/// The kernel that Find reports.
static ErrorOr<ReadyKernel> findKernel(const ConvolutionCall &call,
                                       const ConvolutionData &data,
                                       bool isSearchAsked) {
  const FindSettings &settings = readFindSettingsOnce();
  const ErrorOr<ConvProblem> problem = makeKernelProblem(call);
  if (!problem)
    return problem.getStatus();
  Engine &engine = call.handle.engine;
  cleanForFind(engine, *problem, settings);
  ErrorOr<ReadyKernel> ready = prepareToRun(call, data);
  // What a search finds may need the workspace that this call does not have.
  if (!ready || !ready->isBest)
    return ready;
  const ErrorOr<const LoadedKernel *> found =
      searchForFind(engine, *problem, *ready->kernel, isSearchAsked, settings);
  if (!found)
    return found.getStatus();
  ready->kernel = *found;
  return ready;
}

/// UnknownError, as MIOpen reports it if no solver is left.
static ApiResult makeNothingFits(const Status &status) {
  return {miopenStatusUnknownError,
          "no algorithm fits: " + status.getMessage()};
}

/// What the kernel of Find reads and writes; the time of copies is not
/// measured.
static ErrorOr<ConvolutionData> getFindData(const ConvolutionCall &call,
                                            const ConvolutionData &given) {
  if (!hasVectors(call.operands))
    return given;
  const VectorConvolution copies(call);
  if (Status status = copies.checkWorkspace(given); !status.isOk())
    return status;
  return copies.getData(given);
}

ApiResult capi::findAlgorithm(const ConvolutionCall &call,
                              const ConvolutionData &given, int requestedCount,
                              int &returnedCount, miopenConvAlgoPerf_t *results,
                              bool isSearchAsked) {
  if (requestedCount < 1)
    return invalidArgument("requestAlgoCount is below 1");
  const ErrorOr<ConvolutionData> found = getFindData(call, given);
  if (!found)
    return makeNothingFits(found.getStatus());
  const ConvolutionData &data = *found;
  const ErrorOr<ReadyKernel> ready = findKernel(call, data, isSearchAsked);
  if (!ready)
    return ready.getStatus();
  // MIOpen skips solvers that need more workspace, and reports this status if
  // none is left.
  if (Status status =
          checkWorkspace(*ready->kernel, data.workspace, data.workspaceBytes);
      !status.isOk())
    return makeNothingFits(status);
  float timeMs = 0;
  if (Status status = call.handle.measure(*ready->kernel, ready->args, timeMs);
      !status.isOk())
    return status;
  // The value of Direct is the same in the enums of all directions.
  results->fwd_algo = miopenConvolutionFwdAlgoDirect;
  results->time = timeMs;
  results->memory = getWorkspaceBytes(call, *ready->kernel);
  returnedCount = 1;
  return Status::ok();
}

Status capi::checkAlgorithm(Direction direction, int algorithm) {
  switch (algorithm) {
  case miopenConvolutionAlgoGEMM:
  case miopenConvolutionAlgoDirect:
  case miopenConvolutionAlgoWinograd:
  case miopenConvolutionAlgoImplicitGEMM:
    return Status::ok();
  case miopenConvolutionAlgoFFT:
    if (direction != Direction::BackwardWeights)
      return Status::ok();
    break;
  case miopenConvolutionAlgoStaticCompiledGEMM:
    if (direction == Direction::Forward)
      return Status::ok();
    break;
  default:
    break;
  }
  return invalidArgument("algorithm " + std::to_string(algorithm) +
                         " is unknown");
}

ApiResult capi::runAlgorithm(const ConvolutionCall &call,
                             const ConvolutionData &data, int algorithm,
                             const void *alpha, const void *beta) {
  if (Status status = checkAlgorithm(call.direction, algorithm); !status.isOk())
    return status;
  const ErrorOr<Scaling> scaling = readScaling(call.operands, alpha, beta);
  if (!scaling)
    return scaling.getStatus();
  return run(call, data, *scaling);
}

//===----------------------------------------------------------------------===//
// Immediate mode
//===----------------------------------------------------------------------===//

/// Each direction has a solution that is the kernel which the compiler chooses
/// for the problem. The ids are far from those of MIOpen, which are indices in
/// its registry, and are never used for anything else, so that they are stable.
uint64_t capi::getSolution(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return 1001;
  case Direction::BackwardData:
    return 1002;
  case Direction::BackwardWeights:
    return 1003;
  }
  __builtin_unreachable();
}

/// The id of the kernel for callers without a workspace. It is listed where the
/// best kernel has one.
static uint64_t getWorkspaceFreeSolution(Direction direction) {
  return getSolution(direction) + 10;
}

/// The problem whose kernel a solution is.
static ErrorOr<Problem> makeProblem(const ConvolutionCall &call,
                                    uint64_t solution) {
  const bool isFree = solution == getWorkspaceFreeSolution(call.direction);
  // Copies of tensors with blocks of channels lie in a workspace.
  if ((!isFree || hasVectors(call.operands)) &&
      solution != getSolution(call.direction))
    return invalidArgument("there is no solution " + std::to_string(solution));
  const ErrorOr<ConvProblem> conv = makeKernelProblem(call);
  if (!conv)
    return conv.getStatus();
  const Problem problem = *conv;
  return isFree ? problem.asWithoutWorkspace() : problem;
}

static ErrorOr<const LoadedKernel *>
prepareSolution(const ConvolutionCall &call, uint64_t solution) {
  const ErrorOr<Problem> problem = makeProblem(call, solution);
  if (!problem)
    return problem.getStatus();
  return prepareProblem(call, *problem);
}

/// At most `maxCount` solutions, the best first. The second one, which costs a
/// compilation, is prepared only if it is wanted.
static ErrorOr<std::vector<miopenConvSolution_t>>
listSolutions(const ConvolutionCall &call, size_t maxCount) {
  std::vector<miopenConvSolution_t> solutions;
  const auto add = [&](uint64_t id, uint64_t workspaceBytes) {
    miopenConvSolution_t &solution = solutions.emplace_back();
    solution.time = 0;
    solution.workspace_size = workspaceBytes;
    solution.solution_id = id;
    solution.algorithm = miopenConvolutionAlgoDirect;
  };
  const ErrorOr<const LoadedKernel *> best = prepareKernel(call);
  if (!best)
    return best.getStatus();
  const uint64_t bytes = (*best)->getKernel().workspaceBytes;
  add(getSolution(call.direction), getWorkspaceBytes(call, **best));
  if (bytes == 0 || maxCount < 2 || hasVectors(call.operands))
    return solutions;
  const uint64_t freeId = getWorkspaceFreeSolution(call.direction);
  const ErrorOr<const LoadedKernel *> other = prepareSolution(call, freeId);
  if (other && (*other)->getKernel().workspaceBytes == 0)
    add(freeId, 0);
  return solutions;
}

ApiResult capi::countSolutions(const ConvolutionCall &call, size_t &count) {
  const auto solutions = listSolutions(call, SIZE_MAX);
  if (!solutions)
    return solutions.getStatus();
  count = solutions->size();
  return Status::ok();
}

ApiResult capi::getSolutions(const ConvolutionCall &call, size_t maxCount,
                             size_t &count, miopenConvSolution_t *solutions) {
  if (maxCount < 1)
    return invalidArgument("maxSolutionCount is 0");
  const auto list = listSolutions(call, maxCount);
  if (!list)
    return list.getStatus();
  std::ranges::copy(*list, solutions);
  count = list->size();
  return Status::ok();
}

ApiResult capi::getSolutionWorkspaceSize(const ConvolutionCall &call,
                                         uint64_t solution, size_t &bytes) {
  const ErrorOr<const LoadedKernel *> kernel = prepareSolution(call, solution);
  if (!kernel)
    return kernel.getStatus();
  bytes = getWorkspaceBytes(call, **kernel);
  return Status::ok();
}

ApiResult capi::compileSolution(const ConvolutionCall &call,
                                uint64_t solution) {
  return prepareSolution(call, solution).getStatus();
}

ApiResult capi::runSolution(const ConvolutionCall &call,
                            const ConvolutionData &data, uint64_t solution) {
  const ErrorOr<Problem> problem = makeProblem(call, solution);
  if (!problem)
    return problem.getStatus();
  // A call that brings no workspace gets the kernel that needs none.
  if (problem->isWithoutWorkspace())
    return run(call, {data.x, data.w, data.y, nullptr, 0});
  return run(call, data);
}
