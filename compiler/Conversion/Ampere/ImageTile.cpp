//===- ImageTile.cpp - A block of an image in shared memory ---------------===//

#include "compiler/Conversion/Ampere/ImageTile.h"
#include "compiler/Conversion/Common/GlobalBuffer.h"
#include "compiler/Conversion/Common/PredicatedAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// What a view says
//===----------------------------------------------------------------------===//

namespace {
enum Coordinate { Image, Line, Column, Channel, kCoordinates };

/// The view of an image with channels last: linear coordinates, and which of
/// their factors are spoken for.
struct ImageView {
  explicit ImageView(dnn::ViewOp view)
      : type(cast<MemRefType>(view.getSource().getType())),
        coords(view.getCoords()), sizes(coords.getSizes()), open(view) {
    for (AffineExpr expr : coords.getMap().getResults())
      exprs.push_back(getLinearExpr(expr, sizes.size()));
  }

  /// Whether dimension `d` moves coordinate `c` alone, or nothing.
  bool movesOnly(unsigned d, Coordinate c) const {
    for (unsigned other = 0; other < kCoordinates; ++other)
      if (other != c && exprs[other].factors[d] != 0)
        return false;
    return true;
  }
  /// The step of dimension `d` along `c`; 1 if it has a single place.
  int64_t getStep(unsigned d, Coordinate c) const {
    return sizes[d] == 1 ? 1 : exprs[c].factors[d];
  }
  /// Dimensions [first, last) are the channels of a block, in their order.
  bool areChannels(unsigned first, unsigned last) const {
    int64_t step = 1;
    for (unsigned d = last; d-- > first; step *= sizes[d])
      if (!movesOnly(d, Channel) || getStep(d, Channel) != step)
        return false;
    return step == kBlockChannels;
  }
  /// Whether coordinate `c` is always in the tensor.
  bool isInside(Coordinate c) const {
    OpenNumber low = exprs[c].constant, high = low;
    for (auto [factor, size] : llvm::zip(exprs[c].factors, open.iteration))
      if (factor != 0)
        (factor < 0 ? low : high) += factor * (size - 1);
    const OpenNumber beyond = open.shape[c] - high;
    return low.isKnown() && low >= 0 && beyond.isKnown() && beyond > 0;
  }
  AccessSpace makeSpace(unsigned first, unsigned last) const;

  MemRefType type;
  dnn::CoordsAttr coords;
  ArrayRef<int64_t> sizes; ///< kDynamic if unknown.
  ViewSizes open;          ///< The same, and those of the tensor.
  SmallVector<LinearExpr> exprs;
};
} // namespace

/// The dimensions [first, last) as a space of offset, line and column.
AccessSpace ImageView::makeSpace(unsigned first, unsigned last) const {
  AccessSpace space;
  space.coefs.resize(3);
  for (unsigned d = first; d < last; ++d) {
    OpenNumber elements;
    for (auto [expr, stride] : llvm::zip(exprs, open.strides))
      elements += expr.factors[d] * stride;
    space.sizes.push_back(open.iteration[d]);
    space.coefs[0].push_back(elements * (type.getElementTypeBitWidth() / 8));
    space.coefs[1].push_back(exprs[Line].factors[d]);
    space.coefs[2].push_back(exprs[Column].factors[d]);
  }
  return space;
}

/// Whether copies of 16 bytes reach all of the tensor, and begin at multiples.
/// Of unknown sizes the runtime knows how large it is (ProblemFamily.cpp).
static bool isCopied(const ImageView &view, const ViewAccess &access) {
  constexpr int64_t kBytes = 16;
  const int64_t element = access.getElementBytes(), unit = kBytes / element;
  const OpenNumber bytes = access.getTensorBytes();
  if ((element != 2 && element != 4) || !(view.open.strides.back() == 1) ||
      (bytes.isKnown() && bytes > kOutOfRange) || !access.fitsInt32())
    return false;
  auto isWhole = [=](const OpenNumber &elements) {
    return elements.getFactor() % unit == 0;
  };
  return llvm::all_of(ArrayRef(view.open.strides).drop_back(), isWhole) &&
         isWhole(view.exprs[Channel].constant) &&
         llvm::all_of(ArrayRef(view.exprs[Channel].factors)
                          .take_front(view.coords.getFirstDim(1)),
                      isWhole);
}

FailureOr<ImageTile> tessera::matchImageTile(Operation *op, dnn::ViewOp source,
                                             unsigned pixels, bool hasTaps) {
  ImageView view(source);
  ViewAccess access(source);
  const unsigned other = pixels == 1 ? 2 : 1;
  auto getEnd = [&](unsigned index) -> unsigned {
    return view.coords.getFirstDim(index) + view.coords.getRanks()[index];
  };
  const unsigned taps = hasTaps ? 2 : 0, tap = view.coords.getFirstDim(other);
  if (view.exprs.size() != kCoordinates || view.coords.getRanks()[pixels] < 2 ||
      view.coords.getRanks()[other] <= taps || !isCopied(view, access))
    return op->emitOpError(
        "is copied by cp_async, which needs a view of blocks of pixels of an "
        "image of elements of 16 or 32 bits, at most 2 GiB, with channels last "
        "in whole 16 bytes");
  const unsigned line = getEnd(pixels) - 2, column = line + 1;
  ImageTile tile;
  tile.elementBytes = access.getElementBytes();
  tile.height = view.sizes[line];
  tile.width = view.sizes[column];
  tile.lineStep = view.getStep(line, Line);
  tile.columnStep = view.getStep(column, Column);
  bool fits = view.movesOnly(line, Line) && view.movesOnly(column, Column) &&
              view.areChannels(tap + taps, getEnd(other)) &&
              view.isInside(Image) && view.isInside(Channel);
  if (hasTaps) {
    tile.tapLines = view.sizes[tap];
    tile.tapColumns = view.sizes[tap + 1];
    tile.tapLineStep = view.getStep(tap, Line);
    tile.tapColumnStep = view.getStep(tap + 1, Column);
    fits &= view.movesOnly(tap, Line) && view.movesOnly(tap + 1, Column);
  }
  if (!fits || std::min({tile.lineStep, tile.columnStep, tile.tapLineStep,
                         tile.tapColumnStep}) < 1)
    return op->emitOpError()
           << "is copied by cp_async, which needs a block of pixels"
           << (hasTaps ? ", taps" : "") << " and " << kBlockChannels
           << " channels, each a dimension of its own that goes forward";
  tile.numLines = view.open.shape[Line];
  tile.numColumns = view.open.shape[Column];
  tile.lineBytes = view.open.strides[Line] * access.getElementBytes();
  tile.columnBytes = view.open.strides[Column] * access.getElementBytes();
  tile.tensorBytes = access.getTensorBytes() - access.getFirstBytes();
  tile.groupSpace = view.makeSpace(0, view.coords.getFirstDim(1));
  tile.blockSpace = view.makeSpace(view.coords.getFirstDim(pixels), line);
  for (auto [expr, stride] : llvm::zip(view.exprs, view.open.strides))
    tile.constants[0] += expr.constant * stride * access.getElementBytes();
  tile.constants[1] = view.exprs[Line].constant;
  tile.constants[2] = view.exprs[Column].constant;
  return tile;
}

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

Value ImageTile::emitResultBytes(Emitter &e, Value result) const {
  Value line = e.divu(result, width), column = e.remu(result, width);
  return e.add(e.mul(line, lineStep * countColumns() * getPixelBytes()),
               e.mul(column, columnStep * getPixelBytes()));
}

static int64_t countChunks(const ImageTile &t) {
  return t.countLines() * t.countColumns() * t.countPixelChunks();
}

int64_t tessera::countThreadChunks(const ImageTile &tile, int64_t threads) {
  return llvm::divideCeilSigned(countChunks(tile), threads);
}

namespace {
/// A workgroup's threads on their way through the chunks of a block, a chunk
/// each at a time.
struct ChunkWalk {
  Emitter &e;
  const ImageTile &tile;
  const ImageCopy &copy;

  Value getChunkBytes() const {
    return e.mul(e.remu(copy.thread, tile.countPixelChunks()),
                 ImageTile::kChunkBytes);
  }
  Value getPixel(int64_t first) const {
    return e.divu(e.add(copy.thread, first), tile.countPixelChunks());
  }
  /// Where in shared memory the chunk lies that is `first` behind a thread's.
  Value getTarget(int64_t first) const {
    Value place =
        e.add(e.mul(getPixel(first), tile.getPixelBytes()), getChunkBytes());
    return LLVM::GEPOp::create(e.b, e.loc, copy.shared.getType(),
                               e.b.getI8Type(), copy.shared, place);
  }
  /// Whether the thread has one; null if every thread does. The last pass has
  /// less than a chunk for each.
  Value emitHasChunk(int64_t first) const {
    const int64_t left = countChunks(tile) - first;
    return left < copy.threads ? e.ult(copy.thread, left) : Value();
  }
  /// Offset, line and column of the block's first pixel.
  SmallVector<Value> locateBlock(Value group, Value block) const {
    SmallVector<Value> base = tile.groupSpace.evaluate(e, group);
    for (auto [form, other, constant] :
         llvm::zip(base, tile.blockSpace.evaluate(e, block), tile.constants))
      form = e.add(e.add(form, other), constant);
    return base;
  }
  struct Source {
    Value offset; ///< In the tensor, in bytes.
    Value valid;  ///< Whether it is of the image.
  };
  Source locate(ArrayRef<Value> base, int64_t first) const {
    Value pixel = getPixel(first);
    Value line = e.divu(pixel, tile.countColumns());
    Value column = e.remu(pixel, tile.countColumns());
    return {e.add(e.add(base[0], e.mul(line, tile.lineBytes)),
                  e.add(e.mul(column, tile.columnBytes), getChunkBytes())),
            e.both(e.ult(e.add(base[1], line), tile.numLines),
                   e.ult(e.add(base[2], column), tile.numColumns))};
  }
};
} // namespace

void tessera::copyImageTile(Emitter &e, const ImageTile &t,
                            const ImageCopy &copy, Value group, Value block) {
  const ChunkWalk walk{e, t, copy};
  Value size = e.wideConstant(t.tensorBytes);
  CheckedMemory memory = e.device.makeMemory(e, copy.pointer, size);
  SmallVector<Value> base = walk.locateBlock(group, block);
  for (int64_t first = 0; first < countChunks(t); first += copy.threads) {
    auto [offset, valid] = walk.locate(base, first);
    offset = e.select(valid, offset, e.constant(kOutOfRange));
    OpBuilder::InsertionGuard guard(e.b);
    if (Value inside = walk.emitHasChunk(first))
      e.b.setInsertionPointToStart(
          &scf::IfOp::create(e.b, e.loc, inside).getThenRegion().front());
    e.device.loadToLds(e, memory, walk.getTarget(first), ImageTile::kChunkBytes,
                       offset, e.constant(0),
                       /*immediate=*/0);
  }
}

ImageChunks tessera::fetchImageTile(Emitter &e, const ImageTile &t,
                                    const ImageCopy &copy, Value group,
                                    Value block, Value exists) {
  const ChunkWalk walk{e, t, copy};
  auto type = VectorType::get(ImageTile::kChunkBytes / 4, e.b.getI32Type());
  SmallVector<Value> base = walk.locateBlock(group, block);
  ImageChunks chunks;
  for (int64_t first = 0; first < countChunks(t); first += copy.threads) {
    auto [offset, valid] = walk.locate(base, first);
    valid = e.both(e.both(exists, valid), walk.emitHasChunk(first));
    Value wide = arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), offset);
    Value pointer = LLVM::GEPOp::create(e.b, e.loc, copy.pointer.getType(),
                                        e.b.getI8Type(), copy.pointer, wide);
    chunks.push_back(
        loadStreamed(e, valid, type, pointer, ImageTile::kChunkBytes));
  }
  return chunks;
}

void tessera::putImageTile(Emitter &e, const ImageTile &t,
                           const ImageCopy &copy, ArrayRef<Value> chunks) {
  const ChunkWalk walk{e, t, copy};
  for (auto [i, chunk] : llvm::enumerate(chunks)) {
    const int64_t first = static_cast<int64_t>(i) * copy.threads;
    OpBuilder::InsertionGuard guard(e.b);
    if (Value inside = walk.emitHasChunk(first))
      e.b.setInsertionPointToStart(
          &scf::IfOp::create(e.b, e.loc, inside).getThenRegion().front());
    LLVM::StoreOp::create(e.b, e.loc, chunk, walk.getTarget(first),
                          ImageTile::kChunkBytes);
  }
}
