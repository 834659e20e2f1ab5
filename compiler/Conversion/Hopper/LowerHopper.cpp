//===- LowerHopper.cpp - Tile programs with copy tma ----------------------===//
//
// A workgroup walks tiles for as long as there are any. Its producer runs
// ahead, through the end of one tile into the next, as far as the ring reaches;
// the consumers multiply, give stages back and store.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/LowerHopper.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Cooperative/Epilogue.h"
#include "compiler/Conversion/Hopper/ClusterSum.h"
#include "compiler/Conversion/Hopper/ColumnStore.h"
#include "compiler/Conversion/Hopper/RowTensor.h"
#include "compiler/Conversion/Hopper/StepFeed.h"
#include "compiler/Conversion/Hopper/SumStore.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
/// The frame of a kernel.
struct Kernel {
  gpu::GPUFuncOp function;
  IRMapping arguments; ///< Of the source function, but for what maps describe.
};

/// Emits the body of one kernel.
class KernelWriter {
public:
  KernelWriter(TileProgram &program, const HopperPlan &plan,
               const Kernel &frame, OpBuilder &b, const DeviceOps &device);
  void emit();

private:
  enum MapIndex { A, B, Result };

  void emitProducer();
  void emitCopier(unsigned copier);
  void emitPreparer();
  void emitConsumer();
  SumStore makeStore();
  std::unique_ptr<WayOut> makeWayOut(Value groupWarp, Value lane);
  Value getScalar(Value scalar);
  /// What the kernel gets for the tensor behind `view`.
  Value getPointer(Value view) {
    return arguments.lookup(TileProgram::getView(view).getSource());
  }
  void emitShare(ArrayRef<Value> sums, SumStore &store, ResultTile tile);
  void emitTile(Wgmma &wgmma, SumStore &store, Value tile,
                StepFeed::Place &place);
  StepFeed::Place skipTile(const StepFeed::Place &place, Value tile) {
    return feed->skipTile(place, locateTile(tile).group);
  }
  ResultTile locateTile(Value tile);
  /// Calls `body` for tiles from `first` on, every `stride`th; the place
  /// behind.
  StepFeed::Place
  forEachTile(Value first, int64_t stride, const StepFeed::Place &begin,
              llvm::function_ref<StepFeed::Place(Value, StepFeed::Place)> body);
  Value getMap(MapIndex index) { return kernel.getArgument(index); }

  Emitter e;
  TileProgram &program;
  const HopperPlan &plan;
  const HopperShape &shape;
  const HopperShape stored; ///< What the workgroup stores of a tile.
  gpu::GPUFuncOp kernel;
  const IRMapping &arguments;
  SharedBase shared;
  std::unique_ptr<StepFeed> feed;
  Value thread;
  Value workgroup; ///< In a cluster, the cluster's number.
  Value rank;      ///< In the cluster.
  Value warp;      ///< Of the workgroup; uniform.
  Value consumer;  ///< Number of the consumer; counts for consumers only.
};
} // namespace

KernelWriter::KernelWriter(TileProgram &program, const HopperPlan &plan,
                           const Kernel &frame, OpBuilder &b,
                           const DeviceOps &device)
    : e(b, program.function.getLoc(), b.getBlock(), device), program(program),
      plan(plan), shape(plan.shape), stored(shape.getStored()),
      kernel(frame.function), arguments(frame.arguments),
      shared(emitSharedBase(e, kernel->getParentOfType<gpu::GPUModuleOp>())) {}

//===----------------------------------------------------------------------===//
// Walking tiles
//===----------------------------------------------------------------------===//

/// Columns fastest, so that workgroups that run together share rows, or the
/// other way round (makeHopperPlan()). The groups with the most steps come
/// first, so that the last round of tiles is short.
ResultTile KernelWriter::locateTile(Value tile) {
  SmallVector<int64_t> counts(program.tiles.getCounts());
  if (shape.multicast)
    counts[shape.getPairDim()] /= shape.countSharers();
  const bool hasRowsFirst = plan.hasRowsFirst;
  const int64_t fast = hasRowsFirst ? counts[1] : counts[2];
  const int64_t slow = hasRowsFirst ? counts[2] : counts[1];
  Value n = e.remu(tile, fast);
  Value rest = e.divu(tile, fast);
  Value m = e.remu(rest, slow);
  Value group = counts[0] == 1 ? e.constant(0) : e.divu(rest, slow);
  if (hasRowsFirst)
    std::swap(m, n);
  if (shape.multicast) {
    Value &paired = *shape.multicast == dnn::TileDim::N ? m : n;
    paired = e.add(e.mul(paired, shape.countSharers()), rank);
  }
  if (plan.walk.growsWithGroup())
    group = arith::SubIOp::create(e.b, e.loc, e.constant(counts[0] - 1), group);
  Value row = e.mul(m, shape.tileM), column = e.mul(n, shape.tileN);
  dnn::CoordsAttr coords =
      TileProgram::getView(program.store.getView()).getCoords();
  if (plan.overlapsRows)
    row = arith::MinUIOp::create(e.b, e.loc, row,
                                 e.constant(coords.getExtent(1) - shape.tileM));
  if (plan.overlapsColumns)
    column = arith::MinUIOp::create(
        e.b, e.loc, column, e.constant(coords.getExtent(2) - shape.tileN));
  return {group, row, column};
}

StepFeed::Place KernelWriter::forEachTile(
    Value first, int64_t stride, const StepFeed::Place &begin,
    llvm::function_ref<StepFeed::Place(Value, StepFeed::Place)> body) {
  if (shape.cluster > 1)
    return body(first, begin);
  auto loop = scf::ForOp::create(e.b, e.loc, first, e.constant(plan.tiles),
                                 e.constant(stride), begin);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  StepFeed::Place end =
      body(loop.getInductionVar(),
           llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
  scf::YieldOp::create(e.b, e.loc, end);
  return llvm::to_vector_of<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Stages begin empty: the round before the first counts as read.
void KernelWriter::emitCopier(unsigned copier) {
  StepFeed::Place begin = {e.constant(0), e.constant(1)};
  auto copyTile = [&](Value tile, StepFeed::Place place) -> StepFeed::Place {
    RingPlace end =
        feed->copyTile(copier, locateTile(tile), {place[0], place[1]});
    return {end.stage, end.parity};
  };
  StepFeed::Place end =
      feed->isOneCopy(copier)
          ? copyTile(workgroup, begin)
          : forEachTile(workgroup, plan.countWalkers(), begin, copyTile);
  feed->finishCopies({end[0], end[1]});
}

void KernelWriter::emitPreparer() {
  StepFeed::Place begin = {e.constant(0), e.constant(0)};
  forEachTile(workgroup, plan.countWalkers(), begin,
              [&](Value tile, StepFeed::Place place) -> StepFeed::Place {
                RingPlace end =
                    feed->prepareTile(locateTile(tile), {place[0], place[1]});
                return {end.stage, end.parity};
              });
}

void KernelWriter::emitProducer() {
  constexpr int64_t kWarp = 32;
  for (unsigned copier = 0; copier < feed->countCopiers(); ++copier) {
    Value isMe = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                       thread, e.constant(copier * kWarp));
    emitIf(e, isMe, [&] { emitCopier(copier); });
  }
  if (!feed->prepares())
    return;
  Value isFree = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge,
                                       warp, e.constant(1));
  emitIf(e, isFree, [&] { emitPreparer(); });
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

/// A warp stores the rows that it has of its workgroup's share, unless that is
/// behind the last column. The store looks at columns only where shares end
/// behind it.
void KernelWriter::emitShare(ArrayRef<Value> sums, SumStore &store,
                             ResultTile tile) {
  constexpr int64_t kWarps = kWarpgroup / 32;
  ClusterSum cluster(
      e, shape, shared.pointer,
      {rank, e.andi(warp, kWarps - 1), e.add(thread, -kWarpgroup)});
  cluster.send(sums);
  tile.column = e.add(tile.column, cluster.getColumn());
  auto emit = [&] {
    store.begin(tile);
    store.emit(cluster.receive());
  };
  const int64_t columns = program.store.getView().getType().getShape().back();
  Value stores = cluster.hasShare();
  if (columns % shape.tileN != 0)
    stores = e.both(stores, e.ult(tile.column, columns));
  if (stores)
    emitIf(e, stores, emit);
  else
    emit();
}

/// In ping-pong consumers take turns: without them the parities of a ring that
/// both walk would be taken for each other's.
void KernelWriter::emitTile(Wgmma &wgmma, SumStore &store, Value tile,
                            StepFeed::Place &place) {
  ResultTile result = locateTile(tile);
  if (shape.wavesN > 1)
    result.column = e.add(result.column, e.mul(consumer, shape.getColumns()));
  else if (!shape.isPingPong)
    result.row = e.add(result.row, e.mul(consumer, shape.getRows()));
  if (shape.cluster > 1) {
    emitShare(feed->multiply(wgmma, result.group, place, [] {}), store, result);
    return;
  }
  store.begin(result);
  if (shape.isPingPong)
    emitTakeTurn(e, consumer);
  store.emit(feed->multiply(wgmma, result.group, place, [&] {
    if (shape.isPingPong)
      emitPassTurn(e, consumer, shape.consumers);
  }));
}

/// A scalar that TileProgram found: an argument, or one that is truncated.
Value KernelWriter::getScalar(Value scalar) {
  auto truncation = scalar.getDefiningOp<arith::TruncFOp>();
  Value value = arguments.lookup(truncation ? truncation.getIn() : scalar);
  if (value.getType() == scalar.getType())
    return value;
  return arith::TruncFOp::create(e.b, e.loc, scalar.getType(), value);
}

std::unique_ptr<WayOut> KernelWriter::makeWayOut(Value groupWarp, Value lane) {
  const bool hasGroups = program.tiles.getCounts()[0] > 1;
  if (plan.result && shape.isColumnMajor)
    return std::make_unique<ColumnStore>(e, getMap(Result), hasGroups,
                                         plan.result->runs, groupWarp, lane);
  if (plan.result)
    return std::make_unique<TmaStore>(e, getMap(Result), hasGroups,
                                      plan.result->taps, groupWarp, lane);
  Value view = program.store.getView();
  return std::make_unique<RowStore>(
      e, RowTensor(e, stored, TileProgram::getView(view), getPointer(view),
                   groupWarp, lane));
}

SumStore KernelWriter::makeStore() {
  constexpr int64_t kProducerWarps = kWarpgroup / 32;
  Value lane = e.andi(thread, 31);
  Value groupWarp = e.andi(warp, kProducerWarps - 1);
  const int64_t buffers = shape.stagers * kStoreRows * kRowBytes;
  Value staging = addBytes(e, shared.pointer,
                           e.add(e.mul(consumer, kProducerWarps * buffers),
                                 shape.getOffsetStaging()));
  dnn::TileStoreOp store = program.store;
  SumStore::Extras extras;
  for (Value extra : store.getExtras())
    extras.push_back(makeStoreExtra(e, stored, TileProgram::getView(extra),
                                    getPointer(extra), groupWarp, lane));
  IRMapping scalars =
      mapEpilogueScalars(e, store.getEpilogue(), e.b.getF32Type(),
                         [&](Value scalar) { return getScalar(scalar); });
  return SumStore(e, stored, store, makeWayOut(groupWarp, lane),
                  std::move(extras), staging, {consumer, groupWarp, lane},
                  std::move(scalars));
}

void KernelWriter::emitConsumer() {
  // Where A slides, the feed says where each line begins.
  Value firstRow = shape.isPingPong || shape.wavesN > 1 || plan.sliding
                       ? e.constant(0)
                       : e.mul(consumer, shape.getRows());
  auto getPlace = [&](const TmaOperand &operand) -> Wgmma::Operand {
    const int64_t bytes = operand.getBlockRowBytes();
    return {operand.isTransposed(), bytes,
            kWgmmaRows * shape.rowBytes * bytes / kRowBytes};
  };
  Wgmma::Operand b = getPlace(plan.b);
  if (shape.hasHaloB())
    b.blockBytes = plan.sliding->getTapRows() * b.rowBytes;
  Wgmma wgmma(e, shape, program.loadM.getType().getElementType(),
              getPlace(plan.a), b, shared.address, firstRow);
  SumStore store = makeStore();
  StepFeed::Place begin = feed->getBegin();
  Value first = workgroup;
  int64_t stride = plan.countWalkers();
  if (shape.takesTurns()) {
    Value isLast =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, consumer,
                              e.constant(shape.consumers - 1));
    emitIf(e, isLast, [&] { emitPassTurn(e, consumer, shape.consumers); });
  }
  if (shape.isPingPong) {
    // The second consumer begins with the second tile.
    Value isSecond = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                           consumer, e.constant(1));
    for (auto [at, later] : llvm::zip(begin, skipTile(begin, workgroup)))
      at = e.select(isSecond, later, at);
    first = e.add(first, e.mul(consumer, stride));
    stride *= 2;
  }
  forEachTile(first, stride, begin, [&](Value tile, StepFeed::Place place) {
    emitTile(wgmma, store, tile, place);
    return shape.isPingPong ? skipTile(place, e.add(tile, plan.countWalkers()))
                            : place;
  });
  store.finish();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void KernelWriter::emit() {
  Type i32 = e.b.getI32Type();
  auto threads = LLVM::ConstantRangeAttr::get(e.b.getContext(), APInt(32, 0),
                                              APInt(32, shape.getThreads()));
  thread = NVVM::ThreadIdXOp::create(e.b, e.loc, i32, threads);
  Value block = NVVM::BlockIdXOp::create(e.b, e.loc, i32);
  workgroup = e.divu(block, shape.getClusterSize());
  rank = e.remu(block, shape.getClusterSize());
  if (shape.cluster > 1)
    ClusterSum::begin(e);
  // Only a shuffle tells ptxas that the warp number is uniform; without it,
  // wgmma behind a branch on it may be serialised.
  warp = NVVM::ShflOp::create(e.b, e.loc, i32, e.constant(-1),
                              e.shru(thread, 5), e.constant(0), e.constant(31),
                              NVVM::ShflKind::idx, UnitAttr());
  Value group = e.shru(warp, 2);
  consumer = e.add(group, -1);
  StepFeed::Context context{e,      plan, shared.pointer, getMap(A), getMap(B),
                            thread, warp, consumer,       rank};
  feed = plan.halo         ? makeHaloFeed(context)
         : plan.sliding    ? makeSlidingFeed(context)
         : shape.splitsF32 ? makeSplitFeed(context)
         : shape.preparesB ? makePixelFeed(context)
                           : makeStepFeed(context);
  emitIf(e, e.ult(thread, 1), [&] {
    for (unsigned map = 0; map < plan.getMaps().size(); ++map)
      NVVM::PrefetchOp::create(e.b, e.loc, nullptr, nullptr,
                               kernel.getArgument(map), Value(),
                               e.b.getUnitAttr());
    feed->initialize();
  });
  // Another workgroup's copies and arrivals come to barriers that are there.
  if (shape.multicast) {
    NVVM::ClusterArriveRelaxedOp::create(e.b, e.loc, e.b.getUnitAttr());
    NVVM::ClusterWaitOp::create(e.b, e.loc, e.b.getUnitAttr());
  } else {
    NVVM::BarrierOp::create(e.b, e.loc);
  }
  auto roles = scf::IfOp::create(e.b, e.loc, e.ult(group, 1),
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&roles.getThenRegion().front());
  NVVM::SetMaxRegisterOp::create(e.b, e.loc, shape.getProducerRegisters(),
                                 NVVM::SetMaxRegisterAction::decrease);
  emitProducer();
  if (shape.cluster > 1)
    ClusterSum::attend(e);
  e.b.setInsertionPointToStart(&roles.getElseRegion().front());
  NVVM::SetMaxRegisterOp::create(e.b, e.loc, shape.getConsumerRegisters(),
                                 NVVM::SetMaxRegisterAction::increase);
  emitConsumer();
  e.b.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(e.b, e.loc);
}

/// The frame: tensor maps first, then pointers to what has none and the
/// scalars, in the order of the source.
static Kernel createFunction(TileProgram &program, const HopperPlan &plan) {
  func::FuncOp function = program.function;
  OpBuilder b(function);
  const SmallVector<TensorMap> maps = plan.getMaps();
  SmallVector<Type> inputs(maps.size(),
                           LLVM::LLVMPointerType::get(b.getContext()));
  llvm::SmallDenseSet<Value> pointers;
  for (Value extra : program.store.getExtras())
    pointers.insert(TileProgram::getView(extra).getSource());
  if (!plan.result)
    pointers.insert(TileProgram::getView(program.store.getView()).getSource());
  SmallVector<BlockArgument> sources;
  for (BlockArgument source : function.getArguments()) {
    const bool isTensor = isa<MemRefType>(source.getType());
    if (isTensor && !pointers.contains(source))
      continue;
    inputs.push_back(isTensor ? LLVM::LLVMPointerType::get(b.getContext(), 1)
                              : source.getType());
    sources.push_back(source);
  }
  Kernel kernel = {createKernelFrame(function, inputs, {},
                                     plan.shape.getThreads(), plan.workgroups),
                   {}};
  for (auto [i, source] : llvm::enumerate(sources)) {
    const unsigned index = maps.size() + i;
    kernel.arguments.map(source, kernel.function.getArgument(index));
    if (Attribute attr =
            function.getArgAttr(source.getArgNumber(), dnn::kArgAttrName))
      kernel.function.setArgAttr(index, dnn::kArgAttrName, attr);
  }
  setTensorMaps(kernel.function, maps);
  kernel.function->setAttr(dnn::kSharedBytesAttrName,
                           b.getI64IntegerAttr(plan.shape.getSharedBytes()));
  kernel.function->setAttr("nvvm.minctasm",
                           b.getI32IntegerAttr(plan.shape.blocksPerSm));
  if (plan.shape.getClusterSize() > 1)
    kernel.function->setAttr(
        NVVM::NVVMDialect::getClusterDimAttrName(),
        b.getDenseI32ArrayAttr(
            {static_cast<int32_t>(plan.shape.getClusterSize()), 1, 1}));
  return kernel;
}

LogicalResult tessera::lowerHopper(TileProgram &program,
                                   const DeviceOps &device) {
  FailureOr<HopperPlan> plan = makeHopperPlan(program, device.getTarget());
  if (failed(plan))
    return failure();
  Kernel kernel = createFunction(program, *plan);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.function.getBody().front());
  KernelWriter(program, *plan, kernel, b, device).emit();
  return success();
}
