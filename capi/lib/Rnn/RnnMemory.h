//===- RnnMemory.h - What lies where in a network's buffers ----*- C++ -*--===//
//
// The reserve space has, for each layer, what training keeps of the forward
// pass. The workspace has running states, the copies of tensors whose rows are
// not packed, outputs between layers, and gradients of the gates, which
// backward data leaves there for backward weights. Neither depends on whether
// there are biases: PyTorch sets that only in the forward pass.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_RNN_RNNMEMORY_H
#define TESSERA_CAPI_LIB_RNN_RNNMEMORY_H

#include "capi/lib/Rnn/RnnLauncher.h"
#include "capi/lib/Rnn/RnnNetwork.h"

namespace tessera::capi {

/// A step of one sequence is one launch if the hidden weights of a layer and
/// direction have at most so many bytes.
inline constexpr int64_t kMostFusedBytes = int64_t(16) << 20;

/// With more sequences it is if it has at most so many products of elements,
/// forward and backward, as the times of an H100 say: where they are more, a
/// matrix product and a second launch are faster.
inline constexpr int64_t kMostFusedProducts = int64_t(16) << 20;
inline constexpr int64_t kMostFusedGradients = int64_t(2) << 20;

/// All steps of one batch are one launch where a kernel can do that and so many
/// steps have one batch on average: it loads the weights once.
inline constexpr int64_t kFewestAtOnce = 4;

/// The sizes that decide where things are. Plain data.
struct RnnExtent {
  int64_t rows = 0;
  int64_t batch = 0;
  bool isPacked = true;
  bool drops = false; ///< There is dropout between layers.
};

/// Cuts a buffer of the client into aligned pieces. With a null buffer it only
/// counts bytes.
class RnnPieces {
public:
  explicit RnnPieces(void *buffer) : buffer(static_cast<char *>(buffer)) {}
  RnnMatrix take(DataType type, int64_t rows, int64_t columns);
  size_t getBytes() const { return bytes; }

private:
  char *buffer;
  size_t bytes = 0;
};

/// What training keeps.
struct RnnReserve {
  struct Layer {
    RnnMatrix gates;    ///< Of all directions, behind their activation.
    RnnMatrix previous; ///< The hidden state before each step.
    /// LSTM: the cell state before each step. GRU: the product of the hidden
    /// state with the weights of the new gate.
    RnnMatrix extra;
    // Only below the last layer; `dropped` and `mask` only with dropout.
    RnnMatrix output;
    RnnMatrix dropped; ///< What the next layer reads.
    RnnMatrix mask;
  };
  std::vector<Layer> layers;
  size_t bytes = 0;
};

struct RnnWorkspace {
  RnnMatrix hidden, cell; ///< Running states of one direction.
  RnnMatrix product;      ///< GRU: of the hidden state in one step.
  RnnMatrix bias;         ///< Sums of the biases of a layer, one row.
  /// In training, where a step of one sequence may be one launch: the hidden
  /// weights of one direction, with a row for each unit.
  RnnMatrix transposed;
  RnnMatrix input, output;      ///< Packed copies, unless all is packed.
  RnnMatrix between[2];         ///< Outputs of layers, alternately.
  std::vector<RnnMatrix> gates; ///< Of each layer in training, else one.
  /// GRU in training: gradients of the products with the hidden state.
  std::vector<RnnMatrix> hiddenGates;
  size_t bytes = 0;
};

RnnReserve layOutReserve(const RnnNetwork &net, const RnnExtent &extent,
                         void *buffer);
RnnWorkspace layOutWorkspace(const RnnNetwork &net, const RnnExtent &extent,
                             bool isTraining, void *buffer);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_RNN_RNNMEMORY_H
