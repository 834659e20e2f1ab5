//===- PointMemory.cpp - A tensor that point programs access --------------===//

#include "compiler/Conversion/PointMemory.h"
#include "compiler/Conversion/GlobalBuffer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

/// The widest memory instruction.
static constexpr int64_t kMaxAccessBytes = 16;

//===----------------------------------------------------------------------===//
// Values in pieces that one instruction moves
//===----------------------------------------------------------------------===//

static int64_t getByteSize(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  int64_t count = vector ? vector.getNumElements() : 1;
  return count * getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

/// What a buffer instruction of `bytes` bytes moves.
static Type getWordType(Builder &b, int64_t bytes) {
  if (bytes <= 4)
    return b.getIntegerType(bytes * 8);
  return VectorType::get(bytes / 4, b.getI32Type());
}

/// The same bits as a vector of `element`.
static Value castToVector(Emitter &e, Value value, Type element) {
  int64_t count =
      getByteSize(value.getType()) * 8 / element.getIntOrFloatBitWidth();
  if (!isa<VectorType>(value.getType()))
    value = vector::FromElementsOp::create(
        e.b, e.loc, VectorType::get(1, value.getType()), value);
  auto type = VectorType::get(count, element);
  return value.getType() == type
             ? value
             : vector::BitCastOp::create(e.b, e.loc, type, value).getResult();
}

/// The same bits as `type`, a scalar or a vector.
static Value castTo(Emitter &e, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (!isa<VectorType>(type) && !isa<VectorType>(value.getType()))
    return arith::BitcastOp::create(e.b, e.loc, type, value);
  Value vector = castToVector(e, value, getElementTypeOrSelf(type));
  if (isa<VectorType>(type))
    return vector;
  return vector::ExtractOp::create(e.b, e.loc, vector, 0);
}

static Value concatenate(Emitter &e, Value low, Value high) {
  SmallVector<int64_t> all(cast<VectorType>(low.getType()).getNumElements() +
                           cast<VectorType>(high.getType()).getNumElements());
  std::iota(all.begin(), all.end(), 0);
  // Of two lengths when the last piece is not the first.
  return vector::ShuffleOp::create(e.b, e.loc, low, high, all);
}

static Value takePiece(Emitter &e, Value value, int64_t first, int64_t count) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector || vector.getNumElements() == count)
    return value;
  SmallVector<int64_t> mask(count);
  std::iota(mask.begin(), mask.end(), first);
  return vector::ShuffleOp::create(e.b, e.loc, value, value, mask);
}

/// Of a vector: its length divides everything that moves it.
static int64_t getAlignment(Type type) {
  int64_t bytes = getByteSize(type);
  return std::min(bytes & -bytes, kMaxAccessBytes);
}

static Value loadWords(Emitter &e, CheckedMemory memory, Value offset,
                       Type type) {
  int64_t bytes = getByteSize(type);
  Value whole;
  for (int64_t done = 0; done < bytes; done += kMaxAccessBytes) {
    Type word = getWordType(e.b, std::min(bytes - done, kMaxAccessBytes));
    Value piece = e.device.load(e, memory, word, e.add(offset, done),
                                /*uniform=*/e.constant(0), getAlignment(type));
    whole = whole ? concatenate(e, whole, piece) : piece;
  }
  return castTo(e, whole, type);
}

static void storeWords(Emitter &e, Value value, CheckedMemory memory,
                       Value offset) {
  int64_t bytes = getByteSize(value.getType());
  int64_t elementBytes = getByteSize(getElementTypeOrSelf(value.getType()));
  for (int64_t done = 0; done < bytes; done += kMaxAccessBytes) {
    int64_t size = std::min(bytes - done, kMaxAccessBytes);
    Value piece = takePiece(e, value, done / elementBytes, size / elementBytes);
    e.device.store(e, castTo(e, piece, getWordType(e.b, size)), memory,
                   e.add(offset, done), getAlignment(value.getType()));
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Bytes from the tensor's first byte to behind its last.
static int64_t getSpan(MemRefType type, ArrayRef<int64_t> strides,
                       int64_t firstElement, int64_t elementBytes) {
  int64_t last = firstElement;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    last += (size - 1) * stride;
  return (last + 1) * elementBytes;
}

PointMemory::PointMemory(Emitter &e, MemRefType type, Value pointer,
                         bool isConstant)
    : type(type), elementBytes(getByteSize(type.getElementType())),
      pointer(pointer), isConstant(isConstant) {
  (void)type.getStridesAndOffset(strides, firstElement);
  int64_t span = getSpan(type, strides, firstElement, elementBytes);
  if (span <= kOutOfRange)
    descriptor = e.device.makeMemory(e, pointer,
                                     e.constant(e.b.getI64IntegerAttr(span)));
}

/// A term of a form in 32 bits.
static Value toInt32(Emitter &e, Value index) {
  return arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), index);
}

/// The offset in the descriptor.
Value PointMemory::makeOffset(Emitter &e, const LinearForm &form, Value valid,
                              const KnownRanges &known) const {
  Value sum = e.constant(0);
  for (const LinearForm::Term &term : form.getTermsOutermostFirst())
    sum = e.add(sum, e.mul(toInt32(e, term.value), term.factor));
  // A constant behind the select becomes the instruction's own offset, shared
  // by all taps of a window. The hardware wants the rest not to be negative.
  bool isLast = form.getConstant() >= 0 && form.hasPositiveTerms(known);
  if (!isLast)
    sum = e.add(sum, form.getConstant());
  sum = e.select(valid, sum, e.constant(kOutOfRange));
  return isLast ? e.add(sum, form.getConstant()) : sum;
}

/// The address in 64 bits.
Value PointMemory::makePointer(Emitter &e, const LinearForm &form) const {
  Type i64 = e.b.getI64Type();
  auto wide = [&](int64_t value) {
    return e.constant(e.b.getI64IntegerAttr(value));
  };
  Value sum;
  auto add = [&](Value value) {
    sum =
        sum ? arith::AddIOp::create(e.b, e.loc, sum, value).getResult() : value;
  };
  if (descriptor) {
    // The whole offset fits 32 bits, if not each part of it.
    Value offset = e.constant(0);
    for (const LinearForm::Term &term : form.getTermsOutermostFirst())
      offset = e.add(offset, e.mul(toInt32(e, term.value), term.factor));
    offset = e.add(offset, form.getConstant());
    add(arith::ExtUIOp::create(e.b, e.loc, i64, offset));
  } else {
    for (const LinearForm::Term &term : form.getTermsOutermostFirst())
      add(arith::MulIOp::create(
          e.b, e.loc,
          arith::ExtSIOp::create(e.b, e.loc, i64, toInt32(e, term.value)),
          wide(term.factor)));
    add(wide(form.getConstant()));
  }
  return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                             pointer, sum);
}

template <typename OpT>
PointMemory::Place PointMemory::makePlace(Emitter &e, OpT op,
                                          const KnownRanges &known) const {
  LinearForm form;
  form.addConstant(firstElement * elementBytes);
  Value valid;
  for (auto [dim, coordinate] : llvm::enumerate(op.getCoordinates())) {
    form.add(coordinate, strides[dim] * elementBytes);
    LinearForm position;
    position.add(coordinate, 1);
    auto range = position.getRange(known);
    int64_t size = type.getDimSize(dim);
    bool isInside = range && range->low >= 0 && range->high < size;
    if (op.isChecked(dim) && !isInside)
      valid = e.both(valid, e.ult(toInt32(e, coordinate), size));
  }
  // A scalar load where all lanes read the same; and where no select hides an
  // offset that the hardware must not see as a sum (see makeOffset).
  bool wantsPointer =
      !valid && ((isConstant && form.isUniform(known)) ||
                 form.getConstant() < 0 || !form.hasPositiveTerms(known));
  if (!descriptor || wantsPointer)
    return {makePointer(e, form), valid, false};
  return {makeOffset(e, form, valid, known), valid, true};
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Runs `body` where `valid`, which may be null; what it returns, or zero.
static Value emitGuarded(Emitter &e, Value valid, Type type,
                         llvm::function_ref<Value()> body) {
  if (!valid)
    return body();
  auto branch =
      scf::IfOp::create(e.b, e.loc, type ? TypeRange(type) : TypeRange(), valid,
                        /*withElseRegion=*/bool(type));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  Value value = body();
  if (!type)
    return {};
  scf::YieldOp::create(e.b, e.loc, value);
  e.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e.b, e.loc, e.constant(e.b.getZeroAttr(type)));
  return branch.getResult(0);
}

void PointMemory::lower(Emitter &e, dnn::PointLoadOp load,
                        const KnownRanges &known) {
  Place place = makePlace(e, load, known);
  Type result = load.getValue().getType();
  int64_t alignment = getAlignment(result);
  Value value;
  if (place.usesDescriptor)
    value = loadWords(e, descriptor, place.address, result);
  else
    value = emitGuarded(e, place.valid, result, [&]() -> Value {
      return LLVM::LoadOp::create(e.b, e.loc, result, place.address, alignment,
                                  /*isVolatile=*/false,
                                  /*isNonTemporal=*/false, isConstant);
    });
  load.getValue().replaceAllUsesWith(value);
  load.getValid().replaceAllUsesWith(
      place.valid ? place.valid : e.constant(e.b.getBoolAttr(true)));
  load.erase();
}

void PointMemory::lower(Emitter &e, dnn::PointStoreOp store,
                        const KnownRanges &known) {
  Place place = makePlace(e, store, known);
  Value value = store.getValue();
  int64_t alignment = getAlignment(value.getType());
  if (place.usesDescriptor)
    storeWords(e, value, descriptor, place.address);
  else
    emitGuarded(e, place.valid, {}, [&]() -> Value {
      LLVM::StoreOp::create(e.b, e.loc, value, place.address, alignment);
      return {};
    });
  store.erase();
}
