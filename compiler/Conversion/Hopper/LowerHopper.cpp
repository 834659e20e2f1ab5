//===- LowerHopper.cpp - Tile programs with copy tma ----------------------===//
//
// A workgroup walks tiles for as long as there are any. Its producer runs
// ahead, through the end of one tile into the next, as far as the ring reaches;
// the consumers multiply, give stages back and store.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/LowerHopper.h"
#include "compiler/Conversion/Hopper/StepFeed.h"
#include "compiler/Conversion/Hopper/SumStore.h"
#include "compiler/Conversion/Hopper/TileOrder.h"
#include "compiler/Conversion/Hopper/TmaKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Emits the body of one kernel.
class KernelWriter {
public:
  KernelWriter(TileProgram &program, const HopperPlan &plan,
               const TmaKernel &frame, OpBuilder &b, const DeviceOps &device);
  void emit();

private:
  enum MapIndex { A, B, Result };

  void emitProducer();
  void emitCopier(unsigned copier);
  void emitConsumer();
  SumStore makeStore();
  void emitTile(Wgmma &wgmma, SumStore &store, Value tile,
                StepFeed::Place &place);
  ResultTile locateTile(Value tile) {
    return tessera::locateTile(e, plan, program, tile, rank);
  }
  /// Calls `body` for the workgroup's tiles; the place behind.
  StepFeed::Place
  forEachTile(const StepFeed::Place &begin,
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
                           const TmaKernel &frame, OpBuilder &b,
                           const DeviceOps &device)
    : e(b, program.function.getLoc(), b.getBlock(), device), program(program),
      plan(plan), shape(plan.shape), stored(shape.getStored()),
      kernel(frame.function), arguments(frame.arguments),
      shared(emitSharedBase(e, kernel->getParentOfType<gpu::GPUModuleOp>())) {}

//===----------------------------------------------------------------------===//
// Walking tiles
//===----------------------------------------------------------------------===//

StepFeed::Place KernelWriter::forEachTile(
    const StepFeed::Place &begin,
    llvm::function_ref<StepFeed::Place(Value, StepFeed::Place)> body) {
  auto loop = scf::ForOp::create(e.b, e.loc, workgroup, e.constant(plan.tiles),
                                 e.constant(plan.countWalkers()), begin);
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
  forEachTile(begin, [&](Value tile, StepFeed::Place place) -> StepFeed::Place {
    RingPlace end =
        feed->copyTile(copier, locateTile(tile), {place[0], place[1]});
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
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

void KernelWriter::emitTile(Wgmma &wgmma, SumStore &store, Value tile,
                            StepFeed::Place &place) {
  ResultTile result = locateTile(tile);
  if (shape.wavesN > 1)
    result.column = e.add(result.column, e.mul(consumer, shape.getColumns()));
  else
    result.row = e.add(result.row, e.mul(consumer, shape.getRows()));
  store.begin(result);
  store.emit(feed->multiply(wgmma, result.group, place));
}

SumStore KernelWriter::makeStore() {
  dnn::TileStoreOp store = program.store;
  StoredTile tile{TileProgram::getView(store.getView()),
                  {},
                  store.getEpilogue(),
                  plan.result};
  for (Value extra : store.getExtras())
    tile.extras.push_back(TileProgram::getView(extra));
  return makeSumStore(
      e, stored, tile,
      {shared.pointer, thread, warp, consumer,
       plan.result ? getMap(Result) : Value(),
       [&](Value source) { return arguments.lookup(source); },
       [&](Value scalar) { return getEpilogueScalar(e, arguments, scalar); }});
}

void KernelWriter::emitConsumer() {
  // The feed says where each line begins.
  Value firstRow = e.constant(0);
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
  forEachTile(feed->getBegin(), [&](Value tile, StepFeed::Place place) {
    emitTile(wgmma, store, tile, place);
    return place;
  });
  store.finish();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void KernelWriter::emit() {
  TmaThreads threads = emitTmaThreads(e, shape);
  thread = threads.thread;
  workgroup = threads.workgroup;
  rank = threads.rank;
  warp = threads.warp;
  consumer = threads.consumer;
  StepFeed::Context context{e,      plan, shared.pointer, getMap(A), getMap(B),
                            thread, warp, consumer,       rank};
  feed = makeSlidingFeed(context);
  emitTmaBegin(e, shape, kernel, plan.getMaps().size(), thread,
               [&] { feed->initialize(); });
  auto roles = scf::IfOp::create(e.b, e.loc, e.ult(threads.group, 1),
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&roles.getThenRegion().front());
  NVVM::SetMaxRegisterOp::create(e.b, e.loc, shape.getProducerRegisters(),
                                 NVVM::SetMaxRegisterAction::decrease);
  emitProducer();
  e.b.setInsertionPointToStart(&roles.getElseRegion().front());
  NVVM::SetMaxRegisterOp::create(e.b, e.loc, shape.getConsumerRegisters(),
                                 NVVM::SetMaxRegisterAction::increase);
  emitConsumer();
  e.b.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(e.b, e.loc);
}

LogicalResult tessera::lowerHopper(TileProgram &program,
                                   const DeviceOps &device) {
  FailureOr<HopperPlan> plan = makeHopperPlan(program, device.getTarget());
  if (failed(plan))
    return failure();
  if (isWorkgroupProgram(program))
    return program.pipeline.emitOpError(
        "copies by TMA, which dnn-expand-pipeline lowers, unless its taps "
        "share rows of pixels that slide");
  llvm::SmallDenseSet<Value> pointers;
  for (Value extra : program.store.getExtras())
    pointers.insert(TileProgram::getView(extra).getSource());
  if (!plan->result)
    pointers.insert(TileProgram::getView(program.store.getView()).getSource());
  TmaKernel kernel = createTmaKernel(program.function, plan->getMaps(),
                                     pointers, plan->shape, plan->workgroups);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.function.getBody().front());
  KernelWriter(program, *plan, kernel, b, device).emit();
  return success();
}
