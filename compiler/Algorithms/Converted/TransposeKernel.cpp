//===- TransposeKernel.cpp - A launch that transposes matrices ------------===//
//
// A workgroup moves a tile through LDS: it loads rows and stores columns, both
// with neighbouring threads at neighbouring addresses, and up to 16 bytes a
// thread where the lengths allow it. The tile is square unless one side of the
// matrices is short, as the taps of a filter are.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Converted/TransposeKernel.h"
#include "compiler/Algorithms/Common/ConvProgram.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

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

/// 4096 elements, or 1024 of eight bytes: 64 by 64, or a short side of 16.
static TileShape chooseTile(const Matrices &matrices, int64_t elementBytes) {
  constexpr int64_t kSide = 64, kSideOfF64 = 32, kShort = 16, kLongest = 4;
  const int64_t side = elementBytes > kLongest ? kSideOfF64 : kSide;
  const int64_t longer = side * side / kShort;
  if (matrices.columns <= kShort)
    return {longer, kShort};
  if (matrices.rows <= kShort)
    return {kShort, longer};
  return {side, side};
}

void tessera::emitTranspose(func::FuncOp kernel, BlockArgument source,
                            BlockArgument target, const Matrices &matrices) {
  const auto [batch, rows, columns] = matrices;
  reshapeArgument(source, {batch, rows, columns});
  reshapeArgument(target, {batch, columns, rows});
  auto type = cast<MemRefType>(source.getType());
  const int64_t bytes = type.getElementTypeBitWidth() / 8;
  const int64_t unit = kAccessBytes / bytes;
  const TileShape tile = chooseTile(matrices, bytes);
  const TileWalk loads{tile, tile.columns, getAccessWidth(type, 2, unit)};
  const TileWalk stores{
      tile, tile.rows,
      getAccessWidth(cast<MemRefType>(target.getType()), 2, unit)};
  const TileLayout layout{tile, stores.width, bytes};

  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, kernel.getLoc());
  ValueRange point =
      p.forEachPoint({batch, llvm::divideCeilSigned(columns, tile.columns),
                      llvm::divideCeilSigned(rows, tile.rows), kThreads},
                     kThreads);
  PointBuilder::Values corner = {point[0], p.mul(point[2], tile.rows),
                                 p.mul(point[1], tile.columns)};
  Value thread = point[3];
  Value shared = p.makeShared(type.getElementType(), {layout.countElements()});
  loadTile(p, source, shared, corner, thread, loads, layout);
  p.barrier();
  storeTile(p, shared, target, corner, thread, stores, layout);
}
