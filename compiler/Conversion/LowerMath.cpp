//===- LowerMath.cpp - Functions that the chips have instructions for -----===//
//
// Upstream turns math ops into calls of the vendor's device library, which we
// do not link. The code generators have exp2 and log2 of their own; a frontend
// builds what it needs on these two.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/DeviceOps.h"
#include "compiler/Conversion/KernelFunction.h"
#include "compiler/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
      tessera::Intrinsic intrinsic = device->getIntrinsic(op);
      if (intrinsic.name.empty())
        return;
      op->replaceAllUsesWith(ValueRange{createCalls(op, intrinsic)});
      op->erase();
    });
  }
};
} // namespace
