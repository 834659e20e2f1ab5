//===- RowWiseProgram.cpp - Building blocks of row-wise programs ----------===//

#include "compiler/Algorithms/RowWise/RowWiseProgram.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>

using namespace mlir;
using namespace tessera;

RowWiseProgram::RowWiseProgram(PointBuilder &p, dnn::RowWiseOp op,
                               ValueRange arguments, int64_t vector,
                               ArrayRef<int> shared)
    : p(p), op(op), g(op), vector(vector), rowsAlong(g.getRank(), 1),
      arguments(arguments) {
  for (auto [dim, rows] : llvm::zip(g.sharedDims, shared))
    rowsAlong[dim] = rows;
}

int64_t RowWiseProgram::getSharedRows() const {
  int64_t rows = 1;
  for (int64_t along : rowsAlong)
    rows *= along;
  return rows;
}

/// The offset, along each dimension, of row `row` of a thread from its first.
SmallVector<int64_t> RowWiseProgram::getRowOffset(int64_t row) const {
  SmallVector<int64_t> offset(g.getRank());
  for (int dim = g.getRank(); dim-- > 0; row /= rowsAlong[dim])
    offset[dim] = row % rowsAlong[dim];
  return offset;
}

Value RowWiseProgram::getArgument(Value operand) const {
  return arguments[cast<BlockArgument>(operand).getArgNumber()];
}

/// A scalar is an argument or, if the types differ, its conversion, which is
/// cloned.
Value RowWiseProgram::getScalar(Value scalar) {
  Operation *conversion = scalar.getDefiningOp();
  if (!conversion)
    return getArgument(scalar);
  IRMapping mapping;
  mapping.map(conversion->getOperand(0),
              getArgument(conversion->getOperand(0)));
  return p.b.clone(*conversion, mapping)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

/// The vector dimension is the innermost one of its list, so that neighbouring
/// threads have neighbouring blocks.
SmallVector<int> RowWiseProgram::getDims(bool ofRows) const {
  SmallVector<int> dims;
  for (int dim = 0; dim < g.getRank(); ++dim)
    if (g.reduced[dim] != ofRows && dim != g.vectorDim)
      dims.push_back(dim);
  if (g.isVectorInRow() != ofRows)
    dims.push_back(g.vectorDim);
  return dims;
}

SmallVector<Size> RowWiseProgram::getSizes(ArrayRef<int> dims) const {
  return llvm::map_to_vector(dims, [&](int dim) {
    const Size length = getLength(dim);
    return length.isKnown() ? Size(length.number / getBlockOfRows(dim))
                            : length;
  });
}

/// The elements of a thread's block along a dimension.
int64_t RowWiseProgram::getBlockOfRows(int dim) const {
  return dim == g.vectorDim ? vector : rowsAlong[dim];
}

/// A tensor that is not broadcast along the dimension tells.
Size RowWiseProgram::getLength(int dim) const {
  if (!ShapedType::isDynamic(g.lengths[dim]))
    return g.lengths[dim];
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType());
        type && type.isDynamicDim(dim))
      return p.getSize(getArgument(operand), dim);
  llvm_unreachable("a result has every dimension of the rows");
}

Size RowWiseProgram::getRowBlocks() const {
  Size rows = 1;
  for (const Size &size : getSizes(getDims(/*ofRows=*/true)))
    rows = p.multiply(rows, size);
  return rows;
}

PointBuilder::Values RowWiseProgram::getCoordinates(Value number,
                                                    ArrayRef<int> dims) {
  SmallVector<Size> sizes = getSizes(dims);
  PointBuilder::Values steps(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    if (i == 0) {
      steps[i] = number;
      break;
    }
    Value size = p.index(sizes[i]);
    steps[i] = arith::RemUIOp::create(p.b, p.loc, number, size);
    number = arith::DivUIOp::create(p.b, p.loc, number, size);
  }
  return steps;
}

void RowWiseProgram::enterRow(Value number, Value valid) {
  if (valid) { // Loads are unchecked; a row beyond the last one loads the last.
    const Size rows = getRowBlocks();
    Value last = rows.isKnown() ? p.index(rows.number - 1)
                                : arith::SubIOp::create(p.b, p.loc, rows.value,
                                                        p.index(1));
    number = arith::SelectOp::create(p.b, p.loc, valid, number, last);
  }
  enterRowAt(getCoordinates(number, getDims(/*ofRows=*/true)));
  rowValid = valid;
}

void RowWiseProgram::enterRowAt(ValueRange steps) {
  rowCoordinates.assign(g.getRank(), p.index(0));
  for (auto [dim, step] : llvm::zip_equal(getDims(/*ofRows=*/true), steps))
    rowCoordinates[dim] = p.mul(step, getBlockOfRows(dim));
  rowValid = nullptr;
  loadRowInputs();
}

void RowWiseProgram::enterRowOf(const RowWiseProgram &program, Value number) {
  rowCoordinates = program.rowCoordinates;
  for (int dim = g.getRank(); dim-- > 0;) {
    const int64_t rows = program.rowsAlong[dim];
    if (rows == 1)
      continue;
    Value offset = arith::RemUIOp::create(p.b, p.loc, number, p.index(rows));
    number = arith::DivUIOp::create(p.b, p.loc, number, p.index(rows));
    rowCoordinates[dim] =
        arith::AddIOp::create(p.b, p.loc, rowCoordinates[dim], offset);
  }
  rowValid = program.rowValid;
  loadRowInputs();
}

RowWiseBlock RowWiseProgram::getBlock(Value number, bool isKnown) {
  RowWiseBlock block =
      getBlockAt(getCoordinates(number, getDims(/*ofRows=*/false)));
  if (!isKnown)
    block.valid =
        arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult, number,
                              p.index(g.getBlocksOfRow(vector)));
  return block;
}

RowWiseBlock RowWiseProgram::getBlockAt(ValueRange steps) {
  RowWiseBlock block;
  block.coordinates = rowCoordinates;
  for (auto [dim, step] : llvm::zip_equal(getDims(/*ofRows=*/false), steps))
    block.coordinates[dim] = p.mul(step, getBlockOfRows(dim));
  block.inputs.resize(op.getInputs().size());
  return block;
}

/// The coordinate of a lane of a block.
Value RowWiseProgram::getCoordinate(const RowWiseBlock &block, int dim,
                                    int64_t lane) {
  return p.add(block.coordinates[dim],
               dim == g.vectorDim ? lane % vector
                                  : getRowOffset(getRowOfLane(lane))[dim]);
}

Value RowWiseProgram::getIndexInRow(const RowWiseBlock &block, int64_t lane) {
  Value index = p.index(0);
  for (int dim = 0; dim < g.getRank(); ++dim)
    if (g.reduced[dim])
      index =
          p.add(p.mul(index, g.lengths[dim]), getCoordinate(block, dim, lane));
  return arith::IndexCastOp::create(p.b, p.loc, p.b.getI32Type(), index);
}

/// Computed in i64, since the kernel's index type has 32 bits.
Value RowWiseProgram::getElementIndex(const RowWiseBlock &block, int64_t lane) {
  Type i64 = p.b.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(p.b, p.loc, value, 64);
  };
  Value number = constant(0);
  for (int dim = 0; dim < g.getRank(); ++dim) {
    Value wide = arith::IndexCastUIOp::create(p.b, p.loc, i64,
                                              getCoordinate(block, dim, lane));
    number =
        arith::MulIOp::create(p.b, p.loc, number, constant(g.lengths[dim]));
    number = arith::AddIOp::create(p.b, p.loc, number, wide);
  }
  return number;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Maps coordinates of the space to those of a tensor, which are 0 in
/// dimensions that are broadcast.
static PointBuilder::Values restrict(PointBuilder &p, MemRefType type,
                                     ValueRange coordinates) {
  PointBuilder::Values own(coordinates);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) == 1)
      own[dim] = p.index(0);
  return own;
}

/// The dimensions that need no bounds check: all but `checked` and those that
/// are broadcast.
static DenseI64ArrayAttr getInside(PointBuilder &p, MemRefType type,
                                   ArrayRef<int> checked) {
  SmallVector<int64_t> inside;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(checked, dim) || type.getDimSize(dim) == 1)
      inside.push_back(dim);
  return p.b.getDenseI64ArrayAttr(inside);
}

/// Converts a loaded block to the type that the regions take.
static Value widen(PointBuilder &p, Value block, Type type) {
  return p.convert(block, type);
}

static Value narrow(PointBuilder &p, Value block, Type element) {
  Type from = getElementTypeOrSelf(block);
  if (from == element || isa<FloatType>(from))
    return p.convert(block, element);
  Type type = PointBuilder::getBlockType(element, p.getBlockSize(block));
  return arith::TruncIOp::create(p.b, p.loc, type, block);
}

/// The elements of all rows of the thread. Rows that share a tensor share its
/// loads.
Lanes RowWiseProgram::loadLanes(Value tensor, ValueRange coordinates,
                                ArrayRef<int> checked) {
  const int64_t rows = getSharedRows();
  if (rows == 1)
    return loadRow(tensor, coordinates, checked);
  auto type = cast<MemRefType>(tensor.getType());
  const bool isBlock = !op.isOnePerRow(type);
  Lanes all;
  std::map<SmallVector<int64_t>, Lanes> loaded;
  for (int64_t row = 0; row < rows; ++row) {
    SmallVector<int64_t> offset = getRowOffset(row);
    PointBuilder::Values at(coordinates);
    for (int dim = 0; dim < g.getRank(); ++dim) {
      if (type.getDimSize(dim) == 1)
        offset[dim] = 0;
      at[dim] = p.add(at[dim], offset[dim]);
    }
    Lanes &own = loaded[offset];
    if (own.empty())
      own = loadRow(tensor, at, checked);
    if (isBlock && own.size() == 1)
      own.resize(vector, own.front());
    all.append(own);
  }
  return all;
}

Lanes RowWiseProgram::loadRow(Value tensor, ValueRange coordinates,
                              ArrayRef<int> checked) {
  auto type = cast<MemRefType>(tensor.getType());
  const int64_t count = type.getDimSize(g.vectorDim) == 1 ? 1 : vector;
  const int64_t width = getAccessWidth(type, g.vectorDim, count);
  PointBuilder::Values indices = restrict(p, type, coordinates);
  const Value first = indices[g.vectorDim];
  Lanes lanes;
  for (int64_t done = 0; done < count; done += width) {
    indices[g.vectorDim] = p.add(first, done);
    auto load = dnn::PointLoadOp::create(
        p.b, p.loc, p.getBlockType(type.getElementType(), width),
        p.b.getI1Type(), getArgument(tensor), indices,
        getInside(p, type, checked));
    Value block = widen(p, load.getValue(), op.getWidened(type));
    for (int64_t i = 0; i < width; ++i)
      lanes.push_back(p.getElement(block, i));
  }
  return lanes;
}

void RowWiseProgram::storeLanes(const Lanes &lanes, Value tensor,
                                ValueRange coordinates, ArrayRef<int> checked) {
  auto type = cast<MemRefType>(tensor.getType());
  const auto count = static_cast<int64_t>(lanes.size());
  assert(getSharedRows() == 1 && "another thread stores for each row");
  const int64_t width = getAccessWidth(type, g.vectorDim, count);
  PointBuilder::Values indices = restrict(p, type, coordinates);
  const Value first = indices[g.vectorDim];
  for (int64_t done = 0; done < count; done += width) {
    indices[g.vectorDim] = p.add(first, done);
    Value block = p.makeBlock(ArrayRef<Value>(lanes).slice(done, width));
    dnn::PointStoreOp::create(
        p.b, p.loc, narrow(p, block, type.getElementType()),
        getArgument(tensor), indices, getInside(p, type, checked));
  }
}

/// Whether a reduction reads the input.
bool RowWiseProgram::isReduced(size_t input) {
  return llvm::any_of(op.getReduces(), [&](Region &region) {
    return !region.getArgument(input).use_empty();
  });
}

/// Inputs with one element a row are loaded once, before any loop over blocks.
/// A thread that has several rows does not finish them.
void RowWiseProgram::loadRowInputs() {
  rowInputs.assign(op.getInputs().size(), {});
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (op.isOnePerRow(cast<MemRefType>(input.getType())) &&
        (getSharedRows() == 1 || isReduced(i)))
      rowInputs[i] = loadLanes(input, rowCoordinates, {});
}

void RowWiseProgram::load(RowWiseBlock &block, Region &region) {
  SmallVector<int> checked;
  if (block.valid) // Beyond the last block, the outermost one is out of bounds.
    checked.push_back(getDims(/*ofRows=*/false).front());
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (rowInputs[i].empty() && block.inputs[i].empty() &&
        !region.getArgument(i).use_empty())
      block.inputs[i] = loadLanes(input, block.coordinates, checked);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

SmallVector<Lanes> RowWiseProgram::evaluate(Region &region,
                                            const RowWiseBlock *block) {
  struct Taken {
    const Lanes *lanes;
    bool isOfRow;
  };
  SmallVector<Taken> taken;
  for (size_t i = 0; i < rowInputs.size(); ++i)
    if (!rowInputs[i].empty())
      taken.push_back({&rowInputs[i], true});
    else if (block)
      taken.push_back({&block->inputs[i], false});
  SmallVector<Lanes> scalars;
  for (Value scalar : op.getScalars())
    scalars.push_back({getScalar(scalar)});
  for (const Lanes &scalar : scalars)
    taken.push_back({&scalar, true});
  for (const Lanes &result : results)
    taken.push_back({&result, true});

  Block &body = region.front();
  SmallVector<Lanes> yielded(body.getTerminator()->getNumOperands());
  const int64_t lanes = block ? getBlockLanes() : getRowLanes();
  for (int64_t lane = 0; lane < lanes; ++lane) {
    IRMapping mapping;
    const int64_t row = block ? getRowOfLane(lane) : lane;
    for (auto [argument, values] : llvm::zip(body.getArguments(), taken))
      if (!values.lanes->empty()) // An input that was not loaded has no use.
        mapping.map(argument,
                    getLane(*values.lanes, values.isOfRow ? row : lane));
    for (Operation &each : body.without_terminator()) {
      if (isa<dnn::RowIndexOp>(each))
        mapping.map(each.getResult(0), getIndexInRow(*block, lane));
      else if (isa<dnn::ElementIndexOp>(each))
        mapping.map(each.getResult(0), getElementIndex(*block, lane));
      else
        p.b.clone(each, mapping);
    }
    for (auto [values, value] :
         llvm::zip_equal(yielded, body.getTerminator()->getOperands()))
      values.push_back(mapping.lookupOrDefault(value));
  }
  return yielded;
}

SmallVector<Lanes> RowWiseProgram::finishRow() {
  if (!op.hasRow())
    return {};
  SmallVector<Lanes> values = evaluate(op.getRow(), nullptr);
  const size_t stored = op.getRowOutputs().size();
  results.append(values.begin() + stored, values.end());
  values.truncate(stored);
  return values;
}

void RowWiseProgram::storeRowOutputs(ArrayRef<Lanes> values) {
  PointBuilder::Values coordinates = rowCoordinates;
  SmallVector<int> checked;
  if (rowValid) { // Invalid rows move out of bounds, where stores do nothing.
    checked.push_back(getDims(/*ofRows=*/true).front());
    Value &outer = coordinates[checked.front()];
    outer = arith::SelectOp::create(p.b, p.loc, rowValid, outer,
                                    p.index(getLength(checked.front())));
  }
  for (auto [lanes, tensor] : llvm::zip_equal(values, op.getRowOutputs()))
    storeLanes(lanes, tensor, coordinates, checked);
}

void RowWiseProgram::storeOutputs(RowWiseBlock &block) {
  load(block, op.getMap());
  SmallVector<Lanes> values = evaluate(op.getMap(), &block);
  PointBuilder::Values coordinates = block.coordinates;
  SmallVector<int> checked;
  if (block.valid)
    checked.push_back(getDims(/*ofRows=*/false).front());
  if (rowValid) {
    checked.push_back(getDims(/*ofRows=*/true).front());
    Value &outer = coordinates[checked.back()];
    outer = arith::SelectOp::create(p.b, p.loc, rowValid, outer,
                                    p.index(getLength(checked.back())));
  }
  for (auto [lanes, tensor] : llvm::zip_equal(values, op.getOutputs()))
    storeLanes(lanes, tensor, coordinates, checked);
}

std::vector<RowWiseFold> RowWiseProgram::getFolds(size_t reduction) {
  std::vector<RowWiseFold> folds;
  Operation *yield = op.getReduces()[reduction].front().getTerminator();
  for (auto [kind, type] :
       llvm::zip_equal(op.getKindsOf(reduction), yield->getOperandTypes()))
    folds.emplace_back(p, kind, type);
  return folds;
}
