//===- RnnNetwork.cpp - Sizes of a network and of its weights -------------===//

#include "capi/lib/Rnn/RnnNetwork.h"

#include <string>

using namespace tessera;
using namespace tessera::capi;

int64_t RnnNetwork::getInputWeights(int64_t layer) const {
  if (layer == 0)
    return 0;
  const int64_t first = getInputColumns(0) + hidden;
  const int64_t others = (layer - 1) * (getOutput() + hidden);
  return getAllGateColumns() * (first + others);
}

int64_t RnnNetwork::getHiddenWeights(int64_t layer, int64_t direction) const {
  return getInputWeights(layer) + getAllGateColumns() * getInputColumns(layer) +
         direction * getGateColumns() * hidden;
}

int64_t RnnNetwork::getInputBias(int64_t layer) const {
  return getMatrixElements() + layer * 2 * getAllGateColumns();
}

int64_t RnnNetwork::getHiddenBias(int64_t layer, int64_t direction) const {
  return getInputBias(layer) + getAllGateColumns() +
         direction * getGateColumns();
}

static ErrorOr<DataType> getType(miopenDataType_t type) {
  switch (type) {
  case miopenHalf:
    return DataType::F16;
  case miopenBFloat16:
    return DataType::BF16;
  case miopenFloat:
    return DataType::F32;
  default:
    return notSupported("networks of data type " + std::to_string(type) +
                        " are not implemented; half, bfloat16 and float are");
  }
}

Status capi::checkSize(const RnnNetwork &net, double rows) {
  // Twice the gates and what else a layer keeps, for each row; the weights of a
  // layer, and those of the input. No sum in integers can overflow below this.
  constexpr double kMost = 0x1p40;
  const auto hidden = static_cast<double>(net.hidden);
  const double width = 2 * hidden + static_cast<double>(net.input);
  const double layer = 32 * hidden;
  if (static_cast<double>(net.layers) * layer * (rows + 3 * width) +
          rows * width >
      kMost)
    return notSupported("a network whose weights or states have about 2^40 "
                        "elements is not implemented");
  return Status::ok();
}

ErrorOr<RnnNetwork> capi::makeNetwork(const miopenRNNDescriptor &desc,
                                      int64_t input) {
  const ErrorOr<DataType> type = getType(desc.dataType);
  if (!type)
    return type.getStatus();
  RnnNetwork net;
  net.mode = desc.mode;
  net.type = *type;
  net.layers = desc.layers;
  net.hidden = desc.hiddenSize;
  net.input = input;
  net.directions = desc.direction == miopenRNNbidirection ? 2 : 1;
  net.skipsInput = desc.inputMode == miopenRNNskip;
  net.hasBias = desc.biasMode == miopenRNNwithBias;
  if (Status status = checkSize(net, 1); !status.isOk())
    return status;
  if (net.skipsInput && net.input != net.hidden)
    return invalidArgument("without input weights the input must have as many "
                           "elements as there are hidden units, " +
                           std::to_string(net.hidden) + ", but has " +
                           std::to_string(net.input));
  return net;
}
