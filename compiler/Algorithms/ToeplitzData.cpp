//===- ToeplitzData.cpp - Depthwise by products: forward, backward data ---===//
//
// A channel's window of 16 pixels times a matrix that has a row of the filter
// on its diagonals gives 8 neighbouring results; an instruction does 16 windows
// (bands of rows, blocks of columns). A workgroup copies a tile of the image to
// LDS, where each channel has a plane of its own, and its warps take whole
// channels: a row of each window is read once and multiplied with all rows of
// the filter, whose results stay in registers. The results take the place of
// the pixels, so that both ways to memory are 16 bytes of a pixel's channels.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz.h"

using namespace mlir;
using namespace tessera;

namespace {
class ToeplitzDataProgram {
public:
  ToeplitzDataProgram(PointBuilder &p, const ConvProgram &program,
                      const ToeplitzTile &tile)
      : p(p), program(program), tile(tile),
        isForward(program.hasDirection(dnn::ConvDirection::Forward)),
        source(isForward ? program.x : program.y),
        result(isForward ? program.y : program.x),
        shape(tile, program.filter[0]), frame(p, tile) {}

  void emit();

private:
  using Task = ToeplitzFrame::Task;

  Value loadPixel(const Task &task, int64_t column);
  void storeTile();
  PointBuilder::Values loadFilter(Value place);
  void locateWindows();
  void multiply(Value place, ArrayRef<Value> filter);
  int64_t getPad(int64_t dim) const {
    return isForward ? program.pads[dim]
                     : program.filter[dim] - 1 - program.pads[dim];
  }

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  bool isForward;
  const ConvTensor &source;
  const ConvTensor &result;
  ToeplitzDataPlanes shape;
  ToeplitzFrame frame;
  Value planes;     ///< In LDS.
  Value windows[2]; ///< Words of a plane where the lane's two windows begin,
  Value results[2]; ///< and of their results.
};
} // namespace

//===----------------------------------------------------------------------===//
// Between memory and planes
//===----------------------------------------------------------------------===//

Value ToeplitzDataProgram::loadPixel(const Task &task, int64_t column) {
  Value h = p.add(p.add(frame.firstRow, task.row), -getPad(0));
  Value w = p.add(p.add(frame.firstColumn, p.mul(task.column, kPair)),
                  column - getPad(1));
  return p.loadBlock(
      source.memory, source.getChannelDim(), kOctet,
      source.order(frame.image, frame.getFirstChannel(task), {h, w}));
}

void ToeplitzDataProgram::storeTile() {
  for (int64_t turn = 0; turn < frame.countTasks(shape.result); ++turn) {
    Task task = frame.makeTask(turn, shape.result);
    PointBuilder::Values pixels[kPair];
    for (int64_t i = 0; i < kOctet; ++i) {
      Value word =
          p.loadShared(planes, 1, {frame.getPlane(task, i), task.word});
      for (int64_t column = 0; column < kPair; ++column)
        pixels[column].push_back(p.getElement(word, column));
    }
    Value h = p.add(frame.firstRow, task.row);
    Value w = p.add(frame.firstColumn, p.mul(task.column, kPair));
    for (int64_t column = 0; column < kPair; ++column)
      p.storeBlock(p.makeBlock(pixels[column]), result.memory,
                   result.getChannelDim(),
                   result.order(frame.image, frame.getFirstChannel(task),
                                {h, p.add(w, column)}));
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Row k, column n of the factor has tap k - n of each row of the filter: a
/// lane has neighbours k of column `quad`. Backward, taps run the other way.
PointBuilder::Values ToeplitzDataProgram::loadFilter(Value place) {
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

/// Windows `quad` and `quad` + 8. Those behind the last are it once more, which
/// takes no bank from another, and their results are put behind all results,
/// where nobody looks for them.
void ToeplitzDataProgram::locateWindows() {
  const int64_t count = tile.bands * tile.blocks;
  auto locate = [&](Value window, const ToeplitzPlane &plane) {
    Value band = p.mul(frame.div(window, tile.blocks), plane.getBandWords());
    Value word = p.mul(frame.rem(window, tile.blocks), kBlockColumns / kPair);
    return p.add(p.add(band, word), frame.inQuad);
  };
  for (int64_t i = 0; i < 2; ++i) {
    Value window = p.add(frame.quad, i * kWindows / 2);
    auto limit = [&](int64_t last) -> Value {
      if (count == kWindows)
        return window;
      return arith::MinUIOp::create(p.b, p.loc, window, p.index(last));
    };
    windows[i] = locate(limit(count - 1), shape.source);
    results[i] = locate(limit(count), shape.result);
  }
}

/// Each row of the windows meets the rows of the filter at different results.
/// All lanes have read the plane before one stores a sum, which the others had
/// a part in.
void ToeplitzDataProgram::multiply(Value place, ArrayRef<Value> filter) {
  constexpr int64_t kSecondHalf = kWindowColumns / 2 / kPair;
  const int64_t taps = program.filter[0];
  SmallVector<Value> sums(tile.rows, p.zeroSums());
  for (int64_t i = 0; i < tile.rows + taps - 1; ++i) {
    PointBuilder::Values pixels;
    for (int64_t half = 0; half < 2; ++half)
      for (Value window : windows)
        pixels.push_back(p.loadShared(
            planes, 1,
            {place,
             p.add(window, shape.source.getRowWord(i) + half * kSecondHalf)}));
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

/// A warp keeps the filters of its channels for all tiles.
void ToeplitzDataProgram::emit() {
  frame.makePoint(result.getType().getDimSize(0), result.getSpatialSize(0),
                  result.getSpatialSize(1), program.dims.groups);
  const int64_t perWarp = tile.channels / frame.countWarps();
  planes = p.makeShared(VectorType::get(kPair, source.getElementType()),
                        {tile.channels, shape.source.words});
  Value firstPlace = p.mul(frame.warp, perWarp);
  SmallVector<PointBuilder::Values> filters;
  for (int64_t i = 0; i < perWarp; ++i)
    filters.push_back(loadFilter(p.add(firstPlace, i)));
  locateWindows();
  auto load = [&] {
    return frame.load(shape.source,
                      [&](const Task &task) -> std::array<Value, kPair> {
                        return {loadPixel(task, 0), loadPixel(task, 1)};
                      });
  };
  auto put = [&](ValueRange loaded) {
    frame.store(loaded, source.getElementType(), planes, shape.source);
  };
  frame.forEachTile({}, {load, put, [&](ValueRange) {
                           for (int64_t i = 0; i < perWarp; ++i)
                             multiply(p.add(firstPlace, i), filters[i]);
                           p.barrier();
                           storeTile();
                           return PointBuilder::Values();
                         }});
}

void tessera::buildToeplitzData(const ConvProgram &program,
                                const ToeplitzTile &tile) {
  dnn::ConvOp conv = program.getConv();
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  ToeplitzDataProgram(p, program, tile).emit();
  conv.erase();
}
