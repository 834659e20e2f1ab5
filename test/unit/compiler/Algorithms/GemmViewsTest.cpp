//===- GemmViewsTest.cpp - The matrices of a convolution, by hand ---------===//
//
// Multiplies the matrices that the views of a convolution are, element by
// element on the host, and compares with the reference. So the views are tested
// without a chip, those whose rows are positions with padding between them
// among them (HaloPositions.h), which no emulated chip reads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Frontend/ConvFrontend.h"
#include "dialect/Reference/TestData.h"
#include "runtime/Reference/ReferenceShape.h"
#include "test/unit/Support/RandomProblem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

#include <map>

using namespace mlir;
using namespace tessera;

/// The index of an element in its packed tensor, or -1 outside of it.
static int64_t locate(dnn::ViewOp view, std::array<int64_t, 3> position) {
  dnn::CoordsAttr coords = view.getCoords();
  SmallVector<int64_t> digits(coords.getSizes().size());
  for (unsigned i = 0; i < 3; ++i) {
    ArrayRef<int64_t> sizes = coords.getSpace(i);
    for (int64_t d = sizes.size() - 1; d >= 0; --d) {
      digits[coords.getFirstDim(i) + d] = position[i] % sizes[d];
      position[i] /= sizes[d];
    }
    if (position[i] > 0)
      return -1;
  }
  ArrayRef<int64_t> shape =
      cast<MemRefType>(view.getSource().getType()).getShape();
  SmallVector<int64_t> at = coords.getMap().compose(digits);
  int64_t index = 0;
  for (auto [coordinate, size] : llvm::zip(at, shape)) {
    if (coordinate < 0 || coordinate >= size)
      return -1;
    index = index * size + coordinate;
  }
  return index;
}

namespace {
/// A convolution of integers in NHWC, and its views, of which a step has 8
/// elements of the reduction.
class Product {
public:
  Product(MLIRContext &context, const ConvProblem &p, bool hasHalo,
          ReductionSplits splits = {})
      : problem(p), splits(splits), shape(getReferenceShape(p)),
        module(buildConvModule(context, p, "conv")) {
    module->walk([&](dnn::ConvOp op) { conv = op; });
    fill(shape.getInputSizes(), 1);
    fill(shape.getFilterSizes(), 2);
    fill(shape.getOutputSizes(), 3);
    OpBuilder b(conv);
    const ConvGeometry g(conv);
    GemmViews views =
        p.direction == Direction::Forward
            ? viewForward(b, conv, g, {kStep, splits, hasHalo})
        : p.direction == Direction::BackwardData
            ? viewBackwardData(b, conv, g, {kStep, splits, hasHalo})
            : viewBackwardWeights(
                  b, conv, g,
                  {kStep, splits.count, hasHalo, hasHalo ? kBlock : 0});
    a = views.a;
    this->b = views.b;
    const ResultCoordinates &at = views.result;
    result = at.view.create(conv.getLoc(), conv.getResultOperand().get(),
                            conv.getResultLayout(), at.outer, at.channel,
                            at.spatial);
  }

  /// Every element of the result once in each split, as the reference has it.
  void check() {
    ArrayRef<int64_t> rows = a.getType().getShape();
    const int64_t columns = b.getType().getShape()[1];
    std::map<int64_t, double> sums;
    std::map<int64_t, int64_t> counts;
    for (int64_t g = 0; g < rows[0]; ++g)
      for (int64_t m = 0; m < rows[1]; ++m)
        for (int64_t n = 0; n < columns; ++n) {
          const int64_t index = locate(result, {g, m, n});
          if (index < 0)
            continue;
          double sum = 0;
          for (int64_t k = 0; k < rows[2]; ++k)
            if (hasElement(g, k))
              sum += load(a, {g, m, k}) * load(b, {g, n, k});
          sums[index] += sum;
          ++counts[index];
        }
    const reference::Expected expected = evaluate();
    ASSERT_EQ(sums.size(), expected.values.size());
    for (auto [index, sum] : sums) {
      ASSERT_EQ(sum, expected.values[index]) << index;
      ASSERT_EQ(counts[index], splits.count) << index;
    }
  }

  double load(dnn::ViewOp view, std::array<int64_t, 3> position) const {
    const int64_t index = locate(view, position);
    if (index < 0)
      return 0;
    const unsigned tensor =
        cast<BlockArgument>(view.getSource()).getArgNumber();
    return getView(tensor).load(sizes[tensor].getCoord(index));
  }

  const ConvProblem problem;
  const ReductionSplits splits;
  dnn::ViewOp a, b, result;

private:
  static constexpr int64_t kStep = 8, kBlock = 64;

  /// Whether the split of group `g` has element `k` of the views' reduction.
  /// Runs of steps are what the pipeline makes of it: equal runs of groups have
  /// equal runs of steps, none of which has channels of two taps.
  bool hasElement(int64_t g, int64_t k) {
    if (!splits.areSteps)
      return true;
    const int64_t channels = a.getCoords().getSpace(2).back();
    const int64_t stepsOfTap = llvm::divideCeilSigned(channels, kStep);
    const int64_t steps = a.getType().getShape()[2] / channels * stepsOfTap;
    const int64_t step = k / channels * stepsOfTap + k % channels / kStep;
    const int64_t groups = a.getType().getShape()[0];
    return g / (groups / splits.count) == step / (steps / splits.count);
  }

  void fill(const reference::Sizes &tensor, uint64_t seed) {
    sizes.push_back(tensor);
    data.push_back(reference::makeData(reference::ElementType::F32,
                                       tensor.getProduct(),
                                       reference::DataKind::Integer, seed));
  }
  reference::TensorView getView(unsigned tensor) const {
    return {reference::ElementType::F32, data[tensor].data(),
            reference::getNhwcStrides(sizes[tensor])};
  }
  reference::Expected evaluate() const {
    switch (problem.direction) {
    case Direction::Forward:
      return convForward(shape, getView(0), getView(1));
    case Direction::BackwardData:
      return convBackwardData(shape, getView(1), getView(2));
    case Direction::BackwardWeights:
      return convBackwardWeights(shape, getView(0), getView(2));
    }
    __builtin_unreachable();
  }

  reference::ConvShape shape;
  OwningOpRef<ModuleOp> module;
  dnn::ConvOp conv;
  std::vector<reference::Sizes> sizes; ///< Of x, w and y.
  std::vector<std::vector<char>> data;
};

class GemmViewsTest : public testing::TestWithParam<Direction> {
protected:
  /// Draws padding of both ends, equal in a third of the problems, and for
  /// shared pixels stride 1 and no more padding before than the filter reaches.
  /// Half of them are volumes.
  ConvProblem draw(bool hasHalo) {
    ConvProblem p;
    p.direction = GetParam();
    p.xLayout = p.wLayout = p.yLayout = tessera::Layout::NHWC;
    p.batch = random.pick(1, 2);
    p.inChannels = random.pick(1, 3);
    p.outChannels = random.pick(1, 3);
    p.in = random.pickPair(2, 6);
    p.filter = {random.pick(1, 4), random.pick(2, 4)};
    p.dilation = random.pickPair(1, 2);
    if (!hasHalo)
      p.stride = random.pickPair(1, 3);
    const int64_t most = hasHalo ? 0 : 3;
    p.pad = {random.pick(0, std::max(most, (p.filter.h - 1) * p.dilation.h)),
             random.pick(0, std::max(most, (p.filter.w - 1) * p.dilation.w))};
    if (random.pick(0, 2) > 0)
      p.setPadAfter({random.pick(0, 7), random.pick(0, 7)});
    if (random.pick(0, 1) > 0) {
      p.in.d = random.pick(2, 3);
      p.filter.d = random.pick(1, p.in.d);
      p.pad.d = random.pick(0, p.filter.d - 1);
    }
    return p;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  test::RandomProblem random;
};
} // namespace

// The matrices' product is the convolution, whichever end has more padding.
TEST_P(GemmViewsTest, AreTheConvolution) {
  SCOPED_TRACE(random.getSeed());
  for (int i = 0; i < 60; ++i) {
    const ConvProblem p = draw(/*hasHalo=*/false);
    SCOPED_TRACE(p.toNetworkConfig());
    Product(context, p, /*hasHalo=*/false).check();
  }
}

// The same in splits: shares of the channels, or of the images for backward
// weights, or runs of steps, which strided backward data, whose classes differ
// in their taps, does not have.
TEST_P(GemmViewsTest, AreTheConvolutionInSplits) {
  SCOPED_TRACE(random.getSeed());
  const bool isWeights = GetParam() == Direction::BackwardWeights;
  for (int i = 0; i < 60; ++i) {
    ConvProblem p = draw(/*hasHalo=*/false);
    const bool areSteps = !isWeights && random.pick(0, 1) == 0;
    const ReductionSplits splits{areSteps ? p.filter.w : random.pick(2, 3),
                                 areSteps};
    if (areSteps && GetParam() == Direction::BackwardData)
      p.stride = {1, 1};
    p.groups = random.pick(1, 2);
    const bool isForward = GetParam() == Direction::Forward;
    int64_t &channels = isWeights   ? p.batch
                        : isForward ? p.inChannels
                                    : p.outChannels;
    channels = areSteps ? random.pick(7, 17) : channels * splits.count;
    p.inChannels *= p.groups;
    p.outChannels *= p.groups;
    SCOPED_TRACE(p.toNetworkConfig());
    Product(context, p, /*hasHalo=*/false, splits).check();
  }
}

// The same of rows that are positions. The first channel of 64 is that of the
// problem; the others are outside of the filter.
TEST_P(GemmViewsTest, AreTheConvolutionOfPositions) {
  SCOPED_TRACE(random.getSeed());
  for (int i = 0; i < 60; ++i) {
    const ConvProblem p = draw(/*hasHalo=*/true);
    SCOPED_TRACE(p.toNetworkConfig());
    Product(context, p, /*hasHalo=*/true).check();
  }
}

// A tap of a result reads what the first tap of its slice reads so many
// positions further:
// taps that share pixels read padding of the row's own or the next row's front
// there, and never a pixel of another row.
TEST_P(GemmViewsTest, TapsAreDistances) {
  SCOPED_TRACE(random.getSeed());
  const bool isWeights = GetParam() == Direction::BackwardWeights;
  const bool isBackward = GetParam() == Direction::BackwardData;
  for (int i = 0; i < 60; ++i) {
    const ConvProblem p = draw(/*hasHalo=*/true);
    SCOPED_TRACE(p.toNetworkConfig());
    Product product(context, p, /*hasHalo=*/true);
    // Pixels are rows of a, or the reduction of b for backward weights, where
    // the gradient says which of them count.
    dnn::ViewOp view = isWeights ? product.b : product.a;
    ArrayRef<int64_t> taps = view.getCoords().getSpace(isWeights ? 1 : 2);
    const int64_t channels = taps.back();
    const int64_t positions = view.getType().getShape()[isWeights ? 2 : 1];
    const int64_t pitch = view.getCoords().getSpace(isWeights ? 2 : 1).back();
    auto load = [&](int64_t position, int64_t tap) {
      const int64_t at = tap * channels;
      return product.load(view, isWeights
                                    ? std::array<int64_t, 3>{0, at, position}
                                    : std::array<int64_t, 3>{0, position, at});
    };
    for (int64_t position = 0; position < positions; ++position) {
      if (locate(isWeights ? product.a : product.result,
                 isWeights ? std::array<int64_t, 3>{0, 0, position}
                           : std::array<int64_t, 3>{0, position, 0}) < 0)
        continue;
      // Of weights, taps of the depth move the gradient.
      const int64_t ofSlice = p.filter.h * p.filter.w;
      const int64_t slices = isWeights ? 1 : p.filter.d;
      for (int64_t i = 0; i < slices * ofSlice; ++i) {
        const int64_t first = i / ofSlice * ofSlice, tap = i % ofSlice;
        const int64_t last = first + ofSlice - 1;
        const int64_t distance = tap / p.filter.w * p.dilation.h * pitch +
                                 tap % p.filter.w * p.dilation.w;
        ASSERT_EQ(load(position, isBackward ? last - tap : first + tap),
                  load(position + distance, isBackward ? last : first));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Directions, GemmViewsTest,
                         testing::Values(Direction::Forward,
                                         Direction::BackwardData,
                                         Direction::BackwardWeights),
                         [](const auto &info) {
                           return std::string(getName(info.param));
                         });
