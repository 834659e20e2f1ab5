//===- DrawProblemTest.cpp - Drawn problems are valid and various ---------===//

#include "test/unit/execute/DrawProblem.h"
#include "runtime/Reference/RowWiseRecipe.h"

#include <gtest/gtest.h>

#include <set>

using namespace tessera;

// Every problem is valid, canonical and small enough, and drawing it again
// gives the same one.
TEST(DrawProblem, IsValidAndRepeatable) {
  for (int64_t i = 0; i < 2000; ++i) {
    const ConvProblem p = drawProblem(7, i);
    ASSERT_TRUE(p.verify().isOk())
        << p.toNetworkConfig() << ": " << p.verify().getMessage();
    ASSERT_EQ(p, p.canonicalize());
    ASSERT_LE(p.getFlops(), ProblemSpace().maxFlops);
    ASSERT_EQ(p, drawProblem(7, i));
  }
  EXPECT_NE(drawProblem(7, 0), drawProblem(8, 0));
}

// A few hundred problems cover every direction with every type, every
// activation, depth, gaps, and paddings that are longer at either end.
TEST(DrawProblem, CoversTheSpace) {
  std::set<std::pair<Direction, DataType>> types;
  std::set<Activation> activations;
  int deep = 0, strided = 0, depthwise = 0, longerAfter = 0, longerBefore = 0;
  for (int64_t i = 0; i < 600; ++i) {
    const ConvProblem p = drawProblem(1, i);
    types.insert({p.direction, p.dataType});
    activations.insert(p.epilogue.activation);
    deep += p.hasDepth();
    longerAfter += p.extraPad.w > 0 || p.extraPad.h > 0;
    longerBefore += p.extraPad.w < 0 || p.extraPad.h < 0;
    strided += p.xLayout == Layout::Strided;
    depthwise += p.groups > 1 && p.groups == p.inChannels;
  }
  EXPECT_EQ(types.size(), 3 * 8 + 1u);
  EXPECT_EQ(activations.size(), 11u);
  EXPECT_GT(deep, 50);
  EXPECT_GT(strided, 30);
  EXPECT_GT(depthwise, 20);
  EXPECT_GT(longerAfter, 30);
  EXPECT_GT(longerBefore, 30);
}

// The same holds for poolings, which cover every index type.
TEST(DrawProblem, DrawsPoolings) {
  std::set<IndexType> indices;
  std::set<std::pair<PoolMode, Direction>> modes;
  int longerAfter = 0, longerBefore = 0;
  for (int64_t i = 0; i < 600; ++i) {
    const PoolProblem p = drawPool(5, i);
    ASSERT_TRUE(p.verify().isOk())
        << p.toNetworkConfig() << ": " << p.verify().getMessage();
    ASSERT_EQ(p, p.canonicalize());
    ASSERT_EQ(p, drawPool(5, i));
    longerAfter += p.extraPad.w > 0 || p.extraPad.h > 0;
    longerBefore += p.extraPad.w < 0 || p.extraPad.h < 0;
    indices.insert(p.indexType);
    modes.insert({p.mode, p.direction});
  }
  EXPECT_EQ(indices.size(), 5u);
  EXPECT_EQ(modes.size(), 8u);
  EXPECT_GT(longerAfter, 30);
  EXPECT_GT(longerBefore, 30);
}

// Every fifth problem is a pooling, and no convolution is left out.
TEST(DrawProblem, DrawsAnyProblem) {
  for (int64_t i = 0; i < 40; ++i) {
    const Problem p = drawAny(2, i);
    ASSERT_EQ(p.getPool() != nullptr, i % 5 == 4) << i;
    if (const ConvProblem *conv = p.getConv())
      ASSERT_EQ(*conv, drawProblem(2, i / 5 * 4 + i % 5)) << i;
  }
  ProblemSpace space;
  space.pooling = false;
  EXPECT_EQ(drawAny(2, 4, space), Problem(drawProblem(2, 4, space)));
}

// Row-wise problems cover every operation and type; some are reduced, some
// broadcast and some have gaps.
TEST(DrawProblem, DrawsRowWise) {
  std::set<RowWiseKind> operations;
  std::set<DataType> types;
  int reduced = 0, broadcast = 0, gaps = 0;
  for (int64_t i = 0; i < 600; ++i) {
    const RowWiseProblem p = drawRowWise(5, i);
    ASSERT_TRUE(p.verify().isOk())
        << p.toNetworkConfig() << ": " << p.verify().getMessage();
    ASSERT_EQ(p, p.canonicalize());
    ASSERT_EQ(p, drawRowWise(5, i));
    const RowWiseRecipe *recipe = findRowRecipe(p);
    ASSERT_TRUE(recipe) << p.toNetworkConfig();
    operations.insert(p.op);
    types.insert(p.tensors[0].type);
    reduced += p.reduced != 0;
    gaps += p.getSpan(0) > p.getElements();
    for (const RowTensor &tensor : p.getTensors())
      broadcast += tensor.role == RowRole::Input &&
                   tensor.strides[p.rank - 1] == 0 && p.lengths[p.rank - 1] > 1;
  }
  std::set<RowWiseKind> all;
  for (const RowWiseRecipe &recipe : getRowRecipes())
    all.insert(recipe.op);
  EXPECT_EQ(operations, all);
  EXPECT_GE(types.size(), 4u);
  EXPECT_GT(reduced, 50);
  EXPECT_GT(broadcast, 30);
  EXPECT_GT(gaps, 50);
}

// Nothing is drawn outside a narrower space.
TEST(DrawProblem, KeepsToTheSpace) {
  ProblemSpace space;
  space.directions = {Direction::BackwardWeights};
  space.types = {DataType::F32};
  space.depth = space.strided = space.epilogues = false;
  for (int64_t i = 0; i < 300; ++i) {
    const ConvProblem p = drawProblem(3, i, space);
    ASSERT_EQ(p.direction, Direction::BackwardWeights);
    ASSERT_EQ(p.dataType, DataType::F32);
    ASSERT_FALSE(p.hasDepth());
    ASSERT_TRUE(p.epilogue.isEmpty());
    for (Layout layout : {p.xLayout, p.wLayout, p.yLayout})
      ASSERT_NE(layout, Layout::Strided);
  }
}
