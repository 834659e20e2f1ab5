//===- RnnFixture.h - Recurrent networks on a device -----------*- C++ -*--===//
//
// Networks with all of their tensors on the device, which are run through the
// C API and compared with RnnReference: one with a descriptor for each time
// step, and one with sequence tensors.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_RNNFIXTURE_H
#define TESSERA_TEST_UNIT_EXECUTE_RNNFIXTURE_H

#include "dialect/Reference/Tensor.h"
#include "test/unit/execute/ApiRowWiseFixture.h"
#include "test/unit/execute/RnnReference.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace tessera::test {

inline Doubles decode(const ApiTensor &tensor, const std::vector<char> &bytes) {
  int64_t count = 1;
  for (int length : tensor.getLengths())
    count *= length;
  Doubles numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] =
        tessera::reference::loadElement(tensor.getType(), bytes.data(), i);
  return numbers;
}
inline Doubles readHost(const ApiTensor &tensor) {
  return decode(tensor, tensor.getHost());
}
inline Doubles readDevice(const ApiTensor &tensor) {
  return decode(tensor, tensor.read());
}

/// Roundings of f32 in the results of a layer, relative to the largest number.
/// A sum of n products loses a random walk's share of its partial sums, so that
/// longer ones lose with the root of n; the gates lose some more. A step hands
/// its errors on multiplied by the hidden weights, whose root mean square is
/// `kSpread`: with hidden units, by kSpread sqrt(hidden) or, where that
/// is less than 1, by the cell. Saturated gates end that after some steps.
inline double countRoundings(const RnnShape &shape) {
  constexpr double kOfGates = 16, kDeviations = 4, kSpread = 0.6 / 1.732;
  constexpr size_t kMostSteps = 3;
  const int longest = std::max({shape.input + shape.hidden, shape.getRows(),
                                shape.getGates() * shape.hidden});
  const double gain = std::max(1.0, kSpread * std::sqrt(shape.hidden));
  double all = 0, factor = 1;
  for (size_t i = 0; i < std::min(kMostSteps, shape.batches.size()); ++i) {
    all += factor;
    factor *= gain;
  }
  return all * (kOfGates + kDeviations * std::sqrt(longest));
}

/// Expects every number to be as near as roundings of the type allow, relative
/// to the largest expected one. An expected NaN stands for any number. Short
/// types lose nearly all where states are rounded to them, not in sums, which
/// are in f32. Every layer multiplies the errors of those before it.
inline void expectNear(const char *name, const RnnShape &shape,
                       const Doubles &numbers, const Doubles &expected) {
  ASSERT_EQ(numbers.size(), expected.size()) << name;
  double largest = 0.05;
  for (double number : expected)
    if (!std::isnan(number))
      largest = std::max(largest, std::abs(number));
  const double units = shape.type == miopenFloat
                           ? countRoundings(shape) * 0x1p-24
                       : shape.type == miopenHalf ? 24 * 0x1p-11
                                                  : 24 * 0x1p-8;
  const double most = units * shape.layers * largest;
  int wrong = 0;
  for (size_t i = 0; i < numbers.size() && wrong < 4; ++i) {
    const bool isRight = std::isnan(expected[i])
                             ? std::isfinite(numbers[i])
                             : std::abs(numbers[i] - expected[i]) <= most;
    if (isRight)
      continue;
    ++wrong;
    ADD_FAILURE() << name << "[" << i << "] is " << numbers[i]
                  << ", but should be " << expected[i];
  }
}

/// A descriptor for each time step.
class StepDescs {
public:
  /// `rank` is that to which lengths of 1 are added.
  StepDescs(miopenDataType_t type, const std::vector<int> &batches, int size,
            int rank) {
    for (int batch : batches) {
      std::vector<int> lengths = {batch, size}, strides = {size, 1};
      lengths.resize(rank, 1);
      strides.resize(rank, 1);
      EXPECT_OK(miopenCreateTensorDescriptor(&descs.emplace_back()));
      EXPECT_OK(miopenSetTensorDescriptor(descs.back(), type, rank,
                                          lengths.data(), strides.data()));
    }
  }
  ~StepDescs() {
    for (miopenTensorDescriptor_t desc : descs)
      EXPECT_OK(miopenDestroyTensorDescriptor(desc));
  }
  StepDescs(const StepDescs &) = delete;
  StepDescs &operator=(const StepDescs &) = delete;
  miopenTensorDescriptor_t *get() { return descs.data(); }

private:
  std::vector<miopenTensorDescriptor_t> descs;
};

/// A network with all of its tensors on the device.
struct Network {
  Network(miopenHandle_t handle, const RnnShape &shape, int rank = 3)
      : handle(handle), shape(shape),
        states{shape.layers * shape.getDirections(), shape.batches[0],
               shape.hidden},
        outputs(shape.getDirections() * shape.hidden),
        xDescs(shape.type, shape.batches, shape.input, rank),
        yDescs(shape.type, shape.batches, outputs, rank),
        x(shape.type, {shape.getRows(), shape.input}, {}, -1, 1),
        w(shape.type, {shape.getWeights()}, {}, -0.6, 0.6),
        y(shape.type, {shape.getRows(), outputs}, {}, -1, 1),
        dx(shape.type, {shape.getRows(), shape.input}),
        dw(shape.type, {shape.getWeights()}, {}, -1, 1),
        dy(shape.type, {shape.getRows(), outputs}, {}, -1, 1),
        hx(shape.type, states, {}, -1, 1), cx(shape.type, states, {}, -1, 1),
        hy(shape.type, states), cy(shape.type, states), dhx(shape.type, states),
        dcx(shape.type, states), dhy(shape.type, states, {}, -1, 1),
        dcy(shape.type, states, {}, -1, 1) {
    EXPECT_OK(miopenCreateRNNDescriptor(&desc));
    setDesc(shape.hasBias);
    for (ApiTensor *result : {&y, &dx, &hy, &cy, &dhx, &dcx})
      result->poison();
  }
  ~Network() { EXPECT_OK(miopenDestroyRNNDescriptor(desc)); }
  Network(const Network &) = delete;
  Network &operator=(const Network &) = delete;

  void setDesc(bool hasBias) {
    EXPECT_OK(miopenSetRNNDescriptor_V2(
        desc, shape.hidden, shape.layers, dropout,
        shape.skipsInput ? miopenRNNskip : miopenRNNlinear,
        shape.isBidirectional ? miopenRNNbidirection : miopenRNNunidirection,
        shape.mode, hasBias ? miopenRNNwithBias : miopenRNNNoBias,
        miopenRNNdefault, shape.type));
  }
  int getSteps() const { return static_cast<int>(shape.batches.size()); }

  /// Makes buffers of the sizes that the library asks for, full of NaNs.
  void allocate() {
    size_t work = 0, kept = 0;
    ASSERT_OK(miopenGetRNNWorkspaceSize(handle, desc, getSteps(), xDescs.get(),
                                        &work));
    ASSERT_OK(miopenGetRNNTrainingReserveSize(handle, desc, getSteps(),
                                              xDescs.get(), &kept));
    workspace = std::make_unique<ApiTensor>(
        miopenInt8, std::vector<int>{static_cast<int>(work)});
    reserve = std::make_unique<ApiTensor>(
        miopenInt8, std::vector<int>{static_cast<int>(kept)});
    workspace->poison();
    reserve->poison();
  }
  size_t getBytes(const ApiTensor &buffer) const {
    return buffer.getHost().size();
  }

  miopenStatus_t infer() {
    return miopenRNNForwardInference(
        handle, desc, getSteps(), xDescs.get(), x.getData(), hx.getDesc(),
        hasInitial ? hx.getData() : nullptr, cx.getDesc(),
        hasInitial ? cx.getData() : nullptr, w.getDesc(), w.getData(),
        yDescs.get(), y.getData(), hy.getDesc(),
        hasFinal ? hy.getData() : nullptr, cy.getDesc(),
        hasFinal ? cy.getData() : nullptr, workspace->getData(),
        getBytes(*workspace));
  }
  miopenStatus_t train() {
    return miopenRNNForwardTraining(
        handle, desc, getSteps(), xDescs.get(), x.getData(), hx.getDesc(),
        hasInitial ? hx.getData() : nullptr, cx.getDesc(),
        hasInitial ? cx.getData() : nullptr, w.getDesc(), w.getData(),
        yDescs.get(), y.getData(), hy.getDesc(),
        hasFinal ? hy.getData() : nullptr, cy.getDesc(),
        hasFinal ? cy.getData() : nullptr, workspace->getData(),
        getBytes(*workspace), reserve->getData(), getBytes(*reserve));
  }
  miopenStatus_t backwardData() {
    return miopenRNNBackwardData(
        handle, desc, getSteps(), yDescs.get(), y.getData(), yDescs.get(),
        dy.getData(), dhy.getDesc(), hasFinal ? dhy.getData() : nullptr,
        dcy.getDesc(), hasFinal ? dcy.getData() : nullptr, w.getDesc(),
        w.getData(), hx.getDesc(), hasInitial ? hx.getData() : nullptr,
        cx.getDesc(), hasInitial ? cx.getData() : nullptr, xDescs.get(),
        dx.getData(), dhx.getDesc(), hasInitial ? dhx.getData() : nullptr,
        dcx.getDesc(), hasInitial ? dcx.getData() : nullptr,
        workspace->getData(), getBytes(*workspace), reserve->getData(),
        getBytes(*reserve));
  }
  miopenStatus_t backwardWeights() {
    return miopenRNNBackwardWeights(
        handle, desc, getSteps(), xDescs.get(), x.getData(), hx.getDesc(),
        hasInitial ? hx.getData() : nullptr, yDescs.get(), y.getData(),
        dw.getDesc(), dw.getData(), workspace->getData(), getBytes(*workspace),
        reserve->getData(), getBytes(*reserve));
  }

  /// The tensors of the reference. States that are not passed are zero.
  RnnData getData() const {
    RnnData data{readHost(x), readHost(w), readHost(hx), readHost(cx),
                 {},          {},          {},           scales};
    if (!hasInitial)
      data.hx = data.cx = Doubles(shape.getStates());
    return data;
  }
  void expectForward() {
    RnnData data = getData();
    runReference(shape, data);
    expectNear("y", shape, readDevice(y), data.y);
    if (!hasFinal)
      return;
    expectNear("hy", shape, readDevice(hy), data.hy);
    if (shape.mode == miopenLSTM)
      expectNear("cy", shape, readDevice(cy), data.cy);
  }
  void expectGradients(size_t every) {
    const Doubles none(shape.getStates());
    const RnnGradients expected = differentiate(
        shape, getData(), readHost(dy), hasFinal ? readHost(dhy) : none,
        hasFinal && shape.mode == miopenLSTM ? readHost(dcy) : none, every);
    expectNear("dx", shape, readDevice(dx), expected.dx);
    Doubles added = readHost(dw);
    for (size_t i = 0; i < added.size(); ++i)
      added[i] += expected.dw[i];
    expectNear("dw", shape, readDevice(dw), added);
    if (!hasInitial)
      return;
    expectNear("dhx", shape, readDevice(dhx), expected.dhx);
    if (shape.mode == miopenLSTM)
      expectNear("dcx", shape, readDevice(dcx), expected.dcx);
  }

  miopenHandle_t handle;
  const RnnShape shape;
  const std::vector<int> states;
  const int outputs;
  StepDescs xDescs, yDescs;
  ApiTensor x, w, y, dx, dw, dy;
  ApiTensor hx, cx, hy, cy, dhx, dcx, dhy, dcy;
  std::unique_ptr<ApiTensor> workspace, reserve;
  std::vector<Doubles> scales;
  bool hasInitial = true, hasFinal = true;
  miopenDropoutDescriptor_t dropout = nullptr;
  miopenRNNDescriptor_t desc = nullptr;
};

class ApiRnn : public ApiRowWise {
protected:
  /// Runs forward and backward passes and compares all results, or each
  /// `every`th number of the gradients.
  void checkTraining(Network &net, size_t every = 1) {
    net.allocate();
    ASSERT_OK(net.train());
    net.expectForward();
    // PyTorch says here that every network has biases.
    net.setDesc(/*hasBias=*/true);
    ASSERT_OK(net.backwardData());
    net.setDesc(net.shape.hasBias);
    ASSERT_OK(net.backwardWeights());
    net.expectGradients(every);
  }
};

/// The position of the rows of one time step at the client: `order` gives the
/// client's number of each sequence of a packed step.
struct Padding {
  miopenRNNBaseLayout_t layout;
  std::vector<int> lengths; ///< Of the client's sequences.
  int maxLength;

  int getBatch() const { return static_cast<int>(lengths.size()); }
  int getRow(int step, int sequence) const {
    const std::vector<int> batches = getBatches();
    if (layout == miopenRNNDataSeqMajorNotPadded)
      return std::accumulate(batches.begin(), batches.begin() + step, sequence);
    return layout == miopenRNNDataBatchMajorPadded
               ? sequence * maxLength + step
               : step * getBatch() + sequence;
  }
  std::vector<int> getOrder() const {
    std::vector<int> order(lengths.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<int>(i);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b;
    });
    return order;
  }
  std::vector<int> getBatches() const {
    std::vector<int> batches;
    for (int step = 0;; ++step) {
      const auto alive = std::count_if(lengths.begin(), lengths.end(),
                                       [&](int l) { return l > step; });
      if (alive == 0)
        return batches;
      batches.push_back(static_cast<int>(alive));
    }
  }
  /// Takes the rows that are no padding, packed in the order of the lengths.
  Doubles pack(const Doubles &rows, int columns) const {
    Doubles packed;
    const std::vector<int> order = getOrder();
    const std::vector<int> batches = getBatches();
    for (size_t step = 0; step < batches.size(); ++step)
      for (int i = 0; i < batches[step]; ++i) {
        const double *row =
            &rows[getRow(static_cast<int>(step), order[i]) * columns];
        packed.insert(packed.end(), row, row + columns);
      }
    return packed;
  }
  /// Puts the states of the sequences into that order.
  Doubles sort(const Doubles &states, int hidden) const {
    Doubles sorted;
    const std::vector<int> order = getOrder();
    const size_t slice = order.size() * hidden;
    for (size_t first = 0; first < states.size(); first += slice)
      for (int sequence : order) {
        const double *state = &states[first + sequence * hidden];
        sorted.insert(sorted.end(), state, state + hidden);
      }
    return sorted;
  }
};

/// A network whose input and output are sequence tensors.
struct SeqNetwork {
  SeqNetwork(miopenHandle_t handle, const RnnShape &shape,
             const Padding &padding)
      : handle(handle), shape(shape), padding(padding),
        rows(padding.getBatch() * padding.maxLength),
        outputs(shape.getDirections() * shape.hidden),
        states{shape.layers * shape.getDirections(), padding.getBatch(),
               shape.hidden},
        x(shape.type, {rows, shape.input}, {}, -1, 1),
        w(shape.type, {shape.getWeights()}, {}, -0.6, 0.6),
        y(shape.type, {rows, outputs}), dx(shape.type, {rows, shape.input}),
        dw(shape.type, {shape.getWeights()}, {}, -1, 1),
        dy(shape.type, {rows, outputs}, {}, -1, 1),
        hx(shape.type, states, {}, -1, 1), cx(shape.type, states, {}, -1, 1),
        hy(shape.type, states), cy(shape.type, states), dhx(shape.type, states),
        dcx(shape.type, states), dhy(shape.type, states, {}, -1, 1),
        dcy(shape.type, states, {}, -1, 1) {
    EXPECT_OK(miopenCreateRNNDescriptor(&desc));
    EXPECT_OK(miopenSetRNNDescriptor(
        desc, shape.hidden, shape.layers,
        shape.skipsInput ? miopenRNNskip : miopenRNNlinear,
        shape.isBidirectional ? miopenRNNbidirection : miopenRNNunidirection,
        shape.mode, shape.hasBias ? miopenRNNwithBias : miopenRNNNoBias,
        miopenRNNdefault, shape.type));
    set(xDesc, shape.input);
    set(yDesc, outputs);
    for (ApiTensor *result : {&y, &dx, &hy, &cy, &dhx, &dcx})
      result->poison();
  }
  ~SeqNetwork() {
    EXPECT_OK(miopenDestroyRNNDescriptor(desc));
    EXPECT_OK(miopenDestroySeqTensorDescriptor(xDesc));
    EXPECT_OK(miopenDestroySeqTensorDescriptor(yDesc));
  }
  SeqNetwork(const SeqNetwork &) = delete;
  SeqNetwork &operator=(const SeqNetwork &) = delete;

  void set(miopenSeqTensorDescriptor_t &seq, int size) {
    EXPECT_OK(miopenCreateSeqTensorDescriptor(&seq));
    EXPECT_OK(miopenSetRNNDataSeqTensorDescriptor(
        seq, shape.type, padding.layout, padding.maxLength, padding.getBatch(),
        size, padding.lengths.data(), nullptr));
  }
  void allocate(miopenRNNFWDMode_t mode) {
    size_t work = 0, kept = 7;
    ASSERT_OK(
        miopenGetRNNTempSpaceSizes(handle, desc, xDesc, mode, &work, &kept));
    workspace = std::make_unique<ApiTensor>(
        miopenInt8, std::vector<int>{static_cast<int>(work)});
    workspace->poison();
    if (mode == miopenRNNInference) {
      EXPECT_EQ(kept, 0u);
      return;
    }
    reserve = std::make_unique<ApiTensor>(
        miopenInt8, std::vector<int>{static_cast<int>(kept)});
    reserve->poison();
  }
  miopenStatus_t forward(miopenRNNFWDMode_t mode) {
    return miopenRNNForward(
        handle, desc, mode, xDesc, x.getData(), hx.getDesc(), hx.getData(),
        hy.getData(), cx.getDesc(), cx.getData(), cy.getData(), yDesc,
        y.getData(), w.getData(), w.getHost().size(), workspace->getData(),
        workspace->getHost().size(), reserve ? reserve->getData() : nullptr,
        reserve ? reserve->getHost().size() : 0);
  }
  miopenStatus_t backwardData() {
    return miopenRNNBackwardSeqData(
        handle, desc, yDesc, y.getData(), dy.getData(), hx.getDesc(),
        hx.getData(), dhy.getData(), dhx.getData(), cx.getDesc(), cx.getData(),
        dcy.getData(), dcx.getData(), xDesc, dx.getData(), w.getData(),
        w.getHost().size(), workspace->getData(), workspace->getHost().size(),
        reserve->getData(), reserve->getHost().size());
  }
  miopenStatus_t backwardWeights() {
    return miopenRNNBackwardWeightsSeqTensor(
        handle, desc, xDesc, x.getData(), hx.getDesc(), hx.getData(), yDesc,
        y.getData(), dw.getData(), dw.getHost().size(), workspace->getData(),
        workspace->getHost().size(), reserve->getData(),
        reserve->getHost().size());
  }

  RnnData getData() const {
    return {padding.pack(readHost(x), shape.input),
            readHost(w),
            padding.sort(readHost(hx), shape.hidden),
            padding.sort(readHost(cx), shape.hidden),
            {},
            {},
            {},
            {}};
  }
  Doubles sorted(const Doubles &numbers) const {
    return padding.sort(numbers, shape.hidden);
  }
  void expectForward() {
    RnnData data = getData();
    runReference(shape, data);
    expectNear("y", shape, padding.pack(readDevice(y), outputs), data.y);
    expectNear("hy", shape, sorted(readDevice(hy)), data.hy);
    if (shape.mode == miopenLSTM)
      expectNear("cy", shape, sorted(readDevice(cy)), data.cy);
  }
  void expectGradients(size_t every = 1) {
    const bool isLstm = shape.mode == miopenLSTM;
    const Doubles none(shape.getStates());
    const RnnGradients expected = differentiate(
        shape, getData(), padding.pack(readHost(dy), outputs),
        sorted(readHost(dhy)), isLstm ? sorted(readHost(dcy)) : none, every);
    expectNear("dx", shape, padding.pack(readDevice(dx), shape.input),
               expected.dx);
    Doubles added = readHost(dw);
    for (size_t i = 0; i < added.size(); ++i)
      added[i] += expected.dw[i];
    expectNear("dw", shape, readDevice(dw), added);
    expectNear("dhx", shape, sorted(readDevice(dhx)), expected.dhx);
    if (isLstm)
      expectNear("dcx", shape, sorted(readDevice(dcx)), expected.dcx);
  }

  miopenHandle_t handle;
  const RnnShape shape;
  const Padding padding;
  const int rows, outputs;
  const std::vector<int> states;
  ApiTensor x, w, y, dx, dw, dy;
  ApiTensor hx, cx, hy, cy, dhx, dcx, dhy, dcy;
  std::unique_ptr<ApiTensor> workspace, reserve;
  miopenRNNDescriptor_t desc = nullptr;
  miopenSeqTensorDescriptor_t xDesc = nullptr, yDesc = nullptr;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_EXECUTE_RNNFIXTURE_H
