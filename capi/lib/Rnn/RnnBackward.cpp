//===- RnnBackward.cpp - The gradients of a network -----------------------===//

#include "capi/lib/Reduction/ReduceMode.h"
#include "capi/lib/Rnn/RnnExecution.h"

#include <array>

using namespace tessera;
using namespace tessera::capi;

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

static RowWiseKind getKind(const RnnNetwork &net) {
  return net.isLstm()  ? RowWiseKind::LstmBackward
         : net.isGru() ? RowWiseKind::GruBackward
                       : RowWiseKind::RnnBackward;
}

/// Makes the gradients of the products of a step, and of the state before it
/// what does not come through the hidden weights.
void RnnExecution::backwardGates(const Pass &pass, int64_t step,
                                 const RnnMatrix &dOutput) {
  using enum RowRole;
  const int64_t hidden = net.hidden, gates = net.getGates();
  const std::array lengths = {seqs.rows[step], hidden};
  auto getPart = [&](const RnnMatrix &matrix) {
    return getDirection(getStep(matrix, step), pass.direction);
  };
  const RnnReserve::Layer &kept = reserve.layers[pass.layer];
  RowWiseCall call(launcher.getHandle(), getKind(net),
                   net.mode == miopenRNNTANH ? 1 : 0, lengths);
  addGates(call, Input, "gates", getPart(kept.gates), hidden, gates);
  if (net.isLstm() || net.isGru())
    addGates(call, Input, "the old c or a product", getPart(kept.extra),
             hidden);
  if (net.isGru())
    addGates(call, Input, "the old h", getPart(kept.previous), hidden);
  addGates(call, Input, "dy", getPart(dOutput), hidden);
  addGates(call, Input, "dh", pass.hidden, hidden);
  if (net.isLstm())
    addGates(call, Input, "dc", pass.cell, hidden);
  addGates(call, Output, "gradients", getPart(space.gates[pass.layer]), hidden,
           gates);
  if (net.isGru())
    addGates(call, Output, "gradients", getPart(space.hiddenGates[pass.layer]),
             hidden, gates);
  if (net.isGru())
    addGates(call, Output, "dh", pass.hidden, hidden);
  if (net.isLstm())
    addGates(call, Output, "dc", pass.cell, hidden);
  launcher.run(call);
}

void RnnExecution::backwardStep(const Pass &pass, int64_t step,
                                const RnnMatrix &dOutput) {
  backwardGates(pass, step, dOutput);
  multiplyGradients(pass, step);
}

void RnnExecution::multiplyGradients(const Pass &pass, int64_t step) {
  // In a GRU the update gate passes a part of the gradient on.
  launcher.multiply(
      Direction::BackwardData, pass.hidden.getRows(0, seqs.rows[step]),
      getWeights(net.getHiddenWeights(pass.layer, pass.direction),
                 net.getGateColumns(), net.hidden),
      getDirection(getStep(getHiddenGates(pass.layer), step), pass.direction),
      /*adds=*/net.isGru());
}

void RnnExecution::backwardInput(int64_t layer, const RnnMatrix &dInput) {
  const RnnMatrix &gates = space.gates[layer];
  const int64_t columns = net.getInputColumns(layer);
  if (columns > 0)
    return launcher.multiply(
        Direction::BackwardData, dInput,
        getWeights(net.getInputWeights(layer), gates.columns, columns), gates,
        /*adds=*/false);
  const int64_t blocks = gates.columns / net.hidden;
  const std::array lengths = {gates.rows, blocks, net.hidden};
  const std::array<int64_t, 3> from = {gates.stride, net.hidden, 1},
                               to = {dInput.stride, 0, 1};
  RowWiseCall call(launcher.getHandle(), RowWiseKind::Reduce, kReduceAdd,
                   lengths);
  call.reduce(1);
  call.add(RowRole::Input, "gradients", net.type, from, gates.data)
      .add(RowRole::RowOutput, "dx", net.type, to, dInput.data)
      .scalar(1)
      .scalar(0);
  launcher.run(call);
}

ApiResult RnnExecution::backwardData(const void *dy, const void *w, void *dx,
                                     const RnnStates &dFinal,
                                     const RnnStates &dInitial) {
  weights = static_cast<char *>(const_cast<void *>(w));
  const RnnMatrix dInput = seqs.isPacked ? getRows(dx, net.input) : space.input;
  RnnMatrix dOutput =
      seqs.isPacked ? getRows(dy, net.getOutput()) : pack(dy, space.output);
  const int64_t steps = seqs.getSteps();
  const StepWay way = findBackwardWay();
  for (int64_t layer = net.layers; layer-- > 0 && launcher.isOk();) {
    for (int64_t direction = 0; direction < net.directions; ++direction) {
      Pass pass{layer, direction, {}, {}, {}, {}};
      pass.hidden =
          beginState(pass, dFinal.hidden, dInitial.hidden, space.hidden);
      if (net.isLstm())
        pass.cell = beginState(pass, dFinal.cell, dInitial.cell, space.cell);
      if (way != StepWay::Launches)
        backwardRuns(pass, dOutput, way);
      else if (task.fusesSteps(kMostFusedGradients))
        backwardFused(pass, dOutput);
      else
        for (int64_t i = steps; i-- > 0;)
          backwardStep(pass, getStepNumber(pass, i), dOutput);
      endState(pass, pass.hidden, dInitial.hidden);
      if (net.isLstm())
        endState(pass, pass.cell, dInitial.cell);
    }
    const RnnMatrix below = layer == 0 ? dInput : space.between[layer % 2];
    backwardInput(layer, below);
    if (layer > 0)
      dropGradient(layer - 1, below);
    dOutput = below;
  }
  if (!seqs.isPacked)
    unpack(dInput, dx);
  return launcher.getResult();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

void RnnExecution::weightGradients(int64_t layer, const RnnMatrix &input) {
  const RnnMatrix &gates = space.gates[layer];
  const RnnMatrix &hiddenGates = getHiddenGates(layer);
  if (const int64_t columns = net.getInputColumns(layer))
    launcher.multiply(
        Direction::BackwardWeights, input,
        getWeights(net.getInputWeights(layer), gates.columns, columns), gates,
        /*adds=*/true);
  for (int64_t direction = 0; direction < net.directions; ++direction)
    launcher.multiply(Direction::BackwardWeights,
                      getDirection(reserve.layers[layer].previous, direction),
                      getWeights(net.getHiddenWeights(layer, direction),
                                 net.getGateColumns(), net.hidden),
                      getDirection(hiddenGates, direction), /*adds=*/true);
  if (!net.hasBias)
    return;
  const int64_t one = getByteSize(net.type);
  launcher.addColumnSums(gates, weights + net.getInputBias(layer) * one);
  launcher.addColumnSums(hiddenGates,
                         weights + net.getHiddenBias(layer, 0) * one);
}

ApiResult RnnExecution::backwardWeights(const void *x, void *dw) {
  weights = static_cast<char *>(dw);
  const RnnMatrix first =
      seqs.isPacked ? getRows(x, net.input) : pack(x, space.input);
  for (int64_t layer = 0; layer < net.layers && launcher.isOk(); ++layer)
    weightGradients(layer,
                    layer == 0 ? first : reserve.layers[layer - 1].dropped);
  return launcher.getResult();
}
