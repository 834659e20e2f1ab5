//===- HaloOperand.cpp - Pixels that all taps of a filter share -----------===//

#include "compiler/Conversion/Hopper/HaloOperand.h"
#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

int64_t HaloOperand::getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

//===----------------------------------------------------------------------===//
// Can taps share
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> HaloOperand::getSharedTaps() const {
  const size_t shared = ShapedType::isDynamicShape(coords.getSpace(1)) ? 1 : 2;
  return coords.getSpace(2).drop_back().take_back(shared);
}

ArrayRef<int64_t> HaloOperand::getDepthTaps() const {
  return coords.getSpace(2).drop_back(1 + getSharedTaps().size());
}

bool HaloOperand::isDepth(const Dimension &dim) const {
  const unsigned firstShared = coords.getFirstDim(2) + getDepthTaps().size();
  return llvm::any_of(dim.columns,
                      [&](Term term) { return term.dim < firstShared; });
}

int64_t HaloOperand::getLastBytes() const {
  const int64_t steps = countBlocks() / countDepthTaps();
  const int64_t channels =
      coords.getSpace(2).back() - (steps - 1) * stepElements;
  return channels * getByteSize(map.dataType);
}

int64_t HaloOperand::getPitch(const Dimension &dim) const {
  const unsigned first = coords.getFirstDim(1);
  return getProduct(coords.getSpace(1).drop_front(dim.rows[0].dim - first + 1));
}

int64_t HaloOperand::getReach(const Dimension &dim) const {
  if (isDepth(dim))
    return 0;
  int64_t reach = 0;
  for (const Term &term : dim.columns)
    reach += std::abs(term.factor) * (coords.getSizes()[term.dim] - 1);
  return reach;
}

/// What `number` has beyond `size`; nothing if that depends on sizes. Of
/// unknown ones a view's are those of a tensor, or these and a number.
static std::optional<int64_t> findBeyond(const OpenNumber &number,
                                         const OpenNumber &size) {
  const OpenNumber difference = number - size;
  if (difference.isKnown())
    return int64_t(difference);
  const auto [added, subtracted] = difference.toExprs();
  for (const int64_t sign : {1, -1}) {
    const std::string sum = sign > 0 ? added.toText() : subtracted.toText(),
                      part = sign > 0 ? subtracted.toText() : added.toText();
    const llvm::StringRef text = sum;
    int64_t beyond = 0;
    if (text.starts_with(part + ".") && text.ends_with(".+") &&
        !text.drop_front(part.size() + 1).drop_back(2).getAsInteger(10, beyond))
      return sign * beyond;
  }
  return std::nullopt;
}

int64_t tessera::countPast(dnn::ViewOp view, unsigned dim) {
  dnn::CoordsAttr coords = view.getCoords();
  const ViewSizes sizes(view);
  int64_t past = 0;
  for (auto [expr, length] :
       llvm::zip(coords.getMap().getResults(), sizes.shape)) {
    LinearExpr linear = getLinearExpr(expr, coords.getSizes().size());
    auto moves = [&](auto term) {
      auto [factor, size] = term;
      return factor != 0 && size != 1;
    };
    if (linear.factors[dim] != 1 ||
        llvm::count_if(llvm::zip(linear.factors, coords.getSizes()), moves) !=
            1)
      continue;
    if (auto beyond = findBeyond(sizes.iteration[dim], length))
      past = std::max(past, *beyond + linear.constant);
  }
  return past;
}

LogicalResult PaddedRow::check(const TileSource &load) const {
  // Behind the last position is the next row's padding.
  const std::optional<int64_t> beyond = findBeyond(count, size);
  if (beyond && *beyond + first >= 0 && first + reach - 1 < past)
    return success();
  InFlightDiagnostic error =
      load.emitOpError("needs rows of positions with the padding in front, "
                       "which ends the row before, too");
  if (count.isKnown() && size.isKnown())
    error << ", but has " << int64_t(count) << " positions from " << first
          << " on for " << int64_t(size) << " pixels";
  return error;
}

LogicalResult HaloOperand::checkDimension(const TileSource &load,
                                          dnn::ViewOp stored,
                                          const Dimension &dim) const {
  const int64_t reach = getReach(dim);
  if (reach == 0)
    return success();
  if (dim.rows.size() != 1 || dim.rows[0].factor != 1 ||
      ShapedType::isDynamicShape(coords.getSpace(1).drop_front(
          dim.rows[0].dim - coords.getFirstDim(1) + 1)))
    return load.emitOpError("needs stride 1, in whose steps taps move pixels, "
                            "to share them in a halo");
  const unsigned row = dim.rows[0].dim;
  return PaddedRow{.first = dim.constant,
                   .count = sizes[row],
                   .size = dim.size,
                   .past = countPast(stored, row),
                   .reach = reach}
      .check(load);
}

/// Copies of at most 256 rows, alike, which begin at whole swizzles.
void HaloOperand::chooseBoxes() {
  constexpr int64_t kMostRows = 256, kSwizzleRows = 8;
  int64_t rows = tileRows;
  for (const Dimension &dim : ArrayRef(dims).drop_back())
    if (const int64_t reach = getReach(dim); reach > 0 && !dim.rows.empty())
      rows += reach * getPitch(dim);
  boxes = llvm::divideCeilSigned(rows, kMostRows);
  boxRows = llvm::alignTo(llvm::divideCeilSigned(rows, boxes), kSwizzleRows);
  map.box[1] = boxRows;
}

FailureOr<HaloOperand> HaloOperand::match(const TileSource &load,
                                          dnn::ViewOp stored,
                                          KernelArg tensor) {
  FailureOr<TmaOperand> operand =
      TmaOperand::match(load, tensor, TmaWalk::Channels);
  if (failed(operand))
    return failure();
  HaloOperand halo(std::move(*operand));
  if (halo.map.mode != TensorMap::Mode::Im2col || halo.countTaps() == 1)
    return load.emitOpError("needs images and several taps to share them in a "
                            "halo");
  for (const Dimension &dim : ArrayRef(halo.dims).drop_front().drop_back())
    if (failed(halo.checkDimension(load, stored, dim)))
      return failure();
  halo.chooseBoxes();
  return halo;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

void HaloOperand::copy(Emitter &e, Value mapPointer, Value destination,
                       Value barrier, ArrayRef<Value> tile, Value block,
                       Value rank) const {
  Type i16 = e.b.getIntegerType(16);
  Value depthTap = e.remu(block, countDepthTaps());
  block = e.divu(block, countDepthTaps());
  SmallVector<Value> offsets(
      dims.size() - 2, arith::TruncIOp::create(e.b, e.loc, i16, e.constant(0)));
  auto getDepthTap = [&](unsigned dim) {
    const size_t index = dim - coords.getFirstDim(2);
    ArrayRef<int64_t> sizes = getDepthTaps();
    Value tap = e.divu(depthTap, getProduct(sizes.drop_front(index + 1)));
    return index == 0 ? tap : e.remu(tap, sizes[index]);
  };
  for (auto [i, dim] : llvm::enumerate(ArrayRef(dims).drop_front().drop_back()))
    if (isDepth(dim))
      offsets[i] = getOffset(e, dim.columns, getDepthTap);
  for (int64_t box = 0; box < boxes; ++box) {
    SmallVector<Value> place =
        TmaOperand::locate(e, tile[0], e.add(tile[1], box * boxRows), rank);
    place[0] = e.add(place[0], locateChannels(e, block));
    Value begin =
        addBytes(e, destination, e.constant(box * boxRows * getRowBytes()));
    copyBox(e, {mapPointer, begin, barrier}, /*block=*/0, place, offsets);
  }
}

Value HaloOperand::locateTap(Emitter &e, Value tap) const {
  ArrayRef<int64_t> sizes = getSharedTaps();
  const unsigned first = coords.getFirstDim(2) + getDepthTaps().size();
  SmallVector<Value> digits(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; tap = e.divu(tap, sizes[d]))
    digits[d] = d == 0 ? tap : e.remu(tap, sizes[d]);
  Value row = e.constant(0);
  for (const Dimension &dim : ArrayRef(dims).drop_front().drop_back()) {
    if (isDepth(dim))
      continue;
    for (const Term &term : dim.columns) {
      Value digit = digits[term.dim - first];
      // The first pixel is the last tap's, of those that go backwards.
      if (term.factor < 0)
        digit = arith::SubIOp::create(
            e.b, e.loc, e.constant(coords.getSizes()[term.dim] - 1), digit);
      row = e.add(row, e.mul(digit, std::abs(term.factor) * getPitch(dim)));
    }
  }
  return row;
}

Value HaloOperand::getStep(Emitter &e, Value block, Value tap) const {
  const int64_t depthTaps = countDepthTaps();
  Value depthTap = e.remu(block, depthTaps);
  Value ofTap = e.mul(e.add(e.mul(depthTap, countTaps()), tap),
                      countBlocks() / depthTaps);
  return e.add(ofTap, e.divu(block, depthTaps));
}
