//===- ConvCase.cpp - A convolution with data and a check -----------------===//

#include "runtime/Reference/ConvCase.h"

#include "dialect/Reference/Statistics.h"
#include "dialect/Reference/TileMagnitudes.h"
#include "runtime/Reference/ReferenceShape.h"

#include <cstring>

using namespace tessera;
using reference::DataKind;
using reference::ElementType;
using reference::TensorView;

/// The number of elements in the memory of the result, gaps included.
static int64_t getResultSpan(const ConvProblem &problem) {
  return getSpan(getResultStrides(problem), problem.getResultLengths());
}

ConvCase::ConvCase(const ConvProblem &problem, DataKind kind, uint64_t seed)
    : problem(problem), kind(kind), type(getReferenceType(problem.dataType)),
      resultType(getReferenceType(problem.getResultType())),
      biasType(getReferenceType(problem.getBiasType())) {
  uint64_t next = 5 * seed;
  auto make = [&](ElementType element, int64_t count) {
    return makeData(element, count, kind, next++);
  };
  x = make(type, getSpan(problem.getInputStrides(), problem.getInputLengths()));
  w = make(type,
           getSpan(problem.getFilterStrides(), problem.getFilterLengths()));
  y = make(type,
           getSpan(problem.getOutputStrides(), problem.getOutputLengths()));
  if (problem.epilogue.bias)
    bias = make(biasType, problem.getResultLengths().c);
  if (problem.epilogue.residual)
    residual = make(resultType, getResultSpan(problem));
  old = problem.epilogue.beta ? make(resultType, getResultSpan(problem))
                              : makePoison(resultType, getResultSpan(problem));
  getResult() = old;
  if (problem.epilogue.statistics) {
    mean = makePoison(ElementType::F32, problem.getResultLengths().c);
    variance = mean;
    moveMeans();
  }
  if (problem.epilogue.normGradient != NormGradient::None)
    makeNorm(next);
  chooseScalars();
}

/// Channels whose mean is far from zero show what a difference of large sums
/// would lose.
void ConvCase::moveMeans() {
  constexpr double kDistance = 64;
  const int64_t channels =
      problem.epilogue.bias ? problem.getResultLengths().c : 0;
  for (int64_t i = 0; i < channels; ++i) {
    const double value = loadElement(biasType, bias.data(), i);
    storeElement(biasType, bias.data(), i,
                 value + (i % 2 == 0 ? kDistance : -kDistance));
  }
}

/// Of even channels z and its mean are far from zero, where a difference of
/// sums would lose what is left of them.
void ConvCase::makeNorm(uint64_t seed) {
  using namespace norm_gradient;
  constexpr double kDistance = 16;
  const TensorLengths lengths = problem.getResultLengths();
  const NormGradient gradient = problem.epilogue.normGradient;
  auto make = [&](KernelArg arg, ElementType element, int64_t count) {
    *findTensor(arg) = makeData(element, count, kind, seed++);
  };
  make(kInput, resultType, getResultSpan(problem));
  for (KernelArg arg : {kMean, kInverse})
    make(arg, ElementType::F32, lengths.c);
  if (gradient == NormGradient::Relu)
    for (KernelArg arg : {kScale, norm_gradient::kBias})
      make(arg, ElementType::F32, lengths.c);
  if (gradient == NormGradient::Mask)
    make(kMask, resultType, getResultSpan(problem));
  for (KernelArg arg : {kSum, kDot})
    *findTensor(arg) = makePoison(ElementType::F32, lengths.c);
  auto change = [&](KernelArg arg, ElementType element, int64_t i, double add) {
    char *data = findTensor(arg)->data();
    storeElement(element, data, i, loadElement(element, data, i) + add);
  };
  const reference::Sizes sizes = getReferenceSizes(lengths);
  const reference::Strides strides =
      getReferenceStrides(getResultStrides(problem));
  reference::Coord at;
  for (int64_t i = 0; i < sizes.getProduct(); ++i, sizes.advance(at))
    if (at.channel % 2 == 0)
      change(kInput, resultType, strides.getOffset(at), kDistance);
  for (int64_t channel = 0; channel < lengths.c; ++channel) {
    if (channel % 2 == 0)
      change(kMean, ElementType::F32, channel, kDistance);
    // One over a deviation is positive.
    change(kInverse, ElementType::F32, channel, 4);
  }
}

/// Chooses powers of two, so that integer data stay exact, and parameters with
/// which both branches of an activation are taken.
void ConvCase::chooseScalars() {
  if (problem.epilogue.alpha)
    alpha = 0.5;
  if (problem.epilogue.beta)
    beta = -2;
  switch (problem.epilogue.activation) {
  case Activation::Tanh:
    activAlpha = 0.25;
    activBeta = 1.5;
    break;
  case Activation::Power:
    activAlpha = 1.5;
    activBeta = 0.25;
    activGamma = 2.5;
    break;
  case Activation::ClippedRelu:
    activAlpha = 2;
    break;
  case Activation::LeakyRelu:
  case Activation::Elu:
    activAlpha = 0.25;
    break;
  case Activation::Clamp:
    activAlpha = -1;
    activBeta = 2;
    break;
  default:
    break;
  }
}

static void flush(std::vector<char> &tensor, uint16_t exponent) {
  for (size_t i = 0; i < tensor.size(); i += 2) {
    uint16_t bits;
    std::memcpy(&bits, tensor.data() + i, 2);
    if ((bits & exponent) == 0)
      std::memset(tensor.data() + i, 0, 2);
  }
}

void ConvCase::flushSubnormals() {
  if (type != ElementType::F16 && type != ElementType::BF16)
    return;
  for (std::vector<char> *tensor : {&x, &w, &y})
    if (tensor != &getResult())
      flush(*tensor, type == ElementType::F16 ? 0x7c00 : 0x7f80);
}

void ConvCase::adaptTo(const GpuTarget &target) {
  if (target.has(Erratum::FlushesHalfSubnormals))
    flushSubnormals();
  hasShortSums = target.hasWgmma && isFloat8(problem.dataType);
}

const std::vector<char> *ConvCase::findTensor(KernelArg arg) const {
  switch (arg) {
  case KernelArg::X:
    return &x;
  case KernelArg::W:
    return &w;
  case KernelArg::Y:
    return &y;
  case KernelArg::Bias:
    return &bias;
  case KernelArg::Residual:
    return &residual;
  case KernelArg::Mean:
    return &mean;
  case KernelArg::Variance:
    return &variance;
  default:
    break;
  }
  const int number = getOffset(arg, KernelArg::Tensor0);
  return number >= 0 && number < kNormTensors ? &normTensors[number] : nullptr;
}

std::vector<char> *ConvCase::findTensor(KernelArg arg) {
  return const_cast<std::vector<char> *>(std::as_const(*this).findTensor(arg));
}

const std::vector<char> &ConvCase::getResult() const {
  switch (problem.direction) {
  case Direction::Forward:
    return y;
  case Direction::BackwardData:
    return x;
  case Direction::BackwardWeights:
    return w;
  }
  __builtin_unreachable();
}

std::vector<char> &ConvCase::getResult() {
  return const_cast<std::vector<char> &>(std::as_const(*this).getResult());
}

TensorView ConvCase::getX() const {
  return {type, x.data(), getReferenceStrides(problem.getInputStrides())};
}

TensorView ConvCase::getW() const {
  return {type, w.data(), getReferenceStrides(problem.getFilterStrides())};
}

TensorView ConvCase::getY() const {
  return {type, y.data(), getReferenceStrides(problem.getOutputStrides())};
}

TensorView ConvCase::viewResult(const std::vector<char> &data) const {
  return {resultType, data.data(),
          getReferenceStrides(getResultStrides(problem))};
}

reference::Epilogue ConvCase::getEpilogue() const {
  reference::Epilogue epilogue;
  epilogue.alpha = alpha;
  epilogue.beta = beta;
  if (problem.epilogue.beta)
    epilogue.old = viewResult(old);
  if (problem.epilogue.bias)
    epilogue.bias = TensorView{biasType, bias.data(), {.channel = 1}};
  if (problem.epilogue.residual)
    epilogue.residual = viewResult(residual);
  epilogue.activation = getReferenceActivation(problem.epilogue.activation);
  epilogue.parameters = {activAlpha, activBeta, activGamma};
  return epilogue;
}

reference::Expected ConvCase::addUp(const std::vector<int64_t> *sample) const {
  const reference::ConvShape shape = getReferenceShape(problem);
  switch (problem.direction) {
  case Direction::Forward:
    return sample ? convForwardAt(shape, getX(), getW(), *sample)
                  : convForward(shape, getX(), getW());
  case Direction::BackwardData:
    return sample ? convBackwardDataAt(shape, getW(), getY(), *sample)
                  : convBackwardData(shape, getW(), getY());
  case Direction::BackwardWeights:
    return sample ? convBackwardWeightsAt(shape, getX(), getY(), *sample)
                  : convBackwardWeights(shape, getX(), getY());
  }
  __builtin_unreachable();
}

reference::Expected ConvCase::applyEpilogue(reference::Expected sums) const {
  // Tensor cores align the products of an instruction and keep 14 bits.
  if (hasShortSums)
    sums.unitRoundoff = 0x1p-13;
  reference::applyEpilogue(
      getEpilogue(),
      type == ElementType::F64 ? ElementType::F64 : ElementType::F32, sums);
  if (problem.epilogue.normGradient != NormGradient::None)
    reference::clear(getNorm(), sums);
  return sums;
}

reference::NormGradient ConvCase::getNorm() const {
  using namespace norm_gradient;
  auto ofChannels = [&](KernelArg arg) {
    return TensorView{
        ElementType::F32, findTensor(arg)->data(), {.channel = 1}};
  };
  reference::NormGradient norm{viewResult(*findTensor(kInput)),
                               ofChannels(kMean), ofChannels(kInverse)};
  if (problem.epilogue.normGradient == NormGradient::Relu) {
    norm.scale = ofChannels(kScale);
    norm.bias = ofChannels(norm_gradient::kBias);
  }
  if (problem.epilogue.normGradient == NormGradient::Mask)
    norm.mask = viewResult(*findTensor(kMask));
  return norm;
}

void ConvCase::allowTransforms(reference::Expected &sums) const {
  if (!problem.hasWinogradForm() || problem.forbidsWinograd ||
      problem.direction == Direction::BackwardWeights)
    return;
  const bool isSample = !sums.indices.empty();
  reference::takeLargestOfTiles(sums, [&](const std::vector<int64_t> &indices) {
    if (isSample)
      return addUp(&indices).magnitudes;
    std::vector<double> magnitudes;
    for (int64_t index : indices)
      magnitudes.push_back(sums.magnitudes[index]);
    return magnitudes;
  });
}

reference::Expected
ConvCase::evaluate(const std::vector<int64_t> *sample) const {
  reference::Expected sums = addUp(sample);
  allowTransforms(sums);
  return applyEpilogue(std::move(sums));
}

reference::Expected ConvCase::getExpected() const { return evaluate(nullptr); }

reference::Expected
ConvCase::getExpected(std::vector<double> sums,
                      std::vector<double> magnitudes) const {
  // An empty sample gives everything but the values.
  const std::vector<int64_t> none;
  reference::Expected expected = addUp(&none);
  expected.values = std::move(sums);
  expected.magnitudes = std::move(magnitudes);
  allowTransforms(expected);
  return applyEpilogue(std::move(expected));
}

TensorView ConvCase::getResultView() const { return viewResult(getResult()); }

/// Whether integers stay exact.
static bool isExact(Activation activation) {
  switch (activation) {
  case Activation::None:
  case Activation::Relu:
  case Activation::Abs:
  case Activation::ClippedRelu:
  case Activation::LeakyRelu:
  case Activation::Clamp:
    return true;
  default:
    return false;
  }
}

reference::Report
ConvCase::compareWith(const reference::Expected &expected) const {
  bool exact =
      kind == DataKind::Integer && isExact(problem.epilogue.activation);
  return compare(expected, getResultView(),
                 exact ? reference::Rule::Exact : reference::Rule::Rounding);
}

reference::Report ConvCase::check() const {
  return compareWith(evaluate(nullptr));
}

reference::Report ConvCase::checkSample(int64_t count, uint64_t seed) const {
  const std::vector<int64_t> sample = sampleElements(
      getReferenceSizes(problem.getResultLengths()), count, seed);
  return compareWith(evaluate(&sample));
}

std::vector<KernelArg> ConvCase::getChannelResults() const {
  if (problem.epilogue.statistics)
    return {KernelArg::Mean, KernelArg::Variance};
  if (problem.epilogue.normGradient != NormGradient::None)
    return {norm_gradient::kSum, norm_gradient::kDot};
  return {};
}

std::string ConvCase::checkChannelResults() const {
  const std::vector<KernelArg> args = getChannelResults();
  if (args.empty())
    return "";
  const reference::Sizes sizes = getReferenceSizes(problem.getResultLengths());
  std::array<reference::Expected, 2> expected;
  if (problem.epilogue.statistics) {
    auto [means, variances] = reference::getStatistics(sizes, getResultView());
    expected = {std::move(means), std::move(variances)};
  } else {
    auto [sum, dot] = reference::getNormSums(getNorm(), sizes, getResultView());
    expected = {std::move(sum), std::move(dot)};
  }
  const bool isStatistics = problem.epilogue.statistics;
  for (size_t i = 0; i < args.size(); ++i) {
    const reference::Report report =
        compare(expected[i], TensorView{ElementType::F32,
                                        findTensor(args[i])->data(),
                                        {.channel = 1}});
    const std::string_view name = isStatistics ? getName(args[i])
                                  : i == 0     ? "sum"
                                               : "dot";
    if (!report.passed())
      return std::string(name) + ": " + report.toText();
  }
  return "";
}

std::string ConvCase::checkGaps() const {
  const reference::Sizes sizes = getReferenceSizes(problem.getResultLengths());
  const int64_t bytes = getByteSize(problem.getResultType());
  std::vector<char> isElement(old.size() / bytes);
  const TensorView view = viewResult(old);
  reference::Coord at;
  for (int64_t i = 0; i < sizes.getProduct(); ++i, sizes.advance(at))
    isElement[view.strides.getOffset(at)] = 1;
  for (size_t i = 0; i < isElement.size(); ++i)
    if (!isElement[i] &&
        std::memcmp(&old[i * bytes], &getResult()[i * bytes], bytes) != 0)
      return "the gap at element " + std::to_string(i) +
             " of the result's memory was overwritten";
  return "";
}
