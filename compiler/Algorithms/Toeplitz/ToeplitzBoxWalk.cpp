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

void tessera::copyFirst(PointBuilder &p, int64_t stages, const Size &iterations,
                        llvm::function_ref<void(Value)> copyIn) {
  for (int64_t i = 0; i < stages; ++i)
    if (i == 0 || (iterations.isKnown() && i < iterations.number))
      copyIn(p.index(i));
    else if (!iterations.isKnown())
      p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                     p.index(i), p.index(iterations)),
               {}, [&] {
                 copyIn(p.index(i));
                 return PointBuilder::Values();
               });
}

int64_t BoxWalk::countUnits() const {
  return llvm::divideCeilSigned(countGroups(), countUnitGroups());
}

int64_t BoxWalk::countIterations() const {
  return llvm::divideCeilSigned(countUnits(), warps);
}

/// Group `inUnit` of the warp's unit; past the last group it is the last one
/// again. The term that depends on the iteration is a constant, which becomes
/// an immediate offset of addresses.
Value BoxWalk::getGroup(int64_t iteration, Value inUnit) const {
  Value group = p.add(p.mul(frame.warp, countUnitGroups()), inUnit);
  group = p.add(group, iteration * warps * countUnitGroups());
  if (!isInside(iteration))
    group =
        arith::MinUIOp::create(p.b, p.loc, group, p.index(countGroups() - 1));
  return group;
}

/// The first word of a group in a plane. Where the groups of an iteration are
/// whole rows, or rows are contiguous, the words of two iterations have a
/// constant distance.
Value BoxWalk::getWord(int64_t iteration, Value inUnit) const {
  const int64_t perRow = countRowGroups();
  const int64_t perIteration = warps * countUnitGroups();
  if (plane.bandGap == 0 && plane.rowWords == perRow * kGroupWords) {
    if (!isInside(iteration))
      return p.mul(getGroup(iteration, inUnit), kGroupWords);
    return p.add(p.mul(getGroup(0, inUnit), kGroupWords),
                 iteration * perIteration * kGroupWords);
  }
  const bool hasRows =
      plane.bandGap == 0 && perIteration % perRow == 0 && isInside(iteration);
  Value group = getGroup(hasRows ? 0 : iteration, inUnit);
  Value row = p.div(group, perRow);
  Value word = p.add(p.mul(row, plane.rowWords),
                     p.mul(p.rem(group, perRow), kGroupWords));
  if (plane.bandGap != 0)
    word = p.add(word, p.mul(p.div(row, plane.bandRows), plane.bandGap));
  return hasRows
             ? p.add(word, iteration * (perIteration / perRow) * plane.rowWords)
             : word;
}

Value BoxWalk::getOwnGroup() const {
  return p.div(p.div(frame.lane, kMatrixRows), octets);
}

Value BoxWalk::getOwnChannel() const {
  Value matrix = p.div(frame.lane, kMatrixRows);
  return p.mul(p.rem(matrix, octets), kOctet);
}

PointBuilder::Values BoxWalk::getRow(int64_t iteration, Value slot) const {
  constexpr int64_t kPixels = kGroupWords * kPair;
  Value row = p.rem(frame.lane, kMatrixRows);
  Value pixel;
  if (isInside(iteration))
    pixel = p.add(p.add(p.mul(getGroup(0, getOwnGroup()), kPixels), row),
                  iteration * warps * countUnitGroups() * kPixels);
  else
    pixel = p.add(p.mul(getGroup(iteration, getOwnGroup()), kPixels), row);
  return {slot, pixel, getOwnChannel()};
}

PointBuilder::Values BoxWalk::getImagesRow(int64_t iteration,
                                           Value slot) const {
  Value row = p.rem(frame.lane, kMatrixRows);
  Value pixel =
      p.add(p.add(getWord(iteration, getOwnGroup()), p.div(row, kPair)),
            p.mul(p.rem(row, kPair), plane.words));
  return {slot, pixel, getOwnChannel()};
}

PointBuilder::Values BoxWalk::getPair(int64_t iteration, int64_t i) const {
  return {p.add(frame.quad, i % octets * kOctet),
          p.add(getWord(iteration, p.index(i / octets)), frame.inQuad)};
}
