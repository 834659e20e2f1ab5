//===- LowerHopper.cpp - Tile programs with copy tma ----------------------===//
//
// A workgroup walks tiles for as long as there are any. Its producer runs
// ahead, through the end of one tile into the next, as far as the ring reaches;
// the consumers multiply, give stages back and store.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/LowerHopper.h"
#include "compiler/Conversion/Epilogue.h"
#include "compiler/Conversion/Hopper/PixelFactors.h"
#include "compiler/Conversion/Hopper/RowTensor.h"
#include "compiler/Conversion/Hopper/StepWalk.h"
#include "compiler/Conversion/Hopper/SumStore.h"
#include "compiler/Conversion/Hopper/TmaOperand.h"
#include "compiler/Conversion/Hopper/TmaRing.h"
#include "compiler/Conversion/Hopper/TmaStore.h"
#include "compiler/Conversion/Hopper/Wgmma.h"
#include "compiler/Conversion/KernelFunction.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Everything that is known before the kernel is written.
struct Plan {
  HopperShape shape;
  TmaOperand a, b;
  std::optional<ResultMap> result; ///< None if it is stored row by row.
  int64_t steps; ///< Of the reduction of one tile, or of its part.
  int64_t parts;
  StepWalk walk; ///< Of a part.
  int64_t tiles;
  int64_t workgroups;

  /// In the order of the kernel's arguments.
  SmallVector<TensorMap> getMaps() const {
    SmallVector<TensorMap> maps = {a.getMap(), b.getMap()};
    if (result)
      maps.push_back(result->map);
    return maps;
  }
};

/// The frame of a kernel.
struct Kernel {
  gpu::GPUFuncOp function;
  IRMapping arguments; ///< Of the source function, but for what maps describe.
};

/// Emits the body of one kernel.
class KernelWriter {
public:
  KernelWriter(TileProgram &program, const Plan &plan, const Kernel &frame,
               OpBuilder &b, const DeviceOps &device);
  void emit();

private:
  enum MapIndex { A, B, Result };

  void emitProducer();
  void emitTransposer();
  void emitConsumer();
  SumStore makeStore();
  Value getScalar(Value scalar);
  Value getFirstRow();
  /// What the kernel gets for the tensor behind `view`.
  Value getPointer(Value view) {
    return arguments.lookup(TileProgram::getView(view).getSource());
  }
  void emitTile(Wgmma &wgmma, SumStore &store, Value tile, RingPlace &place);
  SmallVector<Value> emitReduction(Wgmma &wgmma, Value steps, RingPlace &place);
  SmallVector<Value> emitPixelReduction(Wgmma &wgmma, Value steps,
                                        RingPlace &place);
  SmallVector<Value> emitSums(Wgmma &wgmma, Value steps, RingPlace &place);
  RingPlace skipTile(RingPlace place, Value tile);
  void arrive(Value barrier);
  void release(Value stage);
  void takeTurn();
  void passTurn();
  ResultTile locateTile(Value tile);
  /// Calls `body` for tiles from `first` on, every `stride`th.
  void forEachTile(Value first, int64_t stride, RingPlace begin,
                   llvm::function_ref<RingPlace(Value, RingPlace)> body);
  Value getMap(MapIndex index) { return kernel.getArgument(index); }

  Emitter e;
  TileProgram &program;
  const Plan &plan;
  const HopperShape &shape;
  gpu::GPUFuncOp kernel;
  const IRMapping &arguments;
  SharedBase shared;
  TmaRing ring;
  Value thread, workgroup;
  Value warp;     ///< Of the workgroup; uniform.
  Value consumer; ///< Number of the consumer; counts for consumers only.
};
} // namespace

KernelWriter::KernelWriter(TileProgram &program, const Plan &plan,
                           const Kernel &frame, OpBuilder &b,
                           const DeviceOps &device)
    : e(b, program.function.getLoc(), b.getBlock(), device), program(program),
      plan(plan), shape(plan.shape), kernel(frame.function),
      arguments(frame.arguments),
      shared(emitSharedBase(e, kernel->getParentOfType<gpu::GPUModuleOp>())),
      ring(e, shape, shared.pointer) {}

//===----------------------------------------------------------------------===//
// Walking tiles
//===----------------------------------------------------------------------===//

/// Columns fastest: workgroups that run together share rows. The groups with
/// the most steps come first, so that the last round of tiles is short.
ResultTile KernelWriter::locateTile(Value tile) {
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  Value n = e.remu(tile, counts[2]);
  Value rest = e.divu(tile, counts[2]);
  Value m = e.remu(rest, counts[1]);
  Value group = counts[0] == 1 ? e.constant(0) : e.divu(rest, counts[1]);
  if (plan.walk.growsWithGroup())
    group = arith::SubIOp::create(e.b, e.loc, e.constant(counts[0] - 1), group);
  return {group, e.mul(m, shape.tileM), e.mul(n, shape.tileN)};
}

void KernelWriter::forEachTile(
    Value first, int64_t stride, RingPlace begin,
    llvm::function_ref<RingPlace(Value, RingPlace)> body) {
  auto loop = scf::ForOp::create(e.b, e.loc, first, e.constant(plan.tiles),
                                 e.constant(stride),
                                 ValueRange{begin.stage, begin.parity});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  RingPlace end = body(loop.getInductionVar(),
                       {loop.getRegionIterArg(0), loop.getRegionIterArg(1)});
  scf::YieldOp::create(e.b, e.loc, ValueRange{end.stage, end.parity});
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

void KernelWriter::emitProducer() {
  auto copyTile = [&](Value tile, RingPlace begin) -> RingPlace {
    ResultTile place = locateTile(tile);
    // The parts of the reduction are runs of groups.
    const int64_t groups = program.tiles.getCounts()[0] / plan.parts;
    Value firstStep = plan.parts == 1
                          ? e.constant(0)
                          : e.mul(e.divu(place.group, groups), plan.steps);
    SmallVector<Value> placeA = plan.a.locate(e, place.group, place.row);
    SmallVector<Value> placeB = plan.b.locate(e, place.group, place.column);
    auto copyStep = [&](Value stepOfPart,
                        ValueRange carried) -> SmallVector<Value> {
      Value step = e.add(firstStep, stepOfPart);
      RingPlace at{carried[0], carried[1]};
      ring.wait(ring.getEmpty(at.stage), at.parity);
      Value full = ring.getFull(at.stage);
      NVVM::MBarrierArriveExpectTxOp::create(
          e.b, e.loc, TypeRange(), full,
          e.constant(plan.a.getBytes() + plan.b.getBytes()),
          NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
      // The destination is named as one of the whole cluster's shared memory.
      auto toCluster = [&](Value pointer) -> Value {
        auto type = LLVM::LLVMPointerType::get(e.b.getContext(), 7);
        return LLVM::AddrSpaceCastOp::create(e.b, e.loc, type, pointer);
      };
      plan.a.copy(e, getMap(A), toCluster(ring.getBufferA(at.stage)), full,
                  placeA, step);
      plan.b.copy(e, getMap(B), toCluster(ring.getBufferB(at.stage)), full,
                  placeB, step);
      RingPlace next = ring.advance(at);
      return {next.stage, next.parity};
    };
    SmallVector<Value> end = plan.walk.forEachStep(
        e, place.group, {begin.stage, begin.parity}, copyStep);
    return {end[0], end[1]};
  };
  // Stages begin empty: the round before the first counts as read.
  forEachTile(workgroup, plan.workgroups, {e.constant(0), e.constant(1)},
              copyTile);
}

/// The free warps of the producer's group share out the blocks of each stage.
void KernelWriter::emitTransposer() {
  Value lane = e.andi(thread, 31);
  PixelTranspose transpose(e, lane);
  const int64_t blocks = shape.tileN / kPixelBlock;
  auto transposeStage = [&](Value stage) {
    for (int64_t i = 0; i < blocks; i += HopperShape::kTransposers) {
      Value block = e.add(warp, i - 1);
      emitIf(e, e.ult(block, blocks), [&] {
        transpose.emit(addBytes(e, ring.getBufferB(stage),
                                e.mul(block, kPixelBlockBytes)));
      });
    }
    // What was written is read by wgmma, not by threads.
    NVVM::FenceProxyOp::create(
        e.b, e.loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
    emitWarpSync(e);
    emitIf(e, e.ult(lane, 1), [&] { arrive(ring.getReady(stage)); });
  };
  auto transposeTile = [&](Value tile, RingPlace begin) -> RingPlace {
    Value steps = plan.walk.countSteps(e, locateTile(tile).group);
    auto loop =
        scf::ForOp::create(e.b, e.loc, e.constant(0), steps, e.constant(1),
                           ValueRange{begin.stage, begin.parity});
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    RingPlace at{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    ring.wait(ring.getFull(at.stage), at.parity);
    transposeStage(at.stage);
    RingPlace next = ring.advance(at);
    scf::YieldOp::create(e.b, e.loc, ValueRange{next.stage, next.parity});
    return {loop.getResult(0), loop.getResult(1)};
  };
  forEachTile(workgroup, plan.workgroups, {e.constant(0), e.constant(0)},
              transposeTile);
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

void KernelWriter::arrive(Value barrier) {
  NVVM::MBarrierArriveOp::create(e.b, e.loc, e.b.getI64Type(), barrier,
                                 Value());
}

/// One thread tells for its warpgroup that a stage has been read.
void KernelWriter::release(Value stage) {
  Value isFirst = e.ult(e.andi(thread, kWarpgroup - 1), 1);
  emitIf(e, isFirst, [&] { arrive(ring.getEmpty(stage)); });
}

/// The products of one tile. A stage is given back when the products of the
/// next one have been issued, so that one group always runs.
SmallVector<Value> KernelWriter::emitReduction(Wgmma &wgmma, Value steps,
                                               RingPlace &place) {
  ring.wait(ring.getFull(place.stage), place.parity);
  SmallVector<Value> sums =
      wgmma.multiply(place.stage, wgmma.makeSums(), /*isFirst=*/true);
  RingPlace second = ring.advance(place);
  SmallVector<Value> state = {second.stage, second.parity, place.stage};
  llvm::append_range(state, sums);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(1), steps,
                                 e.constant(1), state);
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    auto args = loop.getRegionIterArgs();
    RingPlace at{args[0], args[1]};
    ring.wait(ring.getFull(at.stage), at.parity);
    SmallVector<Value> carried(args.begin() + 3, args.end());
    carried = wgmma.multiply(at.stage, carried, /*isFirst=*/false);
    wgmma.wait(1);
    release(args[2]);
    RingPlace next = ring.advance(at);
    SmallVector<Value> yielded = {next.stage, next.parity, at.stage};
    llvm::append_range(yielded, carried);
    scf::YieldOp::create(e.b, e.loc, yielded);
  }
  if (shape.isPingPong)
    passTurn();
  wgmma.wait(0);
  release(loop.getResult(2));
  place = {loop.getResult(0), loop.getResult(1)};
  return SmallVector<Value>(llvm::drop_begin(loop.getResults(), 3));
}

/// The same of factors that are read by pixels. While a consumer loads its
/// fragments, the products of the others run.
SmallVector<Value> KernelWriter::emitPixelReduction(Wgmma &wgmma, Value steps,
                                                    RingPlace &place) {
  PixelFragments fragments(e, shape, e.andi(warp, kWarpgroup / 32 - 1),
                           e.andi(thread, 31), getFirstRow());
  auto multiply = [&](const RingPlace &at, ArrayRef<Value> sums,
                      bool isFirst) -> SmallVector<Value> {
    ring.wait(ring.getFull(at.stage), at.parity);
    SmallVector<Value> a = fragments.load(ring.getBufferA(at.stage));
    ring.wait(ring.getReady(at.stage), at.parity);
    SmallVector<Value> next =
        wgmma.multiplyFragments(at.stage, a, sums, isFirst);
    wgmma.wait(0);
    release(at.stage);
    return next;
  };
  SmallVector<Value> sums = multiply(place, wgmma.makeSums(), /*isFirst=*/true);
  RingPlace second = ring.advance(place);
  SmallVector<Value> state = {second.stage, second.parity};
  llvm::append_range(state, sums);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(1), steps,
                                 e.constant(1), state);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  auto args = loop.getRegionIterArgs();
  RingPlace at{args[0], args[1]};
  SmallVector<Value> carried(args.begin() + 2, args.end());
  carried = multiply(at, carried, /*isFirst=*/false);
  RingPlace next = ring.advance(at);
  SmallVector<Value> yielded = {next.stage, next.parity};
  llvm::append_range(yielded, carried);
  scf::YieldOp::create(e.b, e.loc, yielded);
  place = {loop.getResult(0), loop.getResult(1)};
  return SmallVector<Value>(llvm::drop_begin(loop.getResults(), 2));
}

/// The sums of one tile, which are zeros if its group has no tap.
SmallVector<Value> KernelWriter::emitSums(Wgmma &wgmma, Value steps,
                                          RingPlace &place) {
  if (shape.transposesPixels)
    return emitPixelReduction(wgmma, steps, place);
  if (!plan.walk.canBeEmpty())
    return emitReduction(wgmma, steps, place);
  SmallVector<Type> types(shape.blocks, wgmma.getSumType());
  types.append({place.stage.getType(), place.parity.getType()});
  auto branch = scf::IfOp::create(e.b, e.loc, types, e.ult(steps, 1),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  auto yield = [&](SmallVector<Value> sums, const RingPlace &at) {
    sums.append({at.stage, at.parity});
    scf::YieldOp::create(e.b, e.loc, sums);
  };
  e.b.setInsertionPointToStart(branch.thenBlock());
  if (shape.isPingPong)
    passTurn();
  Value zeros = LLVM::ZeroOp::create(e.b, e.loc, wgmma.getSumType());
  yield(SmallVector<Value>(shape.blocks, zeros), place);
  e.b.setInsertionPointToStart(branch.elseBlock());
  RingPlace end = place;
  SmallVector<Value> sums = emitReduction(wgmma, steps, end);
  yield(std::move(sums), end);
  place = {branch.getResult(shape.blocks), branch.getResult(shape.blocks + 1)};
  return SmallVector<Value>(branch.getResults().take_front(shape.blocks));
}

/// Ping-pong: where the ring is behind a tile of the other consumer.
RingPlace KernelWriter::skipTile(RingPlace place, Value tile) {
  Value steps = plan.walk.countSteps(e, locateTile(tile).group);
  return ring.advance(place, steps);
}

/// Ping-pong: named barriers 1 and 2 belong to consumers 0 and 1, and keep the
/// issue of their products in turns. Without it the parities of a ring that
/// both walk would be taken for each other's.
void KernelWriter::takeTurn() {
  NVVM::BarrierOp::create(e.b, e.loc, TypeRange(), e.add(consumer, 1),
                          e.constant(2 * kWarpgroup), nullptr, Value());
}

void KernelWriter::passTurn() {
  Value other = arith::SubIOp::create(e.b, e.loc, e.constant(2), consumer);
  NVVM::BarrierArriveOp::create(e.b, e.loc, other, e.constant(2 * kWarpgroup));
}

void KernelWriter::emitTile(Wgmma &wgmma, SumStore &store, Value tile,
                            RingPlace &place) {
  ResultTile result = locateTile(tile);
  Value steps = plan.walk.countSteps(e, result.group);
  if (!shape.isPingPong)
    result.row = e.add(result.row, e.mul(consumer, shape.blocks * kWgmmaRows));
  store.begin(result);
  if (shape.isPingPong)
    takeTurn();
  store.emit(emitSums(wgmma, steps, place));
}

/// A scalar that TileProgram found: an argument, or one that is truncated.
Value KernelWriter::getScalar(Value scalar) {
  auto truncation = scalar.getDefiningOp<arith::TruncFOp>();
  Value value = arguments.lookup(truncation ? truncation.getIn() : scalar);
  if (value.getType() == scalar.getType())
    return value;
  return arith::TruncFOp::create(e.b, e.loc, scalar.getType(), value);
}

SumStore KernelWriter::makeStore() {
  constexpr int64_t kProducerWarps = kWarpgroup / 32;
  Value lane = e.andi(thread, 31);
  Value groupWarp = e.andi(warp, kProducerWarps - 1);
  Value staging = addBytes(e, shared.pointer,
                           e.add(e.mul(e.add(warp, -kProducerWarps),
                                       shape.stagers * kStoreRows * kRowBytes),
                                 shape.getOffsetStaging()));
  dnn::TileStoreOp store = program.store;
  std::unique_ptr<WayOut> wayOut;
  if (plan.result)
    wayOut = std::make_unique<TmaStore>(
        e, getMap(Result), program.tiles.getCounts()[0] > 1,
        plan.result->tapColumns, groupWarp, lane);
  else
    wayOut = std::make_unique<RowStore>(
        e, RowTensor(e, shape, TileProgram::getView(store.getView()),
                     getPointer(store.getView()), groupWarp, lane));
  SumStore::Extras extras;
  for (Value extra : store.getExtras())
    extras.push_back(makeStoreExtra(e, shape, TileProgram::getView(extra),
                                    getPointer(extra), groupWarp, lane));
  IRMapping scalars =
      mapEpilogueScalars(e, store.getEpilogue(), e.b.getF32Type(),
                         [&](Value scalar) { return getScalar(scalar); });
  return SumStore(e, shape, store, std::move(wayOut), std::move(extras),
                  staging, lane, std::move(scalars));
}

/// The consumer's, in the tile.
Value KernelWriter::getFirstRow() {
  return shape.isPingPong ? e.constant(0)
                          : e.mul(consumer, shape.blocks * kWgmmaRows);
}

void KernelWriter::emitConsumer() {
  Wgmma wgmma(e, shape, program.loadM.getType().getElementType(),
              {plan.a.isTransposed(), plan.b.isTransposed()}, shared.address,
              getFirstRow());
  SumStore store = makeStore();
  RingPlace begin{e.constant(0), e.constant(0)};
  Value first = workgroup;
  int64_t stride = plan.workgroups;
  if (shape.isPingPong) {
    // The second consumer begins with the second tile, and gives the first
    // turn to the other.
    Value isSecond = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                           consumer, e.constant(1));
    RingPlace later = skipTile(begin, workgroup);
    begin = {e.select(isSecond, later.stage, begin.stage),
             e.select(isSecond, later.parity, begin.parity)};
    emitIf(e, isSecond, [&] { passTurn(); });
    first = e.add(first, e.mul(consumer, plan.workgroups));
    stride *= 2;
  }
  forEachTile(first, stride, begin, [&](Value tile, RingPlace place) {
    emitTile(wgmma, store, tile, place);
    return shape.isPingPong ? skipTile(place, e.add(tile, plan.workgroups))
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
  workgroup = NVVM::BlockIdXOp::create(e.b, e.loc, i32);
  // Only a shuffle tells ptxas that the warp number is uniform; without it,
  // wgmma behind a branch on it may be serialised.
  warp = NVVM::ShflOp::create(e.b, e.loc, i32, e.constant(-1),
                              e.shru(thread, 5), e.constant(0), e.constant(31),
                              NVVM::ShflKind::idx, UnitAttr());
  Value group = e.shru(warp, 2);
  consumer = e.add(group, -1);
  Value isFirst = e.ult(thread, 1);
  emitIf(e, isFirst, [&] {
    for (unsigned map = 0; map < plan.getMaps().size(); ++map)
      NVVM::PrefetchOp::create(e.b, e.loc, nullptr, nullptr,
                               kernel.getArgument(map), Value(),
                               e.b.getUnitAttr());
    ring.initialize();
  });
  NVVM::BarrierOp::create(e.b, e.loc);
  auto roles = scf::IfOp::create(e.b, e.loc, e.ult(group, 1),
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&roles.getThenRegion().front());
  NVVM::SetMaxRegisterOp::create(e.b, e.loc, shape.getProducerRegisters(),
                                 NVVM::SetMaxRegisterAction::decrease);
  emitIf(e, isFirst, [&] { emitProducer(); });
  if (shape.transposesPixels) {
    Value isFree = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge,
                                         warp, e.constant(1));
    emitIf(e, isFree, [&] { emitTransposer(); });
  }
  e.b.setInsertionPointToStart(&roles.getElseRegion().front());
  NVVM::SetMaxRegisterOp::create(e.b, e.loc, shape.getConsumerRegisters(),
                                 NVVM::SetMaxRegisterAction::increase);
  emitConsumer();
  e.b.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(e.b, e.loc);
}

/// The tensor behind a view, whose address the launch fills in.
static FailureOr<KernelArg> getTensor(TileProgram &program, Value view) {
  auto argument = cast<BlockArgument>(TileProgram::getView(view).getSource());
  auto name = program.function.getArgAttrOfType<StringAttr>(
      argument.getArgNumber(), dnn::kArgAttrName);
  std::optional<KernelArg> arg = parseKernelArg(name ? name.getValue() : "");
  if (!arg)
    return program.function.emitOpError()
           << "needs '" << dnn::kArgAttrName << "' on argument "
           << argument.getArgNumber() << " to describe it by a tensor map";
  return *arg;
}

/// What is moved row by row, or loaded a channel at a time: all extra tensors,
/// and the result if it is no map.
static LogicalResult checkRowTensors(TileProgram &program, bool storesRows) {
  dnn::TileStoreOp store = program.store;
  SmallVector<Value> views(store.getExtras());
  if (storesRows)
    views.push_back(store.getView());
  const Type result = store.getView().getType().getElementType();
  for (Value view : views) {
    Type element = cast<dnn::ViewType>(view.getType()).getElementType();
    if (element != result)
      return store.emitOpError()
             << "needs tensors of the result's type, " << result
             << ", to move their rows, but has " << element;
    if (failed(checkReach(store, view,
                          program.mma.getAcc().getType().getShape().front())))
      return failure();
  }
  return success();
}

static FailureOr<Plan> makePlan(TileProgram &program, const GpuTarget &target) {
  FailureOr<HopperShape> shape = getHopperShape(program, target);
  if (failed(shape))
    return failure();
  if (program.store.getAtomic())
    return program.store.emitOpError(
        "adds atomically, but tiles stored by tma are parts of their own");
  FailureOr<KernelArg> nameA = getTensor(program, program.loadM.getView());
  FailureOr<KernelArg> nameB = getTensor(program, program.loadN.getView());
  FailureOr<KernelArg> nameD = getTensor(program, program.store.getView());
  if (failed(nameA) || failed(nameB) || failed(nameD))
    return failure();
  const TmaWalk order = TmaOperand::chooseWalk(program.loadM, program.loadN);
  FailureOr<TmaOperand> a = TmaOperand::match(program.loadM, *nameA, order);
  if (failed(a))
    return failure();
  FailureOr<TmaOperand> b = TmaOperand::match(program.loadN, *nameB, order);
  if (failed(b))
    return failure();
  if (program.mma.getInstruction() == kWgmmaTf32 && order != TmaWalk::Pixels &&
      (a->isTransposed() || b->isTransposed()))
    return program.mma.emitOpError(
        "multiplies tf32, of which wgmma reads no transposed factors");
  std::optional<ResultMap> result = makeResultMap(program.store, *nameD);
  if (failed(checkRowTensors(program, /*storesRows=*/!result)))
    return failure();
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  const int64_t tiles = counts[0] * counts[1] * counts[2];
  const int64_t resident = *program.tiles.getPersistent() * shape->blocksPerSm;
  const int64_t parts = program.pipeline.getParts().value_or(1);
  const int64_t steps = llvm::divideCeilSigned(a->getSteps(), parts);
  StepWalk walk(program.loadM, program.loadN, steps);
  return Plan{*shape,          std::move(*a), std::move(*b),
              result,          steps,         parts,
              std::move(walk), tiles,         std::min(tiles, resident)};
}

/// The frame: tensor maps first, then pointers to what has none and the
/// scalars, in the order of the source.
static Kernel createFunction(TileProgram &program, const Plan &plan) {
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
  SmallVector<std::string> texts;
  for (const TensorMap &map : maps)
    texts.push_back(map.toText());
  kernel.function->setAttr(
      dnn::kTensorMapsAttrName,
      b.getStrArrayAttr(SmallVector<StringRef>(texts.begin(), texts.end())));
  kernel.function->setAttr(dnn::kSharedBytesAttrName,
                           b.getI64IntegerAttr(plan.shape.getSharedBytes()));
  kernel.function->setAttr("nvvm.minctasm",
                           b.getI32IntegerAttr(plan.shape.blocksPerSm));
  // For the backend, which passes them by value.
  Attribute count = b.getStrArrayAttr(
      {dnn::kTensorMapsAttrName, std::to_string(maps.size())});
  kernel.function->setAttr("passthrough", b.getArrayAttr(count));
  return kernel;
}

LogicalResult tessera::lowerHopper(TileProgram &program,
                                   const DeviceOps &device) {
  FailureOr<Plan> plan = makePlan(program, device.getTarget());
  if (failed(plan))
    return failure();
  Kernel kernel = createFunction(program, *plan);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.function.getBody().front());
  KernelWriter(program, *plan, kernel, b, device).emit();
  return success();
}
