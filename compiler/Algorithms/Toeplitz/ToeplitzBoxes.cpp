//===- ToeplitzBoxes.cpp - Depthwise by products, with boxes --------------===//
//
// Forward and backward data where a copy engine brings tiles to LDS as they lie
// in memory, with zeros around the image, and takes results from there.
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
  void copyIn(Value turn);
  void copyOut(Value turn);
  void spread(Value slot);
  void gather();

  PointBuilder &p;
  const ConvProgram &program;
  const ToeplitzTile &tile;
  ToeplitzFrame frame;
  ToeplitzProducts products;
  Value sources, result; ///< Boxes.
};
} // namespace

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// A box of the source becomes planes,
void ToeplitzBoxProgram::spread(Value slot) {
  BoxWalk walk(p, tile, frame, products.shape.source);
  for (int64_t turn = 0; turn < walk.countTurns(); ++turn)
    for (auto [i, pair] : llvm::enumerate(p.loadMatrices(
             sources, walk.getRow(turn, slot), /*isTransposed=*/true)))
      p.storeWord(pair, products.planes,
                  walk.getPair(turn, static_cast<int64_t>(i)));
}

/// and the results in the planes a box.
void ToeplitzBoxProgram::gather() {
  BoxWalk walk(p, tile, frame, products.shape.result);
  for (int64_t turn = 0; turn < walk.countTurns(); ++turn) {
    PointBuilder::Values pairs;
    for (int64_t i = 0; i < BoxWalk::kMatrices; ++i)
      pairs.push_back(p.loadShared(products.planes, 1, walk.getPair(turn, i)));
    p.storeMatrices(pairs, result, walk.getRow(turn, p.index(0)),
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

void ToeplitzBoxProgram::copyIn(Value turn) {
  const ConvTensor &source = products.source;
  frame.setTile(turn);
  Value h = p.add(frame.firstRow, -products.getPad(0));
  Value w = p.add(frame.firstColumn, -products.getPad(1));
  dnn::BoxLoadOp::create(p.b, p.loc, source.memory,
                         source.order(frame.image, frame.firstChannel, {h, w}),
                         getPlaneBox(source, products.shape.source), sources,
                         p.rem(turn, tile.stages), /*condition=*/Value());
}

void ToeplitzBoxProgram::copyOut(Value turn) {
  const ConvTensor &to = products.result;
  frame.setTile(turn);
  dnn::BoxStoreOp::create(p.b, p.loc, result, to.memory,
                          to.order(frame.image, frame.firstChannel,
                                   {frame.firstRow, frame.firstColumn}),
                          getPlaneBox(to, products.shape.result));
}

/// As soon as a tile is in the planes, another one comes to its place.
void ToeplitzBoxProgram::emit() {
  const ConvTensor &to = products.result;
  frame.makePoint(to.getType().getDimSize(0), to.getSpatialSize(0),
                  to.getSpatialSize(1), program.dims.groups);
  sources = makeBuffer(tile.stages, products.shape.source);
  result = makeBuffer(1, products.shape.result);
  for (int64_t turn = 0; turn < std::min(tile.stages, tile.turns); ++turn)
    copyIn(p.index(turn));
  products.begin();
  p.loop(tile.turns, {}, [&](Value turn, ValueRange) {
    Value slot = p.rem(turn, tile.stages);
    dnn::BoxWaitOp::create(p.b, p.loc, sources, slot, p.div(turn, tile.stages));
    spread(slot);
    p.barrier();
    Value later = p.add(turn, tile.stages);
    if (tile.turns > tile.stages)
      p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                     later, p.index(tile.turns)),
               {}, [&] {
                 copyIn(later);
                 return PointBuilder::Values();
               });
    products.multiply();
    dnn::BoxStoreWaitOp::create(p.b, p.loc);
    gather();
    copyOut(turn);
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
