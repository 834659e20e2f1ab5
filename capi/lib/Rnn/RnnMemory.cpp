//===- RnnMemory.cpp - What lies where in a network's buffers -------------===//

#include "capi/lib/Rnn/RnnMemory.h"

using namespace tessera;
using namespace tessera::capi;

RnnMatrix RnnPieces::take(DataType type, int64_t rows, int64_t columns) {
  constexpr size_t kAlignment = 256;
  RnnMatrix matrix{buffer ? buffer + bytes : nullptr, type, rows, columns,
                   columns};
  const auto size = static_cast<size_t>(rows * columns * getByteSize(type));
  bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
  return matrix;
}

RnnReserve capi::layOutReserve(const RnnNetwork &net, const RnnExtent &extent,
                               void *buffer) {
  RnnPieces pieces(buffer);
  const int64_t rows = extent.rows, output = net.getOutput();
  RnnReserve reserve;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    RnnReserve::Layer &kept = reserve.layers.emplace_back();
    kept.gates = pieces.take(net.type, rows, net.getAllGateColumns());
    kept.previous = pieces.take(net.type, rows, output);
    if (net.isLstm() || net.isGru())
      kept.extra = pieces.take(net.type, rows, output);
    if (layer + 1 == net.layers)
      continue;
    kept.output = pieces.take(net.type, rows, output);
    kept.dropped = kept.output;
    if (!extent.drops)
      continue;
    kept.dropped = pieces.take(net.type, rows, output);
    kept.mask = pieces.take(DataType::I8, rows, output);
  }
  reserve.bytes = pieces.getBytes();
  return reserve;
}

RnnWorkspace capi::layOutWorkspace(const RnnNetwork &net,
                                   const RnnExtent &extent, bool isTraining,
                                   void *buffer) {
  RnnPieces pieces(buffer);
  const int64_t rows = extent.rows, all = net.getAllGateColumns();
  RnnWorkspace space;
  space.hidden = pieces.take(net.type, extent.batch, net.hidden);
  if (net.isLstm())
    space.cell = pieces.take(net.type, extent.batch, net.hidden);
  if (net.isGru())
    space.product = pieces.take(net.type, extent.batch, net.getGateColumns());
  space.bias = pieces.take(net.type, 1, all);
  if (isTraining && net.getHiddenBytes() <= kMostFusedBytes)
    space.transposed = pieces.take(net.type, net.hidden, net.getGateColumns());
  if (!extent.isPacked) {
    space.input = pieces.take(net.type, rows, net.input);
    space.output = pieces.take(net.type, rows, net.getOutput());
  }
  if (net.layers > 1)
    for (RnnMatrix &between : space.between)
      between = pieces.take(net.type, rows, net.getOutput());
  for (int64_t layer = 0; layer < (isTraining ? net.layers : 1); ++layer) {
    space.gates.push_back(pieces.take(net.type, rows, all));
    if (net.isGru() && isTraining)
      space.hiddenGates.push_back(pieces.take(net.type, rows, all));
  }
  space.bytes = pieces.getBytes();
  return space;
}
