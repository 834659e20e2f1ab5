//===- TmaOperand.cpp - An operand that the TMA unit copies ---------------===//

#include "compiler/Conversion/Hopper/TmaOperand.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Conversion/Hopper/StreamedReads.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"
#include "compiler/Target/ElementType.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// From a view to a tensor map
//===----------------------------------------------------------------------===//

/// The dimensions of the tensor of an im2col map, at least.
static constexpr unsigned kLeastImageRank = 3;

void TmaOperand::readView(dnn::ViewOp view) {
  coords = view.getCoords();
  auto type = cast<MemRefType>(view.getSource().getType());
  ViewSizes of(view);
  sizes = std::move(of.iteration);
  map.offset = of.offset * type.getElementTypeBitWidth() / 8;
  setOpenOffset(map, view.getSource());
  for (auto [expr, size, stride] :
       llvm::zip(coords.getMap().getResults(), of.shape, of.strides)) {
    const auto index = static_cast<unsigned>(type.getRank() - 1 - dims.size());
    Dimension dim{size, stride, 0, index, {}, {}, {}};
    SmallVector<int64_t> factors(sizes.size(), 0);
    addLinear(expr, 1, factors, dim.constant);
    for (auto [d, factor] : llvm::enumerate(factors)) {
      if (factor == 0 || sizes[d] == 1)
        continue;
      auto &terms = d < coords.getFirstDim(1)   ? dim.groups
                    : d < coords.getFirstDim(2) ? dim.rows
                                                : dim.columns;
      terms.push_back({static_cast<unsigned>(d), factor});
    }
    dims.push_back(std::move(dim));
  }
  // A dimension of one element has the stride of the next: keep their order,
  // as that of tensors of unknown sizes, which are packed.
  const bool isPacked = !type.hasStaticShape();
  llvm::sort(dims, [&](const Dimension &a, const Dimension &b) {
    if (isPacked)
      return a.index < b.index;
    return std::pair(int64_t(a.stride), a.index) <
           std::pair(int64_t(b.stride), b.index);
  });
}

OpenNumber TmaOperand::getExtent(unsigned index) const {
  OpenNumber extent = 1;
  for (const OpenNumber &size : getSpace(index))
    extent *= size;
  return extent;
}

/// Puts `number` into list `name` of `map`.
template <typename List>
static void setNumber(TensorMap &map, List &list, TensorMap::List name,
                      unsigned index, const OpenNumber &number) {
  if (number.isKnown()) {
    list[index] = int64_t(number);
    return;
  }
  auto [added, subtracted] = number.toExprs();
  map.open.push_back({name, index, added, subtracted});
}

/// Makes one dimension of those that the window's corner walks one after the
/// other, pixel by pixel: images are a matrix to a window of one tap.
void TmaOperand::joinPixels() {
  const unsigned space = walk == TmaWalk::Pixels ? 2 : 1;
  if (dims.size() < kLeastImageRank || transposed != (space == 2))
    return;
  unsigned last = coords.getSizes().size();
  OpenNumber count = 1;
  for (const Dimension &dim : ArrayRef(dims).drop_front()) {
    const Terms &corner = getCorner(dim);
    if (!getTaps(dim).empty() || !dim.groups.empty() || dim.constant != 0 ||
        dim.stride != dims[1].stride * count)
      return;
    count *= dim.size;
    if (corner.empty() && dim.size == 1)
      continue;
    if (corner.size() != 1 || corner[0].factor != 1 || corner[0].dim >= last ||
        sizes[corner[0].dim] != dim.size)
      return;
    last = corner[0].dim;
  }
  // A single pixel is a box of its own.
  if (count == 1 || count != getExtent(space))
    return;
  dims.resize(2);
  dims[1].size = count;
  if (space == 2)
    stepDim = 1;
  (space == 1 ? dims[1].rows : dims[1].columns) = {{kWhole, 1}};
}

/// Steps are pieces of the dimension that the reduction's last one walks. It is
/// the innermost in memory, or one row of the innermost after the other.
LogicalResult TmaOperand::findSteps(const TileSource &load) {
  const unsigned last = coords.getSizes().size() - 1;
  const int64_t count = coords.getSizes()[last];
  auto isWalked = [&](const Dimension &dim) {
    return llvm::any_of(dim.columns, [&](Term t) { return t.dim == last; });
  };
  const auto *walked = llvm::find_if(dims, isWalked);
  stepDim = count == 1 || walked == dims.end() ? 0 : walked - dims.begin();
  const Dimension &channels = dims[stepDim], &inner = dims.front();
  transposed = stepDim != 0;
  const bool isPlain =
      channels.rows.empty() && channels.columns.size() <= 1 &&
      llvm::all_of(channels.columns, [](Term t) { return t.factor == 1; });
  const bool hasRows = inner.rows.size() == 1 && inner.rows[0].factor == 1 &&
                       inner.columns.empty();
  if (!isPlain || inner.stride != 1 || (transposed && !hasRows))
    return load.emitOpError("needs a view of which the reduction's last "
                            "dimension, or the rows, lie together to be copied "
                            "by tma");
  const bool isWhole = channels.groups.empty() && channels.constant == 0 &&
                       channels.size == count;
  if (count % stepElements != 0 && !isWhole)
    return load.emitOpError() << "needs groups of channels that the step, "
                              << stepElements << ", divides, but has " << count;
  return success();
}

/// Steps of pixels: rows are the channels of some taps, 64 of them within one;
/// the reduction is all pixels of all images, so that nothing but zeros follows
/// the last of them.
LogicalResult TmaOperand::checkPixels(const TileSource &load) {
  transposed = true;
  const Dimension &channels = dims.front(), &images = dims.back();
  const unsigned last = coords.getFirstDim(2) - 1;
  // Blocks of channels may be further out than taps.
  const bool isPlain = channels.rows.size() == 1 || channels.rows.size() == 2;
  if (channels.stride != 1 || !isPlain || channels.rows.back().factor != 1 ||
      channels.rows.back().dim != last)
    return load.emitOpError("needs a view of which the reduction's last "
                            "dimension, or the rows, lie together to be copied "
                            "by tma");
  const int64_t count = coords.getSizes()[last];
  const int64_t half = blockRows / 2;
  if (count % blockRows != 0 && count % half == 0 &&
      count != coords.getExtent(1) && map.dataType != DataType::F32)
    blockRows = half;
  if (count % blockRows != 0 && count != coords.getExtent(1))
    return load.emitOpError()
           << "needs taps of channels that "
           << (map.dataType == DataType::F32 ? blockRows : half)
           << " divides, but has " << count;
  // Of one tap, what is copied past the tile is not read.
  const bool isOneTap =
      count == coords.getExtent(1) && map.dataType != DataType::F32;
  if (tileRows % blockRows != 0 && !isOneTap)
    return load.emitOpError() << "needs tiles of whole " << blockRows
                              << " channels, but has " << tileRows;
  OpenNumber walked = 1;
  for (const Dimension &dim : dims)
    for (const Term &term : dim.columns)
      walked *= sizes[term.dim];
  // The reduction's first dimension is the images, even if there is but one.
  const unsigned first = coords.getFirstDim(2);
  const bool walksImages =
      images.columns.empty() || images.columns[0].dim == first;
  const bool hasGroups =
      llvm::any_of(ArrayRef(dims).drop_front(),
                   [](const Dimension &dim) { return !dim.groups.empty(); });
  if (walked != getExtent(2) || !walksImages || hasGroups ||
      images.constant != 0 || sizes[first] != images.size)
    return load.emitOpError("needs a reduction over the pixels of all images "
                            "to be copied by tma");
  return success();
}

LogicalResult TmaOperand::checkStrides(const TileSource &load) {
  constexpr int64_t kAlignment = 16;
  for (const Dimension &dim : ArrayRef(dims).drop_front())
    if ((dim.stride * getByteSize(map.dataType)).getFactor() % kAlignment != 0)
      return load.emitOpError() << "needs strides of whole " << kAlignment
                                << " bytes to be copied by tma";
  return success();
}

/// Whether rows walk more than one dimension, or share one with the reduction;
/// of steps of pixels, whether these are no matrix.
bool TmaOperand::isImages() const {
  if (walk == TmaWalk::Pixels)
    return dims.size() >= kLeastImageRank;
  unsigned walked = 0;
  for (const Dimension &dim : dims) {
    walked += dim.rows.size();
    if (!dim.rows.empty() && (!dim.columns.empty() || dim.rows[0].factor != 1))
      return true;
  }
  return walked > 1;
}

/// A box along the dimensions of rows and steps.
LogicalResult TmaOperand::makeTiled(const TileSource &load) {
  map.mode = TensorMap::Mode::Tiled;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim.columns.size() > 1)
      return load.emitOpError("needs a view of which each dimension is walked "
                              "once to be copied by tma");
    if (!dim.rows.empty())
      // What is beyond the last row is not stored, and copies of what is beyond
      // a tensor's end take TMA about twice as long.
      map.box[i] = transposed ? blockRows
                   : getExtent(1).isKnown()
                       ? std::min(tileRows, int64_t(getExtent(1)))
                       : tileRows;
  }
  map.box[stepDim] = stepElements;
  return success();
}

LogicalResult TmaOperand::share(const TileSource &load) {
  constexpr int64_t kSharers = 2, kSwizzleLines = 8;
  auto *walked = llvm::find_if(
      dims, [](const Dimension &dim) { return !dim.rows.empty(); });
  if (countLines() % (kSharers * kSwizzleLines) != 0 || walked == dims.end())
    return load.emitOpError()
           << "needs rows in multiples of " << kSharers * kSwizzleLines
           << " to be copied by two workgroups, but has "
           << (walked == dims.end() ? 1 : countLines());
  const bool isIm2col = map.mode == TensorMap::Mode::Im2col;
  map.box[isIm2col     ? 1
          : transposed ? stepDim
                       : walked - dims.begin()] = countLines() / kSharers;
  isShared = true;
  return success();
}

/// What fits a corner or an offset of im2col, for each rank (PTX ISA 8.6,
/// "Im2col mode": 16, 8 and 5 bits a dimension).
static int64_t getCornerLimit(unsigned rank) {
  return rank == 3 ? 32768 : rank == 4 ? 128 : 16;
}

LogicalResult TmaOperand::checkIm2colLimits(const TileSource &load) {
  const int64_t limit = getCornerLimit(map.rank);
  for (unsigned i = 1; i + 1 < map.rank; ++i) {
    int64_t reach = 0;
    for (const Term &term : getTaps(dims[i]))
      reach += std::abs(term.factor) * (coords.getSizes()[term.dim] - 1);
    constexpr uint32_t kMaxStep = 8;
    if (map.lower[i - 1] < -limit || map.lower[i - 1] >= limit ||
        map.upper[i - 1] < -limit || map.upper[i - 1] >= limit ||
        reach >= 2 * limit || map.steps[i] > kMaxStep)
      return load.emitOpError("has a window beyond what im2col mode reaches");
  }
  return success();
}

/// The walk of the window's corner through positions and images.
LogicalResult TmaOperand::makeIm2col(const TileSource &load) {
  map.mode = TensorMap::Mode::Im2col;
  if (dims.size() < kLeastImageRank || !getTaps(dims.back()).empty())
    return load.emitOpError("needs a view of images to be copied by tma");
  const bool isPixels = walk == TmaWalk::Pixels;
  map.box[0] = isPixels ? blockRows : stepElements;
  map.box[1] = isPixels ? stepElements : tileRows;
  unsigned last = coords.getSizes().size();
  for (unsigned i = 1; i < dims.size(); ++i) {
    Dimension &dim = dims[i];
    const Terms &corner = getCorner(dim);
    const bool isOuter = i + 1 == dims.size();
    if (corner.size() > 1 || getTaps(dim).size() > 1 ||
        (isOuter && !corner.empty() && corner[0].factor != 1) ||
        (!corner.empty() && (corner[0].factor < 1 || corner[0].dim >= last)))
      return load.emitOpError("needs to walk the images in the order of memory "
                              "to be copied by tma");
    OpenNumber count = 1;
    if (!corner.empty()) {
      last = corner[0].dim;
      count = sizes[last];
      map.steps[i] = corner[0].factor;
    }
    if (isOuter)
      break;
    // A tap that goes backwards is counted from the far end.
    for (const Term &term : getTaps(dim))
      if (term.factor < 0)
        dim.constant += term.factor * (coords.getSizes()[term.dim] - 1);
    map.lower[i - 1] = dim.constant;
    setNumber(map, map.upper, TensorMap::List::Upper, i - 1,
              (count - 1) * map.steps[i] + (dim.constant + 1) - dim.size);
  }
  return checkIm2colLimits(load);
}

/// The reduction is channels if it walks what lies together in memory, or if an
/// operand is a matrix and no image.
TmaWalk TmaOperand::chooseWalk(const TileSource &a, const TileSource &b) {
  auto walksChannels = [](const TileSource &load) {
    TmaOperand operand;
    operand.readView(load.view);
    return !operand.dims.front().columns.empty() ||
           operand.dims.size() < kLeastImageRank;
  };
  return walksChannels(a) || walksChannels(b) ? TmaWalk::Channels
                                              : TmaWalk::Pixels;
}

FailureOr<TmaOperand> TmaOperand::match(const TileSource &load,
                                        KernelArg tensor, TmaWalk walk) {
  TmaOperand operand;
  operand.walk = walk;
  dnn::ViewOp view = load.view;
  operand.readView(view);
  Type element = view.getType().getElementType();
  operand.map.tensor = tensor;
  operand.map.dataType = *findDataType(element);
  operand.tileRows = load.rows;
  operand.stepElements = load.columns;
  if (operand.dims.size() > TensorMap::kMaxRank)
    return load.emitOpError("has more dimensions than a tensor map");
  const int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  operand.blockRows = TensorMap::kBoxBytes / bytes;
  const bool isPixels = walk == TmaWalk::Pixels;
  if (failed(isPixels ? operand.checkPixels(load) : operand.findSteps(load)))
    return failure();
  operand.joinPixels();
  operand.map.rank = operand.dims.size();
  for (auto [i, dim] : llvm::enumerate(operand.dims)) {
    using List = TensorMap::List;
    setNumber(operand.map, operand.map.sizes, List::Sizes, i, dim.size);
    setNumber(operand.map, operand.map.strides, List::Strides, i,
              i == 0 ? OpenNumber() : dim.stride * bytes);
  }
  if (failed(operand.checkStrides(load)))
    return failure();
  const bool isImages = operand.isImages();
  if (isImages && operand.transposed && !isPixels)
    return load.emitOpError("needs images whose channels are the reduction to "
                            "be copied by tma");
  if (failed(isImages ? operand.makeIm2col(load) : operand.makeTiled(load)))
    return failure();
  return operand;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

int64_t TmaOperand::countBoxes() const {
  return transposed ? llvm::divideCeilSigned(tileRows, blockRows) : 1;
}

int64_t TmaOperand::getBytes() const {
  int64_t elements = countBoxes() * (isShared ? 2 : 1);
  for (uint32_t size : map.box)
    elements *= size;
  return elements * getByteSize(map.dataType);
}

OpenNumber TmaOperand::getSteps() const {
  if (walk == TmaWalk::Pixels) {
    const OpenNumber pixels = getExtent(2);
    if (!pixels.isKnown())
      return OpenNumber(ceilDiv(pixels.toExpr(), SizeExpr(stepElements)));
    return llvm::divideCeilSigned(int64_t(pixels), stepElements);
  }
  ArrayRef<int64_t> reduce = coords.getSpace(2);
  int64_t steps = llvm::divideCeilSigned(reduce.back(), stepElements);
  for (int64_t taps : reduce.drop_back())
    steps *= taps;
  return steps;
}

/// The digits of `position` in the iteration dimensions of coordinate `index`,
/// by dimension of the map; the last one runs fastest.
static llvm::DenseMap<unsigned, Value> splitPosition(Emitter &e,
                                                     ArrayRef<OpenNumber> sizes,
                                                     unsigned firstDim,
                                                     Value position) {
  llvm::DenseMap<unsigned, Value> digits;
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    digits[firstDim + d] = d == 0 ? position : e.remu(position, sizes[d]);
    if (d > 0)
      position = e.divu(position, sizes[d]);
  }
  return digits;
}

/// The group's part of a coordinate.
Value TmaOperand::locateInGroup(Emitter &e, const Dimension &dim,
                                Value group) const {
  Value coordinate = e.constant(dim.constant);
  if (dim.groups.empty())
    return coordinate;
  auto groups = splitPosition(e, getSpace(0), 0, group);
  for (const Term &term : dim.groups)
    coordinate = e.add(e.mul(groups[term.dim], term.factor), coordinate);
  return coordinate;
}

Value TmaOperand::getHalf(Emitter &e, Value rank, int64_t size) const {
  return isShared ? e.mul(rank, size / 2) : e.constant(0);
}

SmallVector<Value> TmaOperand::locate(Emitter &e, Value group, Value row0,
                                      Value rank) const {
  if (walk == TmaWalk::Pixels)
    return locateBlocks(e, group, row0);
  if (!transposed)
    row0 = e.add(row0, getHalf(e, rank, tileRows));
  // Of pixels in one dimension, sizes would be asked for in vain.
  const bool isWhole = llvm::all_of(dims, [](const Dimension &dim) {
    return dim.rows.empty() || dim.rows[0].dim == kWhole;
  });
  llvm::DenseMap<unsigned, Value> rows;
  if (!isWhole || getExtent(1).isKnown())
    rows = splitPosition(e, getSpace(1), coords.getFirstDim(1), row0);
  rows[kWhole] = row0;
  SmallVector<Value> place;
  for (const Dimension &dim : dims) {
    Value coordinate = locateInGroup(e, dim, group);
    for (const Term &term : dim.rows)
      coordinate = e.add(e.mul(rows[term.dim], term.factor), coordinate);
    place.push_back(coordinate);
  }
  return place;
}

int64_t TmaOperand::countWholeSteps() const {
  ArrayRef<int64_t> reduce = coords.getSpace(2);
  int64_t steps = reduce.back() / stepElements;
  for (int64_t taps : reduce.drop_back())
    steps *= taps;
  return steps;
}

Value TmaOperand::locateChannels(Emitter &e, Value part) const {
  Value channel = e.mul(part, stepElements);
  if (lastSteps == LastSteps::WithZeros)
    return channel;
  const int64_t last = coords.getSpace(2).back() - stepElements;
  return arith::MinUIOp::create(e.b, e.loc, channel, e.constant(last));
}

/// A step's channels, and its taps in the order of the reduction.
SmallVector<Value> TmaOperand::locateStep(Emitter &e, Value step) const {
  SmallVector<int64_t> counts(coords.getSpace(2));
  const int64_t whole = counts.back() / stepElements;
  counts.back() = llvm::divideCeilSigned(counts.back(), stepElements);
  if (lastSteps == LastSteps::Behind) {
    // Steps in the reduction's own order again.
    Value last = e.add(step, -countWholeSteps());
    Value isLast = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge,
                                         last, e.constant(0));
    Value tap = e.select(isLast, last, e.divu(step, whole));
    Value part = e.select(isLast, e.constant(whole), e.remu(step, whole));
    step = e.add(e.mul(tap, counts.back()), part);
  }
  auto digits = splitPosition(
      e, SmallVector<OpenNumber>(counts.begin(), counts.end()), 0, step);
  SmallVector<Value> positions;
  for (unsigned d = 0; d < counts.size(); ++d)
    positions.push_back(digits[d]);
  positions.back() = locateChannels(e, positions.back());
  return positions;
}

/// How far taps move the corner along one dimension; `digit` is the tap in an
/// iteration dimension.
Value TmaOperand::getOffset(Emitter &e, const Terms &taps,
                            llvm::function_ref<Value(unsigned)> digit) const {
  Value offset = e.constant(0);
  for (const Term &term : taps) {
    Value tap = digit(term.dim);
    // See makeIm2col().
    if (term.factor < 0)
      tap = arith::SubIOp::create(
          e.b, e.loc, e.constant(coords.getSizes()[term.dim] - 1), tap);
    offset = e.mul(tap, std::abs(term.factor));
  }
  return arith::TruncIOp::create(e.b, e.loc, e.b.getIntegerType(16), offset);
}

/// Of each 64 rows the channel, then the offsets. Rows past the last tap have
/// none: they read the last 64 again, and the store drops them.
SmallVector<Value> TmaOperand::locateBlocks(Emitter &e, Value group,
                                            Value row0) const {
  ArrayRef<OpenNumber> rowSizes = getSpace(1);
  const int64_t extent = coords.getExtent(1);
  SmallVector<Value> place;
  for (int64_t block = 0; block < countBoxes(); ++block) {
    Value row = e.add(row0, block * blockRows);
    if (extent != rowSizes.back())
      row = arith::MinUIOp::create(e.b, e.loc, row,
                                   e.constant(extent - blockRows));
    auto rows = splitPosition(e, rowSizes, coords.getFirstDim(1), row);
    Value channel = locateInGroup(e, dims.front(), group);
    for (const Term &term : dims.front().rows)
      channel = e.add(e.mul(rows[term.dim], term.factor), channel);
    place.push_back(channel);
    for (const Dimension &dim : ArrayRef(dims).drop_front().drop_back())
      place.push_back(
          getOffset(e, dim.rows, [&](unsigned d) { return rows[d]; }));
  }
  return place;
}

/// Copies what is at `coordinates` to the block `block` of the tile.
void TmaOperand::copyBox(Emitter &e, const CopyTarget &target, int64_t block,
                         ValueRange coordinates, ValueRange offsets) const {
  if (!target.destination) {
    NVVM::CpAsyncBulkTensorPrefetchOp::create(
        e.b, e.loc, target.mapPointer, coordinates, offsets,
        map.mode == TensorMap::Mode::Im2col ? NVVM::TMALoadMode::IM2COL
                                            : NVVM::TMALoadMode::TILE,
        /*l2CacheHint=*/Value());
    return;
  }
  const int64_t blockBytes = stepElements * getBlockRowBytes();
  constexpr int16_t kBoth = 3;
  Value multicast;
  if (isShared)
    multicast =
        arith::ConstantOp::create(e.b, e.loc, e.b.getI16IntegerAttr(kBoth));
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      e.b, e.loc,
      addBytes(e, target.destination, e.constant(block * blockBytes)),
      target.mapPointer, coordinates, target.barrier, offsets, multicast,
      /*l2CacheHint=*/streamed ? emitStreamedPolicy(e) : Value(),
      map.mode == TensorMap::Mode::Im2col ? NVVM::TMALoadMode::IM2COL
                                          : NVVM::TMALoadMode::TILE,
      /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/Value());
}

void TmaOperand::copyChannels(Emitter &e, const CopyTarget &target,
                              ArrayRef<Value> place, Value step) const {
  const bool isIm2col = map.mode == TensorMap::Mode::Im2col;
  SmallVector<Value> positions = locateStep(e, step);
  auto digit = [&](unsigned dim) {
    return positions[dim - coords.getFirstDim(2)];
  };
  SmallVector<Value> coordinates(place), offsets;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (isIm2col && i > 0 && i + 1 < dims.size())
      offsets.push_back(getOffset(e, dim.columns, digit));
    else
      for (const Term &term : dim.columns)
        coordinates[i] =
            e.add(e.mul(digit(term.dim), term.factor), coordinates[i]);
  if (transposed)
    coordinates[stepDim] =
        e.add(coordinates[stepDim], getHalf(e, target.rank, stepElements));
  for (int64_t block = 0; block < countBoxes(); ++block) {
    copyBox(e, target, block, coordinates, offsets);
    coordinates[0] = e.add(coordinates[0], blockRows);
  }
}

void TmaOperand::copyPixels(Emitter &e, const CopyTarget &target,
                            ArrayRef<Value> place, Value step) const {
  Value first =
      e.add(e.mul(step, stepElements), getHalf(e, target.rank, stepElements));
  SmallVector<Value> coordinates = {Value()};
  if (map.mode == TensorMap::Mode::Tiled) {
    coordinates.push_back(first);
  } else {
    auto pixel = splitPosition(e, getSpace(2), coords.getFirstDim(2), first);
    for (const Dimension &dim : ArrayRef(dims).drop_front().drop_back()) {
      Value coordinate = e.constant(dim.constant);
      for (const Term &term : dim.columns)
        coordinate = e.add(e.mul(pixel[term.dim], term.factor), coordinate);
      coordinates.push_back(coordinate);
    }
    // A step past the end is in an image that is not there, also behind one
    // image, which no term of the view counts.
    coordinates.push_back(pixel[coords.getFirstDim(2)]);
  }
  const size_t perBlock = dims.size() - 1;
  for (size_t block = 0; block < place.size() / perBlock; ++block) {
    ArrayRef<Value> fixed = place.slice(block * perBlock, perBlock);
    coordinates[0] = fixed.front();
    copyBox(e, target, static_cast<int64_t>(block), coordinates,
            fixed.drop_front());
  }
}

void TmaOperand::prefetch(Emitter &e, Value mapPointer, ArrayRef<Value> place,
                          Value step) const {
  assert(walk == TmaWalk::Channels && !isShared);
  copyChannels(e, {mapPointer, Value(), Value()}, place, step);
}

void TmaOperand::copy(Emitter &e, Value mapPointer, Value destination,
                      Value barrier, ArrayRef<Value> place, Value step,
                      Value rank) const {
  CopyTarget target{mapPointer, destination, barrier, rank};
  if (isShared) {
    const int64_t lineBytes = transposed
                                  ? getBlockRowBytes()
                                  : stepElements * getByteSize(map.dataType);
    target.destination =
        addBytes(e, destination, getHalf(e, rank, countLines() * lineBytes));
  }
  if (walk == TmaWalk::Pixels)
    copyPixels(e, target, place, step);
  else
    copyChannels(e, target, place, step);
}
