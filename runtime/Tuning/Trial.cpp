//===- Trial.cpp - A problem's data and who judges its results ------------===//

#include "runtime/Tuning/Trial.h"

#include "runtime/Reference/ConvCase.h"
#include "runtime/Reference/DeviceReference.h"
#include "runtime/Reference/PoolCase.h"
#include "runtime/Reference/RowWiseCase.h"
#include "runtime/Reference/RowWiseRecipe.h"
#include "runtime/Tuning/ResultCheck.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

using namespace tessera;

/// The products that one processor of a host was measured to add up in a second
/// (see also tools/dnn-driver/Judge.cpp), and how long the judge may take.
static constexpr double kHostProducts = 3e9, kPatienceSeconds = 1;

static const std::vector<char> kNone;

std::optional<JudgeChoice> tessera::parseJudgeChoice(std::string_view word) {
  static constexpr std::pair<std::string_view, JudgeChoice> kWords[] = {
      {"auto", JudgeChoice::Auto},
      {"host", JudgeChoice::Host},
      {"device", JudgeChoice::Device},
      {"general", JudgeChoice::General}};
  for (auto [name, choice] : kWords)
    if (word == name)
      return choice;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
class ConvTrial final : public Trial {
public:
  ConvTrial(const ConvProblem &problem, const GpuTarget &target, uint64_t seed)
      : problem(problem), seed(seed),
        data(problem, reference::DataKind::Uniform, seed) {
    data.adaptTo(target);
  }

  const std::vector<char> &getTensor(KernelArg arg) const override;
  std::vector<KernelArg> getOutputs() const override;
  void setScalars(LaunchArgs &args) const override;
  ErrorOr<std::string> prepareJudge(const GpuApi &gpu, const RunAlgorithm &run,
                                    JudgeChoice choice) override;
  std::string judge(const TrialOutputs &outputs) override;

private:
  bool isQuickOnHost() const;
  void expect(const reference::Expected &expected, int slack = 0);
  ErrorOr<std::string> judgeByDevice(const GpuApi &gpu);
  ErrorOr<std::string> judgeByGeneral(const RunAlgorithm &run);
  double estimateMagnitude() const;

  const ConvProblem problem;
  const uint64_t seed;
  ConvCase data;
  ConvCase result = data; ///< Gets a kernel's outputs for its statistics.
  std::optional<ResultCheck> check;
};
} // namespace

const std::vector<char> &ConvTrial::getTensor(KernelArg arg) const {
  const std::vector<char> *tensor = data.findTensor(arg);
  return tensor ? *tensor : kNone;
}

static KernelArg getResultArg(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return KernelArg::Y;
  case Direction::BackwardData:
    return KernelArg::X;
  case Direction::BackwardWeights:
    return KernelArg::W;
  }
  __builtin_unreachable();
}

std::vector<KernelArg> ConvTrial::getOutputs() const {
  std::vector<KernelArg> outputs = {getResultArg(problem.direction)};
  const std::vector<KernelArg> further = data.getChannelResults();
  outputs.insert(outputs.end(), further.begin(), further.end());
  return outputs;
}

void ConvTrial::setScalars(LaunchArgs &args) const {
  args.alpha = data.alpha;
  args.beta = data.beta;
  args.activAlpha = data.activAlpha;
  args.activBeta = data.activBeta;
  args.activGamma = data.activGamma;
}

/// The tensor that is computed comes first. Statistics are of what is stored.
std::string ConvTrial::judge(const TrialOutputs &outputs) {
  const std::string fault = check->check(outputs.begin()->second);
  if (!fault.empty() || !problem.epilogue.hasChannelResults())
    return fault;
  for (const auto &[arg, bytes] : outputs)
    *result.findTensor(arg) = bytes;
  return result.checkChannelResults();
}

bool ConvTrial::isQuickOnHost() const {
  const double processors = std::max(1u, std::thread::hardware_concurrency());
  return problem.getFlops() / 2 < kPatienceSeconds * kHostProducts * processors;
}

void ConvTrial::expect(const reference::Expected &expected, int slack) {
  check.emplace(expected, data.getResultView(), data.getResult().size(), slack);
}

ErrorOr<std::string> ConvTrial::prepareJudge(const GpuApi &gpu,
                                             const RunAlgorithm &run,
                                             JudgeChoice choice) {
  const bool suitsHost =
      isQuickOnHost() || gpu.getKind() == DeviceKind::Emulated;
  if (choice == JudgeChoice::Host ||
      (choice == JudgeChoice::Auto && suitsHost)) {
    expect(data.getExpected());
    return std::string("host");
  }
  if (choice == JudgeChoice::General)
    return judgeByGeneral(run);
  ErrorOr<std::string> judge = judgeByDevice(gpu);
  return judge || choice == JudgeChoice::Device ? judge : judgeByGeneral(run);
}

ErrorOr<std::string> ConvTrial::judgeByDevice(const GpuApi &gpu) {
  ErrorOr<DeviceReference> device = DeviceReference::create(gpu);
  if (!device)
    return device.getStatus();
  ErrorOr<ReferenceSums> sums =
      device->evaluate(problem, data.x, data.w, data.y);
  if (!sums)
    return sums.getStatus();
  expect(
      data.getExpected(std::move(sums->values), std::move(sums->magnitudes)));
  return "device (" + device->getCompiler().getName() + ")";
}

/// The mean magnitude of the products of one element: operands are uniform in
/// [-1, 1], or small integers of mean magnitude 64.
double ConvTrial::estimateMagnitude() const {
  const bool isInteger = problem.dataType == DataType::I8;
  return isInteger ? 64.0 * 64.0 : 0.5 * 0.5;
}

ErrorOr<std::string> ConvTrial::judgeByGeneral(const RunAlgorithm &run) {
  constexpr int64_t kSample = 4096;
  ErrorOr<TrialOutputs> outputs = run("general");
  if (!outputs)
    return outputs.getStatus().withContext("no judge: the general kernel");
  const std::vector<char> poison = data.getResult();
  data.getResult() = outputs->begin()->second;
  const reference::Report report = data.checkSample(kSample, seed);
  // Everything except the values and magnitudes, which the general kernel
  // provides.
  reference::Expected expected = data.getExpected({}, {});
  const reference::TensorView view = data.getResultView();
  reference::Coord at;
  for (int64_t i = 0; i < expected.sizes.getProduct();
       ++i, expected.sizes.advance(at))
    expected.values.push_back(view.load(at));
  // The magnitude is doubled, because the judge may be as far off as the
  // candidate.
  expected.magnitudes.assign(expected.values.size(),
                             2 * estimateMagnitude() *
                                 static_cast<double>(expected.reductionLength));
  data.getResult() = poison;
  if (!report.passed())
    return internalError("no judge: the general kernel is wrong itself: " +
                         report.toText());
  expect(expected, /*slack=*/1);
  return "general, " + std::to_string(report.compared) +
         " elements checked by the host";
}

//===----------------------------------------------------------------------===//
// Poolings
//===----------------------------------------------------------------------===//

namespace {
/// The host judges, large tensors by a sample: no pooling has a reduction.
class PoolTrial final : public Trial {
public:
  PoolTrial(const PoolProblem &problem, uint64_t seed)
      : seed(seed), data(problem, PoolData::Uniform, seed),
        isForward(problem.direction == Direction::Forward) {
    constexpr int64_t kAll = 1 << 20, kSample = 1 << 18;
    const int64_t elements =
        (isForward ? problem.getOutputLengths() : problem.getInputLengths())
            .getElements();
    sample = elements > kAll ? kSample : 0;
  }

  const std::vector<char> &getTensor(KernelArg arg) const override {
    switch (arg) {
    case KernelArg::X:
      return data.x;
    case KernelArg::Y:
      return data.y;
    case KernelArg::Indices:
      return data.indices;
    default:
      return kNone;
    }
  }
  std::vector<KernelArg> getOutputs() const override {
    if (!isForward)
      return {KernelArg::X};
    if (data.indices.empty())
      return {KernelArg::Y};
    return {KernelArg::Y, KernelArg::Indices};
  }
  void setScalars(LaunchArgs &) const override {}
  ErrorOr<std::string> prepareJudge(const GpuApi &, const RunAlgorithm &,
                                    JudgeChoice) override {
    return std::string(sample ? "host, a sample" : "host");
  }
  std::string judge(const TrialOutputs &outputs) override {
    for (const auto &[arg, bytes] : outputs)
      (arg == KernelArg::X   ? result.x
       : arg == KernelArg::Y ? result.y
                             : result.indices) = bytes;
    return result.check(sample, seed);
  }

private:
  const uint64_t seed;
  const PoolCase data;
  PoolCase result = data; ///< Gets the kernel's outputs.
  const bool isForward;
  int64_t sample = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// The host judges, large tensors by a sample.
class RowTrial final : public Trial {
public:
  RowTrial(const RowWiseProblem &problem, uint64_t seed)
      : problem(problem), seed(seed), data(problem, seed) {
    constexpr int64_t kAll = 1 << 20, kSample = 1 << 18;
    sample = problem.getElements() > kAll ? kSample : 0;
  }

  const std::vector<char> &getTensor(KernelArg arg) const override {
    for (int tensor = 0; tensor < problem.tensorCount; ++tensor)
      if (arg == getTensorArg(tensor))
        return data.tensors[tensor];
    return kNone;
  }
  std::vector<KernelArg> getOutputs() const override {
    std::vector<KernelArg> outputs;
    for (int tensor = 0; tensor < problem.tensorCount; ++tensor)
      if (problem.tensors[tensor].role != RowRole::Input)
        outputs.push_back(getTensorArg(tensor));
    return outputs;
  }
  void setScalars(LaunchArgs &args) const override {
    std::ranges::copy(data.scalars, args.scalars.begin());
  }
  ErrorOr<std::string> prepareJudge(const GpuApi &, const RunAlgorithm &,
                                    JudgeChoice) override {
    return std::string(sample ? "host, a sample" : "host");
  }
  std::string judge(const TrialOutputs &outputs) override {
    for (int tensor = 0; tensor < problem.tensorCount; ++tensor)
      if (auto found = outputs.find(getTensorArg(tensor));
          found != outputs.end())
        result.tensors[tensor] = found->second;
    return result.check(sample, seed);
  }

private:
  const RowWiseProblem problem;
  const uint64_t seed;
  const RowWiseCase data;
  RowWiseCase result = data; ///< Gets the kernel's outputs.
  int64_t sample = 0;
};
} // namespace

std::unique_ptr<Trial> Trial::create(const Problem &problem,
                                     const GpuTarget &target, uint64_t seed) {
  if (const ConvProblem *conv = problem.getConv())
    return std::make_unique<ConvTrial>(*conv, target, seed);
  if (const PoolProblem *pool = problem.getPool())
    return std::make_unique<PoolTrial>(*pool, seed);
  const RowWiseProblem &rows = *problem.getRows();
  if (!findRowRecipe(rows))
    return nullptr;
  return std::make_unique<RowTrial>(rows, seed);
}
