//===- ToeplitzProducts.cpp - The products of forward, backward data ------===//
//
// A window of 16 pixels of a channel times a matrix that has a row of the
// filter on its diagonals is 8 neighbouring results. An instruction multiplies
// 16 windows (bands of rows, blocks of columns). A warp computes whole
// channels: it reads a row of each window once and multiplies it by all rows of
// the filter. The accumulators stay in registers and overwrite the pixels in
// the end.
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

/// Element (k, n) of operand B is tap k - n of a row of the filter. A lane has
/// neighbouring k of column `quad`. For backward data the taps are reversed.
PointBuilder::Values ToeplitzProducts::loadFilter(Value plane) {
  const ConvTensor &w = program.w;
  Value channel = frame.getChannel(plane);
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

/// A lane addresses eight pixels of a window, which is one of two halves of its
/// 16, and has the results of windows `quad` and `quad` + 8. Windows past the
/// last one read the last one again, which causes no bank conflict, and store
/// their results after all others, where nothing reads them.
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

/// Each row of the windows is multiplied by the rows of the filter for
/// different rows of results. Since all lanes take part in a product, all have
/// read the plane before any of them stores a result of it.
void ToeplitzProducts::multiplyPlane(Value plane, ArrayRef<Value> filter) {
  const int64_t taps = program.filter[0];
  SmallVector<Value> accumulators(tile.rows, p.zeroAccumulators());
  for (int64_t i = 0; i < tile.rows + taps - 1; ++i) {
    PointBuilder::Values pixels = p.loadMatrices(
        planes, {plane, p.add(window, shape.source.getRowWord(i))},
        /*isTransposed=*/false);
    for (int64_t row = 0; row < tile.rows; ++row) {
      const int64_t tap = i - row;
      if (tap >= 0 && tap < taps)
        accumulators[row] = p.multiplyMatrices(pixels, filter.slice(2 * tap, 2),
                                               accumulators[row]);
    }
  }
  for (auto [row, accumulator] : llvm::enumerate(accumulators))
    for (int64_t i = 0; i < 2; ++i)
      p.storeWord(p.convert(p.getRow(accumulator, i), result.getElementType()),
                  planes,
                  {plane, p.add(results[i], static_cast<int64_t>(row) *
                                                shape.result.rowWords)});
}

void ToeplitzProducts::begin() {
  planes = p.makeShared(VectorType::get(kPair, source.getElementType()),
                        {tile.channels, shape.source.words});
  const int64_t perWarp = tile.channels / frame.countWarps();
  firstPlane = p.mul(frame.warp, perWarp);
  for (int64_t i = 0; i < perWarp; ++i)
    filters.push_back(loadFilter(p.add(firstPlane, i)));
  locateWindows();
}

void ToeplitzProducts::multiply() {
  for (auto [i, filter] : llvm::enumerate(filters))
    multiplyPlane(p.add(firstPlane, static_cast<int64_t>(i)), filter);
}
