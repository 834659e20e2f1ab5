//===- RowWiseMap.cpp - Element-wise maps ---------------------------------===//
//
// A thread has a block of neighbouring elements, and nothing is reduced. A
// problem may have reductions nevertheless if its rows have one element: then
// the result of a reduction is this element.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/RowWise/RowWiseModel.h"
#include "compiler/Algorithms/RowWise/RowWiseProgram.h"
#include "runtime/Base/RowWiseKind.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
class RowWiseMap final : public Algorithm {
public:
  std::string_view getName() const override { return "map"; }
  bool takesUnaligned() const override { return true; }
  bool takesUnknownSizes() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

Status RowWiseMap::check(const Problem &problem, const GpuTarget &) const {
  const Problem sample = problem.getSample();
  const RowWiseProblem *rows = sample.getRows();
  if (!rows)
    return notSupported("solves row-wise operations only");
  if (hasSteps(*rows))
    return notSupported("makes one step of a recurrent network only");
  if (rows->getRowLength() > 1)
    return notSupported("solves operations whose rows have one element");
  return checkRowWiseReach(RowWiseGeometry(*rows));
}

std::vector<Candidate> tessera::getMapCandidates(const Problem &problem,
                                                 const GpuTarget &target,
                                                 const RowWiseRates &rates) {
  const RowWiseGeometry g(problem);
  std::vector<Candidate> candidates;
  for (auto vector = static_cast<int>(g.getWidestVector()); vector >= 1;
       vector /= 2) {
    const RowWiseTile tile{.vector = vector};
    candidates.push_back(
        {tile.toConfig("map"), estimateMap(g, tile, target, rates)});
  }
  return candidates;
}

std::vector<Candidate>
RowWiseMap::getCandidates(const Problem &problem,
                          const GpuTarget &target) const {
  return getMapCandidates(problem.getSample(), target, getRowWiseRates(target));
}

/// Adds the results of a reduction of one element, which is the value itself; a
/// second word (an index or a sum of squares) is zero.
static void reduceOne(RowWiseProgram &program, size_t reduction,
                      RowWiseBlock &block) {
  Region &region = program.op.getReduces()[reduction];
  program.load(block, region);
  SmallVector<Lanes> values = program.evaluate(region, &block);
  for (auto [fold, lanes] :
       llvm::zip_equal(program.getFolds(reduction), values)) {
    program.results.push_back(lanes);
    if (fold.getTypes().size() > 1)
      program.results.push_back(
          Lanes(lanes.size(), program.p.zero(fold.getTypes()[1], 1)));
  }
}

/// Small workgroups spread few points over more compute units.
static int64_t chooseThreads(int64_t points, const GpuTarget &target) {
  constexpr int64_t kMany = 256;
  return points < kMany * target.computeUnits ? 64 : kMany;
}

LogicalResult RowWiseMap::build(Operation *primitive, const TileConfig &config,
                                const GpuTarget &target) const {
  FailureOr<RowWiseTile> tile = readRowWiseTile(primitive, config);
  if (failed(tile))
    return failure();
  auto op = cast<dnn::RowWiseOp>(primitive);
  if (op.getRowLength() > 1)
    return op.emitOpError()
           << "has rows of " << op.getRowLength() << " elements, but tile '"
           << config.toText() << "' reduces nothing";
  OpBuilder b(op);
  PointBuilder p(b, op.getLoc());
  RowWiseProgram program(p, op, op->getBlock()->getArguments(), tile->vector);
  SmallVector<int> dims = program.getDims(/*ofRows=*/true);
  SmallVector<Size> sizes = program.getSizes(dims);
  if (sizes.empty())
    sizes.push_back(1);
  const Size rows = program.getRowBlocks();
  constexpr int64_t kThreads = 256;
  ValueRange points = p.forEachPointOf(
      sizes, rows.isKnown() ? chooseThreads(rows.number, target) : kThreads);
  program.enterRowAt(points.take_front(dims.size()));
  RowWiseBlock block = program.getBlockAt(PointBuilder::Values(
      program.getDims(/*ofRows=*/false).size(), p.index(0)));
  for (size_t i = 0; i < op.getReduces().size(); ++i)
    reduceOne(program, i, block);
  program.storeRowOutputs(program.finishRow());
  if (op.hasMap())
    program.storeOutputs(block);
  op.erase();
  return success();
}

const Algorithm &tessera::getRowWiseMap() {
  static const RowWiseMap algorithm;
  return algorithm;
}
