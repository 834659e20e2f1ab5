//===- ElementSplit.cpp - f32 as three terms of bf16 ----------------------===//

#include "compiler/Algorithms/Converted/ElementSplit.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Operations on blocks of f32 and of their bits.
class BlockMath {
public:
  BlockMath(PointBuilder &p, int64_t size)
      : p(p), floats(PointBuilder::getBlockType(p.b.getF32Type(), size)),
        bits(PointBuilder::getBlockType(p.b.getI32Type(), size)) {}

  Value isFinite(Value block) {
    return arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ne,
                                 mask(block, kExponent), constant(kExponent));
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return arith::SelectOp::create(p.b, p.loc, condition, lhs, rhs);
  }
  Value subtract(Value lhs, Value rhs) {
    return arith::SubFOp::create(p.b, p.loc, lhs, rhs);
  }
  /// The upper half of the bits: rounded towards zero.
  Value truncate(Value block) {
    return arith::BitcastOp::create(p.b, p.loc, floats, mask(block, kUpper));
  }
  Value toTerm(Value block) { return p.convert(block, p.b.getBF16Type()); }
  /// Rounded to the nearest bf16.
  Value round(Value block) {
    return p.convert(toTerm(block), p.b.getF32Type());
  }

private:
  static constexpr uint32_t kExponent = 0x7f800000, kUpper = 0xffff0000;

  Value constant(uint32_t value) {
    const auto number = static_cast<int32_t>(value);
    TypedAttr attr = p.b.getI32IntegerAttr(number);
    if (auto type = dyn_cast<VectorType>(bits))
      attr = DenseElementsAttr::get(type, number);
    return arith::ConstantOp::create(p.b, p.loc, attr);
  }
  Value mask(Value block, uint32_t value) {
    Value number = arith::BitcastOp::create(p.b, p.loc, bits, block);
    return arith::AndIOp::create(p.b, p.loc, number, constant(value));
  }

  PointBuilder &p;
  Type floats, bits;
};
} // namespace

std::array<Value, kTermProducts>
tessera::splitElements(PointBuilder &p, Value block, bool isSecond) {
  const int64_t size = PointBuilder::getBlockSize(block);
  BlockMath math(p, size);
  Value zero = p.zero(p.b.getF32Type(), size);
  Value isFinite = math.isFinite(block);
  // The largest numbers would be rounded to infinity, and so would the sum of
  // their first two terms.
  Value rounded = math.round(block);
  Value isRounded = math.isFinite(rounded);
  Value first = math.select(isRounded, rounded,
                            math.select(isFinite, math.truncate(block), block));
  Value finite = math.select(isFinite, first, zero);
  Value rest = math.select(isFinite, math.subtract(block, first), zero);
  Value second = math.select(isRounded, math.round(rest), math.truncate(rest));
  Value third = math.toTerm(math.subtract(rest, second));
  Value a0 = math.toTerm(first), a0Finite = math.toTerm(finite),
        a1 = math.toTerm(second);
  // In the order of the products at the head of ElementSplit.h.
  if (isSecond)
    return {a0, a1, a0Finite, a1, third, a0Finite};
  return {a0, a0Finite, a1, a1, a0Finite, third};
}
