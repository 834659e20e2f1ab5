//===- CellFilter.cpp - The filter of 64 channels in registers ------------===//

#include "compiler/Conversion/Ampere/CellFilter.h"
#include "compiler/Conversion/Common/GlobalBuffer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

static constexpr unsigned kTapDims = 2;

static AccessSpace getTaps(const ViewAccess &access) {
  return access.getSpace(2, 0, kTapDims);
}

static AccessSpace getChannels(const ViewAccess &access) {
  return access.getSpace(2, kTapDims, access.getNumColumnDims() - kTapDims);
}

/// The first coordinate, the output channel: 64 of them for each step of the
/// group, and nothing else of the group moves anything.
static bool hasBlocks(dnn::ViewOp view) {
  dnn::CoordsAttr coords = view.getCoords();
  ArrayRef<int64_t> sizes = coords.getSizes();
  const unsigned groups = coords.getFirstDim(1);
  int64_t reach = 0;
  for (auto [i, result] : llvm::enumerate(coords.getMap().getResults())) {
    LinearExpr expr = getLinearExpr(result, sizes.size());
    for (unsigned d = 0; d < groups; ++d) {
      const bool isBlock = i == 0 && d + 1 == groups && sizes[d] > 1;
      if (sizes[d] > 1 && expr.factors[d] != (isBlock ? kBlockChannels : 0))
        return false;
    }
    if (i > 0)
      continue;
    for (unsigned d = groups; d < sizes.size(); ++d) {
      if (expr.factors[d] < 0)
        return false;
      reach += expr.factors[d] * (sizes[d] - 1);
    }
    if (expr.constant != 0)
      return false;
  }
  return reach == kBlockChannels - 1;
}

bool tessera::isDiagonal(dnn::CoordsAttr coords, unsigned row, unsigned column,
                         int64_t channels) {
  ArrayRef<int64_t> sizes = coords.getSizes();
  LinearExpr channel =
      getLinearExpr(coords.getMap().getResults().back(), sizes.size());
  const int64_t groups = kBlockChannels / channels;
  auto isGroups = [&](unsigned d) {
    return sizes[d] == groups && sizes[d + 1] == channels;
  };
  return isGroups(row) && isGroups(column) &&
         std::abs(channel.factors[row]) == channels &&
         channel.factors[row] + channel.factors[column] == 0 &&
         channel.factors[row + 1] + channel.factors[column + 1] == 1 &&
         channel.constant == 0;
}

/// Whether elements follow each other, at any offset.
static bool hasPackedStrides(MemRefType type) {
  auto getStrides = [](MemRefType of) {
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    (void)of.getStridesAndOffset(strides, offset);
    return strides;
  };
  return getStrides(type) ==
         getStrides(MemRefType::get(type.getShape(), type.getElementType()));
}

FailureOr<CellFilter> CellFilter::match(Operation *op, dnn::ViewOp view,
                                        const CellTile &cells) {
  auto type = cast<MemRefType>(view.getSource().getType());
  ViewAccess access(view);
  if (!hasPackedStrides(type) ||
      access.getElementBytes() != (cells.isF32 ? 4 : 2) ||
      access.getTensorBytes() > kOutOfRange || !access.fitsInt32() ||
      type.getDimSize(0) % kBlockChannels ||
      view.getCoords().getRanks()[1] != 2 ||
      access.getNumColumnDims() != kTapDims + 2 ||
      getTaps(access).getExtent() != cells.taps || !hasBlocks(view) ||
      !isDiagonal(view.getCoords(), view.getCoords().getFirstDim(1),
                  view.getCoords().getFirstDim(2) + kTapDims,
                  cells.groupChannels))
    return op->emitOpError()
           << "is copied by cp_async, which needs a packed filter of the "
              "image's type, at most 2 GiB, as blocks of "
           << kBlockChannels
           << " output channels, two dimensions of taps, and what is not of "
              "one "
              "group outside of the filter";
  const int64_t blocks = type.getDimSize(0) / kBlockChannels;
  return CellFilter(std::move(access), cells,
                    type.getNumElements() / blocks * access.getElementBytes());
}

void CellFilter::copy(Emitter &e, const ImageCopy &to, Value group) const {
  Value size = e.constant(
      e.b.getI64IntegerAttr(access.getTensorBytes() - access.getFirstBytes()));
  CheckedMemory memory = e.device.makeMemory(e, to.pointer, size);
  Value begin = access.getSpace(0).evaluate(e, group)[0];
  Value threadBytes = e.mul(to.thread, ImageTile::kChunkBytes);
  const int64_t pass = to.threads * ImageTile::kChunkBytes;
  for (int64_t first = 0; first < blockBytes; first += pass) {
    OpBuilder::InsertionGuard guard(e.b);
    Value bytes = e.add(threadBytes, first);
    if (first + pass > blockBytes) {
      auto inside = scf::IfOp::create(e.b, e.loc, e.ult(bytes, blockBytes));
      e.b.setInsertionPointToStart(&inside.getThenRegion().front());
    }
    Value target = LLVM::GEPOp::create(e.b, e.loc, to.shared.getType(),
                                       e.b.getI8Type(), to.shared, bytes);
    e.device.loadToLds(e, memory, target, ImageTile::kChunkBytes,
                       e.add(begin, bytes), e.constant(0), /*immediate=*/0);
  }
}

//===----------------------------------------------------------------------===//
// To registers
//===----------------------------------------------------------------------===//

bool CellFilter::hasPairs() const {
  AccessSpace channels = getChannels(access);
  return channels.getInnermostStep() == access.getElementBytes();
}

int64_t CellFilter::getTapBytes(int64_t tap) const {
  AccessSpace taps = getTaps(access);
  int64_t bytes = 0;
  for (int64_t d = std::ssize(taps.sizes) - 1; d >= 0; --d) {
    bytes += tap % taps.sizes[d] * taps.coefs[0][d];
    tap /= taps.sizes[d];
  }
  return bytes;
}

/// Where the filter begins in its memory does not matter to its copy. Checks
/// that depend on a tap cannot fail: match() has seen a packed filter.
CellFilter::Place CellFilter::locate(Emitter &e, const Forms &row,
                                     Value channel) const {
  Forms forms = getChannels(access).evaluate(e, channel);
  Place place;
  for (unsigned f = 0; f < access.getNumForms(); ++f) {
    const int64_t first = f == 0 ? access.getFirstBytes() : 0;
    Value form = e.add(e.add(forms[f], row[f]), access.getConstant(f) - first);
    if (f == 0)
      place.bytes = form;
    else
      place.valid = e.both(place.valid, e.ult(form, access.getBound(f)));
  }
  return place;
}

/// What is at `place` of a tap, as an integer; zero where there is nothing.
Value CellFilter::readElement(Emitter &e, const Place &place, int64_t tapBytes,
                              unsigned bits, Value shared) const {
  Value bytes =
      e.select(place.valid, e.add(place.bytes, tapBytes), e.constant(0));
  Value pointer = LLVM::GEPOp::create(e.b, e.loc, shared.getType(),
                                      e.b.getI8Type(), shared, bytes);
  Type type = e.b.getIntegerType(bits);
  Value value = LLVM::LoadOp::create(e.b, e.loc, type, pointer, bits / 8);
  return e.select(place.valid, value,
                  e.constant(cast<TypedAttr>(e.b.getZeroAttr(type))));
}

/// The two elements of a lane in a register; zeros where there are none.
Value CellFilter::readPair(Emitter &e, ArrayRef<Place> pair, int64_t tapBytes,
                           Value shared) const {
  if (hasPairs())
    return readElement(e, pair[0], tapBytes, 32, shared);
  Type i32 = e.b.getI32Type();
  auto load = [&](const Place &place) -> Value {
    return arith::ExtUIOp::create(e.b, e.loc, i32,
                                  readElement(e, place, tapBytes, 16, shared));
  };
  Value low = load(pair[0]), high = load(pair[1]);
  high = arith::ShLIOp::create(e.b, e.loc, high, e.constant(16));
  return arith::OrIOp::create(e.b, e.loc, low, high);
}

SmallVector<SmallVector<Value>> CellFilter::read(Emitter &e,
                                                 const LanePlace &place,
                                                 Value warp,
                                                 Value shared) const {
  SmallVector<SmallVector<Value>> registers(kCells);
  for (int64_t cell = 0; cell < kCells; ++cell) {
    Value row = e.add(e.add(e.mul(warp, kWarpChannels), cell * kCellChannels),
                      place.row);
    Forms forms = access.getSpace(1).evaluate(e, row);
    // A lane has neighbours, or elements of both halves of a piece.
    const int64_t apart = cells.isF32 ? kCellChannels / 2 : 1;
    Value first =
        e.add(e.mul(cells.emitFirstChunk(e, warp, cell), kCellChannels),
              cells.isF32 ? e.remu(place.lane, 4) : place.pair);
    SmallVector<std::array<Place, 2>> pairs;
    for (int64_t chunk = 0; chunk < cells.countChunks(); ++chunk) {
      Value channel = e.add(first, chunk * kCellChannels);
      pairs.push_back(
          {locate(e, forms, channel), locate(e, forms, e.add(channel, apart))});
    }
    for (int64_t i = 0; i < cells.countPieces(); ++i) {
      const auto [tap, chunk] = cells.getPiece(i);
      const int64_t tapBytes = getTapBytes(tap);
      if (!cells.isF32) {
        registers[cell].push_back(readPair(e, pairs[chunk], tapBytes, shared));
        continue;
      }
      SmallVector<Value> elements;
      for (const Place &element : pairs[chunk])
        elements.push_back(readElement(e, element, tapBytes, 32, shared));
      registers[cell].append(cells.prepare(e, elements, /*perPiece=*/2));
    }
  }
  return registers;
}
