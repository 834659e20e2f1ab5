//===- PointBoxes.cpp - Boxes and matrices of point programs --------------===//

#include "compiler/Conversion/Hopper/PointBoxes.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Common/SizeArguments.h"
#include "compiler/Conversion/Hopper/HopperShape.h"
#include "compiler/Conversion/Hopper/StreamedReads.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"
#include "compiler/Target/ElementType.h"
#include "dialect/IR/PointHints.h"
#include "dialect/IR/TensorMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace tessera;

bool tessera::isBarrier(Operation *op) {
  return isa<gpu::BarrierOp, dnn::BoxStoreOp, dnn::BoxStoreWaitOp>(op);
}

//===----------------------------------------------------------------------===//
// Which tensors and buffers
//===----------------------------------------------------------------------===//

/// A dimension of one element has the stride of the next: keep their order, as
/// that of tensors of unknown sizes, which are packed.
static SmallVector<unsigned> orderDims(MemRefType type) {
  if (!type.hasStaticShape())
    return llvm::to_vector(
        llvm::reverse(llvm::seq<unsigned>(0, type.getRank())));
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)type.getStridesAndOffset(strides, offset);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(strides[a], b) < std::pair(strides[b], a);
  });
  return order;
}

static bool isPlain(Operation *op) {
  auto load = dyn_cast<dnn::BoxLoadOp>(op);
  return load && load.getPlain();
}

template <typename OpT>
LogicalResult PointBoxes::addMap(func::FuncOp function, OpT op) {
  auto argument = dyn_cast<BlockArgument>(op.getTensor());
  if (!argument || argument.getOwner() != &function.getBody().front())
    return op.emitOpError("needs an argument of the kernel function");
  FailureOr<KernelArg> tensor = getMappedTensor(function, argument);
  if (failed(tensor))
    return failure();
  MemRefType type = op.getTensor().getType();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)type.getStridesAndOffset(strides, offset);
  const int64_t bytes = type.getElementTypeBitWidth() / 8;
  TensorMap map;
  map.tensor = *tensor;
  map.offset = offset * bytes;
  map.dataType = *findDataType(type.getElementType());
  Order order = orderDims(type);
  if (isPlain(op))
    map.mode = TensorMap::Mode::Plain;
  map.rank = order.size();
  constexpr int64_t kAlignment = 16;
  const SizeArguments arguments(function);
  const SmallVector<SizeExpr> sizes = arguments.getSizes(argument);
  const SmallVector<SizeExpr> allStrides = arguments.getStrides(argument);
  const SmallVector<int64_t> multiples = dnn::getKnownStrides(type);
  auto set = [&](auto &list, TensorMap::List name, unsigned i,
                 const SizeExpr &value) {
    if (const std::optional<int64_t> number = value.getNumber())
      list[i] = *number;
    else
      map.open.push_back({name, i, value, SizeExpr()});
  };
  for (auto [i, dim] : llvm::enumerate(order)) {
    set(map.sizes, TensorMap::List::Sizes, i, sizes[dim]);
    set(map.strides, TensorMap::List::Strides, i,
        i == 0 ? SizeExpr() : allStrides[dim] * bytes);
    map.box[i] = op.getBox()[dim];
    if ((i > 0 && multiples[dim] * bytes % kAlignment != 0) ||
        map.offset % kAlignment != 0)
      return op.emitOpError() << "needs strides of whole " << kAlignment
                              << " bytes, but has " << type;
  }
  const auto *known = llvm::find(maps, map);
  mapOf[op] = known - maps.begin();
  if (known == maps.end())
    maps.push_back(map);
  orderOf[op] = order;
  return success();
}

/// Matrices find what is swizzled, loads what is not; others neither.
static LogicalResult checkUses(memref::AllocaOp buffer, bool isPlain) {
  for (Operation *user : buffer->getUsers()) {
    if (isa<dnn::BoxWaitOp>(user))
      continue;
    if (isa<dnn::BoxLoadOp, dnn::BoxStoreOp>(user) ? ::isPlain(user) == isPlain
        : isPlain ? isa<memref::LoadOp, vector::LoadOp>(user)
                  : isa<dnn::LoadMatricesOp, dnn::StoreMatricesOp>(user))
      continue;
    return user->emitOpError()
           << "accesses a buffer of boxes, whose elements lie where only "
           << (isPlain ? "loads" : "matrices") << " find them";
  }
  return success();
}

/// One for each slot.
void PointBoxes::addBarriers(Value buffer) {
  OpBuilder b(buffer.getDefiningOp());
  auto type = cast<MemRefType>(buffer.getType());
  Value barrier = memref::AllocaOp::create(
      b, buffer.getLoc(),
      MemRefType::get({type.getDimSize(0)}, b.getI64Type(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace()));
  barriers.emplace_back(buffer, barrier);
}

/// Copies and their matrices are for one family of chips, matrices that are
/// only read for its older ones, too.
static LogicalResult checkChip(Operation *op, const GpuTarget &target) {
  const bool isRead = isa<dnn::LoadMatricesOp>(op);
  if (isRead ? target.matrixUnit == MatrixUnit::MmaSm80 : target.hasTma)
    return success();
  return op->emitOpError() << "needs a chip with "
                           << (isRead
                                   ? "matrices of warps, as sm_80"
                                   : "a tensor memory accelerator, as sm_90");
}

FailureOr<PointBoxes> PointBoxes::match(func::FuncOp function,
                                        dnn::ForEachPointOp points,
                                        const GpuTarget &target) {
  PointBoxes boxes;
  auto add = [&](auto op) {
    auto buffer = op.getBuffer().template getDefiningOp<memref::AllocaOp>();
    if (!buffer || buffer->getParentOp() != points)
      return LogicalResult(
          op.emitOpError("needs a buffer that the program allocates"));
    boxes.buffers.insert(buffer);
    return failed(checkUses(buffer, isPlain(op))) ? failure()
                                                  : boxes.addMap(function, op);
  };
  WalkResult result = points.walk([&](Operation *op) {
    LogicalResult added = success();
    if (isa<dnn::BoxLoadOp, dnn::BoxWaitOp, dnn::BoxStoreOp,
            dnn::BoxStoreWaitOp, dnn::LoadMatricesOp, dnn::StoreMatricesOp>(op))
      added = checkChip(op, target);
    if (failed(added))
      return WalkResult::interrupt();
    if (auto load = dyn_cast<dnn::BoxLoadOp>(op))
      added = add(load);
    else if (auto store = dyn_cast<dnn::BoxStoreOp>(op))
      added = add(store);
    return failed(added) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Value buffer : boxes.buffers)
    if (llvm::any_of(buffer.getUsers(), llvm::IsaPred<dnn::BoxLoadOp>))
      boxes.addBarriers(buffer);
    else
      boxes.hasStores = true;
  return boxes;
}

void PointBoxes::replace(Value shared, Value place) {
  shared.replaceAllUsesWith(place);
  if (buffers.remove(shared))
    buffers.insert(place);
  for (auto &[buffer, barrier] : barriers)
    for (Value *value : {&buffer, &barrier})
      if (*value == shared)
        *value = place;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static Value toI32(Emitter &e, Value index) {
  return arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), index);
}

/// Where shared memory begins: an address, as i32.
static Value getAddress(Emitter &e, Value shared) {
  return toI32(
      e, memref::ExtractAlignedPointerAsIndexOp::create(e.b, e.loc, shared));
}

static Value toPointer(Emitter &e, Value address) {
  return LLVM::IntToPtrOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), 3), address);
}

/// Bytes that a copy brings.
static int64_t getBoxBytes(dnn::BoxLoadOp op) {
  return std::accumulate(op.getBox().begin(), op.getBox().end(),
                         getByteSize(op.getTensor().getType().getElementType()),
                         std::multiplies<>());
}

/// Bytes of a slot of a buffer.
static int64_t getSlotBytes(MemRefType buffer) {
  return buffer.getDimSize(1) * buffer.getDimSize(2) *
         getByteSize(buffer.getElementType());
}

Value PointBoxes::getBarrier(Emitter &e, Value buffer, Value slot) {
  const auto *found =
      llvm::find_if(barriers, [&](auto pair) { return pair.first == buffer; });
  return toPointer(e, e.add(getAddress(e, found->second),
                            e.mul(toI32(e, slot), kBarrierBytes)));
}

/// Bytes from the begin of `buffer` to the element at `place`.
static Value getOffset(Emitter &e, MemRefType buffer, ValueRange place) {
  Value offset = e.constant(0);
  int64_t stride = getByteSize(buffer.getElementType());
  for (int64_t dim = buffer.getRank(); dim-- > 0;
       stride *= buffer.getDimSize(dim))
    offset = e.add(offset, e.mul(toI32(e, place[dim]), stride));
  return offset;
}

/// The same in a buffer of boxes. What is swizzled repeats itself after eight
/// rows: so many are added behind it, and stay a constant of the address.
static Value getBoxOffset(Emitter &e, MemRefType buffer, ValueRange place) {
  constexpr int64_t kPieceShift = 4, kLineShift = 7, kRows = 8;
  const int64_t bytes = getByteSize(buffer.getElementType());
  const int64_t rowBytes = buffer.getDimSize(2) * bytes;
  Value row = place[1];
  llvm::APInt further(64, 0);
  if (auto sum = row.getDefiningOp<arith::AddIOp>();
      sum && matchPattern(sum.getRhs(), m_ConstantInt(&further)) &&
      further.getSExtValue() % kRows == 0)
    row = sum.getLhs();
  else
    further = 0;
  Value offset =
      e.add(e.mul(toI32(e, row), rowBytes), e.mul(toI32(e, place[2]), bytes));
  Value line =
      e.andi(e.shru(offset, kLineShift), (rowBytes >> kPieceShift) - 1);
  offset = e.xori(offset, e.mul(line, int64_t(1) << kPieceShift));
  offset = e.add(offset, e.mul(toI32(e, place[0]), getSlotBytes(buffer)));
  return e.add(offset, further.getSExtValue() * rowBytes);
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

void PointBoxes::emitFrame(Emitter &e, gpu::GPUFuncOp function) {
  kernel = function;
  Value thread = e.device.emitThreadId(e);
  isFirst = e.ult(thread, 1);
  emitIf(e, isFirst, [&] {
    for (unsigned map = 0; map < maps.size(); ++map)
      NVVM::PrefetchOp::create(e.b, e.loc, nullptr, nullptr,
                               kernel.getArgument(map), Value(),
                               e.b.getUnitAttr());
    for (auto [buffer, barrier] : barriers) {
      const int64_t slots = cast<MemRefType>(barrier.getType()).getDimSize(0);
      for (int64_t slot = 0; slot < slots; ++slot)
        NVVM::MBarrierInitOp::create(
            e.b, e.loc, getBarrier(e, buffer, e.indexConstant(slot)),
            e.constant(1), Value());
    }
    NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
  });
  e.device.emitLdsBarrier(e);
  if (!hasStores)
    return;
  // The copies read shared memory, which a workgroup that has ended has not.
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(kernel.getBody().front().getTerminator());
  emitIf(e, isFirst, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, 0, UnitAttr());
  });
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

template <typename OpT>
SmallVector<Value> PointBoxes::getCoordinates(Emitter &e, OpT op) const {
  SmallVector<Value> coordinates;
  for (unsigned dim : orderOf.at(op))
    coordinates.push_back(toI32(e, op.getCoordinates()[dim]));
  return coordinates;
}

/// The barrier of a box that is not copied expects nothing.
void PointBoxes::lowerLoad(Emitter &e, dnn::BoxLoadOp op) {
  const int64_t bytes = getSlotBytes(op.getBuffer().getType());
  const bool isStreamed = op->hasAttr(dnn::kStreamedAttrName);
  Value condition = op.getCondition();
  emitIf(e, isFirst, [&] {
    Value barrier = getBarrier(e, op.getBuffer(), op.getSlot());
    Value expected = e.constant(getBoxBytes(op));
    if (condition)
      expected = e.select(condition, expected, e.constant(0));
    NVVM::MBarrierArriveExpectTxOp::create(
        e.b, e.loc, TypeRange(), barrier, expected, NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
    auto copy = [&] {
      Value target = toPointer(e, e.add(getAddress(e, op.getBuffer()),
                                        e.mul(toI32(e, op.getSlot()), bytes)));
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          e.b, e.loc, castToCluster(e, target),
          kernel.getArgument(mapOf.at(op)), getCoordinates(e, op), barrier,
          /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
          /*l2CacheHint=*/isStreamed ? emitStreamedPolicy(e) : Value(),
          NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, /*group=*/nullptr,
          /*predicate=*/Value());
    };
    if (condition)
      emitIf(e, condition, copy);
    else
      copy();
  });
}

/// Each thread tells the accelerator of what it wrote; behind the barrier all
/// have.
void PointBoxes::lowerStore(Emitter &e, dnn::BoxStoreOp op) {
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  e.device.emitLdsBarrier(e);
  emitIf(e, isFirst, [&] {
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        e.b, e.loc, kernel.getArgument(mapOf.at(op)),
        toPointer(e, getAddress(e, op.getBuffer())), getCoordinates(e, op),
        /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE,
        /*predicate=*/Value());
    NVVM::CpAsyncBulkCommitGroupOp::create(e.b, e.loc);
  });
}

/// LLVM does not know that the wait changes memory: a text without
/// instructions says so, or loads of what has come would move above it.
static void lowerWait(Emitter &e, Value barrier, dnn::BoxWaitOp op) {
  constexpr int64_t kTicks = 10000000; // Of one try; the op tries for ever.
  NVVM::MBarrierTryWaitParityOp::create(e.b, e.loc, barrier,
                                        e.andi(toI32(e, op.getRound()), 1),
                                        e.constant(kTicks));
  if (llvm::any_of(op.getBuffer().getUsers(),
                   llvm::IsaPred<memref::LoadOp, vector::LoadOp>))
    LLVM::InlineAsmOp::create(
        e.b, e.loc, TypeRange(), ValueRange(), "", "~{memory}",
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
        ArrayAttr());
}

/// The row of a matrix that the lane points to.
template <typename OpT>
static Value getRowPointer(Emitter &e, OpT op,
                           const PointBoxes::Buffers &buffers) {
  MemRefType type = op.getBuffer().getType();
  Value offset = buffers.contains(op.getBuffer())
                     ? getBoxOffset(e, type, op.getIndices())
                     : getOffset(e, type, op.getIndices());
  return toPointer(e, e.add(getAddress(e, op.getBuffer()), offset));
}

static void lowerMatrices(Emitter &e, dnn::LoadMatricesOp op,
                          const PointBoxes::Buffers &buffers) {
  SmallVector<Value> words =
      readMatrices(e, getRowPointer(e, op, buffers), op.getTransposed());
  auto type = cast<VectorType>(op.getMatrices().getType());
  auto pair = VectorType::get(2, type.getElementType());
  Value matrices = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
  for (auto [i, word] : llvm::enumerate(words))
    matrices = vector::InsertOp::create(
        e.b, e.loc, LLVM::BitcastOp::create(e.b, e.loc, pair, word), matrices,
        i);
  op.replaceAllUsesWith(matrices);
}

static void lowerMatrices(Emitter &e, dnn::StoreMatricesOp op,
                          const PointBoxes::Buffers &buffers) {
  SmallVector<Value> words;
  for (int64_t i = 0; i < op.getMatrices().getType().getShape()[0]; ++i)
    words.push_back(LLVM::BitcastOp::create(
        e.b, e.loc, e.b.getI32Type(),
        vector::ExtractOp::create(e.b, e.loc, op.getMatrices(), i)));
  writeMatrices(e, getRowPointer(e, op, buffers), words, op.getTransposed());
}

void PointBoxes::lower(Emitter &e, Operation *op) {
  if (auto load = dyn_cast<dnn::BoxLoadOp>(op)) {
    lowerLoad(e, load);
  } else if (auto wait = dyn_cast<dnn::BoxWaitOp>(op)) {
    lowerWait(e, getBarrier(e, wait.getBuffer(), wait.getSlot()), wait);
  } else if (auto store = dyn_cast<dnn::BoxStoreOp>(op)) {
    lowerStore(e, store);
  } else if (isa<dnn::BoxStoreWaitOp>(op)) {
    emitIf(e, isFirst, [&] {
      NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, 0, e.b.getUnitAttr());
    });
    e.device.emitLdsBarrier(e);
  } else if (auto matrices = dyn_cast<dnn::LoadMatricesOp>(op)) {
    lowerMatrices(e, matrices, buffers);
  } else if (auto matrices = dyn_cast<dnn::StoreMatricesOp>(op)) {
    lowerMatrices(e, matrices, buffers);
  } else {
    return;
  }
  op->erase();
}
