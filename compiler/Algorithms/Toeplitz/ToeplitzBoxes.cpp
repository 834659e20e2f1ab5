//===- ToeplitzBoxes.cpp - Depthwise by products, with boxes --------------===//
//
// Forward and backward data where TMA copies tiles to LDS in the layout of
// memory, with zeros around the image, and copies the results from there.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz/ToeplitzBoxes.h"

using namespace mlir;
using namespace tessera;

namespace {
class ToeplitzBoxProgram {
public:
  ToeplitzBoxProgram(PointBuilder &p, const ConvProgram &program,
                     const ToeplitzTile &tile)
      : p(p), program(program), tile(tile), frame(p, tile),
        products(p, program, tile, frame) {}

  void emit();

private:
  Value makeBuffer(int64_t slots, const ToeplitzPlane &plane);
  SmallVector<int64_t> getPlaneBox(const ConvTensor &tensor,
                                   const ToeplitzPlane &plane) const {
    return getBox(tensor, tile, 1, plane.rows, plane.columns * kPair);
  }
  void copyIn(Value iteration);
  void copyOut(Value iteration);
  void spread(Value slot);
  void gather();

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  ToeplitzFrame frame;
  ToeplitzProducts products;
  Value sources, result; ///< The boxes in LDS.
};
} // namespace

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Transposes a box of the source to planes.
void ToeplitzBoxProgram::spread(Value slot) {
  BoxWalk walk(p, tile, frame, products.shape.source);
  for (int64_t iteration = 0; iteration < walk.countIterations(); ++iteration)
    for (auto [i, pair] : llvm::enumerate(p.loadMatrices(
             sources, walk.getRow(iteration, slot), /*isTransposed=*/true)))
      p.storeWord(pair, products.planes,
                  walk.getPair(iteration, static_cast<int64_t>(i)));
}

/// Transposes the results in the planes to a box.
void ToeplitzBoxProgram::gather() {
  BoxWalk walk(p, tile, frame, products.shape.result);
  for (int64_t iteration = 0; iteration < walk.countIterations(); ++iteration) {
    PointBuilder::Values pairs;
    for (int64_t i = 0; i < BoxWalk::kMatrices; ++i)
      pairs.push_back(
          p.loadShared(products.planes, 1, walk.getPair(iteration, i)));
    p.storeMatrices(pairs, result, walk.getRow(iteration, p.index(0)),
                    /*isTransposed=*/true);
  }
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

Value ToeplitzBoxProgram::makeBuffer(int64_t slots,
                                     const ToeplitzPlane &plane) {
  return p.makeShared(
      products.source.getElementType(),
      {slots, plane.rows * plane.columns * kPair, tile.channels});
}

void ToeplitzBoxProgram::copyIn(Value iteration) {
  const ConvTensor &source = products.source;
  frame.setTile(iteration);
  Value h = p.add(frame.firstRow, -products.getPad(0));
  Value w = p.add(frame.firstColumn, -products.getPad(1));
  dnn::BoxLoadOp::create(p.b, p.loc, source.memory,
                         source.order(frame.image, frame.firstChannel, {h, w}),
                         getPlaneBox(source, products.shape.source), sources,
                         p.rem(iteration, tile.stages), /*condition=*/Value());
}

void ToeplitzBoxProgram::copyOut(Value iteration) {
  const ConvTensor &to = products.result;
  frame.setTile(iteration);
  dnn::BoxStoreOp::create(p.b, p.loc, result, to.memory,
                          to.order(frame.image, frame.firstChannel,
                                   {frame.firstRow, frame.firstColumn}),
                          getPlaneBox(to, products.shape.result));
}

/// As soon as a tile is in the planes, the next copy fills its slot.
void ToeplitzBoxProgram::emit() {
  const ConvTensor &to = products.result;
  frame.makePoint(
      p.getSize(to.memory, 0), p.getSize(to.memory, to.getSpatialDim(0)),
      p.getSize(to.memory, to.getSpatialDim(1)), program.dims.groups);
  sources = makeBuffer(tile.stages, products.shape.source);
  result = makeBuffer(1, products.shape.result);
  const Size iterations = frame.countIterations();
  copyFirst(p, tile.stages, iterations, [&](Value i) { copyIn(i); });
  products.begin();
  p.loop(iterations, {}, [&](Value iteration, ValueRange) {
    Value slot = p.rem(iteration, tile.stages);
    dnn::BoxWaitOp::create(p.b, p.loc, sources, slot,
                           p.div(iteration, tile.stages));
    spread(slot);
    p.barrier();
    Value later = p.add(iteration, tile.stages);
    if (!iterations.isKnown() || iterations.number > tile.stages)
      p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                     later, p.index(iterations)),
               {}, [&] {
                 copyIn(later);
                 return PointBuilder::Values();
               });
    products.multiply();
    dnn::BoxStoreWaitOp::create(p.b, p.loc);
    gather();
    copyOut(iteration);
    return PointBuilder::Values();
  });
}

void tessera::buildToeplitzBoxes(const ConvProgram &program,
                                 const ToeplitzTile &tile) {
  dnn::ConvOp conv = program.getConv();
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  ToeplitzBoxProgram(p, program, tile).emit();
  conv.erase();
}
