//===- RnnSequences.h - The time steps of a batch of sequences -*- C++ -*--===//
//
// A network runs on packed rows: those of the first time step, then those of
// the second, and so on. A row is one time step of one sequence, and a step has
// the sequences that have not ended, the longest first. A client may have the
// sequences in another order, and padding between them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_RNN_RNNSEQUENCES_H
#define TESSERA_CAPI_LIB_RNN_RNNSEQUENCES_H

#include "capi/lib/Rnn/RnnDescriptor.h"
#include "capi/lib/Tensor/TensorDescriptor.h"
#include "runtime/Base/ErrorOr.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::capi {

/// Some rows that are `step` after each other in time: `steps` times `count`
/// neighbours.
struct RnnRun {
  int64_t step, steps;
  int64_t first;  ///< The first sequence, in the order of lengths.
  int64_t client; ///< The number of that sequence at the client.
  int64_t count;
};

struct RnnSequences {
  std::vector<int64_t> rows;    ///< Of each step; they do not grow.
  std::vector<int64_t> offsets; ///< The first row of each step.
  /// The number that the client gives to the sequences, the longest first.
  std::vector<int64_t> order;
  int64_t totalRows = 0;
  bool isPacked = true; ///< The client's rows are those of the network.
  /// Else the distances of time steps and of sequences at the client, in rows.
  int64_t clientStep = 0, clientSequence = 0;

  int64_t getBatch() const { return static_cast<int64_t>(order.size()); }
  int64_t getSteps() const { return static_cast<int64_t>(rows.size()); }
  /// Whether the client has the longest sequence first.
  bool isOrdered() const;

  /// The sequences in pieces whose numbers are contiguous at the client.
  std::vector<RnnRun> getStateRuns() const;
  /// All rows in pieces that one copy can move.
  std::vector<RnnRun> getRowRuns() const;
};

/// The sequences of one descriptor for each step, with each step's batch, which
/// must not grow, and vectors of the size `vectorSize`, which this sets.
ErrorOr<RnnSequences> readSteps(const miopenRNNDescriptor &desc, int steps,
                                const miopenTensorDescriptor_t *descs,
                                int64_t &vectorSize);

ErrorOr<RnnSequences> readSequences(const miopenRNNDescriptor &desc,
                                    const miopenSeqTensorDescriptor &seq);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_RNN_RNNSEQUENCES_H
