//===- RnnLauncher.cpp - The launches of a network ------------------------===//

#include "capi/lib/Rnn/RnnLauncher.h"
#include "capi/lib/Reduction/ReduceMode.h"
#include "runtime/DriverCommand/LogCommand.h"

#include <array>

using namespace tessera;
using namespace tessera::capi;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The rows of a matrix are the pixels of one image.
static Strides getPixelStrides(const RnnMatrix &matrix) {
  const int64_t all = matrix.rows * matrix.stride;
  return {all, 1, all, all, matrix.stride};
}

static Strides getFilterStrides(const RnnMatrix &matrix) {
  return {matrix.stride, 1, 1, 1, 1};
}

static ConvProblem makeProduct(Direction direction, const RnnMatrix &x,
                               const RnnMatrix &w, const RnnMatrix &y) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = x.type;
  p.xLayout = p.wLayout = p.yLayout = Layout::Strided;
  p.xStrides = getPixelStrides(x);
  p.wStrides = getFilterStrides(w);
  p.yStrides = getPixelStrides(y);
  p.inChannels = x.columns;
  p.outChannels = y.columns;
  p.in.w = x.rows;
  return p;
}

/// Prepares the kernel for tensors that begin at any element where the other
/// one cannot take them in its workspace.
static ErrorOr<const LoadedKernel *>
prepare(Engine &engine, const ConvProblem &problem, const LaunchArgs &args) {
  ErrorOr<const LoadedKernel *> kernel = engine.prepare(problem);
  if (!kernel)
    return kernel;
  ErrorOr<const LoadedKernel *> fitting = engine.getFitting(**kernel, args);
  if (!fitting && fitting.getStatus().getCode() == StatusCode::NotSupported)
    return engine.prepare(Problem(problem).asUnaligned());
  return fitting;
}

ApiResult RnnLauncher::launch(const ConvProblem &problem, LaunchArgs args) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  const ConvProblem canonical = problem.canonicalize();
  logCommand(canonical);
  const ErrorOr<const LoadedKernel *> kernel =
      prepare(handle.engine, canonical, args);
  if (!kernel)
    return kernel.getStatus();
  const ErrorOr<void *> scratch =
      handle.getScratch((*kernel)->getKernel().workspaceBytes);
  if (!scratch)
    return scratch.getStatus();
  args.workspace = *scratch;
  return handle.launch(**kernel, args);
}

void RnnLauncher::multiply(Direction direction, const RnnMatrix &x,
                           const RnnMatrix &w, const RnnMatrix &y, bool adds,
                           const void *bias) {
  if (!isOk())
    return;
  ConvProblem problem = makeProduct(direction, x, w, y);
  problem.epilogue.beta = adds;
  problem.epilogue.bias = bias != nullptr;
  LaunchArgs args;
  args.x = x.data;
  args.w = w.data;
  args.y = y.data;
  args.bias = bias;
  args.beta = adds ? 1 : 0;
  keep(launch(problem, args));
}

//===----------------------------------------------------------------------===//
// Row-wise operations
//===----------------------------------------------------------------------===//

void RnnLauncher::keep(ApiResult launched) {
  if (isOk() && launched.getStatus() != miopenStatusSuccess)
    result = std::move(launched);
}

void RnnLauncher::run(const RowWiseCall &call) {
  if (isOk())
    keep(call.run());
}

void RnnLauncher::copySteps(const RnnMatrix &from, int64_t fromStep,
                            const RnnMatrix &to, int64_t toStep,
                            int64_t steps) {
  if (from.data == to.data)
    return;
  const std::array lengths = {steps, from.rows, from.columns};
  const std::array<int64_t, 3> fromStrides = {fromStep, from.stride, 1};
  const std::array<int64_t, 3> toStrides = {toStep, to.stride, 1};
  run(RowWiseCall(handle, RowWiseKind::TransformTensor, 0, lengths)
          .add(RowRole::Input, "a source", from.type, fromStrides, from.data)
          .add(RowRole::Output, "a copy", to.type, toStrides, to.data)
          .scalar(1)
          .scalar(0));
}

void RnnLauncher::copy(const RnnMatrix &from, const RnnMatrix &to) {
  copySteps(from, 0, to, from.rows * to.stride, 1);
}

void RnnLauncher::clear(const RnnMatrix &matrix) {
  const std::array lengths = {matrix.rows, matrix.columns};
  const std::array<int64_t, 2> strides = {matrix.stride, 1};
  run(RowWiseCall(handle, RowWiseKind::SetTensor, 0, lengths)
          .add(RowRole::Output, "a state", matrix.type, strides, matrix.data)
          .scalar(0));
}

void RnnLauncher::addColumnSums(const RnnMatrix &matrix, void *sums) {
  const std::array lengths = {matrix.rows, matrix.columns};
  const std::array<int64_t, 2> strides = {matrix.stride, 1}, one = {0, 1};
  RowWiseCall call(handle, RowWiseKind::Reduce, kReduceAdd, lengths);
  call.reduce(0);
  call.add(RowRole::Input, "gradients", matrix.type, strides, matrix.data)
      .add(RowRole::Input, "dw", matrix.type, one, sums)
      .add(RowRole::RowOutput, "dw", matrix.type, one, sums)
      .scalar(1)
      .scalar(1);
  run(call);
}
