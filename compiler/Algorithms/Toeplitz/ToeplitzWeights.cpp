//===- ToeplitzWeights.cpp - Depthwise by products: backward weights ------===//
//
// Per-thread copies load tiles to registers, or TMA copies them
// (ToeplitzWeightBoxes.cpp). Each workgroup stores the partial result of a
// split, and a second kernel adds these.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/Toeplitz/Toeplitz.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
class ToeplitzWeightsProgram {
public:
  ToeplitzWeightsProgram(PointBuilder &p, const ConvProgram &program,
                         const ToeplitzTile &tile)
      : p(p), program(program), tile(tile), shape(tile, program.filter[0]),
        frame(p, tile), taps(p, program, tile, frame, shape.depth) {}

  /// Emits the program before `program`'s op. `partials` is the op's workspace.
  void emit(Value partials);

private:
  using Task = ToeplitzFrame::Task;

  PointBuilder::Values loadTile();
  void storeTile(ValueRange loaded);
  PointBuilder::Values multiplyTile(ValueRange rows);

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  ToeplitzWeightsPlanes shape;
  ToeplitzFrame frame;
  ToeplitzTaps taps;
  Value xPlanes, yPlanes; ///< Buffers in LDS.
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
  const int64_t countX = kPair * frame.countTasks(shape.x);
  frame.store(loaded.take_front(countX), element, xPlanes, shape.x);
  frame.store(loaded.drop_front(countX), element, yPlanes, shape.y);
}

PointBuilder::Values ToeplitzWeightsProgram::multiplyTile(ValueRange rows) {
  constexpr int64_t kColumns = 4;
  Value row = arith::SubIOp::create(p.b, p.loc, p.index(shape.depth - 1),
                                    taps.getRowsAbove(frame.quad));
  Value yWord = p.add(p.mul(row, shape.y.rowWords), frame.inQuad);
  Value xWord = taps.getWordOfX(shape.x);
  return taps.addToRows(rows, [&](Value plane, Value accumulator) {
    for (int64_t i = 0; i < shape.x.rows; i += kPair) {
      auto load = [&](Value planes, Value word, int64_t offset) {
        return p.loadShared(planes, 1, {plane, p.add(word, offset)});
      };
      accumulator = taps.addPair(
          [&](int64_t j) {
            return load(yPlanes, yWord, i * shape.y.rowWords + j * kColumns);
          },
          [&](int64_t j) {
            return load(xPlanes, xWord, i * shape.x.rowWords + j * kColumns);
          },
          accumulator);
    }
    return accumulator;
  });
}

void ToeplitzWeightsProgram::emit(Value partials) {
  const ConvTensor &x = program.x, &y = program.y;
  frame.makePoint(p.divideUp(p.getSize(x.memory, 0), kPair),
                  p.getSize(x.memory, x.getSpatialDim(0)),
                  p.getSize(y.memory, y.getSpatialDim(1)), program.dims.groups);
  Type word = VectorType::get(kPair, program.x.getElementType());
  xPlanes = p.makeShared(word, {tile.channels, shape.x.words});
  yPlanes = p.makeShared(word, {tile.channels, shape.y.words});
  taps.begin();
  auto load = [&] { return loadTile(); };
  auto store = [&](ValueRange loaded) { storeTile(loaded); };
  auto body = [&](ValueRange carried) { return multiplyTile(carried); };
  taps.store(partials, frame.forEachTile(taps.makeRows(), {load, store, body}));
}

/// Builds the kernel in which each thread adds the partial results of a tap.
static void buildReduction(const ConvProgram &program, Value workspace) {
  constexpr int64_t kThreads = 64, kAtOnce = 64;
  func::FuncOp function = appendKernel(program.getConv(), "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, program.getConv().getLoc());
  Value memory =
      function.getArgument(cast<BlockArgument>(workspace).getArgNumber());
  auto type = cast<MemRefType>(workspace.getType());
  ArrayRef<int64_t> sizes = type.getShape();
  ValueRange point = p.forEachPoint(sizes.drop_front(), kThreads);
  const int64_t iterations = llvm::divideCeilSigned(sizes[0], kAtOnce);
  const int64_t atOnce = llvm::divideCeilSigned(sizes[0], iterations);
  Value none = p.zero(type.getElementType(), 1);
  Value sum =
      p.loop(iterations, none, [&](Value iteration, ValueRange carried) {
        PointBuilder::Values partials;
        for (int64_t i = 0; i < atOnce; ++i)
          partials.push_back(p.loadBlock(memory, 3, 1,
                                         {p.add(p.mul(iteration, atOnce), i),
                                          point[0], point[1], point[2]}));
        Value next = carried[0];
        for (Value partial : partials)
          next = p.addBlocks(next, partial);
        return PointBuilder::Values{next};
      })[0];
  const ConvTensor &w = program.w;
  emitResult(p, program, sum, w.getSpatialDim(1),
             w.order(point[0], p.index(0), {point[1], point[2]}),
             function.getArguments());
}

/// The number of workgroups that have the same channels, each of which is a
/// split.
static int64_t countSplits(const ConvProgram &program,
                           const ToeplitzTile &tile) {
  if (tile.workgroups > 0)
    return tile.workgroups;
  int64_t rows =
      llvm::divideCeilSigned(program.x.getSpatialSize(0), tile.countRows());
  if (tile.stages > 0)
    rows += ToeplitzStrips(tile, program.filter[0], program.pads[0]).above;
  const int64_t tiles =
      llvm::divideCeilSigned(program.dims.n, kPair) * rows *
      llvm::divideCeilSigned(program.y.getSpatialSize(1), tile.countColumns());
  return llvm::divideCeilSigned(tiles, tile.iterations);
}

void tessera::buildToeplitzWeights(const ConvProgram &program,
                                   const ToeplitzTile &tile) {
  dnn::ConvOp conv = program.getConv();
  Value workspace =
      addSplitsWorkspace(conv, {countSplits(program, tile), program.dims.groups,
                                program.filter[0], kBlockColumns});
  buildReduction(program, workspace);
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  if (tile.stages > 0)
    emitToeplitzWeightBoxes(p, program, tile, workspace);
  else
    ToeplitzWeightsProgram(p, program, tile).emit(workspace);
  conv.erase();
}
