//===- ConvertOnce.cpp - A conversion that keeps nothing back -------------===//

#include "compiler/Target/Codegen/ConvertOnce.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Takes the ops that no other pattern takes. A pattern that fails on what
/// another one made is what MLIR cannot undo, so this one reports the op and
/// succeeds: it leaves values that come from nowhere.
struct ReportLeftOver : ConversionPattern {
  ReportLeftOver(MLIRContext *context, StringRef chip, bool &hasFailed)
      : ConversionPattern(MatchAnyOpTypeTag(), /*benefit=*/0, context),
        chip(chip), hasFailed(hasFailed) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> /*operands*/,
                  ConversionPatternRewriter &rewriter) const override {
    op->emitOpError("has no lowering for ") << chip;
    hasFailed = true;
    SmallVector<Value> values;
    for (Type type : op->getResultTypes())
      values.push_back(UnrealizedConversionCastOp::create(
                           rewriter, op->getLoc(), type, ValueRange())
                           .getResult(0));
    rewriter.replaceOp(op, values);
    return success();
  }

  StringRef chip;
  bool &hasFailed;
};
} // namespace

LogicalResult tessera::convertOnce(Operation *root, ConversionTarget &legal,
                                   RewritePatternSet patterns, StringRef chip) {
  bool hasFailed = false;
  patterns.add<ReportLeftOver>(patterns.getContext(), chip, hasFailed);
  legal.addLegalOp<UnrealizedConversionCastOp>();
  ConversionConfig config;
  config.allowPatternRollback = false;
  const LogicalResult result =
      applyPartialConversion(root, legal, std::move(patterns), config);
  return success(succeeded(result) && !hasFailed);
}
