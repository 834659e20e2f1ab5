//===- ToeplitzWeights.cpp - Depthwise by products: backward weights ------===//
//
// The gradient of tap (i, j) is the sum over the pixels of y of a gradient
// times the pixel of x at its place plus (i, j). So two rows of x, seen from
// four first columns j, times the eight rows of gradients that meet them at tap
// rows i, as they are and four columns to the right, is the gradients of all
// taps: an instruction has four by two columns, eight by two rows, and a
// reduction of eight columns of two images. Two images are the halves of a
// register, so that a shift by a column is one by words.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/PartSum.h"
#include "compiler/Algorithms/Toeplitz.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
class ToeplitzWeightsProgram {
public:
  ToeplitzWeightsProgram(PointBuilder &p, const ConvProgram &program,
                         const ToeplitzTile &tile)
      : p(p), program(program), tile(tile), shape(tile, program.filter[0]),
        frame(p, tile) {}

  /// In front of `program`'s op, whose workspace has `parts`.
  void emit(Value parts);

private:
  using Task = ToeplitzFrame::Task;

  PointBuilder::Values loadTile();
  void storeTile(ValueRange loaded);
  PointBuilder::Values multiplyTile(ValueRange rows);
  Value multiply(Value place, Value sum);
  void store(Value parts, ValueRange rows);

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  ToeplitzWeightsPlanes shape;
  ToeplitzFrame frame;
  Value xPlanes, yPlanes; ///< In LDS.
  Value firstPlace;       ///< Of the warp's channels.
  Value below, column;    ///< Of the column `quad` of x: row of two, and tap.
};
} // namespace

/// A tile has its own rows of x and columns of y; its rows of y are those that
/// meet the rows of x, its columns of x those that meet the columns of y.
PointBuilder::Values ToeplitzWeightsProgram::loadTile() {
  PointBuilder::Values loaded = frame.load(shape.x, [&](const Task &task) {
    return frame.loadPair(
        program.x, task, p.add(frame.firstRow, task.row),
        p.add(p.add(frame.firstColumn, task.column), -program.pads[1]));
  });
  loaded.append(frame.load(shape.y, [&](const Task &task) {
    return frame.loadPair(program.y, task,
                          p.add(p.add(frame.firstRow, task.row),
                                program.pads[0] + kPair - shape.depth),
                          p.add(frame.firstColumn, task.column));
  }));
  return loaded;
}

void ToeplitzWeightsProgram::storeTile(ValueRange loaded) {
  Type element = program.x.getElementType();
  const int64_t ofX = kPair * frame.countTasks(shape.x);
  frame.store(loaded.take_front(ofX), element, xPlanes, shape.x);
  frame.store(loaded.drop_front(ofX), element, yPlanes, shape.y);
}

/// Row g of the product is the gradients g rows above the last that meets the
/// second row of x, eight at most: what is behind the first one is it once
/// more. Four columns of gradients are part of two reductions, the second time
/// as the lower rows.
Value ToeplitzWeightsProgram::multiply(Value place, Value sum) {
  constexpr int64_t kHalf = kBlockColumns / 2;
  Value above =
      arith::MinUIOp::create(p.b, p.loc, frame.quad, p.index(shape.depth - 1));
  Value row =
      arith::SubIOp::create(p.b, p.loc, p.index(shape.depth - 1), above);
  Value yWord = p.add(p.mul(row, shape.y.rowWords), frame.inQuad);
  Value xWord =
      p.add(p.mul(below, shape.x.rowWords), p.add(frame.inQuad, column));
  Value none = p.zero(program.x.getElementType(), kPair);
  auto load = [&](Value planes, Value word, int64_t offset) {
    return p.loadShared(planes, 1, {place, p.add(word, offset)});
  };
  for (int64_t i = 0; i < shape.x.rows; i += kPair) {
    const int64_t y = i * shape.y.rowWords, x = i * shape.x.rowWords;
    Value left = none;
    for (int64_t first = 0; first < tile.countColumns();
         first += kBlockColumns) {
      Value own = load(yPlanes, yWord, y + first);
      Value right = load(yPlanes, yWord, y + first + kHalf);
      sum = p.multiplyMatrices(
          {own, left, right, own},
          PointBuilder::Values{load(xPlanes, xWord, x + first),
                               load(xPlanes, xWord, x + first + kHalf)},
          sum);
      left = right;
    }
    sum = p.multiplyMatrices(
        {none, left},
        PointBuilder::Values{load(xPlanes, xWord, x + tile.countColumns())},
        sum);
  }
  return sum;
}

/// `rows`: the two of each channel's product.
PointBuilder::Values ToeplitzWeightsProgram::multiplyTile(ValueRange rows) {
  PointBuilder::Values next;
  for (size_t i = 0; i < rows.size(); i += kPair) {
    Value sum = multiply(p.add(firstPlace, static_cast<int64_t>(i / kPair)),
                         p.makeSums({rows[i], rows[i + 1]}));
    for (int64_t j = 0; j < kPair; ++j)
      next.push_back(p.getRow(sum, j));
  }
  return next;
}

/// The two rows of x are parts of their own. What is no tap lies outside of the
/// workspace, or is not read there.
void ToeplitzWeightsProgram::store(Value parts, ValueRange rows) {
  constexpr int64_t kColumns = 4;
  // Of the lane's two columns of the product: row of x, and first of taps.
  Value own = frame.div(frame.inQuad, kColumns / kPair);
  Value first = p.mul(frame.rem(frame.inQuad, kColumns / kPair), kPair);
  Value part = p.add(p.mul(frame.part, kPair), own);
  Value tap = p.add(p.add(frame.quad, own), -1);
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value place = p.add(firstPlace, static_cast<int64_t>(i / kPair));
    p.storeBlock(row, parts, 3,
                 {part, frame.getChannel(place), tap,
                  p.add(first, static_cast<int64_t>(i % kPair) * kColumns)});
  }
}

void ToeplitzWeightsProgram::emit(Value parts) {
  constexpr int64_t kColumns = 4;
  frame.makePoint(llvm::divideCeilSigned(program.dims.n, kPair),
                  program.x.getSpatialSize(0), program.y.getSpatialSize(1),
                  program.dims.groups);
  Type word = VectorType::get(kPair, program.x.getElementType());
  xPlanes = p.makeShared(word, {tile.channels, shape.x.words});
  yPlanes = p.makeShared(word, {tile.channels, shape.y.words});
  const int64_t perWarp = tile.channels / frame.countWarps();
  firstPlace = p.mul(frame.warp, perWarp);
  below = frame.div(frame.quad, kColumns);
  column = frame.rem(frame.quad, kColumns);
  PointBuilder::Values rows(perWarp * kPair,
                            p.zero(program.getSumType(), kPair));
  auto load = [&] { return loadTile(); };
  auto put = [&](ValueRange loaded) { storeTile(loaded); };
  auto body = [&](ValueRange carried) { return multiplyTile(carried); };
  store(parts, frame.forEachTile(rows, {load, put, body}));
}

/// A thread adds up what all parts have of a tap.
static void buildSum(const ConvProgram &program, Value workspace) {
  constexpr int64_t kThreads = 64, kAtOnce = 64;
  func::FuncOp function = appendKernel(program.getConv(), "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, program.getConv().getLoc());
  Value memory =
      function.getArgument(cast<BlockArgument>(workspace).getArgNumber());
  auto type = cast<MemRefType>(workspace.getType());
  ArrayRef<int64_t> sizes = type.getShape();
  ValueRange point = p.forEachPoint(sizes.drop_front(), kThreads);
  const int64_t turns = llvm::divideCeilSigned(sizes[0], kAtOnce);
  const int64_t atOnce = llvm::divideCeilSigned(sizes[0], turns);
  Value none = p.zero(type.getElementType(), 1);
  Value sum = p.loop(turns, none, [&](Value turn, ValueRange carried) {
    PointBuilder::Values parts;
    for (int64_t i = 0; i < atOnce; ++i)
      parts.push_back(p.loadBlock(
          memory, 3, 1,
          {p.add(p.mul(turn, atOnce), i), point[0], point[1], point[2]}));
    Value next = carried[0];
    for (Value part : parts)
      next = p.addBlocks(next, part);
    return PointBuilder::Values{next};
  })[0];
  const ConvTensor &w = program.w;
  emitResult(p, program, sum, w.getSpatialDim(1),
             w.order(point[0], p.index(0), {point[1], point[2]}),
             function.getArguments());
}

void tessera::buildToeplitzWeights(const ConvProgram &program,
                                   const ToeplitzTile &tile) {
  dnn::ConvOp conv = program.getConv();
  int64_t tiles =
      llvm::divideCeilSigned(program.dims.n, kPair) *
      llvm::divideCeilSigned(program.x.getSpatialSize(0), tile.countRows()) *
      llvm::divideCeilSigned(program.y.getSpatialSize(1), tile.countColumns());
  Value workspace = addPartsWorkspace(
      conv, {llvm::divideCeilSigned(tiles, tile.turns) * kPair,
             program.dims.groups, program.filter[0], kBlockColumns});
  buildSum(program, workspace);
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  ToeplitzWeightsProgram(p, program, tile).emit(workspace);
  conv.erase();
}
