//===- CheckStages.cpp - Whether roles agree about their stages -----------===//
//
// Follows each role in the order of its ops, and keeps what it has done to each
// of the stages, relative to its place in them. A loop must leave that as it
// found it and branches must agree, or be on a condition that all of them
// share, which is followed both ways. So one visit of each op says what happens
// in all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WorkgroupPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>
#include <set>
#include <vector>

using namespace mlir;
using namespace tessera;

namespace {
/// What a role has done to some stages, relative to its place in them.
struct RingState {
  std::set<int64_t> awaited; ///< And not yet released.
  bool isAcquired = false;
  int64_t expected = 0, copied = 0; ///< Bytes of the acquired stage.
  std::set<void *> filled;          ///< Buffers that it has been copied to.
  /// Whether products have been issued into it. A loop may be the one that
  /// does.
  bool isMultiplied = false;

  bool operator==(const RingState &other) const {
    return awaited == other.awaited && isAcquired == other.isAcquired &&
           expected == other.expected && copied == other.copied &&
           filled == other.filled;
  }
};

/// What a role has done.
struct RoleState {
  std::vector<RingState> rings;
  /// What groups of products that may still run read, the oldest first: of each
  /// of the rings a stage.
  std::vector<std::map<size_t, int64_t>> reads;
  bool hasTurn = false;

  bool operator==(const RoleState &) const = default;
  bool isIdle() const {
    return reads.empty() && llvm::all_of(rings, [](const RingState &ring) {
             return ring.awaited.empty() && !ring.isAcquired;
           });
  }
};

class RoleChecker {
public:
  RoleChecker(WorkgroupPlan &plan, wg::RoleOp role) : plan(plan), role(role) {
    state.rings.resize(plan.rings.size());
    role.walk([&](wg::OrderWaitOp) { takesTurns = true; });
    role.walk([&](wg::MmaSumsOp) { issuesSums = true; });
  }
  LogicalResult check();

private:
  using OpRange = llvm::iterator_range<Block::iterator>;

  LogicalResult visit(OpRange ops);
  LogicalResult visitBothWays(scf::IfOp branch, OpRange ops);
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  LogicalResult visitBranch(scf::IfOp branch);
  LogicalResult acquire(wg::AcquireOp op);
  LogicalResult copy(wg::CopyOp op);
  LogicalResult goOn(wg::NextOp op);
  LogicalResult goOn(Operation *op, size_t ring);
  LogicalResult await(wg::AwaitOp op);
  LogicalResult multiply(wg::MmaOp op);
  LogicalResult multiply(wg::MmaSumsOp op);
  LogicalResult release(Operation *op, size_t ring, int64_t stage);
  LogicalResult checkThreads(Operation *op);
  RingState &getState(Value stages) {
    return state.rings[plan.getRing(stages)];
  }

  WorkgroupPlan &plan;
  wg::RoleOp role;
  RoleState state;
  llvm::DenseMap<Value, bool> conditions; ///< As they are on this way.
  bool takesTurns = false;
  bool issuesSums = false; ///< Tensor cores release what it has them read.
  bool mayStore = false;   ///< Results may still be on their way.
};
} // namespace

/// What one thread does, and what whole warpgroups do together.
LogicalResult RoleChecker::checkThreads(Operation *op) {
  const bool isOfThread =
      isa<wg::AcquireOp, wg::CopyOp, wg::DrainOp, wg::MmaSumsOp>(op);
  const bool isOfGroup =
      isa<wg::MmaOp, wg::WaitOp, wg::LoadSumsOp, wg::StoreOp, wg::FlushOp,
          wg::OrderWaitOp, wg::OrderArriveOp, wg::SendOp, wg::ReceiveOp>(op) ||
      (isa<wg::ReleaseOp, wg::LeaveOp>(op) && !issuesSums);
  if (isOfThread && !role.getThread())
    return op->emitOpError("needs a role of one thread");
  if (isOfGroup && role.getThread())
    return op->emitOpError("needs a role of whole warpgroups");
  return success();
}

LogicalResult RoleChecker::acquire(wg::AcquireOp op) {
  RingState &ring = getState(op.getStages());
  if (ring.isAcquired)
    return op.emitOpError("acquires a stage twice");
  if (!ring.awaited.empty())
    return op.emitOpError("is in a role that reads stages, too");
  ring.isAcquired = true;
  ring.expected = static_cast<int64_t>(op.getBytes());
  ring.copied = 0;
  ring.filled.clear();
  ring.isMultiplied = false;
  return success();
}

LogicalResult RoleChecker::copy(wg::CopyOp op) {
  RingState &ring = getState(op.getStages());
  if (!ring.isAcquired)
    return op.emitOpError("fills a stage that has not been acquired");
  if (!ring.filled.insert(op.getBuffer().getAsOpaquePointer()).second)
    return op.emitOpError("fills a stage twice");
  auto box = op.getBox().getDefiningOp<wg::BoxOp>();
  ring.copied += plan.getOperand(box).getBytes();
  return success();
}

/// Nobody releases stages that stay.
LogicalResult RoleChecker::goOn(Operation *op, size_t number) {
  RingState &ring = state.rings[number];
  if (!ring.awaited.count(0))
    return op->emitOpError("leaves a stage that was neither filled nor read");
  if (ring.awaited.count(-1))
    return op->emitOpError(
        "leaves a stage before the one in front of it has been released");
  std::set<int64_t> moved;
  if (!plan.rings[number].stays())
    for (int64_t stage : ring.awaited)
      moved.insert(stage - 1);
  ring.awaited = moved;
  for (auto &group : state.reads)
    if (auto read = group.find(number); read != group.end())
      --read->second;
  return success();
}

LogicalResult RoleChecker::goOn(wg::NextOp op) {
  if (op.getSteps())
    return state.isIdle()
               ? success()
               : op.emitOpError("passes stages by before it has done with one");
  const size_t number = plan.getRing(op.getStages());
  RingState &ring = state.rings[number];
  if (!ring.isAcquired)
    return goOn(op, number);
  if (plan.rings[number].haveSums()
          ? !ring.isMultiplied
          : ring.filled.size() != plan.rings[number].getBuffers().size())
    return op.emitOpError("leaves a buffer of the stage unfilled");
  if (ring.copied != ring.expected)
    return op.emitOpError() << "leaves a stage that expects " << ring.expected
                            << " bytes, but gets " << ring.copied;
  ring = RingState();
  return success();
}

LogicalResult RoleChecker::await(wg::AwaitOp op) {
  if (!getState(op.getStages()).awaited.insert(0).second)
    return op.emitOpError("awaits a stage twice");
  return success();
}

LogicalResult RoleChecker::multiply(wg::MmaOp op) {
  std::map<size_t, int64_t> reads;
  for (Value buffer : {op.getA(), op.getB()}) {
    wg::StagesOp stages = wg::findStages(buffer);
    const size_t number = plan.getRing(stages);
    if (!state.rings[number].awaited.count(0))
      return op.emitOpError("reads a stage that has not been awaited");
    if (!stages.stays())
      reads[number] = 0;
  }
  if (takesTurns && !state.hasTurn)
    return op.emitOpError("issues products when it is not its turn");
  state.reads.push_back(reads);
  return success();
}

/// Products read what is full, and fill what has been acquired.
LogicalResult RoleChecker::multiply(wg::MmaSumsOp op) {
  for (Value buffer : {op.getA(), op.getB()})
    if (!getState(wg::findStages(buffer)).awaited.count(0))
      return op.emitOpError("reads a stage that has not been awaited");
  RingState &sums = getState(wg::findStages(op.getSums()));
  if (!sums.isAcquired)
    return op.emitOpError("fills a stage that has not been acquired");
  sums.isMultiplied = true;
  return success();
}

LogicalResult RoleChecker::release(Operation *op, size_t number,
                                   int64_t stage) {
  if (plan.rings[number].stays())
    return op->emitOpError("releases a stage that stays");
  RingState &ring = state.rings[number];
  if (!ring.awaited.count(stage))
    return op->emitOpError("releases a stage that it has not awaited");
  if (llvm::any_of(state.reads, [&](const auto &group) {
        auto read = group.find(number);
        return read != group.end() && read->second == stage;
      }))
    return op->emitOpError("releases a stage that products may still read; it "
                           "needs a wg.wait");
  return success();
}

LogicalResult RoleChecker::visitLoop(scf::ForOp loop) {
  const RoleState before = state;
  if (failed(visit(*loop.getBody())))
    return failure();
  if (state == before)
    return success();
  return loop.emitOpError(
      "leaves stages in another state than it found them in");
}

static LogicalResult emitDisagreement(scf::IfOp branch) {
  return branch.emitOpError(
      "has branches that leave stages in different states");
}

/// Whether there is another branch on its condition in its block.
static bool hasTwin(scf::IfOp branch) {
  return llvm::any_of(branch.getCondition().getUsers(), [&](Operation *user) {
    return user != branch && isa<scf::IfOp>(user) &&
           user->getBlock() == branch->getBlock();
  });
}

LogicalResult RoleChecker::visitBranch(scf::IfOp branch) {
  if (auto known = conditions.find(branch.getCondition());
      known != conditions.end()) {
    Region &taken =
        known->second ? branch.getThenRegion() : branch.getElseRegion();
    return taken.empty() ? success() : visit(taken.front());
  }
  const RoleState before = state;
  if (failed(visit(branch.getThenRegion().front())))
    return failure();
  const RoleState behind = state;
  state = before;
  if (!branch.getElseRegion().empty() &&
      failed(visit(branch.getElseRegion().front())))
    return failure();
  if (state == behind)
    return success();
  return emitDisagreement(branch);
}

LogicalResult RoleChecker::visit(Operation *op) {
  if (failed(checkThreads(op)))
    return failure();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch);
  if (auto acquireOp = dyn_cast<wg::AcquireOp>(op))
    return acquire(acquireOp);
  if (auto copyOp = dyn_cast<wg::CopyOp>(op))
    return copy(copyOp);
  if (auto next = dyn_cast<wg::NextOp>(op))
    return goOn(next);
  if (auto awaitOp = dyn_cast<wg::AwaitOp>(op))
    return await(awaitOp);
  if (auto mma = dyn_cast<wg::MmaOp>(op))
    return multiply(mma);
  if (auto mmaSums = dyn_cast<wg::MmaSumsOp>(op))
    return multiply(mmaSums);
  if (auto load = dyn_cast<wg::LoadSumsOp>(op);
      load && !getState(wg::findStages(load.getSums())).awaited.count(0))
    return load.emitOpError("reads a stage that has not been awaited");
  if (auto releaseOp = dyn_cast<wg::ReleaseOp>(op)) {
    const size_t ring = plan.getRing(releaseOp.getStages());
    if (failed(release(op, ring, -1)))
      return failure();
    state.rings[ring].awaited.erase(-1);
    return success();
  }
  if (auto leave = dyn_cast<wg::LeaveOp>(op)) {
    const size_t ring = plan.getRing(leave.getStages());
    if (failed(release(op, ring, 0)) || failed(goOn(op, ring)))
      return failure();
    state.rings[ring].awaited.erase(-1);
    return success();
  }
  if (auto wait = dyn_cast<wg::WaitOp>(op)) {
    const auto left = std::min<size_t>(wait.getGroups(), state.reads.size());
    state.reads.erase(state.reads.begin(), state.reads.end() - left);
    return success();
  }
  if (isa<wg::StoreOp, wg::SendOp, wg::AddOp>(op) && !state.reads.empty())
    return op->emitOpError("uses sums of products that may still run; it needs "
                           "a wg.wait");
  if (isa<wg::OrderWaitOp, wg::OrderArriveOp>(op))
    state.hasTurn = isa<wg::OrderWaitOp>(op);
  if (isa<wg::StoreOp, wg::FlushOp>(op))
    mayStore = isa<wg::StoreOp>(op);
  return success();
}

/// From the first of several branches on one condition to the end of their
/// block.
LogicalResult RoleChecker::visitBothWays(scf::IfOp branch, OpRange ops) {
  const Value condition = branch.getCondition();
  const RoleState before = state;
  conditions[condition] = true;
  if (failed(visit(ops)))
    return failure();
  const RoleState behind = state;
  state = before;
  conditions[condition] = false;
  if (failed(visit(ops)))
    return failure();
  conditions.erase(condition);
  return state == behind ? success() : emitDisagreement(branch);
}

LogicalResult RoleChecker::visit(OpRange ops) {
  for (auto op = ops.begin(); op != ops.end(); ++op) {
    auto branch = dyn_cast<scf::IfOp>(*op);
    if (branch && !conditions.count(branch.getCondition()) && hasTwin(branch))
      return visitBothWays(branch, {op, ops.end()});
    if (failed(visit(&*op)))
      return failure();
  }
  return success();
}

LogicalResult RoleChecker::check() {
  if (failed(visit(role.getBody().front())))
    return failure();
  if (!state.isIdle())
    return role.emitOpError("ends before it has done with a stage");
  if (mayStore && !plan.result.getByRows())
    return role.emitOpError("ends while results may still be on their way; it "
                            "needs a wg.flush");
  return success();
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

/// Arrivals at a stage: of threads that acquire it, of warpgroups that release
/// it. Those that pass stages by with `next by` each have their own.
static LogicalResult checkArrivals(WorkgroupPlan &plan, wg::StagesOp ring) {
  int64_t full = 0, empty = 0;
  LogicalResult once = success();
  for (wg::RoleOp role : plan.roles) {
    bool acquires = false, releases = false, passesBy = false;
    for (Operation *user : ring.getResult().getUsers()) {
      if (!role->isProperAncestor(user))
        continue;
      auto acquire = dyn_cast<wg::AcquireOp>(user);
      acquires |= acquire != nullptr;
      if (acquire && ring.stays() && failed(checkFilledOnce(ring, acquire)))
        once = failure();
      releases |= isa<wg::ReleaseOp, wg::LeaveOp>(user);
      auto next = dyn_cast<wg::NextOp>(user);
      passesBy |= next && next.getSteps();
    }
    full += acquires;
    empty += !releases ? 0 : passesBy ? 1 : role.getWarpgroups();
  }
  if (failed(once))
    return failure();
  empty *= plan.shape.countSharers();
  if (full != static_cast<int64_t>(ring.getFull()))
    return ring.emitOpError()
           << "is full after " << ring.getFull() << " arrivals, but " << full
           << " threads acquire its stages";
  if (!ring.stays() && empty != static_cast<int64_t>(*ring.getEmpty()))
    return ring.emitOpError()
           << "is empty after " << *ring.getEmpty() << " arrivals, but "
           << empty << " warpgroups release its stages";
  return success();
}

LogicalResult tessera::checkStages(WorkgroupPlan &plan) {
  for (wg::RoleOp role : plan.roles)
    if (failed(RoleChecker(plan, role).check()))
      return failure();
  for (wg::StagesOp ring : plan.rings)
    if (failed(checkArrivals(plan, ring)))
      return failure();
  return checkStageCounts(plan);
}
