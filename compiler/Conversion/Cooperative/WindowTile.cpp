//===- WindowTile.cpp - Overlapping windows in LDS, each pixel once -------===//

#include "compiler/Conversion/Cooperative/WindowTile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace tessera;

static constexpr int64_t kWordBytes = 4;

//===----------------------------------------------------------------------===//
// What a view says
//===----------------------------------------------------------------------===//

namespace {
/// The coordinates of a view, each as a linear expression.
struct Coordinates {
  explicit Coordinates(dnn::ViewOp view)
      : type(cast<MemRefType>(view.getSource().getType())),
        sizes(view.getCoords().getSizes()), of(view) {
    dnn::CoordsAttr coords = view.getCoords();
    for (AffineExpr expr : coords.getMap().getResults())
      exprs.push_back(getLinearExpr(expr, sizes.size()));
    firstRow = coords.getFirstDim(1);
    firstColumn = coords.getFirstDim(2);
  }

  const LinearExpr &getElement() const { return exprs.back(); }
  const LinearExpr &getLine() const { return exprs[exprs.size() - 2]; }
  ArrayRef<LinearExpr> getOthers() const {
    return ArrayRef(exprs).drop_back(2);
  }

  MemRefType type;
  ArrayRef<int64_t> sizes; ///< Of the block and of the columns they are known.
  ViewSizes of;
  SmallVector<LinearExpr> exprs;
  unsigned firstRow = 0, firstColumn = 0;
};
} // namespace

/// Whether the block of pixels and the run move what they should and nothing
/// else: lines and elements the block, elements the run.
static bool isWindow(const Coordinates &c, int64_t rows) {
  unsigned dims = c.sizes.size();
  if (c.exprs.size() < 3 || c.firstColumn < c.firstRow + 2 ||
      c.firstColumn == dims || c.of.strides.back() != 1)
    return false;
  unsigned height = c.firstColumn - 2, width = height + 1, run = dims - 1;
  if (c.sizes[height] * c.sizes[width] != rows)
    return false;
  const SmallVector<int64_t> &line = c.getLine().factors;
  const SmallVector<int64_t> &element = c.getElement().factors;
  if (line[width] != 0 || line[run] != 0 || line[height] < 0 ||
      element[height] != 0 || element[run] != 1 || element[width] < 0)
    return false;
  for (const LinearExpr &other : c.getOthers())
    if (other.factors[height] != 0 || other.factors[width] != 0 ||
        other.factors[run] != 0)
      return false;
  return true;
}

/// The lines and planes of the reduction; false if there is another kind, or
/// more than one dimension of planes.
static bool addReduction(const Coordinates &c, WindowTile &window) {
  llvm::append_range(window.reduce, c.sizes.drop_front(c.firstColumn));
  window.total = std::accumulate(window.reduce.begin(), window.reduce.end(),
                                 int64_t(1), std::multiplies<>());
  int64_t planeDim = -1;
  for (unsigned d = c.firstColumn; d + 1 < c.sizes.size(); ++d) {
    if (c.getElement().factors[d] != 0 || c.getLine().factors[d] < 0)
      return false;
    window.lines += c.getLine().factors[d] * (c.sizes[d] - 1);
    for (auto [i, other] : llvm::enumerate(c.getOthers())) {
      if (other.factors[d] == 0)
        continue;
      if (other.factors[d] != 1 || planeDim >= 0 || c.getLine().factors[d] != 0)
        return false;
      planeDim = d;
      window.planes = c.sizes[d];
      window.planeBytes = c.of.strides[i] * window.elementBytes;
    }
  }
  window.lines += (window.height - 1) * window.lineStep + 1;
  return true;
}

/// The widest loads that are in a line or out of it as a whole, and the pitch
/// that fits them and the fragments' reads. Where the length of lines is
/// unknown, lines say which pieces are loaded as a whole.
static void choosePitch(const Coordinates &c, WindowTile &window) {
  int64_t piece = window.getChunkElements();
  auto align = [&](int64_t value) { piece = getPowerOfTwoIn(value, piece); };
  align(c.getElement().constant);
  for (unsigned d = 0; d < c.firstColumn - 2; ++d)
    align(c.getElement().factors[d]);
  int64_t least = piece;
  auto alignLines = [&](const OpenNumber &value) {
    least = getPowerOfTwoIn(value.getFactor(), least);
  };
  alignLines(window.numElements);
  for (const OpenNumber &stride : ArrayRef(c.of.strides).drop_back())
    alignLines(stride);
  if (window.numElements.isKnown())
    piece = least;
  window.pieceElements = piece;
  window.leastElements =
      least == piece ? piece
                     : std::min(least, kWordBytes / window.elementBytes);
  int64_t read = getPowerOfTwoIn(window.elementStep, window.getChunkElements());
  int64_t line = (window.width - 1) * window.elementStep + window.getRun();
  window.pitch = llvm::alignTo(line, std::max(piece, read));
  for (unsigned d = c.firstColumn; d + 1 < c.sizes.size(); ++d)
    window.reduceSteps.push_back(c.getLine().factors[d] > 0
                                     ? c.getLine().factors[d] * window.pitch
                                     : window.lines * window.pitch);
  window.reduceSteps.push_back(1);
}

/// The dimensions [first, last) as a space of offset, line and element.
static AccessSpace makeSpace(const Coordinates &c, unsigned first,
                             unsigned last) {
  AccessSpace space;
  space.coefs.resize(3);
  for (unsigned d = first; d < last; ++d) {
    OpenNumber elements = 0;
    for (auto [expr, stride] : llvm::zip(c.exprs, c.of.strides))
      elements += expr.factors[d] * stride;
    space.sizes.push_back(c.of.iteration[d]);
    space.coefs[0].push_back(elements * (c.type.getElementTypeBitWidth() / 8));
    space.coefs[1].push_back(c.getLine().factors[d]);
    space.coefs[2].push_back(c.getElement().factors[d]);
  }
  return space;
}

/// The part of the run that the filter has elements for.
static void addRunLimits(const Coordinates &filter, WindowTile &window) {
  window.runBegin = 0;
  window.runEnd = window.getRun();
  unsigned run = filter.sizes.size() - 1;
  for (auto [expr, size] : llvm::zip(filter.exprs, filter.type.getShape())) {
    bool isRun = expr.factors[run] == 1 &&
                 llvm::count(expr.factors, 0) == std::ssize(expr.factors) - 1;
    if (!isRun)
      continue;
    window.runBegin = std::max<int64_t>(0, -expr.constant);
    window.runEnd = std::min(window.getRun(), size - expr.constant);
  }
}

LogicalResult tessera::matchWindow(Operation *op, dnn::ViewOp view,
                                   dnn::ViewOp filter, int64_t rows,
                                   WindowTile &window) {
  Coordinates c(view);
  if (!isWindow(c, rows))
    return op->emitOpError()
           << "is loaded as a whole, which needs a view whose last two row "
              "dimensions are a block of "
           << rows << " pixels and whose last column dimension is contiguous";
  unsigned height = c.firstColumn - 2, width = height + 1;
  window.height = c.sizes[height];
  window.width = c.sizes[width];
  window.lineStep = c.getLine().factors[height];
  window.elementStep = c.getElement().factors[width];
  window.elementBytes = c.type.getElementTypeBitWidth() / 8;
  ArrayRef<OpenNumber> shape = c.of.shape;
  window.numLines = shape[shape.size() - 2];
  window.numElements = shape.back();
  window.lineBytes = c.of.strides[shape.size() - 2] * window.elementBytes;
  window.tensorBytes = ViewAccess(view).getTensorBytes();
  if (!addReduction(c, window))
    return op->emitOpError("is loaded as a whole, which needs columns of "
                           "lines, one dimension of planes, and a run");
  if (window.getRun() % window.getChunkElements() != 0)
    return op->emitOpError()
           << "is loaded as a whole, which needs runs of a multiple of "
           << window.getChunkElements() << " elements, but has "
           << window.getRun();
  // LDS is read by dwords: LLVM joins what is shorter to reads that the chips
  // want aligned.
  if (window.elementStep * window.elementBytes % 4 != 0)
    return op->emitOpError()
           << "is loaded as a whole, which needs a distance of whole dwords "
              "between pixels, but some have one of "
           << window.elementStep * window.elementBytes << " bytes";
  choosePitch(c, window);
  window.groupSpace = makeSpace(c, 0, c.firstRow);
  window.rowSpace = makeSpace(c, c.firstRow, height);
  window.constants[0] = c.of.offset * window.elementBytes;
  for (auto [expr, stride] : llvm::zip(c.exprs, c.of.strides))
    window.constants[0] += expr.constant * stride * window.elementBytes;
  window.constants[1] = c.getLine().constant;
  window.constants[2] = c.getElement().constant;
  addRunLimits(Coordinates(filter), window);
  return success();
}

int64_t WindowTile::getPlace(int64_t chunk) const {
  int64_t position = chunk * getChunkElements(), place = 0;
  if (position >= total)
    return 0;
  for (int64_t d = std::ssize(reduce) - 1; d >= 0; --d) {
    place += position % reduce[d] * reduceSteps[d];
    position /= reduce[d];
  }
  return place;
}

bool WindowTile::isInside(int64_t chunk, int64_t element) const {
  int64_t position = chunk * getChunkElements() + element;
  int64_t place = position % getRun();
  return position < total && place >= runBegin && place < runEnd;
}

//===----------------------------------------------------------------------===//
// To LDS
//===----------------------------------------------------------------------===//

WindowCopy::WindowCopy(Emitter &e, const ViewAccess &access,
                       const WindowTile &window, LdsTile lds,
                       const ReductionWalk &walk, const Place &place,
                       int64_t threads, Value thread)
    : TileCopy(e, access, lds, walk, GlobalBuffer()), window(window),
      threads(threads), thread(thread) {
  passes = llvm::divideCeil(countPieces(), threads);
  Value size = e.wideConstant(window.tensorBytes);
  memory = e.device.makeMemory(e, place.pointer, size);
  base = window.groupSpace.evaluate(e, place.group);
  Value block = e.divu(place.row0, window.height * window.width);
  for (auto [form, other, constant] :
       llvm::zip(base, window.rowSpace.evaluate(e, block), window.constants))
    form = e.add(e.add(form, other), constant);
  if (!window.hasWholePieces()) {
    Value rest =
        e.andi(e.constant(window.numElements), window.pieceElements - 1);
    hasWholePieces = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                           rest, e.constant(0));
  }
}

/// The byte offset of piece `index` of the windows, or `ahead` elements behind
/// its begin, out of range where there is none. `isLast`: in the last pass,
/// which has fewer pieces than threads.
Value WindowCopy::locatePiece(Value index, int64_t ahead, bool isLast) {
  const WindowTile &w = window;
  int64_t perLine = w.pitch / w.pieceElements;
  Value rest = e.divu(index, perLine);
  Value line = w.planes > 1 ? e.remu(rest, w.lines) : rest;
  Value element = e.add(e.mul(e.remu(index, perLine), w.pieceElements), ahead);
  Value valid = e.both(e.ult(e.add(base[1], line), w.numLines),
                       e.ult(e.add(base[2], element), w.numElements));
  Value offset = e.add(e.add(base[0], e.mul(line, w.lineBytes)),
                       e.mul(element, w.elementBytes));
  if (w.planes > 1)
    offset = e.add(offset, e.mul(e.divu(rest, w.lines), w.planeBytes));
  if (isLast)
    valid = e.both(valid, e.ult(index, countPieces()));
  return e.select(valid, offset, e.constant(kOutOfRange));
}

/// `count` elements that are in a line or out of it together.
Value WindowCopy::loadElements(Value index, int64_t ahead, int64_t count,
                               bool isLast) {
  return e.device.load(e, memory, getIntegerType(count),
                       locatePiece(index, ahead, isLast), e.constant(0),
                       /*alignment=*/4);
}

/// A piece of a line whose end, or that of one before, is within a piece.
Value WindowCopy::joinPiece(Value index, bool isLast) {
  SmallVector<Value> parts;
  for (int64_t n = 0; n < window.pieceElements; n += window.leastElements)
    parts.push_back(loadElements(index, n, window.leastElements, isLast));
  auto type = VectorType::get(std::ssize(parts), parts.front().getType());
  Value joined = vector::FromElementsOp::create(e.b, e.loc, type, parts);
  const int64_t words = window.pieceElements * window.elementBytes / kWordBytes;
  auto wordsType = VectorType::get(words, e.b.getI32Type());
  if (type != wordsType)
    joined = vector::BitCastOp::create(e.b, e.loc, wordsType, joined);
  return words > 1 ? joined : vector::ExtractOp::create(e.b, e.loc, joined, 0);
}

/// The tensor's bounds say what is there, not a position in the walk.
void WindowCopy::load(unsigned pass, unsigned, Value, Value,
                      SmallVectorImpl<Value> &pieces) {
  Value index = e.add(thread, pass * threads);
  const bool isLast = isShort(pass);
  if (window.hasWholePieces()) {
    pieces.push_back(loadElements(index, 0, window.pieceElements, isLast));
    return;
  }
  auto choice = scf::IfOp::create(
      e.b, e.loc, getIntegerType(window.pieceElements), hasWholePieces,
      /*withElseRegion=*/true);
  auto fill = [&](Region &region, llvm::function_ref<Value()> make) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(&region.front());
    scf::YieldOp::create(e.b, e.loc, make());
  };
  fill(choice.getThenRegion(),
       [&] { return loadElements(index, 0, window.pieceElements, isLast); });
  fill(choice.getElseRegion(), [&] { return joinPiece(index, isLast); });
  pieces.push_back(choice.getResult(0));
}

void WindowCopy::write(unsigned pass, unsigned, ArrayRef<Value> pieces,
                       Value buffer) {
  auto element = cast<MemRefType>(buffer.getType()).getElementType();
  auto type = VectorType::get(window.pieceElements, element);
  Value index = e.add(thread, pass * threads), value = pieces.front();
  OpBuilder::InsertionGuard guard(e.b);
  if (isShort(pass)) {
    auto inside = scf::IfOp::create(e.b, e.loc, e.ult(index, countPieces()));
    e.b.setInsertionPointToStart(&inside.getThenRegion().front());
  }
  if (!isa<VectorType>(value.getType()))
    value = vector::BroadcastOp::create(
        e.b, e.loc, VectorType::get(1, value.getType()), value);
  value = vector::BitCastOp::create(e.b, e.loc, type, value);
  vector::StoreOp::create(e.b, e.loc, value, buffer,
                          e.toIndex(e.mul(index, window.pieceElements)));
}

//===----------------------------------------------------------------------===//
// From LDS
//===----------------------------------------------------------------------===//

namespace {
class WindowSource : public FragmentSource {
public:
  WindowSource(Emitter &e, const WindowTile &window, const FragmentPlace &place)
      : e(e), w(window), place(place),
        isShared(place.rows % window.width == 0 &&
                 place.partStep % window.width == 0) {}

  Value read(int64_t index, int64_t part, int64_t q, int64_t t,
             Value buffer) override;

private:
  Value getPixel(int64_t tileRow);
  Value perLaneChunk(ArrayRef<int64_t> values);
  Value load(Value buffer, Value first, int64_t constant);
  Value mask(Value chunk, ArrayRef<int64_t> chunks);

  Emitter &e;
  const WindowTile &w;
  FragmentPlace place;
  /// Whether all fragments have their pixels at the same columns of the block.
  bool isShared;
  /// What there is of the block that the last read is in.
  Block *block = nullptr;
  std::map<int64_t, Value> pixels;
  std::map<SmallVector<int64_t>, Value> selections;
  std::map<std::pair<int64_t, SmallVector<int64_t>>, Value> addresses;
};
} // namespace

/// The first element of the pixel `tileRow` rows behind the lane's first.
Value WindowSource::getPixel(int64_t tileRow) {
  Value &pixel = pixels[tileRow];
  if (!pixel) {
    Value row = e.add(e.add(place.firstRow, tileRow), place.laneRow);
    pixel = e.add(e.mul(e.divu(row, w.width), w.lineStep * w.pitch),
                  e.mul(e.remu(row, w.width), w.elementStep));
  }
  return pixel;
}

/// values[c] in the lanes of chunk c.
Value WindowSource::perLaneChunk(ArrayRef<int64_t> values) {
  Value &value = selections[SmallVector<int64_t>(values)];
  if (value)
    return value;
  value = e.constant(values.front());
  for (auto [c, other] : llvm::enumerate(values))
    if (other != values.front())
      value =
          e.select(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                         place.laneChunk, e.constant(c)),
                   e.constant(other), value);
  return value;
}

/// A chunk, in reads as wide as pixels are aligned.
Value WindowSource::load(Value buffer, Value first, int64_t constant) {
  int64_t width = getPowerOfTwoIn(w.elementStep, w.getChunkElements());
  // Unless told so, NVPTX reads what may lie anywhere element by element.
  llvm::Align alignment(width * w.elementBytes);
  auto type = VectorType::get(width, place.elementType);
  SmallVector<Value> splits;
  for (int64_t n = 0; n < w.getChunkElements(); n += width) {
    Value offset =
        arith::AddIOp::create(e.b, e.loc, first, e.indexConstant(constant + n));
    splits.push_back(vector::LoadOp::create(e.b, e.loc, type, buffer, offset,
                                            /*nontemporal=*/false, alignment));
  }
  // Neighbours are joined until one is left.
  for (; splits.size() > 1; width *= 2) {
    SmallVector<int64_t> both(2 * width);
    std::iota(both.begin(), both.end(), 0);
    for (size_t n = 0; n < splits.size() / 2; ++n)
      splits[n] = vector::ShuffleOp::create(e.b, e.loc, splits[2 * n],
                                            splits[2 * n + 1], both);
    splits.truncate(splits.size() / 2);
  }
  return splits.front();
}

/// Zero where the chunk (chunks[c] in the lanes of chunk c) leaves the window.
Value WindowSource::mask(Value chunk, ArrayRef<int64_t> chunks) {
  constexpr int64_t kAll = -1;
  SmallVector<SmallVector<int64_t>> patterns(kChunkBytes / 4);
  bool isWhole = true;
  for (auto [word, pattern] : llvm::enumerate(patterns))
    for (int64_t number : chunks) {
      uint32_t bits = 0;
      for (int64_t byte = 0; byte < 4; ++byte)
        if (w.isInside(number, (word * 4 + byte) / w.elementBytes))
          bits |= 0xffu << (8 * byte);
      pattern.push_back(static_cast<int32_t>(bits));
      isWhole &= pattern.back() == kAll;
    }
  if (isWhole)
    return chunk;
  SmallVector<Value> words;
  for (ArrayRef<int64_t> pattern : patterns)
    words.push_back(perLaneChunk(pattern));
  auto type = VectorType::get(kChunkBytes / 4, e.b.getI32Type());
  Value masks = vector::FromElementsOp::create(e.b, e.loc, type, words);
  Value bits = vector::BitCastOp::create(e.b, e.loc, type, chunk);
  bits = arith::AndIOp::create(e.b, e.loc, bits, masks);
  return vector::BitCastOp::create(e.b, e.loc, chunk.getType(), bits);
}

Value WindowSource::read(int64_t index, int64_t part, int64_t q, int64_t t,
                         Value buffer) {
  if (std::exchange(block, e.b.getBlock()) != e.b.getBlock()) {
    pixels.clear();
    selections.clear();
    addresses.clear();
  }
  int64_t tileRow = place.getRow(index, part);
  SmallVector<int64_t> chunks, places;
  for (int64_t c = 0; c < place.laneChunks; ++c) {
    chunks.push_back(place.getChunk(q, t, c));
    places.push_back(w.getPlace(chunks.back()));
  }
  int64_t constant = places.front();
  for (int64_t &other : places)
    other -= constant;
  if (isShared)
    constant += tileRow / w.width * w.lineStep * w.pitch;
  int64_t pixel = isShared ? 0 : tileRow;
  Value &first = addresses[{pixel, places}];
  if (!first)
    first = e.toIndex(e.add(getPixel(pixel), perLaneChunk(places)));
  return mask(load(buffer, first, constant), chunks);
}

std::unique_ptr<FragmentSource>
tessera::readWindow(Emitter &e, const WindowTile &window,
                    const FragmentPlace &place) {
  return std::make_unique<WindowSource>(e, window, place);
}
