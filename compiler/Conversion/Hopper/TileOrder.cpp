//===- TileOrder.cpp - Tiles and steps by their numbers -------------------===//

#include "compiler/Conversion/Hopper/TileOrder.h"
#include "compiler/Conversion/Common/LaunchOrder.h"
#include "compiler/Conversion/Hopper/StreamedReads.h"
#include "dialect/IR/PlanKnobs.h"
#include "dialect/IR/StatisticsParts.h"

using namespace mlir;
using namespace tessera;

/// What a workgroup has of statistics is added up in the order of its tiles.
static bool canWalkBothWays(TileProgram &program, const HopperPlan &plan) {
  return plan.tiles.isKnown() && plan.shape.cluster == 1 &&
         !plan.shape.copiesFirst &&
         (!program.store.getStatistics() || dnn::hasPartOfTile(program.store));
}

FailureOr<bool> tessera::chooseBothWays(TileProgram &program,
                                        const HopperPlan &plan) {
  const bool can = canWalkBothWays(program, plan);
  if (std::optional<int64_t> walk =
          dnn::PlanKnobs(program.pipeline.getKnobs()).get(dnn::Knob::Walk)) {
    if (*walk == 0 || can)
      return *walk != 0;
    return program.pipeline.emitOpError(
        "has walk both, which is for tiles of known sizes, without statistics "
        "of workgroups, clusters that add and copies in front of all else");
  }
  // Of one round of tiles none is the last. Backward weights write little.
  if (!can || plan.tiles <= int64_t(plan.countWalkers()) ||
      plan.a.getWalk() == TmaWalk::Pixels)
    return false;
  SmallVector<Value> views = {program.loadM.getView(), program.loadN.getView(),
                              program.store.getView()};
  llvm::append_range(views, program.store.getExtras());
  return llvm::any_of(views, [&](Value view) {
    return getReadBytes(program, view) >= kLargeTensorBytes;
  });
}

/// Columns fastest, so that workgroups that run together share rows, or the
/// other way round (makeHopperPlan()). The groups with the most steps come
/// first, so that the last round of tiles is short.
ResultTile tessera::locateTile(Emitter &e, const HopperPlan &plan,
                               TileProgram &program, Value tile, Value rank) {
  const HopperShape &shape = plan.shape;
  SmallVector<int64_t> known(program.tiles.getCounts());
  if (shape.multicast)
    known[shape.getPairDim()] /= shape.countSharers();
  const bool hasRowsFirst = plan.hasRowsFirst;
  const OpenNumber counts[] = {known[0],
                               ShapedType::isDynamic(known[1])
                                   ? program.countTilesM()
                                   : OpenNumber(known[1]),
                               known[2]};
  const OpenNumber &fast = hasRowsFirst ? counts[1] : counts[2];
  const OpenNumber &slow = hasRowsFirst ? counts[2] : counts[1];
  const bool hasOneGroup = known[0] == 1;
  Value n = e.remu(tile, fast);
  Value rest = e.divu(tile, fast);
  // A division by what is unknown costs some instructions.
  Value m = hasOneGroup && !slow.isKnown() ? rest : e.remu(rest, slow);
  Value group = hasOneGroup ? e.constant(0) : e.divu(rest, slow);
  if (hasRowsFirst)
    std::swap(m, n);
  if (shape.multicast) {
    Value &paired = *shape.multicast == dnn::TileDim::N ? m : n;
    paired = e.add(e.mul(paired, shape.countSharers()), rank);
  }
  if (plan.walk.growsWithGroup())
    group = arith::SubIOp::create(e.b, e.loc, e.constant(known[0] - 1), group);
  Value row = e.mul(m, shape.tileM), column = e.mul(n, shape.tileN);
  dnn::CoordsAttr coords =
      TileProgram::getView(program.store.getView()).getCoords();
  if (plan.overlap & kOverlapsRows)
    row = arith::MinUIOp::create(e.b, e.loc, row,
                                 e.constant(coords.getExtent(1) - shape.tileM));
  if (plan.overlap & kOverlapsColumns)
    column = arith::MinUIOp::create(
        e.b, e.loc, column, e.constant(coords.getExtent(2) - shape.tileN));
  return {group, row, column};
}

/// Splits of the reduction are runs of groups. In a cluster the first
/// workgroups have one step more than the others, if not all have as many.
Value tessera::getFirstStep(Emitter &e, const HopperPlan &plan, Value group,
                            Value rank) {
  const HopperShape &shape = plan.shape;
  if (shape.cluster > 1) {
    const int64_t more = plan.steps % shape.cluster;
    Value before = e.mul(rank, plan.steps / shape.cluster);
    if (more == 0)
      return before;
    return e.add(before,
                 arith::MinUIOp::create(e.b, e.loc, rank, e.constant(more)));
  }
  const int64_t groups = plan.groups / plan.splits;
  return plan.splits == 1 ? e.constant(0)
                          : e.mul(e.divu(group, groups), plan.steps);
}

Value tessera::countSteps(Emitter &e, const HopperPlan &plan, Value group,
                          Value rank) {
  const HopperShape &shape = plan.shape;
  if (shape.cluster == 1)
    return plan.walk.countSteps(e, group);
  const int64_t least = plan.steps / shape.cluster;
  const int64_t more = plan.steps % shape.cluster;
  if (more == 0)
    return e.constant(least);
  return e.select(e.ult(rank, more), e.constant(least + 1), e.constant(least));
}
