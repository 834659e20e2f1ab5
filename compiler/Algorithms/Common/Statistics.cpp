//===- Statistics.cpp - Launches for a result's statistics ----------------===//

#include "compiler/Algorithms/Common/Statistics.h"
#include "compiler/Algorithms/Common/PointBuilder.h"
#include "dialect/IR/StatisticsParts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

static constexpr int64_t kThreads = 256;

/// The argument of `function` with the name `name`, or null.
static Value findArgument(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto arg = function.getArgAttrOfType<StringAttr>(i, dnn::kArgAttrName);
    if (arg && arg.getValue() == name)
      return function.getArgument(i);
  }
  return {};
}

std::optional<Statistics> tessera::takeStatistics(Operation *primitive) {
  auto op = dyn_cast_or_null<dnn::StatisticsOp>(primitive->getNextNode());
  if (!op)
    return std::nullopt;
  auto conv = cast<dnn::ConvOp>(primitive);
  auto function = op->getParentOfType<func::FuncOp>();
  Statistics statistics{function.getName().str(), op.getLoc(),
                        op.getTensor().getType(), op.getLayout(),
                        conv.getXLayout() == dnn::Layout::NHWC};
  const unsigned arguments[] = {
      cast<BlockArgument>(op.getMean()).getArgNumber(),
      cast<BlockArgument>(op.getVariance()).getArgNumber()};
  op.erase();
  for (unsigned argument : {std::max(arguments[0], arguments[1]),
                            std::min(arguments[0], arguments[1])})
    (void)function.eraseArgument(argument);
  return statistics;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
struct Argument {
  StringRef name;
  MemRefType type;
};

/// What is known of some elements of each channel of a block: how many they
/// are, their mean, the sum of squared differences from it.
struct Part {
  Value count, mean, squares;
};
} // namespace

/// The type of the workspace: three numbers of each channel in each part.
static MemRefType getPartsType(MLIRContext *context, int64_t partials,
                               int64_t channels) {
  return MemRefType::get({partials, 3, channels}, Float32Type::get(context));
}

static int64_t countBytes(MemRefType partials) {
  return partials.getNumElements() * 4;
}

static DictionaryAttr describe(Builder &b, const Argument &argument) {
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr(argument.name))};
  if (argument.name == "workspace")
    attributes.push_back(b.getNamedAttr(
        dnn::kBytesAttrName, b.getI64IntegerAttr(countBytes(argument.type))));
  return b.getDictionaryAttr(attributes);
}

/// A kernel that is launched after all others of the module.
static func::FuncOp appendKernel(ModuleOp module, const Statistics &statistics,
                                 StringRef suffix,
                                 ArrayRef<Argument> arguments) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  for (const Argument &argument : arguments)
    types.push_back(argument.type);
  auto kernel =
      func::FuncOp::create(b, statistics.loc, statistics.kernel + suffix.str(),
                           b.getFunctionType(types, {}));
  kernel->setAttr(dnn::kKernelAttrName, b.getUnitAttr());
  for (auto [i, argument] : llvm::enumerate(arguments))
    kernel.setArgAttrs(i, describe(b, argument));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  func::ReturnOp::create(b, statistics.loc);
  return kernel;
}

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
static Part combine(PointBuilder &p, const Part &lhs, const Part &rhs) {
  Value total = p.addBlocks(lhs.count, rhs.count);
  Value share = multiply(p, rhs.count, invert(p, total));
  Value difference = subtract(p, rhs.mean, lhs.mean);
  Value squared = multiply(p, difference, difference);
  Value between = multiply(p, lhs.count, share);
  return {total, p.mulAdd(difference, share, lhs.mean),
          p.mulAdd(squared, between, p.addBlocks(lhs.squares, rhs.squares))};
}

//===----------------------------------------------------------------------===//
// The partials, by a launch of its own
//===----------------------------------------------------------------------===//

namespace {
/// Sums up the pixels of a tensor: part s has every pixel s + i partials.
class PartsKernel {
public:
  PartsKernel(ModuleOp module, const Statistics &statistics);
  /// Returns how many partials there are.
  int64_t build();

private:
  MemRefType getTensorType() const;
  SmallVector<int64_t> getSpatial() const;
  PointBuilder::Values locate(PointBuilder &p, Value pixel,
                              Value channel) const;
  Part measure(PointBuilder &p, Value tensor, Value part, Value channel);

  ModuleOp module;
  const Statistics &statistics;
  /// Whether pixels are one dimension, and channels the other.
  bool isMatrix;
  int64_t channelDim, channels, pixels;
  int64_t width = 1; ///< Channels of a thread.
  int64_t partials;
};
} // namespace

PartsKernel::PartsKernel(ModuleOp module, const Statistics &statistics)
    : module(module), statistics(statistics) {
  constexpr int64_t kWidest = 8, kMostParts = 2048, kFewest = 64,
                    kPoints = 131072;
  MemRefType type = statistics.tensor;
  isMatrix =
      statistics.layout == dnn::Layout::NHWC && type.getLayout().isIdentity();
  channelDim = statistics.layout == dnn::Layout::NHWC ? type.getRank() - 1 : 1;
  channels = type.getDimSize(channelDim);
  pixels = type.getNumElements() / channels;
  if (isMatrix)
    channelDim = 1;
  width = getAccessWidth(getTensorType(), channelDim, kWidest);
  partials = std::clamp(kPoints / (channels / width), kFewest, kMostParts);
  partials = std::min(partials, pixels);
}

MemRefType PartsKernel::getTensorType() const {
  MemRefType type = statistics.tensor;
  return isMatrix ? MemRefType::get({pixels, channels}, type.getElementType())
                  : type;
}

/// The sizes of what a pixel's number counts, images first.
SmallVector<int64_t> PartsKernel::getSpatial() const {
  SmallVector<int64_t> sizes(getTensorType().getShape());
  sizes.erase(sizes.begin() + channelDim);
  return sizes;
}

PointBuilder::Values PartsKernel::locate(PointBuilder &p, Value pixel,
                                         Value channel) const {
  SmallVector<int64_t> sizes = getSpatial();
  PointBuilder::Values at(sizes.size());
  for (size_t d = sizes.size() - 1; d > 0; --d) {
    at[d] = p.rem(pixel, sizes[d]);
    pixel = p.div(pixel, sizes[d]);
  }
  at[0] = pixel;
  at.insert(at.begin() + channelDim, channel);
  return at;
}

/// Sums of differences from the part's first pixel, and of their squares: that
/// is one of the elements, so the sum of squares is at most as many times what
/// is left of it as there are elements.
Part PartsKernel::measure(PointBuilder &p, Value tensor, Value part,
                          Value channel) {
  constexpr int64_t kAtOnce = 8;
  Type f32 = p.b.getF32Type();
  auto load = [&](Value pixel) {
    return p.convert(
        p.loadBlock(tensor, channelDim, width, locate(p, pixel, channel)), f32);
  };
  Value pivot = load(part);
  Value zero = p.zero(f32, width);
  const int64_t rounds =
      llvm::divideCeilSigned(llvm::divideCeilSigned(pixels, partials), kAtOnce);
  PointBuilder::Values total =
      p.loop(rounds, {zero, zero}, [&](Value round, ValueRange carried) {
        PointBuilder::Values next(carried), blocks, inside;
        for (int64_t i = 0; i < kAtOnce; ++i) {
          Value step = p.add(p.mul(round, kAtOnce), i);
          Value pixel = p.add(p.mul(step, partials), part);
          blocks.push_back(load(pixel));
          inside.push_back(arith::CmpIOp::create(
              p.b, p.loc, arith::CmpIPredicate::ult, pixel, p.index(pixels)));
        }
        for (auto [block, isInside] : llvm::zip_equal(blocks, inside)) {
          Value difference = arith::SelectOp::create(
              p.b, p.loc, isInside, subtract(p, block, pivot), zero);
          next[0] = p.addBlocks(next[0], difference);
          next[1] = p.mulAdd(difference, difference, next[1]);
        }
        return next;
      });
  Value behind =
      arith::SubIOp::create(p.b, p.loc, p.index(pixels + partials - 1), part);
  Value count = toFloat(p, p.div(behind, partials));
  Value share = p.splat(invert(p, count), width);
  Value mean = multiply(p, total[0], share);
  return {p.splat(count, width), p.addBlocks(pivot, mean),
          subtract(p, total[1], multiply(p, total[0], mean))};
}

/// Neighbouring threads have neighbouring channels if these lie together, else
/// neighbouring pixels.
int64_t PartsKernel::build() {
  MLIRContext *context = module.getContext();
  func::FuncOp kernel =
      appendKernel(module, statistics, "_parts",
                   {{"y", getTensorType()},
                    {"workspace", getPartsType(context, partials, channels)}});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, statistics.loc);
  const int64_t blocks = channels / width;
  const bool hasChannelsFast = statistics.layout == dnn::Layout::NHWC;
  ValueRange at = p.forEachPoint({hasChannelsFast ? partials : blocks,
                                  hasChannelsFast ? blocks : partials},
                                 kThreads);
  Value part = at[hasChannelsFast ? 0 : 1];
  Value channel = p.mul(at[hasChannelsFast ? 1 : 0], width);
  const Part total = measure(p, kernel.getArgument(0), part, channel);
  const Value numbers[] = {total.count, total.mean, total.squares};
  for (auto [i, value] : llvm::enumerate(numbers))
    p.storeBlock(value, kernel.getArgument(1), 2,
                 {part, p.index(static_cast<int64_t>(i)), channel});
  return partials;
}

//===----------------------------------------------------------------------===//
// The launch that combines partials
//===----------------------------------------------------------------------===//

namespace {
/// A workgroup has a few channels, which are a sector of memory. Each of its
/// threads combines every 32nd part of one of them, in order, and a tree those
/// of the threads.
class Combination {
public:
  Combination(PointBuilder &p, int64_t partials, int64_t channels)
      : p(p), partials(partials), channels(channels) {}
  void build(ValueRange arguments);

private:
  static constexpr int64_t kChannels = 8, kRows = kThreads / kChannels;

  Part loadPart(Value memory, Value part, Value channel);
  Part addUp(Value memory, Value row, Value channel);
  Part addRows(Part total, Value row, Value column);
  void put(Value shared, const Part &part, Value row, Value column);
  Part get(Value shared, Value row, Value column);

  PointBuilder &p;
  int64_t partials, channels;
};
} // namespace

/// Zeros past the last part: none.
Part Combination::loadPart(Value memory, Value part, Value channel) {
  Value values[3];
  for (auto [i, value] : llvm::enumerate(values))
    value = p.loadBlock(memory, 2, 1,
                        {part, p.index(static_cast<int64_t>(i)), channel});
  return {values[0], values[1], values[2]};
}

Part Combination::addUp(Value memory, Value row, Value channel) {
  constexpr int64_t kAtOnce = 8;
  const int64_t rounds =
      llvm::divideCeilSigned(llvm::divideCeilSigned(partials, kRows), kAtOnce);
  Value zero = p.zero(p.b.getF32Type(), 1);
  PointBuilder::Values total =
      p.loop(rounds, {zero, zero, zero}, [&](Value round, ValueRange carried) {
        Part next{carried[0], carried[1], carried[2]};
        SmallVector<Part> loaded;
        for (int64_t i = 0; i < kAtOnce; ++i) {
          Value step = p.add(p.mul(round, kAtOnce), i);
          loaded.push_back(
              loadPart(memory, p.add(p.mul(step, kRows), row), channel));
        }
        for (const Part &part : loaded)
          next = combine(p, next, part);
        return PointBuilder::Values{next.count, next.mean, next.squares};
      });
  return {total[0], total[1], total[2]};
}

void Combination::put(Value shared, const Part &part, Value row, Value column) {
  const Value numbers[] = {part.count, part.mean, part.squares};
  for (auto [i, value] : llvm::enumerate(numbers))
    p.storeShared(value, shared,
                  {p.index(static_cast<int64_t>(i)), row, column});
}

Part Combination::get(Value shared, Value row, Value column) {
  Value values[3];
  for (auto [i, value] : llvm::enumerate(values))
    value = p.loadShared(shared, 1,
                         {p.index(static_cast<int64_t>(i)), row, column});
  return {values[0], values[1], values[2]};
}

/// The first row of threads gets the sum of all. Rows that have nothing left to
/// add go on with what they have, which nobody reads.
Part Combination::addRows(Part total, Value row, Value column) {
  Value shared = p.makeShared(p.b.getF32Type(), {3, kRows, kChannels});
  for (int64_t half = kRows / 2; half > 0; half /= 2) {
    put(shared, total, row, column);
    p.barrier();
    total =
        combine(p, total, get(shared, p.rem(p.add(row, half), kRows), column));
    p.barrier();
  }
  return total;
}

void Combination::build(ValueRange arguments) {
  ValueRange at = p.forEachPoint(
      {llvm::divideCeilSigned(channels, kChannels), kRows, kChannels},
      kThreads);
  Value channel = p.add(p.mul(at[0], kChannels), at[2]);
  const Part total = addRows(addUp(arguments[0], at[1], channel), at[1], at[2]);
  Value variance = multiply(p, total.squares, invert(p, total.count));
  // Other rows store past the last channel, where nothing is.
  Value isFirst = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq,
                                        at[1], p.index(0));
  Value to =
      arith::SelectOp::create(p.b, p.loc, isFirst, channel, p.index(channels));
  p.storeBlock(total.mean, arguments[1], 0, to);
  p.storeBlock(variance, arguments[2], 0, to);
}

static void buildCombination(ModuleOp module, const Statistics &statistics,
                             int64_t partials, int64_t channels) {
  MLIRContext *context = module.getContext();
  auto result = MemRefType::get(channels, Float32Type::get(context));
  func::FuncOp kernel =
      appendKernel(module, statistics, "_statistics",
                   {{"workspace", getPartsType(context, partials, channels)},
                    {"mean", result},
                    {"variance", result}});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, statistics.loc);
  Combination(p, partials, channels).build(kernel.getArguments());
}

//===----------------------------------------------------------------------===//
// The partials, by the kernel that stores
//===----------------------------------------------------------------------===//

/// The only store of tiles to the result in the module; null if something else
/// writes it.
static dnn::TileStoreOp findStore(ModuleOp module) {
  dnn::TileStoreOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    Value y = findArgument(function, "y");
    if (!y || y.use_empty())
      continue;
    if (found || !y.hasOneUse())
      return {};
    auto view = dyn_cast<dnn::ViewOp>(*y.user_begin());
    if (!view || !view.getResult().hasOneUse())
      return {};
    found = dyn_cast<dnn::TileStoreOp>(*view->user_begin());
    if (!found || found.getView() != view.getResult())
      return {};
  }
  return found;
}

/// Whether columns of the stored view are the channels, and each row a pixel.
static bool hasChannelColumns(dnn::TileStoreOp store, int64_t channels) {
  auto view = store.getView().getDefiningOp<dnn::ViewOp>();
  dnn::CoordsAttr coords = view.getCoords();
  MLIRContext *context = view.getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < coords.getMap().getNumDims(); ++d)
    dims.push_back(d < coords.getFirstDim(1) ? getAffineConstantExpr(0, context)
                                             : getAffineDimExpr(d, context));
  const AffineExpr channel = coords.getMap().getResults().back();
  return coords.getExtent(0) == 1 && coords.getExtent(2) == channels &&
         coords.getSpace(2).size() == 1 &&
         channel.replaceDims(dims) ==
             getAffineDimExpr(coords.getFirstDim(2), context);
}

/// Has the kernel write the partials, if it can; returns how many they are, or
/// 0.
static int64_t fuseParts(ModuleOp module, const Statistics &statistics) {
  dnn::TileStoreOp store = findStore(module);
  const int64_t channels = statistics.tensor.getShape().back();
  if (!store || statistics.layout != dnn::Layout::NHWC ||
      !statistics.hasChannelsLast ||
      !statistics.tensor.getLayout().isIdentity() ||
      !hasChannelColumns(store, channels))
    return 0;
  const int64_t partials = dnn::countStatisticsParts(store);
  if (partials == 0)
    return 0;
  auto function = store->getParentOfType<func::FuncOp>();
  const Argument workspace{
      "workspace", getPartsType(module.getContext(), partials, channels)};
  if (findArgument(function, workspace.name))
    return 0;
  Builder b(module.getContext());
  const unsigned last = function.getNumArguments();
  (void)function.insertArgument(last, workspace.type, describe(b, workspace),
                                statistics.loc);
  store.getStatisticsMutable().assign(function.getArgument(last));
  return partials;
}

void tessera::buildStatistics(ModuleOp module, const Statistics &statistics) {
  MemRefType type = statistics.tensor;
  const int64_t channels = statistics.layout == dnn::Layout::NHWC
                               ? type.getShape().back()
                               : type.getDimSize(1);
  int64_t partials = fuseParts(module, statistics);
  if (partials == 0)
    partials = PartsKernel(module, statistics).build();
  buildCombination(module, statistics, partials, channels);
}
