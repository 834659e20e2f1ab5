//===- RnnNetwork.h - Sizes of a network and of its weights ----*- C++ -*--===//
//
// All weights are one buffer, in MIOpen's order. For each layer it has the
// matrices of the input, those of both directions one behind the other, and
// then the matrices of the hidden state in the same order; behind the last
// layer come, for each layer, the biases of the input and those of the hidden
// state. A matrix has a row for each hidden unit, and the matrices of a
// direction's gates are contiguous, so that a product takes them as one matrix.
//
// The order of the gates is MIOpen's: i, f, o, g in an LSTM, and z (update), r
// (reset), n (new) in a GRU. Offsets and sizes count elements.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_RNN_RNNNETWORK_H
#define TESSERA_CAPI_LIB_RNN_RNNNETWORK_H

#include "capi/lib/Rnn/RnnDescriptor.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include <cstdint>

namespace tessera::capi {

/// A network with the size of its input. Plain data.
struct RnnNetwork {
  miopenRNNMode_t mode = miopenRNNRELU;
  DataType type = DataType::F32;
  int64_t layers = 1;
  int64_t hidden = 1;
  int64_t input = 1; ///< Elements of a time step of a sequence.
  int64_t directions = 1;
  bool skipsInput = false;
  bool hasBias = false;

  bool isLstm() const { return mode == miopenLSTM; }
  bool isGru() const { return mode == miopenGRU; }
  int64_t getGates() const { return isLstm() ? 4 : isGru() ? 3 : 1; }

  /// Elements of a layer's output for a time step of a sequence.
  int64_t getOutput() const { return directions * hidden; }
  /// Columns of the gates of one direction, and of all directions.
  int64_t getGateColumns() const { return getGates() * hidden; }
  int64_t getAllGateColumns() const { return directions * getGateColumns(); }
  /// Columns of the matrices of a layer's input; 0 if it has none.
  int64_t getInputColumns(int64_t layer) const {
    return layer > 0 ? getOutput() : skipsInput ? 0 : input;
  }

  /// Bytes of the hidden weights of one layer and direction.
  int64_t getHiddenBytes() const {
    return getGateColumns() * hidden * getByteSize(type);
  }

  int64_t getInputWeights(int64_t layer) const;
  int64_t getHiddenWeights(int64_t layer, int64_t direction) const;
  int64_t getMatrixElements() const { return getInputWeights(layers); }
  int64_t getInputBias(int64_t layer) const;
  int64_t getHiddenBias(int64_t layer, int64_t direction) const;
  int64_t getBiasElements() const {
    return hasBias ? layers * 2 * getAllGateColumns() : 0;
  }
  int64_t getWeightElements() const {
    return getMatrixElements() + getBiasElements();
  }
};

/// NotSupported for a data type without kernels; InvalidArgument for sizes that
/// do not fit each other.
ErrorOr<RnnNetwork> makeNetwork(const miopenRNNDescriptor &desc, int64_t input);

/// NotSupported if the network is so large that sizes could overflow for
/// `rows` time steps of all sequences.
Status checkSize(const RnnNetwork &net, double rows);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_RNN_RNNNETWORK_H
