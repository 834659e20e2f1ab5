//===- ConvFrontendTest.cpp - A convolution problem as a module -----------===//

#include "compiler/Frontend/ConvFrontend.h"
#include "compiler/Frontend/ReferenceShape.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {
class ConvFrontend : public testing::Test {
protected:
  ConvFrontend() : context(mlir::MLIRContext::Threading::DISABLED) {}

  /// Builds the module; its messages go to `messages`.
  mlir::OwningOpRef<mlir::ModuleOp> build(const ConvProblem &problem) {
    return buildConvModule(context, problem, "conv");
  }
  bool verify(mlir::ModuleOp module) {
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            messages += diagnostic.str();
                                            return mlir::success();
                                          });
    return mlir::succeeded(mlir::verify(module));
  }
  static dnn::ConvOp findConv(mlir::ModuleOp module) {
    dnn::ConvOp found;
    module.walk([&](dnn::ConvOp conv) { found = conv; });
    return found;
  }

  mlir::MLIRContext context;
  std::string messages;
};
} // namespace

/// A problem in which no two numbers are alike and the output is 5 x 3.
static ConvProblem makeProblem() {
  ConvProblem problem;
  problem.dataType = DataType::F16;
  problem.batch = 4;
  problem.inChannels = 6;
  problem.outChannels = 14;
  problem.groups = 2;
  problem.in = {9, 11};
  problem.filter = {2, 3};
  problem.pad = {2, 1};
  problem.stride = {2, 3};
  problem.dilation = {3, 2};
  return problem;
}

// The whole text, once: the kernel convention of the dialect's description.
TEST_F(ConvFrontend, Text) {
  ConvProblem problem = makeProblem();
  problem.wLayout = Layout::NHWC;
  auto module = build(problem);
  ASSERT_TRUE(verify(*module)) << messages;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  EXPECT_EQ(text,
            "module {\n"
            "  func.func @conv(%arg0: memref<4x6x9x11xf16> {dnn.arg = \"x\"}, "
            "%arg1: memref<14x2x3x3xf16> {dnn.arg = \"w\"}, "
            "%arg2: memref<4x14x5x3xf16> {dnn.arg = \"y\"}) "
            "attributes {dnn.kernel} {\n"
            "    dnn.conv forward ins(%arg0, %arg1) outs(%arg2) "
            "layouts(nchw, nhwc, nchw) pads [2, 1] strides [2, 3] "
            "dilations [3, 2] groups 2 : memref<4x6x9x11xf16>, "
            "memref<14x2x3x3xf16>, memref<4x14x5x3xf16>\n"
            "    return\n"
            "  }\n"
            "}\n");
}

// Every combination of layouts and types gives a valid module that says what
// the problem says.
TEST_F(ConvFrontend, EveryLayoutAndType) {
  ConvProblem problem = makeProblem();
  constexpr Layout kLayouts[] = {Layout::NCHW, Layout::NHWC};
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32})
    for (Layout xLayout : kLayouts)
      for (Layout wLayout : kLayouts)
        for (Layout yLayout : kLayouts) {
          problem.dataType = type;
          problem.xLayout = xLayout;
          problem.wLayout = wLayout;
          problem.yLayout = yLayout;
          auto module = build(problem);
          ASSERT_TRUE(verify(*module)) << messages;
          dnn::ConvDims d = findConv(*module).getDims();
          EXPECT_EQ(d.n, 4);
          EXPECT_EQ(d.c, 6);
          EXPECT_EQ(d.h, 9);
          EXPECT_EQ(d.w, 11);
          EXPECT_EQ(d.k, 14);
          EXPECT_EQ(d.y, 2);
          EXPECT_EQ(d.x, 3);
          EXPECT_EQ(d.ho, 5);
          EXPECT_EQ(d.wo, 3);
          EXPECT_EQ(d.groups, 2);
          EXPECT_EQ(d.padH, 2);
          EXPECT_EQ(d.padW, 1);
          EXPECT_EQ(d.strideH, 2);
          EXPECT_EQ(d.strideW, 3);
          EXPECT_EQ(d.dilationH, 3);
          EXPECT_EQ(d.dilationW, 2);
        }
}

// Problem, op and reference each compute the output's size; they agree, also
// where the filter is larger than the image.
TEST_F(ConvFrontend, OneOutputSize) {
  ConvProblem problem = makeProblem();
  for (problem.in.h = 1; problem.in.h < 12; ++problem.in.h)
    for (problem.stride.h = 1; problem.stride.h < 4; ++problem.stride.h)
      for (problem.pad.h = 0; problem.pad.h < 3; ++problem.pad.h) {
        auto module = build(problem);
        EXPECT_TRUE(verify(*module)) << messages;
        const reference::Sizes sizes =
            getReferenceShape(problem).getOutputSizes();
        EXPECT_EQ(sizes.row, problem.getOutput().h);
        EXPECT_EQ(sizes.column, problem.getOutput().w);
      }
}

// What the dialect cannot say yet is refused by the verifier, in a sentence.
TEST_F(ConvFrontend, VerifierRefusesWhatIsNotDefined) {
  ConvProblem problem = makeProblem();
  problem.direction = Direction::BackwardWeights;
  EXPECT_FALSE(verify(*build(problem)));
  EXPECT_EQ(messages,
            "'dnn.conv' op needs direction forward, but has backward_weights");

  messages.clear();
  problem = makeProblem();
  problem.dataType = DataType::I8;
  EXPECT_FALSE(verify(*build(problem)));
  EXPECT_EQ(messages, "'dnn.conv' op needs elements of type f16, bf16 or f32, "
                      "but x has 'i8'");

  messages.clear();
  problem = makeProblem();
  problem.groups = 0;
  EXPECT_FALSE(verify(*build(problem)));
  EXPECT_EQ(messages, "'dnn.conv' op needs at least 1 group, but has 0");
}
