//===- HaloLines.cpp - Pixels in LDS that all taps of a filter see --------===//

#include "compiler/Conversion/Cooperative/HaloLines.h"
#include "compiler/Conversion/Common/LdsPointer.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// What a tile sees
//===----------------------------------------------------------------------===//

/// Whether rows lie in the order of memory, at a distance of whole pixels.
static bool isInOrder(const AccessSpace &rows, int64_t pixelBytes) {
  int64_t inner = 0;
  for (int64_t d = std::ssize(rows.sizes) - 1; d >= 0; --d) {
    int64_t bytes = rows.coefs[0][d];
    if (bytes % pixelBytes != 0 || bytes <= inner)
      return false;
    inner += bytes * (rows.sizes[d] - 1);
  }
  return true;
}

LogicalResult tessera::matchHaloTaps(Operation *op, dnn::ViewOp view,
                                     HaloLines &halo) {
  ViewAccess access(view);
  AccessSpace rows = access.getSpace(1);
  AccessSpace taps = access.getSpace(2, 0, access.getNumColumnDims() - 1);
  halo.pixelBytes = rows.getInnermostStep();
  if (halo.pixelBytes <= 0 || !isInOrder(rows, halo.pixelBytes))
    return op->emitOpError("has a halo, which needs rows in the order of "
                           "memory, at a distance of whole pixels");
  for (int64_t tap = 0; tap < taps.getExtent(); ++tap)
    halo.taps.push_back(taps.getForm(0, tap));
  halo.firstBytes = *llvm::min_element(halo.taps);
  for (int64_t &tap : halo.taps) {
    tap -= halo.firstBytes;
    if (tap % halo.pixelBytes != 0)
      return op->emitOpError("has a halo, which needs taps that move all rows "
                             "by whole pixels (stride 1)");
    tap /= halo.pixelBytes;
  }
  halo.rowLines = rows;
  for (OpenNumber &bytes : halo.rowLines.coefs[0])
    bytes = bytes / halo.pixelBytes;
  return success();
}

LogicalResult tessera::matchHaloLines(Operation *op, dnn::ViewOp view,
                                      const SharedTile &tile, HaloLines &halo) {
  ViewAccess access(view);
  AccessSpace channels = access.getSpace(2, access.getNumColumnDims() - 1, 1);
  if (failed(matchHaloTaps(op, view, halo)))
    return failure();
  if (channels.getInnermostStep() != access.getElementBytes() ||
      !channels.isLinear() || channels.getExtent() % tile.step != 0)
    return op->emitOpError("has a halo, which needs channels that lie "
                           "together, in whole steps");
  int64_t span = getMaxSpan(toKnown(halo.rowLines.sizes),
                            toKnown(halo.rowLines.coefs[0]), tile.rows);
  halo.rowLines = halo.rowLines.getOffsets();
  static_cast<HaloLds &>(halo) =
      HaloLds::make(span + *llvm::max_element(halo.taps) + 1,
                    tile.step * access.getElementBytes(), tile.threads);
  return success();
}

//===----------------------------------------------------------------------===//
// To LDS
//===----------------------------------------------------------------------===//

HaloCopy::HaloCopy(Emitter &e, const ViewAccess &access, const HaloLines &halo,
                   LdsTile lds, const ReductionWalk &walk, GlobalBuffer buffer,
                   int64_t threads, Value thread)
    : TileCopy(e, access, lds, walk, std::move(buffer)), halo(halo),
      passLines(threads / halo.getChunks()), slot(e.constant(0)) {
  passes = halo.lines / passLines;
  Value line = e.divu(thread, halo.getChunks());
  Value chunk = e.mul(e.remu(thread, halo.getChunks()), kChunkBytes);
  place = e.add(e.mul(line, halo.getPitch()), chunk);
  AccessSpace rows = access.getSpace(1).getOffsets();
  first = e.add(rows.evaluate(e, this->buffer.row0)[0],
                e.add(this->buffer.base[0], halo.firstBytes));
  own = e.add(e.mul(line, halo.pixelBytes), chunk);
}

Value HaloCopy::findBlock(Value position) {
  return e.add(e.add(first, position), own);
}

void HaloCopy::load(unsigned pass, unsigned, Value position, Value lds,
                    SmallVectorImpl<Value> &) {
  Value offset = getBlock(position);
  Value pointer = emitLdsPointer(
      e, lds, e.add(e.add(place, slot), pass * passLines * halo.getPitch()));
  e.device.loadToLds(e, buffer.descriptor, pointer, kChunkBytes,
                     e.add(offset, pass * passLines * halo.pixelBytes),
                     /*uniform=*/e.constant(0), /*immediate=*/0);
}

//===----------------------------------------------------------------------===//
// From LDS
//===----------------------------------------------------------------------===//

HaloSource::Row HaloSource::findRow(int64_t index, const GlobalBuffer &tile) {
  Value first = halo.rowLines.evaluate(e, tile.row0)[0];
  Value row = e.add(e.add(place.firstRow, place.laneRow),
                    e.add(tile.row0, place.getRow(index, 0)));
  Value line = halo.rowLines.evaluate(e, row)[0];
  return {arith::SubIOp::create(e.b, e.loc, line, first),
          access.getSpace(1).evaluate(e, row)};
}

Value HaloSource::isInside(const Row &row, const GlobalBuffer &tile,
                           int64_t tap) {
  AccessSpace taps = access.getSpace(2, 0, access.getNumColumnDims() - 1);
  Value valid;
  for (unsigned f = 1; f < access.getNumForms(); ++f) {
    Value coordinate =
        e.add(e.add(row.forms[f], tile.base[f]), taps.getForm(f, tap));
    valid = e.both(valid, e.ult(coordinate, access.getBound(f)));
  }
  return valid;
}

/// Bit t: whether tap t of a row is in its image.
Value HaloSource::findTaps(const Row &row, const GlobalBuffer &tile) {
  Value bits = e.constant(0);
  for (int64_t tap = 0; tap < std::ssize(halo.taps); ++tap) {
    Value bit = e.select(isInside(row, tile, tap),
                         e.constant(int64_t(1) << tap), e.constant(0));
    bits = arith::OrIOp::create(e.b, e.loc, bits, bit);
  }
  return bits;
}

HaloSource::Rows HaloSource::findRows(const GlobalBuffer &tile) {
  Rows rows;
  for (int64_t i = 0; i < place.count; ++i) {
    Row row = findRow(i, tile);
    rows.places.push_back(e.add(e.mul(row.line, halo.getPitch()), findChunk()));
    rows.inside.push_back(findTaps(row, tile));
  }
  return rows;
}

/// The tap is added behind the choice, where it is part of the read.
void HaloSource::enterTap(const Rows &rows, int64_t tap, Value slot) {
  int64_t bytes = halo.taps[tap] * halo.getPitch();
  Value zero = e.add(findChunk(), halo.getZeroOffset() - bytes);
  current.clear();
  for (auto [line, bits] : llvm::zip(rows.places, rows.inside)) {
    Value isInside =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                              e.andi(bits, int64_t(1) << tap), e.constant(0));
    current.push_back(
        e.add(e.select(isInside, e.add(line, slot), zero), bytes));
  }
}

Value HaloSource::read(int64_t index, int64_t, int64_t q, int64_t t,
                       Value lds) {
  Value bytes = e.add(current[index], place.getChunk(q, t) * kChunkBytes);
  int64_t elements =
      kChunkBytes * 8 / place.elementType.getIntOrFloatBitWidth();
  return e.device.readMatrices(e, emitLdsPointer(e, lds, bytes),
                               VectorType::get(elements, place.elementType));
}
