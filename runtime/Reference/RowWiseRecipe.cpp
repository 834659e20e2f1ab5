//===- RowWiseRecipe.cpp - What operations on rows look like --------------===//

#include "runtime/Reference/RowWiseRecipe.h"

#include <algorithm>
#include <bit>

using namespace tessera;

using Tensor = RowTensorRecipe;
using enum RowRole;
using enum RowExtent;
using enum RowTypes;

static const std::vector<uint32_t> kActivations{0, 1, 2, 3, 4, 5,
                                                6, 7, 8, 9, 10};

/// Appends alpha, beta and gamma of an activation to `before`.
static std::vector<std::array<double, 2>>
withActivation(std::vector<std::array<double, 2>> before) {
  before.insert(before.end(), {{0.25, 1.5}, {0.5, 2}, {1.25, 2}});
  return before;
}

static std::vector<RowWiseRecipe> makeActivation() {
  return {{.op = RowWiseKind::ActivationForward,
           .modes = kActivations,
           .tensors = {{}, {.role = Output}},
           .scalars = withActivation({})},
          {.op = RowWiseKind::ActivationBackward,
           .modes = kActivations,
           .tensors = {{}, {}, {}, {.role = Output}},
           .scalars = withActivation({})}};
}

/// Forms with and without the old result.
static std::vector<RowWiseRecipe> makeTensorOperations() {
  const std::array<double, 2> factor{-2, 2};
  const Tensor broadcast{.extent = Any};
  return {{.op = RowWiseKind::OpTensor,
           .modes = {0, 1, 2, 3},
           .tensors = {{}, broadcast, {.role = Output}},
           .scalars = {factor, factor}},
          {.op = RowWiseKind::OpTensor,
           .modes = {0, 1, 2, 3},
           .tensors = {{}, broadcast, {}, {.role = Output}},
           .scalars = {factor, factor, factor}},
          {.op = RowWiseKind::SetTensor,
           .modes = {0},
           .tensors = {{.role = Output}},
           .scalars = {factor}},
          {.op = RowWiseKind::ScaleTensor,
           .modes = {0},
           .tensors = {{}, {.role = Output}},
           .scalars = {factor}},
          {.op = RowWiseKind::TransformTensor,
           .modes = {0, 1},
           .tensors = {{}, {.role = Output}},
           .scalars = {factor}},
          {.op = RowWiseKind::TransformTensor,
           .modes = {1},
           .tensors = {{}, {}, {.role = Output}},
           .scalars = {factor, factor}}};
}

/// Dropout itself is left out, because its states have other types.
static std::vector<RowWiseRecipe> makeGlu() {
  return {{.op = RowWiseKind::GluForward,
           .modes = {0},
           .tensors = {{}, {}, {.role = Output}},
           .scalars = {}},
          {.op = RowWiseKind::GluBackward,
           .modes = {0},
           .tensors = {{}, {}, {}, {.role = Output}, {.role = Output}},
           .scalars = {}}};
}

static std::vector<RowWiseRecipe> makeRope() {
  const Tensor angle{.extent = Any, .least = -1, .most = 1};
  return {{.op = RowWiseKind::Rope,
           .modes = {0, 1},
           .tensors = {{},
                       {},
                       angle,
                       angle,
                       angle,
                       angle,
                       {.role = Output},
                       {.role = Output}},
           .scalars = {}}};
}

/// Forms with a gradient of the slopes, of the input, and of both.
static std::vector<RowWiseRecipe> makePRelu() {
  const Tensor slope{.extent = RowExtent::Row};
  const Tensor sum{.role = RowOutput, .extent = RowExtent::Row};
  const Tensor gradient{.role = Output};
  std::vector<RowWiseRecipe> recipes;
  for (int results : {1, 2, 3}) {
    RowWiseRecipe &recipe = recipes.emplace_back();
    recipe.op = RowWiseKind::PReluBackward;
    recipe.reduces = results & 1;
    recipe.modes = {0};
    recipe.tensors = {{}, results & 1 ? slope : Tensor{.extent = Any}, {}};
    if (results & 1)
      recipe.tensors.push_back(sum);
    if (results & 2)
      recipe.tensors.push_back(gradient);
  }
  return recipes;
}

static std::vector<RowWiseRecipe> makeSoftmax() {
  return {{.op = RowWiseKind::SoftmaxForward,
           .reduces = true,
           .modes = {0, 1, 2},
           .tensors = {{}, {.role = Output}},
           .scalars = {{0.5, 2}, {0, 0}}},
          {.op = RowWiseKind::SoftmaxForward,
           .reduces = true,
           .modes = {0, 1, 2},
           .tensors = {{}, {}, {.role = Output}},
           .scalars = {{0.5, 2}, {-1, 1}}},
          {.op = RowWiseKind::SoftmaxBackward,
           .reduces = true,
           .modes = {1, 2},
           .tensors = {{}, {}, {.role = Output}},
           .scalars = {{0.5, 2}, {0, 0}}},
          {.op = RowWiseKind::SoftmaxBackward,
           .reduces = true,
           .modes = {0, 1, 2},
           .tensors = {{}, {}, {}, {.role = Output}},
           .scalars = {{0.5, 2}, {-1, 1}}}};
}

/// Sums and extremes, with and without the old result and indices, and products
/// of numbers that stay in range.
static std::vector<RowWiseRecipe> makeReduce() {
  const Tensor old{.extent = RowExtent::Row, .types = Parameter};
  const Tensor result{
      .role = RowOutput, .extent = RowExtent::Row, .types = Parameter};
  const Tensor indices{
      .role = RowOutput, .extent = RowExtent::Row, .types = Index};
  const Tensor element{.least = 0.9, .most = 1.1};
  auto make = [](std::vector<uint32_t> modes, std::vector<Tensor> tensors) {
    return RowWiseRecipe{.op = RowWiseKind::Reduce,
                         .reduces = true,
                         .modes = std::move(modes),
                         .tensors = std::move(tensors),
                         .scalars = {{0.5, 2}, {-1, 1}}};
  };
  return {make({0, 2, 3, 4, 5, 6, 7, 10, 11, 12, 32}, {{}, result}),
          make({0, 2, 3, 4, 5, 6, 7}, {{}, old, result}),
          make({1, 33}, {element, result}),
          make({18, 19, 20, 26, 27, 28}, {{}, result, indices}),
          make({18, 19, 20}, {{}, old, result, indices}),
          make({66, 67}, {{}, indices})};
}

/// Returns `modes` combined with other bits of the mode.
static std::vector<uint32_t> addBits(std::vector<uint32_t> modes,
                                     uint32_t bits) {
  for (uint32_t &mode : modes)
    mode |= bits;
  return modes;
}

static std::vector<RowWiseRecipe> makeBatchNormInference() {
  const Tensor parameter{.extent = Any, .types = Parameter};
  const Tensor statistic{.extent = Any, .types = Float};
  Tensor variance = statistic;
  variance.least = 0;
  std::vector<RowWiseRecipe> recipes;
  for (uint32_t inverse : {0, 16})
    recipes.push_back(
        {.op = RowWiseKind::BatchNormInference,
         .modes = addBits(kActivations, inverse),
         .tensors =
             {{}, statistic, variance, parameter, parameter, {.role = Output}},
         .scalars = withActivation({{1e-5, 1e-3}})});
  return recipes;
}

/// Forms with running statistics, with saved ones, with both, and with neither.
static std::vector<RowWiseRecipe> makeBatchNormTraining() {
  const Tensor parameter{.extent = RowExtent::Row, .types = Parameter};
  const Tensor statistic{.extent = RowExtent::Row, .types = Float};
  const Tensor result{
      .role = RowOutput, .extent = RowExtent::Row, .types = Float};
  std::vector<RowWiseRecipe> recipes;
  for (uint32_t bits : {0, 16, 32, 48}) {
    RowWiseRecipe &recipe = recipes.emplace_back();
    recipe.op = RowWiseKind::BatchNormTraining;
    recipe.reduces = true;
    recipe.modes = addBits(kActivations, bits);
    recipe.tensors = {{}, parameter, parameter};
    if (bits & 16)
      recipe.tensors.insert(recipe.tensors.end(), 2, statistic);
    recipe.tensors.insert(recipe.tensors.end(),
                          (bits & 16 ? 2 : 0) + (bits & 32 ? 2 : 0), result);
    recipe.tensors.push_back({.role = Output});
    recipe.scalars = withActivation({{1e-5, 1e-3}, {0, 1}});
  }
  return recipes;
}

/// Forms with and without saved statistics, and with a bias only if there is an
/// activation.
static std::vector<RowWiseRecipe> makeBatchNormBackward() {
  const Tensor parameter{.extent = RowExtent::Row, .types = Parameter};
  const Tensor statistic{.extent = RowExtent::Row, .types = Float};
  Tensor inverse = statistic;
  inverse.least = 0.25;
  const Tensor result{
      .role = RowOutput, .extent = RowExtent::Row, .types = Parameter};
  std::vector<RowWiseRecipe> recipes;
  for (bool isActivated : {false, true})
    for (uint32_t saved : {0, 16}) {
      RowWiseRecipe &recipe = recipes.emplace_back();
      recipe.op = RowWiseKind::BatchNormBackward;
      recipe.reduces = true;
      recipe.modes = {saved};
      if (isActivated)
        recipe.modes =
            addBits({kActivations.begin() + 1, kActivations.end()}, saved);
      recipe.tensors = {{}, {}, parameter};
      if (isActivated)
        recipe.tensors.push_back(parameter);
      if (saved)
        recipe.tensors.insert(recipe.tensors.end(), {statistic, inverse});
      recipe.tensors.insert(recipe.tensors.end(), {result, result});
      recipe.tensors.push_back({.role = Output});
      recipe.scalars = withActivation({{1e-5, 1e-3}});
    }
  return recipes;
}

/// Forms of the forward direction whose windows hold elements or sums.
static std::vector<RowWiseRecipe> makeLrnForward() {
  const Tensor center{.extent = RowExtent::Row};
  const Tensor result{.role = RowOutput, .extent = RowExtent::Row};
  const Tensor sum{.role = RowOutput, .extent = RowExtent::Row, .types = Float};
  std::vector<RowWiseRecipe> recipes{{.op = RowWiseKind::LrnSum,
                                      .reduces = true,
                                      .modes = {0},
                                      .tensors = {{}, sum},
                                      .scalars = {}}};
  for (uint32_t mode : {0, 1, 2, 3}) {
    RowWiseRecipe &recipe = recipes.emplace_back();
    recipe.op = RowWiseKind::LrnForward;
    recipe.reduces = true;
    recipe.modes = {mode};
    recipe.tensors = {{}, center, result};
    if (mode & 1)
      recipe.tensors[0] = {.types = Float, .least = 0};
    if (mode & 2)
      recipe.tensors.push_back(result);
    recipe.scalars = {{0.01, 0.5}, {0.5, 1}, {1, 2}};
  }
  return recipes;
}

static std::vector<RowWiseRecipe> makeLrnBackward() {
  const Tensor center{.extent = RowExtent::Row};
  Tensor scale{.least = 0.5}, centerScale = center;
  centerScale.least = 0.5;
  const Tensor result{.role = RowOutput, .extent = RowExtent::Row};
  const Tensor sum{.role = RowOutput, .extent = RowExtent::Row, .types = Float};
  std::vector<RowWiseRecipe> recipes{{.op = RowWiseKind::LrnBackwardSum,
                                      .reduces = true,
                                      .modes = {0},
                                      .tensors = {{}, {}, scale, sum},
                                      .scalars = {}}};
  recipes.push_back(
      {.op = RowWiseKind::LrnBackward,
       .reduces = true,
       .modes = {0},
       .tensors = {{}, {}, scale, center, center, centerScale, result},
       .scalars = {{0.01, 0.5}, {0.5, 1}}});
  recipes.push_back(
      {.op = RowWiseKind::LrnBackward,
       .reduces = true,
       .modes = {1},
       .tensors = {{.types = Float}, center, center, centerScale, result},
       .scalars = {{0.01, 0.5}, {0.5, 1}}});
  return recipes;
}

static std::vector<RowWiseRecipe> makeLrn() {
  std::vector<RowWiseRecipe> recipes = makeLrnForward();
  std::ranges::move(makeLrnBackward(), std::back_inserter(recipes));
  return recipes;
}

/// Layer, group and T5 norms with every choice of tensors, and moments.
static std::vector<RowWiseRecipe> makeNorm() {
  const Tensor parameter{.extent = Any};
  const Tensor statistic{.extent = RowExtent::Row, .types = Float};
  const Tensor result{
      .role = RowOutput, .extent = RowExtent::Row, .types = Parameter};
  std::vector<RowWiseRecipe> recipes;
  for (uint32_t mode = 0; mode < 64; ++mode) {
    constexpr uint32_t kMeanOfT5 = 32 | 8;
    if ((mode & kMeanOfT5) == kMeanOfT5)
      continue;
    RowWiseRecipe &recipe = recipes.emplace_back();
    recipe.op = RowWiseKind::NormForward;
    recipe.reduces = true;
    recipe.modes = {mode};
    recipe.tensors = {{}};
    if (mode & 1)
      recipe.tensors.push_back({});
    recipe.tensors.insert(recipe.tensors.end(), std::popcount(mode & 6),
                          parameter);
    recipe.tensors.insert(recipe.tensors.end(), std::popcount(mode & 24),
                          result);
    recipe.tensors.push_back({.role = Output});
    recipe.scalars = {{1e-5, 1e-3}};
  }
  for (RowWiseKind op : {RowWiseKind::NormBackward, RowWiseKind::T5Backward})
    for (uint32_t mode : {0, 1}) {
      RowWiseRecipe &recipe = recipes.emplace_back();
      recipe.op = op;
      recipe.reduces = true;
      recipe.modes = {mode};
      recipe.tensors = {{}, {}, statistic};
      if (op == RowWiseKind::NormBackward)
        recipe.tensors.push_back(statistic);
      if (mode)
        recipe.tensors.push_back(parameter);
      recipe.tensors.push_back({.role = Output});
    }
  RowWiseRecipe &moments = recipes.emplace_back();
  moments.op = RowWiseKind::Moments;
  moments.reduces = true;
  moments.modes = {0};
  moments.tensors = {{}, result, result};
  const Tensor spread{.extent = Any, .types = Float};
  recipes.push_back({.op = RowWiseKind::NormBackwardWeight,
                     .reduces = true,
                     .modes = {0},
                     .tensors = {{}, {}, spread, spread, result, result},
                     .scalars = {}});
  recipes.push_back({.op = RowWiseKind::T5BackwardWeight,
                     .reduces = true,
                     .modes = {0},
                     .tensors = {{}, {}, spread, result},
                     .scalars = {}});
  return recipes;
}

/// Forms with and without AMSGrad and with factors in tensors.
static std::vector<RowWiseRecipe> makeAdam() {
  const Tensor square{.least = 0}, factor{.extent = Any, .least = 0.5};
  const Tensor result{.role = Output}, count{.types = Index, .least = 0};
  const std::array<double, 2> beta{0.5, 0.99};
  std::vector<RowWiseRecipe> recipes;
  for (uint32_t amsgrad : {0, 1})
    for (uint32_t factors : {0, 16}) {
      RowWiseRecipe &recipe = recipes.emplace_back();
      recipe.op = RowWiseKind::Adam;
      recipe.modes = addBits({0, 2, 4, 6, 8, 10}, amsgrad | factors);
      recipe.tensors = {{}, {}, {}, square};
      if (amsgrad)
        recipe.tensors.push_back(square);
      recipe.tensors.insert(recipe.tensors.end(), factors ? 3 : 0, factor);
      recipe.tensors.insert(recipe.tensors.end(), 3 + amsgrad, result);
      recipe.scalars = {beta, beta, {1e-3, 1e-2}, {0, 0.1}};
      if (!factors)
        recipe.scalars.insert(recipe.scalars.end(), 2, {0.5, 2});
    }
  const Tensor scale{.types = Float, .least = 1, .most = 1024};
  Tensor flag = count, index{.role = Output, .types = Index};
  flag.most = 1.5;
  const Tensor wide{.role = Output, .types = Float};
  // The bound of the reference is that of factors of f32.
  for (uint32_t mode : {7, 15, 31})
    recipes.push_back({.op = RowWiseKind::AdamStep,
                       .modes = {mode},
                       .tensors = {count, scale, flag, index, wide, wide, wide},
                       .scalars = {beta, beta, {0.01, 0.1}, {1, 2}},
                       .types = {DataType::F32}});
  return recipes;
}

/// Classes and labels are drawn from the same few numbers.
static std::vector<RowWiseRecipe> makeCtc() {
  const Tensor log{.most = -0.125}, element{.most = 0};
  const Tensor row{.role = RowOutput, .extent = RowExtent::Row};
  const Tensor flag{.types = Index, .least = 0, .most = 1.5};
  Tensor number{.types = Index, .least = -1.5, .most = 6};
  Tensor rowNumber = number, rowLog = log, elementNumber = number;
  rowNumber.extent = rowLog.extent = RowExtent::Row;
  elementNumber.extent = RowExtent::Element;
  const Tensor loss{.least = 0}, occupancy{.least = 0, .most = 1};
  auto make = [](RowWiseKind op, bool reduces, std::vector<uint32_t> modes,
                 std::vector<Tensor> tensors) {
    return RowWiseRecipe{.op = op,
                         .reduces = reduces,
                         .modes = std::move(modes),
                         .tensors = std::move(tensors),
                         .scalars = {},
                         .types = {DataType::F32}};
  };
  std::vector<RowWiseRecipe> recipes{
      make(RowWiseKind::CtcGather, true, {0},
           {log, rowNumber, elementNumber, row}),
      make(RowWiseKind::CtcStep, false, {0},
           {element, element, element, flag, log, number, {.role = Output}}),
      make(RowWiseKind::CtcLoss, true, {0}, {element, flag, row}),
      make(RowWiseKind::CtcOccupancy, false, {0},
           {element, element, log, loss, number, number, {.role = Output}}),
      make(RowWiseKind::CtcGradient, true, {0, 1},
           {rowLog, occupancy, number, rowNumber, rowNumber, rowNumber, row})};
  recipes[1].scalars = {{0, 6}};
  return recipes;
}

static std::vector<RowWiseRecipe> makeMargin() {
  const Tensor row{.role = RowOutput, .extent = RowExtent::Row};
  const Tensor target{
      .extent = RowExtent::Row, .types = Index, .least = 0, .most = 6};
  return {{.op = RowWiseKind::SoftMargin,
           .modes = {0},
           .tensors = {{}, {}, {.role = Output}},
           .scalars = {}},
          {.op = RowWiseKind::SoftMargin,
           .reduces = true,
           .modes = {1},
           .tensors = {{}, {}, row},
           .scalars = {{0.01, 1}}},
          {.op = RowWiseKind::SoftMarginGradient,
           .modes = {0},
           .tensors = {{}, {}, {}, {.role = Output}},
           .scalars = {{0.01, 1}}},
          {.op = RowWiseKind::MultiMargin,
           .reduces = true,
           .modes = {0, 1},
           .tensors = {{}, target, {.extent = RowExtent::Element}, row},
           .scalars = {{0.5, 2}}}};
}

static std::vector<RowWiseRecipe> makeKthValue() {
  const Tensor key{.extent = RowExtent::Row,
                   .types = Index,
                   .least = -0x1p31,
                   .most = 0x1p31 - 1};
  Tensor k = key;
  k.least = 1;
  k.most = 9;
  const Tensor row{.role = RowOutput, .extent = RowExtent::Row};
  const Tensor word{
      .role = RowOutput, .extent = RowExtent::Row, .types = Index};
  return {{.op = RowWiseKind::KthStep,
           .reduces = true,
           .modes = {0},
           .tensors = {{}, key, k, word, word},
           .scalars = {{0, 31.5}},
           .types = {DataType::F16, DataType::BF16, DataType::F32}},
          {.op = RowWiseKind::KthFind,
           .reduces = true,
           .modes = {0},
           .tensors = {{}, key, row, word},
           .scalars = {},
           .types = {DataType::F32}}};
}

/// Indices and the numbers that they are compared with are drawn from the same
/// few, and so are the lengths that negative indices count from.
static std::vector<RowWiseRecipe> makeGetitem() {
  const Tensor row{.role = RowOutput, .extent = RowExtent::Row};
  const Tensor old{.extent = RowExtent::Row};
  const Tensor index{
      .extent = RowExtent::Element, .types = Index, .least = -4.5, .most = 4.5};
  const Tensor number{
      .extent = RowExtent::Row, .types = Index, .least = 0, .most = 3.5};
  Tensor error = row, oldError = old;
  error.types = oldError.types = Index;
  std::vector<RowWiseRecipe> recipes{
      {.op = RowWiseKind::Number,
       .modes = {0},
       .tensors = {{.role = Output, .types = Index}},
       .scalars = {},
       .types = {DataType::F32}},
      {.op = RowWiseKind::GetitemError,
       .reduces = true,
       .modes = {0},
       .tensors = {{.types = Index, .least = -9, .most = 9}, oldError, error},
       .scalars = {{1, 9}},
       .types = {DataType::F32}}};
  for (uint32_t count = 1; count <= 3; ++count) {
    RowWiseRecipe recipe{.op = RowWiseKind::GetitemBackward,
                         .reduces = true,
                         .modes = {count},
                         .tensors = {{}},
                         .scalars = {}};
    for (uint32_t i = 0; i < count; ++i) {
      recipe.tensors.insert(recipe.tensors.end(), {index, number});
      recipe.scalars.push_back({1, 4});
    }
    recipe.tensors.insert(recipe.tensors.end(), {old, row});
    recipes.push_back(recipe);
  }
  return recipes;
}

/// A step of a recurrent network. The inputs are bounded as gates are.
static RowWiseRecipe makeGates(RowWiseKind op, std::vector<uint32_t> modes,
                               size_t inputs, size_t outputs) {
  RowWiseRecipe recipe{
      .op = op, .modes = std::move(modes), .tensors = {}, .scalars = {}};
  recipe.tensors.assign(inputs, Tensor{.least = -1, .most = 1});
  recipe.tensors.resize(inputs + outputs, Tensor{.role = Output});
  return recipe;
}

/// A whole step: a state and `weights` tensors that it is multiplied by.
/// Weights are small, so that long sums stay where gates are not constant.
static RowWiseRecipe makeStep(RowWiseKind op, std::vector<uint32_t> modes,
                              size_t weights, size_t inputs, size_t outputs) {
  RowWiseRecipe recipe{.op = op,
                       .reduces = true,
                       .modes = std::move(modes),
                       .tensors = {{.extent = Any, .least = -1, .most = 1}},
                       .scalars = {}};
  recipe.tensors.resize(1 + weights, Tensor{.least = -0.25, .most = 0.25});
  recipe.tensors.resize(
      1 + weights + inputs,
      Tensor{.extent = RowExtent::Row, .least = -1, .most = 1});
  recipe.tensors.resize(1 + weights + inputs + outputs,
                        Tensor{.role = RowOutput, .extent = RowExtent::Row});
  return recipe;
}

static std::vector<RowWiseRecipe> makeRnn() {
  return {makeStep(RowWiseKind::RnnStep, {0, 1}, 1, 1, 1),
          makeStep(RowWiseKind::RnnStep, {2, 3}, 1, 1, 2),
          makeStep(RowWiseKind::RnnStepBackward, {0, 1}, 1, 2, 1),
          makeStep(RowWiseKind::LstmStep, {0}, 4, 5, 2),
          makeStep(RowWiseKind::LstmStep, {1}, 4, 5, 6),
          makeStep(RowWiseKind::LstmStepBackward, {0}, 1, 7, 5),
          makeStep(RowWiseKind::GruStep, {0}, 3, 5, 1),
          makeStep(RowWiseKind::GruStep, {1}, 3, 5, 5),
          makeStep(RowWiseKind::GruStepBackward, {0}, 1, 7, 7),
          makeGates(RowWiseKind::RnnForward, {0, 1}, 2, 2),
          makeGates(RowWiseKind::RnnForward, {2, 3}, 2, 4),
          makeGates(RowWiseKind::RnnBackward, {0, 1}, 3, 1),
          makeGates(RowWiseKind::LstmForward, {0}, 5, 3),
          makeGates(RowWiseKind::LstmForward, {1}, 6, 9),
          makeGates(RowWiseKind::LstmBackward, {0}, 8, 5),
          makeGates(RowWiseKind::GruForward, {0}, 7, 2),
          makeGates(RowWiseKind::GruForward, {1}, 7, 7),
          makeGates(RowWiseKind::GruBackward, {0}, 7, 7)};
}

std::span<const RowWiseRecipe> tessera::getRowRecipes() {
  static const std::vector<RowWiseRecipe> recipes = [] {
    std::vector<RowWiseRecipe> all;
    for (auto make :
         {makeActivation, makeTensorOperations, makeAdam, makeGlu, makePRelu,
          makeRope, makeRnn, makeSoftmax, makeReduce, makeKthValue, makeGetitem,
          makeBatchNormInference, makeBatchNormTraining, makeBatchNormBackward,
          makeLrn, makeCtc, makeMargin, makeNorm})
      std::ranges::move(make(), std::back_inserter(all));
    return all;
  }();
  return recipes;
}

static bool follows(const RowWiseProblem &problem,
                    const RowWiseRecipe &recipe) {
  // Those of all steps have the tensors of one.
  const uint32_t mode = hasSteps(problem)
                            ? problem.mode & ~(kAllSteps | kDescendingSteps)
                            : problem.mode;
  return problem.op == recipe.op &&
         std::ranges::find(recipe.modes, mode) != recipe.modes.end() &&
         std::ranges::equal(problem.getTensors(), recipe.tensors, {},
                            &RowTensor::role, &Tensor::role);
}

const RowWiseRecipe *tessera::findRowRecipe(const RowWiseProblem &problem) {
  for (const RowWiseRecipe &recipe : getRowRecipes())
    if (follows(problem, recipe))
      return &recipe;
  return nullptr;
}
