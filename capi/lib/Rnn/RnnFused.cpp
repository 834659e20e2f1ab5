//===- RnnFused.cpp - A time step in one launch ---------------------------===//
//
// Where a step's product with the hidden weights is small, one row-wise launch
// makes it and all that follows: each hidden unit of each sequence reduces the
// products of the old state with its weights. A unit reads the whole old state,
// so that a step reads the output of the step before and writes its own; only
// the last step's output is copied to the final state.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Rnn/RnnExecution.h"

#include <array>

using namespace tessera;
using namespace tessera::capi;
using enum RowRole;

bool RnnTask::fusesSteps(int64_t mostProducts) const {
  const int64_t batch = seqs.rows.front();
  if (seqs.rows.back() != batch)
    return false;
  return batch == 1 ? net.getHiddenBytes() <= kMostFusedBytes
                    : batch * net.getGateColumns() * net.hidden <= mostProducts;
}

int64_t RnnExecution::getStepNumber(const Pass &pass, int64_t i) const {
  return pass.direction == 0 ? i : seqs.getSteps() - 1 - i;
}

//===----------------------------------------------------------------------===//
// Tensors of a step, whose space is [sequences, units, elements to reduce]
//===----------------------------------------------------------------------===//

/// Adds `count` blocks of `hidden` columns, with an element for each unit.
static void addUnits(RowWiseCall &call, RowRole role, const char *name,
                     const RnnMatrix &matrix, int64_t hidden,
                     int64_t count = 1) {
  const std::array<int64_t, 3> strides = {matrix.stride, 1, 0};
  for (int64_t block = 0; block < count; ++block)
    call.add(role, name, matrix.type, strides,
             matrix.getColumns(block * hidden, hidden).data);
}

/// Adds a state, or gradients, that all units of a sequence read.
static void addState(RowWiseCall &call, const char *name,
                     const RnnMatrix &matrix) {
  const std::array<int64_t, 3> strides = {matrix.stride, 0, 1};
  call.add(Input, name, matrix.type, strides, matrix.data);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The biases of both products are added to the product with the input, except
/// a GRU's of the new gate, of which the reset gate scales one.
void RnnExecution::addBiases(int64_t layer) {
  if (!net.hasBias) {
    if (net.isGru())
      launcher.clear(space.bias);
    return;
  }
  const int64_t columns = net.getGateColumns();
  const int64_t both = net.isGru() ? 2 * net.hidden : columns;
  RnnMatrix sum = space.bias, input = sum, hidden = sum;
  sum.rows = input.rows = hidden.rows = net.directions;
  sum.stride = input.stride = hidden.stride = columns;
  input.data =
      static_cast<char *>(const_cast<void *>(getBias(net.getInputBias(layer))));
  hidden.data = static_cast<char *>(
      const_cast<void *>(getBias(net.getHiddenBias(layer, 0))));
  const std::array lengths = {net.directions, both};
  RowWiseCall call(launcher.getHandle(), RowWiseKind::OpTensor, 0, lengths);
  addGates(call, Input, "a bias", input, both);
  addGates(call, Input, "a bias", hidden, both);
  addGates(call, Output, "biases", sum, both);
  launcher.run(call.scalar(1).scalar(1).scalar(0));
  if (both < columns)
    launcher.copy(input.getColumns(both, net.hidden),
                  sum.getColumns(both, net.hidden));
}

/// The bias of a GRU's product of the new gate with the hidden state, or zeros.
static void addNewBias(RowWiseCall &call, const RnnNetwork &net,
                       const void *bias) {
  const std::array<int64_t, 3> strides = {0, 1, 0};
  call.add(Input, "a bias", net.type, strides,
           static_cast<const char *>(bias) +
               2 * net.hidden * getByteSize(net.type));
}

/// `state` is the hidden state before the step. The cell state is that of the
/// pass; in training the one before the step is kept where it lies, and the new
/// one goes to where the next step keeps it.
void RnnExecution::fusedStep(const Pass &pass, int64_t i,
                             const RnnMatrix &state, const RnnMatrix &gates,
                             const RnnMatrix &output) {
  const int64_t hidden = net.hidden, count = net.getGates();
  const int64_t step = getStepNumber(pass, i);
  const bool isVanilla = !net.isLstm() && !net.isGru();
  const std::array lengths = {state.rows, hidden, hidden};
  RowWiseCall call(launcher.getHandle(),
                   net.isLstm()  ? RowWiseKind::LstmStep
                   : net.isGru() ? RowWiseKind::GruStep
                                 : RowWiseKind::RnnStep,
                   getForwardMode(), lengths);
  call.reduce(2);
  addState(call, "h", state);
  const RnnMatrix w =
      getWeights(net.getHiddenWeights(pass.layer, pass.direction),
                 net.getGateColumns(), hidden);
  const std::array<int64_t, 3> wStrides = {0, hidden, 1};
  for (int64_t gate = 0; gate < count; ++gate)
    call.add(Input, "w", net.type, wStrides,
             w.getRows(gate * hidden, hidden).data);
  const RnnMatrix sums = getDirection(getStep(gates, step), pass.direction);
  addUnits(call, Input, "gates", sums, hidden, count);
  auto getKept = [&](int64_t at) {
    return getDirection(getStep(reserve.layers[pass.layer].extra, at),
                        pass.direction);
  };
  const bool isLast = i + 1 == seqs.getSteps();
  if (net.isLstm())
    addUnits(call, Input, "c", isTraining ? getKept(step) : pass.cell, hidden);
  if (net.isGru()) {
    addNewBias(call, net,
               net.hasBias
                   ? getBias(net.getHiddenBias(pass.layer, pass.direction))
                   : space.bias.data);
    addUnits(call, Input, "h", state, hidden);
  }
  if (isTraining && !isVanilla)
    addUnits(call, RowOutput, "gates", sums, hidden, count);
  if (isTraining && net.isGru())
    addUnits(call, RowOutput, "a product", getKept(step), hidden);
  if (net.isLstm())
    addUnits(call, RowOutput, "c",
             isTraining && !isLast ? getKept(getStepNumber(pass, i + 1))
                                   : pass.cell,
             hidden);
  addUnits(call, RowOutput, "y",
           getDirection(getStep(output, step), pass.direction), hidden);
  if (isTraining && isVanilla)
    addUnits(call, RowOutput, "gates", sums, hidden);
  launcher.run(call);
}

/// The hidden states before all steps but the first are the outputs of the
/// others, whose rows are neighbours.
void RnnExecution::keepStates(const Pass &pass, const RnnMatrix &output) {
  const RnnMatrix previous =
      getDirection(reserve.layers[pass.layer].previous, pass.direction);
  const RnnMatrix all = getDirection(output, pass.direction);
  const int64_t rows = seqs.rows.front(), count = seqs.totalRows - rows;
  if (count > 0)
    launcher.copy(all.getRows(pass.direction == 0 ? 0 : rows, count),
                  previous.getRows(pass.direction == 0 ? rows : 0, count));
}

void RnnExecution::forwardFused(const Pass &pass, const RnnMatrix &gates,
                                const RnnMatrix &output) {
  const int64_t steps = seqs.getSteps();
  // Sequences without a time step have states, behind those of the others.
  const RnnMatrix initial = pass.hidden.getRows(0, seqs.rows.front());
  if (isTraining) {
    const RnnReserve::Layer &kept = reserve.layers[pass.layer];
    auto getFirst = [&](const RnnMatrix &matrix) {
      return getDirection(getStep(matrix, getStepNumber(pass, 0)),
                          pass.direction);
    };
    launcher.copy(initial, getFirst(kept.previous));
    if (net.isLstm())
      launcher.copy(pass.cell.getRows(0, initial.rows), getFirst(kept.extra));
  }
  RnnMatrix state = initial;
  for (int64_t i = 0; i < steps; ++i) {
    fusedStep(pass, i, state, gates, output);
    state =
        getDirection(getStep(output, getStepNumber(pass, i)), pass.direction);
  }
  launcher.copy(state, initial);
  if (isTraining)
    keepStates(pass, output);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Makes the gradients of a step's products from those of the step behind it.
void RnnExecution::fusedGradients(const Pass &pass, int64_t step, int64_t next,
                                  const RnnMatrix &dOutput) {
  const int64_t hidden = net.hidden, count = net.getGates();
  const std::array lengths = {seqs.rows[step], hidden, net.getGateColumns()};
  auto getPart = [&](const RnnMatrix &matrix, int64_t at) {
    return getDirection(getStep(matrix, at), pass.direction);
  };
  const RnnReserve::Layer &kept = reserve.layers[pass.layer];
  RowWiseCall call(launcher.getHandle(),
                   net.isLstm()  ? RowWiseKind::LstmStepBackward
                   : net.isGru() ? RowWiseKind::GruStepBackward
                                 : RowWiseKind::RnnStepBackward,
                   net.mode == miopenRNNTANH ? 1 : 0, lengths);
  call.reduce(2);
  addState(call, "gradients", getPart(getHiddenGates(pass.layer), next));
  const std::array<int64_t, 3> wStrides = {0, space.transposed.stride, 1};
  call.add(Input, "w", net.type, wStrides, space.transposed.data);
  addUnits(call, Input, "gates", getPart(kept.gates, step), hidden, count);
  if (net.isLstm() || net.isGru())
    addUnits(call, Input, "the old c or a product", getPart(kept.extra, step),
             hidden);
  if (net.isGru())
    addUnits(call, Input, "the old h", getPart(kept.previous, step), hidden);
  addUnits(call, Input, "dy", getPart(dOutput, step), hidden);
  if (net.isGru())
    addUnits(call, Input, "dh", pass.hidden, hidden);
  if (net.isLstm())
    addUnits(call, Input, "dc", pass.cell, hidden);
  addUnits(call, RowOutput, "gradients", getPart(space.gates[pass.layer], step),
           hidden, count);
  if (net.isGru()) {
    addUnits(call, RowOutput, "gradients",
             getPart(space.hiddenGates[pass.layer], step), hidden, count);
    addUnits(call, RowOutput, "dh", pass.hidden, hidden);
  }
  if (net.isLstm())
    addUnits(call, RowOutput, "dc", pass.cell, hidden);
  launcher.run(call);
}

/// Makes each unit's weights a row, which is then contiguous as in forward
/// steps.
void RnnExecution::transposeWeights(const Pass &pass) {
  const RnnMatrix &to = space.transposed;
  const std::array lengths = {to.rows, to.columns};
  const std::array<int64_t, 2> fromStrides = {1, net.hidden},
                               toStrides = {to.stride, 1};
  const RnnMatrix from =
      getWeights(net.getHiddenWeights(pass.layer, pass.direction),
                 net.getGateColumns(), net.hidden);
  launcher.run(
      RowWiseCall(launcher.getHandle(), RowWiseKind::TransformTensor, 0,
                  lengths)
          .add(Input, "w", net.type, fromStrides, from.data)
          .add(Output, "transposed weights", net.type, toStrides, to.data)
          .scalar(1)
          .scalar(0));
}

/// The last step has no gradients of products behind it, and the initial state
/// is no step.
void RnnExecution::backwardFused(const Pass &pass, const RnnMatrix &dOutput) {
  const int64_t steps = seqs.getSteps();
  if (steps > 1)
    transposeWeights(pass);
  backwardGates(pass, getStepNumber(pass, steps - 1), dOutput);
  for (int64_t i = steps - 1; i-- > 0;)
    fusedGradients(pass, getStepNumber(pass, i), getStepNumber(pass, i + 1),
                   dOutput);
  multiplyGradients(pass, getStepNumber(pass, 0));
}
