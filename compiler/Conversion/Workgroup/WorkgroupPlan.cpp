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

//===----------------------------------------------------------------------===//
// Finding the ops
//===----------------------------------------------------------------------===//

/// The only op of type OpT in `program`; null after an error if there are none
/// or several.
template <typename OpT>
static OpT findOnly(wg::ProgramOp program) {
  SmallVector<OpT> found;
  program.walk([&](OpT op) { found.push_back(op); });
  if (found.size() == 1)
    return found.front();
  program.emitOpError() << "needs one " << OpT::getOperationName()
                        << " to be lowered, but has " << found.size();
  return {};
}

/// Whether `op` uses what the program has, or tensors of the kernel and views
/// of them.
static bool usesOwnValues(wg::ProgramOp program, Operation *op) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isa<dnn::ViewType, MemRefType>(operand.getType()) ||
           program->isAncestor(operand.getParentRegion()->getParentOp());
  });
}

/// Beside ops of the dialect a program has loops, branches and arithmetic on
/// i32. What an epilogue has is copied with it.
static LogicalResult checkOps(wg::ProgramOp program) {
  if (failed(checkSizes(program)))
    return failure();
  WalkResult result = program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) -> WalkResult {
        auto loop = dyn_cast<scf::ForOp>(op);
        const bool isArithmetic = isa<arith::ArithDialect>(op->getDialect()) &&
                                  (op->getResult(0).getType().isInteger(32) ||
                                   op->getResult(0).getType().isInteger(1));
        auto flush = dyn_cast<wg::FlushOp>(op);
        const bool isOfWaves =
            isa<wg::TileOp, wg::TapOp, wg::HasTapOp, wg::FetchOp, wg::PutOp,
                wg::FillOp, wg::CommitOp, wg::BarrierOp, wg::StepOp>(op) ||
            (flush && flush.getResult());
        if (isOfWaves)
          return op->emitOpError("is of a program of waves, and this has none");
        if (!isa<wg::WgDialect>(op->getDialect()) && !isArithmetic &&
            !isa<scf::IfOp, scf::YieldOp>(op) &&
            !(loop && loop.getInductionVar().getType().isInteger(32)))
          return op->emitOpError("is no op of a workgroup's program, which has "
                                 "scf.for, scf.if and arith on i32");
        if (!usesOwnValues(program, op))
          return op->emitOpError("uses a value from outside of the program");
        return isa<wg::StoreOp>(op) ? WalkResult::skip()
                                    : WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

/// The threads of a warpgroup copy, and the warps that they leave change
/// operands; other warpgroups multiply, and store.
static LogicalResult checkRoles(WorkgroupPlan &plan) {
  constexpr size_t kMost = kWarpgroup / 32;
  auto copiers = MutableArrayRef(plan.roles).drop_back();
  const bool areThreads = llvm::all_of(copiers, [&](wg::RoleOp role) {
    const bool isLast = role == copiers.back() && role != copiers.front();
    return (role.getThread() ||
            (isLast && role.getWarps() == kMost + 1 - copiers.size())) &&
           role.getRegisters() == copiers.front().getRegisters();
  });
  if (!areThreads || copiers.empty() || copiers.size() > kMost ||
      plan.roles.back() != plan.consumer)
    return plan.program.emitOpError()
           << "needs one to " << kMost << " roles of a thread, which the rest "
           << "of " << kMost << " warps may follow, with registers alike, and "
           << "then one that multiplies, to be lowered";
  for (Operation *op : {plan.result.getOperation(), plan.store.getOperation()})
    if (op->getParentOfType<wg::RoleOp>() != plan.consumer)
      return op->emitOpError("needs to be in the role that multiplies");
  return success();
}

wg::SliceOp tessera::findOwnRows(wg::MmaOp mma) {
  auto role = mma->getParentOfType<wg::RoleOp>();
  Value rows = mma.getA();
  while (auto slice = rows.getDefiningOp<wg::SliceOp>()) {
    if (slice->getParentOp() == role)
      return slice;
    rows = slice.getBuffer();
  }
  return {};
}

/// One op issues all products into tensor memory, one loads them.
static LogicalResult findSums(WorkgroupPlan &plan) {
  plan.mmaSums = findOnly<wg::MmaSumsOp>(plan.program);
  auto load = findOnly<wg::LoadSumsOp>(plan.program);
  if (!plan.mmaSums || !load)
    return failure();
  bool hasProducts = false;
  plan.program.walk([&](wg::MmaOp) { hasProducts = true; });
  if (hasProducts || load.getSums() != plan.mmaSums.getSums())
    return load.emitOpError("needs to load what all products are added to");
  plan.sums = load.getType();
  plan.consumer = load->getParentOfType<wg::RoleOp>();
  return success();
}

/// Whether both are rows that slide in the same way, or neither.
static bool slideAlike(Value lhs, Value rhs) {
  auto a = lhs.getDefiningOp<wg::SlideOp>();
  auto b = rhs.getDefiningOp<wg::SlideOp>();
  if (!a || !b)
    return !a && !b;
  return a.getPitch() == b.getPitch() && a.getAhead() == b.getAhead() &&
         a.getType() == b.getType();
}

/// The products are alike: they read the same buffers, of which they may have
/// other rows in each step, to sums of one type.
static LogicalResult findProducts(WorkgroupPlan &plan) {
  plan.program.walk([&](wg::MmaSumsOp mma) { plan.mmaSums = mma; });
  if (plan.mmaSums)
    return findSums(plan);
  WalkResult result = plan.program.walk([&](wg::MmaOp mma) {
    if (!plan.mma) {
      plan.mma = mma;
      plan.sums = mma.getType();
      plan.ownRows = findOwnRows(mma);
    }
    plan.consumer = mma->getParentOfType<wg::RoleOp>();
    if (wg::getWhole(mma.getA()) == plan.getBufferA() &&
        findOwnRows(mma) == plan.ownRows &&
        wg::getWhole(mma.getB()) == plan.getBufferB() &&
        slideAlike(mma.getA(), plan.mma.getA()) &&
        slideAlike(mma.getB(), plan.mma.getB()) &&
        mma.getType() == plan.mma.getType() &&
        isa<wg::FragmentType>(mma.getA().getType()) == plan.hasFragments() &&
        plan.consumer == plan.mma->getParentOfType<wg::RoleOp>())
      return WalkResult::advance();
    mma.emitOpError("needs the operands and the type of the first product");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  if (!plan.mma)
    return plan.program.emitOpError("needs a wg.mma to be lowered");
  result = plan.program.walk([&](wg::PrepareOp prepare) {
    if (prepare.getBuffer() == plan.getBufferB())
      return WalkResult::advance();
    prepare.emitOpError("changes what no product has for its B");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The box that is copied to each of the two buffers.
static LogicalResult findBoxes(WorkgroupPlan &plan) {
  WalkResult result = plan.program.walk([&](wg::CopyOp copy) {
    const bool isA = copy.getBuffer() == plan.getBufferA();
    wg::BoxOp &box = isA ? plan.boxA : plan.boxB;
    if (box || (!isA && copy.getBuffer() != plan.getBufferB())) {
      copy.emitOpError("needs to be the only copy to its buffer, which is an "
                       "operand");
      return WalkResult::interrupt();
    }
    box = copy.getBox().getDefiningOp<wg::BoxOp>();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (!plan.boxA || !plan.boxB)
    return plan.getProduct()->emitOpError("needs a copy of each operand");
  return success();
}

/// A role goes through stages that slide one at a time, on all ways.
static LogicalResult checkSliding(wg::StagesOp ring) {
  for (Operation *user : ring.getResult().getUsers()) {
    auto next = dyn_cast<wg::NextOp>(user);
    if ((next && next.getSteps()) ||
        (isa<wg::NextOp, wg::LeaveOp, wg::ReleaseOp>(user) &&
         user->getParentOfType<scf::IfOp>()))
      return user->emitOpError("is of stages that slide, and needs to be in no "
                               "branch, and to pass none by");
  }
  return success();
}

/// Stages are for operands.
static LogicalResult checkRings(WorkgroupPlan &plan) {
  for (wg::StagesOp ring : plan.rings) {
    for (Value buffer : ring.getBuffers())
      if (buffer != plan.getBufferA() && buffer != plan.getBufferB() &&
          !(plan.mmaSums && buffer == plan.mmaSums.getSums()))
        return ring.emitOpError("has a buffer that no product reads");
    if (ring.slides() && failed(checkSliding(ring)))
      return failure();
    if (ring.slides() && !plan.getSlideA() && !plan.getSlideB())
      return plan.getProduct()->emitOpError(
          "reads a buffer with a mirror, and needs a "
          "wg.slide of it");
  }
  return success();
}

static LogicalResult findOps(WorkgroupPlan &plan) {
  plan.result = findOnly<wg::ResultOp>(plan.program);
  plan.store = findOnly<wg::StoreOp>(plan.program);
  if (!plan.result || !plan.store)
    return failure();
  if (!plan.result.getStaged())
    return plan.result.emitOpError("needs a buffer in which warps stage it");
  llvm::append_range(plan.rings, plan.program.getBody().getOps<wg::StagesOp>());
  llvm::append_range(plan.roles, plan.program.getBody().getOps<wg::RoleOp>());
  plan.program.walk([&](wg::SendOp send) { plan.send = send; });
  return success(succeeded(findProducts(plan)) && succeeded(checkRings(plan)) &&
                 succeeded(checkRoles(plan)) && succeeded(findBoxes(plan)));
}

//===----------------------------------------------------------------------===//
// What follows from them
//===----------------------------------------------------------------------===//

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
      .cluster = size / sharers};
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
  int64_t registers = 0;
  for (wg::RoleOp role : {plan.roles.front(), plan.consumer})
    registers += role.getRegisters() * role.getWarpgroups() * kWarpgroup;
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
  if (failed(checkOps(program)) || failed(findOps(plan)) ||
      failed(checkTarget(plan, target)) ||
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
