//===- CtcCall.cpp - One CTC loss -----------------------------------------===//
//
// The states of a sequence of L labels are 2 L + 1: the labels with a blank
// before, between and after them. Launches compute, for each time step, the
// logarithm of the probability of being in each state after the time steps
// before (alpha) and behind (beta). All arrays of states have the batch in the
// inner dimension, so that the neighbours of a state are at aligned addresses.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Loss/CtcCall.h"

#include "capi/lib/RowWise/RowWiseCall.h"

#include <miopen/softmax.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

/// The logarithm of the probability 0 in ctc_step (docs/spec/row-wise.md).
static constexpr float kLogZero = -1e30f;

/// A state depends on itself and on the two states before or behind it.
static constexpr int64_t kReach = 2;

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// Copies integers from host or device memory. Waits for the stream if they are
/// on the device.
static ErrorOr<std::vector<int>> readIntegers(miopenHandle &handle,
                                              const int *source, size_t count) {
  std::vector<int> values(count);
  if (count == 0)
    return values;
  const GpuApi &gpu = handle.engine.getGpu();
  if (!gpu.isDeviceMemory(source)) {
    std::copy_n(source, count, values.begin());
    return values;
  }
  Status status =
      gpu.check(gpu.hipMemcpyAsync(values.data(), source, count * sizeof(int),
                                   hipMemcpyDeviceToHost, handle.stream),
                "hipMemcpyAsync");
  if (status.isOk())
    status = gpu.check(gpu.hipStreamSynchronize(handle.stream),
                       "hipStreamSynchronize");
  if (!status.isOk())
    return status;
  return values;
}

namespace {
/// A batch of sequences and what they are labelled with.
struct Batch {
  int64_t times, size, classes;
  int blank;
  std::vector<int> labelLengths, inputLengths;
  std::vector<int> labels; ///< One sequence after the other.

  /// With one more state, which is entered behind the last time step.
  int64_t countStates() const {
    return 2 * *std::ranges::max_element(labelLengths) + 2;
  }
};
} // namespace

static Status checkTensors(const CtcCall &call) {
  for (auto [name, tensor] : {std::pair("probs", &call.probs),
                              std::pair("gradients", &call.gradients)})
    if (tensor->getRank() != 3)
      return invalidArgument(std::string(name) + " has " +
                             std::to_string(tensor->getRank()) +
                             " dimensions, not 3");
  Status status =
      checkSameLengths("probs", call.probs, "gradients", call.gradients);
  if (status.isOk())
    status = checkSameType("probs", call.probs, "gradients", call.gradients);
  if (!status.isOk())
    return status;
  if (call.probs.dataType == miopenHalf)
    return notSupported("the CTC loss of half is not implemented");
  if (call.probs.dataType != miopenFloat)
    return invalidArgument("probs have data type " +
                           std::to_string(call.probs.dataType) +
                           ", not miopenFloat");
  // Kernels compare classes and time steps as floats.
  constexpr int64_t kLimit = 1 << 24;
  for (int dim : {0, 2})
    if (call.probs.lengths[dim] > kLimit)
      return notSupported("more than 2^24 time steps or classes are not "
                          "implemented");
  return Status::ok();
}

/// Whether the labels of sequence `n`, which begin at `labels`, fit its time
/// steps and the classes.
static Status checkSequence(const Batch &batch, int64_t n, const int *labels) {
  const std::string name = "sequence " + std::to_string(n);
  const int count = batch.labelLengths[n], time = batch.inputLengths[n];
  if (time < 1 || time > batch.times)
    return invalidArgument(name + " has " + std::to_string(time) +
                           " time steps, not 1 to " +
                           std::to_string(batch.times));
  int repeats = 0;
  for (int i = 0; i < count; ++i) {
    if (labels[i] < 0 || labels[i] >= batch.classes)
      return invalidArgument("label " + std::to_string(i) + " of " + name +
                             " is " + std::to_string(labels[i]) +
                             ", not 0 to " + std::to_string(batch.classes - 1));
    repeats += i > 0 && labels[i] == labels[i - 1];
  }
  if (count + repeats > time)
    return invalidArgument(name + " needs " + std::to_string(count + repeats) +
                           " time steps for its labels and the blanks between "
                           "equal ones, but has " +
                           std::to_string(time));
  return Status::ok();
}

static ErrorOr<Batch> readBatch(const CtcCall &call) {
  if (Status status = checkTensors(call); !status.isOk())
    return status;
  Batch batch{call.probs.lengths[0],
              call.probs.lengths[1],
              call.probs.lengths[2],
              0,
              {},
              {},
              {}};
  batch.blank = static_cast<int>(std::clamp<int64_t>(
      call.loss.blankLabel, 0, batch.classes - 1)); // As MIOpen.
  for (auto [source, target] :
       {std::pair(call.labelLengths, &batch.labelLengths),
        std::pair(call.inputLengths, &batch.inputLengths)}) {
    auto values =
        readIntegers(call.handle, source, static_cast<size_t>(batch.size));
    if (!values)
      return values.getStatus();
    *target = std::move(*values);
  }
  int64_t total = 0;
  for (int length : batch.labelLengths) {
    // So the sum does not overflow either, whatever the lengths are.
    if (length < 0 || length > batch.times)
      return invalidArgument("a label length is " + std::to_string(length) +
                             ", not 0 to " + std::to_string(batch.times) +
                             ", the time steps");
    total += length;
  }
  auto labels =
      readIntegers(call.handle, call.labels, static_cast<size_t>(total));
  if (!labels)
    return labels.getStatus();
  batch.labels = std::move(*labels);
  const int *next = batch.labels.data();
  for (int64_t n = 0; n < batch.size; ++n) {
    if (Status status = checkSequence(batch, n, next); !status.isOk())
      return status;
    next += batch.labelLengths[n];
  }
  return batch;
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

namespace {
/// Where the arrays of the workspace begin, in words of 4 bytes.
class CtcLayout {
public:
  CtcLayout(const Batch &batch, bool hasSoftmax)
      : states(batch.countStates()), rowStride((batch.size + 3) / 4 * 4) {
    const int64_t reached = states + kReach;
    labels = take({states, rowStride});
    skips = take({reached, rowStride});
    finals = take({states, rowStride});
    lengths = take({rowStride});
    numbers = take({std::max(batch.times, batch.classes)});
    first = take({reached, rowStride});
    last = take({reached, rowStride});
    uploaded = words;
    alpha = take({batch.times, reached, rowStride});
    beta = take({batch.times, reached, rowStride});
    logs = take({batch.times, states, rowStride});
    if (hasSoftmax)
      softmax = take({batch.times, batch.size, batch.classes});
  }

  int64_t states, rowStride;
  int64_t labels, skips, finals, lengths, numbers, first, last;
  int64_t uploaded; ///< What lies before this is made by the host.
  int64_t alpha, beta, logs, softmax = 0;

  int64_t getStepStride() const { return (states + kReach) * rowStride; }

  ErrorOr<size_t> getBytes() const {
    constexpr int64_t kMost = INT64_MAX / 4;
    if (overflows || words > kMost)
      return invalidArgument("the workspace has more bytes than 64 bits can "
                             "count");
    return static_cast<size_t>(words) * 4;
  }

private:
  int64_t take(std::initializer_list<int64_t> sizes) {
    constexpr int64_t kAlignment = 64;
    const int64_t begin = words;
    int64_t elements = 1;
    for (int64_t size : sizes)
      overflows |= __builtin_mul_overflow(elements, size, &elements);
    overflows |= __builtin_add_overflow(elements, kAlignment - 1, &elements);
    overflows |= __builtin_add_overflow(
        words, elements / kAlignment * kAlignment, &words);
    return begin;
  }

  int64_t words = 0;
  bool overflows = false;
};
} // namespace

/// What the host knows: labels and flags of states, lengths of sequences, the
/// numbers 0, 1, 2, ..., and the states before the first and behind the last
/// time step.
static std::vector<int> makeTables(const Batch &batch, const CtcLayout &l) {
  std::vector<int> words(static_cast<size_t>(l.uploaded));
  auto setFloat = [&](int64_t at, float value) {
    std::memcpy(&words[at], &value, sizeof value);
  };
  std::fill_n(&words[l.labels], l.states * l.rowStride, -1);
  for (int64_t i = 0; i < l.getStepStride(); ++i) {
    setFloat(l.first + i, kLogZero);
    setFloat(l.last + i, kLogZero);
  }
  std::iota(&words[l.numbers], &words[l.first], 0);
  const int *labels = batch.labels.data();
  for (int64_t n = 0; n < batch.size; ++n) {
    const int64_t end = 2 * int64_t(batch.labelLengths[n]);
    auto at = [&](int64_t array, int64_t state) -> int & {
      return words[array + state * l.rowStride + n];
    };
    auto getLabel = [&](int64_t state) { return labels[state / 2]; };
    for (int64_t state = 0; state <= end; ++state)
      at(l.labels, state) = state % 2 ? getLabel(state) : batch.blank;
    // A blank may be left out between different labels, and the first and the
    // last blank may be.
    for (int64_t state = 1; state < end; state += 2)
      at(l.skips, state) =
          state == 1 || (getLabel(state) != batch.blank &&
                         getLabel(state) != getLabel(state - 2));
    at(l.skips, end + 1) = 1;
    at(l.finals, end) = 1;
    if (end > 0)
      at(l.finals, end - 1) = 1;
    words[l.lengths + n] = batch.inputLengths[n];
    setFloat(l.first + (kReach - 1) * l.rowStride + n, 0);
    setFloat(l.last + (end + 1) * l.rowStride + n, 0);
    labels += batch.labelLengths[n];
  }
  return words;
}

ErrorOr<size_t> capi::getCtcWorkspaceBytes(const CtcCall &call) {
  const ErrorOr<Batch> batch = readBatch(call);
  if (!batch)
    return batch.getStatus();
  return CtcLayout(*batch, call.loss.applySoftmax).getBytes();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// The launches of a loss, in their order. Each returns its result.
class CtcRun {
public:
  CtcRun(const CtcCall &call, const Batch &batch, const CtcLayout &layout,
         void *workspace)
      : call(call), batch(batch), l(layout),
        workspace(static_cast<int *>(workspace)) {}

  ApiResult run(const void *probs, void *losses, void *gradients);

private:
  using Strides = std::vector<int64_t>;

  void *at(int64_t word) const { return workspace + word; }
  void *getAlpha(int64_t time) const {
    return at(l.alpha + time * l.getStepStride() + kReach * l.rowStride);
  }
  void *getBeta(int64_t time) const {
    return at(l.beta + time * l.getStepStride());
  }
  Status upload() const;
  ApiResult clearBorder(void *border) const;
  ApiResult takeLogarithms(const void *probs);
  ApiResult gather() const;
  ApiResult step(int64_t time, const void *from, int64_t direction,
                 void *to) const;
  ApiResult stepAll() const;
  ApiResult computeLosses(void *losses) const;
  ApiResult computeOccupancy(const void *losses) const;
  ApiResult computeGradients(void *gradients) const;

  const CtcCall &call;
  const Batch &batch;
  const CtcLayout &l;
  int *workspace;
  const void *logarithms = nullptr; ///< Of all classes' probabilities.
  Strides logStrides;
};
} // namespace

/// Waits, because the tables are memory of this call.
Status CtcRun::upload() const {
  const std::vector<int> tables = makeTables(batch, l);
  const GpuApi &gpu = call.handle.engine.getGpu();
  Status status = gpu.check(
      gpu.hipMemcpyAsync(workspace, tables.data(), tables.size() * sizeof(int),
                         hipMemcpyHostToDevice, call.handle.stream),
      "hipMemcpyAsync");
  if (status.isOk())
    status = gpu.check(gpu.hipStreamSynchronize(call.handle.stream),
                       "hipStreamSynchronize");
  return status;
}

/// Sets the states that no sequence has, which steps read.
ApiResult CtcRun::clearBorder(void *border) const {
  const int64_t lengths[] = {batch.times, kReach * l.rowStride};
  return RowWiseCall(call.handle, RowWiseKind::SetTensor, 0, lengths)
      .add(RowRole::Output, "states", DataType::F32,
           Strides{l.getStepStride(), 1}, border)
      .scalar(kLogZero)
      .run();
}

ApiResult CtcRun::takeLogarithms(const void *probs) {
  if (!call.loss.applySoftmax) {
    logarithms = probs;
    logStrides = call.probs.strides;
    return Status::ok();
  }
  logarithms = at(l.softmax);
  logStrides = {batch.size * batch.classes, batch.classes, 1};
  return RowWiseCall(call.handle, RowWiseKind::SoftmaxForward,
                     MIOPEN_SOFTMAX_LOG, call.probs.lengths)
      .reduce(2)
      .add(RowRole::Input, "probs", call.probs, probs)
      .add(RowRole::Output, "logarithms", DataType::F32, logStrides, logarithms)
      .scalar(1)
      .scalar(0)
      .run();
}

ApiResult CtcRun::gather() const {
  const int64_t lengths[] = {batch.times, l.states, batch.size, batch.classes};
  return RowWiseCall(call.handle, RowWiseKind::CtcGather, 0, lengths)
      .reduce(3)
      .add(RowRole::Input, "probs", DataType::F32,
           Strides{logStrides[0], 0, logStrides[1], logStrides[2]}, logarithms)
      .add(RowRole::Input, "labels", DataType::I32,
           Strides{0, l.rowStride, 1, 0}, at(l.labels))
      .add(RowRole::Input, "classes", DataType::I32, Strides{0, 0, 0, 1},
           at(l.numbers))
      .add(RowRole::RowOutput, "probabilities", DataType::F32,
           Strides{l.states * l.rowStride, l.rowStride, 1, 0}, at(l.logs))
      .run();
}

/// Computes the states at `time` from those at a neighbouring time. `direction`
/// is -1 for alpha and 1 for beta.
ApiResult CtcRun::step(int64_t time, const void *from, int64_t direction,
                       void *to) const {
  const int64_t lengths[] = {l.states, batch.size};
  const Strides strides{l.rowStride, 1};
  RowWiseCall rowCall(call.handle, RowWiseKind::CtcStep, 0, lengths);
  for (int64_t distance = 0; distance <= kReach; ++distance)
    rowCall.add(RowRole::Input, "states", DataType::F32, strides,
                static_cast<const float *>(from) +
                    direction * distance * l.rowStride);
  // Whether a state can be left for the second one behind it is a flag of that
  // one.
  return rowCall
      .add(RowRole::Input, "flags", DataType::I32, strides,
           at(l.skips + (direction > 0 ? kReach * l.rowStride : 0)))
      .add(RowRole::Input, "probabilities", DataType::F32, strides,
           at(l.logs + time * l.states * l.rowStride))
      .add(RowRole::Input, "inputLengths", DataType::I32, Strides{0, 1},
           at(l.lengths))
      .add(RowRole::Output, "states", DataType::F32, strides, to)
      .scalar(static_cast<double>(time))
      .run();
}

ApiResult CtcRun::stepAll() const {
  const void *from = at(l.first + kReach * l.rowStride);
  for (int64_t time = 0; time < batch.times; ++time) {
    const ApiResult result = step(time, from, -1, getAlpha(time));
    if (result.getStatus() != miopenStatusSuccess)
      return result;
    from = getAlpha(time);
  }
  from = at(l.last);
  for (int64_t time = batch.times - 1; time >= 0; --time) {
    const ApiResult result = step(time, from, 1, getBeta(time));
    if (result.getStatus() != miopenStatusSuccess)
      return result;
    from = getBeta(time);
  }
  return Status::ok();
}

ApiResult CtcRun::computeLosses(void *losses) const {
  const int64_t lengths[] = {l.states, batch.size};
  return RowWiseCall(call.handle, RowWiseKind::CtcLoss, 0, lengths)
      .reduce(0)
      .add(RowRole::Input, "states", DataType::F32, Strides{l.rowStride, 1},
           getAlpha(batch.times - 1))
      .add(RowRole::Input, "flags", DataType::I32, Strides{l.rowStride, 1},
           at(l.finals))
      .add(RowRole::RowOutput, "losses", DataType::F32, Strides{0, 1}, losses)
      .run();
}

/// Overwrites beta.
ApiResult CtcRun::computeOccupancy(const void *losses) const {
  const int64_t lengths[] = {batch.times, l.states, batch.size};
  const Strides strides{l.getStepStride(), l.rowStride, 1};
  return RowWiseCall(call.handle, RowWiseKind::CtcOccupancy, 0, lengths)
      .add(RowRole::Input, "alpha", DataType::F32, strides, getAlpha(0))
      .add(RowRole::Input, "beta", DataType::F32, strides, getBeta(0))
      .add(RowRole::Input, "probabilities", DataType::F32,
           Strides{l.states * l.rowStride, l.rowStride, 1}, at(l.logs))
      .add(RowRole::Input, "losses", DataType::F32, Strides{0, 0, 1}, losses)
      .add(RowRole::Input, "inputLengths", DataType::I32, Strides{0, 0, 1},
           at(l.lengths))
      .add(RowRole::Input, "times", DataType::I32, Strides{1, 0, 0},
           at(l.numbers))
      .add(RowRole::Output, "occupancy", DataType::F32, strides, getBeta(0))
      .run();
}

ApiResult CtcRun::computeGradients(void *gradients) const {
  const int64_t lengths[] = {batch.times, batch.size, batch.classes, l.states};
  const Strides &to = call.gradients.strides;
  return RowWiseCall(call.handle, RowWiseKind::CtcGradient,
                     call.loss.applySoftmax ? 0 : 1, lengths)
      .reduce(3)
      .add(RowRole::Input, "probs", DataType::F32,
           Strides{logStrides[0], logStrides[1], logStrides[2], 0}, logarithms)
      .add(RowRole::Input, "occupancy", DataType::F32,
           Strides{l.getStepStride(), 1, 0, l.rowStride}, getBeta(0))
      .add(RowRole::Input, "labels", DataType::I32,
           Strides{0, 1, 0, l.rowStride}, at(l.labels))
      .add(RowRole::Input, "classes", DataType::I32, Strides{0, 0, 1, 0},
           at(l.numbers))
      .add(RowRole::Input, "times", DataType::I32, Strides{1, 0, 0, 0},
           at(l.numbers))
      .add(RowRole::Input, "inputLengths", DataType::I32, Strides{0, 1, 0, 0},
           at(l.lengths))
      .add(RowRole::RowOutput, "gradients", DataType::F32,
           Strides{to[0], to[1], to[2], 0}, gradients)
      .run();
}

ApiResult CtcRun::run(const void *probs, void *losses, void *gradients) {
  ApiResult result = upload();
  auto then = [&](auto launch) {
    if (result.getStatus() == miopenStatusSuccess)
      result = launch();
  };
  then([&] { return clearBorder(at(l.alpha)); });
  then([&] { return clearBorder(at(l.beta + l.states * l.rowStride)); });
  then([&] { return takeLogarithms(probs); });
  then([&] { return gather(); });
  then([&] { return stepAll(); });
  then([&] { return computeLosses(losses); });
  then([&] { return computeOccupancy(losses); });
  then([&] { return computeGradients(gradients); });
  return result;
}

ApiResult capi::runCtcLoss(const CtcCall &call, const void *probs, void *losses,
                           void *gradients, void *workspace,
                           size_t workspaceBytes) {
  const ErrorOr<Batch> batch = readBatch(call);
  if (!batch)
    return batch.getStatus();
  const CtcLayout layout(*batch, call.loss.applySoftmax);
  const ErrorOr<size_t> needed = layout.getBytes();
  if (!needed)
    return needed.getStatus();
  if (workspaceBytes < *needed)
    return invalidArgument("the workspace has " +
                           std::to_string(workspaceBytes) + " bytes, but " +
                           std::to_string(*needed) + " are needed");
  const KernelTimeSum sum(call.handle);
  return CtcRun(call, *batch, layout, workspace).run(probs, losses, gradients);
}
