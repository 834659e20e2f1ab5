//===- WarpMatrix.cpp - The matrix instructions of a warp -----------------===//

#include "compiler/Conversion/Nvidia/WarpMatrix.h"
#include "compiler/Conversion/Common/DeviceOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

/// The members of a struct.
static SmallVector<Value> unpack(Emitter &e, Value structure, int64_t count) {
  SmallVector<Value> members;
  for (int64_t i = 0; i < count; ++i)
    members.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, structure, i));
  return members;
}

SmallVector<Value> tessera::readMatrices(Emitter &e, Value pointer,
                                         bool isTransposed) {
  constexpr int64_t kMatrices = 4;
  MLIRContext *context = e.b.getContext();
  auto registers = LLVM::LLVMStructType::getLiteral(
      context, SmallVector<Type>(kMatrices, e.b.getI32Type()));
  Value read = NVVM::LdMatrixOp::create(
      e.b, e.loc, registers, pointer, kMatrices,
      isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltType::B16);
  return unpack(e, read, kMatrices);
}

void tessera::writeMatrices(Emitter &e, Value pointer, ArrayRef<Value> words,
                            bool isTransposed) {
  NVVM::StMatrixOp::create(
      e.b, e.loc, pointer, words,
      isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
}

Value tessera::roundToTf32(Emitter &e, Value word) {
  Value value = LLVM::BitcastOp::create(e.b, e.loc, e.b.getF32Type(), word);
  return callIntrinsic(e, "llvm.nvvm.f2tf32.rna", e.b.getI32Type(), {value});
}

SmallVector<Value> tessera::multiplyMatrices(Emitter &e, Type element,
                                             ValueRange a, ValueRange b,
                                             ValueRange c) {
  using Types = std::array<NVVM::MMATypes, 2>;
  constexpr std::array kLayouts = {NVVM::MMALayout::row, NVVM::MMALayout::col};
  std::optional<Types> types;
  if (element.isBF16())
    types = {NVVM::MMATypes::bf16, NVVM::MMATypes::bf16};
  if (element.isF32())
    types = {NVVM::MMATypes::tf32, NVVM::MMATypes::tf32};
  // Of f16 the op wants pairs.
  auto convert = [&](ValueRange registers) {
    SmallVector<Value> values(registers);
    if (element.isF16())
      for (Value &value : values)
        value = LLVM::BitcastOp::create(e.b, e.loc, VectorType::get(2, element),
                                        value);
    return values;
  };
  constexpr int64_t kSums = 4;
  const int64_t perRegister = element.isF32() ? 4 : 8;
  auto sums = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(kSums, e.b.getF32Type()));
  Value product = NVVM::MmaOp::create(
      e.b, e.loc, sums, convert(a), convert(b), c,
      ArrayRef<int64_t>{16, 8, perRegister * static_cast<int64_t>(b.size())},
      std::nullopt, std::nullopt, types, kLayouts);
  return unpack(e, product, kSums);
}

void tessera::lowerProduct(Emitter &e, nvgpu::MmaSyncOp op) {
  auto takeRows = [&](Value fragment) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < cast<VectorType>(fragment.getType()).getDimSize(0);
         ++i)
      rows.push_back(vector::ExtractOp::create(e.b, e.loc, fragment, i));
    return rows;
  };
  auto toWords = [&](SmallVector<Value> rows) {
    for (Value &row : rows)
      row = LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), row);
    return rows;
  };
  SmallVector<Value> sums;
  for (Value row : takeRows(op.getMatrixC()))
    for (int64_t i = 0; i < 2; ++i)
      sums.push_back(vector::ExtractOp::create(e.b, e.loc, row, i));
  sums = multiplyMatrices(
      e, cast<VectorType>(op.getMatrixA().getType()).getElementType(),
      toWords(takeRows(op.getMatrixA())), toWords(takeRows(op.getMatrixB())),
      sums);
  op.replaceAllUsesWith(
      vector::FromElementsOp::create(e.b, e.loc, op.getRes().getType(), sums)
          .getResult());
  op.erase();
}

Value tessera::exchangeLanes(Emitter &e, Value value, int64_t mask) {
  constexpr int64_t kAllLanes = -1, kClamp = 31;
  return NVVM::ShflOp::create(
      e.b, e.loc, value.getType(), e.constant(kAllLanes), value,
      e.constant(mask), e.constant(kClamp), NVVM::ShflKind::bfly, UnitAttr());
}
