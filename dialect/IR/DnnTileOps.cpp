//===- DnnTileOps.cpp - Verifiers of the ops of tile programs -------------===//

#include "dialect/IR/Dnn.h"
#include "dialect/IR/EnumWord.h"
#include "dialect/IR/KnobWords.h"
#include "dialect/IR/OpenMemory.h"
#include "dialect/IR/OpenSizes.h"
#include "dialect/IR/TensorMemory.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <numeric>

using namespace mlir;
using namespace tessera::dnn;

LogicalResult ViewOp::verify() {
  CoordsAttr coords = getCoords();
  MemRefType source = cast<MemRefType>(getSource().getType());
  ViewType view = getType();
  if (llvm::is_contained(source.getShape(), 0))
    return emitOpError() << "needs a source with elements, but has " << source;
  if (llvm::count_if(coords.getSizes(), ShapedType::isDynamic) !=
      static_cast<int64_t>(getOpenSizes().size()))
    return emitOpError("needs one value for each size that is unknown");
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  auto isNumber = [](int64_t value) {
    return !ShapedType::isDynamic(value) && value >= 0;
  };
  ArrayAttr memory = getOpenMemory(getSource());
  for (auto [name, sizes] :
       {std::pair(StringRef(kMemoryAttrName), memory),
        std::pair(StringRef(kSizesAttrName), dnn::getOpenSizes(getSource()))})
    if (sizes && !isOpenMemory(sizes, source.getRank()))
      return emitOpError() << "needs an expression of sizes in '" << name
                           << "' for each dimension of " << source
                           << ", but has " << sizes;
  if (failed(source.getStridesAndOffset(strides, offset)) ||
      !isNumber(offset) ||
      ((!memory || source.hasStaticShape()) &&
       !llvm::all_of(getKnownStrides(source), isNumber)))
    return emitOpError() << "needs a source of static strides and a static "
                            "offset, none of them negative, or a packed one, "
                            "but has "
                         << source;
  if (coords.getMap().getNumResults() != source.getRank())
    return emitOpError() << "has coordinates of rank "
                         << coords.getMap().getNumResults()
                         << ", but its source is " << source;
  if (view.getElementType() != source.getElementType())
    return emitOpError() << "needs the element type of its source, "
                         << source.getElementType() << ", but has "
                         << view.getElementType();
  int64_t shape[] = {coords.getExtent(0), coords.getExtent(1),
                     coords.getExtent(2)};
  if (view.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "needs "
                         << ViewType::get(getContext(), shape,
                                          view.getElementType())
                         << " for its coordinates, but has " << view;
  return success();
}

LogicalResult ForEachTileOp::verify() {
  auto arePositive = [](ArrayRef<int64_t> values) {
    return llvm::all_of(values, [](int64_t value) { return value > 0; });
  };
  SmallVector<int64_t> known(getCounts());
  if (known.size() == 3 && ShapedType::isDynamic(known[1]))
    known[1] = 1;
  if (known.size() != 3 || !arePositive(known))
    return emitOpError("needs three positive counts (groups, m, n), of which "
                       "that along m may be unknown");
  if (getTile().size() != 2 || !arePositive(getTile()))
    return emitOpError("needs two positive tile sizes (m, n)");
  if (getPersistent() && *getPersistent() < 1)
    return emitOpError("needs at least one persistent workgroup");
  if (getRun() &&
      (*getRun() < 2 || (!ShapedType::isDynamic(getCounts()[1]) &&
                         known[1] % static_cast<int64_t>(*getRun()) != 0)))
    return emitOpError() << "needs runs of at least 2 tiles that divide "
                         << known[1] << " along m, but has " << *getRun();
  if (getRun() && getPersistent())
    return emitOpError("needs persistent workgroups or runs, but has both");
  if (getBody().getNumArguments() != 3 ||
      !llvm::all_of(getBody().getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("needs three index arguments (group, m, n)");
  return success();
}

/// Verifies that the compute region takes what the load region yields.
static LogicalResult verifyStages(PipelineOp op) {
  Block &load = op.getLoad().front();
  Block &compute = op.getCompute().front();
  if (load.getNumArguments() != 1 || !load.getArgument(0).getType().isIndex())
    return op.emitOpError("needs a load region of one index argument, the "
                          "position in the reduction");
  SmallVector<Type> expected(load.getTerminator()->getOperandTypes());
  expected.push_back(op.getType());
  if (expected.size() < 2)
    return op.emitOpError("needs a load region that yields tiles");
  if (compute.getArgumentTypes() != TypeRange(expected))
    return op.emitOpError("needs a compute region that takes the loaded tiles "
                          "and the accumulator");
  if (compute.getTerminator()->getOperandTypes() != TypeRange(op.getType()))
    return op.emitOpError("needs a compute region that yields the accumulator");
  return success();
}

static LogicalResult verifyPlanKnobs(PipelineOp op) {
  const KnobTakers takers = op.getCopy() == CopyKind::Tma ? KnobTakers::Tma
                            : op.getCopy() == CopyKind::CpAsync
                                ? KnobTakers::None
                                : KnobTakers::Waves;
  return verifyKnobs(*op.getKnobs(), takers, [&] { return op.emitOpError(); });
}

LogicalResult PipelineOp::verify() {
  if (getReduce().empty() || llvm::any_of(getReduce(), [](int64_t size) {
        return size < 1 && !ShapedType::isDynamic(size);
      }))
    return emitOpError("needs reduction dimensions of at least 1");
  if (getStep() < 1 || getBuffers() < 1)
    return emitOpError("needs a step and a number of buffers of at least 1");
  if (getSplits() && static_cast<int64_t>(*getSplits()) < 2)
    return emitOpError("needs at least 2 splits, or none");
  if (getUsed() && !(getSplits() && ShapedType::isDynamicShape(getReduce())))
    return emitOpError("needs splits of a reduction of unknown length to use "
                       "some of them");
  // More workgroups of a cluster are not on every chip that has clusters.
  constexpr uint64_t kMostOfCluster = 8;
  if (getCluster() && (*getCluster() < 2 || *getCluster() > kMostOfCluster ||
                       getCopy() != CopyKind::Tma || getSplits() || getHalo()))
    return emitOpError() << "needs copy tma, no splits and no halo with "
                            "cluster, and 2 to "
                         << kMostOfCluster << " workgroups";
  if (getMulticast() &&
      (getCopy() != CopyKind::Tma || getCluster() || getHalo()))
    return emitOpError("needs copy tma, no cluster and no halo with multicast");
  if ((getCopy() == CopyKind::Tma) != (getSync() == SyncKind::Mbarrier))
    return emitOpError("needs sync mbarrier with copy tma, and only with it");
  if (getHalo() && (*getHalo() < 1 || getCopy() == CopyKind::CpAsync))
    return emitOpError("needs copy tma, direct_to_lds or registers with halo, "
                       "and at least one buffer");
  if (getPromote() &&
      (*getPromote() < 1 || getCopy() != CopyKind::Tma || getHalo()))
    return emitOpError("needs copy tma and no halo with promote, and at least "
                       "one step");
  if (getRoles() &&
      (getRoles()->getProducers() < 1 || getRoles()->getConsumers() < 1))
    return emitOpError("needs at least one producer and one consumer");
  if (getRoles() && getSync() != SyncKind::Mbarrier)
    return emitOpError("needs sync mbarrier when waves have roles");
  if (getKnobs() && failed(verifyPlanKnobs(*this)))
    return failure();
  return verifyStages(*this);
}

LogicalResult TileLoadOp::verify() {
  ArrayRef<int64_t> shape = getType().getShape();
  if (shape.size() != 2)
    return emitOpError() << "needs a tile of two dimensions, but has "
                         << getType();
  if (getType().getElementType() != getView().getType().getElementType())
    return emitOpError() << "needs a tile of the view's element type, but has "
                         << getType();
  return success();
}

LogicalResult TileMmaOp::verify() {
  ArrayRef<int64_t> a = getA().getType().getShape();
  ArrayRef<int64_t> b = getB().getType().getShape();
  ArrayRef<int64_t> acc = getAcc().getType().getShape();
  if (a.size() != 2 || b.size() != 2 || acc.size() != 2)
    return emitOpError("needs tiles of two dimensions");
  if (a[1] != b[1] || acc[0] != a[0] || acc[1] != b[0])
    return emitOpError() << "needs tiles m x k, n x k and m x n, but has "
                         << getA().getType() << ", " << getB().getType()
                         << " and " << getAcc().getType();
  if (getA().getType().getElementType() != getB().getType().getElementType())
    return emitOpError("needs two operands of one element type");
  ArrayRef<int64_t> waves = getWaves();
  if (waves.size() != 2 || waves[0] < 1 || waves[1] < 1 || a[0] % waves[0] ||
      b[0] % waves[1])
    return emitOpError("needs waves that divide the tile along m and n");
  return success();
}

/// The tensors and numbers of a normalisation whose gradient is stored.
static LogicalResult verifyNorm(TileStoreOp store) {
  const size_t tensors = store.getNormTensors().size(),
               numbers = store.getNormNumbers().size();
  const ViewType view = store.getView().getType();
  if (tensors == 0)
    return numbers == 0 ? success()
                        : store.emitOpError("has numbers of a norm without z");
  if (!store.getStatistics() ||
      !((tensors <= 2 && numbers == 1) || (tensors == 1 && numbers == 4)))
    return store.emitOpError("needs statistics, z and the mean, and with them "
                             "a mask, or three numbers of a ReLU, or none");
  for (Value tensor : store.getNormTensors())
    if (tensor.getType() != view)
      return store.emitOpError() << "needs a norm's tensors as " << view
                                 << ", but has " << tensor.getType();
  const auto wanted =
      MemRefType::get(view.getShape()[2], Float32Type::get(store.getContext()));
  for (Value values : store.getNormNumbers())
    if (values.getType() != wanted)
      return store.emitOpError() << "needs a norm's numbers as " << wanted
                                 << ", but has " << values.getType();
  return success();
}

static LogicalResult verifyStatistics(TileStoreOp store) {
  if (failed(verifyNorm(store)))
    return failure();
  if (!store.getStatistics())
    return success();
  ArrayRef<int64_t> view = store.getView().getType().getShape();
  auto partials = cast<MemRefType>(store.getStatistics().getType());
  const int64_t numbers = store.getNormTensors().empty() ? 3 : 2;
  if (partials != MemRefType::get({partials.getDimSize(0), numbers, view[2]},
                                  Float32Type::get(store.getContext())))
    return store.emitOpError()
           << "needs statistics of memref<s x " << numbers << " x " << view[2]
           << " x f32>, but has " << partials;
  if (view[0] != 1 || store.getAtomic())
    return store.emitOpError("has statistics, which are of one group whose "
                             "tiles are stored whole");
  return success();
}

LogicalResult TileStoreOp::verify() {
  if (getValue().getType().getShape().size() != 2)
    return emitOpError("needs a tile of two dimensions");
  for (Value extra : getExtras())
    if (cast<ViewType>(extra.getType()).getShape() !=
        getView().getType().getShape())
      return emitOpError() << "needs views of one shape, but has "
                           << getView().getType() << " and " << extra.getType();
  Type element = getValue().getType().getElementType();
  if (getAtomic() &&
      (!element.isF32() || !getView().getType().getElementType().isF32()))
    return emitOpError() << "adds atomically, which needs f32, but has "
                         << element << " and "
                         << getView().getType().getElementType();
  if (failed(verifyStatistics(*this)))
    return failure();
  if (getAtomic() && !getEpilogue().empty())
    return emitOpError("adds atomically, which leaves no epilogue");
  if (getEpilogue().empty()) {
    if (!getExtras().empty())
      return emitOpError("has further tensors, but no epilogue to use them");
    return success();
  }
  Block &body = getEpilogue().front();
  // Sums of bytes are converted to f32 before.
  if (element.isInteger())
    element = Float32Type::get(getContext());
  SmallVector<Type> expected = {element};
  Type extra = element.isF64() ? element : Float32Type::get(getContext());
  expected.append(getExtras().size(), extra);
  if (!getEpilogue().hasOneBlock() ||
      body.getArgumentTypes() != TypeRange(expected) ||
      !body.mightHaveTerminator() ||
      body.getTerminator()->getOperandTypes() != TypeRange(element))
    return emitOpError() << "needs an epilogue from one " << element << " and "
                         << getExtras().size() << " " << extra << " to one "
                         << element;
  return success();
}

#define GET_OP_CLASSES
#include "dialect/IR/DnnTileOps.cpp.inc"
