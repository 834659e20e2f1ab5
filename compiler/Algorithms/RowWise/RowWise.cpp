//===- RowWise.cpp - Row-wise operations in one launch --------------------===//
//
// The threads of a row group share a row, or a block of neighbouring rows; a
// workgroup has one or several row groups. Where rows are contiguous, loads are
// coalesced within a row group; where neighbouring elements belong to different
// rows (a batch norm with channels last), they are coalesced across row groups.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/RowWise/RowGroup.h"
#include "compiler/Algorithms/RowWise/RowWiseModel.h"
#include "runtime/Base/RowWiseKind.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
class Rows final : public Algorithm {
public:
  std::string_view getName() const override { return "rowwise"; }
  bool takesUnaligned() const override { return true; }
  bool takesUnknownSizes() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

Status Rows::check(const Problem &problem, const GpuTarget &) const {
  const Problem sample = problem.getSample();
  const RowWiseProblem *rows = sample.getRows();
  if (!rows)
    return notSupported("solves row-wise operations only");
  if (hasSteps(*rows))
    return notSupported("makes one step of a recurrent network only");
  if (rows->getRowLength() == 1)
    return notSupported("solves operations whose rows have more than one "
                        "element");
  return checkRowWiseReach(RowWiseGeometry(*rows));
}

/// The blocks of rows that row groups share out among themselves.
static int64_t countRowBlocks(const RowWiseGeometry &g,
                              const RowWiseTile &tile) {
  return g.getRowBlocks(tile.vector) / tile.getSharedRows();
}

/// Whether the number of points of a launch is within 32-bit arithmetic.
static bool canLaunch(const RowWiseGeometry &g, const RowWiseTile &tile) {
  constexpr int64_t kMaxPoints = int64_t(1) << 31;
  return (countRowBlocks(g, tile) + tile.groups) * tile.threads < kMaxPoints;
}

/// Adds the tiles that divide workgroups of `size` threads into row groups
/// whose rows share loads as `shared` says.
static void addTiles(const RowWiseGeometry &g, const GpuTarget &target,
                     const RowWiseRates &rates, int vector, int size,
                     std::array<int, 2> shared,
                     std::vector<Candidate> &candidates) {
  constexpr int kFewestSharing = 16; // Fewer were slow on an H100.
  const bool areShared = shared[0] * shared[1] > 1;
  for (int threads = areShared ? kFewestSharing : 1; threads <= size;
       threads *= 2) {
    const RowWiseTile tile{vector, threads, size / threads, 1, shared};
    const bool isIdle = threads > 1 && threads >= 2 * g.getBlocksOfRow(vector);
    const bool lacksRows =
        tile.groups > 1 && tile.groups >= 2 * countRowBlocks(g, tile);
    if (!isIdle && !lacksRows && canShareRows(g, tile) && canLaunch(g, tile))
      candidates.push_back(
          {tile.toConfig("rowwise"), estimateRowWise(g, tile, target, rates)});
  }
}

std::vector<Candidate>
tessera::getRowWiseCandidates(const Problem &problem, const GpuTarget &target,
                              const RowWiseRates &rates) {
  const RowWiseGeometry g(problem);
  const auto widest = static_cast<int>(g.getWidestVector());
  std::vector<Candidate> candidates;
  for (int vector = widest; vector >= 1; vector /= 2)
    for (int size : {256, 512, 128, 64})
      // On an H100, 512 threads with blocks of rows took 50 % longer than 256:
      // their partial results fill the shared memory.
      if (size < 512 || g.isVectorInRow())
        addTiles(g, target, rates, vector, size, {1, 1}, candidates);
  for (int n = 1; n <= 16 && !g.sharedDims.empty(); n *= 2)
    for (int m = n == 1 ? 2 : 1; m <= 16 / n; m *= 2)
      for (int size : {256, 128, 64})
        addTiles(g, target, rates, widest, size, {n, m}, candidates);
  // Problems of very few elements need workgroups of less than a wave.
  for (int size = 32; size >= 1 && candidates.empty(); size /= 2)
    addTiles(g, target, rates, widest, size, {1, 1}, candidates);
  return candidates;
}

std::vector<Candidate> Rows::getCandidates(const Problem &problem,
                                           const GpuTarget &target) const {
  return getRowWiseCandidates(problem.getSample(), target,
                              getRowWiseRates(target));
}

/// A thread for each row that shares loads loads what the row has once, before
/// the reduction, and finishes it behind.
static void finishSharedRows(RowWiseProgram &program, ValueRange arguments,
                             RowGroup &group, Value thread) {
  PointBuilder &p = program.p;
  const int64_t rows = program.getSharedRows();
  RowWiseProgram own(p, program.op, arguments, program.vector);
  own.enterRowOf(program,
                 arith::RemUIOp::create(p.b, p.loc, thread, p.index(rows)));
  group.reduceShared(own);
  SmallVector<Lanes> values = own.finishRow();
  group.byFirstThreads(rows, [&] { own.storeRowOutputs(values); });
}

/// Whether a thread goes once through the few blocks of its row, so that it is
/// done soon after the first loads arrive. On an H100, kernels that are not,
/// such as a sum of 512 rows, took up to 20 % longer if they began early.
static bool isShort(dnn::RowWiseOp op, const RowWiseGeometry &g,
                    const RowWiseTile &tile) {
  constexpr int64_t kMostBlocks = 8; // Of a thread.
  return !op.hasMap() && g.reductions.size() == 1 &&
         g.getBlocksOfRow(tile.vector) <= kMostBlocks * tile.threads;
}

LogicalResult Rows::build(Operation *primitive, const TileConfig &config,
                          const GpuTarget &) const {
  FailureOr<RowWiseTile> tile = readRowWiseTile(primitive, config);
  if (failed(tile))
    return failure();
  auto op = cast<dnn::RowWiseOp>(primitive);
  OpBuilder b(op);
  PointBuilder p(b, op.getLoc());
  const ValueRange arguments = op->getBlock()->getArguments();
  RowWiseProgram program(p, op, arguments, tile->vector, tile->shared);
  const ThreadPosition position =
      enterRowGroups(program, *tile, /*hasSplits=*/false);
  if (isShort(op, program.g, *tile))
    op->getParentOfType<func::FuncOp>()->setAttr(dnn::kBeginsEarlyAttrName,
                                                 p.b.getUnitAttr());
  RowGroup group(program, *tile, position);
  if (program.getSharedRows() > 1) {
    finishSharedRows(program, arguments, group, position.thread);
    op.erase();
    return success();
  }
  group.reduceAll();
  SmallVector<Lanes> values = program.finishRow();
  if (!values.empty())
    group.byFirstThreads(1, [&] { program.storeRowOutputs(values); });
  if (op.hasMap())
    group.forEachBlock(op.getMap(), {}, [&](RowWiseBlock &block, ValueRange) {
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
