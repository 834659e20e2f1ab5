//===- TileCopy.cpp - One factor's way from memory to LDS -----------------===//

#include "compiler/Conversion/TileCopy.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

/// Bytes between neighbours along a coordinate.
static int64_t getInnermostStep(const AccessSpace &space) {
  return space.sizes.empty() ? 0 : space.coefs[0].back();
}

TileCopy::TileCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
                   const ReductionWalk &walk, GlobalBuffer buffer,
                   int64_t threads, Value thread)
    : e(e), access(access), lds(lds), walk(walk),
      descriptor(buffer.descriptor) {
  rowsPerPass = threads / lds.getChunks();
  width = access.getVectorWidth(/*index=*/2, lds.getChunkElements());
  unsigned numReduce = access.getNumColumnDims();
  if (walk.isNested) {
    tapSpace = access.getSpace(2, 0, numReduce - 1);
    innerSpace = access.getSpace(2, numReduce - 1, 1);
  } else {
    innerSpace = access.getSpace(2);
  }

  // Neighbouring threads take what lies closer in memory: neighbouring chunks
  // of a row, or neighbouring rows (the pixels of NCHW).
  bool isChunkFirst = getInnermostStep(access.getSpace(2)) <=
                      getInnermostStep(access.getSpace(1));
  Value row = isChunkFirst ? e.divu(thread, lds.getChunks())
                           : e.remu(thread, rowsPerPass);
  chunk = isChunkFirst ? e.remu(thread, lds.getChunks())
                       : e.divu(thread, rowsPerPass);
  ldsOffset = e.toIndex(lds.emitOffset(e, row, chunk));

  SmallVector<Value> groupForms = access.getSpace(0).evaluate(e, buffer.group);
  AccessSpace rows = access.getSpace(1);
  for (int64_t first = 0; first < lds.rows; first += rowsPerPass) {
    Value position = e.add(e.add(buffer.row0, row), first);
    rowValid.push_back(needsRowCheck(access, lds.rows)
                           ? e.ult(position, rows.getExtent())
                           : Value());
    SmallVector<Value> forms = rows.evaluate(e, position);
    for (unsigned f = 0; f < forms.size(); ++f)
      forms[f] = e.add(e.add(forms[f], groupForms[f]), access.getConstant(f));
    if (walk.isNested) {
      int64_t chunkBytes =
          getInnermostStep(innerSpace) * lds.getChunkElements();
      forms[0] = e.add(forms[0], e.mul(chunk, chunkBytes));
    }
    rowForms.push_back(std::move(forms));
  }
}

Type TileCopy::getPieceType() const {
  int64_t bytes = width * access.getElementBytes();
  Type i32 = e.b.getI32Type();
  if (bytes < 4)
    return e.b.getIntegerType(bytes * 8);
  return bytes == 4 ? i32 : VectorType::get(bytes / 4, i32);
}

/// Null where no coordinate can leave its tensor.
Value TileCopy::checkBounds(unsigned pass, ArrayRef<Value> walked) {
  Value valid = rowValid[pass];
  ArrayRef<Value> row = rowForms[pass];
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    valid = e.both(valid, e.ult(e.add(row[f], walked[f]), access.getBound(f)));
  return valid;
}

void TileCopy::setTap(Value tap) {
  SmallVector<Value> forms = tapSpace.evaluate(e, tap);
  Value isTap = e.ult(tap, walk.outer);
  Value outOfRange = e.constant(kOutOfRange);
  tapOffsets.clear();
  for (unsigned pass = 0; pass < getPasses(); ++pass) {
    Value valid = e.both(isTap, checkBounds(pass, forms));
    tapOffsets.push_back(
        e.select(valid, e.add(rowForms[pass][0], forms[0]), outOfRange));
  }
}

SmallVector<Value> TileCopy::load(unsigned pass, Value position) {
  return walk.isNested ? loadNested(pass, position) : loadFlat(pass, position);
}

SmallVector<Value> TileCopy::loadNested(unsigned pass, Value position) {
  int64_t stride = getInnermostStep(innerSpace);
  Value uniform = e.mul(position, stride / access.getElementBytes());
  SmallVector<Value> pieces;
  for (int64_t first = 0; first < lds.getChunkElements(); first += width)
    pieces.push_back(loadBuffer(e, descriptor, getPieceType(), tapOffsets[pass],
                                e.add(uniform, first * stride)));
  return pieces;
}

SmallVector<Value> TileCopy::loadFlat(unsigned pass, Value position) {
  Value zero = e.constant(0), outOfRange = e.constant(kOutOfRange);
  Value element = e.add(e.divu(position, access.getElementBytes()),
                        e.mul(chunk, lds.getChunkElements()));
  SmallVector<Value> pieces;
  for (int64_t first = 0; first < lds.getChunkElements(); first += width) {
    Value k = e.add(element, first);
    SmallVector<Value> forms = innerSpace.evaluate(e, k);
    Value valid = e.both(e.ult(k, walk.elements), checkBounds(pass, forms));
    Value offset =
        e.select(valid, e.add(rowForms[pass][0], forms[0]), outOfRange);
    pieces.push_back(loadBuffer(e, descriptor, getPieceType(), offset, zero));
  }
  return pieces;
}

/// The pieces of a chunk as one vector of the element type.
static Value joinPieces(Emitter &e, ArrayRef<Value> pieces, VectorType type) {
  Value chunk = pieces.front();
  if (pieces.size() > 1) {
    // Scalars become a vector; two short vectors are joined.
    if (isa<VectorType>(chunk.getType())) {
      SmallVector<int64_t> mask(4);
      std::iota(mask.begin(), mask.end(), 0);
      chunk = vector::ShuffleOp::create(e.b, e.loc, pieces[0], pieces[1], mask);
    } else {
      auto joined = VectorType::get(pieces.size(), chunk.getType());
      chunk = vector::FromElementsOp::create(e.b, e.loc, joined, pieces);
    }
  }
  return vector::BitCastOp::create(e.b, e.loc, type, chunk);
}

void TileCopy::write(unsigned pass, ArrayRef<Value> pieces, Value buffer) {
  auto type = VectorType::get(lds.getChunkElements(), access.getElementType());
  Value value = joinPieces(e, pieces, type);
  Value offset = ldsOffset;
  if (pass > 0)
    offset = arith::AddIOp::create(
        e.b, e.loc, offset, e.indexConstant(pass * rowsPerPass * lds.step));
  vector::StoreOp::create(e.b, e.loc, value, buffer, offset);
}
