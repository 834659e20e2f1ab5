//===- DrawRowWise.cpp - Draws valid row-wise operations ------------------===//

#include "test/unit/execute/Draw.h"
#include "test/unit/execute/DrawProblem.h"

#include "runtime/Reference/RowWiseRecipe.h"

#include <algorithm>
#include <array>

using namespace tessera;

/// The largest iteration space, which the emulated device computes in a moment.
constexpr int64_t kMaxElements = 20000;

static void drawSpace(Draw &draw, RowWiseProblem &p, bool reduces) {
  p.rank = static_cast<int>(draw.between(1, 4));
  for (int dim = 0; dim < p.rank; ++dim)
    p.lengths[dim] =
        draw.oneOf({1, 2, 3, 4, 7, 8, 16, 17, 33, 64, 100, 257, 1024});
  while (p.getElements() > kMaxElements) {
    int64_t &longest =
        *std::max_element(p.lengths.begin(), p.lengths.begin() + p.rank);
    longest = (longest + 2) / 3;
  }
  if (!reduces)
    return;
  const int64_t sets = (int64_t(1) << p.rank) - 1;
  p.reduced = static_cast<uint32_t>(draw.between(1, sets));
}

/// Draws the order of the dimensions in memory, innermost first.
static std::vector<int> drawOrder(Draw &draw, int rank) {
  std::vector<int> order;
  for (int dim = rank - 1; dim >= 0; --dim)
    order.push_back(dim);
  if (draw.chance(30))
    for (int i = rank - 1; i > 0; --i)
      std::swap(order[i], order[draw.between(0, i)]);
  return order;
}

/// Lays out `dims` in that order, packed or with gaps behind some dimensions.
static void layOut(Draw &draw, const RowWiseProblem &p, RowTensor &tensor,
                   uint32_t dims, const std::vector<int> &order, bool hasGaps) {
  int64_t next = hasGaps ? draw.oneOf({1, 1, 1, 2, 3}) : 1;
  for (int dim : order) {
    if (!(dims >> dim & 1))
      continue;
    tensor.strides[dim] = next;
    next *= p.lengths[dim];
    next += hasGaps ? draw.oneOf({0, 0, 1, 4, 8, 13}) : 0;
  }
}

static uint32_t getExtent(const RowWiseProblem &p, RowExtent extent,
                          uint32_t any) {
  const uint32_t all = (1u << p.rank) - 1;
  switch (extent) {
  case RowExtent::Full:
    return all;
  case RowExtent::Row:
    return all & ~p.reduced;
  case RowExtent::Element:
    return p.reduced;
  case RowExtent::Any:
    return any;
  }
  __builtin_unreachable();
}

static DataType getType(Draw &draw, RowTypes types, DataType data) {
  const DataType wide = data == DataType::F64 ? data : DataType::F32;
  switch (types) {
  case RowTypes::Data:
    return data;
  case RowTypes::Parameter:
    return draw.chance(50) ? data : wide;
  case RowTypes::Float:
    return wide;
  case RowTypes::Index:
    return DataType::I32;
  }
  __builtin_unreachable();
}

/// Draws a recipe of the operation that `index` names modulo their number, and
/// leaves the quotient in `index`.
static const RowWiseRecipe &takeRecipe(Draw &draw, int64_t &index) {
  std::vector<std::pair<RowWiseKind, std::vector<const RowWiseRecipe *>>>
      operations;
  for (const RowWiseRecipe &recipe : getRowRecipes()) {
    if (operations.empty() || operations.back().first != recipe.op)
      operations.push_back({recipe.op, {}});
    operations.back().second.push_back(&recipe);
  }
  const auto count = static_cast<int64_t>(operations.size());
  const auto &recipes = operations[index % count].second;
  index /= count;
  return *recipes[draw.between(0, static_cast<int64_t>(recipes.size()) - 1)];
}

RowWiseProblem tessera::drawRowWise(uint64_t seed, int64_t index) {
  Draw draw(~seed * 1000033 + static_cast<uint64_t>(index));
  const RowWiseRecipe &recipe = takeRecipe(draw, index);
  RowWiseProblem p;
  p.op = recipe.op;
  p.mode = recipe.modes[index % static_cast<int64_t>(recipe.modes.size())];
  drawSpace(draw, p, recipe.reduces);
  constexpr std::array kFloats{DataType::F16, DataType::F32, DataType::BF16,
                               DataType::F16, DataType::F32, DataType::F64};
  const std::span<const DataType> types =
      recipe.types.empty() ? std::span<const DataType>(kFloats) : recipe.types;
  const DataType data =
      types[draw.between(0, static_cast<int64_t>(types.size()) - 1)];
  const std::vector<int> order = drawOrder(draw, p.rank);
  const auto any =
      static_cast<uint32_t>(draw.between(0, (int64_t(1) << p.rank) - 1));
  const bool hasGaps = draw.chance(25), isMixed = draw.chance(15);
  for (const RowTensorRecipe &tensor : recipe.tensors) {
    RowTensor &added = p.tensors[p.tensorCount++];
    added.type = getType(draw, tensor.types, data);
    added.role = tensor.role;
    layOut(draw, p, added, getExtent(p, tensor.extent, any),
           isMixed ? drawOrder(draw, p.rank) : order, hasGaps);
  }
  return p.canonicalize();
}
