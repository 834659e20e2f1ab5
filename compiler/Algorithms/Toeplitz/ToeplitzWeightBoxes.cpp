//===- ToeplitzWeightBoxes.cpp - Backward weights, with boxes -------------===//
//
// A workgroup walks down the rows of two images, and on to the next two, strip
// by strip: rows of x, and the rows of gradients that these are the first to
// meet. The rows of gradients above them are in LDS since the strips before. So
// every pixel is read once, but a few rows of gradients where a workgroup
// begins.
//
// All strips are numbered one behind the other. In front of the first row of x
// of an image are strips that only bring gradients, and so are those in front
// of a workgroup's own ones.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz/ToeplitzBoxes.h"
#include "dialect/IR/PointHints.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
class ToeplitzWeightBoxProgram {
public:
  ToeplitzWeightBoxProgram(PointBuilder &p, const ConvProgram &program,
                           const ToeplitzTile &tile)
      : p(p), program(program), tile(tile), planes(tile, program.filter[0]),
        strips(tile, program.filter[0], program.pads[0]), frame(p, tile),
        taps(p, program, tile, frame, planes.depth) {}

  void emit(Value parts);

private:
  struct Strip {
    Value image, row, column; ///< The first ones, of x and of y's columns.
    Value hasProducts;        ///< Or brings gradients alone.
  };
  int64_t countTurns() const { return strips.lead + tile.turns; }
  Strip getStrip(Value turn) const;
  Value makeBuffer(const ToeplitzPlane &plane);
  void copyIn(Value turn);
  void spread(Value turn, Value hasProducts);
  PointBuilder::Values multiply(Value turn, ValueRange rows);
  Value getRingRow(Value row) const { return p.rem(row, planes.ringRows); }

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  const ToeplitzStripPlanes planes;
  const ToeplitzStrips strips;
  ToeplitzFrame frame;
  ToeplitzTaps taps;
  Value xBoxes, yBoxes, xPlanes, yPlanes; ///< In LDS.
};
} // namespace

/// What is in front of the first strip, or behind the last one, is of images
/// that there are none of: numbers begin so many whole images earlier that none
/// is negative.
ToeplitzWeightBoxProgram::Strip
ToeplitzWeightBoxProgram::getStrip(Value turn) const {
  const int64_t ofImage =
      strips.above +
      llvm::divideCeilSigned(program.x.getSpatialSize(0), tile.rows);
  const int64_t columnTiles =
      llvm::divideCeilSigned(program.y.getSpatialSize(1), tile.countColumns());
  Value number = p.add(p.add(p.mul(frame.part, tile.turns), turn),
                       strips.lead * (ofImage * columnTiles - 1));
  Value down = p.add(p.rem(number, ofImage), -strips.above);
  number = p.div(number, ofImage);
  Value pair = p.add(p.div(number, columnTiles), -strips.lead);
  Value isOwn = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::uge,
                                      turn, p.index(strips.lead));
  Value hasRows = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::sge,
                                        down, p.index(0));
  return {p.mul(pair, kPair), p.mul(down, tile.rows),
          p.mul(p.rem(number, columnTiles), tile.countColumns()),
          arith::AndIOp::create(p.b, p.loc, isOwn, hasRows)};
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// A slot a strip, of two images.
Value ToeplitzWeightBoxProgram::makeBuffer(const ToeplitzPlane &plane) {
  return p.makeShared(
      program.x.getElementType(),
      {tile.stages, kPair * planes.getBox(plane).words, tile.channels});
}

/// Where no products come, nobody asks for x.
void ToeplitzWeightBoxProgram::copyIn(Value turn) {
  Strip strip = getStrip(turn);
  Value slot = p.rem(turn, tile.stages);
  auto copy = [&](const ConvTensor &tensor, Value buffer,
                  const ToeplitzPlane &plane, Value h, Value w,
                  Value condition) {
    dnn::BoxLoadOp::create(
        p.b, p.loc, tensor.memory,
        tensor.order(strip.image, frame.firstChannel, {h, w}),
        getBox(tensor, tile, kPair, plane.rows, planes.getBox(plane).rowWords),
        buffer, slot, condition)
        ->setAttr(dnn::kStreamedAttrName, p.b.getUnitAttr());
  };
  copy(program.x, xBoxes, planes.x, strip.row,
       p.add(strip.column, -program.pads[1]), strip.hasProducts);
  copy(program.y, yBoxes, planes.y, p.add(strip.row, program.pads[0]),
       strip.column, /*condition=*/Value());
}

//===----------------------------------------------------------------------===//
// Planes
//===----------------------------------------------------------------------===//

void ToeplitzWeightBoxProgram::spread(Value turn, Value hasProducts) {
  Value slot = p.rem(turn, tile.stages);
  auto spreadTo = [&](Value boxes, Value to, const ToeplitzPlane &plane,
                      Value firstWord) {
    dnn::BoxWaitOp::create(p.b, p.loc, boxes, slot, p.div(turn, tile.stages));
    const ToeplitzPlane box = planes.getBox(plane);
    BoxWalk from(p, tile, frame, box), walk(p, tile, frame, plane);
    for (int64_t i = 0; i < walk.countTurns(); ++i)
      for (auto [j, pair] : llvm::enumerate(p.loadMatrices(
               boxes, from.getImagesRow(i, slot), /*isTransposed=*/true))) {
        PointBuilder::Values place = walk.getPair(i, static_cast<int64_t>(j));
        p.storeWord(pair, to, {place[0], p.add(firstWord, place[1])});
      }
  };
  p.branch(hasProducts, {}, [&] {
    spreadTo(xBoxes, xPlanes, planes.x, p.index(0));
    return PointBuilder::Values();
  });
  spreadTo(yBoxes, yPlanes, planes.y,
           p.mul(getRingRow(p.mul(turn, tile.rows)), planes.y.rowWords));
}

/// A lane points to a row of gradients, and to four of its columns.
PointBuilder::Values ToeplitzWeightBoxProgram::multiply(Value turn,
                                                        ValueRange rows) {
  constexpr int64_t kColumns = 4;
  Value xWord = taps.getWordOfX(planes.x);
  Value above = taps.getRowsAbove(p.rem(frame.lane, BoxWalk::kMatrixRows));
  Value group = p.mul(p.div(frame.lane, BoxWalk::kMatrixRows), kColumns);
  // Of the last row that meets the first two of x, a ring further on.
  Value last = p.add(p.mul(turn, tile.rows), planes.ringRows + 1);
  Value top = arith::SubIOp::create(p.b, p.loc, last, above);
  return taps.addToRows(rows, [&](Value place, Value sum) {
    for (int64_t i = 0; i < tile.rows; i += kPair) {
      Value yWord =
          p.add(p.mul(getRingRow(p.add(top, i)), planes.y.rowWords), group);
      PointBuilder::Values y;
      for (int64_t j = 0; j < tile.countColumns();
           j += kColumns * BoxWalk::kMatrices)
        y.append(p.loadMatrices(yPlanes, {place, p.add(yWord, j)},
                                /*isTransposed=*/false));
      sum = taps.addPair(
          [&](int64_t j) { return y[j]; },
          [&](int64_t j) {
            return p.loadShared(
                xPlanes, 1,
                {place, p.add(xWord, i * planes.x.rowWords + j * kColumns)});
          },
          sum);
    }
    return sum;
  });
}

/// As soon as a strip is in the planes, another one comes to its place.
void ToeplitzWeightBoxProgram::emit(Value parts) {
  frame.makePoint(llvm::divideCeilSigned(program.dims.n, kPair),
                  program.x.getSpatialSize(0) + strips.above * tile.rows,
                  program.y.getSpatialSize(1), program.dims.groups);
  xBoxes = makeBuffer(planes.x);
  yBoxes = makeBuffer(planes.y);
  Type word = VectorType::get(kPair, program.x.getElementType());
  xPlanes = p.makeShared(word, {tile.channels, planes.x.words});
  yPlanes = p.makeShared(word, {tile.channels, planes.y.words});
  taps.begin();
  for (int64_t turn = 0; turn < std::min(tile.stages, countTurns()); ++turn)
    copyIn(p.index(turn));
  auto body = [&](Value turn, ValueRange rows) {
    Value hasProducts = getStrip(turn).hasProducts;
    spread(turn, hasProducts);
    p.barrier();
    Value later = p.add(turn, tile.stages);
    p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult, later,
                                   p.index(countTurns())),
             {}, [&] {
               copyIn(later);
               return PointBuilder::Values();
             });
    PointBuilder::Values next =
        p.branch(hasProducts, rows, [&] { return multiply(turn, rows); });
    p.barrier();
    return next;
  };
  taps.store(parts, p.loop(countTurns(), taps.makeRows(), body));
}

void tessera::emitToeplitzWeightBoxes(PointBuilder &p,
                                      const ConvProgram &program,
                                      const ToeplitzTile &tile, Value parts) {
  ToeplitzWeightBoxProgram(p, program, tile).emit(parts);
}
