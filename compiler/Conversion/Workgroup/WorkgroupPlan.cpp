//===- WorkgroupPlan.cpp - A program of a workgroup, found ----------------===//

#include "compiler/Conversion/Workgroup/WorkgroupPlan.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Hopper/ColumnStore.h"
#include "compiler/Conversion/Hopper/HaloOperand.h"
#include "compiler/Conversion/Hopper/SlidingHalo.h"
#include "compiler/Conversion/Hopper/StoreExtra.h"
#include "compiler/Conversion/Workgroup/ProgramLowering.h"
#include "compiler/Target/LaunchLds.h"

using namespace mlir;
using namespace tessera;

static bool isOfArgument(Value view) {
  auto op = view.getDefiningOp<dnn::ViewOp>();
  return op && isa<BlockArgument>(op.getSource());
}

static FailureOr<KernelArg> getTensor(WorkgroupPlan &plan, Operation *op,
                                      Value view) {
  if (!isOfArgument(view))
    return op->emitOpError("needs a dnn.view of an argument of the kernel");
  return getMappedTensor(
      plan.function,
      cast<BlockArgument>(view.getDefiningOp<dnn::ViewOp>().getSource()));
}

template <typename OperandT>
static std::unique_ptr<TmaOperand> keep(FailureOr<OperandT> operand) {
  return failed(operand) ? nullptr
                         : std::make_unique<OperandT>(std::move(*operand));
}

static TileSource getSource(wg::BoxOp box) {
  wg::BoxType type = box.getType();
  return {box, box.getView().getDefiningOp<dnn::ViewOp>(), type.getRows(),
          type.getColumns()};
}

/// Rows of pixels that slide, as the products read them. Null after an error.
static std::unique_ptr<TmaOperand>
findSliding(WorkgroupPlan &plan, wg::BoxOp box, const KernelArg &tensor) {
  const bool isB = box == plan.boxB;
  const TileSource source = getSource(box);
  const TileSource other = getSource(isB ? plan.boxA : plan.boxB);
  FailureOr<SlidingHalo> halo =
      isB ? SlidingHalo::matchRows(
                source, other, tensor,
                static_cast<int64_t>(plan.consumer.getWarpgroups()))
          : SlidingHalo::matchLines(source, other, tensor);
  if (failed(halo))
    return nullptr;
  wg::SlideOp slide = isB ? plan.getSlideB() : plan.getSlideA();
  const int64_t pitch = isB ? halo->getTapRows() : halo->getFilterRows();
  if (slide && static_cast<int64_t>(slide.getPitch()) == pitch)
    return keep(std::move(halo));
  plan.getProduct()->emitOpError()
      << "reads what slides, and needs a wg.slide with pitch " << pitch;
  return nullptr;
}

/// Null after an error at the box.
static std::unique_ptr<TmaOperand>
findOperand(WorkgroupPlan &plan, const TileSource &source, wg::BoxOp box) {
  FailureOr<KernelArg> tensor = getTensor(plan, box, box.getView());
  if (failed(tensor))
    return nullptr;
  if (box.getSlides())
    return findSliding(plan, box, *tensor);
  if (box.getHalo())
    return keep(HaloOperand::match(
        source, plan.result.getView().getDefiningOp<dnn::ViewOp>(), *tensor));
  return keep(TmaOperand::match(
      source, *tensor, box.getPixels() ? TmaWalk::Pixels : TmaWalk::Channels));
}

/// The operand behind a box, which must be as the buffer has it.
static LogicalResult matchOperand(WorkgroupPlan &plan, wg::BoxOp box,
                                  Value buffer,
                                  std::unique_ptr<TmaOperand> &found) {
  wg::BoxType type = box.getType();
  const TileSource source = getSource(box);
  found = findOperand(plan, source, box);
  if (!found || (box.getMulticast() && failed(found->share(source))))
    return failure();
  auto layout = cast<wg::BufferType>(buffer.getType());
  if (found->getBytes() > layout.getSlotBytes())
    return box.emitOpError()
           << "brings " << found->getBytes() << " bytes to slots of " << layout;
  if (found->isTransposed() != layout.getColumnMajor() ||
      (found->isTransposed() &&
       found->getBlockRowBytes() != layout.getSwizzle()))
    return box.emitOpError()
           << "brings " << (found->isTransposed() ? "columns" : "rows")
           << " that lie together in memory, which " << layout << " does not";
  if (box.getLastBehind() || box.getLastInPlace()) {
    dnn::ViewOp view = source.view;
    ArrayRef<int64_t> reduce = view.getCoords().getSpace(2);
    if (box.getPixels() || reduce.back() < type.getColumns())
      return box.emitOpError("ends steps with the last channel, but has none "
                             "for a step");
    found->setLastSteps(box.getLastBehind() ? TmaOperand::LastSteps::Behind
                                            : TmaOperand::LastSteps::InPlace);
  }
  found->setStreamed(box.getEvictFirst());
  found->setRounded(!plan.splits());
  return success();
}

/// Buffers of their own for pixels that taps share.
static HaloShape readHalo(WorkgroupPlan &plan) {
  const bool isOfB = static_cast<bool>(plan.getSlideB());
  Value buffer = isOfB ? plan.getBufferB() : plan.getBufferA();
  auto type = cast<wg::BufferType>(buffer.getType());
  return {.buffers = type.getSlots(),
          .rows = type.getIsMirrored() ? type.getColumns() : type.getRows(),
          .slides = type.getIsMirrored(),
          .isOfB = isOfB,
          .rowBytes = type.getSwizzle()};
}

static void readShape(WorkgroupPlan &plan) {
  wg::AccType acc = plan.sums;
  wg::BoxType boxA = plan.boxA.getType(), boxB = plan.boxB.getType();
  auto staging = cast<wg::BufferType>(plan.result.getStaging().getType());
  dnn::ViewOp view = plan.result.getView().getDefiningOp<dnn::ViewOp>();
  constexpr int64_t kWarps = kWarpgroup / 32;
  auto getBytes = [](Type element) -> int64_t {
    return element.getIntOrFloatBitWidth() / 8;
  };
  bool takesTurns = false;
  plan.consumer.walk([&](wg::OrderWaitOp) { takesTurns = true; });
  const auto consumers = static_cast<int64_t>(plan.consumer.getWarpgroups());
  const int64_t sharers =
      plan.boxA.getMulticast() || plan.boxB.getMulticast() ? 2 : 1;
  const auto size = static_cast<int64_t>(plan.program.getCluster().value_or(1));
  plan.shape = HopperShape{
      .tileM = boxA.getRows(),
      .tileN = boxB.getRows(),
      .stages = wg::findStages(plan.getSlideB() ? plan.getBufferA()
                                                : plan.getBufferB())
                    .countStages(),
      .consumers = consumers,
      .isPingPong = takesTurns && !plan.hasFragments(),
      .blocks = acc.countBlocks(),
      .stagers = staging.getSlots() / (consumers * kWarps),
      .blocksPerSm =
          static_cast<int64_t>(plan.program.getResident().value_or(1)),
      .resultBytes = getBytes(view.getType().getElementType()),
      .rowBytes = boxA.getColumns() * getBytes(boxA.getElementType()),
      .storeRowBytes = static_cast<int64_t>(*plan.result.getStaged()),
      .preparesB = plan.hasFragments(),
      .splitsF32 = plan.splits(),
      .wavesN = plan.getSlideB() ? consumers : 1,
      .isSwapped = acc.getIsSwapped(),
      .isColumnMajor = isColumnMajor(view),
      .cluster = size / sharers,
      .copiesFirst = plan.roles.front().getFirst()};
  if (wg::findStages(plan.getBufferA()) != wg::findStages(plan.getBufferB()))
    plan.shape.halo = readHalo(plan);
  if (sharers > 1)
    plan.shape.multicast =
        plan.boxB.getMulticast() ? dnn::TileDim::N : dnn::TileDim::M;
  if (plan.mmaSums)
    plan.shape.sumSlots = plan.mmaSums.getSums().getType().getSlots();
}

/// What the emitters have for sums in tensor memory.
static LogicalResult checkTensorMemory(WorkgroupPlan &plan) {
  if (!plan.mmaSums)
    return success();
  for (Value buffer : {plan.getBufferA(), plan.getBufferB()}) {
    auto type = cast<wg::BufferType>(buffer.getType());
    if (type.getColumnMajor() || type.getSwizzle() != kRowBytes)
      return plan.mmaSums.emitOpError()
             << "reads " << type << ", of which only row_major " << kRowBytes
             << " is lowered";
  }
  const HopperShape &shape = plan.shape;
  if (shape.getClusterSize() > 1 || shape.halo.buffers > 0 ||
      shape.isColumnMajor || shape.consumers > 1 || plan.store.getStatistics())
    return plan.mmaSums.emitOpError(
        "is lowered without clusters, halos and statistics, for one warpgroup "
        "that stores a row-major result");
  return success();
}

/// The emitters have the operands first, A's and then B's, and then the
/// staging buffers.
static LogicalResult checkBuffers(WorkgroupPlan &plan) {
  const HopperShape &shape = plan.shape;
  auto buffers = llvm::to_vector(plan.program.getBody().getOps<wg::AllocOp>());
  Value wanted[] = {plan.getBufferA(), plan.getBufferB(),
                    plan.result.getStaging()};
  const int64_t bytes[] = {
      shape.getOffsetB(), shape.getOffsetStaging() - shape.getOffsetB(),
      shape.getOffsetExchange() - shape.getOffsetStaging()};
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    wg::BufferType type = buffer.getType();
    if (buffers.size() != 3 || buffer.getResult() != wanted[i] ||
        type.getBytes() != bytes[i])
      return buffer.emitOpError()
             << "needs to be one of three: A's tiles, B's in whole 64 rows, "
                "and "
             << "slots of staged results for each warp that multiplies";
  }
  return success();
}

/// Pieces fit what a consumer has of a tile, and slots alternate within it.
static LogicalResult checkStaging(WorkgroupPlan &plan) {
  const HopperShape &shape = plan.shape, stored = shape.getStored();
  const int64_t columns = stored.getStoreColumns();
  if (columns > stored.getColumns() ||
      stored.getStoreRows() > stored.getRows() ||
      stored.countRowPieces() * stored.countPieces(columns) % shape.stagers !=
          0)
    return plan.result.emitOpError()
           << "stages " << stored.getStoreRows() << "x" << columns
           << " elements at a time in " << shape.stagers
           << " slots, which do not share out " << stored.getRows() << "x"
           << stored.getColumns();
  return success();
}

/// What workgroups of a cluster do for each other.
static LogicalResult checkCluster(WorkgroupPlan &plan) {
  if ((plan.shape.cluster > 1) != static_cast<bool>(plan.send))
    return plan.program.emitOpError(
        "needs a cluster if it has a wg.send, and a wg.send or multicast if it "
        "has a cluster");
  if (plan.shape.multicast && plan.rings.size() > 1)
    return plan.program.emitOpError(
        "has boxes with multicast, and stages of each operand");
  bool drains = false;
  plan.program.walk([&](wg::DrainOp) { drains = true; });
  if (plan.shape.multicast && !drains)
    return plan.program.emitOpError(
        "has boxes with multicast, and needs a wg.drain: other workgroups "
        "release its stages");
  return success();
}

/// Of shared memory and of the register file.
static LogicalResult checkCapacity(WorkgroupPlan &plan,
                                   const GpuTarget &target) {
  constexpr int64_t kRegisters = 65536, kReserved = 1024;
  const HopperShape &shape = plan.shape;
  const int64_t bytes = shape.getSharedBytes(), most = getMaxLdsBytes(target);
  const int64_t ofSm = most + kReserved;
  if (bytes > most || shape.blocksPerSm * (bytes + kReserved) > ofSm)
    return plan.program.emitOpError()
           << "needs " << bytes << " bytes of shared memory, "
           << shape.blocksPerSm << " times on a multiprocessor, but "
           << target.name << " has " << most;
  int64_t registers =
      plan.consumer.getRegisters() * shape.consumers * kWarpgroup;
  registers +=
      plan.roles.front().getRegisters() * shape.countCopiers() * kWarpgroup;
  if (registers * shape.blocksPerSm > kRegisters)
    return plan.program.emitOpError()
           << "has roles of " << registers << " registers, "
           << shape.blocksPerSm << " times on a multiprocessor, which has "
           << kRegisters;
  constexpr int64_t kOthers = 24;
  const int64_t sums = shape.blocks * shape.getProductColumns() / 2;
  const auto ofThread = static_cast<int64_t>(plan.consumer.getRegisters());
  if (sums + shape.countFragments() + kOthers > ofThread)
    return plan.consumer.emitOpError()
           << "has " << sums << " accumulators a thread, more than " << ofThread
           << " registers hold";
  return success();
}

/// The tensors of the epilogue are as the result's.
static LogicalResult readResult(WorkgroupPlan &plan) {
  wg::ResultOp result = plan.result;
  FailureOr<KernelArg> tensor = getTensor(plan, result, result.getView());
  if (failed(tensor))
    return failure();
  dnn::ViewOp view = result.getView().getDefiningOp<dnn::ViewOp>();
  const HopperShape &shape = plan.shape;
  if (!result.getByRows()) {
    plan.map = shape.isColumnMajor
                   ? makeColumnMajorMap(view, *tensor, shape.storeRowBytes,
                                        shape.getStagedRowStep())
                   : makeResultMap(view, *tensor, shape.storeRowBytes);
    if (!plan.map)
      return result.emitOpError("stores by TMA what no tensor map can say; it "
                                "needs by_rows");
  }
  SmallVector<Value> views(result.getExtras());
  if (result.getByRows())
    views.push_back(result.getView());
  for (Value other : views) {
    if (!isOfArgument(other))
      return result.emitOpError("needs views of arguments of the kernel");
    if (failed(checkReach(result, other, shape.tileM)))
      return failure();
    if (cast<dnn::ViewType>(other.getType()).getElementType() !=
        result.getView().getType().getElementType())
      return result.emitOpError("needs tensors of the result's type");
  }
  return success();
}

/// Lanes read a normalisation's tensors as they store the result, and its
/// numbers by channels.
static LogicalResult checkNorm(WorkgroupPlan &plan) {
  const dnn::ViewType result = plan.result.getView().getType();
  for (Value tensor : plan.store.getNormTensors()) {
    auto view = tensor.getDefiningOp<dnn::ViewOp>();
    if (!view || !isa<BlockArgument>(view.getSource()) ||
        tensor.getType() != result)
      return plan.store.emitOpError("needs views of a norm's tensors like that "
                                    "of its result, of the kernel's arguments");
  }
  const int64_t channels = result.getShape()[2];
  for (Value values : plan.store.getNormNumbers())
    if (!isa<BlockArgument>(values) ||
        values.getType() !=
            MemRefType::get(channels, Float32Type::get(values.getContext())))
      return plan.store.emitOpError()
             << "needs a norm's numbers as arguments memref<" << channels
             << "xf32> of the kernel";
  return success();
}

/// Warps stage whole rows of 128 bytes of what they have computed alone, and
/// write one part for each tile, or for all of theirs, which then have the same
/// columns.
static LogicalResult readStatistics(WorkgroupPlan &plan) {
  Value statistics = plan.store.getStatistics();
  if (!statistics)
    return success();
  const HopperShape &shape = plan.shape;
  constexpr int64_t kResultBytes = 2, kPair = 2, kWarps = kWarpgroup / 32;
  ArrayRef<int64_t> view = plan.result.getView().getType().getShape();
  auto type = cast<MemRefType>(statistics.getType());
  const int64_t parts = type.getDimSize(0);
  const int64_t numbers = plan.store.getNormTensors().empty() ? 3 : 2;
  if (failed(checkNorm(plan)))
    return failure();
  if (!isa<BlockArgument>(statistics) || view[0] != 1 || view[2] % kPair != 0 ||
      type != MemRefType::get({parts, numbers, view[2]},
                              Float32Type::get(type.getContext())))
    return plan.store.emitOpError()
           << "needs an argument memref<s x " << numbers << " x " << view[2]
           << " x f32> of the kernel, and one group, for statistics, but has "
           << type;
  if (shape.isColumnMajor || shape.cluster > 1 || shape.preparesB ||
      shape.resultBytes != kResultBytes || shape.storeRowBytes != kRowBytes)
    return plan.store.emitOpError("has statistics, which are of a row-major "
                                  "result of 16 bits whose rows are staged "
                                  "128 bytes at a time, without a cluster that "
                                  "adds");
  const int64_t rows = llvm::divideCeilSigned(view[1], shape.tileM);
  plan.hasPartOfTile = parts == rows * shape.tileM / shape.getRows() * kWarps;
  const auto workgroups = static_cast<int64_t>(plan.program.getWorkgroups());
  const int64_t inRow = llvm::divideCeilSigned(view[2], shape.tileN);
  if (!plan.hasPartOfTile &&
      (view[2] % shape.tileN != 0 || workgroups % inRow != 0 ||
       shape.multicast || workgroups / inRow * shape.getWarps() > parts))
    return plan.store.emitOpError()
           << "has statistics of " << parts
           << " parts, which are neither those of all tiles' warps nor of "
           << workgroups << " workgroups whose tiles have the same columns";
  return success();
}

static LogicalResult checkTarget(WorkgroupPlan &plan, const GpuTarget &target) {
  if (plan.mmaSums ? target.hasTensorMemory : target.hasTma && target.hasWgmma)
    return success();
  return plan.program.emitOpError()
         << "copies by TMA for " << (plan.mmaSums ? "tcgen05" : "wgmma")
         << ", which " << target.name << " has not";
}

FailureOr<WorkgroupPlan> tessera::readWorkgroupPlan(func::FuncOp function,
                                                    wg::ProgramOp program,
                                                    const GpuTarget &target) {
  WorkgroupPlan plan;
  plan.function = function;
  plan.program = program;
  if (failed(findOps(plan)) || failed(checkTarget(plan, target)) ||
      failed(getTensor(plan, plan.result, plan.result.getView())) ||
      failed(matchOperand(plan, plan.boxA, plan.getBufferA(), plan.a)) ||
      failed(matchOperand(plan, plan.boxB, plan.getBufferB(), plan.b)))
    return failure();
  readShape(plan);
  if (failed(checkTensorMemory(plan)) || failed(checkCluster(plan)) ||
      failed(checkBuffers(plan)) || failed(checkStaging(plan)) ||
      failed(checkCapacity(plan, target)) || failed(readResult(plan)) ||
      failed(readStatistics(plan)))
    return failure();
  return plan;
}
