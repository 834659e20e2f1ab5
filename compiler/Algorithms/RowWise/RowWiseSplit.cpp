//===- RowWiseSplit.cpp - Row-wise operations with split rows -------------===//
//
// A few long rows leave most of a chip idle if each row belongs to one
// workgroup. Here several workgroups share a row, and each reduction is two
// launches: one writes the partial results of all splits to the workspace, the
// other combines those of each row. The map is the last launch.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/RowWise/RowGroup.h"
#include "compiler/Algorithms/RowWise/RowWiseModel.h"
#include "compiler/Algorithms/RowWise/RowWiseWorkspace.h"
#include "runtime/Base/RowWiseKind.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

namespace {
/// Writes the launches of one op.
class SplitProgram {
public:
  SplitProgram(dnn::RowWiseOp op, const RowWiseTile &tile)
      : op(op), tile(tile), workspace(op, tile.splits) {}
  void build();

private:
  func::FuncOp appendKernel(const Twine &suffix);
  void buildSplits(func::FuncOp kernel, size_t reduction);
  void buildResults(func::FuncOp kernel, size_t reduction);
  void buildMap(func::FuncOp kernel);
  RowGroup::Counter getSplitCounter(PointBuilder &p, const RowWiseGeometry &g);

  dnn::RowWiseOp op;
  const RowWiseTile tile;
  RowWiseWorkspace workspace;
  func::FuncOp last; ///< The last of the kernels so far.
};
} // namespace

func::FuncOp SplitProgram::appendKernel(const Twine &suffix) {
  auto function = op->getParentOfType<func::FuncOp>();
  OpBuilder b(op.getContext());
  b.setInsertionPointAfter(last);
  auto kernel =
      func::FuncOp::create(b, op.getLoc(), (function.getName() + suffix).str(),
                           function.getFunctionType());
  kernel->setAttr(dnn::kKernelAttrName, b.getUnitAttr());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    kernel.setArgAttrs(i, function.getArgAttrDict(i));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  func::ReturnOp::create(b, op.getLoc());
  last = kernel;
  return kernel;
}

/// Emits the launch whose workgroups reduce one split of the rows of their row
/// groups.
void SplitProgram::buildSplits(func::FuncOp kernel, size_t reduction) {
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, op.getLoc());
  RowWiseProgram program(p, op, kernel.getArguments(), tile.vector);
  const ThreadPosition position =
      enterRowGroups(program, tile, /*hasSplits=*/true);
  workspace.loadResults(program, kernel, position.row, reduction);

  RowGroup group(program, tile, position);
  std::vector<RowWiseFold> folds = program.getFolds(reduction);
  std::vector<RowGroup::LaneWords> words = group.fold(reduction);
  for (auto [fold, own] : llvm::zip_equal(folds, words))
    own = group.combine(fold, own, [&](int64_t slots, Value j) {
      return group.count(slots, j);
    });
  group.byFirstThreads(1, [&] {
    workspace.storeSplits(program, kernel, position.row, position.valid,
                          reduction, position.split, words);
  });
}

/// Counts values in the launch that combines the partial results. Each
/// iteration gives each split as many blocks as a row group has threads. The
/// last, partial iteration gives as many to the first `full` splits, `rest` to
/// the next one, and none to the others.
RowGroup::Counter SplitProgram::getSplitCounter(PointBuilder &p,
                                                const RowWiseGeometry &g) {
  const int64_t blocks = g.getBlocksOfRow(tile.vector);
  const int64_t step = int64_t(tile.threads) * tile.splits;
  const int64_t over = blocks % step;
  const int64_t elements = g.isVectorInRow() ? tile.vector : 1;
  return [&p, this, over, elements, iterations = blocks / step](int64_t slots,
                                                                Value j) {
    const int64_t full = over / tile.threads, rest = over % tile.threads;
    Value numerator =
        arith::SubIOp::create(p.b, p.loc, p.index(full + slots - 1), j);
    Value fullSplits =
        arith::DivUIOp::create(p.b, p.loc, numerator, p.index(slots));
    Value isCut = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq, j,
                                        p.index(full % slots));
    Value cut =
        arith::SelectOp::create(p.b, p.loc, isCut, p.index(rest), p.index(0));
    Value count = p.add(p.add(p.mul(fullSplits, tile.threads), cut),
                        iterations * tile.threads * (tile.splits / slots));
    return p.mul(count, elements);
  };
}

/// Emits the launch that combines the partial results: a workgroup has a row, a
/// thread the partial result of one split.
void SplitProgram::buildResults(func::FuncOp kernel, size_t reduction) {
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, op.getLoc());
  RowWiseProgram program(p, op, kernel.getArguments(), /*vector=*/1);
  ValueRange point =
      p.forEachPoint({program.g.getRows(), tile.splits}, tile.splits);
  Value row = point[0], thread = point[1];
  program.enterRow(row, /*valid=*/nullptr);
  workspace.loadResults(program, kernel, row, reduction);

  RowGroup group(program, tile.splits, thread, /*groups=*/1, p.index(0));
  RowGroup::Counter counter = getSplitCounter(p, RowWiseGeometry(op));
  std::vector<RowWiseFold> folds = program.getFolds(reduction);
  for (auto [kind, fold] : llvm::enumerate(folds)) {
    RowWiseFold::Words words =
        workspace.loadSplit(program, kernel, row, reduction, kind, thread);
    words = group.combine(fold, {words}, counter).front();
    for (Value word : words)
      program.results.push_back({word});
  }
  const size_t count = program.results.size();
  SmallVector<Lanes> values;
  const bool isLast = reduction + 1 == op.getReduces().size();
  if (isLast)
    values = program.finishRow();
  group.byFirstThreads(1, [&] {
    workspace.storeResults(program, kernel, row, reduction, count);
    if (isLast)
      program.storeRowOutputs(values);
  });
}

void SplitProgram::buildMap(func::FuncOp kernel) {
  constexpr int64_t kThreads = 256;
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, op.getLoc());
  RowWiseProgram program(p, op, kernel.getArguments(), tile.vector);
  const bool isInRow = program.g.isVectorInRow();
  SmallVector<int64_t> sizes = {program.g.getBlocksOfRow(tile.vector),
                                program.g.getRowBlocks(tile.vector)};
  if (isInRow)
    std::swap(sizes[0], sizes[1]);
  ValueRange point = p.forEachPoint(sizes, kThreads);
  Value row = point[isInRow ? 0 : 1], number = point[isInRow ? 1 : 0];
  program.enterRow(row, /*valid=*/nullptr);
  workspace.loadResults(program, kernel, row, op.getReduces().size());
  RowWiseBlock block = program.getBlock(number, /*isKnown=*/true);
  program.storeOutputs(block);
}

void SplitProgram::build() {
  auto function = op->getParentOfType<func::FuncOp>();
  workspace.addTo(function);
  last = function;
  for (size_t i = 0; i < op.getReduces().size(); ++i) {
    buildSplits(i == 0 ? function : appendKernel("_parts" + Twine(i)), i);
    buildResults(appendKernel("_results" + Twine(i)), i);
  }
  if (op.hasMap())
    buildMap(appendKernel("_map"));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Algorithm
//===----------------------------------------------------------------------===//

namespace {
class RowWiseSplit final : public Algorithm {
public:
  std::string_view getName() const override { return "rowsplit"; }
  bool takesUnaligned() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

static constexpr int kWorkgroup = 256;

Status RowWiseSplit::check(const Problem &problem,
                           const GpuTarget &target) const {
  const RowWiseProblem *rows = problem.getRows();
  if (!rows)
    return notSupported("solves row-wise operations only");
  if (hasSteps(*rows))
    return notSupported("makes one step of a recurrent network only");
  constexpr int64_t kShort = 4096;
  if (rows->getRowLength() < kShort)
    return notSupported("splits rows of at least 4096 elements");
  const int64_t rowCount = rows->getElements() / rows->getRowLength();
  if (rowCount > int64_t(target.computeUnits) * kWorkgroup)
    return notSupported("splits operations of few rows only");
  const RowWiseGeometry g(*rows);
  if (g.reductions.empty())
    return notSupported("solves operations with a reduction only");
  return checkRowWiseReach(g);
}

std::vector<Candidate>
tessera::getRowSplitCandidates(const Problem &problem, const GpuTarget &target,
                               const RowWiseRates &rates) {
  const RowWiseGeometry g(problem);
  std::vector<Candidate> candidates;
  for (auto vector = static_cast<int>(g.getWidestVector()); vector >= 1;
       vector /= 2)
    for (int groups = 1; groups <= kWorkgroup / 4; groups *= 2)
      for (int splits : {32, 64, 128, 256}) {
        const RowWiseTile tile{vector, kWorkgroup / groups, groups, splits};
        const bool lacksRows =
            groups > 1 && groups >= 2 * g.getRowBlocks(vector);
        if (!lacksRows &&
            int64_t(tile.threads) * splits <= g.getBlocksOfRow(vector))
          candidates.push_back({tile.toConfig("rowsplit"),
                                estimateRowSplit(g, tile, target, rates)});
      }
  return candidates;
}

std::vector<Candidate>
RowWiseSplit::getCandidates(const Problem &problem,
                            const GpuTarget &target) const {
  return getRowSplitCandidates(problem, target, getRowWiseRates(target));
}

LogicalResult RowWiseSplit::build(Operation *primitive,
                                  const TileConfig &config,
                                  const GpuTarget &) const {
  FailureOr<RowWiseTile> tile = readRowWiseTile(primitive, config);
  if (failed(tile))
    return failure();
  auto op = cast<dnn::RowWiseOp>(primitive);
  if (op.getReduces().empty())
    return op.emitOpError() << "reduces nothing, but tile '" << config.toText()
                            << "' splits reductions";
  SplitProgram(op, *tile).build();
  return success();
}

const Algorithm &tessera::getRowWiseSplit() {
  static const RowWiseSplit algorithm;
  return algorithm;
}
