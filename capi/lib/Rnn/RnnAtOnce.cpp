//===- RnnAtOnce.cpp - Time steps by the matrix unit ----------------------===//
//
// Where the hidden weights of a layer and direction fit the registers of a
// workgroup, one launch makes all steps of one batch, those of a piece; a
// packed batch has a piece for each of its sizes. In training, the last step of
// an LSTM's piece is a launch of its own, because its cell state goes
// elsewhere. Where no workgroup holds the weights, the same problems of one
// step each are launches of many workgroups, each with some units.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Rnn/RnnExecution.h"

#include <array>
#include <ranges>

using namespace tessera;
using namespace tessera::capi;
using enum RowRole;

/// The strides of a tensor of the space [steps, sequences, units, elements].
using Strides4 = std::array<int64_t, 4>;

bool RnnExecution::makesAtOnce() const {
  return seqs.getSteps() >=
         kFewestAtOnce * static_cast<int64_t>(getPieces(Pass{}).size());
}

/// One sequence has row-wise steps, which read the weights as fast. Kernels are
/// made for a batch, of which packed sequences may have many.
bool RnnExecution::makesEach() const {
  return seqs.rows.front() > 1 && seqs.rows.back() == seqs.rows.front();
}

StepWay RnnExecution::findForwardWay() {
  if (makesAtOnce() && canForward(/*isEach=*/false))
    return StepWay::AtOnce;
  return makesEach() && canForward(/*isEach=*/true) ? StepWay::Each
                                                    : StepWay::Launches;
}

/// Backward needs the transposed weights, which only have memory up to a size.
StepWay RnnExecution::findBackwardWay() {
  if (makesAtOnce() && canBackward(/*isEach=*/false))
    return StepWay::AtOnce;
  return makesEach() && net.getHiddenBytes() <= kMostFusedBytes &&
                 canBackward(/*isEach=*/true)
             ? StepWay::Each
             : StepWay::Launches;
}

std::vector<std::pair<int64_t, int64_t>>
RnnExecution::getPieces(const Pass &pass) const {
  std::vector<std::pair<int64_t, int64_t>> pieces;
  const int64_t steps = seqs.getSteps();
  for (int64_t first = 0; first < steps;) {
    int64_t end = first + 1;
    while (end < steps && seqs.rows[getStepNumber(pass, end)] ==
                              seqs.rows[getStepNumber(pass, first)])
      ++end;
    pieces.emplace_back(first, end - first);
    first = end;
  }
  return pieces;
}

/// Adds `count` blocks of `hidden` columns; `matrix` has those of the first
/// step along time, `rows` rows in front of those of the next one.
static void addTimed(RowWiseCall &call, RowRole role, const char *name,
                     const RnnMatrix &matrix, int64_t hidden,
                     int64_t count = 1) {
  const Strides4 strides = {matrix.rows * matrix.stride, matrix.stride, 1, 0};
  for (int64_t block = 0; block < count; ++block)
    call.add(role, name, matrix.type, strides,
             matrix.getColumns(block * hidden, hidden).data);
}

/// Adds a state of each unit that does not depend on time.
static void addUntimed(RowWiseCall &call, RowRole role, const char *name,
                       const RnnMatrix &matrix) {
  const Strides4 strides = {0, matrix.stride, 1, 0};
  call.add(role, name, matrix.type, strides, matrix.data);
}

static void addReduced(RowWiseCall &call, const char *name,
                       const RnnMatrix &matrix) {
  const Strides4 strides = {0, matrix.stride, 0, 1};
  call.add(Input, name, matrix.type, strides, matrix.data);
}

static void addWeights(RowWiseCall &call, const RnnMatrix &w, int64_t hidden,
                       int64_t count) {
  const Strides4 strides = {0, 0, w.stride, 1};
  for (int64_t gate = 0; gate < count; ++gate)
    call.add(Input, "w", w.type, strides,
             w.getRows(gate * hidden, hidden).data);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

RnnMatrix RnnExecution::placeState(const Pass &pass, const void *initial,
                                   const void *final, const RnnMatrix &own,
                                   RnnMatrix &first) {
  // Others are changed before all sequences have read them.
  const bool isInPlace =
      initial && seqs.isOrdered() && seqs.rows.back() == seqs.getBatch();
  if (!isInPlace)
    return first = beginState(pass, initial, final, own);
  first = getState(pass, initial);
  return final ? getState(pass, final) : own;
}

/// `count` steps from the `first`th on to which the pass comes. `state` is the
/// hidden state before them. In training, the cell state of each goes to where
/// the next one keeps it, and that of the piece's last step to the running one.
RowWiseCall RnnExecution::forwardAtOnce(const Pass &pass, int64_t first,
                                        int64_t count, const RnnMatrix &state,
                                        const RnnMatrix &gates,
                                        const RnnMatrix &output) {
  const int64_t hidden = net.hidden, blocks = net.getGates();
  const bool isForward = pass.direction == 0;
  const bool isVanilla = !net.isLstm() && !net.isGru();
  // The first step along time.
  const int64_t begin =
      getStepNumber(pass, isForward ? first : first + count - 1);
  const std::array lengths = {count, state.rows, hidden, hidden};
  RowWiseCall call(launcher.getHandle(),
                   net.isLstm()  ? RowWiseKind::LstmStep
                   : net.isGru() ? RowWiseKind::GruStep
                                 : RowWiseKind::RnnStep,
                   getForwardMode() | kAllSteps |
                       (isForward ? 0 : kDescendingSteps),
                   lengths);
  call.reduce(3);
  addReduced(call, "h", state);
  addWeights(call,
             getWeights(net.getHiddenWeights(pass.layer, pass.direction),
                        net.getGateColumns(), hidden),
             hidden, blocks);
  const RnnMatrix sums = getDirection(getStep(gates, begin), pass.direction);
  addTimed(call, Input, "gates", sums, hidden, blocks);
  auto getKept = [&](int64_t at) {
    return getDirection(getStep(reserve.layers[pass.layer].extra, at),
                        pass.direction);
  };
  const RnnMatrix cell = pass.cell.getRows(0, state.rows);
  if (net.isLstm())
    addUntimed(call, Input, "c",
               isTraining   ? getKept(getStepNumber(pass, first))
               : first == 0 ? pass.firstCell.getRows(0, state.rows)
                            : cell);
  if (net.isGru()) {
    const char *bias = static_cast<const char *>(
        net.hasBias ? getBias(net.getHiddenBias(pass.layer, pass.direction))
                    : space.bias.data);
    const Strides4 strides = {0, 0, 1, 0};
    call.add(Input, "a bias", net.type, strides,
             bias + 2 * hidden * getByteSize(net.type));
    addUntimed(call, Input, "h", state);
  }
  if (isTraining && !isVanilla)
    addTimed(call, RowOutput, "gates", sums, hidden, blocks);
  if (isTraining && net.isGru())
    addTimed(call, RowOutput, "a product", getKept(begin), hidden);
  const bool isLast =
      first + count == seqs.getSteps() ||
      seqs.rows[getStepNumber(pass, first + count)] != state.rows;
  if (net.isLstm() && isTraining && !isLast)
    addTimed(call, RowOutput, "c", getKept(begin + (isForward ? 1 : -1)),
             hidden);
  else if (net.isLstm())
    addUntimed(call, RowOutput, "c", cell);
  addTimed(call, RowOutput, "y",
           getDirection(getStep(output, begin), pass.direction), hidden);
  if (isTraining && isVanilla)
    addTimed(call, RowOutput, "gates", sums, hidden);
  return call;
}

/// Whether there is a kernel for the call; it is compiled then.
static bool hasKernel(miopenHandle &handle, const RowWiseCall &call) {
  const ErrorOr<RowWiseProblem> problem = call.getProblem();
  return problem && handle.engine.prepare(*problem);
}

bool RnnExecution::canForward(bool isEach) {
  const Pass pass{0, 0, space.hidden, space.cell, space.hidden, space.cell};
  const RnnMatrix gates = isTraining ? reserve.layers[0].gates : space.gates[0];
  const auto [first, count] = getPieces(pass).front();
  const RnnMatrix y{nullptr, net.type, seqs.totalRows, net.getOutput(),
                    net.getOutput()};
  const bool isSplit = isTraining && net.isLstm() && count > 1;
  return hasKernel(launcher.getHandle(),
                   forwardAtOnce(pass, first,
                                 isEach    ? 1
                                 : isSplit ? count - 1
                                           : count,
                                 space.hidden.getRows(0, seqs.rows.front()),
                                 gates, y));
}

void RnnExecution::forwardRun(const Pass &pass, int64_t first, int64_t count,
                              const RnnMatrix &gates, const RnnMatrix &output,
                              StepWay way) {
  const int64_t rows = seqs.rows[getStepNumber(pass, first)];
  const RnnMatrix running = pass.hidden.getRows(0, rows);
  auto getPart = [&](const RnnMatrix &matrix, int64_t i) {
    return getDirection(getStep(matrix, getStepNumber(pass, i)),
                        pass.direction);
  };
  const int64_t last = first + count - 1;
  const RnnMatrix state =
      first == 0 ? pass.firstHidden.getRows(0, rows) : running;
  if (isTraining) {
    const RnnReserve::Layer &kept = reserve.layers[pass.layer];
    launcher.copy(state, getPart(kept.previous, first));
    if (net.isLstm())
      launcher.copy((first == 0 ? pass.firstCell : pass.cell).getRows(0, rows),
                    getPart(kept.extra, first));
  }
  const bool isSplit = isTraining && net.isLstm() && count > 1;
  const int64_t most = way == StepWay::Each ? 1 : isSplit ? count - 1 : count;
  for (int64_t i = first; i <= last; i += most)
    launcher.run(forwardAtOnce(pass, i, std::min(most, last + 1 - i),
                               i == first ? state : getPart(output, i - 1),
                               gates, output));
  launcher.copy(getPart(output, last), running);
  if (!isTraining || count == 1)
    return;
  // The hidden states before all steps but the first are outputs of others.
  const bool isForward = pass.direction == 0;
  const RnnMatrix &previous = reserve.layers[pass.layer].previous;
  RnnMatrix from = getPart(output, isForward ? first : last - 1);
  RnnMatrix to = getPart(previous, isForward ? first + 1 : last);
  from.rows = to.rows = (count - 1) * rows;
  launcher.copy(from, to);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// The gradients of `count` steps, of which the last one that a forward pass
/// comes to is in front of step `first + count`, whose gradients exist.
RowWiseCall RnnExecution::backwardAtOnce(const Pass &pass, int64_t first,
                                         int64_t count,
                                         const RnnMatrix &dOutput) {
  const int64_t hidden = net.hidden, blocks = net.getGates();
  const bool isForward = pass.direction == 0;
  const int64_t begin =
      getStepNumber(pass, isForward ? first : first + count - 1);
  const int64_t rows = seqs.rows[begin];
  const std::array lengths = {count, rows, hidden, net.getGateColumns()};
  auto getPart = [&](const RnnMatrix &matrix, int64_t at) {
    return getDirection(getStep(matrix, at), pass.direction);
  };
  const RnnReserve::Layer &kept = reserve.layers[pass.layer];
  RowWiseCall call(launcher.getHandle(),
                   net.isLstm()  ? RowWiseKind::LstmStepBackward
                   : net.isGru() ? RowWiseKind::GruStepBackward
                                 : RowWiseKind::RnnStepBackward,
                   (net.mode == miopenRNNTANH ? 1 : 0) | kAllSteps |
                       (isForward ? kDescendingSteps : 0),
                   lengths);
  call.reduce(3);
  addReduced(
      call, "gradients",
      getPart(getHiddenGates(pass.layer), getStepNumber(pass, first + count)));
  addWeights(call, space.transposed, hidden, 1);
  addTimed(call, Input, "gates", getPart(kept.gates, begin), hidden, blocks);
  if (net.isLstm() || net.isGru())
    addTimed(call, Input, "the old c or a product", getPart(kept.extra, begin),
             hidden);
  if (net.isGru())
    addTimed(call, Input, "the old h", getPart(kept.previous, begin), hidden);
  addTimed(call, Input, "dy", getPart(dOutput, begin), hidden);
  const RnnMatrix state =
      (net.isGru() ? pass.hidden : pass.cell).getRows(0, rows);
  if (net.isLstm() || net.isGru())
    addUntimed(call, Input, "dh or dc", state);
  addTimed(call, RowOutput, "gradients",
           getPart(space.gates[pass.layer], begin), hidden, blocks);
  if (net.isGru())
    addTimed(call, RowOutput, "gradients",
             getPart(space.hiddenGates[pass.layer], begin), hidden, blocks);
  if (net.isLstm() || net.isGru())
    addUntimed(call, RowOutput, "dh or dc", state);
  return call;
}

bool RnnExecution::canBackward(bool isEach) {
  const Pass pass{0, 0, space.hidden, space.cell, space.hidden, space.cell};
  const auto [first, count] = getPieces(pass).front();
  const RnnMatrix dy{nullptr, net.type, seqs.totalRows, net.getOutput(),
                     net.getOutput()};
  return count == 1 ||
         hasKernel(launcher.getHandle(),
                   backwardAtOnce(pass, first, isEach ? 1 : count - 1, dy));
}

/// The last step of a piece has the running gradient of the state behind it
/// instead of a product, and the product of the first one becomes that.
void RnnExecution::backwardRuns(const Pass &pass, const RnnMatrix &dOutput,
                                StepWay way) {
  auto pieces = getPieces(pass);
  transposeWeights(pass);
  for (auto [first, count] : std::views::reverse(pieces)) {
    backwardGates(pass, getStepNumber(pass, first + count - 1), dOutput);
    const int64_t size = way == StepWay::Each ? 1 : count - 1;
    for (int64_t i = first + count - 1 - size; size > 0 && i >= first;
         i -= size)
      launcher.run(backwardAtOnce(pass, i, size, dOutput));
    multiplyGradients(pass, getStepNumber(pass, first));
  }
}
