//===- Wgmma.cpp - Products that read shared memory -----------------------===//

#include "compiler/Conversion/Hopper/Wgmma.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

/// Descriptors count in units of 16 bytes.
static constexpr int64_t kUnit = 16;

/// Swizzled by the `rowBytes` of a row, of which 1, 2 and 3 stand for 128, 64
/// and 32; then the distance of 8 rows, `stride`. `leading` is that of blocks
/// of a transposed operand, and has no meaning for others.
static constexpr int64_t getDescriptorBits(int64_t rowBytes, int64_t leading,
                                           int64_t stride) {
  const int64_t swizzle = rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
  return (swizzle << 62) | (stride / kUnit << 32) | (leading / kUnit << 16);
}

static constexpr int64_t getDescriptorBits(int64_t rowBytes, int64_t leading) {
  return getDescriptorBits(rowBytes, leading, 8 * rowBytes);
}

static Value makeLong(Emitter &e, int64_t value) {
  return e.constant(e.b.getI64IntegerAttr(value));
}

static Value addLong(Emitter &e, Value lhs, Value rhs) {
  return arith::AddIOp::create(e.b, e.loc, lhs, rhs);
}

static Value extend(Emitter &e, Value value) {
  return arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), value);
}

Wgmma::Wgmma(Emitter &e, const HopperShape &shape, Type element, Operand a,
             Operand b, Value base, Value firstRow)
    : e(e), shape(shape), element(element), operandA(a), operandB(b) {
  SmallVector<Type> sums(shape.getProductColumns() / 2, e.b.getF32Type());
  sumType = LLVM::LLVMStructType::getLiteral(e.b.getContext(), sums);
  constexpr int64_t kAddressMask = 0x3fff;
  Value address = extend(e, e.andi(e.shru(base, 4), kAddressMask));
  Value row = extend(e, e.mul(firstRow, shape.rowBytes / kUnit));
  const int64_t bitsA = a.isTransposed
                            ? getDescriptorBits(a.rowBytes, a.blockBytes)
                            : getDescriptorBits(shape.rowBytes, kUnit);
  descriptorA = addLong(e, addLong(e, address, makeLong(e, bitsA)), row);
  // Rows of terms are half as long as those of f32, 8 of them as far apart.
  const int64_t bits =
      b.isTransposed    ? getDescriptorBits(b.rowBytes, b.blockBytes)
      : shape.splitsF32 ? getDescriptorBits(kRowBytes / 2, kUnit, 8 * kRowBytes)
                        : getDescriptorBits(shape.rowBytes, kUnit);
  descriptorB =
      addLong(e, address, makeLong(e, bits + shape.getOffsetB() / kUnit));
}

SmallVector<Value> Wgmma::makeSums() {
  Value undefined = LLVM::UndefOp::create(e.b, e.loc, sumType);
  return SmallVector<Value>(shape.blocks, undefined);
}

static NVVM::WGMMATypes getType(Type element) {
  return TypeSwitch<Type, NVVM::WGMMATypes>(element)
      .Case<Float32Type>([](Type) { return NVVM::WGMMATypes::tf32; })
      .Case<BFloat16Type>([](Type) { return NVVM::WGMMATypes::bf16; })
      .Case<Float8E4M3FNType>([](Type) { return NVVM::WGMMATypes::e4m3; })
      .Case<Float8E5M2Type>([](Type) { return NVVM::WGMMATypes::e5m2; })
      .Default([](Type) { return NVVM::WGMMATypes::f16; });
}

SmallVector<Value> Wgmma::multiply(const Place &place, ArrayRef<Value> sums,
                                   bool isFirst, std::optional<Shares> shares) {
  auto locate = [&](Value descriptor, Value bytes) {
    return addLong(e, descriptor, extend(e, e.shru(bytes, 4)));
  };
  const bool hasSharesA = !place.sharesA.empty();
  Value a = hasSharesA ? Value() : locate(descriptorA, place.a);
  auto locateB = [&](int64_t k) {
    return locate(descriptorB,
                  place.sharesB.empty() ? place.b : place.sharesB[k]);
  };
  const NVVM::WGMMATypes type = getType(element);
  const int64_t reduction =
      kReductionBytes * 8 / element.getIntOrFloatBitWidth();
  // From one instruction's share of a step to the next: along rows, or, of a
  // transposed operand, over as many of them.
  constexpr int64_t kAlongRow = kReductionBytes / kUnit;
  auto getStep = [&](const Operand &operand) {
    return operand.isTransposed ? reduction * operand.rowBytes / kUnit
                                : kAlongRow;
  };
  const int64_t stepA = getStep(operandA);
  const int64_t stepB = place.sharesB.empty() ? getStep(operandB) : 0;
  auto mnk = NVVM::MMAShapeAttr::get(e.b.getContext(), kWgmmaRows,
                                     shape.getProductColumns(), reduction);
  const auto row = NVVM::MMALayout::row, col = NVVM::MMALayout::col;
  const bool isSwapped = shape.isSwapped;
  const bool turnsRows =
      isSwapped ? operandB.isTransposed : operandA.isTransposed;
  const bool turnsColumns =
      isSwapped ? operandA.isTransposed : operandB.isTransposed;
  SmallVector<Value> results(sums);
  NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
  const auto [first, count] =
      shares.value_or(Shares{0, shape.rowBytes / kReductionBytes});
  for (int64_t k = first; k < first + count; ++k) {
    Value b = locateB(k);
    for (int64_t block = 0; block < shape.blocks; ++block) {
      const int64_t rowUnits = block * kWgmmaRows * shape.rowBytes / kUnit;
      Value ofA =
          hasSharesA
              ? locate(descriptorA, place.sharesA[k * shape.blocks + block])
              : addLong(e, a,
                        makeLong(e, k * stepA + (isSwapped ? 0 : rowUnits)));
      Value ofB =
          addLong(e, b, makeLong(e, k * stepB + (isSwapped ? rowUnits : 0)));
      results[block] = NVVM::WgmmaMmaAsyncOp::create(
          e.b, e.loc, sumType, results[block], isSwapped ? ofB : ofA,
          isSwapped ? ofA : ofB, mnk, type, type, NVVM::WGMMATypes::f32,
          isFirst && k == first ? NVVM::WGMMAScaleOut::zero
                                : NVVM::WGMMAScaleOut::one,
          NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
          turnsRows ? col : row, turnsColumns ? row : col, nullptr);
    }
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
  return results;
}

/// One wgmma of tf32, or of terms of bf16. Upstream's op has no form with A in
/// registers.
Value Wgmma::multiplyFragment(ArrayRef<Value> a, Value b, Value sums,
                              bool isFirst) {
  const int64_t count = shape.tileN / 2;
  auto list = [](int64_t first, int64_t size) {
    std::string text = "{";
    for (int64_t i = first; i < first + size; ++i)
      text += (i == first ? "$" : ", $") + std::to_string(i);
    return text + "}";
  };
  const auto registers = static_cast<int64_t>(a.size());
  std::string text = "{\n.reg .pred p;\nsetp.ne.b32 p, ";
  text += isFirst ? "0" : "1";
  text += ", 0;\nwgmma.mma_async.sync.aligned.m64n" +
          std::to_string(shape.tileN) +
          (shape.splitsF32 ? "k16.f32.bf16.bf16 " : "k8.f32.tf32.tf32 ") +
          list(0, count) + ", " + list(2 * count, registers) + ", $" +
          std::to_string(2 * count + registers) + ", p, 1, 1" +
          (!shape.splitsF32        ? ""
           : operandB.isTransposed ? ", 1"
                                   : ", 0") +
          ";\n}";
  std::string constraints;
  SmallVector<Value> operands;
  for (int64_t i = 0; i < count; ++i) {
    constraints += "=f,";
    operands.push_back(
        LLVM::ExtractValueOp::create(e.b, e.loc, sums, ArrayRef(i)));
  }
  for (int64_t i = 0; i < count; ++i)
    constraints += std::to_string(i) + ",";
  for (Value value : a) {
    constraints += "r,";
    operands.push_back(value);
  }
  operands.push_back(b);
  return LLVM::InlineAsmOp::create(
             e.b, e.loc, TypeRange(sumType), operands, text, constraints + "l",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
             ArrayAttr())
      .getRes();
}

SmallVector<Value> Wgmma::multiplyFragments(Value stage,
                                            ArrayRef<Value> fragments,
                                            ArrayRef<Value> sums,
                                            bool isFirst) {
  constexpr int64_t kRegisters = 4;
  constexpr int64_t kAlongRow = kReductionBytes / kUnit;
  Value offset = extend(e, e.mul(stage, shape.getBytesB() / kUnit));
  Value b = addLong(e, descriptorB, offset);
  SmallVector<Value> results(sums);
  NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
  for (int64_t k = 0; k < kShares; ++k)
    for (int64_t block = 0; block < shape.blocks; ++block)
      results[block] = multiplyFragment(
          fragments.slice((block * kShares + k) * kRegisters, kRegisters),
          addLong(e, b, makeLong(e, k * kAlongRow)), results[block],
          isFirst && k == 0);
  NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
  return results;
}

SmallVector<Value>
Wgmma::multiplyTerms(Value stage, ArrayRef<SmallVector<SplitPair>> fragments,
                     ArrayRef<Value> sums, bool isFirst) {
  constexpr int64_t kReduction = 16; // Rows, if columns lie together.
  const int64_t shareBytes =
      operandB.isTransposed ? kReduction * kRowBytes : kReductionBytes;
  Value offset = extend(e, e.mul(stage, shape.getBytesB() / kUnit));
  Value b = addLong(e, descriptorB, offset);
  SmallVector<Value> results(sums);
  auto multiplyShare = [&](int64_t share, const TermProduct &product) {
    const int64_t term = getTermOffset(shape, product.b, operandB.isTransposed);
    Value ofB = addLong(e, b, makeLong(e, (share * shareBytes + term) / kUnit));
    for (int64_t block = 0; block < shape.blocks; ++block) {
      SmallVector<Value> a;
      for (const SplitPair &pair : fragments[share * shape.blocks + block])
        a.push_back(pair.terms[product.a]);
      results[block] = multiplyFragment(a, ofB, results[block], isFirst);
    }
    isFirst = false;
  };
  NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
  for (int64_t share = 0; share < kSplitShares; ++share)
    for (const TermProduct &product : kSmallProducts)
      multiplyShare(share, product);
  for (int64_t share = 0; share < kSplitShares; ++share)
    multiplyShare(share, {SplitPair::First, SplitPair::First});
  NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
  return results;
}

void Wgmma::wait(int64_t groups) {
  NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, groups);
}

void tessera::emitTakeTurn(Emitter &e, Value consumer) {
  NVVM::BarrierOp::create(e.b, e.loc, TypeRange(), e.add(consumer, 1),
                          e.constant(2 * kWarpgroup), nullptr, Value());
}

void tessera::emitPassTurn(Emitter &e, Value consumer, int64_t consumers) {
  Value next = e.add(consumer, 1);
  next = e.select(e.ult(next, consumers), next, e.constant(0));
  NVVM::BarrierArriveOp::create(e.b, e.loc, e.add(next, 1),
                                e.constant(2 * kWarpgroup));
}

/// lhs + rhs, each the accumulators of one product.
Value tessera::addAccumulators(Emitter &e, Value lhs, Value rhs) {
  auto type = cast<LLVM::LLVMStructType>(lhs.getType());
  Value sums = LLVM::UndefOp::create(e.b, e.loc, type);
  for (int64_t i = 0, count = type.getBody().size(); i < count; ++i) {
    Value sum = arith::AddFOp::create(
        e.b, e.loc, LLVM::ExtractValueOp::create(e.b, e.loc, lhs, ArrayRef(i)),
        LLVM::ExtractValueOp::create(e.b, e.loc, rhs, ArrayRef(i)));
    sums = LLVM::InsertValueOp::create(e.b, e.loc, sums, sum, ArrayRef(i));
  }
  return sums;
}
