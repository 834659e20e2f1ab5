//===- LowerMath.cpp - Functions that the chips have instructions for -----===//
//
// Upstream turns math ops into calls of AMD's device library, which we do not
// link. The code generator has exp2 and log2 of its own, right to one unit in
// the last place; a frontend builds what it needs on these two.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERMATH
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;

/// The conversion to the llvm dialect refuses the ops of these intrinsics, so
/// they are called by name.
static void callIntrinsic(Operation *op, StringRef name) {
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
    getOperation().walk([](Operation *op) {
      bool isExp2 = isa<math::Exp2Op>(op);
      if ((isExp2 || isa<math::Log2Op>(op)) &&
          getElementTypeOrSelf(op->getResult(0)).isF32())
        callIntrinsic(op, isExp2 ? "llvm.exp2" : "llvm.log2");
    });
  }
};
} // namespace
