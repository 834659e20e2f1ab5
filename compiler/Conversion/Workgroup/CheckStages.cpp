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
  /// Stages that are full, and not yet released; and whether they are ready.
  std::map<int64_t, bool> awaited;
  bool isPrepared = false, hasArrived = false;
  bool isAcquired = false;
  int64_t expected = 0, copied = 0; ///< Bytes of the acquired stage.
  std::set<void *> filled;          ///< Buffers that it has been copied to.
  /// Whether products have been issued into it. A loop may be the one that
  /// does.
  bool isMultiplied = false;

  bool operator==(const RingState &other) const {
    return awaited == other.awaited && isAcquired == other.isAcquired &&
           expected == other.expected && copied == other.copied &&
           filled == other.filled && isPrepared == other.isPrepared &&
           hasArrived == other.hasArrived;
  }
};

/// What a role has done.
struct RoleState {
  std::vector<RingState> rings;
  /// What groups of products that may still run read, the oldest first: of each
  /// of the rings a stage, and those behind it up to the current one.
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
    moves.resize(plan.rings.size());
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
  LogicalResult prepare(wg::PrepareOp op);
  LogicalResult arrive(wg::ArriveOp op);
  LogicalResult load(wg::LoadOp op);
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
  /// How often the role has gone on in each of the rings; and how often it had
  /// in that of what it loaded to registers, or located, when it did.
  std::vector<int64_t> moves;
  llvm::DenseMap<Value, int64_t> found;
  bool takesTurns = false;
  bool issuesSums = false; ///< Tensor cores release what it has them read.
  bool mayStore = false;   ///< Results may still be on their way.
};
} // namespace

/// What one thread does, or a warp, and what whole warpgroups do together.
LogicalResult RoleChecker::checkThreads(Operation *op) {
  const bool isOfThread =
      isa<wg::AcquireOp, wg::CopyOp, wg::DrainOp, wg::MmaSumsOp>(op);
  const bool isOfWarp = isa<wg::PrepareOp, wg::ArriveOp>(op);
  const bool isOfGroup =
      isa<wg::LoadOp, wg::MmaOp, wg::WaitOp, wg::LoadSumsOp, wg::StoreOp,
          wg::FlushOp, wg::OrderWaitOp, wg::OrderArriveOp, wg::SendOp,
          wg::ReceiveOp>(op) ||
      (isa<wg::ReleaseOp, wg::LeaveOp>(op) && !issuesSums);
  if (isOfThread && !role.getThread())
    return op->emitOpError("needs a role of one thread");
  if (isOfWarp && !role.getWarps())
    return op->emitOpError("needs a role of warps");
  if (isOfGroup && (role.getThread() || role.getWarps()))
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

/// Nobody releases stages that stay, nor those that are made ready for others.
LogicalResult RoleChecker::goOn(Operation *op, size_t number) {
  RingState &ring = state.rings[number];
  ++moves[number];
  if (!ring.awaited.count(0))
    return op->emitOpError("leaves a stage that was neither filled nor read");
  if (ring.awaited.count(-1) &&
      (isa<wg::LeaveOp>(op) || !plan.rings[number].slides()))
    return op->emitOpError(
        "leaves a stage before the one in front of it has been released");
  if (role.getWarps()) {
    if (!ring.hasArrived)
      return op->emitOpError("leaves a stage before it has said that it is "
                             "ready; it needs a wg.arrive");
    ring = RingState();
    return success();
  }
  std::map<int64_t, bool> moved;
  if (!plan.rings[number].stays())
    for (auto [stage, isReady] : ring.awaited)
      moved[stage - 1] = isReady;
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
  wg::StagesOp stages = plan.rings[plan.getRing(op.getStages())];
  auto &awaited = getState(op.getStages()).awaited;
  if (!op.getReady()) {
    if (!awaited.insert({0, false}).second)
      return op.emitOpError("awaits a stage twice");
    if (static_cast<int64_t>(awaited.size()) > stages.countStages())
      return op.emitOpError() << "awaits a stage while it holds all "
                              << stages.countStages() << " of them";
    return success();
  }
  if (!stages.getReady())
    return op.emitOpError("awaits stages to be ready that nobody changes");
  auto stage = awaited.find(0);
  if (stage == awaited.end())
    return op.emitOpError("awaits a stage to be ready before it is full");
  if (stage->second)
    return op.emitOpError("awaits a stage twice");
  stage->second = true;
  return success();
}

LogicalResult RoleChecker::prepare(wg::PrepareOp op) {
  RingState &ring = state.rings[plan.getRing(wg::findStages(op.getBuffer()))];
  if (!ring.awaited.count(0))
    return op.emitOpError("changes a stage that has not been awaited");
  if (ring.hasArrived)
    return op.emitOpError("changes a stage that others may read");
  if (ring.isPrepared)
    return op.emitOpError("changes a stage twice");
  ring.isPrepared = true;
  return success();
}

LogicalResult RoleChecker::arrive(wg::ArriveOp op) {
  RingState &ring = getState(op.getStages());
  if (ring.hasArrived)
    return op.emitOpError("arrives at a stage twice");
  if (!ring.isPrepared)
    return op.emitOpError("arrives at a stage that it has not changed");
  ring.hasArrived = true;
  return success();
}

/// Threads read, so that nothing runs on behind it.
LogicalResult RoleChecker::load(wg::LoadOp op) {
  const size_t number = plan.getRing(wg::findStages(op));
  if (!state.rings[number].awaited.count(0))
    return op.emitOpError("reads a stage that has not been awaited");
  found[op] = moves[number];
  return success();
}

LogicalResult RoleChecker::multiply(wg::MmaOp op) {
  std::map<size_t, int64_t> reads;
  for (Value operand : {Value(op.getA()), Value(op.getB())}) {
    wg::StagesOp stages = wg::findStages(operand);
    const size_t number = plan.getRing(stages);
    if (isa_and_present<wg::LoadOp, wg::SlideOp>(operand.getDefiningOp()) &&
        found.lookup(operand) != moves[number])
      return op.emitOpError("multiplies what was found in another stage");
    if (operand.getDefiningOp<wg::LoadOp>())
      continue;
    auto stage = state.rings[number].awaited.find(0);
    if (stage == state.rings[number].awaited.end())
      return op.emitOpError("reads a stage that has not been awaited");
    int64_t first = 0;
    if (auto slide = operand.getDefiningOp<wg::SlideOp>())
      first = -static_cast<int64_t>(slide.getAhead());
    if (!state.rings[number].awaited.count(first))
      return op.emitOpError("reads a stage that has not been awaited");
    if (stages.getReady() && !stage->second)
      return op.emitOpError("reads a stage that warps may still change; it "
                            "needs a wg.await of ready");
    if (!stages.stays())
      reads[number] = first;
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
  const auto &awaited = state.rings[number].awaited;
  auto found = awaited.find(stage);
  if (found == awaited.end())
    return op->emitOpError("releases a stage that it has not awaited");
  if (plan.rings[number].getReady() && !found->second)
    return op->emitOpError("releases a stage that warps may still change; it "
                           "needs a wg.await of ready");
  if (llvm::any_of(state.reads, [&](const auto &group) {
        auto read = group.find(number);
        return read != group.end() && read->second <= stage;
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
  if (auto prepareOp = dyn_cast<wg::PrepareOp>(op))
    return prepare(prepareOp);
  if (auto arriveOp = dyn_cast<wg::ArriveOp>(op))
    return arrive(arriveOp);
  if (auto loadOp = dyn_cast<wg::LoadOp>(op))
    return load(loadOp);
  if (auto slide = dyn_cast<wg::SlideOp>(op))
    found[slide] = moves[plan.getRing(wg::findStages(slide))];
  if (auto mma = dyn_cast<wg::MmaOp>(op))
    return multiply(mma);
  if (auto mmaSums = dyn_cast<wg::MmaSumsOp>(op))
    return multiply(mmaSums);
  if (auto load = dyn_cast<wg::LoadSumsOp>(op);
      load && !getState(wg::findStages(load.getSums())).awaited.count(0))
    return load.emitOpError("reads a stage that has not been awaited");
  if (auto releaseOp = dyn_cast<wg::ReleaseOp>(op)) {
    const size_t ring = plan.getRing(releaseOp.getStages());
    auto &awaited = state.rings[ring].awaited;
    const int64_t oldest =
        awaited.empty() ? -1 : std::min<int64_t>(awaited.begin()->first, -1);
    if (failed(release(op, ring, oldest)))
      return failure();
    awaited.erase(oldest);
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

LogicalResult tessera::checkStages(WorkgroupPlan &plan) {
  for (wg::RoleOp role : plan.roles)
    if (failed(RoleChecker(plan, role).check()))
      return failure();
  return checkStageCounts(plan);
}
