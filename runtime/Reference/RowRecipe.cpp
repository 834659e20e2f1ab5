//===- RowRecipe.cpp - What operations on rows look like ------------------===//

#include "runtime/Reference/RowRecipe.h"

#include <algorithm>

using namespace tessera;

using Tensor = RowTensorRecipe;
using enum RowRole;
using enum RowExtent;
using enum RowTypes;

static const std::vector<uint32_t> kActivations{0, 1, 2, 3, 4, 5,
                                                6, 7, 8, 9, 10};

/// alpha, beta, gamma of an activation, behind `before`.
static std::vector<std::array<double, 2>>
withActivation(std::vector<std::array<double, 2>> before) {
  before.insert(before.end(), {{0.25, 1.5}, {0.5, 2}, {1.25, 2}});
  return before;
}

static std::vector<RowRecipe> makeElementwise() {
  return {{.op = RowOp::ActivationForward,
           .modes = kActivations,
           .tensors = {{}, {.role = Output}},
           .scalars = withActivation({})}};
}

static std::vector<RowRecipe> makeSoftmax() {
  return {{.op = RowOp::SoftmaxForward,
           .reduces = true,
           .modes = {0, 1, 2},
           .tensors = {{}, {.role = Output}},
           .scalars = {{0.5, 2}, {0, 0}}},
          {.op = RowOp::SoftmaxForward,
           .reduces = true,
           .modes = {0, 1, 2},
           .tensors = {{}, {}, {.role = Output}},
           .scalars = {{0.5, 2}, {-1, 1}}}};
}

static std::vector<RowRecipe> makeBatchNorm() {
  const Tensor parameter{.extent = Any, .types = Parameter};
  const Tensor statistic{.extent = Any, .types = Float};
  Tensor variance = statistic;
  variance.least = 0;
  return {
      {.op = RowOp::BatchNormInference,
       .modes = kActivations,
       .tensors =
           {{}, statistic, variance, parameter, parameter, {.role = Output}},
       .scalars = withActivation({{1e-5, 1e-3}})}};
}

std::span<const RowRecipe> tessera::getRowRecipes() {
  static const std::vector<RowRecipe> recipes = [] {
    std::vector<RowRecipe> all;
    for (auto make : {makeElementwise, makeSoftmax, makeBatchNorm})
      std::ranges::move(make(), std::back_inserter(all));
    return all;
  }();
  return recipes;
}

static bool follows(const RowProblem &problem, const RowRecipe &recipe) {
  return problem.op == recipe.op &&
         std::ranges::find(recipe.modes, problem.mode) != recipe.modes.end() &&
         std::ranges::equal(problem.getTensors(), recipe.tensors, {},
                            &RowTensor::role, &Tensor::role);
}

const RowRecipe *tessera::findRowRecipe(const RowProblem &problem) {
  for (const RowRecipe &recipe : getRowRecipes())
    if (follows(problem, recipe))
      return &recipe;
  return nullptr;
}
