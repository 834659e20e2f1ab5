//===- Epilogue.cpp - From accumulators to the output tensor --------------===//

#include "compiler/Conversion/Epilogue.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

namespace {
/// Where a group of neighbouring accumulators of one fragment goes along one
/// dimension of the output.
struct Place {
  Value offset; ///< Bytes.
  Value valid;  ///< Null if always inside.
};
} // namespace

namespace {
/// One dimension of the output, as a lane sees it.
struct Side {
  AccessSpace space;
  int64_t extent;
  int64_t tile;
  Value first;    ///< The lane's first position in the tile.
  Value origin;   ///< Of the tile, for addresses.
  Value absolute; ///< Of the tile in the view, for checks.
};
} // namespace

static Place makePlace(Emitter &e, const Side &side, int64_t offset) {
  Value position = e.add(side.first, offset);
  Place place{side.space.evaluate(e, e.add(side.origin, position))[0], {}};
  if (side.extent % side.tile != 0)
    place.valid = e.ult(e.add(side.absolute, position), side.extent);
  return place;
}

/// Runs the elementwise ops of the region on a whole accumulator at once.
static Value applyRegion(Emitter &e, Region &region, Value value) {
  if (region.empty())
    return value;
  auto widen = [&](Type type) -> Type {
    auto vector = dyn_cast<VectorType>(value.getType());
    return vector ? vector.clone(type) : type;
  };
  Block &body = region.front();
  IRMapping mapping;
  mapping.map(body.getArgument(0), value);
  for (Operation &op : body.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      TypedAttr attr = constant.getValue();
      if (auto vector = dyn_cast<VectorType>(widen(attr.getType())))
        attr = DenseElementsAttr::get(vector, attr);
      mapping.map(constant.getResult(), e.constant(attr));
      continue;
    }
    Operation *clone = e.b.clone(op, mapping);
    for (Value result : clone->getResults())
      result.setType(widen(result.getType()));
  }
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

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

static Value roundTo(Emitter &e, Type element, Value value) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (from.isInteger())
    return arith::SIToFPOp::create(e.b, e.loc, type, value);
  return arith::TruncFOp::create(e.b, e.loc, type, value);
}

void tessera::emitEpilogue(Emitter &e, dnn::TileStoreOp store,
                           const ViewAccess &access, const TileMma &mma,
                           ArrayRef<Value> accumulators,
                           const GlobalBuffer &buffer, Value lane, Value row0,
                           Value column0) {
  const MatrixInstruction &row = mma.getInstruction();
  bool alongN = mma.hasLanesAlongN();
  ArrayRef<int64_t> extents = store.getView().getType().getShape();
  ArrayRef<int64_t> tile = store.getValue().getType().getShape();
  int64_t width = access.getVectorWidth(alongN ? 2 : 1, row.accVector);
  Value base = e.add(access.getSpace(0).evaluate(e, buffer.group)[0],
                     access.getConstant(0));

  // P: the neighbours of a lane; Q: one place a fragment.
  const FragmentSide &p = alongN ? mma.getN() : mma.getM();
  const FragmentSide &q = alongN ? mma.getM() : mma.getN();
  Value pFirst =
      e.add(p.firstRow, e.mul(e.divu(lane, row.columns), row.accVector));
  Value qFirst = e.add(q.firstRow, q.laneRow);
  auto makeSide = [&](bool isN, Value first) {
    return isN ? Side{access.getSpace(2),
                      extents[2],
                      tile[1],
                      first,
                      column0,
                      column0}
               : Side{access.getSpace(1), extents[1], tile[0], first,
                      buffer.row0,        row0};
  };
  Side pSide = makeSide(alongN, pFirst), qSide = makeSide(!alongN, qFirst);

  SmallVector<Place> qPlaces;
  for (int64_t i = 0; i < q.count; ++i)
    qPlaces.push_back(makePlace(e, qSide, i * q.rows));
  for (int64_t j = 0; j < p.count; ++j) {
    // Stores of one fragment: register `first`, position along P.
    SmallVector<std::pair<int64_t, Place>> stores;
    for (int64_t first = 0; first < row.accRegs; first += width) {
      int64_t position = j * p.rows + first / row.accVector * row.accStride +
                         first % row.accVector;
      stores.push_back({first, makePlace(e, pSide, position)});
    }
    for (int64_t i = 0; i < q.count; ++i) {
      int64_t index =
          alongN ? j * mma.getM().count + i : i * mma.getM().count + j;
      Value value = applyRegion(e, store.getEpilogue(), accumulators[index]);
      value = roundTo(e, access.getElementType(), value);
      Value qBase = e.add(base, qPlaces[i].offset);
      for (auto &[first, place] : stores) {
        Value offset = e.add(qBase, place.offset);
        Value valid = e.both(place.valid, qPlaces[i].valid);
        offset = e.select(valid, offset, e.constant(kOutOfRange));
        storeBuffer(e, packForStore(e, value, first, width), buffer.descriptor,
                    offset);
      }
    }
  }
}
