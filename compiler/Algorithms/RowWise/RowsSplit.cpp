//===- RowsSplit.cpp - Long rows that are shared by workgroups ------------===//
//
// Few rows that are long leave most of a chip idle if each is one workgroup's.
// Here each reduction is two launches: parts of rows to the workspace, and the
// parts of each row to its results; the map is a launch at the end.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/RowWise/RowsModel.h"
#include "compiler/Algorithms/RowWise/RowsTeam.h"
#include "compiler/Algorithms/RowWise/RowsWorkspace.h"

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
  SplitProgram(dnn::RowsOp op, const RowsTile &tile)
      : op(op), tile(tile), workspace(op, tile.parts) {}
  void build();

private:
  func::FuncOp appendKernel(const Twine &suffix);
  void buildParts(func::FuncOp kernel, size_t reduction);
  void buildResults(func::FuncOp kernel, size_t reduction);
  void buildMap(func::FuncOp kernel);
  RowsTeam::Counter getPartCounter(PointBuilder &p, const RowsGeometry &g);

  dnn::RowsOp op;
  const RowsTile tile;
  RowsWorkspace workspace;
  func::FuncOp last; ///< Of the kernels so far.
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

/// A workgroup has a part of the rows of its teams.
void SplitProgram::buildParts(func::FuncOp kernel, size_t reduction) {
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, op.getLoc());
  RowsProgram program(p, op, kernel.getArguments(), tile.vector);
  const RowsPlace place = enterTeams(program, tile, /*hasParts=*/true);
  workspace.loadResults(program, kernel, place.row, reduction);

  RowsTeam team(program, tile, place);
  std::vector<RowsFold> folds = program.getFolds(reduction);
  std::vector<RowsTeam::LaneWords> words = team.fold(reduction);
  for (auto [fold, own] : llvm::zip_equal(folds, words))
    own = team.combine(fold, own, [&](int64_t slots, Value j) {
      return team.count(slots, j);
    });
  team.byFirstThread([&] {
    workspace.storeParts(program, kernel, place.row, place.valid, reduction,
                         place.part, words);
  });
}

/// With n blocks a row, of which each turn gives each part some, the parts
/// before part a have all of the last turn, part a some, and others none.
RowsTeam::Counter SplitProgram::getPartCounter(PointBuilder &p,
                                               const RowsGeometry &g) {
  const int64_t blocks = g.getBlocksOfRow(tile.vector);
  const int64_t step = int64_t(tile.threads) * tile.parts;
  const int64_t over = blocks % step;
  const int64_t elements = g.isVectorInRow() ? tile.vector : 1;
  return [&p, this, over, elements, turns = blocks / step](int64_t slots,
                                                           Value j) {
    const int64_t full = over / tile.threads, rest = over % tile.threads;
    Value room =
        arith::SubIOp::create(p.b, p.loc, p.index(full + slots - 1), j);
    Value parts = arith::DivUIOp::create(p.b, p.loc, room, p.index(slots));
    Value isCut = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq, j,
                                        p.index(full % slots));
    Value cut =
        arith::SelectOp::create(p.b, p.loc, isCut, p.index(rest), p.index(0));
    Value count = p.add(p.add(p.mul(parts, tile.threads), cut),
                        turns * tile.threads * (tile.parts / slots));
    return p.mul(count, elements);
  };
}

/// A workgroup has a row, a thread a part of it.
void SplitProgram::buildResults(func::FuncOp kernel, size_t reduction) {
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, op.getLoc());
  RowsProgram program(p, op, kernel.getArguments(), /*vector=*/1);
  ValueRange point =
      p.forEachPoint({program.g.getRows(), tile.parts}, tile.parts);
  Value row = point[0], thread = point[1];
  program.enterRow(row, /*valid=*/nullptr);
  workspace.loadResults(program, kernel, row, reduction);

  RowsTeam team(program, tile.parts, thread, /*columns=*/1, p.index(0));
  RowsTeam::Counter counter = getPartCounter(p, RowsGeometry(op));
  std::vector<RowsFold> folds = program.getFolds(reduction);
  for (auto [kind, fold] : llvm::enumerate(folds)) {
    RowsFold::Words words =
        workspace.loadPart(program, kernel, row, reduction, kind, thread);
    words = team.combine(fold, {words}, counter).front();
    for (Value word : words)
      program.results.push_back({word});
  }
  const size_t count = program.results.size();
  SmallVector<Lanes> values;
  const bool isLast = reduction + 1 == op.getReduces().size();
  if (isLast)
    values = program.finishRow();
  team.byFirstThread([&] {
    workspace.storeResults(program, kernel, row, reduction, count);
    if (isLast)
      program.storeRowOutputs(values);
  });
}

void SplitProgram::buildMap(func::FuncOp kernel) {
  constexpr int64_t kThreads = 256;
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, op.getLoc());
  RowsProgram program(p, op, kernel.getArguments(), tile.vector);
  const bool isInRow = program.g.isVectorInRow();
  SmallVector<int64_t> sizes = {program.g.getBlocksOfRow(tile.vector),
                                program.g.getRowBlocks(tile.vector)};
  if (isInRow)
    std::swap(sizes[0], sizes[1]);
  ValueRange point = p.forEachPoint(sizes, kThreads);
  Value row = point[isInRow ? 0 : 1], number = point[isInRow ? 1 : 0];
  program.enterRow(row, /*valid=*/nullptr);
  workspace.loadResults(program, kernel, row, op.getReduces().size());
  RowsBlock block = program.getBlock(number, /*isKnown=*/true);
  program.storeOutputs(block);
}

void SplitProgram::build() {
  auto function = op->getParentOfType<func::FuncOp>();
  workspace.addTo(function);
  last = function;
  for (size_t i = 0; i < op.getReduces().size(); ++i) {
    buildParts(i == 0 ? function : appendKernel("_parts" + Twine(i)), i);
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
class RowsSplit final : public Algorithm {
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

Status RowsSplit::check(const Problem &problem, const GpuTarget &target) const {
  const RowProblem *rows = problem.getRows();
  if (!rows)
    return notSupported("solves operations on rows");
  constexpr int64_t kShort = 4096;
  if (rows->getRowLength() < kShort)
    return notSupported("is for rows that are long");
  const int64_t groups = rows->getElements() / rows->getRowLength();
  if (groups > int64_t(target.computeUnits) * kWorkgroup)
    return notSupported("is for rows that are few");
  const RowsGeometry g(*rows);
  if (g.reductions.empty())
    return notSupported("is for rows that are reduced");
  return checkRowsReach(g);
}

std::vector<Candidate> tessera::getRowSplitCandidates(const Problem &problem,
                                                      const GpuTarget &target,
                                                      const RowsRates &rates) {
  const RowsGeometry g(problem);
  std::vector<Candidate> candidates;
  for (auto vector = static_cast<int>(g.getWidestVector()); vector >= 1;
       vector /= 2)
    for (int columns = 1; columns <= kWorkgroup / 4; columns *= 2)
      for (int parts : {32, 64, 128, 256}) {
        const RowsTile tile{vector, kWorkgroup / columns, columns, parts};
        const bool isAlone =
            columns > 1 && columns >= 2 * g.getRowBlocks(vector);
        if (!isAlone &&
            int64_t(tile.threads) * parts <= g.getBlocksOfRow(vector))
          candidates.push_back({tile.toConfig("rowsplit"),
                                estimateRowSplit(g, tile, target, rates)});
      }
  return candidates;
}

std::vector<Candidate> RowsSplit::getCandidates(const Problem &problem,
                                                const GpuTarget &target) const {
  return getRowSplitCandidates(problem, target, getRowsRates(target));
}

LogicalResult RowsSplit::build(Operation *primitive, const TileConfig &config,
                               const GpuTarget &) const {
  FailureOr<RowsTile> tile = readRowsTile(primitive, config);
  if (failed(tile))
    return failure();
  auto op = cast<dnn::RowsOp>(primitive);
  if (op.getReduces().empty())
    return op.emitOpError() << "reduces nothing, but tile '" << config.toText()
                            << "' splits reductions";
  SplitProgram(op, *tile).build();
  return success();
}

const Algorithm &tessera::getRowsSplit() {
  static const RowsSplit algorithm;
  return algorithm;
}
