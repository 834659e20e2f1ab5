//===- Statistics.cpp - Launches for a result's statistics ----------------===//

#include "compiler/Algorithms/Common/Statistics.h"

using namespace mlir;
using namespace tessera;

/// Of a part: how many elements it has, their mean, and the sum of squared
/// differences from it.
static constexpr int64_t kNumbers = 3;

std::optional<ChannelResult> tessera::takeStatistics(Operation *primitive) {
  auto op = dyn_cast_or_null<dnn::StatisticsOp>(primitive->getNextNode());
  if (!op)
    return std::nullopt;
  auto conv = cast<dnn::ConvOp>(primitive);
  ChannelResult result{op->getParentOfType<func::FuncOp>().getName().str(),
                       op.getLoc(),
                       "y",
                       op.getTensor().getType(),
                       op.getLayout(),
                       conv.getXLayout() == dnn::Layout::NHWC};
  const SmallVector<Value> arguments = {op.getMean(), op.getVariance()};
  op.erase();
  eraseArguments(arguments);
  return result;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value toFloat(PointBuilder &p, Value index) {
  Value number =
      arith::IndexCastOp::create(p.b, p.loc, p.b.getI32Type(), index);
  return arith::UIToFPOp::create(p.b, p.loc, p.b.getF32Type(), number);
}

static Value subtract(PointBuilder &p, Value lhs, Value rhs) {
  return arith::SubFOp::create(p.b, p.loc, lhs, rhs);
}

static Value multiply(PointBuilder &p, Value lhs, Value rhs) {
  return arith::MulFOp::create(p.b, p.loc, lhs, rhs);
}

static Value makeOne(PointBuilder &p) {
  return arith::ConstantOp::create(p.b, p.loc, p.b.getF32FloatAttr(1));
}

/// One over a number of elements, or 1 over none.
static Value invert(PointBuilder &p, Value count) {
  Value one = makeOne(p);
  Value least = arith::MaxNumFOp::create(p.b, p.loc, count, one);
  return arith::DivFOp::create(p.b, p.loc, one, least);
}

/// Chan's formula. One part, or both, may be empty.
static PointBuilder::Values combine(PointBuilder &p, ArrayRef<Value> lhs,
                                    ArrayRef<Value> rhs) {
  Value total = p.addBlocks(lhs[0], rhs[0]);
  Value share = multiply(p, rhs[0], invert(p, total));
  Value difference = subtract(p, rhs[1], lhs[1]);
  Value squared = multiply(p, difference, difference);
  Value between = multiply(p, lhs[0], share);
  return {total, p.mulAdd(difference, share, lhs[1]),
          p.mulAdd(squared, between, p.addBlocks(lhs[2], rhs[2]))};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Sums of differences from the part's first pixel, and of their squares: that
/// is one of the elements, so the sum of squares is at most as many times what
/// is left of it as there are elements.
static PointBuilder::Values measure(PointBuilder &p,
                                    const PixelPartials &pixels, Value tensor,
                                    const PixelPartials::Point &point) {
  const int64_t width = pixels.getWidth();
  Type f32 = p.b.getF32Type();
  auto load = [&](Value pixel) {
    return p.convert(p.loadBlock(tensor, pixels.getChannelDim(), width,
                                 pixels.locate(p, pixel, point.channel)),
                     f32);
  };
  Value pivot = load(point.part);
  Value zero = p.zero(f32, width);
  auto add = [&](ArrayRef<Value> several, ValueRange carried) {
    PointBuilder::Values next(carried), blocks, inside;
    for (Value pixel : several) {
      blocks.push_back(load(pixel));
      inside.push_back(arith::CmpIOp::create(p.b, p.loc,
                                             arith::CmpIPredicate::ult, pixel,
                                             p.index(pixels.getPixels())));
    }
    for (auto [block, isInside] : llvm::zip_equal(blocks, inside)) {
      Value difference = arith::SelectOp::create(
          p.b, p.loc, isInside, subtract(p, block, pivot), zero);
      next[0] = p.addBlocks(next[0], difference);
      next[1] = p.mulAdd(difference, difference, next[1]);
    }
    return next;
  };
  PointBuilder::Values total = pixels.loop(p, point, {zero, zero}, add);
  const int64_t partials = pixels.getPartials();
  Value behind = arith::SubIOp::create(
      p.b, p.loc, p.index(pixels.getPixels() + partials - 1), point.part);
  Value count = toFloat(p, p.div(behind, partials));
  Value share = p.splat(invert(p, count), width);
  Value mean = multiply(p, total[0], share);
  return {p.splat(count, width), p.addBlocks(pivot, mean),
          subtract(p, total[1], multiply(p, total[0], mean))};
}

/// Returns how many partials there are.
static int64_t buildPartials(ModuleOp module, const ChannelResult &result) {
  const PixelPartials pixels(result);
  func::FuncOp kernel = appendKernel(
      module, result, "_parts",
      {{"y", pixels.getTensorType()},
       {"workspace", getPartialsType(module.getContext(), pixels.getPartials(),
                                     kNumbers, result.getChannels())}});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, result.loc);
  const PixelPartials::Point point = pixels.begin(p);
  pixels.storePartial(p, kernel.getArgument(1), point,
                      measure(p, pixels, kernel.getArgument(0), point));
  return pixels.getPartials();
}

static void buildCombination(ModuleOp module, const ChannelResult &result,
                             int64_t partials) {
  MLIRContext *context = module.getContext();
  const int64_t channels = result.getChannels();
  auto ofChannels = MemRefType::get(channels, Float32Type::get(context));
  func::FuncOp kernel = appendKernel(
      module, result, "_statistics",
      {{"workspace", getPartialsType(context, partials, kNumbers, channels)},
       {"mean", ofChannels},
       {"variance", ofChannels}});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, result.loc);
  PartialsCombination combination(
      p, kernel.getArgument(0), [&](ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
        return combine(p, lhs, rhs);
      });
  const PointBuilder::Values total = combination.build();
  Value variance = multiply(p, total[2], invert(p, total[0]));
  Value to = combination.getChannel();
  p.storeBlock(total[1], kernel.getArgument(1), 0, to);
  p.storeBlock(variance, kernel.getArgument(2), 0, to);
}

void tessera::buildStatistics(ModuleOp module, const ChannelResult &result) {
  int64_t partials = 0;
  if (std::optional<FusedPartials> fused =
          fusePartials(module, result, kNumbers)) {
    fused->store.getStatisticsMutable().assign(fused->workspace);
    partials = fused->partials;
  } else {
    partials = buildPartials(module, result);
  }
  buildCombination(module, result, partials);
}
