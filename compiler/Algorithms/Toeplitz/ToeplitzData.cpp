//===- ToeplitzData.cpp - Depthwise by products, through registers --------===//
//
// Forward and backward data by per-thread copies. A thread loads 16 bytes of a
// pixel's channels, stores them to as many planes, and loads the results from
// these planes, so that accesses of memory are 16 bytes in both directions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"

using namespace mlir;
using namespace tessera;

namespace {
class ToeplitzDataProgram {
public:
  ToeplitzDataProgram(PointBuilder &p, const ConvProgram &program,
                      const ToeplitzTile &tile)
      : p(p), program(program), frame(p, tile),
        products(p, program, tile, frame) {}

  void emit();

private:
  using Task = ToeplitzFrame::Task;

  Value loadPixel(const Task &task, int64_t column);
  void storeTile();

  PointBuilder &p;
  const ConvProgram &program;
  ToeplitzFrame frame;
  ToeplitzProducts products;
};
} // namespace

Value ToeplitzDataProgram::loadPixel(const Task &task, int64_t column) {
  const ConvTensor &source = products.source;
  Value h = p.add(p.add(frame.firstRow, task.row), -products.getPad(0));
  Value w = p.add(p.add(frame.firstColumn, p.mul(task.column, kPair)),
                  column - products.getPad(1));
  return p.loadBlock(
      source.memory, source.getChannelDim(), kOctet,
      source.order(frame.image, frame.getFirstChannel(task), {h, w}));
}

void ToeplitzDataProgram::storeTile() {
  const ConvTensor &result = products.result;
  const ToeplitzPlane &plane = products.shape.result;
  for (int64_t t = 0; t < frame.countTasks(plane); ++t) {
    Task task = frame.makeTask(t, plane);
    PointBuilder::Values pixels[kPair];
    for (int64_t i = 0; i < kOctet; ++i) {
      Value word = p.loadShared(products.planes, 1,
                                {frame.getPlane(task, i), task.word});
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

/// A warp keeps the filters of its channels for all tiles.
void ToeplitzDataProgram::emit() {
  const ConvTensor &source = products.source, &result = products.result;
  frame.makePoint(p.getSize(result.memory, 0),
                  p.getSize(result.memory, result.getSpatialDim(0)),
                  p.getSize(result.memory, result.getSpatialDim(1)),
                  program.dims.groups);
  products.begin();
  auto load = [&] {
    return frame.load(products.shape.source,
                      [&](const Task &task) -> std::array<Value, kPair> {
                        return {loadPixel(task, 0), loadPixel(task, 1)};
                      });
  };
  auto store = [&](ValueRange loaded) {
    frame.store(loaded, source.getElementType(), products.planes,
                products.shape.source);
  };
  frame.forEachTile({}, {load, store, [&](ValueRange) {
                           products.multiply();
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
