//===- ToeplitzBoxes.cpp - Depthwise by products, with boxes --------------===//
//
// Forward and backward data where a copy engine brings tiles to LDS as they lie
// in memory, with zeros around the image, and takes results from there. Warps
// turn channels of pixels into pixels of channels, and back: four matrices of
// 8 by 8 at a time, of 8 pixels by 8 channels each.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
/// A warp's way through the groups of 8 neighbouring pixels of a box, by units
/// of four matrices; the same box has `plane`s of channels.
class BoxWalk {
public:
  BoxWalk(PointBuilder &p, const ToeplitzTile &tile, const ToeplitzFrame &frame,
          const ToeplitzPlane &plane)
      : p(p), frame(frame), plane(plane), octets(tile.countOctets()),
        warps(frame.countWarps()) {}

  int64_t countTurns() const {
    return llvm::divideCeilSigned(countUnits(), warps);
  }
  /// The place in the box of the matrix row that the lane points to.
  PointBuilder::Values getRow(int64_t turn, Value slot) const;
  /// The place in the planes of the pair that the lane has of matrix `i`.
  PointBuilder::Values getPair(int64_t turn, int64_t i) const;

private:
  static constexpr int64_t kGroup = 8, kMatrices = 4;

  int64_t countRowGroups() const { return plane.columns * kPair / kGroup; }
  int64_t countGroups() const { return plane.rows * countRowGroups(); }
  int64_t countOfUnit() const { return kMatrices / octets; }
  int64_t countUnits() const {
    return llvm::divideCeilSigned(countGroups(), countOfUnit());
  }
  /// The first so many groups of every warp's units of the turn are groups.
  bool isInside(int64_t turn) const {
    return (turn + 1) * warps * countOfUnit() <= countGroups();
  }
  Value getGroup(int64_t turn, Value ofUnit) const;
  Value getWord(int64_t turn, Value ofUnit) const;

  PointBuilder &p;
  const ToeplitzFrame &frame;
  const ToeplitzPlane &plane;
  const int64_t octets, warps;
};

class ToeplitzBoxProgram {
public:
  ToeplitzBoxProgram(PointBuilder &p, const ConvProgram &program,
                     const ToeplitzTile &tile)
      : p(p), program(program), tile(tile), frame(p, tile),
        products(p, program, tile, frame) {}

  void emit();

private:
  Value makeBuffer(int64_t slots, const ToeplitzPlane &plane);
  SmallVector<int64_t> getBox(const ConvTensor &tensor,
                              const ToeplitzPlane &plane);
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

/// Group `ofUnit` of the warp's unit. Behind the last group that is it once
/// more. The turn's part is a constant, and so it is in addresses.
Value BoxWalk::getGroup(int64_t turn, Value ofUnit) const {
  Value group = p.add(p.mul(frame.warp, countOfUnit()), ofUnit);
  group = p.add(group, turn * warps * countOfUnit());
  if (!isInside(turn))
    group =
        arith::MinUIOp::create(p.b, p.loc, group, p.index(countGroups() - 1));
  return group;
}

/// The first of a group's words in a plane. Where the warps' groups are whole
/// rows, or rows follow each other without a gap, that of another turn is a
/// constant away.
Value BoxWalk::getWord(int64_t turn, Value ofUnit) const {
  constexpr int64_t kWords = kGroup / kPair;
  const int64_t ofRow = countRowGroups(), ofTurn = warps * countOfUnit();
  if (plane.bandGap == 0 && plane.rowWords == ofRow * kWords) {
    if (!isInside(turn))
      return p.mul(getGroup(turn, ofUnit), kWords);
    return p.add(p.mul(getGroup(0, ofUnit), kWords), turn * ofTurn * kWords);
  }
  const bool hasRows =
      plane.bandGap == 0 && ofTurn % ofRow == 0 && isInside(turn);
  Value group = getGroup(hasRows ? 0 : turn, ofUnit);
  Value row = frame.div(group, ofRow);
  Value word =
      p.add(p.mul(row, plane.rowWords), p.mul(frame.rem(group, ofRow), kWords));
  if (plane.bandGap != 0)
    word = p.add(word, p.mul(frame.div(row, plane.bandRows), plane.bandGap));
  return hasRows ? p.add(word, turn * (ofTurn / ofRow) * plane.rowWords) : word;
}

PointBuilder::Values BoxWalk::getRow(int64_t turn, Value slot) const {
  Value matrix = frame.div(frame.lane, kGroup);
  Value row = frame.rem(frame.lane, kGroup);
  Value ofUnit = frame.div(matrix, octets);
  Value pixel;
  if (isInside(turn))
    pixel = p.add(p.add(p.mul(getGroup(0, ofUnit), kGroup), row),
                  turn * warps * countOfUnit() * kGroup);
  else
    pixel = p.add(p.mul(getGroup(turn, ofUnit), kGroup), row);
  return {slot, pixel, p.mul(frame.rem(matrix, octets), kOctet)};
}

PointBuilder::Values BoxWalk::getPair(int64_t turn, int64_t i) const {
  return {p.add(frame.quad, i % octets * kOctet),
          p.add(getWord(turn, p.index(i / octets)), frame.inQuad)};
}

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
  constexpr int64_t kMatrices = 4;
  BoxWalk walk(p, tile, frame, products.shape.result);
  for (int64_t turn = 0; turn < walk.countTurns(); ++turn) {
    PointBuilder::Values pairs;
    for (int64_t i = 0; i < kMatrices; ++i)
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

SmallVector<int64_t> ToeplitzBoxProgram::getBox(const ConvTensor &tensor,
                                                const ToeplitzPlane &plane) {
  SmallVector<int64_t> box(tensor.getType().getRank(), 1);
  box[tensor.getChannelDim()] = tile.channels;
  box[tensor.getSpatialDim(0)] = plane.rows;
  box[tensor.getSpatialDim(1)] = plane.columns * kPair;
  return box;
}

void ToeplitzBoxProgram::copyIn(Value turn) {
  const ConvTensor &source = products.source;
  frame.setTile(turn);
  Value h = p.add(frame.firstRow, -products.getPad(0));
  Value w = p.add(frame.firstColumn, -products.getPad(1));
  dnn::BoxLoadOp::create(p.b, p.loc, source.memory,
                         source.order(frame.image, frame.firstChannel, {h, w}),
                         getBox(source, products.shape.source), sources,
                         frame.rem(turn, tile.stages));
}

void ToeplitzBoxProgram::copyOut(Value turn) {
  const ConvTensor &to = products.result;
  frame.setTile(turn);
  dnn::BoxStoreOp::create(p.b, p.loc, result, to.memory,
                          to.order(frame.image, frame.firstChannel,
                                   {frame.firstRow, frame.firstColumn}),
                          getBox(to, products.shape.result));
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
    Value slot = frame.rem(turn, tile.stages);
    dnn::BoxWaitOp::create(p.b, p.loc, sources, slot,
                           frame.div(turn, tile.stages));
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
