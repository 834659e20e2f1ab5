//===- ViewAccessTest.cpp - Compares linear forms with the map ------------===//

#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Frontend/ConvFrontend.h"
#include "compiler/Transforms/Passes.h"
#include "test/unit/Support/RandomProblem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {
/// The offset of one element of a view, and whether it is inside the tensor.
struct Element {
  int64_t byteOffset;
  bool isInside;
};
} // namespace

/// Splits `position` into the iteration dimensions of coordinate `index`.
static void unmerge(dnn::CoordsAttr coords, unsigned index, int64_t position,
                    SmallVectorImpl<int64_t> &digits) {
  ArrayRef<int64_t> sizes = coords.getSpace(index);
  unsigned first = coords.getFirstDim(index);
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    digits[first + d] = position % sizes[d];
    position /= sizes[d];
  }
}

/// Locates an element by evaluating the view's coordinate map.
static Element locate(dnn::ViewOp view, ArrayRef<int64_t> position) {
  dnn::CoordsAttr coords = view.getCoords();
  SmallVector<int64_t> digits(coords.getSizes().size());
  for (unsigned i = 0; i < 3; ++i)
    unmerge(coords, i, position[i], digits);
  auto type = cast<MemRefType>(view.getSource().getType());
  SmallVector<int64_t> at = coords.getMap().compose(digits);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)type.getStridesAndOffset(strides, offset);
  Element element{0, true};
  for (auto [coordinate, size, stride] :
       llvm::zip(at, type.getShape(), strides)) {
    element.byteOffset += coordinate * stride;
    element.isInside &= coordinate >= 0 && coordinate < size;
  }
  element.byteOffset *= type.getElementTypeBitWidth() / 8;
  return element;
}

/// Locates an element by the merged linear forms, as the lowering does.
static Element locate(const ViewAccess &access, ArrayRef<int64_t> position) {
  SmallVector<int64_t> forms;
  for (unsigned f = 0; f < access.getNumForms(); ++f)
    forms.push_back(access.getConstant(f));
  for (unsigned i = 0; i < 3; ++i) {
    AccessSpace space = access.getSpace(i);
    int64_t rest = position[i];
    for (int64_t d = space.sizes.size() - 1; d >= 0; --d) {
      int64_t digit = d == 0 ? rest : rest % space.sizes[d];
      rest /= space.sizes[d];
      for (unsigned f = 0; f < forms.size(); ++f)
        forms[f] += digit * space.coefs[f][d];
    }
  }
  bool isInside = true;
  for (unsigned f = 1; f < forms.size(); ++f)
    isInside &= forms[f] >= 0 && forms[f] < access.getBound(f);
  return {forms[0], isInside};
}

namespace {
class ViewAccessTest : public testing::Test {
protected:
  /// Tiles a convolution and calls `check` for each of its three views.
  void forEachView(const ConvProblem &problem,
                   llvm::function_ref<void(dnn::ViewOp)> check) {
    auto module = buildConvModule(context, problem, "conv");
    PassManager passes(&context);
    ApplyTileOptions options;
    options.target = "gfx942";
    options.tile = "igemm-m64n64k32-w2x2-b2-mfma32";
    passes.addPass(createApplyTile(options));
    ASSERT_TRUE(succeeded(passes.run(*module)));
    module->walk(check);
  }

  ConvProblem drawSmall() {
    ConvProblem p = random.next(DataType::F32);
    constexpr Direction kDirections[] = {Direction::Forward,
                                         Direction::BackwardData,
                                         Direction::BackwardWeights};
    p.direction = kDirections[random.pick(0, 2)];
    p.batch = random.pick(1, 3);
    p.groups = random.pick(1, 3);
    p.inChannels = p.groups * random.pick(1, 24);
    p.outChannels = p.groups * random.pick(1, 24);
    p.filter = random.pickPair(1, 4);
    p.in = random.pickPair(7, 12);
    p.pad = {random.pick(0, 2), random.pick(0, 2)};
    p.setPadAfter({random.pick(0, 2), random.pick(0, 2)});
    p.stride = random.pickPair(1, 3);
    p.dilation = random.pickPair(1, 2);
    // Gaps between the rows of x keep dimensions from being merged.
    if (random.pick(0, 2) == 0) {
      p.xStrides = p.getInputStrides();
      int64_t Strides::*outer[] = {&Strides::n, &Strides::h};
      for (auto stride : outer)
        p.xStrides.*stride *= 2;
      p.xStrides.n *= 2;
      p.xLayout = Layout::Strided;
    }
    return p;
  }

  SmallVector<int64_t> drawPosition(dnn::ViewOp view) {
    SmallVector<int64_t> position;
    for (int64_t extent : view.getType().getShape())
      position.push_back(random.pick(0, extent - 1));
    return position;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  test::RandomProblem random;
};
} // namespace

// Merging dimensions and dropping bounds checks changes no address and no
// result of a check, in any direction and with gaps.
TEST_F(ViewAccessTest, AgreesWithTheMap) {
  SCOPED_TRACE(random.getSeed());
  for (int i = 0; i < 60; ++i)
    forEachView(drawSmall(), [&](dnn::ViewOp view) {
      ViewAccess access(view);
      for (int j = 0; j < 50; ++j) {
        auto position = drawPosition(view);
        Element expected = locate(view, position);
        Element actual = locate(access, position);
        EXPECT_EQ(actual.isInside, expected.isInside);
        EXPECT_EQ(actual.byteOffset, expected.byteOffset);
      }
    });
}

// All elements of a wide access are inside if the first one is, they are
// contiguous, and the access is aligned.
TEST_F(ViewAccessTest, WidensOnlyOverNeighbours) {
  SCOPED_TRACE(random.getSeed());
  for (int i = 0; i < 60; ++i)
    forEachView(drawSmall(), [&](dnn::ViewOp view) {
      ViewAccess access(view);
      for (unsigned index : {1u, 2u}) {
        int64_t width = access.getVectorWidth(index, 8);
        ASSERT_EQ(view.getType().getShape()[index] % width, 0);
        for (int j = 0; j < 20; ++j) {
          auto position = drawPosition(view);
          position[index] -= position[index] % width;
          Element first = locate(view, position);
          if (!first.isInside)
            continue;
          EXPECT_EQ(first.byteOffset % (width * access.getElementBytes()), 0);
          for (int64_t next = 1; next < width; ++next) {
            ++position[index];
            Element element = locate(view, position);
            EXPECT_TRUE(element.isInside);
            EXPECT_EQ(element.byteOffset,
                      first.byteOffset + next * access.getElementBytes());
          }
        }
      }
    });
}

// NHWC channels that fill chunks are read 16 bytes at a time, and so are NCHW
// filters of a 1x1 convolution. Narrow accesses would only be slow, so that no
// other test finds them.
TEST_F(ViewAccessTest, IsWideWhereTheLayoutAllows) {
  ConvProblem p;
  p.dataType = DataType::F16;
  p.inChannels = p.outChannels = 64;
  p.in = {14, 14};
  p.filter = {3, 3};
  p.pad = {1, 1};
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  forEachView(p, [&](dnn::ViewOp view) {
    EXPECT_EQ(ViewAccess(view).getVectorWidth(2, 8), 8);
  });
  p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
  p.filter = {1, 1};
  p.pad = {0, 0};
  std::vector<int64_t> widths;
  forEachView(p, [&](dnn::ViewOp view) {
    widths.push_back(ViewAccess(view).getVectorWidth(2, 8));
  });
  EXPECT_EQ(widths, (std::vector<int64_t>{1, 8, 1}));
}
