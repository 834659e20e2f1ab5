//===- Wgmma.cpp - Products that read shared memory -----------------------===//

#include "compiler/Conversion/Hopper/Wgmma.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

/// Descriptors count in units of 16 bytes.
static constexpr int64_t kUnit = 16;

/// Swizzled by 128 bytes; 8 rows are 1024 bytes apart. `leading` is the
/// distance of blocks of 64 of a transposed factor, and has no meaning for
/// others.
static constexpr int64_t getDescriptorBits(int64_t leading) {
  return (int64_t(1) << 62) | (int64_t(1024 / kUnit) << 32) |
         (leading / kUnit << 16);
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

Wgmma::Wgmma(Emitter &e, const HopperShape &shape, Type element,
             Transposed transposed, Value base, Value firstRow)
    : e(e), shape(shape), isBF16(element.isBF16()), transposed(transposed) {
  SmallVector<Type> sums(shape.getColumns() / 2, e.b.getF32Type());
  sumType = LLVM::LLVMStructType::getLiteral(e.b.getContext(), sums);
  constexpr int64_t kAddressMask = 0x3fff;
  Value address = extend(e, e.andi(e.shru(base, 4), kAddressMask));
  Value row = extend(e, e.mul(firstRow, kRowBytes / kUnit));
  descriptorA = addLong(
      e, addLong(e, address, makeLong(e, getDescriptorBits(kUnit))), row);
  const int64_t bits =
      getDescriptorBits(transposed.b ? transposed.blockBytes : kUnit);
  descriptorB =
      addLong(e, address, makeLong(e, bits + shape.getOffsetB() / kUnit));
}

SmallVector<Value> Wgmma::makeSums() {
  Value undefined = LLVM::UndefOp::create(e.b, e.loc, sumType);
  return SmallVector<Value>(shape.blocks, undefined);
}

SmallVector<Value> Wgmma::multiply(const Place &place, ArrayRef<Value> sums,
                                   bool isFirst) {
  auto locate = [&](Value descriptor, Value bytes) {
    return addLong(e, descriptor, extend(e, e.shru(bytes, 4)));
  };
  Value a = locate(descriptorA, place.a);
  auto locateB = [&](int64_t k, int64_t step) {
    if (!place.sharesB.empty())
      return locate(descriptorB, place.sharesB[k]);
    return addLong(e, locate(descriptorB, place.b), makeLong(e, k * step));
  };
  auto type = isBF16 ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
  // From one instruction's share of a step to the next: along rows, or, of a
  // transposed factor, over 16 of them.
  constexpr int64_t kAlongRow = kReduction * 2 / kUnit;
  constexpr int64_t kOverRows = kReduction * kRowBytes / kUnit;
  const int64_t stepA = transposed.a ? kOverRows : kAlongRow;
  const int64_t stepB = transposed.b ? kOverRows : kAlongRow;
  auto mnk = NVVM::MMAShapeAttr::get(e.b.getContext(), kWgmmaRows,
                                     shape.getColumns(), kReduction);
  SmallVector<Value> results(sums);
  NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
  for (int64_t k = 0; k < kRowBytes / (kReduction * 2); ++k) {
    Value b = locateB(k, stepB);
    for (int64_t block = 0; block < shape.blocks; ++block) {
      const int64_t rowUnits = block * kWgmmaRows * kRowBytes / kUnit;
      results[block] = NVVM::WgmmaMmaAsyncOp::create(
          e.b, e.loc, sumType, results[block],
          addLong(e, a, makeLong(e, k * stepA + rowUnits)), b, mnk, type, type,
          NVVM::WGMMATypes::f32,
          isFirst && k == 0 ? NVVM::WGMMAScaleOut::zero
                            : NVVM::WGMMAScaleOut::one,
          NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
          transposed.a ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          transposed.b ? NVVM::MMALayout::row : NVVM::MMALayout::col, nullptr);
    }
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
  return results;
}

void Wgmma::wait(int64_t groups) {
  NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, groups);
}
