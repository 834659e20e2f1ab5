//===- LowerMath.cpp - Functions that the chips have instructions for -----===//
//
// Upstream turns math ops into calls of the vendor's device library, which we
// do not link. The code generators have exp2 and log2 of their own; a frontend
// builds what it needs on these two.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/ConvertFloat8.h"
#include "compiler/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERMATH
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;

/// The conversion to the llvm dialect refuses the ops of these intrinsics, so
/// they are called by name.
static Value createCall(OpBuilder &b, Location loc, StringRef name, Type type,
                        ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name),
                                       operands)
      .getResult(0);
}

static Value createCalls(Operation *op, tessera::Intrinsic intrinsic) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type type = op->getResultTypes()[0];
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || intrinsic.takesVectors)
    return createCall(b, loc, intrinsic.name, type, op->getOperands());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(vector::ExtractOp::create(b, loc, operand, i));
    elements.push_back(
        createCall(b, loc, intrinsic.name, vector.getElementType(), operands));
  }
  return vector::FromElementsOp::create(b, loc, vector, elements);
}

/// NVIDIA's chips have no instruction that extends a bf16. It is the upper half
/// of the f32: two of them take a shift and a mask, where the code generator
/// takes them out of their register first.
static Value extendBf16(arith::ExtFOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  int64_t count = cast<VectorType>(op.getType()).getNumElements();
  Value words = vector::BitCastOp::create(
      b, loc, VectorType::get(count / 2, b.getI32Type()), op.getIn());
  Value shift = arith::ConstantIntOp::create(b, loc, 16, 32);
  Value mask = arith::ConstantIntOp::create(b, loc, -0x10000, 32);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value word = vector::ExtractOp::create(b, loc, words, i / 2);
    Value bits = i % 2 == 0
                     ? arith::ShLIOp::create(b, loc, word, shift).getResult()
                     : arith::AndIOp::create(b, loc, word, mask).getResult();
    elements.push_back(arith::BitcastOp::create(b, loc, b.getF32Type(), bits));
  }
  return vector::FromElementsOp::create(b, loc, op.getType(), elements);
}

/// Whether extendBf16() is for it.
static bool extendsPairs(Operation *op) {
  auto extend = dyn_cast<arith::ExtFOp>(op);
  auto type =
      extend ? dyn_cast<VectorType>(extend.getIn().getType()) : VectorType();
  return type && type.getRank() == 1 && type.getElementType().isBF16() &&
         type.getNumElements() % 2 == 0 &&
         getElementTypeOrSelf(extend.getType()).isF32();
}

/// Whether takeLowBytes() is for it.
static bool takesBytesOfFloats(Operation *op) {
  auto truncation = dyn_cast<arith::TruncIOp>(op);
  return truncation && getElementTypeOrSelf(op->getResult(0)).isInteger(8) &&
         truncation.getIn().getDefiningOp<arith::BitcastOp>();
}

/// NVIDIA's assembler converts the number where a byte of a register that an
/// instruction on floats has written is stored (12.8 and 13.0: `add.f32 %r1`,
/// `st.global.b8 [%rd1], %r1` become F2IP.U8.F32), so that the byte is taken by
/// an instruction on integers first.
static Value takeLowBytes(arith::TruncIOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type i32 = b.getI32Type();
  // As text, since LLVM knows that the byte is the same without it.
  auto takeByte = [&](Value word) {
    return LLVM::InlineAsmOp::create(
               b, loc, TypeRange(i32), word, "and.b32 $0, $1, 255;", "=r,r",
               /*has_side_effects=*/false, /*is_align_stack=*/false,
               LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
               ArrayAttr())
        .getRes();
  };
  auto vector = dyn_cast<VectorType>(op.getType());
  if (!vector)
    return arith::TruncIOp::create(b, loc, op.getType(), takeByte(op.getIn()));
  SmallVector<Value> words;
  for (int64_t i = 0; i < vector.getNumElements(); ++i)
    words.push_back(takeByte(vector::ExtractOp::create(b, loc, op.getIn(), i)));
  Value all = vector::FromElementsOp::create(b, loc, vector.clone(i32), words);
  return arith::TruncIOp::create(b, loc, vector, all);
}

namespace {
struct LowerMath : tessera::impl::LowerMathBase<LowerMath> {
  using Base::Base;

  void runOnOperation() override {
    const tessera::GpuTarget *target = tessera::getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    std::unique_ptr<tessera::DeviceOps> device =
        tessera::createDeviceOps(*target);
    getOperation().walk([&](Operation *op) {
      if (!isa_and_present<arith::ArithDialect, math::MathDialect>(
              op->getDialect()))
        return;
      if (tessera::convertFloat8(op))
        return;
      if (target->vendor == tessera::Vendor::Nvidia && extendsPairs(op)) {
        op->replaceAllUsesWith(ValueRange{extendBf16(cast<arith::ExtFOp>(op))});
        op->erase();
        return;
      }
      if (target->vendor == tessera::Vendor::Nvidia && takesBytesOfFloats(op)) {
        Value bytes = takeLowBytes(cast<arith::TruncIOp>(op));
        op->replaceAllUsesWith(ValueRange{bytes});
        op->erase();
        return;
      }
      tessera::Intrinsic intrinsic = device->getIntrinsic(op);
      if (intrinsic.name.empty())
        return;
      op->replaceAllUsesWith(ValueRange{createCalls(op, intrinsic)});
      op->erase();
    });
  }
};
} // namespace
