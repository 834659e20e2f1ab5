//===- PointBuilder.cpp - Writes the body of a point program --------------===//

#include "compiler/Algorithms/Common/PointBuilder.h"

#include "compiler/Target/Saturate.h"
#include "dialect/IR/PointHints.h"
#include "dialect/IR/TensorMemory.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

int64_t tessera::getAccessWidth(MemRefType type, int64_t dim, int64_t limit) {
  if (!type.isStrided() || dnn::getVectorDim(type) != dim ||
      type.isDynamicDim(dim))
    return 1;
  SmallVector<int64_t> distances = dnn::getKnownStrides(type);
  distances[dim] = type.getStridesAndOffset().second;
  auto divides = [&](int64_t width) {
    return limit % width == 0 && type.getDimSize(dim) % width == 0 &&
           llvm::all_of(distances, [&](int64_t distance) {
             return distance % width == 0;
           });
  };
  int64_t width = 1;
  while (divides(2 * width))
    width *= 2;
  return width;
}

ValueRange PointBuilder::forEachPoint(ArrayRef<int64_t> sizes,
                                      int64_t threads) {
  return forEachPointOf(SmallVector<Size>(sizes), threads);
}

ValueRange PointBuilder::forEachPointOf(ArrayRef<Size> sizes, int64_t threads) {
  SmallVector<int64_t> numbers;
  Values open;
  for (const Size &size : sizes) {
    numbers.push_back(size.number);
    if (!size.isKnown())
      open.push_back(size.value);
  }
  auto points = dnn::ForEachPointOp::create(b, loc, open, numbers, threads);
  SmallVector<Type> types(sizes.size(), b.getIndexType());
  SmallVector<Location> locations(sizes.size(), loc);
  return b.createBlock(&points.getBody(), {}, types, locations)->getArguments();
}

//===----------------------------------------------------------------------===//
// Indices and control
//===----------------------------------------------------------------------===//

Size PointBuilder::getSize(Value memory, int64_t dim) {
  auto type = cast<MemRefType>(memory.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  return Size(memref::DimOp::create(b, loc, memory, dim).getResult());
}

Size PointBuilder::multiply(const Size &lhs, const Size &rhs) {
  if (lhs.isKnown() && rhs.isKnown())
    return lhs.number * rhs.number;
  if (lhs.isKnown())
    return Size(mul(rhs.value, lhs));
  return Size(mul(lhs.value, rhs));
}

Size PointBuilder::divideUp(const Size &size, int64_t by) {
  if (size.isKnown())
    return llvm::divideCeilSigned(size.number, by);
  if (by == 1)
    return size;
  return Size(arith::CeilDivUIOp::create(b, loc, size.value, index(by)));
}

Size PointBuilder::add(const Size &lhs, const Size &rhs) {
  if (lhs.isKnown() && rhs.isKnown())
    return lhs.number + rhs.number;
  return Size(add(index(lhs), index(rhs)));
}

Value PointBuilder::index(const Size &value) {
  if (!value.isKnown())
    return value.value;
  return arith::ConstantIndexOp::create(b, loc, value.number);
}

Value PointBuilder::add(Value lhs, Value rhs) {
  if (matchPattern(lhs, m_Zero()))
    return rhs;
  if (matchPattern(rhs, m_Zero()))
    return lhs;
  return arith::AddIOp::create(b, loc, lhs, rhs);
}

Value PointBuilder::add(Value lhs, int64_t rhs) {
  return rhs == 0 ? lhs : add(lhs, index(rhs));
}

Value PointBuilder::mul(Value lhs, const Size &rhs) {
  if (rhs.number == 1 || matchPattern(lhs, m_Zero()))
    return lhs;
  return arith::MulIOp::create(b, loc, lhs, index(rhs));
}

Value PointBuilder::div(Value value, const Size &by) {
  if (by.number == 1)
    return value;
  return arith::DivUIOp::create(b, loc, value, index(by));
}

Value PointBuilder::rem(Value value, const Size &by) {
  if (by.number == 1)
    return index(0);
  return arith::RemUIOp::create(b, loc, value, index(by));
}

PointBuilder::Values
PointBuilder::loop(const Size &count, ValueRange init,
                   llvm::function_ref<Values(Value, ValueRange)> body) {
  if (count.number == 1)
    return body(index(0), init);
  auto loop =
      scf::ForOp::create(b, loc, index(0), index(count), index(1), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b, loc, next);
  return Values(loop.getResults());
}

PointBuilder::Values PointBuilder::branch(Value condition, ValueRange otherwise,
                                          llvm::function_ref<Values()> body) {
  auto branch = scf::IfOp::create(b, loc, otherwise.getTypes(), condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Values values = body();
  scf::YieldOp::create(b, loc, values);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return Values(branch.getResults());
}

PointBuilder::Values PointBuilder::splitPosition(ArrayRef<Size> sizes,
                                                 Value position) {
  Values point(sizes.size());
  for (size_t d = sizes.size() - 1; d > 0; --d) {
    point[d] = rem(position, sizes[d]);
    position = div(position, sizes[d]);
  }
  point[0] = position;
  return point;
}

void PointBuilder::shareGroups(Value group, const std::array<Size, 2> &counts,
                               llvm::function_ref<void(Value)> first,
                               llvm::function_ref<void(Value)> second) {
  auto isBefore = [&](arith::CmpIPredicate predicate) {
    return arith::CmpIOp::create(b, loc, predicate, group, index(counts[0]));
  };
  branch(isBefore(arith::CmpIPredicate::ult), {}, [&] {
    first(group);
    return Values();
  });
  branch(isBefore(arith::CmpIPredicate::uge), {}, [&] {
    const Size all = add(counts[0], counts[1]);
    Value back = mul(group, -1);
    second(all.isKnown() ? add(back, all.number - 1)
                         : add(add(back, all.value), -1));
    return Values();
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Type PointBuilder::getBlockType(Type element, int64_t count) {
  return count == 1 ? element : VectorType::get(count, element);
}

int64_t PointBuilder::getBlockSize(Value block) {
  auto vector = dyn_cast<VectorType>(block.getType());
  return vector ? vector.getNumElements() : 1;
}

Value PointBuilder::getElement(Value block, int64_t i) {
  if (getBlockSize(block) == 1)
    return block;
  if (auto made = block.getDefiningOp<vector::FromElementsOp>())
    return made.getElements()[i];
  return vector::ExtractOp::create(b, loc, block, i);
}

Value PointBuilder::makeBlock(ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements.front();
  Type type = getBlockType(elements.front().getType(), elements.size());
  return vector::FromElementsOp::create(b, loc, type, elements);
}

Value PointBuilder::getSlice(Value block, int64_t first, int64_t count) {
  if (count == getBlockSize(block))
    return block;
  if (count == 1)
    return getElement(block, first);
  SmallVector<int64_t> mask(count);
  std::iota(mask.begin(), mask.end(), first);
  return vector::ShuffleOp::create(b, loc, block, block, mask);
}

Value PointBuilder::splat(Value scalar, int64_t count) {
  if (count == 1)
    return scalar;
  return vector::BroadcastOp::create(
      b, loc, getBlockType(scalar.getType(), count), scalar);
}

Value PointBuilder::zero(Type element, int64_t count) {
  return arith::ConstantOp::create(b, loc,
                                   b.getZeroAttr(getBlockType(element, count)));
}

Value PointBuilder::sumElements(Value block) {
  for (int64_t half = getBlockSize(block) / 2; half >= 1; half /= 2)
    block = addBlocks(getSlice(block, 0, half), getSlice(block, half, half));
  return block;
}

Value PointBuilder::loadBlock(Value memory, int64_t dim, int64_t count,
                              ValueRange coordinates) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t width = getAccessWidth(type, dim, count);
  Type piece = getBlockType(type.getElementType(), width);
  Values elements;
  Values indices(coordinates);
  for (int64_t first = 0; first < count; first += width) {
    indices[dim] = add(coordinates[dim], first);
    auto load = dnn::PointLoadOp::create(b, loc, piece, b.getI1Type(), memory,
                                         indices, DenseI64ArrayAttr());
    if (isStreamed)
      load->setAttr(dnn::kStreamedAttrName, b.getUnitAttr());
    if (width == count)
      return load.getValue();
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(getElement(load.getValue(), i));
  }
  return makeBlock(elements);
}

void PointBuilder::storeBlock(Value block, Value memory, int64_t dim,
                              ValueRange coordinates) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t count = getBlockSize(block);
  int64_t width = getAccessWidth(type, dim, count);
  Values indices(coordinates);
  for (int64_t first = 0; first < count; first += width) {
    indices[dim] = add(coordinates[dim], first);
    dnn::PointStoreOp::create(b, loc, getSlice(block, first, width), memory,
                              indices, DenseI64ArrayAttr());
  }
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value PointBuilder::makeShared(Type element, ArrayRef<int64_t> shape) {
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  return memref::AllocaOp::create(b, loc, type);
}

Value PointBuilder::loadShared(Value shared, int64_t count,
                               ValueRange indices) {
  auto type = cast<MemRefType>(shared.getType());
  if (count == 1)
    return memref::LoadOp::create(b, loc, shared, indices);
  return vector::LoadOp::create(
      b, loc, VectorType::get(count, type.getElementType()), shared, indices);
}

void PointBuilder::storeShared(Value block, Value shared, ValueRange indices) {
  if (isa<VectorType>(block.getType()))
    vector::StoreOp::create(b, loc, block, shared, indices);
  else
    memref::StoreOp::create(b, loc, block, shared, indices);
}

void PointBuilder::storeWord(Value block, Value shared, ValueRange indices) {
  memref::StoreOp::create(b, loc, block, shared, indices);
}

void PointBuilder::barrier() { gpu::BarrierOp::create(b, loc); }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value PointBuilder::convert(Value block, Type element) {
  Type from = getElementTypeOrSelf(block);
  if (from == element)
    return block;
  Type type = getBlockType(element, getBlockSize(block));
  if (element.isInteger(8))
    return saturateToInt8(b, loc, block);
  if (isa<IntegerType>(from) && isa<FloatType>(element))
    return arith::SIToFPOp::create(b, loc, type, block);
  if (isa<IntegerType>(from))
    return arith::ExtSIOp::create(b, loc, type, block);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, block);
  return arith::TruncFOp::create(b, loc, type, block);
}

Value PointBuilder::addBlocks(Value lhs, Value rhs) {
  if (isa<IntegerType>(getElementTypeOrSelf(lhs)))
    return arith::AddIOp::create(b, loc, lhs, rhs);
  return arith::AddFOp::create(b, loc, lhs, rhs);
}

Value PointBuilder::mulAdd(Value lhs, Value rhs, Value acc) {
  if (isa<IntegerType>(getElementTypeOrSelf(lhs)))
    return addBlocks(arith::MulIOp::create(b, loc, lhs, rhs), acc);
  return math::FmaOp::create(b, loc, lhs, rhs, acc);
}

void PointBuilder::mulAddAll(ArrayRef<std::pair<Value *, Value>> accumulators,
                             Value operand) {
  if (!isElementwise) {
    for (auto &[acc, block] : accumulators)
      *acc = mulAdd(block, operand, *acc);
    return;
  }
  SmallVector<Values> next(accumulators.size());
  for (int64_t lane = 0; lane < getBlockSize(operand); ++lane)
    for (auto [i, pair] : llvm::enumerate(accumulators))
      next[i].push_back(mulAdd(getElement(pair.second, lane),
                               getElement(operand, lane),
                               getElement(*pair.first, lane)));
  for (auto [i, pair] : llvm::enumerate(accumulators))
    *pair.first = makeBlock(next[i]);
}

//===----------------------------------------------------------------------===//
// Products of a warp
//===----------------------------------------------------------------------===//

Value PointBuilder::zeroAccumulators() {
  return arith::ConstantOp::create(
      b, loc, b.getZeroAttr(VectorType::get({2, 2}, b.getF32Type())));
}

/// Makes the blocks the rows of one vector.
static Value makeFragment(PointBuilder &p, ValueRange blocks) {
  auto row = cast<VectorType>(blocks.front().getType());
  auto type = VectorType::get({static_cast<int64_t>(blocks.size()), 2},
                              row.getElementType());
  Value fragment = arith::ConstantOp::create(p.b, p.loc, p.b.getZeroAttr(type));
  for (auto [i, block] : llvm::enumerate(blocks))
    fragment = vector::InsertOp::create(p.b, p.loc, block, fragment, i);
  return fragment;
}

PointBuilder::Values PointBuilder::loadMatrices(Value shared,
                                                ValueRange indices,
                                                bool isTransposed) {
  Type element =
      getElementTypeOrSelf(cast<MemRefType>(shared.getType()).getElementType());
  Value matrices = dnn::LoadMatricesOp::create(
      b, loc, VectorType::get({4, 2}, element), isTransposed, shared, indices);
  Values pairs;
  for (int64_t i = 0; i < 4; ++i)
    pairs.push_back(vector::ExtractOp::create(b, loc, matrices, i));
  return pairs;
}

void PointBuilder::storeMatrices(ArrayRef<Value> pairs, Value shared,
                                 ValueRange indices, bool isTransposed) {
  dnn::StoreMatricesOp::create(b, loc, isTransposed, makeFragment(*this, pairs),
                               shared, indices);
}

static Value shuffle(PointBuilder &p, Value block, int64_t distance,
                     gpu::ShuffleMode mode) {
  constexpr int64_t kLanes = 32;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        p.b, p.loc, p.b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  PointBuilder::Values elements;
  for (int64_t i = 0; i < PointBuilder::getBlockSize(block); ++i)
    elements.push_back(
        gpu::ShuffleOp::create(p.b, p.loc, p.getElement(block, i),
                               number(distance), number(kLanes), mode)
            .getShuffleResult());
  return p.makeBlock(elements);
}

Value PointBuilder::getFromLane(Value block, int64_t distance) {
  return shuffle(*this, block, distance, gpu::ShuffleMode::DOWN);
}

Value PointBuilder::exchange(Value block, int64_t distance) {
  return shuffle(*this, block, distance, gpu::ShuffleMode::XOR);
}

Value PointBuilder::multiplyMatrices(ArrayRef<Value> operandA,
                                     ValueRange operandB, Value accumulators) {
  return nvgpu::MmaSyncOp::create(
      b, loc, makeFragment(*this, operandA), makeFragment(*this, operandB),
      accumulators,
      ArrayRef<int64_t>{16, 8, 8 * static_cast<int64_t>(operandB.size())});
}

Value PointBuilder::makeSums(ArrayRef<Value> rows) {
  return makeFragment(*this, rows);
}

Value PointBuilder::getRow(Value accumulators, int64_t i) {
  return vector::ExtractOp::create(b, loc, accumulators, i);
}
