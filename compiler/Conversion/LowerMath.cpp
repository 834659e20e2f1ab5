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

namespace tessera {
#define GEN_PASS_DEF_LOWERMATH
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;

/// The conversion to the llvm dialect refuses the ops of these intrinsics, so
/// they are called by name.
static void replaceByCall(Operation *op, StringRef name) {
  OpBuilder b(op);
  auto call =
      LLVM::CallIntrinsicOp::create(b, op->getLoc(), op->getResultTypes()[0],
                                    b.getStringAttr(name), op->getOperands());
  op->replaceAllUsesWith(call);
  op->erase();
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
      if (!isa_and_present<math::MathDialect>(op->getDialect()))
        return;
      if (StringRef name = device->getIntrinsic(op); !name.empty())
        replaceByCall(op, name);
    });
  }
};
} // namespace
