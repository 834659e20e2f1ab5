//===- ServeNorm.cpp - Normalisations of graphs ---------------------------===//
//
// A batch normalisation takes along the activation behind it, and a gradient
// the one before it, which is how hipDNN's clients write them.
//
//===----------------------------------------------------------------------===//

#include "capi/hipdnn/Planner.h"

#include <algorithm>
#include <initializer_list>

using namespace tessera;
using namespace tessera::hipdnn;

/// Bits of the modes (docs/spec/row-wise.md).
enum : uint32_t {
  kGivenInverse = 16, ///< bnorm_infer, bnorm_bwd
  kRunning = 16,      ///< bnorm_train
  kSaves = 32,        ///< bnorm_train
  kHasWeight = 2,     ///< norm_fwd, and so on
  kHasBias = 4,
  kSavesMean = 8,
  kSavesInverse = 16,
  kIsRms = 32,
};

/// The tensors of some fields of a node. Those that are missing are -1.
template <size_t count>
static Status findAll(const Planner &planner, const Node &node,
                      const int (&fields)[count], int (&tensors)[count],
                      bool mayMiss = false) {
  for (size_t i = 0; i < count; ++i) {
    const ErrorOr<int> tensor = mayMiss ? planner.findOptional(node, fields[i])
                                        : planner.find(node, fields[i]);
    if (!tensor)
      return tensor.getStatus();
    tensors[i] = *tensor;
  }
  return Status::ok();
}

static uint32_t getMode(const ActivationCall &call) {
  return static_cast<uint32_t>(call.activation);
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

/// A row is a channel.
static Status reduceAllButChannels(const Planner &planner, RowStep &step,
                                   int x) {
  if (planner.getTensor(x).getRank() < 2)
    return notSupported(planner.getTensor(x).describe() + " has no channels");
  for (int dim = 0; dim < step.getRank(); ++dim)
    if (dim != 1)
      step.reduce(dim);
  return Status::ok();
}

/// The activation behind a node's result `y`, which then is what `y` becomes.
/// Returns how many nodes the two are.
static size_t takeActivation(const Planner &planner, size_t number, int &y,
                             ActivationCall &call) {
  const int result = findActivation(planner, number + 1, y, call);
  if (result < 0) {
    call = {};
    return 1;
  }
  y = result;
  return 2;
}

static Status addGradient(Planner &planner, const int (&given)[5],
                          const int (&results)[3], int bias,
                          const ActivationCall &call) {
  const auto [dy, x, scale, mean, inverse] = given;
  const auto [dx, dscale, dbias] = results;
  RowStep step(planner, RowWiseKind::BatchNormBackward,
               getMode(call) | kGivenInverse, x);
  if (Status status = reduceAllButChannels(planner, step, x); !status.isOk())
    return status;
  return step.input(x)
      .input(dy)
      .input(scale)
      .input(bias)
      .input(mean)
      .input(inverse)
      .rowOutput(dscale)
      .rowOutput(dbias)
      .output(dx)
      .scalar(0)
      .scalars(call)
      .finish();
}

/// dy, x, scale, mean, inverse and dx, dscale, dbias of a gradient's node.
static Status findGradient(const Planner &planner, const Node &node,
                           int (&given)[5], int (&results)[3]) {
  if (!node.attributes.getNumbers(5).empty())
    return notSupported("it takes statistics of other devices");
  if (!node.attributes.has(2) || !node.attributes.has(3))
    return notSupported("it has no saved statistics, and no epsilon to measure "
                        "them again");
  if (Status status = findAll(planner, node, {0, 1, 4, 2, 3}, given);
      !status.isOk())
    return status;
  return findAll(planner, node, {6, 7, 8}, results);
}

/// Inference whose result only decides what an activation's gradient passes to
/// the gradient of the same normalisation: one kernel, three nodes.
static ErrorOr<size_t> serveGradientChain(Planner &planner, size_t number,
                                          const int (&inference)[6]) {
  const std::vector<Node> &nodes = planner.graph.getNodes();
  const auto [x, mean, inverse, scale, bias, y] = inference;
  ActivationCall call;
  int dy = -1;
  const int passed = findActivationGradient(planner, number + 1, y, dy, call);
  if (passed < 0 || !planner.isInternal(passed) || number + 2 >= nodes.size() ||
      nodes[number + 2].kind != NodeKind::BatchNormBackward)
    return size_t(0);
  int given[5], results[3];
  if (Status status = findGradient(planner, nodes[number + 2], given, results);
      !status.isOk())
    return status;
  if (given[0] != passed || given[1] != x || given[2] != scale ||
      given[3] != mean || given[4] != inverse)
    return size_t(0);
  given[0] = dy;
  if (Status status = addGradient(planner, given, results, bias, call);
      !status.isOk())
    return status;
  return size_t(3);
}

static ErrorOr<size_t> serveInference(Planner &planner, size_t number) {
  const Node &node = planner.graph.getNodes()[number];
  const bool hasVariance = node.kind == NodeKind::BatchNormInferenceVariance;
  int all[6];
  if (Status status = findAll(planner, node, {0, 1, 2, 3, 4, 5}, all);
      !status.isOk())
    return status;
  double epsilon = 0;
  if (hasVariance) {
    const ErrorOr<double> value = planner.findValue(node, 6);
    if (!value)
      return value.getStatus();
    epsilon = *value;
  } else if (ErrorOr<size_t> count = serveGradientChain(planner, number, all);
             !count || *count) {
    return count;
  }
  auto [x, mean, spread, scale, bias, y] = all;
  ActivationCall call;
  const size_t count = takeActivation(planner, number, y, call);
  RowStep step(planner, RowWiseKind::BatchNormInference,
               getMode(call) | (hasVariance ? 0 : kGivenInverse), x);
  Status status = reduceAllButChannels(planner, step, x);
  if (status.isOk())
    status = step.input(x)
                 .input(mean)
                 .input(spread)
                 .input(scale)
                 .input(bias)
                 .output(y)
                 .scalar(epsilon)
                 .scalars(call)
                 .finish();
  if (!status.isOk())
    return status;
  return count;
}

static ErrorOr<size_t> serveTraining(Planner &planner, size_t number) {
  const Node &node = planner.graph.getNodes()[number];
  if (!node.attributes.getNumbers(4).empty())
    return notSupported("it takes statistics of other devices");
  int given[4];
  int statistics[6]; // Old mean and variance, saved ones, new ones.
  Status status = findAll(planner, node, {0, 1, 2, 8}, given);
  if (status.isOk())
    status = findAll(planner, node, {5, 6, 9, 10, 11, 12}, statistics, true);
  const ErrorOr<double> epsilon = planner.findValue(node, 3);
  if (status.isOk() && !epsilon)
    status = epsilon.getStatus();
  if (!status.isOk())
    return status;
  const auto [oldMean, oldVariance, savedMean, savedInverse, newMean,
              newVariance] = statistics;
  const bool saves = savedMean >= 0, runs = newMean >= 0;
  if ((savedInverse >= 0) != saves || (newVariance >= 0) != runs ||
      (oldMean >= 0) != runs || (oldVariance >= 0) != runs)
    return notSupported("it has a mean without its variance, or new running "
                        "statistics without old ones");
  double momentum = 0;
  if (runs) {
    const ErrorOr<double> value = planner.findValue(node, 7);
    if (!value)
      return value.getStatus();
    momentum = *value;
  }
  auto [x, scale, bias, y] = given;
  ActivationCall call;
  const size_t count = takeActivation(planner, number, y, call);
  RowStep step(planner, RowWiseKind::BatchNormTraining,
               getMode(call) | (runs ? kRunning : 0) | (saves ? kSaves : 0), x);
  status = reduceAllButChannels(planner, step, x);
  if (status.isOk())
    status = step.input(x)
                 .input(scale)
                 .input(bias)
                 .input(oldMean)
                 .input(oldVariance)
                 .rowOutput(newMean)
                 .rowOutput(newVariance)
                 .rowOutput(savedMean)
                 .rowOutput(savedInverse)
                 .output(y)
                 .scalar(*epsilon)
                 .scalar(momentum)
                 .scalars(call)
                 .finish();
  if (!status.isOk())
    return status;
  return count;
}

ErrorOr<size_t> tessera::hipdnn::serveBatchNorm(Planner &planner,
                                                size_t number) {
  const Node &node = planner.graph.getNodes()[number];
  if (node.kind == NodeKind::BatchNorm)
    return serveTraining(planner, number);
  if (node.kind != NodeKind::BatchNormBackward)
    return serveInference(planner, number);
  int given[5], results[3];
  Status status = findGradient(planner, node, given, results);
  if (status.isOk())
    status = addGradient(planner, given, results, -1, {});
  if (!status.isOk())
    return status;
  return size_t(1);
}

//===----------------------------------------------------------------------===//
// Layer and RMS normalisation
//===----------------------------------------------------------------------===//

/// The first dimension of a row of RMS normalisation. Rows are the last
/// dimensions in which the scale has the lengths of x; where it has all of
/// them, all but the first.
static int findRowBegin(const Tensor &x, const Tensor &scale) {
  if (x.getRank() != scale.getRank())
    return x.getRank();
  int begin = x.getRank();
  while (begin > 0 && x.lengths[begin - 1] == scale.lengths[begin - 1])
    --begin;
  return begin == 0 ? 1 : begin;
}

static Status reduceFrom(const Planner &planner, RowStep &step, int x,
                         int begin) {
  if (begin < 0 || begin >= planner.getTensor(x).getRank())
    return notSupported("the lengths of its scale do not say what a row is");
  for (int dim = begin; dim < step.getRank(); ++dim)
    step.reduce(dim);
  return Status::ok();
}

namespace {
/// A forward normalisation of rows. Tensors that are missing are -1.
struct NormCall {
  int x, scale, bias, mean, inverse, y;
  int rowBegin;
  uint32_t kind; ///< 0, or kIsRms.
};
} // namespace

static Status addNorm(Planner &planner, const Node &node, const NormCall &call,
                      int epsilonField) {
  const ErrorOr<double> epsilon = planner.findValue(node, epsilonField);
  if (!epsilon)
    return epsilon.getStatus();
  uint32_t mode = call.kind | kHasWeight;
  mode |= call.bias >= 0 ? kHasBias : 0;
  mode |= call.mean >= 0 ? kSavesMean : 0;
  mode |= call.inverse >= 0 ? kSavesInverse : 0;
  RowStep step(planner, RowWiseKind::NormForward, mode, call.x);
  if (Status status = reduceFrom(planner, step, call.x, call.rowBegin);
      !status.isOk())
    return status;
  return step.input(call.x)
      .input(call.scale)
      .input(call.bias)
      .rowOutput(call.mean)
      .rowOutput(call.inverse)
      .output(call.y)
      .scalar(*epsilon)
      .finish();
}

/// The first dimension of a row of layer normalisation, of which a field says
/// how many there are.
static ErrorOr<int> findLayerBegin(const Planner &planner, const Node &node,
                                   int field, int x) {
  const int64_t rank = planner.getTensor(x).getRank();
  const auto count = node.attributes.get<int64_t>(field);
  if (count < 1 || count > rank)
    return notSupported("its number of normalised dimensions is " +
                        std::to_string(count) + ", and its input has " +
                        std::to_string(rank));
  return static_cast<int>(rank - count);
}

static Status serveLayer(Planner &planner, const Node &node) {
  int given[4], saved[2];
  Status status = findAll(planner, node, {0, 1, 2, 4}, given);
  if (status.isOk())
    status = findAll(planner, node, {6, 7}, saved, true);
  if (!status.isOk())
    return status;
  const auto [x, scale, bias, y] = given;
  const ErrorOr<int> begin = findLayerBegin(planner, node, 5, x);
  if (!begin)
    return begin.getStatus();
  return addNorm(planner, node,
                 {x, scale, bias, saved[0], saved[1], y, *begin, 0}, 3);
}

/// Measures the mean and the inverse of each row of x again: a normalisation
/// without weights, whose result nobody reads.
static Status addStatistics(Planner &planner, const Node &node, int x,
                            int begin, int (&statistics)[2]) {
  const ErrorOr<double> epsilon = planner.findValue(node, 5);
  if (!epsilon)
    return epsilon.getStatus();
  std::vector<int64_t> rows = planner.getTensor(x).lengths;
  std::fill(rows.begin() + begin, rows.end(), 1);
  const int y = planner.addTemporary(x);
  for (int &statistic : statistics)
    statistic = planner.addTemporary(x, rows);
  RowStep step(planner, RowWiseKind::NormForward, kSavesMean | kSavesInverse,
               x);
  if (Status status = reduceFrom(planner, step, x, begin); !status.isOk())
    return status;
  return step.input(x)
      .rowOutput(statistics[0])
      .rowOutput(statistics[1])
      .output(y)
      .scalar(*epsilon)
      .finish();
}

/// dx, then the gradients of scale and bias, whose rows are the other
/// dimensions.
static Status serveLayerGradient(Planner &planner, const Node &node) {
  if (!node.attributes.has(9))
    return notSupported("its table is that of a release without gradients of "
                        "the scale");
  int given[3], statistics[2], results[3];
  Status status = findAll(planner, node, {0, 1, 2}, given);
  if (status.isOk())
    status = findAll(planner, node, {3, 4}, statistics, true);
  if (status.isOk())
    status = findAll(planner, node, {6, 7, 8}, results);
  if (!status.isOk())
    return status;
  const auto [dy, x, scale] = given;
  const auto [dx, dscale, dbias] = results;
  const ErrorOr<int> begin = findLayerBegin(planner, node, 9, x);
  if (!begin)
    return begin.getStatus();
  if ((statistics[0] < 0) != (statistics[1] < 0))
    return notSupported("it has a mean without its inverse, or the other way");
  if (statistics[0] < 0)
    status = addStatistics(planner, node, x, *begin, statistics);
  RowStep toInput(planner, RowWiseKind::NormBackward, 1, x);
  RowStep toScale(planner, RowWiseKind::NormBackwardWeight, 0, x);
  if (status.isOk())
    status = reduceFrom(planner, toInput, x, *begin);
  for (int dim = 0; dim < *begin && dim < toScale.getRank(); ++dim)
    toScale.reduce(dim);
  if (status.isOk())
    status = toInput.input(x)
                 .input(dy)
                 .input(statistics[0])
                 .input(statistics[1])
                 .input(scale)
                 .output(dx)
                 .finish();
  if (status.isOk())
    status = toScale.input(x)
                 .input(dy)
                 .input(statistics[0])
                 .input(statistics[1])
                 .rowOutput(dscale)
                 .rowOutput(dbias)
                 .finish();
  return status;
}

static Status serveRms(Planner &planner, const Node &node) {
  int given[3], optional[2];
  Status status = findAll(planner, node, {0, 1, 3}, given);
  if (status.isOk())
    status = findAll(planner, node, {4, 5}, optional, true);
  if (!status.isOk())
    return status;
  const auto [x, scale, y] = given;
  return addNorm(planner, node,
                 {x, scale, optional[0], -1, optional[1], y,
                  findRowBegin(planner.getTensor(x), planner.getTensor(scale)),
                  kIsRms},
                 2);
}

/// dx, then the gradient of the scale, whose rows are the other dimensions, and
/// that of the bias, the same sum of dy alone.
static Status serveRmsGradient(Planner &planner, const Node &node) {
  int all[6], dbias[1];
  Status status = findAll(planner, node, {0, 1, 2, 3, 4, 5}, all);
  if (status.isOk())
    status = findAll(planner, node, {6}, dbias, true);
  if (!status.isOk())
    return status;
  const auto [dy, x, scale, inverse, dx, dscale] = all;
  const int begin =
      findRowBegin(planner.getTensor(x), planner.getTensor(scale));
  RowStep toInput(planner, RowWiseKind::T5Backward, 1, x);
  RowStep toScale(planner, RowWiseKind::T5BackwardWeight, 0, x);
  RowStep toBias(planner, RowWiseKind::Reduce, 0, x);
  status = reduceFrom(planner, toInput, x, begin);
  for (int dim = 0; dim < begin && dim < toScale.getRank(); ++dim) {
    toScale.reduce(dim);
    toBias.reduce(dim);
  }
  if (status.isOk())
    status = toInput.input(x)
                 .input(dy)
                 .input(inverse)
                 .input(scale)
                 .output(dx)
                 .finish();
  if (status.isOk())
    status =
        toScale.input(x).input(dy).input(inverse).rowOutput(dscale).finish();
  if (status.isOk() && dbias[0] >= 0)
    status = toBias.input(dy).rowOutput(dbias[0]).scalar(1).scalar(0).finish();
  return status;
}

ErrorOr<size_t> tessera::hipdnn::serveNorm(Planner &planner, size_t number) {
  const Node &node = planner.graph.getNodes()[number];
  Status status = node.kind == NodeKind::LayerNorm ? serveLayer(planner, node)
                  : node.kind == NodeKind::LayerNormBackward
                      ? serveLayerGradient(planner, node)
                  : node.kind == NodeKind::RmsNorm
                      ? serveRms(planner, node)
                      : serveRmsGradient(planner, node);
  if (!status.isOk())
    return status;
  return size_t(1);
}
