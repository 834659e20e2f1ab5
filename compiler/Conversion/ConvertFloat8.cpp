//===- ConvertFloat8.cpp - Floats of 8 bits from and to others ------------===//
//
// LLVM has no types of 8-bit floats, and few chips convert all four formats.
// Some integer instructions do, for a format that APFloat describes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ConvertFloat8.h"
#include "compiler/Target/ElementType.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {
/// The fields of f32.
constexpr int64_t kFraction = 23, kBias = 127;
constexpr int64_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000,
                  kNan = 0x7fc00000;

/// The fields of a format: its codes are sign, exponent and fraction.
struct Format {
  explicit Format(FloatType type)
      : fraction(type.getFPMantissaWidth() - 1),
        bias(1 - llvm::APFloat::semanticsMinExponent(type.getFloatSemantics())),
        isFnuz(
            llvm::APFloat::getNaN(type.getFloatSemantics()).bitcastToAPInt() ==
            0x80) {
    llvm::APFloat most = llvm::APFloat::getLargest(type.getFloatSemantics());
    largest = most.bitcastToAPInt().getSExtValue();
    bool isInexact;
    (void)most.convert(llvm::APFloat::IEEEsingle(),
                       llvm::APFloat::rmNearestTiesToEven, &isInexact);
    largestBits = most.bitcastToAPInt().getSExtValue();
  }

  /// The exponent field of f32, less that of the format, of one number.
  int64_t getRebias() const { return kBias - bias; }
  /// The bits of a power of two as an f32.
  static int64_t getPower(int64_t exponent) {
    return (exponent + kBias) << kFraction;
  }
  /// The exponent of the last place of subnormal numbers.
  int64_t getUnit() const { return 1 - bias - fraction; }

  int64_t fraction; ///< Bits.
  int64_t bias;
  bool isFnuz;         ///< NaN has the code of -0, and nothing is infinite.
  int64_t largest;     ///< The code of the largest number,
  int64_t largestBits; ///< and its bits as an f32.
};

/// Arithmetic on i32s, or vectors of them, with constants.
class Words {
public:
  Words(OpBuilder &b, Location loc, Type like) : b(b), loc(loc), like(like) {}

  Type getType(Type element) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(int64_t value) {
    return makeConstant(b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  /// The f32 of these bits.
  Value makeFloat(int64_t bits) {
    return makeConstant(
        b.getF32FloatAttr(llvm::bit_cast<float>(static_cast<uint32_t>(bits))));
  }
  Value toBits(Value value) { return cast<arith::BitcastOp>(value, i32()); }
  Value toFloat(Value bits) {
    return cast<arith::BitcastOp>(bits, b.getF32Type());
  }
  Type i32() { return b.getI32Type(); }

  template <typename Op>
  Value cast(Value value, Type element) {
    return Op::create(b, loc, getType(element), value);
  }
  template <typename Op>
  Value make(Value lhs, Value rhs) {
    return Op::create(b, loc, lhs, rhs);
  }
  template <typename Op>
  Value make(Value lhs, int64_t rhs) {
    return make<Op>(lhs, constant(rhs));
  }
  Value test(arith::CmpIPredicate predicate, Value lhs, int64_t rhs) {
    return arith::CmpIOp::create(b, loc, predicate, lhs, constant(rhs));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }

private:
  Value makeConstant(TypedAttr attr) {
    if (auto vector = dyn_cast<VectorType>(getType(attr.getType())))
      attr = DenseElementsAttr::get(vector, attr);
    return arith::ConstantOp::create(b, loc, attr);
  }

  OpBuilder &b;
  Location loc;
  Type like;
};
} // namespace

using Is = arith::CmpIPredicate;

/// `value` as f32, or an f32 as `element`; both have all numbers in question.
static Value convertFloat(Words &w, Value value, Type element) {
  const unsigned from = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  const unsigned to = element.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  return from < to ? w.cast<arith::ExtFOp>(value, element)
                   : w.cast<arith::TruncFOp>(value, element);
}

/// The fields of a code, in the place of those of an f32, are a number of
/// another bias: a power of two less, and where the code is subnormal, the f32
/// is, too. The product is exact.
static Value extend(Words &w, Value value, const Format &format) {
  IntegerType i8 = IntegerType::get(value.getContext(), 8);
  Value bits =
      w.cast<arith::ExtUIOp>(w.cast<arith::BitcastOp>(value, i8), w.i32());
  Value code = w.make<arith::AndIOp>(bits, 0x7f);
  Value sign = w.make<arith::ShLIOp>(w.make<arith::AndIOp>(bits, 0x80), 24);
  Value fields = w.make<arith::ShLIOp>(code, kFraction - format.fraction);
  Value magnitude = w.toBits(w.make<arith::MulFOp>(
      w.toFloat(fields), w.makeFloat(Format::getPower(format.getRebias()))));
  Value number = w.make<arith::OrIOp>(magnitude, sign);
  Value isOther = format.isFnuz ? w.test(Is::eq, bits, 0x80)
                                : w.test(Is::ugt, code, format.largest);
  Value other = format.isFnuz ? w.constant(kNan)
                              : w.make<arith::OrIOp>(number, kInfinity);
  return w.toFloat(w.select(isOther, other, number));
}

/// An f32 that is a bf16, as that.
static Value cutToBf16(Words &w, Value value) {
  MLIRContext *context = value.getContext();
  Value upper = w.make<arith::ShRUIOp>(w.toBits(value), 16);
  return w.cast<arith::BitcastOp>(
      w.cast<arith::TruncIOp>(upper, IntegerType::get(context, 16)),
      BFloat16Type::get(context));
}

/// Normal numbers are rounded by adding almost half of the last place that
/// stays, subnormal ones by adding a power of two whose last place is theirs.
static Value truncate(Words &w, Value value, const Format &format) {
  const int64_t dropped = kFraction - format.fraction;
  Value bits = w.toBits(value);
  Value all = w.make<arith::AndIOp>(bits, kMagnitude);
  Value magnitude = w.make<arith::MinUIOp>(all, format.largestBits);
  Value odd =
      w.make<arith::AndIOp>(w.make<arith::ShRUIOp>(magnitude, dropped), 1);
  Value rounded = w.make<arith::AddIOp>(
      w.make<arith::AddIOp>(magnitude, (int64_t(1) << (dropped - 1)) - 1), odd);
  Value normal = w.make<arith::SubIOp>(w.make<arith::ShRUIOp>(rounded, dropped),
                                       format.getRebias() << format.fraction);
  const int64_t power = Format::getPower(format.getUnit() + kFraction);
  Value sum = w.make<arith::AddFOp>(w.toFloat(magnitude), w.makeFloat(power));
  Value subnormal = w.make<arith::SubIOp>(w.toBits(sum), power);
  Value isSubnormal =
      w.test(Is::ult, magnitude, Format::getPower(1 - format.bias));
  Value code = w.select(isSubnormal, subnormal, normal);
  Value sign = w.make<arith::AndIOp>(w.make<arith::ShRUIOp>(bits, 24), 0x80);
  Value number = w.make<arith::OrIOp>(code, sign);
  if (format.isFnuz)
    number = w.select(w.test(Is::eq, code, 0), code, number);
  Value isNan = w.test(Is::ugt, all, kInfinity);
  Value result =
      w.select(isNan, w.constant(format.isFnuz ? 0x80 : 0x7f), number);
  return w.cast<arith::TruncIOp>(result,
                                 IntegerType::get(value.getContext(), 8));
}

bool tessera::convertFloat8(Operation *op) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return false;
  Value value = op->getOperand(0);
  Type from = getElementTypeOrSelf(value);
  Type to = getElementTypeOrSelf(op->getResult(0));
  if (!isFloat8(from) && !isFloat8(to))
    return false;
  OpBuilder b(op);
  Words w(b, op->getLoc(), value.getType());
  Value f32 = isFloat8(from) ? extend(w, value, Format(cast<FloatType>(from)))
                             : convertFloat(w, value, b.getF32Type());
  Value result = isFloat8(to)
                     ? w.cast<arith::BitcastOp>(
                           truncate(w, f32, Format(cast<FloatType>(to))), to)
                 : isFloat8(from) && to.isBF16() ? cutToBf16(w, f32)
                                                 : convertFloat(w, f32, to);
  op->replaceAllUsesWith(ValueRange{result});
  op->erase();
  return true;
}
