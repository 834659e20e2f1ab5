//===- ConvFrontendTest.cpp - A convolution problem as a module -----------===//

#include "compiler/Frontend/ConvFrontend.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Reference/ReferenceShape.h"

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

  mlir::OwningOpRef<mlir::ModuleOp> build(const ConvProblem &problem) {
    return buildConvModule(context, problem, "conv");
  }
  /// Verifies the module and appends its diagnostics to `messages`.
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
  static std::string print(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }
  /// Returns the text of the epilogue's operands and ops.
  std::string printEpilogue(const Epilogue &epilogue) {
    ConvProblem problem;
    problem.dataType = DataType::F16;
    problem.epilogue = epilogue;
    auto module = build(problem);
    EXPECT_TRUE(verify(*module)) << messages;
    std::string text = print(*module);
    size_t begin = text.find("epilogue"), end = text.find("    } :");
    return text.substr(begin, end - begin);
  }

  mlir::MLIRContext context;
  std::string messages;
};
} // namespace

/// Returns a problem whose lengths all differ, so that none can be taken for
/// another. The output is 5 x 3.
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

/// Returns the same with a depth of 7, 2 taps along it and 3 outputs.
static ConvProblem makeVolume() {
  ConvProblem problem = makeProblem();
  problem.in.d = 7;
  problem.filter.d = 2;
  problem.pad.d = 1;
  problem.stride.d = 3;
  problem.dilation.d = 1;
  return problem;
}

// Compares the whole text once: arguments and attributes follow the convention
// for kernels in the dialect's description.
TEST_F(ConvFrontend, Text) {
  ConvProblem problem = makeProblem();
  problem.wLayout = Layout::NHWC;
  auto module = build(problem);
  ASSERT_TRUE(verify(*module)) << messages;
  EXPECT_EQ(print(*module),
            "module {\n"
            "  func.func @conv(%arg0: memref<4x6x9x11xf16> {dnn.arg = \"x\"}, "
            "%arg1: memref<14x2x3x3xf16> {dnn.arg = \"w\"}, "
            "%arg2: memref<4x14x5x3xf16> {dnn.arg = \"y\"}) "
            "attributes {dnn.kernel} {\n"
            "    dnn.conv forward x(%arg0) w(%arg1) y(%arg2) "
            "layouts(nchw, nhwc, nchw) pads [2, 1] strides [2, 3] "
            "dilations [3, 2] groups 2 : memref<4x6x9x11xf16>, "
            "memref<14x2x3x3xf16>, memref<4x14x5x3xf16>\n"
            "    return\n"
            "  }\n"
            "}\n");
}

// Every combination of layouts, types, directions and depth gives a valid
// module that says what the problem says.
TEST_F(ConvFrontend, EveryLayoutAndType) {
  constexpr Layout kLayouts[] = {Layout::NCHW, Layout::NHWC};
  for (DataType type :
       {DataType::F16, DataType::BF16, DataType::F32, DataType::F64})
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights})
      for (Layout xLayout : kLayouts)
        for (Layout wLayout : kLayouts)
          for (bool deep : {false, true}) {
            ConvProblem problem = deep ? makeVolume() : makeProblem();
            problem.dataType = type;
            problem.direction = direction;
            problem.xLayout = xLayout;
            problem.wLayout = wLayout;
            problem.yLayout = xLayout;
            auto module = build(problem);
            ASSERT_TRUE(verify(*module)) << messages;
            dnn::ConvDims d = findConv(*module).getDims();
            EXPECT_EQ(d.n, 4);
            EXPECT_EQ(d.c, 6);
            EXPECT_EQ(d.d, deep ? 7 : 1);
            EXPECT_EQ(d.h, 9);
            EXPECT_EQ(d.w, 11);
            EXPECT_EQ(d.k, 14);
            EXPECT_EQ(d.z, deep ? 2 : 1);
            EXPECT_EQ(d.y, 2);
            EXPECT_EQ(d.x, 3);
            EXPECT_EQ(d.dOut, deep ? 3 : 1);
            EXPECT_EQ(d.ho, 5);
            EXPECT_EQ(d.wo, 3);
            EXPECT_EQ(d.groups, 2);
            EXPECT_EQ(d.padD, deep ? 1 : 0);
            EXPECT_EQ(d.padH, 2);
            EXPECT_EQ(d.padW, 1);
            EXPECT_EQ(d.strideD, deep ? 3 : 1);
            EXPECT_EQ(d.strideH, 2);
            EXPECT_EQ(d.strideW, 3);
            EXPECT_EQ(d.dilationD, 1);
            EXPECT_EQ(d.dilationH, 3);
            EXPECT_EQ(d.dilationW, 2);
          }
}

// The direction decides which operand is written, and the memory effects agree.
TEST_F(ConvFrontend, DirectionDecidesWhatIsWritten) {
  ConvProblem problem = makeProblem();
  for (auto [direction, written] : {std::pair{Direction::BackwardData, 0u},
                                    std::pair{Direction::BackwardWeights, 1u},
                                    std::pair{Direction::Forward, 2u}}) {
    problem.direction = direction;
    problem.epilogue.beta = true;
    auto module = build(problem);
    dnn::ConvOp conv = findConv(*module);
    EXPECT_EQ(conv.getResultOperand().getOperandNumber(), written);
    EXPECT_EQ(conv.getExtras()[0], conv->getOperand(written));
    llvm::SmallVector<mlir::MemoryEffects::EffectInstance> effects;
    conv.getEffects(effects);
    ASSERT_EQ(effects.size(), 4u);
    for (const auto &effect : effects) {
      auto *operand = effect.getEffectValue<mlir::OpOperand *>();
      EXPECT_EQ(llvm::isa<mlir::MemoryEffects::Write>(effect.getEffect()),
                operand->getOperandNumber() == written);
    }
  }
}

// Strides become those of the memref, and the layout is the one whose order is
// nearest. The stride of a dimension of length 1 does not matter.
TEST_F(ConvFrontend, Strides) {
  ConvProblem problem = makeProblem();
  problem.batch = 1;
  problem.xLayout = problem.yLayout = Layout::Strided;
  problem.xStrides = {.n = 0, .c = 1, .d = 0, .h = 100, .w = 8};
  problem.yStrides = {.n = 0, .c = 20, .d = 0, .h = 4, .w = 1};
  auto module = build(problem);
  ASSERT_TRUE(verify(*module)) << messages;
  const std::string text = print(*module);
  EXPECT_NE(text.find("memref<1x9x11x6xf16, strided<[1, 100, 8, 1]>>"),
            text.npos)
      << text;
  EXPECT_NE(text.find("memref<1x14x5x3xf16, strided<[1, 20, 4, 1]>>"),
            text.npos)
      << text;
  EXPECT_NE(text.find("layouts(nhwc, nchw, nchw)"), text.npos) << text;
}

// The result of an i8 convolution has a type of its own.
TEST_F(ConvFrontend, IntegerResults) {
  ConvProblem problem = makeProblem();
  problem.dataType = DataType::I8;
  for (DataType result : {DataType::I32, DataType::F32, DataType::I8}) {
    problem.byteResult = result;
    // The bias is f32, the residual has the result's type.
    problem.epilogue.bias = problem.epilogue.residual = result != DataType::I32;
    auto module = build(problem);
    ASSERT_TRUE(verify(*module)) << messages;
    EXPECT_EQ(findConv(*module).getY().getType().getElementType().isInteger(32),
              result == DataType::I32);
    if (problem.epilogue.bias) {
      auto bias = mlir::cast<mlir::MemRefType>(
          findConv(*module).getExtras()[0].getType());
      EXPECT_TRUE(bias.getElementType().isF32());
    }
  }
}

// Arguments are tensors and then scalars, each with its name. The region adds
// in the order of the specification.
TEST_F(ConvFrontend, LinearEpilogue) {
  ConvProblem problem;
  problem.dataType = DataType::F16;
  problem.inChannels = 3;
  problem.direction = Direction::BackwardData;
  problem.epilogue = {.alpha = true,
                      .beta = true,
                      .bias = true,
                      .residual = true,
                      .activation = Activation::None};
  auto module = build(problem);
  ASSERT_TRUE(verify(*module)) << messages;
  EXPECT_EQ(
      print(*module),
      "module {\n"
      "  func.func @conv(%arg0: memref<1x3x1x1xf16> {dnn.arg = \"x\"}, "
      "%arg1: memref<1x3x1x1xf16> {dnn.arg = \"w\"}, "
      "%arg2: memref<1x1x1x1xf16> {dnn.arg = \"y\"}, "
      "%arg3: memref<3xf16> {dnn.arg = \"bias\"}, "
      "%arg4: memref<1x3x1x1xf16> {dnn.arg = \"residual\"}, "
      "%arg5: f64 {dnn.arg = \"alpha\"}, %arg6: f64 {dnn.arg = \"beta\"}) "
      "attributes {dnn.kernel} {\n"
      "    dnn.conv backward_data x(%arg0) w(%arg1) y(%arg2) "
      "layouts(nchw, nchw, nchw) pads [0, 0] strides [1, 1] "
      "dilations [1, 1] groups 1 epilogue ins(%arg0, %arg3, %arg4 : "
      "memref<1x3x1x1xf16>, memref<3xf16>, memref<1x3x1x1xf16>) {\n"
      "    ^bb0(%arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32):\n"
      "      %0 = arith.truncf %arg5 : f64 to f32\n"
      "      %1 = arith.mulf %0, %arg7 : f32\n"
      "      %2 = arith.truncf %arg6 : f64 to f32\n"
      "      %3 = arith.mulf %2, %arg8 : f32\n"
      "      %4 = arith.addf %1, %3 : f32\n"
      "      %5 = arith.addf %4, %arg9 : f32\n"
      "      %6 = arith.addf %5, %arg10 : f32\n"
      "      dnn.yield %6 : f32\n"
      "    } : memref<1x3x1x1xf16>, memref<1x3x1x1xf16>, memref<1x1x1x1xf16>\n"
      "    return\n"
      "  }\n"
      "}\n");
}

// A ReLU is a comparison and a selection that lets a NaN through.
TEST_F(ConvFrontend, Relu) {
  EXPECT_EQ(printEpilogue({.activation = Activation::Relu}),
            "epilogue {\n"
            "    ^bb0(%arg3: f32):\n"
            "      %cst = arith.constant 0.000000e+00 : f32\n"
            "      %0 = arith.cmpf olt, %arg3, %cst : f32\n"
            "      %1 = arith.select %0, %cst, %arg3 : f32\n"
            "      dnn.yield %1 : f32\n");
}

// f64 problems compute their epilogue in f64.
TEST_F(ConvFrontend, DoublePrecisionEpilogue) {
  ConvProblem problem;
  problem.dataType = DataType::F64;
  problem.epilogue.alpha = true;
  auto module = build(problem);
  ASSERT_TRUE(verify(*module)) << messages;
  EXPECT_NE(print(*module).find("%0 = arith.mulf %arg3, %arg4 : f64"),
            std::string::npos)
      << print(*module);
}

// Problem, op and reference compute the size of the output separately. They
// must agree, also where the filter is larger than the image.
TEST_F(ConvFrontend, OneOutputSize) {
  ConvProblem problem = makeVolume();
  for (problem.in.d = 1; problem.in.d < 12; ++problem.in.d)
    for (problem.stride.d = 1; problem.stride.d < 4; ++problem.stride.d)
      for (problem.pad.d = 0; problem.pad.d < 3; ++problem.pad.d) {
        problem.in.h = problem.in.d;
        problem.pad.h = problem.pad.d;
        auto module = build(problem);
        EXPECT_TRUE(verify(*module)) << messages;
        const reference::Sizes sizes =
            getReferenceShape(problem).getOutputSizes();
        EXPECT_EQ(sizes.depth, problem.getOutput().d);
        EXPECT_EQ(sizes.row, problem.getOutput().h);
        EXPECT_EQ(sizes.column, problem.getOutput().w);
      }
}

// The verifier refuses what the dialect does not define, and says why.
TEST_F(ConvFrontend, VerifierRefusesWhatIsNotDefined) {
  ConvProblem problem = makeProblem();
  problem.direction = Direction::BackwardWeights;
  problem.dataType = DataType::I8;
  EXPECT_FALSE(verify(*build(problem)));
  EXPECT_EQ(messages, "'dnn.conv' op needs direction forward for i8, but has "
                      "backward_weights");

  messages.clear();
  problem = makeProblem();
  problem.dataType = DataType::I32;
  EXPECT_FALSE(verify(*build(problem)));
  EXPECT_EQ(messages, "'dnn.conv' op needs elements of type f16, bf16, f32, "
                      "f64, i8 or a float of 8 bits, but x has 'i32'");

  messages.clear();
  problem = makeProblem();
  problem.groups = 0;
  EXPECT_FALSE(verify(*build(problem)));
  EXPECT_EQ(messages, "'dnn.conv' op needs at least 1 group, but has 0");
}
