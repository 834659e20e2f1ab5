//===- Saturate.cpp - Numbers as bytes ------------------------------------===//

#include "compiler/Target/Saturate.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

static Value makeConstant(OpBuilder &b, Location loc, TypedAttr attr,
                          Type like) {
  if (auto vector = dyn_cast<VectorType>(like))
    attr = DenseElementsAttr::get(vector.clone(attr.getType()), attr);
  return arith::ConstantOp::create(b, loc, attr);
}

static Type likeOf(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

/// The sum of a number below 2^22 and 1.5 * 2^23 has a last place of one, and
/// the number's two's complement in its low bits.
static Value roundToBits(OpBuilder &b, Location loc, Value value) {
  constexpr float kUnit = 0x1.8p23F;
  Value magic = makeConstant(b, loc, b.getF32FloatAttr(kUnit), value.getType());
  Value sum = arith::AddFOp::create(b, loc, value, magic);
  return arith::BitcastOp::create(b, loc,
                                  likeOf(value.getType(), b.getI32Type()), sum);
}

Value tessera::saturateToInt8(OpBuilder &b, Location loc, Value value) {
  Type type = value.getType();
  Value bits;
  if (getElementTypeOrSelf(type).isInteger(32)) {
    Value least = makeConstant(b, loc, b.getI32IntegerAttr(INT8_MIN), type);
    Value most = makeConstant(b, loc, b.getI32IntegerAttr(INT8_MAX), type);
    value = arith::MaxSIOp::create(b, loc, value, least);
    bits = arith::MinSIOp::create(b, loc, value, most);
  } else {
    // Of a number and NaN these take the number.
    Value least = makeConstant(b, loc, b.getF32FloatAttr(INT8_MIN), type);
    Value most = makeConstant(b, loc, b.getF32FloatAttr(INT8_MAX), type);
    value = arith::MaxNumFOp::create(b, loc, value, least);
    bits = roundToBits(b, loc, arith::MinNumFOp::create(b, loc, value, most));
  }
  return arith::TruncIOp::create(b, loc, likeOf(type, b.getI8Type()), bits);
}
