//===- PointMemory.cpp - A tensor that point programs access --------------===//

#include "compiler/Conversion/Common/PointMemory.h"
#include "compiler/Conversion/Common/GlobalBuffer.h"
#include "compiler/Conversion/Common/PredicatedAccess.h"
#include "compiler/Target/ElementType.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

/// The widest memory instruction.
static constexpr int64_t kMaxAccessBytes = 16;

//===----------------------------------------------------------------------===//
// Values in pieces that one instruction moves
//===----------------------------------------------------------------------===//

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

/// What LLVM has for `type`: bytes for floats of 8 bits.
static Type getLlvmType(Type type) {
  if (!isFloat8(getElementTypeOrSelf(type)))
    return type;
  Type i8 = IntegerType::get(type.getContext(), 8);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(i8)) : i8;
}

/// Of two words or vectors of words, as a vector.
static Value concatenate(Emitter &e, Value low, Value high) {
  low = castToVector(e, low, getElementTypeOrSelf(low.getType()));
  high = castToVector(e, high, getElementTypeOrSelf(high.getType()));
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

/// `type` from pieces of up to `accessBytes` that `load` makes of their first
/// byte and word type.
static Value
loadPieces(Emitter &e, Type type, int64_t accessBytes,
           llvm::function_ref<Value(int64_t done, Type word)> load) {
  int64_t bytes = getByteSize(type);
  Value whole;
  for (int64_t done = 0; done < bytes; done += accessBytes) {
    Value piece =
        load(done, getWordType(e.b, std::min(bytes - done, accessBytes)));
    whole = whole ? concatenate(e, whole, piece) : piece;
  }
  return castTo(e, whole, type);
}

/// The reverse: `store` gets the pieces' first bytes and words.
static void
storePieces(Emitter &e, Value value, int64_t accessBytes,
            llvm::function_ref<void(int64_t done, Value word)> store) {
  int64_t bytes = getByteSize(value.getType());
  int64_t elementBytes = getByteSize(getElementTypeOrSelf(value.getType()));
  for (int64_t done = 0; done < bytes; done += accessBytes) {
    int64_t size = std::min(bytes - done, accessBytes);
    Value piece = takePiece(e, value, done / elementBytes, size / elementBytes);
    store(done, castTo(e, piece, getWordType(e.b, size)));
  }
}

static Value advance(Emitter &e, Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                             pointer, LLVM::GEPArg(int32_t(bytes)));
}

//===----------------------------------------------------------------------===//
// What a load gives outside
//===----------------------------------------------------------------------===//

/// Whether all that is made of `value` ends in `selects` between it, where
/// `valid` is true, and a number.
static bool endsInSelects(Value value, Value valid,
                          SmallVectorImpl<arith::SelectOp> &selects) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<vector::ExtractOp, arith::ExtFOp>(user))
      return endsInSelects(user->getResult(0), valid, selects);
    auto select = dyn_cast<arith::SelectOp>(user);
    if (!select || select.getCondition() != valid ||
        select.getTrueValue() != value)
      return false;
    selects.push_back(select);
    return true;
  });
}

/// The bits of the number that `select` puts in place of what is outside, as an
/// element of `type`; nothing if it has no such bits.
static std::optional<uint32_t> getFill(arith::SelectOp select, FloatType type) {
  Attribute constant;
  if (!matchPattern(select.getFalseValue(), m_Constant(&constant)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant)) {
    if (!dense.isSplat())
      return std::nullopt;
    constant = dense.getSplatValue<Attribute>();
  }
  APFloat number = cast<FloatAttr>(constant).getValue();
  bool isInexact;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &isInexact);
  if (isInexact)
    return std::nullopt;
  auto bits = static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue());
  return type.getWidth() == 16 ? bits << 16 | bits : bits;
}

/// Makes selects that follow the load part of it: of what it loads, where it is
/// outside, and words of the result, where it is not.
static uint32_t takeFill(dnn::PointLoadOp load) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(load.getValue()));
  SmallVector<arith::SelectOp> selects;
  if (!type || type.getWidth() > 32 ||
      !endsInSelects(load.getValue(), load.getValid(), selects) ||
      selects.empty())
    return 0;
  std::optional<uint32_t> fill = getFill(selects.front(), type);
  for (arith::SelectOp select : selects)
    if (!fill || getFill(select, type) != fill)
      return 0;
  for (arith::SelectOp select : selects) // A walk may be about to visit it.
    select.replaceAllUsesWith(select.getTrueValue());
  return *fill;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Bytes from the tensor's first byte to behind its last.
SizeExpr PointMemory::getSpan() const {
  if (type.getLayout().isIdentity()) {
    SizeExpr bytes = elementBytes;
    for (const SizeExpr &size : lengths)
      bytes = bytes * size;
    return bytes;
  }
  SizeExpr end = firstElement + 1, steps = 0;
  for (auto [size, stride] : llvm::zip(lengths, strides)) {
    end = end + size * stride;
    steps = steps + stride;
  }
  return SizeExpr::combine(end, '-', steps) * elementBytes;
}

PointMemory::PointMemory(Emitter &e, BlockArgument argument, Value pointer,
                         SizeArguments &sizes, bool isConstant, bool isEarly,
                         bool isAligned)
    : type(cast<MemRefType>(argument.getType())),
      elementBytes(getByteSize(type.getElementType())),
      accessBytes(isAligned ? kMaxAccessBytes : elementBytes), sizes(&sizes),
      lengths(sizes.getSizes(argument)), strides(sizes.getStrides(argument)),
      pointer(pointer), isConstant(isConstant), isEarly(isEarly) {
  firstElement = type.getStridesAndOffset().second;
  const SizeExpr span = getSpan();
  // A kernel for unknown sizes gets no tensor that is larger.
  isSmall = !type.hasStaticShape() ||
            (span.getNumber() && *span.getNumber() <= kOutOfRange);
  if (isSmall && !hasPredicates(e.device))
    descriptor = e.device.makeMemory(e, pointer, sizes.emitWide(e, span));
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

/// The terms of an offset, in 64 bits.
Value PointMemory::makeWideOffset(Emitter &e, const LinearForm &form) const {
  Type i64 = e.b.getI64Type();
  Value sum;
  for (const LinearForm::Term &term : form.getTermsOutermostFirst()) {
    Value wide =
        arith::ExtSIOp::create(e.b, e.loc, i64, toInt32(e, term.value));
    Value scaled = arith::MulIOp::create(
        e.b, e.loc, wide, e.constant(e.b.getI64IntegerAttr(term.factor)));
    sum = sum ? arith::AddIOp::create(e.b, e.loc, sum, scaled).getResult()
              : scaled;
  }
  return sum ? sum : e.constant(e.b.getI64IntegerAttr(0));
}

/// The address in 64 bits.
Value PointMemory::makePointer(Emitter &e, const LinearForm &form,
                               const KnownRanges &known) const {
  auto at = [&](Value offset) -> Value {
    return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                               pointer, offset);
  };
  auto wide = [&](Value offset) -> Value {
    return arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), offset);
  };
  // A constant fits an instruction, and so stands apart, if the terms without
  // it are no less of an offset. LLVM::GEPArg has 29 bits for it.
  constexpr int64_t kMostApart = (int64_t(1) << 28) - 1;
  int64_t constant = form.getConstant();
  bool isApart = hasPredicates(e.device) && std::abs(constant) <= kMostApart;
  if (!isSmall) {
    Value sum = makeWideOffset(e, form);
    if (isApart)
      return advance(e, at(sum), constant);
    return at(arith::AddIOp::create(
        e.b, e.loc, sum, e.constant(e.b.getI64IntegerAttr(constant))));
  }
  // The whole offset fits 32 bits, if not each part of it.
  Value offset = e.constant(0);
  for (const LinearForm::Term &term : form.getTermsOutermostFirst())
    offset = e.add(offset, e.mul(toInt32(e, term.value), term.factor));
  if (isApart && form.hasPositiveTerms(known))
    return advance(e, at(wide(offset)), constant);
  return at(wide(e.add(offset, constant)));
}

/// Adds the bytes from coordinate 0 to `coordinate`.
void PointMemory::addOffset(Emitter &e, LinearForm &form, Value coordinate,
                            size_t dim) const {
  if (const std::optional<int64_t> stride = strides[dim].getNumber())
    return form.add(coordinate, *stride * elementBytes);
  Value stride = e.toIndex(sizes->emit(e, strides[dim]));
  form.add(arith::MulIOp::create(e.b, e.loc, coordinate, stride), elementBytes);
}

template <typename OpT>
PointMemory::Place PointMemory::makePlace(Emitter &e, OpT op,
                                          const KnownRanges &known) const {
  LinearForm form;
  form.addConstant(firstElement * elementBytes);
  Value valid;
  for (auto [dim, coordinate] : llvm::enumerate(op.getCoordinates())) {
    addOffset(e, form, coordinate, dim);
    LinearForm position;
    position.add(coordinate, 1);
    auto range = position.getRange(known);
    bool isInside = range && range->low >= 0 &&
                    range->high < lengths[dim].getNumber().value_or(0);
    if (op.isChecked(dim) && !isInside)
      valid = e.both(
          valid, e.ult(toInt32(e, coordinate), sizes->emit(e, lengths[dim])));
  }
  // A scalar load where all lanes read the same; and where no select hides an
  // offset that the hardware must not see as a sum (see makeOffset).
  bool wantsPointer =
      !valid && ((isConstant && form.isUniform(known)) ||
                 form.getConstant() < 0 || !form.hasPositiveTerms(known));
  if (!descriptor || wantsPointer)
    return {makePointer(e, form, known), valid, false};
  return {makeOffset(e, form, valid, known), valid, true};
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Of an access of `type`, whose length divides everything that moves a vector.
/// From now on the tensor's address must have it, up to a dword on a chip of
/// AMD's, whose instructions ask for no more.
int64_t PointMemory::takeAlignment(Emitter &e, Type type) {
  constexpr int64_t kDword = 4;
  int64_t bytes = getByteSize(type);
  int64_t access = std::min(bytes & -bytes, accessBytes);
  alignment = std::max(
      alignment, hasPredicates(e.device) ? access : std::min(access, kDword));
  return access;
}

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
  int64_t access = takeAlignment(e, result);
  Value value;
  if (hasPredicates(e.device)) {
    uint32_t fill = takeFill(load);
    value = loadPieces(e, result, accessBytes, [&](int64_t done, Type word) {
      return loadIf(
          e, place.valid, word, advance(e, place.address, done), access, fill,
          {isConstant, load->hasAttr(dnn::kStreamedAttrName), isEarly});
    });
  } else if (place.usesDescriptor)
    value = loadPieces(e, result, accessBytes, [&](int64_t done, Type word) {
      return e.device.load(e, descriptor, word, e.add(place.address, done),
                           /*uniform=*/e.constant(0), access);
    });
  else
    value = emitGuarded(e, place.valid, result, [&]() -> Value {
      Value loaded = LLVM::LoadOp::create(
          e.b, e.loc, getLlvmType(result), place.address, access,
          /*isVolatile=*/false, /*isNonTemporal=*/false, isConstant);
      return castTo(e, loaded, result);
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
  int64_t access = takeAlignment(e, value.getType());
  if (hasPredicates(e.device))
    storePieces(e, value, accessBytes, [&](int64_t done, Value word) {
      storeIf(e, place.valid, word, advance(e, place.address, done), access);
    });
  else if (place.usesDescriptor)
    storePieces(e, value, accessBytes, [&](int64_t done, Value word) {
      e.device.store(e, word, descriptor, e.add(place.address, done), access);
    });
  else
    emitGuarded(e, place.valid, {}, [&]() -> Value {
      Value stored = castTo(e, value, getLlvmType(value.getType()));
      LLVM::StoreOp::create(e.b, e.loc, stored, place.address, access);
      return {};
    });
  store.erase();
}
