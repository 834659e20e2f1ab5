//===- TransposeKernel.cpp - A launch that transposes matrices ------------===//
//
// A workgroup moves a tile through LDS: it loads rows and stores columns, both
// with neighbouring threads at neighbouring addresses, and up to 16 bytes a
// thread where the lengths allow it. The tile is square unless one side of the
// matrices is short, as the taps of a filter are, or would leave much of a tile
// empty, as 96 channels do.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Converted/TransposeKernel.h"
#include "compiler/Algorithms/Common/ConvProgram.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>

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
};

/// A thread's share of a tile that all threads walk along its lines, rows or
/// columns of `length` elements.
struct TileWalk {
  TileShape tile;
  int64_t length, width;

  int64_t countIterations() const {
    return tile.countElements() / (kThreads * width);
  }
  /// The line, and the first element in it.
  std::pair<Value, Value> locate(PointBuilder &p, Value thread,
                                 int64_t iteration) const {
    Value number = p.add(thread, iteration * kThreads);
    const int64_t perLine = length / width;
    return {p.div(number, perLine), p.mul(p.rem(number, perLine), width)};
  }
};
} // namespace

static void loadTile(PointBuilder &p, Value source, Value shared,
                     ValueRange corner, Value thread, const TileWalk &walk,
                     const TileLayout &layout) {
  struct Loaded {
    Value row, column, block;
  };
  // All loads are under way before the first is waited for.
  SmallVector<Loaded> loaded;
  for (int64_t iteration = 0; iteration < walk.countIterations(); ++iteration) {
    auto [row, column] = walk.locate(p, thread, iteration);
    loaded.push_back({row, column,
                      p.loadBlock(source, 2, walk.width,
                                  {corner[0], p.add(corner[1], row),
                                   p.add(corner[2], column)})});
  }
  const int64_t width = layout.getWriteWidth(walk.width);
  for (const Loaded &part : loaded)
    for (int64_t first = 0; first < walk.width; first += width)
      p.storeShared(p.getSlice(part.block, first, width), shared,
                    layout.locate(p, part.row, p.add(part.column, first)));
}

static void storeTile(PointBuilder &p, Value shared, Value target,
                      ValueRange corner, Value thread, const TileWalk &walk,
                      const TileLayout &layout) {
  for (int64_t iteration = 0; iteration < walk.countIterations(); ++iteration) {
    auto [column, row] = walk.locate(p, thread, iteration);
    PointBuilder::Values elements;
    for (int64_t i = 0; i < walk.width; ++i)
      elements.push_back(
          p.loadShared(shared, 1, layout.locate(p, p.add(row, i), column)));
    p.storeBlock(p.makeBlock(elements), target, 2,
                 {corner[0], p.add(corner[2], column), p.add(corner[1], row)});
  }
}

/// Whether tiles of half a `side` fit `length` better: that is short, and they
/// are an odd number.
static bool wantsHalves(int64_t length, int64_t side) {
  constexpr int64_t kMany = 8;
  const int64_t halves = llvm::divideCeilSigned(length, side / 2);
  return halves % 2 == 1 && halves < kMany;
}

/// 4096 elements, or 1024 of eight bytes: 64 by 64, 32 by 128, or 16 by 256.
static TileShape chooseTile(const Matrices &matrices, int64_t elementBytes) {
  constexpr int64_t kSide = 64, kSideOfF64 = 32, kShort = 16, kLongest = 4;
  const int64_t side = elementBytes > kLongest ? kSideOfF64 : kSide;
  const int64_t longer = side * side / kShort;
  if (matrices.columns <= kShort)
    return {longer, kShort};
  if (matrices.rows <= kShort)
    return {kShort, longer};
  if (wantsHalves(matrices.rows, side) && matrices.columns >= 2 * side)
    return {side / 2, 2 * side};
  if (wantsHalves(matrices.columns, side) && matrices.rows >= 2 * side)
    return {2 * side, side / 2};
  return {side, side};
}

namespace {
/// How a workgroup moves each tile of a transposition.
struct TilePlan {
  Matrices matrices;
  TileShape tile;
  TileWalk loads, stores;
  TileLayout layout;

  /// Tiles as images, columns and rows.
  std::array<int64_t, 3> getTiles() const {
    return {matrices.batch,
            llvm::divideCeilSigned(matrices.columns, tile.columns),
            llvm::divideCeilSigned(matrices.rows, tile.rows)};
  }
};
} // namespace

/// Gives the arguments the types of matrices.
static TilePlan planTiles(const Transposition &job) {
  const auto [batch, rows, columns] = job.matrices;
  reshapeArgument(job.source, {batch, rows, columns});
  reshapeArgument(job.target, {batch, columns, rows});
  auto type = cast<MemRefType>(job.source.getType());
  auto target = cast<MemRefType>(job.target.getType());
  const int64_t bytes = type.getElementTypeBitWidth() / 8;
  const int64_t unit = kAccessBytes / bytes;
  const TileShape tile = chooseTile(job.matrices, bytes);
  const TileWalk loads{tile, tile.columns, getAccessWidth(type, 2, unit)};
  const TileWalk stores{tile, tile.rows, getAccessWidth(target, 2, unit)};
  return {job.matrices, tile, loads, stores, {tile, stores.width, bytes}};
}

/// The first element of a tile: its image, row and column.
static PointBuilder::Values getCorner(PointBuilder &p, const TilePlan &plan,
                                      ValueRange at) {
  return {at[0], p.mul(at[2], plan.tile.rows), p.mul(at[1], plan.tile.columns)};
}

void tessera::emitTranspose(func::FuncOp kernel, const Transposition &job) {
  const TilePlan plan = planTiles(job);
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, kernel.getLoc());
  const auto [images, columns, rows] = plan.getTiles();
  ValueRange at = p.forEachPoint({images, columns, rows, kThreads}, kThreads);
  Value shared = p.makeShared(getElementTypeOrSelf(job.source.getType()),
                              {plan.layout.countElements()});
  const PointBuilder::Values corner = getCorner(p, plan, at.drop_back());
  loadTile(p, job.source, shared, corner, at.back(), plan.loads, plan.layout);
  p.barrier();
  storeTile(p, shared, job.target, corner, at.back(), plan.stores, plan.layout);
}

void tessera::emitTransposes(func::FuncOp kernel, const Transposition &first,
                             const Transposition &second) {
  const std::array plans = {planTiles(first), planTiles(second)};
  std::array<int64_t, 2> counts;
  for (auto [count, plan] : llvm::zip(counts, plans)) {
    const auto [images, columns, rows] = plan.getTiles();
    count = images * columns * rows;
  }
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, kernel.getLoc());
  ValueRange at = p.forEachPoint({counts[0] + counts[1], kThreads}, kThreads);
  Value thread = at[1];
  Value shared = p.makeShared(getElementTypeOrSelf(first.source.getType()),
                              {std::max(plans[0].layout.countElements(),
                                        plans[1].layout.countElements())});
  auto load = [&](const Transposition &job, const TilePlan &plan, Value tile) {
    loadTile(p, job.source, shared,
             getCorner(p, plan, p.splitPosition(plan.getTiles(), tile)), thread,
             plan.loads, plan.layout);
  };
  auto store = [&](const Transposition &job, const TilePlan &plan, Value tile) {
    storeTile(p, shared, job.target,
              getCorner(p, plan, p.splitPosition(plan.getTiles(), tile)),
              thread, plan.stores, plan.layout);
  };
  // A barrier is in no branch.
  p.shareGroups(
      at[0], counts, [&](Value tile) { load(first, plans[0], tile); },
      [&](Value tile) { load(second, plans[1], tile); });
  p.barrier();
  p.shareGroups(
      at[0], counts, [&](Value tile) { store(first, plans[0], tile); },
      [&](Value tile) { store(second, plans[1], tile); });
}
