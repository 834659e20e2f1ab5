//===- LowerPoints.cpp - Turn point programs into GPU functions -----------===//
//
// Most of a point program is already what a thread executes. What is left is
// to find the thread's point, and to turn loads and stores into instructions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Common/LaunchOrder.h"
#include "compiler/Conversion/Common/PointMemory.h"
#include "compiler/Conversion/Common/SizeArguments.h"
#include "compiler/Conversion/Hopper/PointBoxes.h"
#include "compiler/Conversion/Nvidia/PointClusters.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"
#include "compiler/Conversion/Passes.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

namespace tessera {
#define GEN_PASS_DEF_LOWERPOINTS
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// Of shared memory. Vectors are moved as one, which not every vendor's linker
/// knows to align.
static constexpr int64_t kAlignment = 16;

namespace {
/// How the dimensions of a point space are shared out.
struct Partition {
  unsigned loops = 0;  ///< The first ones: every thread walks them.
  unsigned blocks = 0; ///< Up to here: the same for a whole workgroup.
  int64_t points = 0;  ///< Of one turn of the loops; 0 if sizes are unknown.
  int64_t workgroups = 0;
  // The same where sizes are unknown.
  SizeExpr openPoints, openWorkgroups;
};

/// Lowers one kernel function.
class PointLowering {
public:
  PointLowering(func::FuncOp function, dnn::ForEachPointOp points,
                const DeviceOps &device)
      : function(function), points(points), device(device), sizes(function) {}

  LogicalResult run();

private:
  LogicalResult checkFunction();
  LogicalResult readSizes();
  void makePartition();
  void makeOpenPartition();
  void keepRegisters();
  void moveBody();
  void emitCoordinates(Emitter &e);
  void setCoordinate(Emitter &e, unsigned dim, Value value, bool isUniform);
  void emitLoops(Emitter &e);
  bool walksBothWays();
  Value emitBlock(Emitter &e);
  bool hasWholeWorkgroups();
  LogicalResult checkShared();
  SmallVector<memref::AllocaOp> getShared();
  bool isLarge();
  void lowerLargeShared(Emitter &e);
  void lowerShared(Emitter &e);
  bool isAligned(BlockArgument argument);
  /// Tensor maps are in front of what the function takes.
  BlockArgument getKernelArgument(BlockArgument argument) {
    return kernel.getArgument(boxes.getMaps().size() + argument.getArgNumber());
  }
  bool mayBeginEarly();
  void lowerAccesses(Emitter &e);

  func::FuncOp function;
  dnn::ForEachPointOp points;
  const DeviceOps &device;
  SizeArguments sizes;
  SmallVector<SizeExpr> pointSizes;
  Partition partition;
  int64_t cluster = 1; ///< Workgroups of one.
  PointBoxes boxes;
  gpu::GPUFuncOp kernel;
  SmallVector<Value> coordinates;
  KnownRanges known;
};
} // namespace

//===----------------------------------------------------------------------===//
// Is it a point program
//===----------------------------------------------------------------------===//

LogicalResult PointLowering::checkFunction() {
  if (function.getNumResults() != 0)
    return function.emitOpError("returns a value, but a kernel cannot");
  for (Type type : function.getArgumentTypes())
    if (!isa<MemRefType>(type) && !type.isF32() && !type.isF64())
      return function.emitOpError() << "takes " << type
                                    << ", but a kernel takes memrefs and f32 "
                                       "or f64 scalars";
  Block &body = function.getBody().front();
  if (!function.getBody().hasOneBlock() ||
      !llvm::hasSingleElement(body.getOps<dnn::ForEachPointOp>()) ||
      points->getNextNode() != body.getTerminator())
    return function.emitOpError(
        "needs one dnn.for_each_point, before its return");
  auto isArgument = [&](Value memory) {
    auto argument = dyn_cast<BlockArgument>(memory);
    return argument && argument.getOwner() == &body;
  };
  WalkResult result = function.walk([&](Operation *op) {
    auto load = dyn_cast<dnn::PointLoadOp>(op);
    auto store = dyn_cast<dnn::PointStoreOp>(op);
    if ((load && !isArgument(load.getSource())) ||
        (store && !isArgument(store.getTarget()))) {
      op->emitOpError("needs an argument of the kernel function");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult PointLowering::readSizes() {
  if (failed(sizes.check()))
    return failure();
  auto open = points.getOpenSizes().begin();
  for (int64_t size : points.getSizes()) {
    if (!ShapedType::isDynamic(size)) {
      pointSizes.emplace_back(size);
      continue;
    }
    const std::optional<SizeExpr> known = sizes.getExpr(*open++);
    if (!known)
      return points.emitOpError("needs sizes that are made of constants and of "
                                "sizes of the kernel's tensors");
    pointSizes.push_back(*known);
  }
  return success();
}

/// The runtime refuses sizes with too many points, so that nothing is walked.
void PointLowering::makeOpenPartition() {
  ArrayRef<int64_t> all = points.getSizes();
  auto threads = static_cast<int64_t>(points.getThreads());
  partition.openPoints = 1;
  for (const SizeExpr &size : pointSizes)
    partition.openPoints = partition.openPoints * size;
  partition.openWorkgroups = ceilDiv(partition.openPoints, threads);
  const auto open = llvm::find_if(llvm::reverse(all), ShapedType::isDynamic);
  const auto firstKnown = static_cast<unsigned>(open.base() - all.begin());
  for (unsigned dim = firstKnown; dim <= all.size(); ++dim)
    if (getProduct(all.drop_front(dim)) % threads == 0)
      partition.blocks = dim;
}

/// HIP counts work-items in 32 bits. Dimensions from the first on are walked
/// until the others have few enough points.
void PointLowering::makePartition() {
  if (!points.hasKnownSizes())
    return makeOpenPartition();
  constexpr int64_t kMaxPoints = int64_t(1) << 31;
  ArrayRef<int64_t> sizes = points.getSizes();
  auto threads = static_cast<int64_t>(points.getThreads());
  // Sizes have 30 bits each, so that a product of two is never too large.
  auto isTooLarge = [&](ArrayRef<int64_t> rest) {
    int64_t product = 1;
    for (int64_t size : rest)
      if ((product *= size) > kMaxPoints)
        return true;
    return false;
  };
  while (isTooLarge(sizes.drop_front(partition.loops)))
    ++partition.loops;
  partition.points = getProduct(sizes.drop_front(partition.loops));
  partition.workgroups = llvm::divideCeilSigned(partition.points, threads);
  partition.blocks = partition.loops;
  for (unsigned dim = partition.loops; dim <= sizes.size(); ++dim)
    if (getProduct(sizes.drop_front(dim)) % threads == 0)
      partition.blocks = dim;
}

/// Whether a bound is the same for all threads: made of constants and of sizes
/// of tensors.
static bool isForAll(Value bound) {
  Operation *op = bound.getDefiningOp();
  if (isa_and_present<arith::ConstantOp, memref::DimOp>(op))
    return true;
  return isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                         arith::DivUIOp, arith::CeilDivUIOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [](Value operand) { return isForAll(operand); });
}

/// Whether all threads run `op` in the points' body, as often: loops around it
/// have the same bounds for all.
static bool isForAll(Operation *op, dnn::ForEachPointOp points) {
  for (Operation *parent = op->getParentOp(); parent != points;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || !isForAll(loop.getLowerBound()) ||
        !isForAll(loop.getUpperBound()) || !isForAll(loop.getStep()))
      return false;
  }
  return true;
}

/// Whether the points of every workgroup, but for loops, are as many as its
/// threads.
bool PointLowering::hasWholeWorkgroups() {
  if (!points.hasKnownSizes())
    return partition.blocks > 0;
  return partition.points % static_cast<int64_t>(points.getThreads()) == 0;
}

/// A barrier is for whole workgroups that all come to it; and what is shared
/// does not outlive the op.
LogicalResult PointLowering::checkShared() {
  bool isWhole = partition.loops == 0 && hasWholeWorkgroups();
  WalkResult result = points.walk([&](Operation *op) {
    if (!isBarrier(op) || (isWhole && isForAll(op, points)))
      return WalkResult::advance();
    op->emitOpError("needs whole workgroups, and to be in no branch, nor "
                    "in a loop whose bounds are not made of constants and "
                    "of sizes");
    return WalkResult::interrupt();
  });
  for (memref::AllocaOp shared : getShared()) {
    auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(
        shared.getType().getMemorySpace());
    if (space && space.getValue() == gpu::AddressSpace::Workgroup &&
        shared.getType().hasStaticShape())
      continue;
    shared.emitOpError("needs a size, and to be in a workgroup's memory");
    return failure();
  }
  return failure(result.wasInterrupted());
}

SmallVector<memref::AllocaOp> PointLowering::getShared() {
  return llvm::to_vector(points.getBody().front().getOps<memref::AllocaOp>());
}

static int64_t countBytes(MemRefType type) {
  return type.getNumElements() * getByteSize(type.getElementType());
}

//===----------------------------------------------------------------------===//
// The point
//===----------------------------------------------------------------------===//

void PointLowering::setCoordinate(Emitter &e, unsigned dim, Value value,
                                  bool isUniform) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2;
  coordinates[dim] = e.toIndex(value);
  known[coordinates[dim]] = {0, pointSizes[dim].getNumber().value_or(kMost) - 1,
                             isUniform};
}

/// Whether a launch may begin with the last workgroup: where a tensor is so
/// large that L2 does not hold it, no other launch of the call reads or writes
/// the workspace, and the scalars are none of an operation's.
bool PointLowering::walksBothWays() {
  if (!device.getTarget().hasTma || !points.hasKnownSizes() ||
      partition.loops > 0 || cluster > 1)
    return false;
  bool isLarge = false;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      dnn::kArgAttrName);
    const std::optional<KernelArg> tensor =
        parseKernelArg(name ? name.getValue() : "");
    if (!type || !tensor || isRowTensor(*tensor) ||
        *tensor == KernelArg::Workspace)
      return false;
    isLarge |= type.hasStaticShape() && countBytes(type) >= kLargeTensorBytes;
  }
  return isLarge;
}

/// The workgroup's number, in the order that the launch asks for.
Value PointLowering::emitBlock(Emitter &e) {
  if (!points.hasKnownSizes())
    return device.emitBlockId(e);
  Value block = device.emitBlockId(e, partition.workgroups);
  return walksBothWays()
             ? emitLaunchOrder(e, kernel, block, partition.workgroups)
             : block;
}

/// The coordinates of this thread, but those of the loops. The block's part of
/// them is scalar arithmetic.
void PointLowering::emitCoordinates(Emitter &e) {
  ArrayRef<int64_t> all = points.getSizes();
  auto threads = static_cast<int64_t>(points.getThreads());
  coordinates.resize(all.size());
  auto split = [&](Value position, unsigned first, unsigned end,
                   bool isUniform) {
    for (unsigned dim = end; dim-- > first;) {
      bool isOutermost = dim == first;
      setCoordinate(e, dim,
                    isOutermost
                        ? position
                        : sizes.emitRemainder(e, position, pointSizes[dim]),
                    isUniform);
      if (!isOutermost)
        position = sizes.emitQuotient(e, position, pointSizes[dim]);
    }
  };
  Value thread = device.emitThreadId(e, threads);
  Value block = emitBlock(e);
  if (partition.blocks > partition.loops) {
    int64_t rest = getProduct(all.drop_front(partition.blocks)) / threads;
    split(e.divu(block, rest), partition.loops, partition.blocks,
          /*isUniform=*/true);
    block = e.remu(block, rest);
  }
  split(e.add(e.mul(block, threads), thread), partition.blocks, all.size(),
        /*isUniform=*/false);
}

/// Leaves the builder where the body goes: behind the check that this thread
/// has a point, and inside the loops over the dimensions that threads walk.
void PointLowering::emitLoops(Emitter &e) {
  auto threads = static_cast<int64_t>(points.getThreads());
  if (!hasWholeWorkgroups()) {
    Value block = emitBlock(e);
    Value thread = device.emitThreadId(e);
    Value count = points.hasKnownSizes() ? e.constant(partition.points)
                                         : sizes.emit(e, partition.openPoints);
    Value isPoint = e.ult(e.add(e.mul(block, threads), thread), count);
    auto branch = scf::IfOp::create(e.b, e.loc, isPoint, false);
    e.b.setInsertionPoint(branch.thenYield());
  }
  for (unsigned dim = 0; dim < partition.loops; ++dim) {
    auto loop = scf::ForOp::create(e.b, e.loc, e.indexConstant(0),
                                   e.indexConstant(points.getSizes()[dim]),
                                   e.indexConstant(1));
    coordinates[dim] = loop.getInductionVar();
    e.b.setInsertionPoint(loop.getBody()->getTerminator());
  }
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// Moves the function's ops into the kernel, the point's into its place.
void PointLowering::moveBody() {
  Block &entry = kernel.getBody().front();
  Block &shared = function.getBody().front();
  OpBuilder b = OpBuilder::atBlockEnd(&entry);
  Emitter e(b, function.getLoc(), &entry, device);
  entry.getOperations().splice(entry.end(), shared.getOperations(),
                               shared.begin(), points->getIterator());
  b.setInsertionPointToEnd(&entry);
  emitCoordinates(e);
  gpu::ReturnOp::create(b, e.loc);
  b.setInsertionPoint(entry.getTerminator());
  emitLoops(e);
  Block &body = points.getBody().front();
  for (auto [argument, coordinate] :
       llvm::zip(body.getArguments(), coordinates))
    argument.replaceAllUsesWith(coordinate);
  b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(),
                                                body.getOperations());
  if (!sizes.areUnknown())
    return;
  points.getOpenSizesMutable().clear(); // They are about to be erased.
  sizes.replaceSizes(e, known);
}

/// Whether a launch has to ask for the shared memory, which then is as aligned
/// as boxes want it.
bool PointLowering::isLarge() {
  if (!boxes.isEmpty())
    return true;
  int64_t bytes = 0;
  for (memref::AllocaOp shared : getShared())
    bytes += countBytes(shared.getType());
  return device.getTarget().vendor == Vendor::Nvidia &&
         bytes > device.getTarget().ldsBytes;
}

/// The bytes from the begin of `memory` to the next multiple of
/// kSharedAlignment.
static Value emitRounding(Emitter &e, Value memory) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(e.b, e.loc, memory);
  Value negative = arith::SubIOp::create(
      e.b, e.loc, arith::ConstantIndexOp::create(e.b, e.loc, 0), address);
  return arith::AndIOp::create(
      e.b, e.loc, negative,
      arith::ConstantIndexOp::create(e.b, e.loc, kSharedAlignment - 1));
}

/// Gives the body its buffers, one behind the other, in memory that the launch
/// asks for.
void PointLowering::lowerLargeShared(Emitter &e) {
  auto space = gpu::AddressSpaceAttr::get(e.b.getContext(),
                                          gpu::AddressSpace::Workgroup);
  Value memory = gpu::DynamicSharedMemoryOp::create(
      e.b, e.loc,
      MemRefType::get({ShapedType::kDynamic}, e.b.getI8Type(),
                      MemRefLayoutAttrInterface(), space));
  const bool isRounded = !boxes.isEmpty();
  Value begin = isRounded ? emitRounding(e, memory) : Value();
  int64_t bytes = 0;
  for (auto shared : llvm::to_vector(kernel.getOps<memref::AllocaOp>())) {
    bytes = llvm::alignTo(bytes, boxes.isBuffer(shared) ? kSharedAlignment
                                                        : kAlignment);
    Value place = arith::ConstantIndexOp::create(e.b, e.loc, bytes);
    if (begin)
      place = arith::AddIOp::create(e.b, e.loc, begin, place);
    boxes.replace(shared, memref::ViewOp::create(e.b, e.loc, shared.getType(),
                                                 memory, place, ValueRange()));
    bytes += llvm::alignTo(countBytes(shared.getType()), kAlignment);
    shared.erase();
  }
  kernel->setAttr(
      dnn::kSharedBytesAttrName,
      e.b.getI64IntegerAttr(bytes + (isRounded ? kSharedAlignment : 0)));
}

/// Gives the body the kernel's LDS buffers, and the chip's barrier.
void PointLowering::lowerShared(Emitter &e) {
  auto shared = llvm::to_vector(kernel.getOps<memref::AllocaOp>());
  for (auto [buffer, memory] :
       llvm::zip(kernel.getWorkgroupAttributions(), shared)) {
    boxes.replace(memory, buffer);
    memory.erase();
  }
  OpBuilder::InsertionGuard guard(e.b);
  kernel.walk([&](gpu::BarrierOp barrier) {
    e.b.setInsertionPoint(barrier);
    device.emitLdsBarrier(e);
    barrier.erase();
  });
}

/// A workspace is aligned even where tensors begin anywhere.
bool PointLowering::isAligned(BlockArgument argument) {
  return function.getArgAttr(argument.getArgNumber(), dnn::kBytesAttrName) ||
         !function->getParentOfType<ModuleOp>()->hasAttr(
             dnn::kUnalignedAttrName);
}

/// Whether the kernel in front may still write when this one begins
/// (dnn-chain-launches): nothing that is loaded is constant then. The first of
/// a call begins early if it is short and leaves multiprocessors free.
bool PointLowering::mayBeginEarly() {
  const GpuTarget &target = device.getTarget();
  if (!target.hasDependentLaunches)
    return false;
  const std::optional<ArrayRef<int32_t>> grid = kernel.getKnownGridSize();
  return kernel->getPrevNode() ||
         (function->hasAttr(dnn::kBeginsEarlyAttrName) && grid &&
          grid->front() < int64_t(target.computeUnits));
}

/// Replaces the accesses, whose memory is still an argument of the function.
void PointLowering::lowerAccesses(Emitter &e) {
  const bool isEarly = mayBeginEarly();
  SmallPtrSet<Value, 4> stored;
  kernel.walk(
      [&](dnn::PointStoreOp store) { stored.insert(store.getTarget()); });
  llvm::DenseMap<Value, PointMemory> memories;
  for (BlockArgument argument : function.getArguments())
    if (isa<MemRefType>(argument.getType()))
      memories.try_emplace(argument, e, argument, getKernelArgument(argument),
                           sizes, !isEarly && !stored.contains(argument),
                           isEarly, isAligned(argument));
  kernel.walk([&](Operation *op) {
    e.b.setInsertionPoint(op);
    if (auto load = dyn_cast<dnn::PointLoadOp>(op))
      memories.find(load.getSource())->second.lower(e, load, known);
    else if (auto store = dyn_cast<dnn::PointStoreOp>(op))
      memories.find(store.getTarget())->second.lower(e, store, known);
    else if (auto product = dyn_cast<nvgpu::MmaSyncOp>(op))
      lowerProduct(e, product);
    else
      boxes.lower(e, op);
  });
  for (BlockArgument argument : function.getArguments()) {
    BlockArgument own = getKernelArgument(argument);
    if (auto memory = memories.find(argument); memory != memories.end())
      kernel.setArgAttr(own.getArgNumber(), dnn::kAlignmentAttrName,
                        e.b.getI64IntegerAttr(memory->second.getAlignment()));
    else
      argument.replaceAllUsesWith(own);
  }
}

/// Where a workgroup shares memory, ptxas would spill to have more of them at
/// once: seen for sm_100, sm_103 and sm_110, not for sm_90, whose kernels were
/// timed as it makes them.
void PointLowering::keepRegisters() {
  const GpuTarget &target = device.getTarget();
  if (auto resident =
          points->getAttrOfType<IntegerAttr>(dnn::kResidentAttrName);
      resident && target.vendor == Vendor::Nvidia)
    return kernel->setAttr(
        "nvvm.minctasm",
        Builder(kernel.getContext()).getI32IntegerAttr(resident.getInt()));
  if (getShared().empty() || target.vendor != Vendor::Nvidia || target.hasWgmma)
    return;
  kernel->setAttr("nvvm.minctasm",
                  Builder(kernel.getContext()).getI32IntegerAttr(1));
}

LogicalResult PointLowering::run() {
  if (failed(checkFunction()) || failed(readSizes()))
    return failure();
  makePartition();
  if (failed(checkShared()))
    return failure();
  FailureOr<PointBoxes> found =
      PointBoxes::match(function, points, device.getTarget());
  if (failed(found))
    return failure();
  boxes = std::move(*found);
  const FailureOr<int64_t> size =
      findCluster(points, device.getTarget(), partition.workgroups);
  if (failed(size))
    return failure();
  cluster = *size;
  SmallVector<Type> lds;
  const bool isLargeShared = isLarge();
  if (!isLargeShared)
    for (memref::AllocaOp shared : getShared())
      lds.push_back(shared.getType());
  kernel = createKernel(function, lds, points.getThreads(),
                        partition.workgroups, boxes.getMaps());
  sizes.setKernel(kernel);
  Builder attributes(kernel.getContext());
  if (!points.hasKnownSizes())
    kernel->setAttr(
        dnn::kWorkgroupsAttrName,
        attributes.getStringAttr(partition.openWorkgroups.toText()));
  for (unsigned i = 0; i < lds.size(); ++i)
    kernel.setWorkgroupAttributionAttr(
        i, attributes.getStringAttr(LLVM::LLVMDialect::getAlignAttrName()),
        attributes.getI64IntegerAttr(kAlignment));
  keepRegisters();
  moveBody();
  Block &entry = kernel.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  Emitter e(b, function.getLoc(), &entry, device);
  if (isLargeShared)
    lowerLargeShared(e);
  lowerCluster(e, kernel, cluster);
  lowerShared(e);
  if (!boxes.isEmpty())
    boxes.emitFrame(e, kernel);
  lowerAccesses(e);
  function.erase();
  return success();
}

namespace {
struct LowerPoints : tessera::impl::LowerPointsBase<LowerPoints> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerDeviceDialects(registry);
  }

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    std::unique_ptr<DeviceOps> device = createDeviceOps(*target);
    gpu::GPUModuleOp kernels = getKernelModule(getOperation());
    for (auto function :
         llvm::make_early_inc_range(kernels.getOps<func::FuncOp>())) {
      if (function.isDeclaration())
        continue;
      auto points = function.getBody().front().getOps<dnn::ForEachPointOp>();
      if (!points.empty() &&
          failed(PointLowering(function, *points.begin(), *device).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
