//===- NormGradient.cpp - Launches for a norm's gradient ------------------===//

#include "compiler/Algorithms/Common/NormGradient.h"
#include "runtime/Base/KernelArg.h"

#include <map>

using namespace mlir;
using namespace tessera;

/// Of a part: the sum of g, and of g (z - mean).
static constexpr int64_t kNumbers = 2;

std::optional<NormGradientRequest>
tessera::takeNormGradient(Operation *primitive) {
  auto op = dyn_cast_or_null<dnn::NormGradientOp>(primitive->getNextNode());
  if (!op)
    return std::nullopt;
  auto conv = cast<dnn::ConvOp>(primitive);
  const NormGradientRequest request{
      {op->getParentOfType<func::FuncOp>().getName().str(), op.getLoc(), "x",
       op.getGradient().getType(), op.getLayout(),
       conv.getYLayout() == dnn::Layout::NHWC},
      op.getScale() != nullptr,
      op.getMask() != nullptr};
  SmallVector<Value> arguments(op->getOperands().drop_front());
  op.erase();
  eraseArguments(arguments);
  return request;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The tensors as large as g, then the numbers of channels, that are read:
/// in the order of dnn.tile_store.
static SmallVector<KernelArg> getTensors(const NormGradientRequest &request) {
  SmallVector<KernelArg> args = {norm_gradient::kInput};
  if (request.hasMask)
    args.push_back(norm_gradient::kMask);
  return args;
}
static SmallVector<KernelArg> getNumbers(const NormGradientRequest &request) {
  SmallVector<KernelArg> args = {norm_gradient::kMean};
  if (request.hasRelu)
    args.append(
        {norm_gradient::kInverse, norm_gradient::kScale, norm_gradient::kBias});
  return args;
}

static MemRefType getNumbersType(const ChannelResult &result) {
  return MemRefType::get(result.getChannels(),
                         Float32Type::get(result.tensor.getContext()));
}

//===----------------------------------------------------------------------===//
// The partials, by a launch of its own
//===----------------------------------------------------------------------===//

namespace {
/// Reads g and what a partial needs, and stores zeros in g.
class SumsKernel {
public:
  SumsKernel(ModuleOp module, const NormGradientRequest &request)
      : module(module), request(request), pixels(request.result) {}
  /// Returns how many partials there are.
  int64_t build();

private:
  Value load(PointBuilder &p, KernelArg tensor, Value pixel);
  Value loadNumber(PointBuilder &p, KernelArg number);
  Value clear(PointBuilder &p, Value gradient, Value centred, Value pixel);
  PointBuilder::Values addUp(PointBuilder &p);

  ModuleOp module;
  const NormGradientRequest &request;
  PixelPartials pixels;
  PixelPartials::Point point;
  std::map<KernelArg, Value> arguments;
  std::map<KernelArg, Value> numbers; ///< Blocks of channels.
};
} // namespace

Value SumsKernel::load(PointBuilder &p, KernelArg tensor, Value pixel) {
  Value block =
      p.loadBlock(arguments.at(tensor), pixels.getChannelDim(),
                  pixels.getWidth(), pixels.locate(p, pixel, point.channel));
  return p.convert(block, p.b.getF32Type());
}

Value SumsKernel::loadNumber(PointBuilder &p, KernelArg number) {
  return p.loadBlock(arguments.at(number), 0, pixels.getWidth(), point.channel);
}

/// g, with zeros where the activation had none of the normalised value. Stores
/// that; past the last pixel nothing.
Value SumsKernel::clear(PointBuilder &p, Value gradient, Value centred,
                        Value pixel) {
  if (!request.hasRelu && !request.hasMask)
    return gradient;
  Value zero = p.zero(p.b.getF32Type(), pixels.getWidth());
  Value activated;
  if (request.hasMask) {
    activated = load(p, norm_gradient::kMask, pixel);
  } else {
    Value normalized = arith::MulFOp::create(
        p.b, p.loc, centred, numbers.at(norm_gradient::kInverse));
    activated = p.mulAdd(normalized, numbers.at(norm_gradient::kScale),
                         numbers.at(norm_gradient::kBias));
  }
  Value isPositive = arith::CmpFOp::create(
      p.b, p.loc, arith::CmpFPredicate::OGT, activated, zero);
  Value cleared =
      arith::SelectOp::create(p.b, p.loc, isPositive, gradient, zero);
  p.storeBlock(p.convert(cleared, request.result.tensor.getElementType()),
               arguments.at(KernelArg::X), pixels.getChannelDim(),
               pixels.locate(p, pixel, point.channel));
  return cleared;
}

/// Past the last pixel g is zero.
PointBuilder::Values SumsKernel::addUp(PointBuilder &p) {
  Value zero = p.zero(p.b.getF32Type(), pixels.getWidth());
  auto add = [&](ArrayRef<Value> several, ValueRange carried) {
    PointBuilder::Values next(carried), gradients, inputs;
    for (Value pixel : several) {
      gradients.push_back(load(p, KernelArg::X, pixel));
      inputs.push_back(load(p, norm_gradient::kInput, pixel));
    }
    for (auto [pixel, gradient, input] :
         llvm::zip_equal(several, gradients, inputs)) {
      Value centred = arith::SubFOp::create(p.b, p.loc, input,
                                            numbers.at(norm_gradient::kMean));
      Value cleared = clear(p, gradient, centred, pixel);
      next[0] = p.addBlocks(next[0], cleared);
      next[1] = p.mulAdd(cleared, centred, next[1]);
    }
    return next;
  };
  return pixels.loop(p, point, {zero, zero}, add);
}

int64_t SumsKernel::build() {
  const ChannelResult &result = request.result;
  SmallVector<KernelArg> args = {KernelArg::X};
  llvm::append_range(args, getTensors(request));
  SmallVector<ChannelArgument> list;
  for (KernelArg arg : args)
    list.push_back({getName(arg), pixels.getTensorType()});
  for (KernelArg arg : getNumbers(request)) {
    args.push_back(arg);
    list.push_back({getName(arg), getNumbersType(result)});
  }
  args.push_back(KernelArg::Workspace);
  list.push_back(
      {"workspace", getPartialsType(module.getContext(), pixels.getPartials(),
                                    kNumbers, result.getChannels())});
  func::FuncOp kernel = appendKernel(module, result, "_parts", list);
  for (auto [i, arg] : llvm::enumerate(args))
    arguments[arg] = kernel.getArgument(i);
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, result.loc);
  point = pixels.begin(p);
  for (KernelArg arg : getNumbers(request))
    numbers[arg] = loadNumber(p, arg);
  pixels.storePartial(p, arguments.at(KernelArg::Workspace), point, addUp(p));
  return pixels.getPartials();
}

//===----------------------------------------------------------------------===//
// The launch that combines partials
//===----------------------------------------------------------------------===//

static void buildCombination(ModuleOp module, const ChannelResult &result,
                             int64_t partials) {
  MemRefType type = getNumbersType(result);
  func::FuncOp kernel = appendKernel(
      module, result, "_sums",
      {{"workspace", getPartialsType(module.getContext(), partials, kNumbers,
                                     result.getChannels())},
       {getName(norm_gradient::kInverse), type},
       {getName(norm_gradient::kSum), type},
       {getName(norm_gradient::kDot), type}});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, result.loc);
  PartialsCombination combination(
      p, kernel.getArgument(0),
      [&](ArrayRef<Value> lhs, ArrayRef<Value> rhs) -> PointBuilder::Values {
        return {p.addBlocks(lhs[0], rhs[0]), p.addBlocks(lhs[1], rhs[1])};
      });
  const PointBuilder::Values total = combination.build();
  Value inverse =
      p.loadBlock(kernel.getArgument(1), 0, 1, combination.getOwnChannel());
  Value dot = arith::MulFOp::create(p.b, p.loc, total[1], inverse);
  p.storeBlock(total[0], kernel.getArgument(2), 0, combination.getChannel());
  p.storeBlock(dot, kernel.getArgument(3), 0, combination.getChannel());
}

//===----------------------------------------------------------------------===//
// The partials, by the kernel that stores
//===----------------------------------------------------------------------===//

/// Has the kernel write the partials, if it can; returns how many, or 0.
static int64_t fuse(ModuleOp module, const NormGradientRequest &request) {
  const ChannelResult &result = request.result;
  std::optional<FusedPartials> fused = fusePartials(module, result, kNumbers);
  if (!fused)
    return 0;
  dnn::TileStoreOp store = fused->store;
  auto function = store->getParentOfType<func::FuncOp>();
  auto view = store.getView().getDefiningOp<dnn::ViewOp>();
  OpBuilder b(view);
  for (KernelArg arg : getTensors(request)) {
    // It lies as the result does.
    Value tensor = addArgument(
        function, {getName(arg), cast<MemRefType>(view.getSource().getType())});
    auto other = cast<dnn::ViewOp>(b.clone(*view));
    other.getSourceMutable().assign(tensor);
    store.getNormTensorsMutable().append(other.getResult());
  }
  for (KernelArg arg : getNumbers(request))
    store.getNormNumbersMutable().append(
        addArgument(function, {getName(arg), getNumbersType(result)}));
  store.getStatisticsMutable().assign(fused->workspace);
  return fused->partials;
}

void tessera::buildNormGradient(ModuleOp module,
                                const NormGradientRequest &request) {
  int64_t partials = fuse(module, request);
  if (partials == 0)
    partials = SumsKernel(module, request).build();
  buildCombination(module, request.result, partials);
}
