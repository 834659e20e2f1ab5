//===- WorkgroupOps.cpp - The ops that make up a workgroup's program ------===//

#include "compiler/Conversion/Workgroup/ProgramLowering.h"
#include "compiler/Conversion/Workgroup/WorkgroupPlan.h"

using namespace mlir;
using namespace tessera;

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

/// A role that runs before all others can wait for none of them.
static LogicalResult checkFirst(WorkgroupPlan &plan) {
  for (wg::RoleOp role : plan.roles) {
    if (!role.getFirst())
      continue;
    if (plan.roles.size() != 2 || plan.mmaSums || plan.rings.size() != 1)
      return role.emitOpError("begins before others, and needs to be the only "
                              "one besides the one that multiplies, with one "
                              "wg.stages");
    if (!plan.rings.front().stays())
      return plan.rings.front().emitOpError(
          "is emptied for a role that has ended before others begin");
  }
  return success();
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
  if (failed(checkFirst(plan)))
    return failure();
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

LogicalResult tessera::findOps(WorkgroupPlan &plan) {
  if (failed(checkOps(plan.program)))
    return failure();
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
