//===- ConvApi.cpp - MIOpen's functions of three directions ---------------===//

#include "tools/dnn-driver/ConvApi.h"

using namespace tessera;
using namespace tessera::driver;

namespace {
/// The functions of a direction except execute(), which has another type of
/// algorithm in each.
struct Functions {
  decltype(&miopenConvolutionForwardGetWorkSpaceSize) getWorkSpaceSize;
  decltype(&miopenFindConvolutionForwardAlgorithm) find;
  decltype(&miopenConvolutionForwardGetSolution) getSolution;
  decltype(&miopenConvolutionForwardGetSolutionWorkspaceSize)
      getSolutionWorkspaceSize;
  decltype(&miopenConvolutionForwardCompileSolution) compileSolution;
  decltype(&miopenConvolutionForwardImmediate) runSolution;
};

/// Tensors in the order of a function's arguments: two are read, one written.
struct Order {
  Operand first, second, result;
};
} // namespace

static constexpr Functions kForward = {
    miopenConvolutionForwardGetWorkSpaceSize,
    miopenFindConvolutionForwardAlgorithm,
    miopenConvolutionForwardGetSolution,
    miopenConvolutionForwardGetSolutionWorkspaceSize,
    miopenConvolutionForwardCompileSolution,
    miopenConvolutionForwardImmediate};
static constexpr Functions kBackwardData = {
    miopenConvolutionBackwardDataGetWorkSpaceSize,
    miopenFindConvolutionBackwardDataAlgorithm,
    miopenConvolutionBackwardDataGetSolution,
    miopenConvolutionBackwardDataGetSolutionWorkspaceSize,
    miopenConvolutionBackwardDataCompileSolution,
    miopenConvolutionBackwardDataImmediate};
static constexpr Functions kBackwardWeights = {
    miopenConvolutionBackwardWeightsGetWorkSpaceSize,
    miopenFindConvolutionBackwardWeightsAlgorithm,
    miopenConvolutionBackwardWeightsGetSolution,
    miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize,
    miopenConvolutionBackwardWeightsCompileSolution,
    miopenConvolutionBackwardWeightsImmediate};

static const Functions &getFunctions(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return kForward;
  case Direction::BackwardData:
    return kBackwardData;
  case Direction::BackwardWeights:
    return kBackwardWeights;
  }
  __builtin_unreachable();
}

/// The order in functions with data; see also getListOrder().
static Order getOrder(Direction direction, const Operands &o) {
  switch (direction) {
  case Direction::Forward:
    return {o.x, o.w, o.y};
  case Direction::BackwardData:
    return {o.y, o.w, o.x};
  case Direction::BackwardWeights:
    return {o.y, o.x, o.w};
  }
  __builtin_unreachable();
}

/// The order in the workspace query and in immediate mode, where forward has w
/// before x.
static Order getListOrder(Direction direction, const Operands &o) {
  if (direction == Direction::Forward)
    return {o.w, o.x, o.y};
  return getOrder(direction, o);
}

Status ConvApi::getWorkspaceSize(size_t &bytes) const {
  const auto [a, b, c] = getListOrder(direction, operands);
  return check(getFunctions(direction).getWorkSpaceSize(handle, a.desc, b.desc,
                                                        conv, c.desc, &bytes));
}

Status ConvApi::find(Workspace workspace, bool exhaustive,
                     miopenConvAlgoPerf_t &result) const {
  const auto [a, b, c] = getOrder(direction, operands);
  int found = 0;
  return check(getFunctions(direction).find(
      handle, a.desc, a.data, b.desc, b.data, conv, c.desc, c.data, 1, &found,
      &result, workspace.data, workspace.bytes, exhaustive));
}

Status ConvApi::execute(int algorithm, const void *alpha, const void *beta,
                        Workspace workspace) const {
  const auto [a, b, c] = getOrder(direction, operands);
  switch (direction) {
  case Direction::Forward:
    return check(miopenConvolutionForward(
        handle, alpha, a.desc, a.data, b.desc, b.data, conv,
        static_cast<miopenConvFwdAlgorithm_t>(algorithm), beta, c.desc, c.data,
        workspace.data, workspace.bytes));
  case Direction::BackwardData:
    return check(miopenConvolutionBackwardData(
        handle, alpha, a.desc, a.data, b.desc, b.data, conv,
        static_cast<miopenConvBwdDataAlgorithm_t>(algorithm), beta, c.desc,
        c.data, workspace.data, workspace.bytes));
  case Direction::BackwardWeights:
    return check(miopenConvolutionBackwardWeights(
        handle, alpha, a.desc, a.data, b.desc, b.data, conv,
        static_cast<miopenConvBwdWeightsAlgorithm_t>(algorithm), beta, c.desc,
        c.data, workspace.data, workspace.bytes));
  }
  __builtin_unreachable();
}

Status ConvApi::getBestSolution(miopenConvSolution_t &solution) const {
  const auto [a, b, c] = getListOrder(direction, operands);
  size_t count = 0;
  return check(getFunctions(direction).getSolution(
      handle, a.desc, b.desc, conv, c.desc, 1, &count, &solution));
}

Status ConvApi::getSolutionWorkspaceSize(uint64_t solution,
                                         size_t &bytes) const {
  const auto [a, b, c] = getListOrder(direction, operands);
  return check(getFunctions(direction).getSolutionWorkspaceSize(
      handle, a.desc, b.desc, conv, c.desc, solution, &bytes));
}

Status ConvApi::compileSolution(uint64_t solution) const {
  const auto [a, b, c] = getListOrder(direction, operands);
  return check(getFunctions(direction).compileSolution(handle, a.desc, b.desc,
                                                       conv, c.desc, solution));
}

Status ConvApi::runSolution(uint64_t solution, Workspace workspace) const {
  const auto [a, b, c] = getListOrder(direction, operands);
  return check(getFunctions(direction).runSolution(
      handle, a.desc, a.data, b.desc, b.data, conv, c.desc, c.data,
      workspace.data, workspace.bytes, solution));
}
