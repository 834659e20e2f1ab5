//===- Epilogue.cpp - From accumulators to the output tensor --------------===//

#include "compiler/Conversion/Cooperative/Epilogue.h"

#include "compiler/Target/Saturate.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

/// `type` for each element of an accumulator.
static Type widen(Type accumulator, Type type) {
  auto vector = dyn_cast<VectorType>(accumulator);
  return vector ? vector.clone(type) : type;
}

/// Runs the elementwise ops of the region on a whole accumulator at once.
/// `scalars` holds what the ops take from outside.
Value tessera::applyEpilogue(Emitter &e, Region &region, ValueRange values,
                             const IRMapping &scalars) {
  Type accumulator = values.front().getType();
  if (region.empty())
    return values.front();
  Block &body = region.front();
  IRMapping mapping = scalars;
  mapping.map(body.getArguments(), values);
  for (Operation &op : body.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      TypedAttr attr = constant.getValue();
      if (auto vector =
              dyn_cast<VectorType>(widen(accumulator, attr.getType())))
        attr = DenseElementsAttr::get(vector, attr);
      mapping.map(constant.getResult(), e.constant(attr));
      continue;
    }
    if (op.getNumResults() == 1 && mapping.contains(op.getResult(0)))
      continue;
    Operation *clone = e.b.clone(op, mapping);
    for (Value result : clone->getResults())
      result.setType(widen(accumulator, result.getType()));
  }
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

/// A double is truncated before, unless sums are doubles.
IRMapping
tessera::mapEpilogueScalars(Emitter &e, Region &region, Type accumulator,
                            llvm::function_ref<Value(Value)> getArgument) {
  IRMapping mapping;
  auto map = [&](Value value) {
    if (mapping.contains(value))
      return;
    auto truncation = value.getDefiningOp<arith::TruncFOp>();
    Value scalar = getArgument(truncation ? truncation.getIn() : value);
    if (scalar.getType() != value.getType())
      scalar = arith::TruncFOp::create(e.b, e.loc, value.getType(), scalar);
    Type type = widen(accumulator, scalar.getType());
    if (type != scalar.getType())
      scalar = vector::BroadcastOp::create(e.b, e.loc, type, scalar);
    mapping.map(value, scalar);
  };
  region.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentRegion() != &region)
        map(isa<arith::TruncFOp>(op) ? op->getResult(0) : operand);
  });
  return mapping;
}

//===----------------------------------------------------------------------===//
// Elements and what memory holds of them
//===----------------------------------------------------------------------===//

/// Elements [first, first + width) as the integers that a store takes.
static Value packForStore(Emitter &e, Value value, int64_t first,
                          int64_t width) {
  auto vector = dyn_cast<VectorType>(value.getType());
  Type element = vector ? vector.getElementType() : value.getType();
  int64_t bits = element.getIntOrFloatBitWidth();
  if (!vector)
    value = vector::BroadcastOp::create(e.b, e.loc, VectorType::get(1, element),
                                        value);
  SmallVector<int64_t> mask(width);
  std::iota(mask.begin(), mask.end(), first);
  value = vector::ShuffleOp::create(e.b, e.loc, value, value, mask);
  int64_t word = std::min<int64_t>(32, width * bits);
  auto words = VectorType::get(width * bits / word, e.b.getIntegerType(word));
  if (value.getType() != words)
    value = vector::BitCastOp::create(e.b, e.loc, words, value);
  return words.getNumElements() > 1
             ? value
             : vector::ExtractOp::create(e.b, e.loc, value, 0).getResult();
}

/// Elements [first, first + count) of a vector.
static Value getNeighbours(Emitter &e, Value vector, int64_t first,
                           int64_t count) {
  SmallVector<int64_t> mask(count);
  std::iota(mask.begin(), mask.end(), first);
  return vector::ShuffleOp::create(e.b, e.loc, vector, vector, mask);
}

static Value roundTo(Emitter &e, Type element, Value value) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  if (element.isInteger(8))
    return saturateToInt8(e.b, e.loc, value);
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (from.isInteger())
    return arith::SIToFPOp::create(e.b, e.loc, type, value);
  return arith::TruncFOp::create(e.b, e.loc, type, value);
}

/// What an epilogue takes: sums of bytes as f32.
static Value toFloats(Emitter &e, Value sums) {
  const bool isInteger = getElementTypeOrSelf(sums.getType()).isInteger();
  return isInteger ? roundTo(e, e.b.getF32Type(), sums) : sums;
}

/// The `width` elements that a load gave as integers, as `compute`, which the
/// epilogue computes in.
static SmallVector<Value> unpackLoaded(Emitter &e, Value loaded, Type element,
                                       int64_t width, Type compute) {
  SmallVector<Value> values;
  if (width == 1 && !isa<VectorType>(loaded.getType())) {
    if (loaded.getType() != element)
      loaded = arith::BitcastOp::create(e.b, e.loc, element, loaded);
    values.push_back(loaded);
  } else {
    if (!isa<VectorType>(loaded.getType()))
      loaded = vector::BroadcastOp::create(
          e.b, e.loc, VectorType::get(1, loaded.getType()), loaded);
    loaded = vector::BitCastOp::create(e.b, e.loc,
                                       VectorType::get(width, element), loaded);
    for (int64_t i = 0; i < width; ++i)
      values.push_back(vector::ExtractOp::create(e.b, e.loc, loaded, i));
  }
  for (Value &value : values) {
    if (element.isInteger())
      value = arith::SIToFPOp::create(e.b, e.loc, compute, value);
    else if (element != compute)
      value = arith::ExtFOp::create(e.b, e.loc, compute, value);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Extra tensors
//===----------------------------------------------------------------------===//

namespace {
/// An extra tensor of the epilogue: what it holds for each fragment, loaded
/// once where several fragments share it (a bias).
class ExtraTensor {
public:
  ExtraTensor(Emitter &e, StoreView view, const TileMma &mma)
      : e(e), view(std::move(view)), mma(mma), accumulator(mma.getSumsType()) {}

  /// Its values for fragment `j` along P and place `i` along Q.
  Value get(int64_t j, int64_t i) {
    Value &cached =
        values[{view.dependsOnP() ? j : 0, view.dependsOnQ() ? i : 0}];
    return cached ? cached : cached = load(j, i);
  }

private:
  Value load(int64_t j, int64_t i);

  Emitter &e;
  StoreView view;
  const TileMma &mma;
  Type accumulator;
  std::map<std::pair<int64_t, int64_t>, Value> values;
};
} // namespace

Value ExtraTensor::load(int64_t j, int64_t i) {
  const MatrixInstruction &row = mma.getInstruction();
  Type element = view.getAccess().getElementType();
  // What one side does not move is there wherever the other is, unless the
  // group alone puts it outside.
  StorePlace placeQ = view.locateQ(view.dependsOnQ() ? mma.getPlaceOfQ(i) : 0,
                                   /*isAnywhere=*/true);
  SmallVector<Value> elements;
  Type compute = getElementTypeOrSelf(accumulator);
  if (compute.isInteger())
    compute = e.b.getF32Type();
  int64_t width = view.dependsOnP() ? view.getWidth(row.accVector) : 1;
  for (int64_t first = 0; first < row.getColumnRegs(); first += width) {
    if (first > 0 && !view.dependsOnP()) {
      elements.push_back(elements.front());
      continue;
    }
    StorePlace placeP =
        view.locateP(mma.getPosition(j, first), /*isAnywhere=*/true);
    llvm::append_range(elements,
                       unpackLoaded(e, view.load(placeP, placeQ, width),
                                    element, width, compute));
  }
  if (!isa<VectorType>(accumulator))
    return elements.front();
  auto type = VectorType::get(row.getColumnRegs(), compute);
  return vector::FromElementsOp::create(e.b, e.loc, type, elements);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// A view at the lane's places: those of the store and of its extras are alike.
static StoreView makeStoreView(Emitter &e, const StoredViews &views,
                               dnn::ViewOp view, const TileMma &mma,
                               const EpilogueInputs &inputs) {
  bool alongN = mma.hasLanesAlongN();
  const ViewAccess stored(views.result);
  Value pFirst = mma.emitFirstOfP(), qFirst = mma.emitFirstOfQ();
  auto makeSide = [&](bool isN, Value first) {
    return isN ? StoreSide{2, stored.getSpace(2).getExtent(), views.columns,
                           first, inputs.column0}
               : StoreSide{1, stored.getSpace(1).getExtent(), views.rows, first,
                           inputs.row0};
  };
  ViewAccess access(view);
  GlobalBuffer buffer = inputs.getBuffer(access);
  return StoreView(e, std::move(access), std::move(buffer),
                   makeSide(alongN, pFirst), makeSide(!alongN, qFirst));
}

/// Element `i` of an accumulator.
static Value getElement(Emitter &e, Value accumulator, int64_t i) {
  if (!isa<VectorType>(accumulator.getType()))
    return accumulator;
  return vector::ExtractOp::create(e.b, e.loc, accumulator, i);
}

/// Stores an accumulator's neighbours along P, from position `first` on, one
/// by one, or together where the tensor's lines, whose length is unknown, are
/// whole numbers of them.
static void storeOpenLine(Emitter &e, const StoreView &view, Value value,
                          int64_t first, int64_t width, Value isWhole,
                          const StorePlace &placeQ) {
  auto choice = scf::IfOp::create(e.b, e.loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&choice.getThenRegion().front());
  view.store(packForStore(e, value, 0, width), view.locateP(first), placeQ);
  e.b.setInsertionPointToStart(&choice.getElseRegion().front());
  for (int64_t i = 0; i < width; ++i)
    view.store(packForStore(e, value, i, 1), view.locateP(first + i), placeQ);
}

void tessera::emitEpilogue(Emitter &e, const StoredViews &stored,
                           const TileMma &mma, const EpilogueInputs &inputs) {
  const MatrixInstruction &row = mma.getInstruction();
  StoreView result = makeStoreView(e, stored, stored.result, mma, inputs);
  std::vector<ExtraTensor> extras;
  for (dnn::ViewOp extra : stored.extras)
    extras.emplace_back(e, makeStoreView(e, stored, extra, mma, inputs), mma);
  IRMapping scalars = mapEpilogueScalars(e, stored.epilogue, mma.getSumsType(),
                                         inputs.getArgument);

  int64_t width = stored.isAtomic ? 1
                  : inputs.put    ? row.accVector
                                  : result.getWidth(row.accVector);
  SmallVector<StorePlace> placesQ;
  for (int64_t i = 0; i < mma.getPlacesOfQ(); ++i)
    placesQ.push_back(result.locateQ(mma.getPlaceOfQ(i)));
  Value isWhole;
  if (width == 1 && !stored.isAtomic)
    if (auto line = result.findOpenLine(row.accVector)) {
      width = row.accVector;
      isWhole = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                      e.andi(e.constant(*line), width - 1),
                                      e.constant(0));
    }
  for (int64_t j = 0; j < mma.getP().count; ++j) {
    SmallVector<StorePlace> placesP;
    for (int64_t first = 0; first < row.getColumnRegs(); first += width)
      placesP.push_back(isWhole ? StorePlace()
                                : result.locateP(mma.getPosition(j, first)));
    for (int64_t i = 0; i < mma.getPlacesOfQ(); ++i) {
      Value sums = mma.takeSums(inputs.accumulators, j, i);
      if (!stored.epilogue.empty())
        sums = toFloats(e, sums);
      SmallVector<Value> values = {sums};
      for (ExtraTensor &extra : extras)
        values.push_back(extra.get(j, i));
      Value value = applyEpilogue(e, stored.epilogue, values, scalars);
      value = roundTo(e, result.getAccess().getElementType(), value);
      for (auto [n, place] : llvm::enumerate(placesP))
        if (inputs.put)
          inputs.put(packForStore(e, value, n * width, width),
                     mma.getPosition(j, n * width), i);
        else if (isWhole)
          storeOpenLine(e, result, getNeighbours(e, value, n * width, width),
                        mma.getPosition(j, n * width), width, isWhole,
                        placesQ[i]);
        else if (stored.isAtomic)
          result.atomicAdd(getElement(e, value, n), place, placesQ[i]);
        else
          result.store(packForStore(e, value, n * width, width), place,
                       placesQ[i]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Neighbours that are in no fragment of TileMma
//===----------------------------------------------------------------------===//

Value tessera::loadNeighbours(Emitter &e, const StoreView &view, int64_t offset,
                              int64_t count) {
  StorePlace placeQ = view.locateQ(view.dependsOnQ() ? offset : 0,
                                   /*isAnywhere=*/true);
  const int64_t width = view.dependsOnP() ? view.getWidth(count) : 1;
  SmallVector<Value> elements;
  Type f32 = e.b.getF32Type();
  for (int64_t first = 0; first < count; first += width) {
    if (first > 0 && !view.dependsOnP()) {
      elements.push_back(elements.front());
      continue;
    }
    StorePlace placeP = view.locateP(first, /*isAnywhere=*/true);
    llvm::append_range(
        elements, unpackLoaded(e, view.load(placeP, placeQ, width),
                               view.getAccess().getElementType(), width, f32));
  }
  auto type = VectorType::get(count, f32);
  return vector::FromElementsOp::create(e.b, e.loc, type, elements);
}

void tessera::storeNeighbours(Emitter &e, const StoreView &view, Value value,
                              int64_t offset, Value valid) {
  value = roundTo(e, view.getAccess().getElementType(), value);
  const int64_t count = cast<VectorType>(value.getType()).getNumElements();
  const int64_t width = view.getWidth(count);
  StorePlace placeQ = view.locateQ(offset);
  placeQ.valid = e.both(placeQ.valid, valid);
  for (int64_t first = 0; first < count; first += width)
    view.store(packForStore(e, value, first, width), view.locateP(first),
               placeQ);
}
