//===- PlaneHalo.cpp - Planes of pixels that all taps see -----------------===//

#include "compiler/Conversion/Cooperative/PlaneHalo.h"
#include "compiler/Conversion/Cooperative/BlockCopy.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// What a tile sees
//===----------------------------------------------------------------------===//

/// Whether planes hold a load of pixels, and nothing lies between them.
static bool hasWholePlanes(const ViewAccess &access, const PlaneHalo &halo) {
  const int64_t bytes = access.getTensorBytes() - access.getFirstBytes();
  return halo.pixelBytes == kPlaneElementBytes &&
         halo.planeBytes >= HaloLds::kPlanePixels * halo.pixelBytes &&
         halo.imageBytes % halo.planeBytes == 0 &&
         bytes % halo.planeBytes == 0 && access.getTensorBytes() <= kOutOfRange;
}

LogicalResult tessera::matchPlaneHalo(Operation *op, dnn::ViewOp view,
                                      const SharedTile &tile, PlaneHalo &halo) {
  ViewAccess access(view);
  AccessSpace channels = access.getSpace(2, access.getNumColumnDims() - 1, 1);
  if (failed(matchHaloTaps(op, view, halo)))
    return failure();
  halo.planeBytes = channels.getInnermostStep();
  AccessSpace &rows = halo.rowLines;
  const int64_t firstBytes = rows.coefs[0].front() * halo.pixelBytes;
  const bool hasImages = firstBytes >= halo.planeBytes;
  halo.images = hasImages ? int64_t(rows.sizes.front()) : 1;
  halo.imageBytes = hasImages ? firstBytes : 0;
  if (!channels.isLinear() || !hasWholePlanes(access, halo))
    return op->emitOpError()
           << "has a halo, which needs planes of at least "
           << HaloLds::kPlanePixels
           << " pixels of two bytes, in a tensor of at most 2 GiB";
  if (channels.getExtent() % (HaloLds::kBuffers * tile.step) != 0)
    return op->emitOpError()
           << "has a halo, which needs a multiple of "
           << HaloLds::kBuffers * tile.step << " channels, but has "
           << int64_t(channels.getExtent());
  // Lines of an image follow those of the image before, and begin with a load.
  if (hasImages)
    rows.coefs[0].front() = halo.getPlaneLines();
  int64_t span =
      getMaxSpan(toKnown(rows.sizes), toKnown(rows.coefs[0]), tile.rows);
  rows = rows.getOffsets();
  halo.firstLine =
      (access.getConstant(0) - access.getFirstBytes() + halo.firstBytes) /
      halo.pixelBytes;
  static_cast<HaloLds &>(halo) =
      HaloLds::makeOfPlanes(span + *llvm::max_element(halo.taps) + 1,
                            tile.step * access.getElementBytes(), tile.threads);
  return success();
}

/// The first line that the tile at `row0` sees.
static Value findFirstLine(Emitter &e, const PlaneHalo &halo, Value row0) {
  return e.add(halo.rowLines.evaluate(e, row0)[0], halo.firstLine);
}

//===----------------------------------------------------------------------===//
// To LDS
//===----------------------------------------------------------------------===//

static constexpr int64_t kPixelBits = 8 * kPlaneElementBytes;

/// Lanes: the chunks of a line, then some pixels further on, which LDS has in
/// other banks. The first pixels are those of a whole load, the last ones are
/// zeros. A load that would end behind its plane ends with it, and is moved.
PlaneHaloCopy::PlaneHaloCopy(Emitter &e, const ViewAccess &access,
                             const PlaneHalo &halo, LdsTile lds,
                             const ReductionWalk &walk, GlobalBuffer buffer,
                             int64_t threads, Value thread)
    : TileCopy(e, access, lds, walk, std::move(buffer)), halo(halo) {
  const GlobalBuffer &tile = this->buffer;
  constexpr int64_t kPixels = HaloLds::kPlanePixels;
  const int64_t chunks = halo.getChunks(), groups = halo.lines / kPixels;
  passes = groups * chunks / threads;
  Value first = e.andi(findFirstLine(e, halo, tile.row0), -kPixels);
  Value group = e.add(tile.base[0],
                      access.getFirstBytes() - int64_t(access.getConstant(0)));
  Value chunk = e.remu(thread, chunks);
  Value channels = e.mul(chunk, kLoads * halo.planeBytes);
  for (int64_t pass = 0; pass < passes; ++pass) {
    Value place = e.divu(e.add(thread, pass * threads), chunks);
    Value line = e.add(first, e.mul(place, kPixels));
    Value image = e.divu(line, halo.getPlaneLines());
    Value pixel = e.remu(line, halo.getPlaneLines());
    Value valid = e.both(e.ult(line, halo.images * halo.getPlaneLines()),
                         e.ult(place, groups - HaloLds::kZeroLines / kPixels));
    Unit unit;
    if (const int64_t moved = halo.getPlaneLines() - halo.getPlanePixels()) {
      Value isWhole = e.ult(pixel, halo.getPlanePixels() - kPixels + 1);
      pixel = e.select(isWhole, pixel, e.add(pixel, -moved));
      auto bits = [&](int64_t pixels) {
        return e.constant(e.b.getI64IntegerAttr(pixels * kPixelBits));
      };
      unit.shift = e.select(isWhole, bits(0), bits(moved));
    }
    Value offset =
        e.add(e.add(group, channels), e.add(e.mul(image, halo.imageBytes),
                                            e.mul(pixel, halo.pixelBytes)));
    offset = e.select(valid, offset, e.constant(kOutOfRange));
    for (int64_t i = 0; i < kLoads; ++i)
      unit.offsets.push_back(e.add(offset, i * halo.planeBytes));
    Value bytes = e.add(e.mul(place, kPixels * halo.getPitch()),
                        e.mul(chunk, kChunkBytes));
    unit.place = e.toIndex(e.divu(bytes, kPlaneElementBytes));
    units.push_back(std::move(unit));
  }
}

/// A position is in bytes of one pixel's channels, a multiple of a step's.
Value PlaneHaloCopy::findBlock(Value position) {
  const int64_t planes = halo.planeBytes / kPlaneElementBytes;
  IntegerAttr step;
  auto product = position.getDefiningOp<arith::MulIOp>();
  if (product && matchPattern(product.getRhs(), m_Constant(&step))) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPoint(product);
    return e.mul(product.getLhs(), step.getInt() * planes);
  }
  return e.mul(position, planes);
}

void PlaneHaloCopy::load(unsigned pass, unsigned part, Value position, Value,
                         SmallVectorImpl<Value> &pieces) {
  constexpr int64_t kWords = HaloLds::kPlanePixels * kPlaneElementBytes / 4;
  Value bytes = getBlock(position);
  pieces.push_back(loadBuffer(e, buffer,
                              VectorType::get(kWords, e.b.getI32Type()),
                              units[pass].offsets[part], bytes));
}

void PlaneHaloCopy::write(unsigned pass, unsigned part, ArrayRef<Value> loaded,
                          Value memory) {
  auto type = VectorType::get(HaloLds::kPlanePixels, access.getElementType());
  auto word = VectorType::get(1, e.b.getI64Type());
  SmallVector<Value> columns;
  for (Value pixels : loaded) {
    if (Value shift = units[pass].shift) {
      pixels = vector::BitCastOp::create(e.b, e.loc, word, pixels);
      pixels = vector::ExtractOp::create(e.b, e.loc, pixels, 0);
      pixels = arith::ShRUIOp::create(e.b, e.loc, pixels, shift);
      pixels = vector::BroadcastOp::create(e.b, e.loc, word, pixels);
    }
    columns.push_back(vector::BitCastOp::create(e.b, e.loc, type, pixels));
  }
  Value place = arith::AddIOp::create(
      e.b, e.loc, units[pass].place,
      e.indexConstant(int64_t(part) * halo.getPitch() / kPlaneElementBytes));
  vector::StoreOp::create(e.b, e.loc, gatherElement(e, columns, part), memory,
                          place);
}

//===----------------------------------------------------------------------===//
// From LDS
//===----------------------------------------------------------------------===//

/// A row outside of the image has the line of zeros that is in the banks of its
/// own.
HaloSource::Rows PlaneHaloSource::findRows(const GlobalBuffer &tile) {
  Value moved =
      e.andi(findFirstLine(e, planes, tile.row0), HaloLds::kPlanePixels - 1);
  Rows rows;
  rows.places.resize(halo.taps.size() * place.count);
  for (int64_t index = 0; index < place.count; ++index) {
    Row row = findRow(index, tile);
    for (auto [tap, lines] : llvm::enumerate(halo.taps)) {
      Value line = e.add(row.line, e.add(moved, lines));
      Value zeros = e.add(e.andi(line, HaloLds::kZeroLines - 1),
                          halo.lines - HaloLds::kZeroLines);
      Value bytes = e.mul(e.select(isInside(row, tile, tap), line, zeros),
                          halo.getPitch());
      rows.places[tap * place.count + index] =
          e.toIndex(e.divu(e.add(bytes, findChunk()), kPlaneElementBytes));
    }
  }
  return rows;
}

void PlaneHaloSource::enterTap(const Rows &rows, int64_t tap, Value) {
  current.assign(ArrayRef(rows.places).slice(tap * place.count, place.count));
}

Value PlaneHaloSource::read(int64_t index, int64_t, int64_t q, int64_t t,
                            Value buffer) {
  constexpr int64_t kElements = kChunkBytes / kPlaneElementBytes;
  Value offset =
      arith::AddIOp::create(e.b, e.loc, current[index],
                            e.indexConstant(place.getChunk(q, t) * kElements));
  return vector::LoadOp::create(e.b, e.loc,
                                VectorType::get(kElements, place.elementType),
                                buffer, offset);
}
