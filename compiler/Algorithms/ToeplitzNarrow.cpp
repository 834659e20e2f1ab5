//===- ToeplitzNarrow.cpp - Depthwise by products: few taps ---------------===//
//
// Backward weights of filters of at most four columns. An instruction's columns
// are then four first columns of two rows of x, and its rows are 16 rows of
// gradients, which it keeps while it is multiplied with all rows of x that meet
// one of them: each fragment of x is read for 16 rows instead of for one. The
// sums of a tap lie on a diagonal of all products; they are put together once,
// behind the last tile.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/PartSum.h"
#include "compiler/Algorithms/Toeplitz.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

/// Lanes of a warp, and those that hold a row of a fragment.
static constexpr int64_t kLanes = 32, kQuad = 4;

namespace {
class ToeplitzNarrowProgram {
public:
  ToeplitzNarrowProgram(PointBuilder &p, const ConvProgram &program,
                        const ToeplitzTile &tile)
      : p(p), program(program), tile(tile),
        shape(tile, program.filter, program.strides), frame(p, tile) {}

  /// In front of `program`'s op, whose workspace has `parts`.
  void emit(Value parts);

private:
  using Task = ToeplitzFrame::Task;

  PointBuilder::Values loadTile();
  void storeTile(ValueRange loaded);
  void multiply(int64_t channel, SmallVectorImpl<Value> &sums);
  PointBuilder::Values multiplyTile(ValueRange rows);
  Value addDiagonal(int64_t tap, ValueRange rows);
  void store(Value parts, ValueRange rows);

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  ToeplitzNarrowPlanes shape;
  ToeplitzFrame frame;
  Value xPlanes, yPlanes; ///< In LDS.
  Value firstPlace;       ///< Of the warp's channels.
  Value below, column;    ///< Of the lane's column: row of x of two, and tap.
};
} // namespace

PointBuilder::Values ToeplitzNarrowProgram::loadTile() {
  auto place = [&](int64_t dim, Value first, Value own) {
    return p.add(p.add(p.mul(first, program.strides[dim]), own),
                 -program.pads[dim]);
  };
  PointBuilder::Values loaded = frame.load(shape.x, [&](const Task &task) {
    return frame.loadPair(program.x, task, place(0, frame.firstRow, task.row),
                          place(1, frame.firstColumn, task.column));
  });
  loaded.append(frame.load(shape.y, [&](const Task &task) {
    return frame.loadPair(program.y, task, p.add(frame.firstRow, task.row),
                          p.add(frame.firstColumn, task.column));
  }));
  return loaded;
}

void ToeplitzNarrowProgram::storeTile(ValueRange loaded) {
  Type element = program.x.getElementType();
  const int64_t ofX = kPair * frame.countTasks(shape.x);
  frame.store(loaded.take_front(ofX), element, xPlanes, shape.x);
  frame.store(loaded.drop_front(ofX), element, yPlanes, shape.y);
}

/// Fragment i of the channel's has rows 2 i and 2 i + 1 of x.
void ToeplitzNarrowProgram::multiply(int64_t channel,
                                     SmallVectorImpl<Value> &sums) {
  constexpr int64_t kHalf = kBlockColumns / 2, kHalfRows = kWindows / 2;
  const int64_t stride = program.strides[1];
  Value place = p.add(firstPlace, channel);
  Value yWord = p.add(p.mul(frame.quad, shape.y.rowWords), frame.inQuad);
  Value xWord = p.add(p.mul(below, shape.x.rowWords),
                      p.add(p.mul(frame.inQuad, stride), column));
  auto load = [&](Value planes, Value word, int64_t offset) {
    return p.loadShared(planes, 1, {place, p.add(word, offset)});
  };
  for (int64_t first = 0; first < tile.countColumns(); first += kBlockColumns) {
    PointBuilder::Values gradients;
    for (int64_t half : {int64_t(0), kHalf})
      for (int64_t row : {int64_t(0), kHalfRows})
        gradients.push_back(
            load(yPlanes, yWord, row * shape.y.rowWords + first + half));
    for (int64_t i = 0; i < shape.fragments; ++i) {
      int64_t x = 2 * i * shape.x.rowWords + first * stride;
      PointBuilder::Values pixels = {load(xPlanes, xWord, x),
                                     load(xPlanes, xWord, x + kHalf * stride)};
      Value &sum = sums[channel * shape.fragments + i];
      sum = p.multiplyMatrices(gradients, pixels, sum);
    }
  }
}

/// `rows`: the two of each fragment of each channel.
PointBuilder::Values ToeplitzNarrowProgram::multiplyTile(ValueRange rows) {
  PointBuilder::Values sums;
  for (size_t i = 0; i < rows.size(); i += kPair)
    sums.push_back(p.makeSums({rows[i], rows[i + 1]}));
  for (int64_t i = 0; i * shape.fragments < static_cast<int64_t>(sums.size());
       ++i)
    multiply(i, sums);
  PointBuilder::Values next;
  for (Value sum : sums)
    for (int64_t i = 0; i < kPair; ++i)
      next.push_back(p.getRow(sum, i));
  return next;
}

/// What a lane has of a row of taps: of its row `quad` + 8 half of gradients
/// the fragment, if there is one, whose row of x that meets at the tap.
Value ToeplitzNarrowProgram::addDiagonal(int64_t tap, ValueRange rows) {
  const int64_t stride = program.strides[0];
  // Of the lane's two columns of the product.
  Value row = frame.div(frame.inQuad, kQuad / kPair);
  Value own =
      arith::SubIOp::create(p.b, p.loc, row, p.mul(frame.quad, stride));
  Value none = p.zero(program.getSumType(), kPair), total;
  for (int64_t half = 0; half < kPair; ++half) {
    Value found = none;
    for (int64_t i = 0; i < shape.fragments; ++i) {
      Value isTap = arith::CmpIOp::create(
          p.b, p.loc, arith::CmpIPredicate::eq, own,
          p.index(tap + stride * half * kWindows / 2 - 2 * i));
      found = arith::SelectOp::create(p.b, p.loc, isTap, rows[i * kPair + half],
                                      found);
    }
    total = total ? p.addBlocks(total, found) : found;
  }
  return total;
}

/// All lanes' sums to LDS; then a thread adds up the 16 of a tap.
void ToeplitzNarrowProgram::store(Value parts, ValueRange rows) {
  constexpr int64_t kColumns = 4;
  const int64_t taps = program.filter[0], count = shape.fragments * kPair;
  Value lanes = p.makeShared(VectorType::get(kPair, program.getSumType()),
                             {tile.channels, taps, kLanes});
  Value lane = p.add(p.mul(frame.quad, kQuad), frame.inQuad);
  for (int64_t i = 0; i * count < static_cast<int64_t>(rows.size()); ++i)
    for (int64_t tap = 0; tap < taps; ++tap)
      p.storeWord(addDiagonal(tap, rows.slice(i * count, count)), lanes,
                  {p.add(firstPlace, i), p.index(tap), lane});
  p.barrier();
  const int64_t tasks = tile.channels * taps * kColumns;
  for (int64_t first = 0; first < tasks; first += tile.threads) {
    Value number = arith::MinUIOp::create(
        p.b, p.loc, p.add(frame.thread, first), p.index(tasks - 1));
    Value tapColumn = frame.rem(number, kColumns);
    Value tap = frame.rem(frame.div(number, kColumns), taps);
    Value place = frame.div(number, kColumns * taps);
    Value isOdd =
        arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ne,
                              frame.rem(tapColumn, kPair), p.index(0));
    Value sum;
    for (int64_t other = 0; other < kLanes; other += kPair) {
      Value pair = p.loadShared(
          lanes, 1, {place, tap, p.add(frame.div(tapColumn, kPair), other)});
      Value term = arith::SelectOp::create(
          p.b, p.loc, isOdd, p.getElement(pair, 1), p.getElement(pair, 0));
      sum = sum ? p.addBlocks(sum, term) : term;
    }
    p.storeBlock(sum, parts, 3,
                 {frame.part, frame.getChannel(place), tap, tapColumn});
  }
}

void ToeplitzNarrowProgram::emit(Value parts) {
  constexpr int64_t kColumns = 4;
  frame.makePoint(llvm::divideCeilSigned(program.dims.n, kPair),
                  program.y.getSpatialSize(0), program.y.getSpatialSize(1),
                  program.dims.groups);
  Type word = VectorType::get(kPair, program.x.getElementType());
  xPlanes = p.makeShared(word, {tile.channels, shape.x.words});
  yPlanes = p.makeShared(word, {tile.channels, shape.y.words});
  const int64_t perWarp = tile.channels / frame.countWarps();
  firstPlace = p.mul(frame.warp, perWarp);
  below = frame.div(frame.quad, kColumns);
  column = frame.rem(frame.quad, kColumns);
  PointBuilder::Values rows(perWarp * shape.fragments * kPair,
                            p.zero(program.getSumType(), kPair));
  auto load = [&] { return loadTile(); };
  auto put = [&](ValueRange loaded) { storeTile(loaded); };
  auto body = [&](ValueRange carried) { return multiplyTile(carried); };
  store(parts, frame.forEachTile(rows, {load, put, body}));
}

void tessera::buildToeplitzNarrow(const ConvProgram &program,
                                  const ToeplitzTile &tile, Value parts) {
  OpBuilder b(program.getConv());
  PointBuilder p(b, program.getConv().getLoc());
  ToeplitzNarrowProgram(p, program, tile).emit(parts);
}
