//===- RnnForward.cpp - The forward pass of a network ---------------------===//

#include "capi/lib/Rnn/RnnExecution.h"

#include <array>

using namespace tessera;
using namespace tessera::capi;

/// Without input weights each gate takes the input itself.
void RnnExecution::addInput(const RnnMatrix &input, const RnnMatrix &gates,
                            const void *bias) {
  const int64_t blocks = gates.columns / net.hidden;
  const std::array lengths = {gates.rows, blocks, net.hidden};
  const std::array<int64_t, 3> inputStrides = {input.stride, 0, 1},
                               biasStrides = {0, net.hidden, 1},
                               gateStrides = {gates.stride, net.hidden, 1};
  RowWiseCall call(launcher.getHandle(),
                   bias ? RowWiseKind::OpTensor : RowWiseKind::TransformTensor,
                   0, lengths);
  call.add(RowRole::Input, "x", net.type, inputStrides, input.data);
  if (bias)
    call.add(RowRole::Input, "a bias", net.type, biasStrides, bias).scalar(1);
  call.add(RowRole::Output, "gates", net.type, gateStrides, gates.data)
      .scalar(1)
      .scalar(0);
  launcher.run(call);
}

void RnnExecution::forwardInput(int64_t layer, const RnnMatrix &input,
                                const RnnMatrix &gates, const void *bias) {
  const int64_t columns = net.getInputColumns(layer);
  if (columns == 0)
    return addInput(input, gates, bias);
  launcher.multiply(
      Direction::Forward, input,
      getWeights(net.getInputWeights(layer), gates.columns, columns), gates,
      /*adds=*/false, bias);
}

static RowWiseKind getKind(const RnnNetwork &net) {
  return net.isLstm()  ? RowWiseKind::LstmForward
         : net.isGru() ? RowWiseKind::GruForward
                       : RowWiseKind::RnnForward;
}

uint32_t RnnExecution::getForwardMode() const {
  if (net.isLstm() || net.isGru())
    return isTraining ? 1 : 0;
  return (net.mode == miopenRNNTANH ? 1 : 0) | (isTraining ? 2 : 0);
}

/// Makes the new states and the output of a step. In training the gates replace
/// the sums that they are computed from.
void RnnExecution::forwardGates(const Pass &pass, int64_t step,
                                const RnnMatrix &sums,
                                const RnnMatrix &output) {
  using enum RowRole;
  const int64_t rows = sums.rows, hidden = net.hidden, gates = net.getGates();
  const std::array lengths = {rows, hidden};
  RowWiseCall call(launcher.getHandle(), getKind(net), getForwardMode(),
                   lengths);
  const RnnMatrix state = pass.hidden.getRows(0, rows);
  addGates(call, Input, "gates", sums, hidden, gates);
  if (net.isGru())
    addGates(call, Input, "gates", space.product, hidden, gates);
  if (net.isLstm())
    addGates(call, Input, "c", pass.cell, hidden);
  if (!net.isLstm() || isTraining)
    addGates(call, Input, "h", state, hidden);
  auto getKept = [&](RnnMatrix RnnReserve::Layer::*member) {
    return getDirection(getStep(reserve.layers[pass.layer].*member, step),
                        pass.direction);
  };
  const bool keepsGates = isTraining && (net.isLstm() || net.isGru());
  if (keepsGates)
    addGates(call, Output, "gates", sums, hidden, gates);
  if (keepsGates && net.isGru())
    addGates(call, Output, "a product", getKept(&RnnReserve::Layer::extra),
             hidden);
  if (net.isLstm())
    addGates(call, Output, "c", pass.cell, hidden);
  addGates(call, Output, "y", output, hidden);
  addGates(call, Output, "h", state, hidden);
  if (isTraining && !keepsGates)
    addGates(call, Output, "gates", sums, hidden);
  if (isTraining && net.isLstm())
    addGates(call, Output, "the old c", getKept(&RnnReserve::Layer::extra),
             hidden);
  if (isTraining)
    addGates(call, Output, "the old h", getKept(&RnnReserve::Layer::previous),
             hidden);
  launcher.run(call);
}

/// A GRU keeps the two products apart, because its reset gate scales only one.
void RnnExecution::forwardStep(const Pass &pass, int64_t step,
                               const RnnMatrix &gates,
                               const RnnMatrix &output) {
  const RnnMatrix sums = getDirection(getStep(gates, step), pass.direction);
  const RnnMatrix product =
      net.isGru() ? space.product.getRows(0, sums.rows) : sums;
  launcher.multiply(Direction::Forward, pass.hidden.getRows(0, sums.rows),
                    getWeights(net.getHiddenWeights(pass.layer, pass.direction),
                               net.getGateColumns(), net.hidden),
                    product, /*adds=*/!net.isGru(),
                    getBias(net.getHiddenBias(pass.layer, pass.direction)));
  forwardGates(pass, step, sums,
               getDirection(getStep(output, step), pass.direction));
}

void RnnExecution::forwardPass(const Pass &pass, const RnnMatrix &gates,
                               const RnnMatrix &output, StepWay way) {
  if (way != StepWay::Launches) {
    for (auto [first, count] : getPieces(pass))
      forwardRun(pass, first, count, gates, output, way);
    return;
  }
  if (task.fusesSteps(kMostFusedProducts))
    return forwardFused(pass, gates, output);
  for (int64_t i = 0; i < seqs.getSteps(); ++i)
    forwardStep(pass, getStepNumber(pass, i), gates, output);
}

ApiResult RnnExecution::forward(const void *x, const void *w, void *y,
                                const RnnStates &initial,
                                const RnnStates &final) {
  weights = static_cast<char *>(const_cast<void *>(w));
  RnnMatrix input =
      seqs.isPacked ? getRows(x, net.input) : pack(x, space.input);
  const RnnMatrix last =
      seqs.isPacked ? getRows(y, net.getOutput()) : space.output;
  const StepWay way = findForwardWay();
  const bool isFused =
      way != StepWay::Launches || task.fusesSteps(kMostFusedProducts);
  for (int64_t layer = 0; layer < net.layers && launcher.isOk(); ++layer) {
    const RnnMatrix gates =
        isTraining ? reserve.layers[layer].gates : space.gates[0];
    const RnnMatrix output = getOutput(layer, last);
    const void *bias = getBias(net.getInputBias(layer));
    if (isFused) {
      addBiases(layer);
      bias = net.hasBias ? space.bias.data : nullptr;
    }
    forwardInput(layer, input, gates, bias);
    for (int64_t direction = 0; direction < net.directions; ++direction) {
      Pass pass{layer, direction, {}, {}, {}, {}};
      if (way != StepWay::Launches) {
        pass.hidden = placeState(pass, initial.hidden, final.hidden,
                                 space.hidden, pass.firstHidden);
        if (net.isLstm())
          pass.cell = placeState(pass, initial.cell, final.cell, space.cell,
                                 pass.firstCell);
      } else {
        pass.hidden =
            beginState(pass, initial.hidden, final.hidden, space.hidden);
        if (net.isLstm())
          pass.cell = beginState(pass, initial.cell, final.cell, space.cell);
      }
      forwardPass(pass, gates, output, way);
      endState(pass, pass.hidden, final.hidden);
      if (net.isLstm())
        endState(pass, pass.cell, final.cell);
    }
    input = drop(layer, output);
  }
  if (!seqs.isPacked)
    unpack(last, y);
  return launcher.getResult();
}
