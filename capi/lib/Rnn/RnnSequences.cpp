//===- RnnSequences.cpp - The time steps of a batch of sequences ----------===//

#include "capi/lib/Rnn/RnnSequences.h"
#include "capi/lib/Common/ErrorGuard.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

using namespace tessera;
using namespace tessera::capi;

bool RnnSequences::isOrdered() const { return std::ranges::is_sorted(order); }

/// Splits the first `count` sequences into pieces that are contiguous at the
/// client.
static void addRuns(const RnnSequences &seqs, int64_t step, int64_t steps,
                    int64_t count, std::vector<RnnRun> &runs) {
  for (int64_t first = 0; first < count;) {
    int64_t end = first + 1;
    while (end < count && seqs.order[end] == seqs.order[end - 1] + 1)
      ++end;
    runs.push_back({step, steps, first, seqs.order[first], end - first});
    first = end;
  }
}

std::vector<RnnRun> RnnSequences::getStateRuns() const {
  std::vector<RnnRun> runs;
  addRuns(*this, 0, 1, getBatch(), runs);
  return runs;
}

std::vector<RnnRun> RnnSequences::getRowRuns() const {
  std::vector<RnnRun> runs;
  for (int64_t step = 0; step < getSteps();) {
    int64_t end = step + 1;
    while (end < getSteps() && rows[end] == rows[step])
      ++end;
    addRuns(*this, step, end - step, rows[step], runs);
    step = end;
  }
  return runs;
}

static void addStep(RnnSequences &seqs, int64_t rows) {
  seqs.rows.push_back(rows);
  seqs.offsets.push_back(seqs.totalRows);
  seqs.totalRows += rows;
}

/// Sets the order in which the client has them.
static void setOrder(RnnSequences &seqs, int64_t batch) {
  seqs.order.resize(batch);
  std::iota(seqs.order.begin(), seqs.order.end(), 0);
}

/// Checks the descriptor of a step, which frameworks fill up with lengths of 1.
static Status checkStep(const miopenRNNDescriptor &desc,
                        const miopenTensorDescriptor &step) {
  if (step.dataType != desc.dataType)
    return invalidArgument("a time step has another data type than the "
                           "network");
  if (step.getRank() < 2 ||
      std::any_of(step.lengths.begin() + 2, step.lengths.end(),
                  [](int64_t length) { return length != 1; }))
    return invalidArgument("a time step must have a batch, a vector, and no "
                           "other lengths than 1");
  if ((step.lengths[1] != 1 && step.strides[1] != 1) ||
      (step.lengths[0] != 1 && step.strides[0] != step.lengths[1]))
    return notSupported("time steps with gaps are not implemented");
  return Status::ok();
}

ErrorOr<RnnSequences> capi::readSteps(const miopenRNNDescriptor &desc,
                                      int steps,
                                      const miopenTensorDescriptor_t *descs,
                                      int64_t &vectorSize) {
  if (steps < 1)
    return invalidArgument("sequenceLen is below 1");
  RnnSequences seqs;
  for (int step = 0; step < steps; ++step) {
    if (Status status = checkPointers("a time step", {descs[step]});
        !status.isOk())
      return status;
    const miopenTensorDescriptor &one = *descs[step];
    if (Status status = checkStep(desc, one); !status.isOk())
      return status;
    if (step > 0 && one.lengths[1] != vectorSize)
      return invalidArgument("time steps have vectors of different sizes");
    if (step > 0 && one.lengths[0] > seqs.rows.back())
      return invalidArgument("the batch of a time step is larger than that of "
                             "the step before");
    vectorSize = one.lengths[1];
    addStep(seqs, one.lengths[0]);
  }
  setOrder(seqs, seqs.rows[0]);
  seqs.isPacked = desc.paddingMode == miopenRNNIONotPadded ||
                  seqs.rows.back() == seqs.rows[0];
  seqs.clientStep = seqs.rows[0];
  seqs.clientSequence = 1;
  return seqs;
}

ErrorOr<RnnSequences>
capi::readSequences(const miopenRNNDescriptor &desc,
                    const miopenSeqTensorDescriptor &seq) {
  if (seq.dataType != desc.dataType)
    return invalidArgument("the sequences have another data type than the "
                           "network");
  if (seq.lengths.empty() || seq.layout == miopenRNNDataUnknownLayout)
    return invalidArgument("a sequence descriptor was never set, or has no "
                           "layout");
  RnnSequences seqs;
  const auto batch = static_cast<int64_t>(seq.lengths.size());
  setOrder(seqs, batch);
  // Equal lengths keep the client's order.
  std::ranges::sort(seqs.order, {},
                    [&](int64_t i) { return std::pair(-seq.lengths[i], i); });
  const int longest = seq.lengths[seqs.order[0]];
  constexpr int kMostSteps = 1 << 24;
  if (longest > kMostSteps)
    return notSupported("sequences of more than 2^24 time steps are not "
                        "implemented");
  int64_t rows = batch;
  for (int step = 0; step < longest; ++step) {
    while (seq.lengths[seqs.order[rows - 1]] <= step)
      --rows;
    addStep(seqs, rows);
  }
  if (seqs.totalRows == 0)
    return invalidArgument("every sequence is empty");
  const bool isPadded = seq.layout != miopenRNNDataSeqMajorNotPadded;
  if (!isPadded && !seqs.isOrdered())
    return invalidArgument("sequences without padding must be in the order of "
                           "their lengths, the longest first");
  const bool isBatchMajor = seq.layout == miopenRNNDataBatchMajorPadded;
  seqs.isPacked = !isPadded || (!isBatchMajor && seqs.rows.back() == batch);
  seqs.clientStep = isBatchMajor ? 1 : batch;
  seqs.clientSequence = isBatchMajor ? seq.maxLength : 1;
  return seqs;
}
