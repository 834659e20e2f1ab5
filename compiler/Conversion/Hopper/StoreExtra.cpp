//===- StoreExtra.cpp - Further tensors of an epilogue --------------------===//

#include "compiler/Conversion/Hopper/StoreExtra.h"
#include "compiler/Conversion/Hopper/RowTensor.h"
#include "compiler/Target/ElementType.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

/// Two elements that were loaded together, as f32s.
static void unpackPair(Emitter &e, Value bits, Type element,
                       StoreExtra::Values &values) {
  auto type = VectorType::get(2, element);
  Value pair;
  if (isFloat8(element)) {
    bits = vector::BroadcastOp::create(
        e.b, e.loc, VectorType::get(1, bits.getType()), bits);
    pair = vector::BitCastOp::create(e.b, e.loc, type, bits);
  } else {
    pair = LLVM::BitcastOp::create(e.b, e.loc, type, bits);
  }
  if (!element.isF32())
    pair = arith::ExtFOp::create(e.b, e.loc,
                                 VectorType::get(2, e.b.getF32Type()), pair);
  for (int64_t i : {0, 1})
    values.push_back(
        LLVM::ExtractElementOp::create(e.b, e.loc, pair, e.constant(i)));
}

//===----------------------------------------------------------------------===//
// One value a channel
//===----------------------------------------------------------------------===//

namespace {
/// Does not depend on rows.
class ChannelExtra : public StoreExtra {
public:
  /// `first` is the lane's first channel of those that are staged at once.
  ChannelExtra(Emitter &e, const HopperShape &shape, dnn::ViewOp view,
               Value pointer, Value first)
      : e(e), shape(shape), access(view), pointer(pointer), first(first) {}

  void begin(const ResultTile &tile) override;

protected:
  /// The channels from `column` on: `width` of them.
  Value load(int64_t column, int64_t width) const;
  /// One that was loaded alone, as f32.
  Value unpackElement(Value bits) const;

  Emitter &e;
  const HopperShape &shape;
  ViewAccess access;
  std::optional<StoreView> view;

private:
  Value pointer;
  Value first;
};

/// Channels are columns of wgmma: a lane has two of each 8.
class ColumnChannels final : public ChannelExtra {
public:
  ColumnChannels(Emitter &e, const HopperShape &shape, dnn::ViewOp view,
                 Value pointer, Value lane)
      : ChannelExtra(e, shape, view, pointer, e.mul(e.andi(lane, 3), 2)) {}

  Values fetch(int64_t row, int64_t column) override;
  Values unpack(const Values &fetched, int64_t row, int64_t column,
                Value buffer) override;
};

/// Channels are rows of wgmma: a lane has two in all.
class RowChannels final : public ChannelExtra {
public:
  RowChannels(Emitter &e, const HopperShape &shape, dnn::ViewOp view,
              Value pointer, Value warp, Value lane)
      : ChannelExtra(e, shape, view, pointer,
                     e.add(e.mul(warp, kStoreRows), e.shru(lane, 2))) {}

  Values fetch(int64_t row, int64_t column) override;
  Values unpack(const Values &fetched, int64_t row, int64_t column,
                Value buffer) override;
};
} // namespace

void ChannelExtra::begin(const ResultTile &tile) {
  GlobalBuffer buffer = makeBuffer(e, access, pointer, tile.group, tile.row);
  view.emplace(e, access, std::move(buffer),
               StoreSide{2, access.getSpace(2).getExtent(), shape.tileN, first,
                         tile.column},
               StoreSide{1, access.getSpace(1).getExtent(), shape.tileM,
                         e.constant(0), tile.row});
}

Value ChannelExtra::load(int64_t column, int64_t width) const {
  StorePlace anyRow = view->locateQ(0, /*isAnywhere=*/true);
  return view->load(view->locateP(column), anyRow, width);
}

Value ChannelExtra::unpackElement(Value bits) const {
  Type element = access.getElementType();
  Value value = arith::BitcastOp::create(e.b, e.loc, element, bits);
  if (!element.isF32())
    value = arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), value);
  return value;
}

ChannelExtra::Values ColumnChannels::fetch(int64_t, int64_t column) {
  constexpr int64_t kPair = 2, kFragment = 8;
  const int64_t width = view->getWidth(kPair);
  Values fetched;
  for (int64_t i = 0; i < shape.getStoreColumns(); i += kFragment)
    for (int64_t j = 0; j < kPair; j += width)
      fetched.push_back(load(column + i + j, width));
  return fetched;
}

/// Of 16 columns a lane has a pair in two rows, then the other pair.
ChannelExtra::Values ColumnChannels::unpack(const Values &fetched, int64_t,
                                            int64_t, Value) {
  Type element = access.getElementType();
  Values pairs;
  for (Value value : fetched)
    if (value.getType() == e.b.getIntegerType(element.getIntOrFloatBitWidth()))
      pairs.push_back(unpackElement(value));
    else
      unpackPair(e, value, element, pairs);
  Values values;
  for (size_t i = 0; i < pairs.size(); i += 2)
    for (int64_t row = 0; row < 2; ++row)
      values.append({pairs[i], pairs[i + 1]});
  return values;
}

ChannelExtra::Values RowChannels::fetch(int64_t, int64_t column) {
  constexpr int64_t kBelow = 8;
  return {load(column, 1), load(column + kBelow, 1)};
}

/// Of each 8 columns a lane has a pair in one row and a pair in the other.
ChannelExtra::Values RowChannels::unpack(const Values &fetched, int64_t,
                                         int64_t, Value) {
  constexpr int64_t kFragment = 8;
  Value upper = unpackElement(fetched[0]), lower = unpackElement(fetched[1]);
  Values values;
  for (int64_t i = 0; i < shape.getStagedElements(); i += kFragment)
    values.append({upper, upper, lower, lower});
  return values;
}

//===----------------------------------------------------------------------===//
// One value an element
//===----------------------------------------------------------------------===//

namespace {
class ElementExtra final : public StoreExtra {
public:
  ElementExtra(Emitter &e, const HopperShape &shape, dnn::ViewOp view,
               Value pointer, Value warp, Value lane)
      : e(e), element(view.getType().getElementType()),
        rows(e, shape, view, pointer, warp, lane),
        below(8 * shape.storeRowBytes),
        offsets(hasPairs() ? getPairOffsets(e, lane, shape.storeRowBytes,
                                            shape.resultBytes)
                           : getFragmentOffsets(e, lane, shape.storeRowBytes)) {
  }

  void begin(const ResultTile &tile) override { rows.begin(tile); }
  Values fetch(int64_t row, int64_t column) override {
    return rows.fetch(row, column);
  }
  Values unpack(const Values &fetched, int64_t row, int64_t column,
                Value buffer) override;

private:
  /// Whether ldmatrix does not take the elements.
  bool hasPairs() const { return element.isF32() || isFloat8(element); }
  void readPairs(Value buffer, Values &values);
  void readMatrices(Value buffer, Values &values);

  Emitter &e;
  Type element;
  RowTensor rows;
  int64_t below; ///< From a row of a buffer to that 8 below, in bytes.
  SmallVector<Value> offsets;
};
} // namespace

/// As SumStore stores sums of f32 and of 8 bits.
void ElementExtra::readPairs(Value buffer, Values &values) {
  const unsigned bits = 2 * element.getIntOrFloatBitWidth();
  Type type = element.isF32() ? Type(VectorType::get(2, element))
                              : Type(e.b.getIntegerType(bits));
  for (Value offset : offsets)
    for (int64_t half : {0, 1}) {
      Value pointer = addBytes(e, buffer, e.add(offset, half * below));
      unpackPair(e,
                 LLVM::LoadOp::create(e.b, e.loc, type, pointer,
                                      /*alignment=*/bits / 8),
                 element, values);
    }
}

void ElementExtra::readMatrices(Value buffer, Values &values) {
  constexpr int64_t kMatrices = 4;
  auto shape8x8 = NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
  auto words = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(kMatrices, e.b.getI32Type()));
  for (Value offset : offsets) {
    Value loaded = NVVM::LdMatrixOp::create(
        e.b, e.loc, words, addBytes(e, buffer, offset), kMatrices,
        NVVM::MMALayout::row, shape8x8, NVVM::LdStMatrixEltType::B16);
    for (int64_t i = 0; i < kMatrices; ++i)
      unpackPair(e, LLVM::ExtractValueOp::create(e.b, e.loc, loaded, i),
                 element, values);
  }
}

ElementExtra::Values ElementExtra::unpack(const Values &fetched, int64_t row,
                                          int64_t column, Value buffer) {
  rows.stage(fetched, row, column, buffer);
  emitWarpSync(e);
  Values values;
  if (hasPairs())
    readPairs(buffer, values);
  else
    readMatrices(buffer, values);
  emitWarpSync(e);
  return values;
}

bool tessera::isOfElements(dnn::ViewOp view) {
  constexpr unsigned kRows = 1;
  AccessSpace space = ViewAccess(view).getSpace(kRows);
  return llvm::any_of(space.coefs, [](const auto &form) {
    return llvm::any_of(form,
                        [](const OpenNumber &factor) { return factor != 0; });
  });
}

std::unique_ptr<StoreExtra>
tessera::makeStoreExtra(Emitter &e, const HopperShape &shape, dnn::ViewOp view,
                        Value pointer, Value warp, Value lane) {
  if (isOfElements(view))
    return std::make_unique<ElementExtra>(e, shape, view, pointer, warp, lane);
  if (shape.isSwapped)
    return std::make_unique<RowChannels>(e, shape, view, pointer, warp, lane);
  return std::make_unique<ColumnChannels>(e, shape, view, pointer, lane);
}
