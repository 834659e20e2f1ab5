//===- RnnExecution.h - A network on its buffers ---------------*- C++ -*--===//
//
// Each layer multiplies all rows of its input by the input's weights at once.
// Then each direction goes through the time steps: it multiplies a running
// hidden state by the hidden weights, and one row-wise launch makes of both
// products the output and the next state. Where that is faster, one launch does
// both (RnnFused.cpp). A running state has a row for each
// sequence, the longest first, so that a step works on the first rows of it and
// the rows of sequences that have ended, or that a backward direction has not
// begun, keep their state. Small networks make all steps in one launch
// (RnnAtOnce.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_RNN_RNNEXECUTION_H
#define TESSERA_CAPI_LIB_RNN_RNNEXECUTION_H

#include "capi/lib/Dropout/DropoutDescriptor.h"
#include "capi/lib/Rnn/RnnMemory.h"
#include "capi/lib/Rnn/RnnSequences.h"

namespace tessera::capi {

/// States or gradients of states, [layers * directions, batch, hidden]. Each
/// may be null.
struct RnnStates {
  const void *hidden = nullptr;
  const void *cell = nullptr;
};

/// A network and its sequences. Plain data; borrows the descriptors.
struct RnnTask {
  RnnNetwork net;
  RnnSequences seqs;
  const miopenDropoutDescriptor *dropout = nullptr; ///< Null without dropout.

  /// Whether one launch makes a step, the product and what follows it, of at
  /// most so many products of elements.
  bool fusesSteps(int64_t mostProducts) const;
  RnnExtent getExtent() const {
    return {seqs.totalRows, seqs.getBatch(), seqs.isPacked, dropout != nullptr};
  }
};

/// How the steps of a pass are launched: each in a product and a second launch
/// or in a row-wise one, or by the kernels of RnnAtOnce.cpp.
enum class StepWay : uint8_t { Launches, Each, AtOnce };

/// One call. Borrows all memory.
class RnnExecution {
public:
  RnnExecution(miopenHandle &handle, const RnnTask &task, bool isTraining,
               void *workspace, void *reserve);

  ApiResult forward(const void *x, const void *w, void *y,
                    const RnnStates &initial, const RnnStates &final);
  /// `dFinal` are the gradients of the final states, `dInitial` the results.
  ApiResult backwardData(const void *dy, const void *w, void *dx,
                         const RnnStates &dFinal, const RnnStates &dInitial);
  /// Adds to `dw`.
  ApiResult backwardWeights(const void *x, void *dw);

private:
  /// The layer and direction that a step belongs to, and its running states.
  struct Pass {
    int64_t layer, direction;
    RnnMatrix hidden, cell;
    /// The states before the first step, if those are not in place yet.
    RnnMatrix firstHidden, firstCell;
  };

  /// `bias` has the columns of `gates`, or is null.
  void forwardInput(int64_t layer, const RnnMatrix &input,
                    const RnnMatrix &gates, const void *bias);
  void addInput(const RnnMatrix &input, const RnnMatrix &gates,
                const void *bias);
  /// All steps of a direction.
  void forwardPass(const Pass &pass, const RnnMatrix &gates,
                   const RnnMatrix &output, StepWay way);
  void forwardStep(const Pass &pass, int64_t step, const RnnMatrix &gates,
                   const RnnMatrix &output);
  void forwardGates(const Pass &pass, int64_t step, const RnnMatrix &sums,
                    const RnnMatrix &output);
  void backwardStep(const Pass &pass, int64_t step, const RnnMatrix &dOutput);
  void backwardGates(const Pass &pass, int64_t step, const RnnMatrix &dOutput);
  /// Makes the gradient of the state before a step from those of its products.
  void multiplyGradients(const Pass &pass, int64_t step);
  void backwardInput(int64_t layer, const RnnMatrix &dInput);
  void weightGradients(int64_t layer, const RnnMatrix &input);

  // All steps in one launch, or each in one that uses the matrix unit.
  bool makesAtOnce() const;
  bool makesEach() const;
  StepWay findForwardWay();
  StepWay findBackwardWay();
  RowWiseCall forwardAtOnce(const Pass &pass, int64_t first, int64_t count,
                            const RnnMatrix &state, const RnnMatrix &gates,
                            const RnnMatrix &output);
  void forwardRun(const Pass &pass, int64_t first, int64_t count,
                  const RnnMatrix &gates, const RnnMatrix &output, StepWay way);
  /// Whether there are kernels for pieces, or for single steps.
  bool canForward(bool isEach);
  RowWiseCall backwardAtOnce(const Pass &pass, int64_t first, int64_t count,
                             const RnnMatrix &dOutput);
  void backwardRuns(const Pass &pass, const RnnMatrix &dOutput, StepWay way);
  bool canBackward(bool isEach);
  /// The steps of a pass in pieces of one batch: the first of each, in the
  /// order in which the pass comes to them, and their number.
  std::vector<std::pair<int64_t, int64_t>> getPieces(const Pass &pass) const;

  // Steps in one launch each.
  void addBiases(int64_t layer);
  void forwardFused(const Pass &pass, const RnnMatrix &gates,
                    const RnnMatrix &output);
  void fusedStep(const Pass &pass, int64_t i, const RnnMatrix &state,
                 const RnnMatrix &gates, const RnnMatrix &output);
  void keepStates(const Pass &pass, const RnnMatrix &output);
  void backwardFused(const Pass &pass, const RnnMatrix &dOutput);
  void transposeWeights(const Pass &pass);
  void fusedGradients(const Pass &pass, int64_t step, int64_t next,
                      const RnnMatrix &dOutput);

  /// The number of the `i`th step that a forward pass comes to.
  int64_t getStepNumber(const Pass &pass, int64_t i) const;
  /// The mode of the operations that make a step.
  uint32_t getForwardMode() const;
  RnnMatrix getOutput(int64_t layer, const RnnMatrix &last) const;
  RnnMatrix drop(int64_t layer, const RnnMatrix &output);
  void dropGradient(int64_t layer, const RnnMatrix &gradient);

  /// The rows of one step, and the columns of one direction.
  RnnMatrix getStep(const RnnMatrix &rows, int64_t step) const;
  RnnMatrix getDirection(const RnnMatrix &columns, int64_t direction) const;
  /// A matrix or a bias of the weights.
  RnnMatrix getWeights(int64_t offset, int64_t rows, int64_t columns) const;
  const void *getBias(int64_t offset) const;
  /// The gradients of the products with the hidden state.
  const RnnMatrix &getHiddenGates(int64_t layer) const;

  /// Begins a running state: in the memory of the final state if that has the
  /// order of the network, else in `own`. A null initial state is zero.
  RnnMatrix beginState(const Pass &pass, const void *initial, const void *final,
                       const RnnMatrix &own);
  /// The same without a copy, where all steps are one launch: `first` is where
  /// the initial state is.
  RnnMatrix placeState(const Pass &pass, const void *initial, const void *final,
                       const RnnMatrix &own, RnnMatrix &first);
  void endState(const Pass &pass, const RnnMatrix &state, const void *final);
  RnnMatrix getState(const Pass &pass, const void *states) const;

  RnnMatrix getRows(const void *data, int64_t columns) const;
  /// The client's rows in the order of the network: a copy in `own` unless they
  /// have that order.
  RnnMatrix pack(const void *data, const RnnMatrix &own);
  void unpack(const RnnMatrix &packed, void *data);
  void moveRows(const RnnMatrix &packed, const void *data, bool isPacking);

  const RnnTask &task;
  const RnnNetwork &net;
  const RnnSequences &seqs;
  const bool isTraining;
  RnnReserve reserve;
  RnnWorkspace space;
  char *weights = nullptr;
  RnnLauncher launcher;
};

/// Adds `count` blocks of `hidden` columns as tensors of a step.
void addGates(RowWiseCall &call, RowRole role, const char *name,
              const RnnMatrix &matrix, int64_t hidden, int64_t count = 1);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_RNN_RNNEXECUTION_H
