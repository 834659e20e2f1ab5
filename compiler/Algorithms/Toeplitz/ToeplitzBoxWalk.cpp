//===- ToeplitzBoxWalk.cpp - Planes of channels from boxes ----------------===//

#include "compiler/Algorithms/Toeplitz/ToeplitzBoxes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

SmallVector<int64_t> tessera::getBox(const ConvTensor &tensor,
                                     const ToeplitzTile &tile, int64_t images,
                                     int64_t rows, int64_t columns) {
  SmallVector<int64_t> box(tensor.getType().getRank(), 1);
  box[tensor.getOuterDim()] = images;
  box[tensor.getChannelDim()] = tile.channels;
  box[tensor.getSpatialDim(0)] = rows;
  box[tensor.getSpatialDim(1)] = columns;
  return box;
}

int64_t BoxWalk::countUnits() const {
  return llvm::divideCeilSigned(countGroups(), countOfUnit());
}

int64_t BoxWalk::countTurns() const {
  return llvm::divideCeilSigned(countUnits(), warps);
}

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
  const int64_t ofRow = countRowGroups(), ofTurn = warps * countOfUnit();
  if (plane.bandGap == 0 && plane.rowWords == ofRow * kGroupWords) {
    if (!isInside(turn))
      return p.mul(getGroup(turn, ofUnit), kGroupWords);
    return p.add(p.mul(getGroup(0, ofUnit), kGroupWords),
                 turn * ofTurn * kGroupWords);
  }
  const bool hasRows =
      plane.bandGap == 0 && ofTurn % ofRow == 0 && isInside(turn);
  Value group = getGroup(hasRows ? 0 : turn, ofUnit);
  Value row = p.div(group, ofRow);
  Value word = p.add(p.mul(row, plane.rowWords),
                     p.mul(p.rem(group, ofRow), kGroupWords));
  if (plane.bandGap != 0)
    word = p.add(word, p.mul(p.div(row, plane.bandRows), plane.bandGap));
  return hasRows ? p.add(word, turn * (ofTurn / ofRow) * plane.rowWords) : word;
}

Value BoxWalk::getOwnGroup() const {
  return p.div(p.div(frame.lane, kMatrixRows), octets);
}

Value BoxWalk::getOwnChannel() const {
  Value matrix = p.div(frame.lane, kMatrixRows);
  return p.mul(p.rem(matrix, octets), kOctet);
}

PointBuilder::Values BoxWalk::getRow(int64_t turn, Value slot) const {
  constexpr int64_t kPixels = kGroupWords * kPair;
  Value row = p.rem(frame.lane, kMatrixRows);
  Value pixel;
  if (isInside(turn))
    pixel = p.add(p.add(p.mul(getGroup(0, getOwnGroup()), kPixels), row),
                  turn * warps * countOfUnit() * kPixels);
  else
    pixel = p.add(p.mul(getGroup(turn, getOwnGroup()), kPixels), row);
  return {slot, pixel, getOwnChannel()};
}

PointBuilder::Values BoxWalk::getImagesRow(int64_t turn, Value slot) const {
  Value row = p.rem(frame.lane, kMatrixRows);
  Value pixel = p.add(p.add(getWord(turn, getOwnGroup()), p.div(row, kPair)),
                      p.mul(p.rem(row, kPair), plane.words));
  return {slot, pixel, getOwnChannel()};
}

PointBuilder::Values BoxWalk::getPair(int64_t turn, int64_t i) const {
  return {p.add(frame.quad, i % octets * kOctet),
          p.add(getWord(turn, p.index(i / octets)), frame.inQuad)};
}
