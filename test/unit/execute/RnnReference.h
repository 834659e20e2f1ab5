//===- RnnReference.h - A recurrent network in double ----------*- C++ -*--===//
//
// This is a forward pass for one sequence after another, with scalar loops and
// the weights counted one by one in MIOpen's order. Gradients are differences
// of it, so that they share no formula with what is tested.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_RNNREFERENCE_H
#define TESSERA_TEST_UNIT_EXECUTE_RNNREFERENCE_H

#include <miopen/miopen.h>

#include <vector>

namespace tessera::test {

using Doubles = std::vector<double>;

struct RnnShape {
  miopenRNNMode_t mode = miopenLSTM;
  miopenDataType_t type = miopenFloat;
  int layers = 1;
  bool isBidirectional = false;
  int input = 1;
  int hidden = 1;
  std::vector<int> batches; ///< Of each time step; they do not grow.
  bool hasBias = true;
  bool skipsInput = false;
  /// With those that have no time step; 0 if there are none such.
  int sequences = 0;

  int getSequences() const { return sequences ? sequences : batches[0]; }
  int getDirections() const { return isBidirectional ? 2 : 1; }
  int getGates() const {
    return mode == miopenLSTM ? 4 : mode == miopenGRU ? 3 : 1;
  }
  int getRows() const;
  int getStates() const {
    return layers * getDirections() * getSequences() * hidden;
  }
  int getWeights() const;
};

/// Where the weights of a layer and direction begin; -1 where there are none.
struct RnnOffsets {
  std::vector<int> matrices; ///< Of the gates of the input, then of the state.
  std::vector<int> biases;   ///< In the same order.
};
std::vector<RnnOffsets> countOffsets(const RnnShape &shape);

/// The tensors of a forward pass. Rows are packed.
struct RnnData {
  Doubles x, w, hx, cx;
  Doubles y, hy, cy; ///< Results.
  /// What each element between layers is multiplied by; empty means 1.
  std::vector<Doubles> scales;
};

void runReference(const RnnShape &shape, RnnData &data);

/// The gradients of sum(y dy) + sum(hy dhy) + sum(cy dcy). Only each `every`th
/// number is computed, but of a small tensor so many that the largest of them
/// tells how large its numbers are; the others are NaNs.
struct RnnGradients {
  Doubles dx, dw, dhx, dcx;
};
RnnGradients differentiate(const RnnShape &shape, const RnnData &data,
                           const Doubles &dy, const Doubles &dhy,
                           const Doubles &dcy, size_t every = 1);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_EXECUTE_RNNREFERENCE_H
