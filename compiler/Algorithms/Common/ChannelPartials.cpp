//===- ChannelPartials.cpp - Numbers of channels, in partials
//-------------------===//

#include "compiler/Algorithms/Common/ChannelPartials.h"
#include "dialect/IR/StatisticsParts.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

int64_t ChannelResult::getChannels() const {
  return layout == dnn::Layout::NHWC ? tensor.getShape().back()
                                     : tensor.getDimSize(1);
}

//===----------------------------------------------------------------------===//
// Functions and their arguments
//===----------------------------------------------------------------------===//

MemRefType tessera::getPartialsType(MLIRContext *context, int64_t partials,
                                    int64_t numbers, int64_t channels) {
  return MemRefType::get({partials, numbers, channels},
                         Float32Type::get(context));
}

Value tessera::findArgument(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto arg = function.getArgAttrOfType<StringAttr>(i, dnn::kArgAttrName);
    if (arg && arg.getValue() == name)
      return function.getArgument(i);
  }
  return {};
}

void tessera::eraseArguments(ArrayRef<Value> values) {
  auto function =
      cast<func::FuncOp>(Value(values.front()).getParentBlock()->getParentOp());
  llvm::BitVector erased(function.getNumArguments());
  for (Value value : values)
    erased.set(cast<BlockArgument>(value).getArgNumber());
  (void)function.eraseArguments(erased);
}

static DictionaryAttr describe(Builder &b, const ChannelArgument &argument) {
  constexpr int64_t kBytes = 4;
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr(argument.name))};
  if (argument.name == "workspace")
    attributes.push_back(b.getNamedAttr(
        dnn::kBytesAttrName,
        b.getI64IntegerAttr(argument.type.getNumElements() * kBytes)));
  return b.getDictionaryAttr(attributes);
}

Value tessera::addArgument(func::FuncOp function,
                           const ChannelArgument &argument) {
  Builder b(function.getContext());
  const unsigned last = function.getNumArguments();
  (void)function.insertArgument(last, argument.type, describe(b, argument),
                                function.getLoc());
  return function.getArgument(last);
}

func::FuncOp tessera::appendKernel(ModuleOp module, const ChannelResult &result,
                                   StringRef suffix,
                                   ArrayRef<ChannelArgument> arguments) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  for (const ChannelArgument &argument : arguments)
    types.push_back(argument.type);
  auto kernel =
      func::FuncOp::create(b, result.loc, result.kernel + suffix.str(),
                           b.getFunctionType(types, {}));
  kernel->setAttr(dnn::kKernelAttrName, b.getUnitAttr());
  for (auto [i, argument] : llvm::enumerate(arguments))
    kernel.setArgAttrs(i, describe(b, argument));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  func::ReturnOp::create(b, result.loc);
  return kernel;
}

//===----------------------------------------------------------------------===//
// The partials, by a launch of its own
//===----------------------------------------------------------------------===//

PixelPartials::PixelPartials(const ChannelResult &result)
    : result(result), channels(result.getChannels()) {
  constexpr int64_t kWidest = 8, kMostParts = 2048, kFewest = 64,
                    kPoints = 131072;
  MemRefType type = result.tensor;
  const bool isLast = result.layout == dnn::Layout::NHWC;
  isMatrix = isLast && type.getLayout().isIdentity();
  channelDim = isMatrix ? 1 : isLast ? type.getRank() - 1 : 1;
  pixels = type.getNumElements() / channels;
  width = getAccessWidth(getTensorType(), channelDim, kWidest);
  partials = std::clamp(kPoints / (channels / width), kFewest, kMostParts);
  partials = std::min(partials, pixels);
}

MemRefType PixelPartials::getTensorType() const {
  MemRefType type = result.tensor;
  return isMatrix ? MemRefType::get({pixels, channels}, type.getElementType())
                  : type;
}

PixelPartials::Point PixelPartials::begin(PointBuilder &p) const {
  const int64_t blocks = channels / width;
  const bool hasChannelsFast = result.layout == dnn::Layout::NHWC;
  ValueRange at = p.forEachPoint({hasChannelsFast ? partials : blocks,
                                  hasChannelsFast ? blocks : partials},
                                 kThreads);
  return {at[hasChannelsFast ? 0 : 1],
          p.mul(at[hasChannelsFast ? 1 : 0], width)};
}

PointBuilder::Values PixelPartials::locate(PointBuilder &p, Value pixel,
                                           Value channel) const {
  // The sizes of what a pixel's number counts, images first.
  SmallVector<int64_t> sizes(getTensorType().getShape());
  sizes.erase(sizes.begin() + channelDim);
  PointBuilder::Values at(sizes.size());
  for (size_t d = sizes.size() - 1; d > 0; --d) {
    at[d] = p.rem(pixel, sizes[d]);
    pixel = p.div(pixel, sizes[d]);
  }
  at[0] = pixel;
  at.insert(at.begin() + channelDim, channel);
  return at;
}

PointBuilder::Values PixelPartials::loop(
    PointBuilder &p, const Point &point, ValueRange init,
    function_ref<PointBuilder::Values(ArrayRef<Value>, ValueRange)> body)
    const {
  const int64_t rounds =
      llvm::divideCeilSigned(llvm::divideCeilSigned(pixels, partials), kAtOnce);
  return p.loop(rounds, init, [&](Value round, ValueRange carried) {
    SmallVector<Value> several;
    for (int64_t i = 0; i < kAtOnce; ++i) {
      Value step = p.add(p.mul(round, kAtOnce), i);
      several.push_back(p.add(p.mul(step, partials), point.part));
    }
    return body(several, carried);
  });
}

void PixelPartials::storePartial(PointBuilder &p, Value memory,
                                 const Point &point,
                                 ArrayRef<Value> numbers) const {
  for (auto [i, value] : llvm::enumerate(numbers))
    p.storeBlock(value, memory, 2,
                 {point.part, p.index(static_cast<int64_t>(i)), point.channel});
}

//===----------------------------------------------------------------------===//
// The launch that combines partials
//===----------------------------------------------------------------------===//

PartialsCombination::PartialsCombination(PointBuilder &p, Value memory,
                                         Combine combine)
    : p(p), memory(memory), combine(std::move(combine)) {
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  partials = shape[0];
  numbers = shape[1];
  channels = shape[2];
}

/// Zeros past the last part: none.
PointBuilder::Values PartialsCombination::load(Value part) {
  Values values;
  for (int64_t i = 0; i < numbers; ++i)
    values.push_back(p.loadBlock(memory, 2, 1, {part, p.index(i), own}));
  return values;
}

PointBuilder::Values PartialsCombination::addUp(Value row) {
  constexpr int64_t kAtOnce = 8;
  const int64_t rounds =
      llvm::divideCeilSigned(llvm::divideCeilSigned(partials, kRows), kAtOnce);
  const Values none(numbers, p.zero(p.b.getF32Type(), 1));
  return p.loop(rounds, none, [&](Value round, ValueRange carried) {
    Values next(carried);
    SmallVector<Values> loaded;
    for (int64_t i = 0; i < kAtOnce; ++i) {
      Value step = p.add(p.mul(round, kAtOnce), i);
      loaded.push_back(load(p.add(p.mul(step, kRows), row)));
    }
    for (const Values &part : loaded)
      next = combine(next, part);
    return next;
  });
}

void PartialsCombination::put(Value shared, ArrayRef<Value> values, Value row,
                              Value column) {
  for (auto [i, value] : llvm::enumerate(values))
    p.storeShared(value, shared,
                  {p.index(static_cast<int64_t>(i)), row, column});
}

PointBuilder::Values PartialsCombination::get(Value shared, Value row,
                                              Value column) {
  Values values;
  for (int64_t i = 0; i < numbers; ++i)
    values.push_back(p.loadShared(shared, 1, {p.index(i), row, column}));
  return values;
}

/// The first row of threads gets the sum of all. Rows that have nothing left to
/// add go on with what they have, which nobody reads.
PointBuilder::Values PartialsCombination::addRows(Values total, Value row,
                                                  Value column) {
  Value shared = p.makeShared(p.b.getF32Type(), {numbers, kRows, kChannels});
  for (int64_t half = kRows / 2; half > 0; half /= 2) {
    put(shared, total, row, column);
    p.barrier();
    total = combine(total, get(shared, p.rem(p.add(row, half), kRows), column));
    p.barrier();
  }
  return total;
}

PointBuilder::Values PartialsCombination::build() {
  ValueRange at = p.forEachPoint(
      {llvm::divideCeilSigned(channels, kChannels), kRows, kChannels},
      PixelPartials::kThreads);
  own = p.add(p.mul(at[0], kChannels), at[2]);
  Values total = addRows(addUp(at[1]), at[1], at[2]);
  // Other rows store past the last channel, where nothing is.
  Value isFirst = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq,
                                        at[1], p.index(0));
  channel =
      arith::SelectOp::create(p.b, p.loc, isFirst, own, p.index(channels));
  return total;
}

//===----------------------------------------------------------------------===//
// The partials, by the kernel that stores
//===----------------------------------------------------------------------===//

/// The only store of tiles to the result in the module; null if something else
/// writes it.
static dnn::TileStoreOp findStore(ModuleOp module, StringRef name) {
  dnn::TileStoreOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    Value result = findArgument(function, name);
    if (!result || result.use_empty())
      continue;
    if (found || !result.hasOneUse())
      return {};
    auto view = dyn_cast<dnn::ViewOp>(*result.user_begin());
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

std::optional<FusedPartials> tessera::fusePartials(ModuleOp module,
                                                   const ChannelResult &result,
                                                   int64_t numbers) {
  dnn::TileStoreOp store = findStore(module, result.name);
  const int64_t channels = result.getChannels();
  if (!store || result.layout != dnn::Layout::NHWC || !result.hasChannelsLast ||
      !result.tensor.getLayout().isIdentity() ||
      !hasChannelColumns(store, channels))
    return std::nullopt;
  const int64_t partials = dnn::countStatisticsParts(store);
  auto function = store->getParentOfType<func::FuncOp>();
  const ChannelArgument workspace{
      "workspace",
      getPartialsType(module.getContext(), partials, numbers, channels)};
  if (partials == 0 || findArgument(function, workspace.name))
    return std::nullopt;
  return FusedPartials{store, addArgument(function, workspace), partials};
}
