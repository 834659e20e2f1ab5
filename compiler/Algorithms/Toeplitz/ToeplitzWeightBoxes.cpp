//===- ToeplitzWeightBoxes.cpp - Backward weights, with boxes -------------===//
//
// A workgroup walks down the rows of two images, and then those of the next
// two, strip by strip. A strip copies rows of x, and the rows of gradients that
// no strip before it needs. The rows of gradients above are still in LDS from
// the strips before. So every pixel is read once, except for a few rows of
// gradients where a workgroup begins.
//
// All strips are numbered consecutively. Strips before the first row of x of an
// image copy only gradients, and so do those before a workgroup's own strips.
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

  void emit(Value partials);

private:
  struct Strip {
    Value image, row, column; ///< The first row of x, the first column of y.
    Value hasProducts;        ///< Else the strip copies only gradients.
  };
  Strip getStrip(Value iteration) const;
  Value makeBuffer(const ToeplitzPlane &plane);
  void copyIn(Value iteration);
  void spread(Value iteration, Value hasProducts);
  PointBuilder::Values multiply(Value iteration, ValueRange rows);
  Value getBufferRow(Value row) const { return p.rem(row, planes.bufferRows); }

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  const ToeplitzStripPlanes planes;
  const ToeplitzStrips strips;
  ToeplitzFrame frame;
  ToeplitzTaps taps;
  Size iterations = 0; ///< With those that copy gradients alone.
  /// The strips of an image that lie above each other, and side by side.
  Size perImage = 0, columnTiles = 0;
  Value xBoxes, yBoxes, xPlanes, yPlanes; ///< Buffers in LDS.
};
} // namespace

/// Strips before the first one, or past the last one, belong to images out of
/// bounds. Numbers are biased by `lead` whole images, so that none is negative,
/// and the bias is subtracted from the image.
ToeplitzWeightBoxProgram::Strip
ToeplitzWeightBoxProgram::getStrip(Value iteration) const {
  Value number = p.add(p.mul(frame.split, frame.countIterations()), iteration);
  const Size bias = p.multiply(p.multiply(perImage, columnTiles), strips.lead);
  number = bias.isKnown() ? p.add(number, bias.number - strips.lead)
                          : p.add(p.add(number, bias.value), -strips.lead);
  Value down = p.add(p.rem(number, perImage), -strips.above);
  number = p.div(number, perImage);
  Value pair = p.add(p.div(number, columnTiles), -strips.lead);
  Value isOwn = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::uge,
                                      iteration, p.index(strips.lead));
  Value hasRows = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::sge,
                                        down, p.index(0));
  return {p.mul(pair, kPair), p.mul(down, tile.rows),
          p.mul(p.rem(number, columnTiles), tile.countColumns()),
          arith::AndIOp::create(p.b, p.loc, isOwn, hasRows)};
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Makes a buffer with a slot for the boxes of each stage, which have two
/// images.
Value ToeplitzWeightBoxProgram::makeBuffer(const ToeplitzPlane &plane) {
  return p.makeShared(
      program.x.getElementType(),
      {tile.stages, kPair * planes.getBox(plane).words, tile.channels});
}

/// A strip without products does not copy x.
void ToeplitzWeightBoxProgram::copyIn(Value iteration) {
  Strip strip = getStrip(iteration);
  Value slot = p.rem(iteration, tile.stages);
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

void ToeplitzWeightBoxProgram::spread(Value iteration, Value hasProducts) {
  Value slot = p.rem(iteration, tile.stages);
  auto spreadTo = [&](Value boxes, Value to, const ToeplitzPlane &plane,
                      Value firstWord) {
    dnn::BoxWaitOp::create(p.b, p.loc, boxes, slot,
                           p.div(iteration, tile.stages));
    const ToeplitzPlane box = planes.getBox(plane);
    BoxWalk from(p, tile, frame, box), walk(p, tile, frame, plane);
    for (int64_t i = 0; i < walk.countIterations(); ++i)
      for (auto [j, pair] : llvm::enumerate(p.loadMatrices(
               boxes, from.getImagesRow(i, slot), /*isTransposed=*/true))) {
        PointBuilder::Values indices = walk.getPair(i, static_cast<int64_t>(j));
        p.storeWord(pair, to, {indices[0], p.add(firstWord, indices[1])});
      }
  };
  p.branch(hasProducts, {}, [&] {
    spreadTo(xBoxes, xPlanes, planes.x, p.index(0));
    return PointBuilder::Values();
  });
  spreadTo(yBoxes, yPlanes, planes.y,
           p.mul(getBufferRow(p.mul(iteration, tile.rows)), planes.y.rowWords));
}

/// A lane addresses a row of gradients and four of its columns.
PointBuilder::Values ToeplitzWeightBoxProgram::multiply(Value iteration,
                                                        ValueRange rows) {
  constexpr int64_t kColumns = 4;
  Value xWord = taps.getWordOfX(planes.x);
  Value above = taps.getRowsAbove(p.rem(frame.lane, BoxWalk::kMatrixRows));
  Value group = p.mul(p.div(frame.lane, BoxWalk::kMatrixRows), kColumns);
  // The last row that meets the first two rows of x. It is counted one round of
  // the circular buffer further, so that differences are not negative.
  Value last = p.add(p.mul(iteration, tile.rows), planes.bufferRows + 1);
  Value top = arith::SubIOp::create(p.b, p.loc, last, above);
  return taps.addToRows(rows, [&](Value plane, Value accumulator) {
    for (int64_t i = 0; i < tile.rows; i += kPair) {
      Value yWord =
          p.add(p.mul(getBufferRow(p.add(top, i)), planes.y.rowWords), group);
      PointBuilder::Values y;
      for (int64_t j = 0; j < tile.countColumns();
           j += kColumns * BoxWalk::kMatrices)
        y.append(p.loadMatrices(yPlanes, {plane, p.add(yWord, j)},
                                /*isTransposed=*/false));
      accumulator = taps.addPair(
          [&](int64_t j) { return y[j]; },
          [&](int64_t j) {
            return p.loadShared(
                xPlanes, 1,
                {plane, p.add(xWord, i * planes.x.rowWords + j * kColumns)});
          },
          accumulator);
    }
    return accumulator;
  });
}

/// As soon as a strip is in the planes, the next copies fill its slot.
void ToeplitzWeightBoxProgram::emit(Value partials) {
  const Size rows = p.getSize(program.x.memory, program.x.getSpatialDim(0));
  const Size columns = p.getSize(program.y.memory, program.y.getSpatialDim(1));
  perImage = p.add(p.divideUp(rows, tile.rows), strips.above);
  columnTiles = p.divideUp(columns, tile.countColumns());
  frame.makePoint(p.divideUp(p.getSize(program.x.memory, 0), kPair),
                  p.add(rows, strips.above * tile.rows), columns,
                  program.dims.groups);
  iterations = frame.countIterations();
  iterations = iterations.isKnown()
                   ? Size(iterations.number + strips.lead)
                   : Size(p.add(iterations.value, strips.lead));
  xBoxes = makeBuffer(planes.x);
  yBoxes = makeBuffer(planes.y);
  Type word = VectorType::get(kPair, program.x.getElementType());
  xPlanes = p.makeShared(word, {tile.channels, planes.x.words});
  yPlanes = p.makeShared(word, {tile.channels, planes.y.words});
  taps.begin();
  copyFirst(p, tile.stages, iterations, [&](Value i) { copyIn(i); });
  auto body = [&](Value iteration, ValueRange rows) {
    Value hasProducts = getStrip(iteration).hasProducts;
    spread(iteration, hasProducts);
    p.barrier();
    Value later = p.add(iteration, tile.stages);
    p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult, later,
                                   p.index(iterations)),
             {}, [&] {
               copyIn(later);
               return PointBuilder::Values();
             });
    PointBuilder::Values next =
        p.branch(hasProducts, rows, [&] { return multiply(iteration, rows); });
    p.barrier();
    return next;
  };
  taps.store(partials, p.loop(iterations, taps.makeRows(), body));
}

void tessera::emitToeplitzWeightBoxes(PointBuilder &p,
                                      const ConvProgram &program,
                                      const ToeplitzTile &tile,
                                      Value partials) {
  ToeplitzWeightBoxProgram(p, program, tile).emit(partials);
}
