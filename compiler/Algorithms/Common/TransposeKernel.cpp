//===- TransposeKernel.cpp - A launch that transposes matrices ------------===//
//
// A workgroup moves a tile through LDS: it loads rows and stores columns, both
// with neighbouring threads at neighbouring addresses, and up to 16 bytes a
// thread where the lengths allow it. The tile is square unless one side of the
// matrices is short, as the taps of a filter are, or would leave much of a tile
// empty, as 96 channels do.
//
// Elements may be converted on their way. Where that is all, as both sides lie
// the same, a thread stores what it has loaded itself.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/TransposeKernel.h"
#include "compiler/Algorithms/Common/ConvProgram.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <optional>

using namespace mlir;
using namespace tessera;

static constexpr int64_t kThreads = 256, kAccessBytes = 16, kBankBytes = 4;

namespace {
struct TileShape {
  int64_t rows, columns;

  int64_t countElements() const { return rows * columns; }
};

/// Where LDS has the elements of a tile. Threads write along rows and read
/// `readWidth` rows of one column each; the pitch keeps the rows that are read
/// at once in different banks.
struct TileLayout {
  TileShape tile;
  int64_t readWidth;
  int64_t elementBytes;

  /// Wide reads: row groups are shifted by 16 bytes each, which leaves rows
  /// aligned for wide writes. Narrow ones: rows are an odd number of banks
  /// apart, and writes are as wide as a bank.
  bool isSkewed() const { return readWidth > 2; }
  int64_t getUnit() const { return kAccessBytes / elementBytes; }
  int64_t getBankElements() const {
    return std::max<int64_t>(kBankBytes / elementBytes, 1);
  }
  int64_t getWriteWidth(int64_t width) const {
    return isSkewed() ? width : std::min(width, getBankElements());
  }
  int64_t countElements() const {
    return isSkewed() ? tile.countElements() + tile.rows / readWidth * getUnit()
                      : tile.rows * (tile.columns + getBankElements());
  }
  Value locate(PointBuilder &p, Value row, Value column) const {
    if (!isSkewed())
      return p.add(p.mul(row, tile.columns + getBankElements()), column);
    return p.add(p.add(p.mul(row, tile.columns), column),
                 p.mul(p.div(row, readWidth), getUnit()));
  }
  /// The same, `further` rows on: as far from each row, if groups are whole.
  Value locate(PointBuilder &p, Value row, int64_t further,
               Value column) const {
    if (!isSkewed() || further % readWidth != 0)
      return locate(p, p.add(row, further), column);
    return p.add(locate(p, row, column),
                 further * tile.columns + further / readWidth * getUnit());
  }
};

/// A thread's share of a tile that all threads walk along its lines, rows or
/// columns of `length` elements.
struct TileWalk {
  TileShape tile;
  int64_t length, width;

  int64_t countIterations() const {
    return tile.countElements() / (kThreads * width);
  }
  /// Where an access of a thread begins.
  struct Position {
    Value line;
    int64_t further; ///< Lines behind it.
    Value element;   ///< The first one in the line.
  };
  /// Where all threads walk whole lines at once, only the number of lines
  /// differs from one iteration to the next.
  Position locate(PointBuilder &p, Value thread, int64_t iteration) const {
    const int64_t perLine = length / width;
    const int64_t before = iteration * kThreads;
    const bool isWhole = before % perLine == 0;
    Value number = isWhole ? thread : p.add(thread, before);
    return {p.div(number, perLine), isWhole ? before / perLine : 0,
            p.mul(p.rem(number, perLine), width)};
  }
};
} // namespace

/// Coordinates of (line, element) of the matrix whose first element is
/// `corner`.
static PointBuilder::Values locate(PointBuilder &p, ValueRange corner,
                                   Value line, Value element) {
  PointBuilder::Values at = {corner.front(), line};
  llvm::append_range(at, corner.drop_front(3));
  at.push_back(element);
  return at;
}

static int64_t getLastDim(Value memory) {
  return cast<MemRefType>(memory.getType()).getRank() - 1;
}

static void loadTile(PointBuilder &p, Value source, Value shared,
                     ValueRange corner, Value thread, const TileWalk &walk,
                     const TileLayout &layout) {
  struct Loaded {
    TileWalk::Position position;
    Value block;
  };
  // All loads are under way before the first is waited for.
  SmallVector<Loaded> loaded;
  for (int64_t iteration = 0; iteration < walk.countIterations(); ++iteration) {
    const auto position = walk.locate(p, thread, iteration);
    Value row = p.add(position.line, position.further);
    loaded.push_back(
        {position, p.loadBlock(source, getLastDim(source), walk.width,
                               locate(p, corner, p.add(corner[1], row),
                                      p.add(corner[2], position.element)))});
  }
  const int64_t width = layout.getWriteWidth(walk.width);
  for (const Loaded &part : loaded)
    for (int64_t first = 0; first < walk.width; first += width)
      p.storeShared(p.getSlice(part.block, first, width), shared,
                    layout.locate(p, part.position.line, part.position.further,
                                  p.add(part.position.element, first)));
}

static void storeTile(PointBuilder &p, Value shared, Value target,
                      ValueRange corner, Value thread, const TileWalk &walk,
                      const TileLayout &layout) {
  for (int64_t iteration = 0; iteration < walk.countIterations(); ++iteration) {
    const auto [line, further, row] = walk.locate(p, thread, iteration);
    Value column = p.add(line, further);
    PointBuilder::Values elements;
    for (int64_t i = 0; i < walk.width; ++i)
      elements.push_back(
          p.loadShared(shared, 1, layout.locate(p, p.add(row, i), column)));
    Value block =
        p.convert(p.makeBlock(elements), getElementTypeOrSelf(target));
    p.storeBlock(
        block, target, getLastDim(target),
        locate(p, corner, p.add(corner[2], column), p.add(corner[1], row)));
  }
}

/// Whether tiles of half a `side` fit `length` better: that is short, and they
/// are an odd number.
static bool wantsHalves(int64_t length, int64_t side) {
  constexpr int64_t kMany = 8;
  const int64_t halves = llvm::divideCeilSigned(length, side / 2);
  return halves % 2 == 1 && halves < kMany;
}

static constexpr int64_t kShort = 16;

/// The length of a tile along the long side of matrices whose other side is
/// short: that side's, but all threads have an access of the widest kind.
static int64_t getLongSide(int64_t longest, int64_t length,
                           int64_t elementBytes) {
  const int64_t least = kThreads * (kAccessBytes / elementBytes) / kShort;
  return std::min<int64_t>(
      longest, std::max<int64_t>(least, llvm::PowerOf2Ceil(length)));
}

/// 4096 elements, or 1024 of eight bytes: 64 by 64, 32 by 128, or 16 by 256.
/// Along pixels of unknown number accesses are of one element: half as many
/// elements then keep more of a chip busy with few pixels.
static TileShape chooseTile(const Matrices &matrices, int64_t elementBytes) {
  constexpr int64_t kSide = 64, kSideOfF64 = 32, kLongest = 4;
  constexpr int64_t kLarge = int64_t(1) << 30;
  const int64_t rows = matrices.rows.getNumber().value_or(kLarge);
  const int64_t columns = matrices.columns.getNumber().value_or(kLarge);
  const int64_t side = elementBytes > kLongest ? kSideOfF64 : kSide;
  const int64_t longer = side * side / kShort;
  if (columns <= kShort)
    return {getLongSide(longer, rows, elementBytes), kShort};
  if (rows <= kShort)
    return {kShort, getLongSide(longer, columns, elementBytes)};
  if (columns == kLarge)
    return {side / 2, side};
  if (rows == kLarge)
    return {side, side / 2};
  if (wantsHalves(rows, side) && columns >= 2 * side)
    return {side / 2, 2 * side};
  if (wantsHalves(columns, side) && rows >= 2 * side)
    return {2 * side, side / 2};
  return {side, side};
}

namespace {
/// How a workgroup moves each tile of a transposition.
struct TilePlan {
  TileShape tile;
  TileWalk loads, stores;
  TileLayout layout;
  int64_t interleaved;

  /// Tiles of `source` as matrices, columns and rows.
  SmallVector<Size> getTiles(PointBuilder &p, Value source) const {
    Size matrices = p.getSize(source, 0);
    if (interleaved > 1)
      matrices = p.multiply(matrices, p.getSize(source, 2));
    return {matrices,
            p.divideUp(p.getSize(source, getLastDim(source)), tile.columns),
            p.divideUp(p.getSize(source, 1), tile.rows)};
  }
};
} // namespace

/// The elements that a thread accesses at once along dimension `dim`.
static int64_t getWidestAccess(MemRefType type, int64_t dim) {
  return getAccessWidth(type, dim,
                        kAccessBytes * 8 / type.getElementTypeBitWidth());
}

/// Gives the arguments the types of matrices.
static TilePlan planTiles(const Transposition &job) {
  const auto &[batch, rows, columns, interleaved] = job.matrices;
  auto reshape = [&](Value memory, SmallVector<SizeExpr> shape) {
    if (job.matrices.interleaved > 1)
      shape.insert(shape.begin() + 2, SizeExpr(job.matrices.interleaved));
    reshapeOpen(memory, shape);
  };
  reshape(job.source, {batch, rows, columns});
  reshape(job.target, {batch, columns, rows});
  auto type = cast<MemRefType>(job.source.getType());
  auto target = cast<MemRefType>(job.target.getType());
  const int64_t bytes = type.getElementTypeBitWidth() / 8;
  const TileShape tile = chooseTile(job.matrices, bytes);
  const TileWalk loads{tile, tile.columns,
                       getWidestAccess(type, type.getRank() - 1)};
  const TileWalk stores{tile, tile.rows,
                        getWidestAccess(target, target.getRank() - 1)};
  return {tile, loads, stores, {tile, stores.width, bytes}, interleaved};
}

/// The first element of a tile: its image, row and column, and, of interleaved
/// matrices, which of them has it.
static PointBuilder::Values getCorner(PointBuilder &p, const TilePlan &plan,
                                      ValueRange at) {
  PointBuilder::Values corner = {at[0], p.mul(at[2], plan.tile.rows),
                                 p.mul(at[1], plan.tile.columns)};
  if (plan.interleaved > 1) {
    corner.push_back(p.rem(at[0], plan.interleaved));
    corner.front() = p.div(at[0], plan.interleaved);
  }
  return corner;
}

//===----------------------------------------------------------------------===//
// Elements that are converted where they are
//===----------------------------------------------------------------------===//

namespace {
/// How a workgroup converts a run of elements: each thread some blocks.
struct RunPlan {
  int64_t width;

  static constexpr int64_t kBlocks = 4; ///< Of a thread.
  int64_t getRun() const { return kThreads * kBlocks * width; }
};
} // namespace

/// Makes the arguments flat.
static RunPlan planRuns(const Transposition &job) {
  const auto &[batch, rows, columns, interleaved] = job.matrices;
  const SizeExpr elements = batch * rows * columns;
  auto flatten = [&](BlockArgument argument) {
    Value flat = reshapeOpen(argument, {elements});
    return getWidestAccess(cast<MemRefType>(flat.getType()), 0);
  };
  const int64_t loads = flatten(job.source), stores = flatten(job.target);
  return {std::min(loads, stores)};
}

static void convertRun(PointBuilder &p, const Transposition &job,
                       const RunPlan &plan, Value run, Value thread) {
  PointBuilder::Values offsets, blocks;
  for (int64_t i = 0; i < RunPlan::kBlocks; ++i)
    offsets.push_back(p.add(p.mul(run, plan.getRun()),
                            p.mul(p.add(thread, i * kThreads), plan.width)));
  for (Value offset : offsets)
    blocks.push_back(p.loadBlock(job.source, 0, plan.width, offset));
  for (auto [block, offset] : llvm::zip_equal(blocks, offsets))
    p.storeBlock(p.convert(block, getElementTypeOrSelf(job.target.getType())),
                 job.target, 0, offset);
}

//===----------------------------------------------------------------------===//
// The launches
//===----------------------------------------------------------------------===//

namespace {
/// A transposition in two phases, or a conversion in the first one.
class Job {
public:
  /// `p` is in front of the points.
  Job(const Transposition &job, PointBuilder &p)
      : job(job),
        runs(job.matrices.isSameTransposed() ? std::optional(planRuns(job))
                                             : std::nullopt),
        tiles(runs ? std::nullopt : std::optional(planTiles(job))) {
    if (runs)
      groups = {p.divideUp(p.getSize(job.source, 0), runs->getRun())};
    else
      groups = tiles->getTiles(p, job.source);
  }

  /// The numbers of workgroups along each dimension.
  ArrayRef<Size> getGroups() const { return groups; }
  Size countGroups(PointBuilder &p) const {
    Size count = groups.front();
    for (const Size &size : ArrayRef(groups).drop_front())
      count = p.multiply(count, size);
    return count;
  }
  /// Of memory that threads share.
  int64_t countShared() const {
    return tiles ? tiles->layout.countElements() : 0;
  }
  Type getSourceElement() const {
    return getElementTypeOrSelf(job.source.getType());
  }

  void load(PointBuilder &p, Value shared, ValueRange at, Value thread) const {
    if (runs)
      convertRun(p, job, *runs, at.front(), thread);
    else
      loadTile(p, job.source, shared, getCorner(p, *tiles, at), thread,
               tiles->loads, tiles->layout);
  }
  void store(PointBuilder &p, Value shared, ValueRange at, Value thread) const {
    if (tiles)
      storeTile(p, shared, job.target, getCorner(p, *tiles, at), thread,
                tiles->stores, tiles->layout);
  }

private:
  Transposition job;
  std::optional<RunPlan> runs;
  std::optional<TilePlan> tiles;
  SmallVector<Size> groups;
};
} // namespace

void tessera::emitTranspose(func::FuncOp kernel, const Transposition &only) {
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, kernel.getLoc());
  const Job job(only, p);
  SmallVector<Size> sizes(job.getGroups());
  sizes.push_back(kThreads);
  ValueRange at = p.forEachPointOf(sizes, kThreads);
  if (job.countShared() == 0)
    return job.load(p, Value(), at.drop_back(), at.back());
  Value shared = p.makeShared(job.getSourceElement(), {job.countShared()});
  job.load(p, shared, at.drop_back(), at.back());
  p.barrier();
  job.store(p, shared, at.drop_back(), at.back());
}

void tessera::emitTransposes(func::FuncOp kernel, const Transposition &first,
                             const Transposition &second) {
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, kernel.getLoc());
  const std::array jobs = {Job(first, p), Job(second, p)};
  const std::array counts = {jobs[0].countGroups(p), jobs[1].countGroups(p)};
  ValueRange at =
      p.forEachPointOf({p.add(counts[0], counts[1]), kThreads}, kThreads);
  Value group = at[0], thread = at[1];
  Value shared;
  using Phase = void (Job::*)(PointBuilder &, Value, ValueRange, Value) const;
  auto emit = [&](Phase phase) {
    auto run = [&](const Job &job, Value number) {
      (job.*phase)(p, shared, p.splitPosition(job.getGroups(), number), thread);
    };
    p.shareGroups(
        group, counts, [&](Value number) { run(jobs[0], number); },
        [&](Value number) { run(jobs[1], number); });
  };
  const int64_t elements =
      std::max(jobs[0].countShared(), jobs[1].countShared());
  if (elements == 0)
    return emit(&Job::load);
  shared = p.makeShared(jobs[0].getSourceElement(), {elements});
  emit(&Job::load);
  // A barrier is in no branch.
  p.barrier();
  emit(&Job::store);
}
