//===- RnnExecution.cpp - A network on its buffers ------------------------===//

#include "capi/lib/Rnn/RnnExecution.h"

#include <array>

using namespace tessera;
using namespace tessera::capi;

RnnExecution::RnnExecution(miopenHandle &handle, const RnnTask &task,
                           bool isTraining, void *workspace, void *reserve)
    : task(task), net(task.net), seqs(task.seqs), isTraining(isTraining),
      reserve(layOutReserve(net, task.getExtent(), reserve)),
      space(layOutWorkspace(net, task.getExtent(), isTraining, workspace)),
      launcher(handle) {}

void capi::addGates(RowWiseCall &call, RowRole role, const char *name,
                    const RnnMatrix &matrix, int64_t hidden, int64_t count) {
  const std::array<int64_t, 2> strides = {matrix.stride, 1};
  for (int64_t gate = 0; gate < count; ++gate)
    call.add(role, name, matrix.type, strides,
             matrix.getColumns(gate * hidden, hidden).data);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

RnnMatrix RnnExecution::getStep(const RnnMatrix &rows, int64_t step) const {
  return rows.getRows(seqs.offsets[step], seqs.rows[step]);
}

RnnMatrix RnnExecution::getDirection(const RnnMatrix &columns,
                                     int64_t direction) const {
  const int64_t count = columns.columns / net.directions;
  return columns.getColumns(direction * count, count);
}

RnnMatrix RnnExecution::getWeights(int64_t offset, int64_t rows,
                                   int64_t columns) const {
  return {weights + offset * getByteSize(net.type), net.type, rows, columns,
          columns};
}

const void *RnnExecution::getBias(int64_t offset) const {
  return net.hasBias ? weights + offset * getByteSize(net.type) : nullptr;
}

const RnnMatrix &RnnExecution::getHiddenGates(int64_t layer) const {
  return net.isGru() ? space.hiddenGates[layer] : space.gates[layer];
}

RnnMatrix RnnExecution::getOutput(int64_t layer, const RnnMatrix &last) const {
  if (layer + 1 == net.layers)
    return last;
  return isTraining ? reserve.layers[layer].output : space.between[layer % 2];
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

RnnMatrix RnnExecution::getState(const Pass &pass, const void *states) const {
  const int64_t number = pass.layer * net.directions + pass.direction;
  const int64_t rows = seqs.getBatch();
  const RnnMatrix all{static_cast<char *>(const_cast<void *>(states)), net.type,
                      rows, net.hidden, net.hidden};
  return all.getRows(number * rows, rows);
}

RnnMatrix RnnExecution::beginState(const Pass &pass, const void *initial,
                                   const void *final, const RnnMatrix &own) {
  const RnnMatrix state =
      final && seqs.isOrdered() ? getState(pass, final) : own;
  if (!initial) {
    launcher.clear(state);
    return state;
  }
  const RnnMatrix from = getState(pass, initial);
  for (const RnnRun &run : seqs.getStateRuns())
    launcher.copy(from.getRows(run.client, run.count),
                  state.getRows(run.first, run.count));
  return state;
}

void RnnExecution::endState(const Pass &pass, const RnnMatrix &state,
                            const void *final) {
  if (!final || seqs.isOrdered())
    return;
  const RnnMatrix to = getState(pass, final);
  for (const RnnRun &run : seqs.getStateRuns())
    launcher.copy(state.getRows(run.first, run.count),
                  to.getRows(run.client, run.count));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

RnnMatrix RnnExecution::getRows(const void *data, int64_t columns) const {
  return {static_cast<char *>(const_cast<void *>(data)), net.type,
          seqs.totalRows, columns, columns};
}

void RnnExecution::moveRows(const RnnMatrix &packed, const void *data,
                            bool isPacking) {
  const int64_t columns = packed.columns;
  RnnMatrix all = getRows(data, columns);
  all.stride = seqs.clientSequence * columns;
  const int64_t clientStep = seqs.clientStep * columns;
  for (const RnnRun &run : seqs.getRowRuns()) {
    // The client's matrix begins at the run's step and sequence.
    RnnMatrix theirs = getRows(data, columns)
                           .getRows(run.step * seqs.clientStep +
                                        run.client * seqs.clientSequence,
                                    run.count);
    theirs.stride = all.stride;
    const RnnMatrix ours =
        packed.getRows(seqs.offsets[run.step] + run.first, run.count);
    const int64_t step = seqs.rows[run.step] * columns;
    if (isPacking)
      launcher.copySteps(theirs, clientStep, ours, step, run.steps);
    else
      launcher.copySteps(ours, step, theirs, clientStep, run.steps);
  }
}

RnnMatrix RnnExecution::pack(const void *data, const RnnMatrix &own) {
  moveRows(own, data, /*isPacking=*/true);
  return own;
}

void RnnExecution::unpack(const RnnMatrix &packed, void *data) {
  moveRows(packed, data, /*isPacking=*/false);
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static miopenTensorDescriptor describe(const RnnMatrix &matrix) {
  miopenTensorDescriptor desc;
  switch (matrix.type) {
  case DataType::F16:
    desc.dataType = miopenHalf;
    break;
  case DataType::BF16:
    desc.dataType = miopenBFloat16;
    break;
  default:
    desc.dataType = miopenFloat;
    break;
  }
  desc.lengths = {matrix.rows, matrix.columns};
  desc.strides = {matrix.stride, 1};
  return desc;
}

RnnMatrix RnnExecution::drop(int64_t layer, const RnnMatrix &output) {
  if (!isTraining || !task.dropout || layer + 1 == net.layers)
    return output;
  const RnnReserve::Layer &kept = reserve.layers[layer];
  if (launcher.isOk())
    launcher.keep(dropElements(launcher.getHandle(), *task.dropout,
                               describe(output), output.data, kept.dropped.data,
                               kept.mask.data));
  return kept.dropped;
}

void RnnExecution::dropGradient(int64_t layer, const RnnMatrix &gradient) {
  if (task.dropout && launcher.isOk())
    launcher.keep(dropMasked(launcher.getHandle(), *task.dropout,
                             describe(gradient), gradient.data, gradient.data,
                             reserve.layers[layer].mask.data));
}
