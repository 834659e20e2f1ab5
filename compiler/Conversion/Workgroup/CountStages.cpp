//===- CountStages.cpp - Whether roles agree about how many there are -----===//
//
// A role that reads one stage more than are filled waits forever, and so does
// one that fills more than are read. How many a role goes through is decided by
// arithmetic on the numbers of its workgroup and its warpgroup, which is done
// here, and so is where rows begin that slide through stages. Loops whose
// iterations are alike are visited once. Before that, arrivals at a stage must
// be as many as it waits for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WorkgroupPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>
#include <vector>

using namespace mlir;
using namespace tessera;

namespace {
class StageCounter {
public:
  /// Stages that a warpgroup goes through, of each of the rings.
  using Counts = SmallVector<int64_t>;

  StageCounter(WorkgroupPlan &plan, wg::RoleOp role);
  /// Those of `warpgroup` in the first workgroup with this rank.
  FailureOr<Counts> count(int64_t rank, int64_t warpgroup);
  /// Whether a role's warpgroups may count differently, and ranks likewise.
  bool dependsOnWarpgroup() { return decides(role.getBody().getArgument(0)); }
  bool dependsOnRank() {
    return decides(plan.program.getBody().getArgument(1));
  }

private:
  bool decides(Value value) const { return deciding.contains(value); }
  void addDeciding(Value value);
  FailureOr<int64_t> get(Operation *user, Value value);
  LogicalResult visit(Block &block, int64_t times);
  LogicalResult visitLoop(scf::ForOp loop, int64_t times);
  LogicalResult visitBranch(scf::IfOp branch, int64_t times);
  LogicalResult visitSlide(wg::SlideOp slide);
  void fold(Operation &op);

  WorkgroupPlan &plan;
  wg::RoleOp role;
  DenseSet<Operation *> moving; ///< What goes on to next stages, or holds that.
  DenseSet<Value> deciding;     ///< What says how often.
  /// Of each block those of `moving`, and those that make `deciding`.
  DenseMap<Block *, std::vector<Operation *>> ops;
  DenseMap<Value, int64_t> values;
  Counts counts;
};
} // namespace

/// Whether `op` goes on to the next stage. What passes stages by is no reader.
static bool goesOn(Operation *op) {
  auto next = dyn_cast<wg::NextOp>(op);
  return isa<wg::LeaveOp>(op) || (next && !next.getSteps());
}

StageCounter::StageCounter(WorkgroupPlan &plan, wg::RoleOp role)
    : plan(plan), role(role) {
  role.walk([&](Operation *op) {
    auto slide = dyn_cast<wg::SlideOp>(op);
    if (!goesOn(op) && !slide)
      return;
    if (slide)
      addDeciding(slide.getColumn());
    for (; op != role && moving.insert(op).second; op = op->getParentOp()) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        for (Value bound :
             {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
          addDeciding(bound);
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        addDeciding(branch.getCondition());
    }
  });
  plan.program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    const bool makes = op->getNumResults() == 1 && decides(op->getResult(0));
    if (makes || moving.contains(op))
      ops[op->getBlock()].push_back(op);
  });
}

void StageCounter::addDeciding(Value value) {
  if (!deciding.insert(value).second)
    return;
  if (Operation *op = value.getDefiningOp())
    for (Value operand : op->getOperands())
      addDeciding(operand);
}

FailureOr<int64_t> StageCounter::get(Operation *user, Value value) {
  if (auto known = values.find(value); known != values.end())
    return known->second;
  return user->emitOpError("decides about stages by more than arithmetic on "
                           "the numbers of workgroup and warpgroup");
}

/// What programs do for each tile. MLIR's own folding, which makes attributes,
/// takes ten times as long.
static std::optional<int64_t> evaluate(Operation &op, ArrayRef<int64_t> in) {
  if (auto size = dyn_cast<wg::SizeOp>(op)) {
    // Any sizes will do: the roles read the same numbers.
    constexpr int64_t kSample = 61;
    const ErrorOr<SizeExpr> expression = parseSizeExpr(size.getExpression());
    const ErrorOr<int64_t> number =
        expression->evaluate([](KernelArg, int64_t) { return kSample; });
    return number ? std::optional(*number) : std::nullopt;
  }
  // Roles have as many stages of either order.
  if (isa<wg::WalkOp>(op))
    return in[0];
  auto get = [&](size_t i) { return static_cast<uint32_t>(in[i]); };
  auto wrap = [](int64_t number) { return static_cast<int32_t>(number); };
  if (isa<arith::AddIOp>(op))
    return wrap(in[0] + in[1]);
  if (isa<arith::SubIOp>(op))
    return wrap(in[0] - in[1]);
  if (isa<arith::MulIOp>(op))
    return wrap(in[0] * in[1]);
  if (isa<arith::DivUIOp>(op) && in[1] != 0)
    return wrap(get(0) / get(1));
  if (isa<arith::RemUIOp>(op) && in[1] != 0)
    return wrap(get(0) % get(1));
  if (isa<arith::MinUIOp>(op))
    return wrap(std::min(get(0), get(1)));
  if (isa<arith::SelectOp>(op))
    return in[0] != 0 ? in[1] : in[2];
  if (isa<arith::ExtUIOp>(op))
    return in[0] != 0; // A condition.
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(32, get(0)),
                                    APInt(32, get(1)));
  return std::nullopt;
}

/// Any other arithmetic.
static std::optional<int64_t> foldAny(Operation &op, ArrayRef<int64_t> in) {
  SmallVector<Attribute> operands;
  for (auto [operand, number] : llvm::zip_equal(op.getOperands(), in))
    operands.push_back(IntegerAttr::get(
        operand.getType(),
        APInt(operand.getType().getIntOrFloatBitWidth(), number,
              /*isSigned=*/true, /*implicitTrunc=*/true)));
  SmallVector<OpFoldResult> results;
  if (failed(op.fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  if (auto number = dyn_cast_if_present<IntegerAttr>(
          dyn_cast<Attribute>(results.front())))
    return number.getInt();
  // It is one of the operands.
  auto same = llvm::find(op.getOperands(), dyn_cast<Value>(results.front()));
  if (same == op.getOperands().end())
    return std::nullopt;
  return in[same - op.getOperands().begin()];
}

/// Leaves a result unknown that is no arithmetic on what is known.
void StageCounter::fold(Operation &op) {
  SmallVector<int64_t, 4> in;
  for (Value operand : op.getOperands()) {
    auto known = values.find(operand);
    if (known == values.end())
      return;
    in.push_back(known->second);
  }
  std::optional<int64_t> number = evaluate(op, in);
  if (!number && isa<arith::ArithDialect>(op.getDialect()))
    number = foldAny(op, in);
  if (number)
    values[op.getResult(0)] =
        op.getResult(0).getType().isInteger(1) ? *number != 0 : *number;
}

LogicalResult StageCounter::visitLoop(scf::ForOp loop, int64_t times) {
  FailureOr<int64_t> first = get(loop, loop.getLowerBound());
  FailureOr<int64_t> last = get(loop, loop.getUpperBound());
  FailureOr<int64_t> step = get(loop, loop.getStep());
  if (failed(first) || failed(last) || failed(step))
    return failure();
  if (*step <= 0)
    return loop.emitOpError("needs a step above zero");
  if (*first >= *last)
    return success();
  if (!decides(loop.getInductionVar()))
    return visit(*loop.getBody(),
                 times * llvm::divideCeilSigned(*last - *first, *step));
  for (int64_t i = *first; i < *last; i += *step) {
    values[loop.getInductionVar()] = i;
    if (failed(visit(*loop.getBody(), times)))
      return failure();
  }
  return success();
}

LogicalResult StageCounter::visitBranch(scf::IfOp branch, int64_t times) {
  FailureOr<int64_t> condition = get(branch, branch.getCondition());
  if (failed(condition))
    return failure();
  Region &taken =
      *condition != 0 ? branch.getThenRegion() : branch.getElseRegion();
  return taken.empty() ? success() : visit(taken.front(), times);
}

/// Its last block ends in the current stage, and its first begins `ahead` in
/// front of that.
LogicalResult StageCounter::visitSlide(wg::SlideOp slide) {
  FailureOr<int64_t> column = get(slide, slide.getColumn());
  if (failed(column))
    return failure();
  const int64_t step = slide.getType().getColumns();
  const int64_t ahead = static_cast<int64_t>(slide.getAhead()) * step;
  const int64_t last = *column + static_cast<int64_t>(slide.getPitch()) *
                                     (slide.countBlocks() - 1);
  if (*column >= 0 && last <= ahead)
    return success();
  return slide.emitOpError()
         << "has blocks from column " << *column << " to " << last
         << ", of which " << ahead << " lie before the current stage";
}

LogicalResult StageCounter::visit(Block &block, int64_t times) {
  auto found = ops.find(&block);
  if (found == ops.end())
    return success();
  for (Operation *next : found->second) {
    Operation &op = *next;
    if (!moving.contains(&op)) {
      fold(op);
      continue;
    }
    LogicalResult result = success();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      result = visitLoop(loop, times);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      result = visitBranch(branch, times);
    else if (auto slide = dyn_cast<wg::SlideOp>(op))
      result = visitSlide(slide);
    else
      counts[plan.getRing(op.getOperand(0))] += times;
    if (failed(result))
      return failure();
  }
  return success();
}

FailureOr<StageCounter::Counts> StageCounter::count(int64_t rank,
                                                    int64_t warpgroup) {
  counts.assign(plan.rings.size(), 0);
  values.clear();
  Block &program = plan.program.getBody().front();
  values[program.getArgument(0)] = 0;
  values[program.getArgument(1)] = rank;
  values[role.getBody().getArgument(0)] = warpgroup;
  for (Operation *op : ops[&program])
    if (!moving.contains(op))
      fold(*op);
  if (failed(visit(role.getBody().front(), 1)))
    return failure();
  return counts;
}

//===----------------------------------------------------------------------===//
// What the roles have to agree about
//===----------------------------------------------------------------------===//

namespace {
/// What a role does with some stages.
struct Use {
  bool fills = false, reads = false;
  bool passesBy = false; ///< Leaves some of them to its other warpgroups.
};
} // namespace

static Use findUse(wg::StagesOp ring, wg::RoleOp role) {
  Use use;
  for (Operation *user : ring.getResult().getUsers()) {
    if (!role->isProperAncestor(user))
      continue;
    use.fills |= isa<wg::AcquireOp>(user);
    use.reads |= isa<wg::ReleaseOp, wg::LeaveOp, wg::ArriveOp>(user);
    auto next = dyn_cast<wg::NextOp>(user);
    use.passesBy |= next && next.getSteps();
  }
  return use;
}

/// Of each ring: how many stages each of the warpgroups (or warps) of `role`
/// goes through;
/// all of them together, if they pass each other's by.
static FailureOr<SmallVector<StageCounter::Counts>>
countOfRole(WorkgroupPlan &plan, wg::RoleOp role, StageCounter &counter,
            int64_t rank) {
  SmallVector<StageCounter::Counts> all(plan.rings.size());
  const bool isOne = !counter.dependsOnWarpgroup();
  FailureOr<StageCounter::Counts> counts;
  const uint64_t members = role.getWarps().value_or(role.getWarpgroups());
  for (int64_t i = 0; i < static_cast<int64_t>(members); ++i) {
    if (i == 0 || !isOne)
      counts = counter.count(rank, i);
    if (failed(counts))
      return failure();
    for (auto [ring, count] : llvm::zip_equal(all, *counts))
      ring.push_back(count);
  }
  for (auto [ring, counted] : llvm::zip_equal(plan.rings, all))
    if (findUse(ring, role).passesBy)
      counted = {std::accumulate(counted.begin(), counted.end(), int64_t(0))};
  return all;
}

/// Stages that stay are filled once: by loops of so many steps.
static LogicalResult checkFilledOnce(wg::StagesOp ring, wg::AcquireOp acquire) {
  std::optional<int64_t> count = 1;
  for (auto loop = acquire->getParentOfType<scf::ForOp>(); loop && count;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    count =
        trips ? std::optional(*count * trips->getSExtValue()) : std::nullopt;
  }
  if (count == ring.countStages())
    return success();
  return acquire.emitOpError("fills stages that stay, and so needs loops that "
                             "fill each of them once");
}

/// Arrivals at a stage: of threads that acquire it, of warps that make it
/// ready, of warpgroups that release it. Those that pass stages by with `next
/// by` each have their own.
static LogicalResult checkArrivals(WorkgroupPlan &plan, wg::StagesOp ring) {
  uint64_t full = 0, ready = 0, empty = 0;
  LogicalResult once = success();
  for (wg::RoleOp role : plan.roles) {
    bool acquires = false, arrives = false, releases = false, passesBy = false;
    for (Operation *user : ring.getResult().getUsers()) {
      if (!role->isProperAncestor(user))
        continue;
      auto acquire = dyn_cast<wg::AcquireOp>(user);
      acquires |= acquire != nullptr;
      if (acquire && ring.stays() && failed(checkFilledOnce(ring, acquire)))
        once = failure();
      arrives |= isa<wg::ArriveOp>(user);
      releases |= isa<wg::ReleaseOp, wg::LeaveOp>(user);
      auto next = dyn_cast<wg::NextOp>(user);
      passesBy |= next && next.getSteps();
    }
    full += acquires;
    ready += arrives ? role.getWarps().value_or(0) : 0;
    empty += !releases ? 0 : passesBy ? 1 : role.getWarpgroups();
  }
  if (failed(once))
    return failure();
  empty *= plan.shape.countSharers();
  if (full != ring.getFull())
    return ring.emitOpError()
           << "is full after " << ring.getFull() << " arrivals, but " << full
           << " threads acquire its stages";
  if (ready != ring.getReady().value_or(0))
    return ring.emitOpError()
           << "is ready after " << ring.getReady().value_or(0)
           << " arrivals, but " << ready << " warps make its stages ready";
  if (!ring.stays() && empty != *ring.getEmpty())
    return ring.emitOpError()
           << "is empty after " << *ring.getEmpty() << " arrivals, but "
           << empty << " warpgroups release its stages";
  return success();
}

LogicalResult tessera::checkStageCounts(WorkgroupPlan &plan) {
  for (wg::StagesOp ring : plan.rings)
    if (failed(checkArrivals(plan, ring)))
      return failure();
  std::vector<StageCounter> counters;
  bool dependsOnRank = false;
  for (wg::RoleOp role : plan.roles)
    dependsOnRank |= counters.emplace_back(plan, role).dependsOnRank();
  const int64_t ranks = dependsOnRank ? plan.shape.getClusterSize() : 1;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    SmallVector<std::optional<int64_t>> filled(plan.rings.size());
    for (auto [role, counter] : llvm::zip_equal(plan.roles, counters)) {
      auto counts = countOfRole(plan, role, counter, rank);
      if (failed(counts))
        return failure();
      for (auto [i, ring] : llvm::enumerate(plan.rings)) {
        const Use use = findUse(ring, role);
        if (ring.stays() || (!use.fills && !use.reads))
          continue;
        for (int64_t count : (*counts)[i]) {
          if (!filled[i])
            filled[i] = count;
          if (count != *filled[i])
            return role.emitOpError()
                   << (use.fills ? "fills " : "reads ") << count
                   << " stages, of which roles before it fill " << *filled[i];
        }
      }
    }
  }
  return success();
}
