//===- TileCopy.cpp - One factor's way from memory to LDS -----------------===//

#include "compiler/Conversion/Cooperative/TileCopy.h"
#include "compiler/Conversion/Cooperative/BlockCopy.h"
#include "compiler/Conversion/Cooperative/ChunkCopy.h"

using namespace mlir;
using namespace tessera;

TileCopy::TileCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
                   const ReductionWalk &walk, GlobalBuffer buffer)
    : e(e), access(access), lds(lds), walk(walk), buffer(std::move(buffer)) {
  unsigned outerDims = access.getNumColumnDims() - walk.innerDims;
  tapSpace = access.getSpace(2, 0, outerDims);
  innerSpace = access.getSpace(2, outerDims, walk.innerDims);
}

/// Bytes from one element of the inner walk to the next.
int64_t TileCopy::getWalkStep() const { return innerSpace.getInnermostStep(); }

Type TileCopy::getIntegerType(int64_t elements) const {
  int64_t bytes = elements * access.getElementBytes();
  Type i32 = e.b.getI32Type();
  if (bytes < 4)
    return e.b.getIntegerType(bytes * 8);
  return bytes == 4 ? i32 : VectorType::get(bytes / 4, i32);
}

void TileCopy::addRow(Value row, Value elements) {
  AccessSpace rows = access.getSpace(1);
  Value position = e.add(buffer.row0, row);
  rowValid.push_back(needsRowCheck(access, lds.rows)
                         ? e.ult(position, rows.getExtent())
                         : Value());
  SmallVector<Value> forms = rows.evaluate(e, position);
  for (auto [form, base] : llvm::zip(forms, buffer.base))
    form = e.add(form, base);
  if (walk.hasTaps())
    forms[0] = e.add(forms[0], e.mul(elements, getWalkStep()));
  rowForms.push_back(std::move(forms));
}

/// Whether a checked coordinate is the same for all lanes and all steps of a
/// tap.
bool TileCopy::isUniform(unsigned form) const {
  auto isZero = [&](const AccessSpace &space) {
    return llvm::all_of(space.coefs[form], [](int64_t f) { return f == 0; });
  };
  return walk.hasTaps() && isZero(access.getSpace(1)) && isZero(innerSpace);
}

/// Null where no coordinate can leave its tensor.
Value TileCopy::checkBounds(unsigned place, ArrayRef<Value> walked) {
  Value valid = rowValid[place];
  ArrayRef<Value> row = rowForms[place];
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    valid = e.both(valid, e.ult(e.add(row[f], walked[f]), access.getBound(f)));
  return valid;
}

Value TileCopy::emitTapExists(Value tap) {
  SmallVector<Value> forms = tapSpace.evaluate(e, tap);
  Value exists;
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    if (isUniform(f))
      exists = e.both(
          exists, e.ult(e.add(forms[f], buffer.base[f]), access.getBound(f)));
  return exists;
}

void TileCopy::setTap(Value tap) {
  SmallVector<Value> forms = tapSpace.evaluate(e, tap);
  Value isTap = e.ult(tap, walk.outer);
  Value outOfRange = e.constant(kOutOfRange);
  tapOffsets.clear();
  for (unsigned place = 0; place < rowForms.size(); ++place) {
    Value valid = e.both(isTap, checkBounds(place, forms));
    tapOffsets.push_back(
        e.select(valid, e.add(rowForms[place][0], forms[0]), outOfRange));
  }
}

Value TileCopy::loadAtTap(unsigned place, Type type, Value position,
                          int64_t elements) {
  Value uniform = e.mul(position, getWalkStep() / access.getElementBytes());
  return loadBuffer(e, buffer, type, tapOffsets[place],
                    e.add(uniform, elements * getWalkStep()));
}

void TileCopy::loadToLds(unsigned place, Value ldsPointer, Value position,
                         int64_t immediate) {
  Value uniform = e.mul(position, getWalkStep() / access.getElementBytes());
  e.device.loadToLds(e, buffer.descriptor, ldsPointer, kChunkBytes,
                     tapOffsets[place], uniform, immediate);
}

Value TileCopy::loadAtElement(unsigned place, Type type, Value element) {
  SmallVector<Value> forms = innerSpace.evaluate(e, element);
  Value valid =
      e.both(e.ult(element, walk.elements), checkBounds(place, forms));
  Value offset = e.select(valid, e.add(rowForms[place][0], forms[0]),
                          e.constant(kOutOfRange));
  return loadBuffer(e, buffer, type, offset, e.constant(0));
}

LdsTile tessera::chooseLdsTile(const ViewAccess &access, int64_t rows,
                               int64_t step, int64_t threads,
                               const GpuTarget &target,
                               const MatrixInstruction &instruction) {
  LdsTile lds{rows, step, access.getElementBytes(), target.ldsBanks};
  if (access.getVectorWidth(1, lds.getChunkElements()) >
      access.getVectorWidth(2, lds.getChunkElements()))
    lds.blockRows = BlockCopy::chooseBlockRows(access, lds, threads);
  lds.readsMatrices = instruction.readsMatrices();
  return lds;
}

std::unique_ptr<TileCopy>
tessera::createTileCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
                        const ReductionWalk &walk, GlobalBuffer buffer,
                        int64_t threads, Value thread) {
  if (lds.isBlocked())
    return std::make_unique<BlockCopy>(e, access, lds, walk, std::move(buffer),
                                       threads, thread);
  return std::make_unique<ChunkCopy>(e, access, lds, walk, std::move(buffer),
                                     threads, thread);
}
