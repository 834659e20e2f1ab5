//===- Rows.cpp - Rows that are a team's in one launch --------------------===//
//
// Each row, or each block of neighbouring rows, is walked by a team of threads;
// a workgroup has one team or some. Where rows are contiguous, neighbours in a
// team share lines of memory; where the elements of different rows are (a batch
// norm with channels last), neighbouring teams do.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/RowWise/RowsModel.h"
#include "compiler/Algorithms/RowWise/RowsTeam.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
class Rows final : public Algorithm {
public:
  std::string_view getName() const override { return "rows"; }
  bool takesUnaligned() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

Status Rows::check(const Problem &problem, const GpuTarget &) const {
  const RowProblem *rows = problem.getRows();
  if (!rows)
    return notSupported("solves operations on rows");
  if (rows->getRowLength() == 1)
    return notSupported("solves what has rows of more than one element");
  return checkRowsReach(RowsGeometry(*rows));
}

/// Whether the points of a launch can be counted.
static bool canLaunch(const RowsGeometry &g, const RowsTile &tile) {
  constexpr int64_t kMaxPoints = int64_t(1) << 31;
  return (g.getRowBlocks(tile.vector) + tile.columns) * tile.threads <
         kMaxPoints;
}

/// Adds the ways to share rows of a problem among workgroups of `all` threads.
static void addTiles(const RowsGeometry &g, const GpuTarget &target,
                     const RowsRates &rates, int vector, int all,
                     std::vector<Candidate> &candidates) {
  for (int threads = 1; threads <= all; threads *= 2) {
    const RowsTile tile{vector, threads, all / threads};
    const bool isIdle = threads > 1 && threads >= 2 * g.getBlocksOfRow(vector);
    const bool isAlone =
        tile.columns > 1 && tile.columns >= 2 * g.getRowBlocks(vector);
    if (!isIdle && !isAlone && canLaunch(g, tile))
      candidates.push_back(
          {tile.toConfig("rows"), estimateRows(g, tile, target, rates)});
  }
}

std::vector<Candidate> tessera::getRowsCandidates(const Problem &problem,
                                                  const GpuTarget &target,
                                                  const RowsRates &rates) {
  const RowsGeometry g(problem);
  const auto widest = static_cast<int>(g.getWidestVector());
  std::vector<Candidate> candidates;
  for (int vector = widest; vector >= 1; vector /= 2)
    for (int all : {256, 512, 128, 64})
      // Side by side, 512 threads with blocks of rows took half as long again
      // as 256 on an H100: their words fill the shared memory.
      if (all < 512 || g.isVectorInRow())
        addTiles(g, target, rates, vector, all, candidates);
  // Of very few elements, a workgroup is less than a wave.
  for (int all = 32; all >= 1 && candidates.empty(); all /= 2)
    addTiles(g, target, rates, widest, all, candidates);
  return candidates;
}

std::vector<Candidate> Rows::getCandidates(const Problem &problem,
                                           const GpuTarget &target) const {
  return getRowsCandidates(problem, target, getRowsRates(target));
}

LogicalResult Rows::build(Operation *primitive, const TileConfig &config,
                          const GpuTarget &) const {
  FailureOr<RowsTile> tile = readRowsTile(primitive, config);
  if (failed(tile))
    return failure();
  auto op = cast<dnn::RowsOp>(primitive);
  OpBuilder b(op);
  PointBuilder p(b, op.getLoc());
  RowsProgram program(p, op, op->getBlock()->getArguments(), tile->vector);
  const RowsPlace place = enterTeams(program, *tile, /*hasParts=*/false);
  RowsTeam team(program, *tile, place);
  team.reduceAll();
  SmallVector<Lanes> values = program.finishRow();
  if (!values.empty())
    team.byFirstThread([&] { program.storeRowOutputs(values); });
  if (op.hasMap())
    team.walk(op.getMap(), {}, [&](RowsBlock &block, ValueRange) {
      program.storeOutputs(block);
      return PointBuilder::Values();
    });
  op.erase();
  return success();
}

const Algorithm &tessera::getRows() {
  static const Rows algorithm;
  return algorithm;
}
