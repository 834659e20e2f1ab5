//===- SlidingHalo.cpp - Pixels of backward weights, each once ------------===//

#include "compiler/Conversion/Hopper/SlidingHalo.h"
#include "compiler/Conversion/Hopper/HaloOperand.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

int64_t SlidingHalo::getPitch(const Dimension &dim) const {
  ArrayRef<int64_t> inner = coords.getSpace(2).drop_front(
      dim.columns[0].dim - coords.getFirstDim(2) + 1);
  return std::accumulate(inner.begin(), inner.end(), int64_t(1),
                         std::multiplies<>());
}

bool SlidingHalo::hasKnownPitch(const Dimension &dim) const {
  return !ShapedType::isDynamicShape(coords.getSpace(2).drop_front(
      dim.columns[0].dim - coords.getFirstDim(2) + 1));
}

int64_t SlidingHalo::countAhead() const {
  return llvm::divideCeilSigned(reach, stepElements);
}

bool SlidingHalo::hasAllTaps() const {
  return coords.getSpace(1).back() == blockRows && tileRows == taps * blockRows;
}

/// Both walk the same positions; behind those of a row is its padding, and the
/// gradient ends before taps reach past that.
LogicalResult SlidingHalo::checkPositions(const TileSource &load,
                                          const TileSource &other) const {
  dnn::ViewOp view = other.view;
  for (const Dimension &dim : ArrayRef(dims).drop_front().drop_back()) {
    int64_t behind = 0;
    for (const Term &term : dim.rows)
      behind += term.factor * (coords.getSizes()[term.dim] - 1);
    if (behind == 0)
      continue;
    const unsigned column = dim.columns[0].dim;
    const unsigned same =
        view.getCoords().getFirstDim(2) + column - coords.getFirstDim(2);
    const PaddedRow row{.first = dim.constant,
                        .count = sizes[column],
                        .size = dim.size,
                        .past = countPast(view, same),
                        .reach = behind};
    if (failed(row.check(load)))
      return failure();
  }
  return success();
}

FailureOr<SlidingHalo> SlidingHalo::match(const TileSource &load,
                                          KernelArg tensor) {
  FailureOr<TmaOperand> operand =
      TmaOperand::match(load, tensor, TmaWalk::Pixels);
  if (failed(operand))
    return failure();
  SlidingHalo halo(std::move(*operand));
  for (const Dimension &dim : llvm::reverse(ArrayRef(halo.dims).drop_front()))
    for (const Term &term : dim.rows) {
      if (dim.columns.size() != 1 || dim.columns[0].factor != 1 ||
          term.factor < 1 || !halo.hasKnownPitch(dim))
        return load.emitOpError("needs stride 1, in whose steps taps move "
                                "pixels, to share them in a halo");
      const int64_t count = halo.coords.getSizes()[term.dim];
      halo.distances.push_back(term.factor * halo.getPitch(dim));
      halo.taps *= count;
      halo.reach += (count - 1) * halo.distances.back();
    }
  return halo;
}

FailureOr<SlidingHalo> SlidingHalo::matchRows(const TileSource &load,
                                              const TileSource &other,
                                              KernelArg tensor,
                                              int64_t consumers) {
  FailureOr<SlidingHalo> halo = match(load, tensor);
  if (failed(halo))
    return failure();
  ArrayRef<int64_t> columns = halo->coords.getSpace(1);
  // Blocks of channels, taps of a row, and the channels of a block.
  constexpr size_t kOneRow = 3;
  // The mirror of one chunk behind the last (wg.slide) reaches that far.
  constexpr int64_t kMostTapRows = 16;
  const bool hasOneRow = columns.size() == kOneRow;
  if (halo->distances.size() != (hasOneRow ? 1 : 2) || !halo->hasAllTaps() ||
      halo->taps % consumers != 0 ||
      (hasOneRow ? 1 : columns[columns.size() - kOneRow]) != consumers ||
      halo->distances.back() > kMostTapRows)
    return load.emitOpError()
           << "needs tiles of all taps of 64 channels, or 32, and a filter of "
           << consumers << " rows for as many consumers, to share pixels";
  halo->filterRows = hasOneRow ? 0 : halo->distances.front();
  halo->tapRows = halo->distances.back();
  if (failed(halo->checkPositions(load, other)))
    return failure();
  return halo;
}

FailureOr<SlidingHalo> SlidingHalo::matchLines(const TileSource &load,
                                               const TileSource &other,
                                               KernelArg tensor) {
  FailureOr<SlidingHalo> halo = match(load, tensor);
  if (failed(halo))
    return failure();
  if (halo->distances.size() != 1 || !halo->hasAllTaps() ||
      halo->getBlockRowBytes() != TensorMap::kBoxBytes)
    return load.emitOpError("needs tiles of 64 elements of all lines of a "
                            "window to share pixels");
  halo->filterRows = halo->distances[0];
  if (failed(halo->checkPositions(load, other)))
    return failure();
  return halo;
}

/// The first tap's are a place of one copy, without offsets.
SmallVector<Value> SlidingHalo::locate(Emitter &e, Value group, Value row0,
                                       Value rank) const {
  SmallVector<Value> place = TmaOperand::locate(e, group, row0, rank);
  place.truncate(dims.size() - 1);
  return place;
}
