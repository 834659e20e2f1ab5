//===- ApiLossTest.cpp - Loss functions on a device -----------------------===//
//
// The CTC loss is compared with a sum over the paths of the states in double,
// and its gradient with that of the sum; they know nothing of launches.
//
//===----------------------------------------------------------------------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include "dialect/Reference/Random.h"
#include "test/unit/execute/ConvFixture.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace tessera;
using namespace tessera::test;

namespace {
using Values = std::vector<double>;

/// Sequences of classes and their labels, without memory of a device.
struct CtcCase {
  int times, size, classes;
  std::vector<int> inputLengths, labelLengths, labels;
  int blank = 0;

  int getFirstLabel(int n) const {
    return std::accumulate(labelLengths.begin(), labelLengths.begin() + n, 0);
  }
};

/// The loss and the gradient of one sequence, as log-domain recursions in
/// double over the states: its labels with blanks around them.
class CtcReference {
public:
  /// `logs` are the logarithms of probabilities, one row for each time step.
  CtcReference(const CtcCase &c, int n, Values logs)
      : classes(c.classes), times(c.inputLengths[n]), logs(std::move(logs)) {
    const int *labels = &c.labels[c.getFirstLabel(n)];
    for (int i = 0; i < c.labelLengths[n]; ++i) {
      states.push_back(c.blank);
      states.push_back(labels[i]);
    }
    states.push_back(c.blank);
    blank = c.blank;
  }

  double getLoss() const {
    double sum = -INFINITY;
    for (int s : getFinals())
      sum = addLogs(sum, getAlpha(times - 1)[s]);
    return -sum;
  }

  /// The probability of being at class `k` at time t, given the labels.
  double getOccupancy(int t, int k) const {
    const Values alpha = getAlpha(t), beta = getBeta(t);
    double sum = -INFINITY;
    for (size_t s = 0; s < states.size(); ++s)
      if (states[s] == k)
        sum = addLogs(sum, alpha[s] + beta[s]);
    return std::exp(sum + getLoss());
  }

private:
  static double addLogs(double a, double b) {
    const double most = std::fmax(a, b);
    if (most == -INFINITY)
      return most;
    return most + std::log(std::exp(a - most) + std::exp(b - most));
  }
  double getLog(int t, size_t s) const { return logs[t * classes + states[s]]; }
  /// Whether a path may go from state s - 2 to state s.
  bool maySkip(size_t s) const {
    return s >= 2 && states[s] != blank && states[s] != states[s - 2];
  }
  std::vector<int> getFinals() const {
    const int last = static_cast<int>(states.size()) - 1;
    return last > 0 ? std::vector<int>{last - 1, last} : std::vector<int>{last};
  }
  /// The logarithm of the probability of all paths that are in state s at t.
  Values getAlpha(int t) const {
    Values alpha(states.size(), -INFINITY);
    for (size_t s = 0; s < std::min<size_t>(2, states.size()); ++s)
      alpha[s] = getLog(0, s);
    for (int at = 1; at <= t; ++at) {
      const Values old = alpha;
      for (size_t s = 0; s < states.size(); ++s) {
        if (s >= 1)
          alpha[s] = addLogs(alpha[s], old[s - 1]);
        if (maySkip(s))
          alpha[s] = addLogs(alpha[s], old[s - 2]);
        alpha[s] += getLog(at, s);
      }
    }
    return alpha;
  }
  /// The same of what follows t.
  Values getBeta(int t) const {
    Values beta(states.size(), -INFINITY);
    for (int s : getFinals())
      beta[s] = 0;
    for (int at = times - 2; at >= t; --at) {
      Values next = beta;
      for (size_t s = 0; s < states.size(); ++s)
        next[s] += getLog(at + 1, s);
      for (size_t s = 0; s < states.size(); ++s) {
        beta[s] = next[s];
        if (s + 1 < states.size())
          beta[s] = addLogs(beta[s], next[s + 1]);
        if (s + 2 < states.size() && maySkip(s + 2))
          beta[s] = addLogs(beta[s], next[s + 2]);
      }
    }
    return beta;
  }

  int classes, times, blank;
  Values logs;
  std::vector<int> states;
};

class ApiCtcLoss : public ApiRowWise {
protected:
  void SetUp() override {
    ApiRowWise::SetUp();
    ASSERT_OK(miopenCreateCTCLossDescriptor(&loss));
  }
  void TearDown() override {
    EXPECT_OK(miopenDestroyCTCLossDescriptor(loss));
    ApiRowWise::TearDown();
  }

  miopenStatus_t getBytes(const CtcCase &c, const ApiTensor &probs,
                          const ApiTensor &gradients, size_t &bytes) {
    return miopenGetCTCLossWorkspaceSize(
        handle, probs.getDesc(), gradients.getDesc(), c.labels.data(),
        c.labelLengths.data(), c.inputLengths.data(),
        MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC, loss, &bytes);
  }

  /// Runs a case on logits and compares losses and gradients with the
  /// reference. If `onDevice`, labels and lengths are in device memory.
  void check(const CtcCase &c, bool hasSoftmax, bool onDevice,
             const std::vector<int> &strides = {});

  miopenCTCLossDescriptor_t loss = nullptr;
};
} // namespace

/// The logarithms of the softmax of a row, or the row itself.
static Values getLogs(const Values &row, bool hasSoftmax) {
  if (!hasSoftmax)
    return row;
  const double most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double x : row)
    sum += std::exp(x - most);
  Values logs;
  for (double x : row)
    logs.push_back(x - most - std::log(sum));
  return logs;
}

static std::unique_ptr<ApiTensor> upload(const std::vector<int> &values) {
  auto tensor = std::make_unique<ApiTensor>(
      miopenInt32, std::vector<int>{static_cast<int>(values.size())});
  std::vector<char> bytes(values.size() * sizeof(int));
  memcpy(bytes.data(), values.data(), bytes.size());
  tensor->setBytes(bytes);
  return tensor;
}

void ApiCtcLoss::check(const CtcCase &c, bool hasSoftmax, bool onDevice,
                       const std::vector<int> &strides) {
  SCOPED_TRACE(testing::Message() << c.times << "x" << c.size << "x"
                                  << c.classes << " softmax " << hasSoftmax);
  ASSERT_OK(miopenSetCTCLossDescriptor(loss, miopenFloat, c.blank, hasSoftmax));
  const std::vector<int> lengths = {c.times, c.size, c.classes};
  // Logarithms of probabilities are below 0.
  ApiTensor probs(miopenFloat, lengths, strides, -4, hasSoftmax ? 4 : -0.25);
  ApiTensor gradients(miopenFloat, lengths, strides);
  ApiTensor losses(miopenFloat, {c.size});
  gradients.poison();
  losses.poison();
  size_t bytes = 0;
  ASSERT_OK(getBytes(c, probs, gradients, bytes));
  ApiTensor workspace(miopenInt8, {static_cast<int>(bytes)});
  workspace.poison();
  const auto labels = upload(c.labels), counts = upload(c.labelLengths);
  const auto times = upload(c.inputLengths);
  auto get = [&](const std::vector<int> &host, const ApiTensor &device) {
    return onDevice ? static_cast<const int *>(device.getData()) : host.data();
  };
  ASSERT_OK(miopenCTCLoss(
      handle, probs.getDesc(), probs.getData(), get(c.labels, *labels),
      get(c.labelLengths, *counts), get(c.inputLengths, *times),
      losses.getData(), gradients.getDesc(), gradients.getData(),
      MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC, loss, workspace.getData(), bytes));
  const auto operand =
      probs.getOperand(reference::RowRole::Input, probs.getHost());
  const std::vector<char> found = losses.read(), slopes = gradients.read();
  for (int n = 0; n < c.size; ++n) {
    auto getOffset = [&](int t, int k) { return operand.getOffset({t, n, k}); };
    Values logs;
    for (int t = 0; t < c.inputLengths[n]; ++t) {
      Values row;
      for (int k = 0; k < c.classes; ++k)
        row.push_back(reference::loadElement(
            operand.type, probs.getHost().data(), getOffset(t, k)));
      for (double log : getLogs(row, hasSoftmax))
        logs.push_back(log);
    }
    const CtcReference expected(c, n, logs);
    // A recursion of f32 rounds logarithms as large as the loss in each time
    // step; their errors are relative errors of the occupancies.
    const double tolerance =
        0x1p-23 * std::fmax(1, expected.getLoss()) * c.times;
    EXPECT_NEAR(reference::loadElement(operand.type, found.data(), n),
                expected.getLoss(), tolerance)
        << "sequence " << n;
    for (int t = 0; t < c.times; ++t)
      for (int k = 0; k < c.classes; ++k) {
        double slope = 0;
        if (t < c.inputLengths[n]) {
          const double p = std::exp(logs[t * c.classes + k]);
          const double occupancy = expected.getOccupancy(t, k);
          slope = hasSoftmax ? p - occupancy : -occupancy / p;
        }
        ASSERT_NEAR(reference::loadElement(operand.type, slopes.data(),
                                           getOffset(t, k)),
                    slope, tolerance * std::fmax(1, std::fabs(slope)))
            << "sequence " << n << " time " << t << " class " << k;
      }
  }
}

// Odd sizes, sequences of other lengths than the batch, labels that repeat, no
// labels at all, and labels that leave one path only.
TEST_F(ApiCtcLoss, MatchesTheRecursion) {
  const CtcCase c{.times = 11,
                  .size = 5,
                  .classes = 7,
                  .inputLengths = {11, 9, 5, 1, 6},
                  .labelLengths = {4, 3, 3, 0, 3},
                  .labels = {1, 2, 2, 6, 3, 3, 3, 4, 5, 4, 1, 1, 1}};
  // The last sequence repeats a label twice: 3 labels need 5 time steps.
  for (bool hasSoftmax : {true, false})
    for (bool onDevice : {false, true})
      check(c, hasSoftmax, onDevice);
  CtcCase tight = c;
  tight.inputLengths = {5, 5, 3, 1, 5};
  check(tight, true, false);
  CtcCase last = c; // Another blank, and gaps between rows.
  last.blank = 6;
  last.labels = {1, 2, 2, 0, 3, 3, 3, 4, 5, 4, 1, 1, 1};
  check(last, true, true, {50, 9, 1});
  check(last, false, false, {1, 90, 11});
}

// A batch of one with one class beside the blank, and one of more sequences
// than lanes with random labels.
TEST_F(ApiCtcLoss, Sizes) {
  check({1, 1, 2, {1}, {1}, {1}}, true, true);
  CtcCase c{40, 67, 30, {}, {}, {}};
  for (int n = 0; n < c.size; ++n) {
    auto pick = [&](int i, int count) {
      return static_cast<int>(reference::getRandomBits(getSeed(), n * 64 + i) %
                              count);
    };
    c.labelLengths.push_back(pick(0, 17));
    c.inputLengths.push_back(34 + pick(1, 7));
    for (int i = 0; i < c.labelLengths.back(); ++i)
      c.labels.push_back(1 + pick(2 + i, 29));
  }
  check(c, true, true);
}

// The same call gives the same bits again.
TEST_F(ApiCtcLoss, IsDeterministic) {
  const CtcCase c{9, 3, 5, {9, 9, 7}, {3, 2, 1}, {1, 2, 3, 4, 1, 2}};
  ApiTensor probs(miopenFloat, {9, 3, 5});
  size_t bytes = 0;
  ASSERT_OK(getBytes(c, probs, probs, bytes));
  std::vector<char> first;
  for (int run = 0; run < 2; ++run) {
    ApiTensor gradients(miopenFloat, {9, 3, 5}), losses(miopenFloat, {3});
    ApiTensor workspace(miopenInt8, {static_cast<int>(bytes)});
    ASSERT_OK(miopenCTCLoss(
        handle, probs.getDesc(), probs.getData(), c.labels.data(),
        c.labelLengths.data(), c.inputLengths.data(), losses.getData(),
        gradients.getDesc(), gradients.getData(),
        MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC, loss, workspace.getData(), bytes));
    if (run == 0)
      first = gradients.read();
    else
      EXPECT_EQ(gradients.read(), first);
  }
}

// What contradicts itself is refused with a sentence, and half is not
// implemented.
TEST_F(ApiCtcLoss, Refusals) {
  const CtcCase good{5, 2, 4, {5, 5}, {2, 1}, {1, 2, 3}};
  ApiTensor probs(miopenFloat, {5, 2, 4}), losses(miopenFloat, {2});
  ApiTensor half(miopenHalf, {5, 2, 4}), other(miopenFloat, {5, 2, 3});
  ApiTensor doubles(miopenDouble, {5, 2, 4});
  size_t bytes = 0;
  auto expect = [&](const CtcCase &c, const char *message) {
    EXPECT_EQ(getBytes(c, probs, probs, bytes), miopenStatusBadParm);
    EXPECT_EQ(tesseraGetLastErrorMessage(),
              std::string("miopenGetCTCLossWorkspaceSize: ") + message);
  };
  ASSERT_OK(getBytes(good, probs, probs, bytes));
  EXPECT_EQ(miopenCTCLoss(handle, probs.getDesc(), probs.getData(),
                          good.labels.data(), good.labelLengths.data(),
                          good.inputLengths.data(), losses.getData(),
                          probs.getDesc(), probs.getData(),
                          MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC, loss,
                          losses.getData(), bytes - 1),
            miopenStatusBadParm);
  CtcCase bad = good;
  bad.inputLengths = {5, 6};
  expect(bad, "sequence 1 has 6 time steps, not 1 to 5");
  bad = good;
  bad.labels = {1, 4, 3};
  expect(bad, "label 1 of sequence 0 is 4, not 0 to 3");
  bad = good;
  bad.inputLengths = {2, 5};
  bad.labels = {1, 1, 3};
  expect(bad, "sequence 0 needs 3 time steps for its labels and the blanks "
              "between equal ones, but has 2");
  bad = good;
  bad.labelLengths = {-1, 1};
  expect(bad, "a label length is -1, not 0 to 5, the time steps");
  EXPECT_EQ(getBytes(good, probs, other, bytes), miopenStatusBadParm);
  EXPECT_EQ(getBytes(good, doubles, doubles, bytes), miopenStatusBadParm);
  EXPECT_EQ(getBytes(good, half, half, bytes), miopenStatusNotImplemented);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenGetCTCLossWorkspaceSize: the CTC loss of half is not "
               "implemented");
}

namespace {
class ApiMarginLoss : public ApiRowWise {};
} // namespace

static constexpr miopenDataType_t kFloats[] = {miopenFloat, miopenHalf,
                                               miopenBFloat16, miopenDouble};

// Losses, their sum and mean, and the gradient of each, in all types, on
// tensors of different strides. Targets are any numbers, not 1 and -1 alone.
TEST_F(ApiMarginLoss, Soft) {
  const std::vector<int> lengths = {3, 5, 7, 11}, one = {1, 1, 1, 1};
  for (miopenDataType_t type : kFloats)
    for (int reduction = 0; reduction <= MIOPEN_LOSS_REDUCTION_MEAN;
         ++reduction) {
      const auto mode = static_cast<miopenLossReductionMode_t>(reduction);
      const double factor =
          reduction == MIOPEN_LOSS_REDUCTION_MEAN ? 1.0 / 1155 : 1;
      ApiTensor x(type, lengths, getChannelsLast(lengths), -9, 9);
      ApiTensor t(type, lengths), y(type, reduction ? one : lengths);
      ApiTensor dy(type, lengths), dx(type, lengths);
      y.poison();
      dx.poison();
      size_t bytes = 1;
      ASSERT_OK(miopenGetSoftMarginLossForwardWorkspaceSize(
          handle, x.getDesc(), t.getDesc(), y.getDesc(), mode, &bytes));
      EXPECT_EQ(bytes, 0u);
      ASSERT_OK(miopenSoftMarginLossForward(handle, x.getDesc(), x.getData(),
                                            t.getDesc(), t.getData(),
                                            y.getDesc(), y.getData(), mode));
      if (reduction)
        expectRight("soft_margin", 1, {&x, &t}, {&y}, {factor}, 0b1111);
      else
        expectRight("soft_margin", 0, {&x, &t}, {&y}, {});
      ASSERT_OK(miopenSoftMarginLossBackward(
          handle, x.getDesc(), x.getData(), t.getDesc(), t.getData(),
          dy.getDesc(), dy.getData(), dx.getDesc(), dx.getData(), mode));
      expectRight("soft_margin_bwd", 0, {&x, &t, &dy}, {&dx}, {factor});
    }
}

static double loadLast(const ApiTensor &tensor, const std::vector<char> &bytes,
                       int i) {
  return reference::loadElement(tensor.getType(), bytes.data(), i);
}

// Losses of rows, their sum and mean, with both powers, against a loop.
TEST_F(ApiMarginLoss, Multi) {
  constexpr int kRows = 37, kClasses = 19;
  constexpr float kMargin = 0.75f;
  for (miopenDataType_t type : kFloats)
    for (long p : {1, 2})
      for (int reduction = 0; reduction <= MIOPEN_LOSS_REDUCTION_MEAN;
           ++reduction) {
        const auto mode = static_cast<miopenLossReductionMode_t>(reduction);
        ApiTensor x(type, {kRows, kClasses}, {kClasses + 3, 1}, -2, 2);
        ApiTensor target(miopenInt64, {kRows}, {}, 0, kClasses - 1);
        ApiTensor weight(type, {kClasses}, {}, 0.5, 2);
        ApiTensor y(type, {reduction ? 1 : kRows});
        ApiTensor workspace(miopenInt8, {kRows * 8});
        y.poison();
        workspace.poison();
        size_t bytes = 0;
        ASSERT_OK(miopenGetMultiMarginLossForwardWorkspaceSize(
            handle, x.getDesc(), target.getDesc(), weight.getDesc(),
            y.getDesc(), p, kMargin, mode, &bytes));
        ASSERT_LE(bytes, size_t(kRows) * 8);
        ASSERT_OK(miopenMultiMarginLossForward(
            handle, x.getDesc(), x.getData(), target.getDesc(),
            target.getData(), weight.getDesc(), weight.getData(), y.getDesc(),
            y.getData(), p, kMargin, mode, workspace.getData(), bytes));
        Values losses;
        for (int n = 0; n < kRows; ++n) {
          auto at = [&](int c) {
            return loadLast(x, x.getHost(), n * (kClasses + 3) + c);
          };
          const int t = static_cast<int>(loadLast(target, target.getHost(), n));
          double sum = 0;
          for (int c = 0; c < kClasses; ++c)
            if (c != t)
              sum += std::pow(std::fmax(0, kMargin - at(t) + at(c)), p);
          losses.push_back(loadLast(weight, weight.getHost(), t) * sum /
                           kClasses);
        }
        const double total = std::accumulate(losses.begin(), losses.end(), 0.0);
        if (reduction)
          losses = {reduction == MIOPEN_LOSS_REDUCTION_MEAN ? total / kRows
                                                            : total};
        // The result is rounded once; sums of f32 lose a few bits more.
        const double tolerance = type == miopenDouble  ? 1e-14
                                 : type == miopenFloat ? 1e-6
                                 : type == miopenHalf  ? 0x1p-11
                                                       : 0x1p-8;
        const std::vector<char> found = y.read();
        for (size_t i = 0; i < losses.size(); ++i)
          ASSERT_NEAR(loadLast(y, found, static_cast<int>(i)), losses[i],
                      tolerance * 1.01 * std::fmax(0.01, losses[i]))
              << "type " << type << " p " << p << " reduction " << reduction;
      }
}

// A target that is no class makes a NaN of its row alone.
TEST_F(ApiMarginLoss, WrongTargets) {
  ApiTensor x(miopenFloat, {4, 5}), weight(miopenFloat, {5});
  ApiTensor target(miopenInt64, {4}), y(miopenFloat, {4});
  std::vector<char> bytes(32);
  const int64_t targets[] = {4, -1, 5, int64_t(1) << 40};
  memcpy(bytes.data(), targets, sizeof targets);
  target.setBytes(bytes);
  ASSERT_OK(miopenMultiMarginLossForward(
      handle, x.getDesc(), x.getData(), target.getDesc(), target.getData(),
      weight.getDesc(), weight.getData(), y.getDesc(), y.getData(), 1, 1,
      MIOPEN_LOSS_REDUCTION_NONE, nullptr, 0));
  const std::vector<char> found = y.read();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(std::isnan(loadLast(y, found, i)), i > 0) << i;
}

TEST_F(ApiMarginLoss, Refusals) {
  ApiTensor x(miopenFloat, {4, 5}), weight(miopenFloat, {5});
  ApiTensor target(miopenInt64, {4}), one(miopenFloat, {1});
  ApiTensor half(miopenHalf, {4, 5}), bytes(miopenInt8, {4, 5});
  auto soft = [&](const ApiTensor &in, const ApiTensor &out, int mode) {
    return miopenSoftMarginLossForward(
        handle, in.getDesc(), in.getData(), in.getDesc(), in.getData(),
        out.getDesc(), out.getData(),
        static_cast<miopenLossReductionMode_t>(mode));
  };
  EXPECT_EQ(soft(x, one, 0), miopenStatusBadParm);
  EXPECT_EQ(soft(x, x, 1), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenSoftMarginLossForward: the output of a reduction has 20 "
               "elements, not 1");
  EXPECT_EQ(soft(x, half, 0), miopenStatusBadParm);
  EXPECT_EQ(soft(x, x, 3), miopenStatusBadParm);
  EXPECT_EQ(soft(bytes, bytes, 0), miopenStatusNotImplemented);
  auto multi = [&](long p, const ApiTensor &targets) {
    return miopenMultiMarginLossForward(
        handle, x.getDesc(), x.getData(), targets.getDesc(), targets.getData(),
        weight.getDesc(), weight.getData(), one.getDesc(), one.getData(), p, 1,
        MIOPEN_LOSS_REDUCTION_SUM, nullptr, 0);
  };
  EXPECT_EQ(multi(3, target), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenMultiMarginLossForward: p is 3, not 1 or 2");
  EXPECT_EQ(multi(1, weight), miopenStatusBadParm);
  EXPECT_EQ(multi(1, target), miopenStatusBadParm); // No workspace.
}
