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
  if (lds.hasPairs)
    (void)access.hasRowPairs(pairForm);
}

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
  // A pair that begins in front of a row behind the view's end may lie half in
  // the tensor.
  bool mayEndInside = lds.hasPairs && rows.getExtent() % lds.rows != 0;
  rowValid.push_back(mayEndInside || needsRowCheck(access, lds.rows)
                         ? e.ult(position, rows.getExtent())
                         : Value());
  SmallVector<Value> forms = rows.evaluate(e, position);
  for (auto [form, base] : llvm::zip(forms, buffer.base))
    form = e.add(form, base);
  if (walk.hasTaps())
    forms[0] = e.add(forms[0], e.mul(elements, getWalkStep()));
  rowForms.push_back(std::move(forms));
}

static Value isEqual(Emitter &e, Value lhs, int64_t rhs) {
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, lhs,
                               e.constant(rhs));
}

void TileCopy::setOffset(Value bytes) {
  tapOffsets.clear();
  for (unsigned place = 0; place < rowForms.size(); ++place)
    tapOffsets.push_back(e.add(
        e.select(rowValid[place], getRowOffset(place), e.constant(kOutOfRange)),
        bytes));
}

/// Whether a checked coordinate is the same for all lanes and all steps of a
/// tap.
static bool isUniform(const ViewAccess &access, const ReductionWalk &walk,
                      unsigned form) {
  auto isZero = [&](const AccessSpace &space) {
    return llvm::all_of(space.coefs[form],
                        [](const OpenNumber &f) { return f == 0; });
  };
  return walk.hasTaps() && isZero(access.getSpace(1)) &&
         isZero(access.getSpace(2, access.getNumColumnDims() - walk.innerDims,
                                walk.innerDims));
}

bool TileCopy::mayLackTaps(const ViewAccess &access,
                           const ReductionWalk &walk) {
  for (unsigned form = 1; form < access.getNumForms(); ++form)
    if (isUniform(access, walk, form))
      return true;
  return false;
}

/// Null where no coordinate can leave its tensor.
Value TileCopy::checkBounds(unsigned place, ArrayRef<Value> walked) {
  Value valid = rowValid[place];
  ArrayRef<Value> row = rowForms[place];
  for (unsigned f = 1; f < access.getNumForms(); ++f) {
    // Of a pair, either row is enough.
    int64_t more = f == pairForm ? 1 : 0;
    valid = e.both(valid, e.ult(e.add(e.add(row[f], walked[f]), more),
                                access.getBound(f) + more));
  }
  return valid;
}

/// Bytes of a v_perm_b32: zeros, and the lower and upper halves of two words.
static constexpr int64_t kZeros = 0x0c0c0c0c;
static constexpr int64_t kLowHalves = 0x05040100;
static constexpr int64_t kHighHalves = 0x07060302;

/// Where the pair at `offset` is loaded, of whose rows the first has
/// `coordinate`. A row that is not valid becomes zeros, and so nothing is
/// loaded in front of the tensor or behind it: the pair begins a row later or
/// earlier there, which the selectors know.
Value TileCopy::placePair(Value offset, Value coordinate, int64_t bound) {
  using Predicate = arith::CmpIPredicate;
  auto compare = [&](Predicate predicate, Value lhs, int64_t rhs) -> Value {
    return arith::CmpIOp::create(e.b, e.loc, predicate, lhs, e.constant(rhs));
  };
  // A lane's pairs, one for each element of a chunk, move together.
  int64_t bytes = 2 * access.getElementBytes();
  int64_t reach =
      (lds.getChunkElements() - 1 + int64_t(walk.inner) - lds.step) *
      int64_t(getWalkStep());
  int64_t last = access.getTensorBytes() - reach - bytes;
  Value lacksFirst = isEqual(e, coordinate, -1);
  Value lacksSecond = isEqual(e, coordinate, bound - 1);
  Value isInFront = e.both(
      lacksFirst, compare(Predicate::slt, offset, access.getFirstBytes()));
  Value isBehind = e.both(lacksSecond, compare(Predicate::sgt, offset, last));
  Value low = e.constant(kLowHalves), high = e.constant(kHighHalves),
        zeros = e.constant(kZeros);
  pairSelectors.push_back(
      {e.select(lacksFirst, zeros, e.select(isBehind, high, low)),
       e.select(lacksSecond, zeros, e.select(isInFront, low, high))});
  Value back =
      e.select(isBehind, e.constant(-access.getElementBytes()), e.constant(0));
  return e.add(offset,
               e.select(isInFront, e.constant(access.getElementBytes()), back));
}

Value TileCopy::emitTapExists(Value tap) {
  SmallVector<Value> forms = tapSpace.evaluate(e, tap);
  Value exists;
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    if (isUniform(access, walk, f))
      exists = e.both(
          exists, e.ult(e.add(forms[f], buffer.base[f]), access.getBound(f)));
  return exists;
}

void TileCopy::setTap(Value tap) {
  SmallVector<Value> forms = tapSpace.evaluate(e, tap);
  Value isTap = e.ult(tap, walk.outer);
  Value outOfRange = e.constant(kOutOfRange);
  tapOffsets.clear();
  pairSelectors.clear();
  for (unsigned place = 0; place < rowForms.size(); ++place) {
    ArrayRef<Value> row = rowForms[place];
    Value valid = e.both(isTap, checkBounds(place, forms));
    Value offset = e.add(row[0], forms[0]);
    if (pairForm)
      offset = placePair(offset, e.add(row[pairForm], forms[pairForm]),
                         access.getBound(pairForm));
    else if (lds.hasPairs)
      pairSelectors.push_back(
          {e.constant(kLowHalves), e.constant(kHighHalves)});
    tapOffsets.push_back(e.select(valid, offset, outOfRange));
  }
}

Value TileCopy::emitWalked(Value position) {
  const OpenNumber step = getWalkStep();
  const int64_t bytes = access.getElementBytes();
  return step.isKnown() ? e.mul(position, int64_t(step) / bytes)
                        : e.mul(e.divu(position, bytes), step);
}

Value TileCopy::loadAtTap(unsigned place, Type type, Value position,
                          int64_t elements) {
  const OpenNumber step = getWalkStep();
  // Of unknown steps a multiple is no argument of its own.
  Value uniform =
      step.isKnown()
          ? e.add(emitWalked(position), elements * int64_t(step) + moved)
          : e.add(
                e.add(emitWalked(position), e.mul(e.constant(step), elements)),
                moved);
  return loadBuffer(e, buffer, type, tapOffsets[place], uniform);
}

Value TileCopy::loadPairAtTap(unsigned place, Value position,
                              int64_t elements) {
  return loadBuffer(e, buffer, getIntegerType(2),
                    e.add(tapOffsets[place], elements * getWalkStep()),
                    emitWalked(position));
}

void TileCopy::loadToLds(unsigned place, Value ldsPointer, Value position,
                         int64_t immediate) {
  e.device.loadToLds(e, buffer.descriptor, ldsPointer, kChunkBytes,
                     tapOffsets[place], emitWalked(position), immediate);
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
                               const ReductionWalk &walk,
                               const GpuTarget &target,
                               const MatrixInstruction &instruction) {
  LdsTile lds{rows, step, access.getElementBytes(), target.ldsBanks};
  int64_t rowWidth = access.getVectorWidth(1, lds.getChunkElements());
  int64_t columnWidth = access.getVectorWidth(2, lds.getChunkElements());
  if (rowWidth > columnWidth)
    lds.blockRows = BlockCopy::chooseBlockRows(access, lds, threads);
  lds.hasPairs = rowWidth == 1 && columnWidth == 1 && walk.hasTaps() &&
                 walk.plane == 0 && target.vendor == Vendor::Amd &&
                 BlockCopy::copiesPairs(access, lds, threads);
  if (lds.hasPairs)
    lds.blockRows = 2;
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
