//===- ToeplitzProducts.cpp - The products of forward, backward data ------===//
//
// A channel's window of 16 pixels times a matrix that has a row of the filter
// on its diagonals gives 8 neighbouring results; an instruction does 16 windows
// (bands of rows, blocks of columns). Warps take whole channels: a row of each
// window is read once and multiplied with all rows of the filter, whose results
// stay in registers and then take the place of the pixels.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"

using namespace mlir;
using namespace tessera;

ToeplitzProducts::ToeplitzProducts(PointBuilder &p, const ConvProgram &program,
                                   const ToeplitzTile &tile,
                                   const ToeplitzFrame &frame)
    : isForward(program.hasDirection(dnn::ConvDirection::Forward)),
      source(isForward ? program.x : program.y),
      result(isForward ? program.y : program.x), shape(tile, program.filter[0]),
      p(p), program(program), tile(tile), frame(frame) {}

/// Row k, column n of the factor has tap k - n of each row of the filter: a
/// lane has neighbours k of column `quad`. Backward, taps run the other way.
PointBuilder::Values ToeplitzProducts::loadFilter(Value place) {
  const ConvTensor &w = program.w;
  Value channel = frame.getChannel(place);
  Value first =
      arith::SubIOp::create(p.b, p.loc, p.mul(frame.inQuad, kPair), frame.quad);
  if (!isForward)
    first = arith::SubIOp::create(p.b, p.loc, p.index(program.filter[1] - 1),
                                  first);
  PointBuilder::Values fragments;
  for (int64_t tap = 0; tap < program.filter[0]; ++tap)
    for (int64_t half = 0; half < kWindowColumns; half += kWindowColumns / 2) {
      PointBuilder::Values pair;
      for (int64_t k = half; k < half + kPair; ++k) {
        Value row = p.index(isForward ? tap : program.filter[0] - 1 - tap);
        Value column = p.add(first, isForward ? k : -k);
        pair.push_back(
            p.loadBlock(w.memory, w.getSpatialDim(1), 1,
                        w.order(channel, p.index(0), {row, column})));
      }
      fragments.push_back(p.makeBlock(pair));
    }
  return fragments;
}

/// A lane points to eight pixels of a window, of 16 by two halves, and has the
/// results of windows `quad` and `quad` + 8. Windows behind the last are it
/// once more, which takes no bank from another, and their results are put
/// behind all results, where nobody looks for them.
void ToeplitzProducts::locateWindows() {
  const int64_t count = tile.bands * tile.blocks;
  auto limit = [&](Value number, int64_t last) -> Value {
    if (count == kWindows)
      return number;
    return arith::MinUIOp::create(p.b, p.loc, number, p.index(last));
  };
  auto locate = [&](Value number, const ToeplitzPlane &plane) {
    Value band = p.mul(p.div(number, tile.blocks), plane.getBandWords());
    Value word = p.mul(p.rem(number, tile.blocks), kBlockColumns / kPair);
    return p.add(band, word);
  };
  Value half = p.mul(p.div(frame.lane, kWindows), kBlockColumns / kPair);
  window =
      p.add(locate(limit(p.rem(frame.lane, kWindows), count - 1), shape.source),
            half);
  for (int64_t i = 0; i < 2; ++i) {
    Value number = p.add(frame.quad, i * kWindows / 2);
    results[i] =
        p.add(locate(limit(number, count), shape.result), frame.inQuad);
  }
}

/// Each row of the windows meets the rows of the filter at different results.
/// All lanes have read the plane before one stores a sum, which the others had
/// a part in.
void ToeplitzProducts::multiplyPlane(Value place, ArrayRef<Value> filter) {
  const int64_t taps = program.filter[0];
  SmallVector<Value> sums(tile.rows, p.zeroSums());
  for (int64_t i = 0; i < tile.rows + taps - 1; ++i) {
    PointBuilder::Values pixels = p.loadMatrices(
        planes, {place, p.add(window, shape.source.getRowWord(i))},
        /*isTransposed=*/false);
    for (int64_t row = 0; row < tile.rows; ++row) {
      const int64_t tap = i - row;
      if (tap >= 0 && tap < taps)
        sums[row] =
            p.multiplyMatrices(pixels, filter.slice(2 * tap, 2), sums[row]);
    }
  }
  for (auto [row, sum] : llvm::enumerate(sums))
    for (int64_t i = 0; i < 2; ++i)
      p.storeWord(p.convert(p.getRow(sum, i), result.getElementType()), planes,
                  {place, p.add(results[i], static_cast<int64_t>(row) *
                                                shape.result.rowWords)});
}

void ToeplitzProducts::begin() {
  planes = p.makeShared(VectorType::get(kPair, source.getElementType()),
                        {tile.channels, shape.source.words});
  const int64_t perWarp = tile.channels / frame.countWarps();
  firstPlace = p.mul(frame.warp, perWarp);
  for (int64_t i = 0; i < perWarp; ++i)
    filters.push_back(loadFilter(p.add(firstPlace, i)));
  locateWindows();
}

void ToeplitzProducts::multiply() {
  for (auto [i, filter] : llvm::enumerate(filters))
    multiplyPlane(p.add(firstPlace, static_cast<int64_t>(i)), filter);
}
