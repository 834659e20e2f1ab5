//===- PoolProgram.cpp - Building blocks of pooling programs --------------===//

#include "compiler/Algorithms/Pooling/PoolProgram.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// PoolBuilder
//===----------------------------------------------------------------------===//

Value PoolBuilder::constant(TypedAttr attr) {
  Value &value = constants[attr];
  if (!value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    value = arith::ConstantOp::create(b, loc, attr);
  }
  return value;
}

/// `scalar` as an attribute of `type`, repeated for each element of a vector.
static TypedAttr spread(Type type, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, scalar);
  return scalar;
}

Value PoolBuilder::splat(Type type, double value) {
  return constant(
      spread(type, b.getFloatAttr(getElementTypeOrSelf(type), value)));
}

Value PoolBuilder::splat(Type type, int64_t value) {
  return constant(
      spread(type, b.getIntegerAttr(getElementTypeOrSelf(type), value)));
}

Value PoolBuilder::add(Value lhs, int64_t rhs) {
  return rhs == 0 ? lhs : add(lhs, index(rhs));
}

Value PoolBuilder::add(Value lhs, Value rhs) {
  return arith::AddIOp::create(b, loc, lhs, rhs);
}

Value PoolBuilder::sub(Value lhs, Value rhs) {
  return arith::SubIOp::create(b, loc, lhs, rhs);
}

Value PoolBuilder::mul(Value lhs, int64_t rhs) {
  return rhs == 1 ? lhs : arith::MulIOp::create(b, loc, lhs, index(rhs));
}

Value PoolBuilder::min(Value lhs, Value rhs) {
  return arith::MinSIOp::create(b, loc, lhs, rhs);
}

Value PoolBuilder::max(Value lhs, Value rhs) {
  return arith::MaxSIOp::create(b, loc, lhs, rhs);
}

/// The dimension of a memref in the order of `layout`.
static int64_t getMemrefDim(Value memref, dnn::Layout layout, int dim) {
  const int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  if (dim == kBatch)
    return 0;
  if (dim == kChannel)
    return layout == dnn::Layout::NHWC ? rank - 1 : 1;
  const int64_t behind = layout == dnn::Layout::NHWC ? 1 : 0;
  return rank - 1 - behind - (kColumn - dim);
}

Value PoolBuilder::getInputSize(int dim, int64_t known) {
  if (!ShapedType::isDynamic(known))
    return index(known);
  return memref::DimOp::create(
      b, loc, op.getX(),
      getMemrefDim(op.getX(), op.getXLayout(), kDepth + dim));
}

Value PoolBuilder::getOutputSize(int dim, int64_t known) {
  if (!ShapedType::isDynamic(known))
    return index(known);
  return memref::DimOp::create(
      b, loc, op.getY(),
      getMemrefDim(op.getY(), op.getYLayout(), kDepth + dim));
}

PoolPoint tessera::startPoints(OpBuilder &b, Operation *op,
                               const std::array<int64_t, 5> &sizes,
                               const std::array<int64_t, 5> &block,
                               bool channelsLast, std::array<int64_t, 2> splits,
                               Value memref, dnn::Layout layout) {
  PoolPoint point{};
  SmallVector<std::pair<Value *, int64_t>> dims;
  SmallVector<Value> open;
  b.setInsertionPoint(op);
  auto addOpenDim = [&](PoolDim dim) {
    Location loc = op->getLoc();
    Value size = memref::DimOp::create(b, loc, memref,
                                       getMemrefDim(memref, layout, dim));
    Value by = arith::ConstantIndexOp::create(b, loc, block[dim]);
    open.push_back(arith::CeilDivUIOp::create(b, loc, size, by));
    dims.emplace_back(&point.block[dim], ShapedType::kDynamic);
  };
  auto addDim = [&](PoolDim dim) {
    if (ShapedType::isDynamic(sizes[dim]))
      return addOpenDim(dim);
    dims.emplace_back(&point.block[dim],
                      llvm::divideCeilSigned(sizes[dim], block[dim]));
  };
  addDim(kBatch);
  if (!channelsLast)
    addDim(kChannel);
  for (PoolDim dim : {kDepth, kRow, kColumn})
    addDim(dim);
  if (splits[0] * splits[1] > 1) {
    dims.emplace_back(&point.rowSplit, splits[0]);
    dims.emplace_back(&point.columnSplit, splits[1]);
  }
  if (channelsLast)
    addDim(kChannel);

  SmallVector<int64_t> counts;
  uint64_t points = 1;
  for (auto [value, count] : dims) {
    counts.push_back(count);
    points = llvm::SaturatingMultiply<uint64_t>(points, count);
  }
  if (!open.empty())
    points = std::numeric_limits<uint64_t>::max();
  // Small workgroups spread few points over more compute units.
  constexpr uint64_t kManyPoints = 1 << 16;
  auto program = dnn::ForEachPointOp::create(b, op->getLoc(), open, counts,
                                             points < kManyPoints ? 64 : 256);
  Block *body =
      b.createBlock(&program.getBody(), {},
                    SmallVector<Type>(counts.size(), b.getIndexType()),
                    SmallVector<Location>(counts.size(), op->getLoc()));
  for (auto [dim, argument] : llvm::zip(dims, body->getArguments()))
    *dim.first = argument;
  return point;
}

void tessera::forEachIndex(const std::array<int64_t, 3> &sizes,
                           function_ref<void(std::array<int64_t, 3>)> visit) {
  for (int64_t a = 0; a < sizes[0]; ++a)
    for (int64_t b = 0; b < sizes[1]; ++b)
      for (int64_t c = 0; c < sizes[2]; ++c)
        visit({a, b, c});
}

std::array<Value, 2> tessera::getPositionsInside(PoolBuilder &p,
                                                 const PoolGeometry &geometry,
                                                 int dim, Value output) {
  const dnn::PoolDims &d = geometry.dims;
  if (!geometry.isClipped(dim))
    return {p.index(0), p.index(d.window[dim])};
  // Position 0 is at coordinate `first` of x.
  Value first = p.add(p.mul(output, d.strides[dim]), -d.pads[dim]);
  return {p.max(p.sub(p.index(0), first), p.index(0)),
          p.min(p.sub(p.getInputSize(dim, d.in[dim]), first),
                p.index(d.window[dim]))};
}

PoolReduction
tessera::reduceRange(PoolBuilder &p, std::array<Value, 2> range, int64_t step,
                     PoolReduction partial,
                     function_ref<PoolReduction(Value, PoolReduction)> body) {
  SmallVector<Value> carried = {partial.value};
  if (partial.index)
    carried.push_back(partial.index);
  auto unpack = [](ValueRange values) -> PoolReduction {
    return {values[0], values.size() > 1 ? values[1] : Value()};
  };
  auto loop = scf::ForOp::create(p.b, p.loc, range[0], range[1], p.index(step),
                                 carried);
  OpBuilder::InsertionGuard guard(p.b);
  p.b.setInsertionPointToStart(loop.getBody());
  PoolReduction next =
      body(loop.getInductionVar(), unpack(loop.getRegionIterArgs()));
  carried[0] = next.value;
  if (next.index)
    carried[1] = next.index;
  scf::YieldOp::create(p.b, p.loc, carried);
  return unpack(loop.getResults());
}

PoolReduction tessera::reduceRangeUnrolled(
    PoolBuilder &p, std::array<Value, 2> range, PoolReduction partial,
    function_ref<PoolReduction(Value, PoolReduction)> body) {
  constexpr int64_t kUnroll = 8;
  auto [low, high] = range;
  // An empty range may have high < low.
  Value count = p.max(p.sub(high, low), p.index(0));
  Value rest = arith::RemUIOp::create(p.b, p.loc, count, p.index(kUnroll));
  Value middle = p.add(low, p.sub(count, rest));
  partial = reduceRange(p, {low, middle}, kUnroll, partial,
                        [&](Value first, PoolReduction partial) {
                          for (int64_t i = 0; i < kUnroll; ++i)
                            partial = body(p.add(first, i), partial);
                          return partial;
                        });
  return reduceRange(p, {middle, high}, 1, partial, body);
}

//===----------------------------------------------------------------------===//
// PoolTensor
//===----------------------------------------------------------------------===//

PoolTensor::PoolTensor(Value memref, dnn::Layout layout,
                       const PoolTensorShape &shape, int64_t vector)
    : memref(memref), type(cast<MemRefType>(memref.getType())), shape(shape),
      vector(vector) {
  order.push_back(kBatch);
  if (layout == dnn::Layout::NCHW)
    order.push_back(kChannel);
  if (type.getRank() == 5)
    order.push_back(kDepth);
  order.append({kRow, kColumn});
  if (layout == dnn::Layout::NHWC)
    order.push_back(kChannel);
}

Type PoolTensor::getValueType(Type element) const {
  return vector == 1 ? element : VectorType::get(vector, element);
}

int64_t PoolTensor::getColumnVector(int64_t count) const {
  if (vector > 1)
    return 1;
  return std::gcd(shape.getVectorLength(kColumn), count);
}

bool PoolTensor::movesVectors() const {
  return vector > 1 && shape.areNeighbours(kChannel, vector);
}

SmallVector<Value> PoolTensor::getCoordinates(const PoolCoordinates &at) const {
  SmallVector<Value> coordinates;
  for (PoolDim dim : order)
    coordinates.push_back(at[dim]);
  return coordinates;
}

DenseI64ArrayAttr PoolTensor::getInside(PoolBuilder &p,
                                        ArrayRef<PoolDim> inside) const {
  SmallVector<int64_t> indices;
  for (auto [index, dim] : llvm::enumerate(order))
    if (llvm::is_contained(inside, dim))
      indices.push_back(index);
  return indices.empty() ? nullptr : p.b.getDenseI64ArrayAttr(indices);
}

PoolTensor::Loaded PoolTensor::load(PoolBuilder &p, const PoolCoordinates &at,
                                    ArrayRef<PoolDim> inside) const {
  DenseI64ArrayAttr known = getInside(p, inside);
  auto loadAt = [&](const PoolCoordinates &element, Type what) {
    return dnn::PointLoadOp::create(p.b, p.loc, what, p.b.getI1Type(), memref,
                                    getCoordinates(element), known);
  };
  if (vector == 1 || movesVectors()) {
    auto load = loadAt(at, getValueType(getElementType()));
    return {load.getValue(), load.getValid()};
  }
  SmallVector<Value> elements;
  Value valid;
  for (int64_t i = 0; i < vector; ++i) {
    PoolCoordinates element = at;
    element[kChannel] = p.add(at[kChannel], i);
    auto load = loadAt(element, getElementType());
    elements.push_back(load.getValue());
    valid = load.getValid(); // All channels exist, so this is the pixel's bit.
  }
  return {vector::FromElementsOp::create(
              p.b, p.loc, cast<VectorType>(getValueType(getElementType())),
              elements),
          valid};
}

void PoolTensor::store(PoolBuilder &p, Value value,
                       const PoolCoordinates &at) const {
  if (vector == 1 || movesVectors()) {
    dnn::PointStoreOp::create(p.b, p.loc, value, memref, getCoordinates(at),
                              DenseI64ArrayAttr());
    return;
  }
  for (int64_t i = 0; i < vector; ++i) {
    PoolCoordinates element = at;
    element[kChannel] = p.add(at[kChannel], i);
    dnn::PointStoreOp::create(
        p.b, p.loc, vector::ExtractOp::create(p.b, p.loc, value, i), memref,
        getCoordinates(element), DenseI64ArrayAttr());
  }
}

SmallVector<PoolTensor::Loaded>
PoolTensor::loadColumns(PoolBuilder &p, const PoolCoordinates &at,
                        int64_t count) const {
  if (count == 1)
    return {load(p, at)};
  auto load = dnn::PointLoadOp::create(
      p.b, p.loc, VectorType::get(count, getElementType()), p.b.getI1Type(),
      memref, getCoordinates(at), DenseI64ArrayAttr());
  SmallVector<Loaded> pixels;
  for (int64_t i = 0; i < count; ++i)
    pixels.push_back({vector::ExtractOp::create(p.b, p.loc, load.getValue(), i),
                      load.getValid()});
  return pixels;
}

void PoolTensor::storeColumns(PoolBuilder &p, ValueRange values,
                              const PoolCoordinates &at) const {
  if (values.size() == 1)
    return store(p, values[0], at);
  auto count = static_cast<int64_t>(values.size());
  Value all = vector::FromElementsOp::create(
      p.b, p.loc, VectorType::get(count, getElementType()), values);
  dnn::PointStoreOp::create(p.b, p.loc, all, memref, getCoordinates(at),
                            DenseI64ArrayAttr());
}

void PoolTensor::storeRow(PoolBuilder &p, ArrayRef<Value> values,
                          const PoolCoordinates &at) const {
  auto count = static_cast<int64_t>(values.size());
  int64_t width = getColumnVector(count);
  for (int64_t first = 0; first < count; first += width) {
    PoolCoordinates column = at;
    column[kColumn] = p.add(at[kColumn], first);
    storeColumns(p, values.slice(first, width), column);
  }
}

PoolTensor::Loaded PoolPixels::read(PoolBuilder &p,
                                    std::array<int64_t, 3> offset) {
  auto [depth, row, column] = offset;
  int64_t first = llvm::divideFloorSigned(column, columns) * columns;
  SmallVector<PoolTensor::Loaded> &pixels = loaded[{depth, row, first}];
  if (pixels.empty()) {
    PoolCoordinates at = origin;
    at[kDepth] = p.add(at[kDepth], depth);
    at[kRow] = p.add(at[kRow], row);
    at[kColumn] = p.add(at[kColumn], first);
    pixels = tensor.loadColumns(p, at, columns);
  }
  return pixels[column - first];
}

//===----------------------------------------------------------------------===//
// PoolMath
//===----------------------------------------------------------------------===//

Type PoolMath::getComputeType() const {
  bool staysNarrow =
      !inF32 && geometry.isForward && geometry.isMax() && element.isF16();
  return tensor.getValueType(
      staysNarrow ? element : Float32Type::get(element.getContext()));
}

Type PoolMath::getIndexType() const {
  // Images of unknown size have fewer than 2^31 (ProblemFamily.cpp).
  double pixels = 1;
  for (int64_t size : geometry.dims.in)
    pixels *= ShapedType::isDynamic(size) ? 1 : static_cast<double>(size);
  bool isWide = geometry.indices.elementBytes == 8 &&
                (!geometry.isForward ||
                 std::max(pixels, geometry.getWindowSize()) > 0x1p32);
  return tensor.getValueType(
      IntegerType::get(element.getContext(), isWide ? 64 : 32));
}

Value PoolMath::getStart(PoolBuilder &p) const {
  if (!geometry.isMax())
    return p.splat(getComputeType(), 0.0);
  // The lowest value of the element type, or infinity, is exact in the compute
  // type.
  auto semantics = &cast<FloatType>(element).getFloatSemantics();
  const APFloat lowest =
      geometry.choosesNan()
          ? APFloat::getInf(*semantics, /*Negative=*/true)
          : APFloat::getLargest(*semantics, /*Negative=*/true);
  return p.splat(getComputeType(), lowest.convertToDouble());
}

Value PoolMath::extend(PoolBuilder &p, PoolTensor::Loaded loaded,
                       bool mayBeOutside) const {
  Value value = loaded.value;
  if (getElementTypeOrSelf(getComputeType()) != element)
    value = arith::ExtFOp::create(p.b, p.loc, getComputeType(), value);
  if (geometry.isMax() && geometry.isForward && mayBeOutside)
    value =
        arith::SelectOp::create(p.b, p.loc, loaded.valid, value, getStart(p));
  return value;
}

Value PoolMath::narrow(PoolBuilder &p, Value value) const {
  if (getElementTypeOrSelf(value.getType()) == element)
    return value;
  return arith::TruncFOp::create(p.b, p.loc, tensor.getValueType(element),
                                 value);
}

Value PoolMath::resizeIndices(PoolBuilder &p, Value indices, Type to) const {
  Type type = tensor.getValueType(to);
  unsigned fromBits =
      getElementTypeOrSelf(indices.getType()).getIntOrFloatBitWidth();
  unsigned toBits = to.getIntOrFloatBitWidth();
  if (fromBits == toBits)
    return indices;
  if (fromBits < toBits)
    return arith::ExtUIOp::create(p.b, p.loc, type, indices);
  return arith::TruncIOp::create(p.b, p.loc, type, indices);
}

Value PoolMath::broadcast(PoolBuilder &p, Value scalar) const {
  Type type = tensor.getValueType(scalar.getType());
  if (!isa<VectorType>(type))
    return scalar;
  return vector::BroadcastOp::create(p.b, p.loc, type, scalar);
}

Value PoolMath::getReciprocal(PoolBuilder &p,
                              const std::array<Value, 3> &output) const {
  Type f32 = p.b.getF32Type();
  if (!geometry.countsElements())
    return p.splat(tensor.getValueType(f32), 1.0 / geometry.getWindowSize());
  Value count;
  for (int dim = 0; dim < 3; ++dim) {
    auto [low, high] = getPositionsInside(p, geometry, dim, output[dim]);
    // An empty window counts as one element.
    Value along = p.max(p.sub(high, low), p.index(1));
    count = count ? arith::MulIOp::create(p.b, p.loc, count, along).getResult()
                  : along;
  }
  Value number = arith::SIToFPOp::create(
      p.b, p.loc, f32,
      arith::IndexCastOp::create(p.b, p.loc, p.b.getI32Type(), count));
  // The approximate reciprocal is one instruction. Its error is at most one
  // unit in the last place, as is that of the product with it.
  Value reciprocal = arith::DivFOp::create(
      p.b, p.loc, p.splat(f32, 1.0), number,
      arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
  return broadcast(p, reciprocal);
}

Value PoolMath::getLinearIndex(PoolBuilder &p, const std::array<Value, 3> &at,
                               const std::array<int64_t, 3> &sizes) const {
  Type type = getElementTypeOrSelf(getIndexType());
  auto toNumber = [&](Value index) -> Value {
    return arith::IndexCastOp::create(p.b, p.loc, type, index);
  };
  Value number = toNumber(at[0]);
  for (int dim = 1; dim < 3; ++dim) {
    Value size = ShapedType::isDynamic(sizes[dim])
                     ? toNumber(p.getInputSize(dim, sizes[dim]))
                     : p.splat(type, sizes[dim]);
    Value scaled = arith::MulIOp::create(p.b, p.loc, number, size);
    number = arith::AddIOp::create(p.b, p.loc, scaled, toNumber(at[dim]));
  }
  return number;
}

Value PoolMath::getDistance(PoolBuilder &p,
                            const std::array<int64_t, 3> &offset) const {
  const std::array<int64_t, 3> &sizes = geometry.dims.in;
  if (!ShapedType::isDynamicShape(sizes))
    return p.splat(getElementTypeOrSelf(getIndexType()),
                   tessera::getLinearIndex(offset, sizes));
  return getLinearIndex(
      p, {p.index(offset[0]), p.index(offset[1]), p.index(offset[2])}, sizes);
}
