//===- CheckStages.cpp - Whether roles agree about their stages -----------===//
//
// Follows each role in the order of its ops, and keeps what it has done to the
// stages, relative to its place in it. A loop must leave that as it
// found it and branches must agree, so that one visit of each op says what
// happens in all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WorkgroupPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>
#include <vector>

using namespace mlir;
using namespace tessera;

namespace {
/// What a role has done, by stages relative to its place.
struct RoleState {
  std::set<int64_t> awaited; ///< And not yet released.
  /// What groups of products that may still run read, the oldest first.
  std::vector<int64_t> reads;
  bool isAcquired = false;
  int64_t expected = 0, copied = 0; ///< Bytes of the acquired stage.
  std::set<void *> filled;          ///< Buffers that it has been copied to.
  bool hasTurn = false;

  bool operator==(const RoleState &) const = default;
  bool isIdle() const {
    return awaited.empty() && reads.empty() && !isAcquired;
  }
};

class RoleChecker {
public:
  RoleChecker(WorkgroupPlan &plan, wg::RoleOp role) : plan(plan), role(role) {
    role.walk([&](wg::OrderWaitOp) { takesTurns = true; });
  }
  LogicalResult check();

private:
  LogicalResult visit(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  LogicalResult visitBranch(scf::IfOp branch);
  LogicalResult acquire(wg::AcquireOp op);
  LogicalResult copy(wg::CopyOp op);
  LogicalResult goOn(wg::NextOp op);
  LogicalResult await(wg::AwaitOp op);
  LogicalResult multiply(wg::MmaOp op);
  LogicalResult release(wg::ReleaseOp op);
  LogicalResult checkThreads(Operation *op);

  WorkgroupPlan &plan;
  wg::RoleOp role;
  RoleState state;
  bool takesTurns = false;
  bool mayStore = false; ///< Results may still be on their way.
};
} // namespace

/// What one thread does, and what whole warpgroups do together.
LogicalResult RoleChecker::checkThreads(Operation *op) {
  const bool isOfThread = isa<wg::AcquireOp, wg::CopyOp, wg::DrainOp>(op);
  const bool isOfGroup =
      isa<wg::MmaOp, wg::WaitOp, wg::ReleaseOp, wg::StoreOp, wg::FlushOp,
          wg::OrderWaitOp, wg::OrderArriveOp, wg::SendOp, wg::ReceiveOp>(op);
  if (isOfThread && !role.getThread())
    return op->emitOpError("needs a role of one thread");
  if (isOfGroup && role.getThread())
    return op->emitOpError("needs a role of whole warpgroups");
  return success();
}

LogicalResult RoleChecker::acquire(wg::AcquireOp op) {
  if (state.isAcquired)
    return op.emitOpError("acquires a stage twice");
  if (!state.awaited.empty())
    return op.emitOpError("is in a role that reads stages, too");
  state.isAcquired = true;
  state.expected = static_cast<int64_t>(op.getBytes());
  state.copied = 0;
  state.filled.clear();
  return success();
}

LogicalResult RoleChecker::copy(wg::CopyOp op) {
  if (!state.isAcquired)
    return op.emitOpError("fills a stage that has not been acquired");
  if (!state.filled.insert(op.getBuffer().getAsOpaquePointer()).second)
    return op.emitOpError("fills a stage twice");
  auto box = op.getBox().getDefiningOp<wg::BoxOp>();
  state.copied += plan.getOperand(box).getBytes();
  return success();
}

LogicalResult RoleChecker::goOn(wg::NextOp op) {
  if (op.getSteps())
    return state.isIdle()
               ? success()
               : op.emitOpError("passes stages by before it has done with one");
  if (state.isAcquired) {
    if (state.filled.size() != plan.ring.getBuffers().size())
      return op.emitOpError("leaves a buffer of the stage unfilled");
    if (state.copied != state.expected)
      return op.emitOpError()
             << "leaves a stage that expects " << state.expected
             << " bytes, but gets " << state.copied;
    state.isAcquired = false;
    state.filled.clear();
    state.expected = state.copied = 0;
    return success();
  }
  if (!state.awaited.count(0))
    return op.emitOpError("leaves a stage that was neither filled nor read");
  if (state.awaited.count(-1))
    return op.emitOpError(
        "leaves a stage before the one in front of it has been released");
  std::set<int64_t> moved;
  for (int64_t stage : state.awaited)
    moved.insert(stage - 1);
  state.awaited = moved;
  for (int64_t &stage : state.reads)
    --stage;
  return success();
}

LogicalResult RoleChecker::await(wg::AwaitOp op) {
  if (!state.awaited.insert(0).second)
    return op.emitOpError("awaits a stage twice");
  return success();
}

LogicalResult RoleChecker::multiply(wg::MmaOp op) {
  if (!state.awaited.count(0))
    return op.emitOpError("reads a stage that has not been awaited");
  if (takesTurns && !state.hasTurn)
    return op.emitOpError("issues products when it is not its turn");
  state.reads.push_back(0);
  return success();
}

LogicalResult RoleChecker::release(wg::ReleaseOp op) {
  if (!state.awaited.count(-1))
    return op.emitOpError("releases a stage that it has not awaited");
  if (llvm::is_contained(state.reads, -1))
    return op.emitOpError("releases a stage that products may still read; it "
                          "needs a wg.wait");
  state.awaited.erase(-1);
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

LogicalResult RoleChecker::visitBranch(scf::IfOp branch) {
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
  return branch.emitOpError(
      "has branches that leave stages in different states");
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
  if (auto releaseOp = dyn_cast<wg::ReleaseOp>(op))
    return release(releaseOp);
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

LogicalResult RoleChecker::visit(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
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

/// Arrivals at a stage: of threads that acquire it, of warpgroups that release
/// it. Those that pass stages by with `next by` each have their own.
static LogicalResult checkArrivals(WorkgroupPlan &plan) {
  int64_t full = 0, empty = 0;
  for (wg::RoleOp role : plan.roles) {
    bool acquires = false, releases = false, passesBy = false;
    role.walk([&](Operation *op) {
      acquires |= isa<wg::AcquireOp>(op);
      releases |= isa<wg::ReleaseOp>(op);
      auto next = dyn_cast<wg::NextOp>(op);
      passesBy |= next && next.getSteps();
    });
    full += acquires;
    empty += !releases ? 0 : passesBy ? 1 : role.getWarpgroups();
  }
  empty *= plan.shape.countSharers();
  wg::StagesOp ring = plan.ring;
  if (full != static_cast<int64_t>(ring.getFull()))
    return ring.emitOpError()
           << "is full after " << ring.getFull() << " arrivals, but " << full
           << " threads acquire its stages";
  if (empty != static_cast<int64_t>(ring.getEmpty()))
    return ring.emitOpError()
           << "is empty after " << ring.getEmpty() << " arrivals, but " << empty
           << " warpgroups release its stages";
  return success();
}

LogicalResult tessera::checkStages(WorkgroupPlan &plan) {
  for (wg::RoleOp role : plan.roles)
    if (failed(RoleChecker(plan, role).check()))
      return failure();
  return checkArrivals(plan);
}
