//===- ConvertOnceTest.cpp - What a conversion says of what it leaves -----===//

#include "compiler/Target/Codegen/ConvertOnce.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/DialectConversion.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {
/// Makes an op of another one with the same operands.
template <typename From, typename To>
struct Replace : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(From op, typename From::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, adaptor.getOperands());
    return success();
  }
};

/// Never matches.
template <typename Op>
struct Refuse : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return rewriter.notifyMatchFailure(op, "is never right");
  }
};

class ConvertOnce : public testing::Test {
protected:
  ConvertOnce() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
  }

  /// Converts a sum by `patterns`, and returns what was reported.
  std::string convert(RewritePatternSet patterns) {
    module = parseSourceString<ModuleOp>(R"(
      func.func @sum(%a: i32, %b: i32) -> i32 {
        %sum = arith.addi %a, %b : i32
        return %sum : i32
      })",
                                         &context);
    std::string reported;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      reported += diagnostic.str() + "\n";
    });
    ConversionTarget legal(context);
    legal.addLegalDialect<func::FuncDialect>();
    legal.addLegalOp<ModuleOp, arith::XOrIOp>();
    const bool isDone =
        succeeded(convertOnce(*module, legal, std::move(patterns), "gfx942"));
    EXPECT_EQ(isDone, reported.empty());
    return reported;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

// What has a pattern is replaced, in as many steps as that takes.
TEST_F(ConvertOnce, Converts) {
  RewritePatternSet patterns(&context);
  patterns.add<Replace<arith::AddIOp, arith::SubIOp>,
               Replace<arith::SubIOp, arith::XOrIOp>>(&context);
  EXPECT_EQ(convert(std::move(patterns)), "");
  int xors = 0;
  module->walk([&](arith::XOrIOp) { ++xors; });
  EXPECT_EQ(xors, 1);
}

// An op without a pattern is named.
TEST_F(ConvertOnce, NamesWhatHasNoPattern) {
  EXPECT_EQ(convert(RewritePatternSet(&context)),
            "'arith.addi' op has no lowering for gfx942\n");
}

// So is one that a pattern made, which would end the process otherwise.
TEST_F(ConvertOnce, NamesWhatAPatternMade) {
  RewritePatternSet patterns(&context);
  patterns.add<Replace<arith::AddIOp, arith::MulIOp>>(&context);
  EXPECT_EQ(convert(std::move(patterns)),
            "'arith.muli' op has no lowering for gfx942\n");
}

// And one whose own pattern does not match.
TEST_F(ConvertOnce, NamesWhatAPatternMadeAndNoneTakes) {
  RewritePatternSet patterns(&context);
  patterns.add<Replace<arith::AddIOp, arith::MulIOp>, Refuse<arith::MulIOp>>(
      &context);
  EXPECT_EQ(convert(std::move(patterns)),
            "'arith.muli' op has no lowering for gfx942\n");
}
