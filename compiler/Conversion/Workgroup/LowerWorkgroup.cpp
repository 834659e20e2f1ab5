//===- LowerWorkgroup.cpp - From a workgroup's program to its threads -----===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Common/LaunchOrder.h"
#include "compiler/Conversion/Hopper/GradientSums.h"
#include "compiler/Conversion/Hopper/ResultStatistics.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/Workgroup/CellProgram.h"
#include "compiler/Conversion/Workgroup/WaveProgram.h"
#include "compiler/Conversion/Workgroup/WorkgroupLowering.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERWORKGROUP
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

WorkgroupLowering::WorkgroupLowering(WorkgroupPlan &plan,
                                     const TmaKernel &frame, OpBuilder &b,
                                     const DeviceOps &device)
    : sizes(plan.function), e(b, plan.function.getLoc(), b.getBlock(), device),
      plan(plan), shape(plan.shape), stored(shape.getStored()),
      kernel(frame.function), arguments(frame.arguments),
      shared(emitSharedBase(e, kernel->getParentOfType<gpu::GPUModuleOp>())) {
  sizes.setKernel(kernel);
  e.sizes = &sizes;
  int64_t offset = shape.getOffsetBarriers();
  for (wg::StagesOp stages : plan.rings) {
    const auto readers = static_cast<int64_t>(stages.getEmpty().value_or(
        shape.copiesFirst ? 0 : shape.countReaders()));
    rings.emplace_back(e, shared.pointer, offset, stages.countStages(), readers,
                       static_cast<int64_t>(stages.getReady().value_or(0)));
    offset += stages.countBarriers() * stages.countStages() * kBarrierBytes;
  }
  if (plan.mmaSums)
    tensorMemory.emplace(e, shape, plan.mmaSums.getSums().getType(),
                         plan.boxA.getType().getElementType(), shared, offset);
}

/// A struct of sums for each instruction that shares an accumulator.
SmallVector<Type> WorkgroupLowering::getTypes(TypeRange types) {
  SmallVector<Type> all;
  for (Type type : types) {
    auto acc = dyn_cast<wg::AccType>(type);
    if (!acc) {
      all.push_back(type);
      continue;
    }
    SmallVector<Type> sums(acc.getProductColumns() / 2, e.b.getF32Type());
    all.append(acc.countBlocks(),
               LLVM::LLVMStructType::getLiteral(e.b.getContext(), sums));
  }
  return all;
}

void WorkgroupLowering::mapResults(ValueRange results, ValueRange targets) {
  size_t first = 0;
  for (Value result : results) {
    const size_t count = getTypes(result.getType()).size();
    map(result, llvm::to_vector(targets.slice(first, count)));
    first += count;
  }
}

LogicalResult WorkgroupLowering::lower(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    FailureOr<SmallVector<Value *>> carried = findCarried(loop);
    return success(succeeded(carried) && succeeded(lowerLoop(loop, *carried)));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerBranch(branch);
  if (isa<wg::AcquireOp, wg::AwaitOp, wg::ArriveOp, wg::ReleaseOp, wg::NextOp,
          wg::LeaveOp, wg::DrainOp>(op))
    return onlyAsks ? success()
                    : lowerRing(op, plan.getRing(op->getOperand(0)));
  if (auto box = dyn_cast<wg::BoxOp>(op)) {
    map(box, plan.getOperand(box).locate(e, get(box.getGroup()),
                                         get(box.getRow()), rank));
  } else if (auto copy = dyn_cast<wg::CopyOp>(op)) {
    onlyAsks ? askForCopy(copy) : lowerCopy(copy);
  } else if (auto prepare = dyn_cast<wg::PrepareOp>(op)) {
    lowerPrepare(prepare);
  } else if (auto load = dyn_cast<wg::LoadOp>(op)) {
    lowerLoad(load);
  } else if (auto mma = dyn_cast<wg::MmaOp>(op)) {
    return lowerProduct(mma);
  } else if (auto mmaSums = dyn_cast<wg::MmaSumsOp>(op)) {
    lowerSums(mmaSums);
  } else if (auto loadSums = dyn_cast<wg::LoadSumsOp>(op)) {
    lowerLoad(loadSums);
  } else if (auto wait = dyn_cast<wg::WaitOp>(op)) {
    wgmma->wait(static_cast<int64_t>(wait.getGroups()));
  } else if (auto zero = dyn_cast<wg::ZeroOp>(op)) {
    Type type = getTypes(zero.getType()).front();
    map(zero, SmallVector<Value>(zero.getType().countBlocks(),
                                 LLVM::ZeroOp::create(e.b, e.loc, type)));
  } else if (auto add = dyn_cast<wg::AddOp>(op)) {
    lowerAdd(add);
  } else if (auto take = dyn_cast<wg::OrderWaitOp>(op)) {
    emitTakeTurn(e, get(take.getWarpgroup()));
  } else if (auto pass = dyn_cast<wg::OrderArriveOp>(op)) {
    emitPassTurn(e, get(pass.getWarpgroup()),
                 static_cast<int64_t>(pass.getWarpgroups()));
  } else if (isa<wg::ResultOp, wg::StoreOp, wg::FlushOp>(op)) {
    return lowerResult(op);
  } else if (isa<wg::SendOp, wg::ReceiveOp>(op)) {
    return lowerCluster(op);
  } else if (auto slice = dyn_cast<wg::SliceOp>(op)) {
    lowerSlice(slice);
  } else if (isa<wg::SizeOp>(op)) {
    map(op->getResult(0), get(op->getResult(0)));
  } else if (auto walk = dyn_cast<wg::WalkOp>(op)) {
    map(walk, emitLaunchOrder(e, kernel, get(walk.getTile()),
                              static_cast<int64_t>(walk.getTiles())));
  } else if (auto slide = dyn_cast<wg::SlideOp>(op)) {
    map(slide, locateOldest(slide));
  } else {
    clone(op);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static Wgmma::Operand getOperand(const HopperShape &shape,
                                 const TmaOperand &operand) {
  const int64_t bytes = operand.getBlockRowBytes();
  return {operand.isTransposed(), bytes,
          kWgmmaRows * shape.rowBytes * bytes / kRowBytes};
}

/// Behind what says where the consumer's rows are: what stays the same for all
/// tiles.
void WorkgroupLowering::prepareConsumer(Value firstRow) {
  Wgmma::Operand b = getOperand(shape, *plan.b);
  if (wg::SlideOp slide = plan.getSlideB())
    b.blockBytes = static_cast<int64_t>(slide.getPitch()) * b.rowBytes;
  if (!tensorMemory)
    wgmma.emplace(e, shape, plan.boxA.getType().getElementType(),
                  getOperand(shape, *plan.a), b, shared.address, firstRow);
  StoredTile tile{plan.result.getView().getDefiningOp<dnn::ViewOp>(),
                  {},
                  plan.store.getEpilogue(),
                  plan.map};
  for (Value extra : plan.result.getExtras())
    tile.extras.push_back(extra.getDefiningOp<dnn::ViewOp>());
  constexpr unsigned kResult = 2;
  store.emplace(
      makeSumStore(e, stored, tile,
                   {shared.pointer, thread, warp, consumer,
                    plan.map ? kernel.getArgument(kResult) : Value(),
                    [&](Value source) { return arguments.lookup(source); }}));
  if (plan.store.getStatistics())
    prepareStatistics(tile.view);
}

void WorkgroupLowering::prepareStatistics(dnn::ViewOp result) {
  Value statistics = plan.store.getStatistics();
  const PartialsMemory memory{
      arguments.lookup(statistics),
      cast<MemRefType>(statistics.getType()).getDimSize(0), plan.hasPartOfTile,
      static_cast<int64_t>(plan.program.getWorkgroups())};
  const StagedPartials::Thread at{workgroup, consumer, getGroupWarp(),
                                  getLane()};
  if (plan.store.getNormTensors().empty()) {
    store->setPartials(
        std::make_unique<ResultStatistics>(e, stored, result, memory, at));
    return;
  }
  NormMemory norm;
  for (Value tensor : plan.store.getNormTensors()) {
    auto view = tensor.getDefiningOp<dnn::ViewOp>();
    norm.tensors.push_back(
        {ViewAccess(view), arguments.lookup(view.getSource())});
  }
  for (Value numbers : plan.store.getNormNumbers())
    norm.numbers.push_back(arguments.lookup(numbers));
  store->setPartials(std::make_unique<GradientSums>(e, stored, result, memory,
                                                    at, std::move(norm)));
}

/// Stages begin empty: for those that fill them, the round before the first
/// counts as read.
LogicalResult WorkgroupLowering::emitRole(wg::RoleOp role, Value number) {
  map(role.getBody().getArgument(0), number);
  places.clear();
  issuesSums = plan.mmaSums && role->isProperAncestor(plan.mmaSums);
  for (wg::StagesOp stages : plan.rings) {
    const bool acquires =
        llvm::any_of(stages.getResult().getUsers(), [&](Operation *user) {
          return isa<wg::AcquireOp>(user) && role->isAncestor(user);
        });
    places.push_back({{e.constant(0), e.constant(acquires ? 1 : 0)}, Value()});
  }
  return lower(role.getBody().front());
}

/// A warp each, of which one thread runs, and then those that change operands.
LogicalResult WorkgroupLowering::emitCopiers() {
  constexpr int64_t kWarp = 32;
  NVVM::SetMaxRegisterOp::create(
      e.b, e.loc, static_cast<int64_t>(plan.roles.front().getRegisters()),
      NVVM::SetMaxRegisterAction::decrease);
  LogicalResult result = success();
  int64_t first = 0;
  for (wg::RoleOp role : ArrayRef(plan.roles).drop_back()) {
    using Predicate = arith::CmpIPredicate;
    Value isMe = role.getThread()
                     ? arith::CmpIOp::create(e.b, e.loc, Predicate::eq, thread,
                                             e.constant(first * kWarp))
                     : arith::CmpIOp::create(e.b, e.loc, Predicate::uge, warp,
                                             e.constant(first));
    emitIf(e, isMe, [&] {
      Value number = role.getThread() ? e.constant(0) : e.add(warp, -first);
      if (failed(emitRole(role, number)))
        result = failure();
    });
    ++first;
  }
  if (shape.cluster > 1)
    ClusterSum::attend(e);
  return result;
}

LogicalResult WorkgroupLowering::emitConsumer() {
  if (!shape.copiesFirst)
    NVVM::SetMaxRegisterOp::create(
        e.b, e.loc, static_cast<int64_t>(plan.consumer.getRegisters()),
        NVVM::SetMaxRegisterAction::increase);
  if (!plan.ownRows)
    prepareConsumer(e.constant(0));
  return emitRole(plan.consumer, consumer);
}

/// One thread, then all: its copies are on their way while the others begin.
/// Loops over them are written out, so that one issues behind the other.
LogicalResult WorkgroupLowering::emitFirst() {
  LogicalResult result = emitEarlyReads();
  auto branch = scf::IfOp::create(e.b, e.loc, e.ult(thread, 1));
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    if (succeeded(result))
      result = emitRole(plan.roles.front(), e.constant(0));
  }
  SmallVector<scf::ForOp> loops;
  branch.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (failed(result) || failed(loopUnrollFull(loop)))
      return failure();
  NVVM::BarrierOp::create(e.b, e.loc);
  return emitConsumer();
}

LogicalResult WorkgroupLowering::emitRoles(Value group) {
  auto roles = scf::IfOp::create(e.b, e.loc, e.ult(group, 1),
                                 /*withElseRegion=*/true);
  e.b.setInsertionPointToStart(&roles.getThenRegion().front());
  if (failed(emitCopiers()))
    return failure();
  e.b.setInsertionPointToStart(&roles.getElseRegion().front());
  return emitConsumer();
}

LogicalResult WorkgroupLowering::emit() {
  TmaThreads threads = emitTmaThreads(e, shape);
  workgroup = threads.workgroup;
  thread = threads.thread;
  warp = threads.warp;
  rank = threads.rank;
  consumer = threads.consumer;
  map(plan.program.getBody().getArgument(0), threads.workgroup);
  map(plan.program.getBody().getArgument(1), rank);
  if (tensorMemory)
    tensorMemory->allocate(warp);
  emitTmaBegin(e, shape, kernel, plan.getMaps().size(), thread, [&] {
    for (TmaRing &ring : rings)
      ring.initialize();
  });
  if (tensorMemory)
    tensorMemory->find();
  for (Operation &op : plan.program.getBody().front())
    if (isa<wg::SizeOp>(op) || isa<arith::ArithDialect>(op.getDialect()))
      (void)lower(&op);
  if (failed(shape.copiesFirst ? emitFirst() : emitRoles(threads.group)))
    return failure();
  e.b.setInsertionPointToEnd(&kernel.getBody().front());
  if (tensorMemory)
    tensorMemory->free(warp);
  gpu::ReturnOp::create(e.b, e.loc);
  return success();
}

namespace {
struct LowerWorkgroup : tessera::impl::LowerWorkgroupBase<LowerWorkgroup> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerDeviceDialects(registry);
  }

  LogicalResult lower(func::FuncOp function, wg::ProgramOp program,
                      const DeviceOps &device) {
    if (program.getWaves())
      return isCellProgram(program)
                 ? lowerCellProgram(function, program, device)
                 : lowerWaveProgram(function, program, device);
    FailureOr<WorkgroupPlan> plan =
        readWorkgroupPlan(function, program, device.getTarget());
    if (failed(plan) || failed(checkStages(*plan)))
      return failure();
    llvm::SmallDenseSet<Value> pointers;
    for (Value extra : plan->result.getExtras())
      pointers.insert(extra.getDefiningOp<dnn::ViewOp>().getSource());
    if (!plan->map)
      pointers.insert(
          plan->result.getView().getDefiningOp<dnn::ViewOp>().getSource());
    if (Value statistics = plan->store.getStatistics())
      pointers.insert(statistics);
    for (Value tensor : plan->store.getNormTensors())
      pointers.insert(tensor.getDefiningOp<dnn::ViewOp>().getSource());
    for (Value numbers : plan->store.getNormNumbers())
      pointers.insert(numbers);
    const std::optional<StringRef> tiles = program.getTiles();
    const auto workgroups = static_cast<int64_t>(program.getWorkgroups());
    TmaKernel kernel = createTmaKernel(function, plan->getMaps(), pointers,
                                       plan->shape, tiles ? 0 : workgroups);
    if (tiles)
      kernel.function->setAttr(
          dnn::kWorkgroupsAttrName,
          StringAttr::get(
              function.getContext(),
              minimum(*parseSizeExpr(*tiles), SizeExpr(workgroups)).toText()));
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.function.getBody().front());
    if (failed(WorkgroupLowering(*plan, kernel, b, device).emit()))
      return failure();
    function.erase();
    return success();
  }

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      if (wg::findProgram(function))
        functions.push_back(function);
    });
    if (functions.empty())
      return;
    std::unique_ptr<DeviceOps> device = createDeviceOps(*target);
    getKernelModule(getOperation());
    for (func::FuncOp function : functions)
      if (failed(lower(function, wg::findProgram(function), *device)))
        return signalPassFailure();
  }
};
} // namespace
