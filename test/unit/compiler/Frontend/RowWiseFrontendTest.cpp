//===- RowWiseFrontendTest.cpp - Row-wise problems as modules -------------===//

#include "compiler/Frontend/RowWiseFrontend.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace tessera;

static RowWiseProblem parse(std::string_view text) {
  ErrorOr<Problem> problem = parseNetworkConfig(text);
  EXPECT_TRUE(problem) << problem.getStatus().getMessage();
  return problem ? *problem->getRows() : RowWiseProblem();
}

static ErrorOr<std::string> print(const RowWiseProblem &problem) {
  mlir::MLIRContext context;
  auto module = buildRowWiseModule(context, problem, "rowwise");
  if (!module)
    return module.getStatus();
  EXPECT_TRUE(mlir::succeeded(mlir::verify(**module)))
      << problem.toNetworkConfig();
  std::string text;
  llvm::raw_string_ostream(text) << **module;
  return text;
}

// Element-wise operations of all types and shapes give valid modules.
TEST(RowWiseFrontend, MakesValidModules) {
  for (const char *text :
       {"rowwise-activ_fwd-m0-120-r-i:f32:1-o:f32:1",
        "rowwise-activ_fwd-m6-7x120-r-i:bf16:130:1-o:f16:120:1",
        "rowwise-activ_fwd-m10-120-r-i:f64:1-o:f64:1",
        "rowwise-activ_bwd-m2-120-r-i:f16:1-i:f16:1-i:f16:1-o:f16:1",
        "rowwise-op_tensor-m0-3x4-r-i:f32:4:1-i:f32:0:1-o:f32:4:1",
        "rowwise-op_tensor-m3-12-r-i:i32:1-i:i32:1-i:i32:1-o:i32:1",
        "rowwise-op_tensor-m2-12-r-i:i8:1-i:i8:0-o:i8:1",
        "rowwise-set-m0-12-r-o:i64:1", "rowwise-set-m0-12-r-o:f64:1",
        "rowwise-scale-m0-12-r-i:i32:1-o:i32:1",
        "rowwise-transform-m0-12-r-i:i64:1-o:i8:1",
        "rowwise-transform-m0-12-r-i:i64:1-o:bf16:1",
        "rowwise-transform-m0-12-r-i:f16:1-o:i64:1",
        "rowwise-transform-m1-12-r-i:f16:1-i:f32:1-o:f32:1",
        "rowwise-dropout-m1-12-r-i:f16:1-i:i64:0-i:i64:0-o:f16:1-o:i8:1",
        "rowwise-dropout_mask-m0-12-r-i:f16:1-i:i8:1-o:f16:1",
        "rowwise-dropout_advance-m0-1-r-i:i64:0-o:i64:0",
        "rowwise-glu_fwd-m0-12-r-i:f16:1-i:f16:1-o:f16:1",
        "rowwise-glu_bwd-m0-12-r-i:f32:1-i:f32:1-i:f32:1-o:f32:1-o:f32:1",
        "rowwise-norm_bwd-m0-3x4-r1-i:f16:4:1-i:f16:4:1-i:f32:1:0-i:f32:1:0"
        "-o:f16:4:1",
        "rowwise-norm_bwd-m1-3x4-r1-i:f16:4:1-i:f16:4:1-i:f32:1:0-i:f32:1:0"
        "-i:f32:0:1-o:f16:4:1",
        "rowwise-norm_bwd_weight-m0-3x4-r0-i:f64:4:1-i:f64:4:1-i:f64:1:0"
        "-i:f64:1:0-r:f64:0:1-r:f64:0:1"}) {
    const ErrorOr<std::string> module = print(parse(text));
    ASSERT_TRUE(module) << module.getStatus().getMessage();
    EXPECT_NE(module->find(text), std::string::npos) << *module;
  }
}

// A broadcast dimension has size 1, gaps become strides, and a scalar is an f64
// that is rounded to f32.
TEST(RowWiseFrontend, DescribesTensors) {
  const ErrorOr<std::string> text =
      print(parse("rowwise-op_tensor-m0-3x4-r-i:f16:8:1-i:f16:0:1-o:f16:4:1"));
  ASSERT_TRUE(text) << text.getStatus().getMessage();
  for (const char *part :
       {"memref<3x4xf16, strided<[8, 1]>> {dnn.arg = \"t0\"}",
        "memref<1x4xf16> {dnn.arg = \"t1\"}",
        "memref<3x4xf16> {dnn.arg = \"t2\"}", "f64 {dnn.arg = \"s1\"}",
        "arith.truncf"})
    EXPECT_NE(text->find(part), std::string::npos) << part << "\n" << *text;
}

// What is refused is refused with the reason.
TEST(RowWiseFrontend, Refusals) {
  for (auto [text, message] :
       {std::pair{"rowwise-activ_fwd-m11-12-r-i:f32:1-o:f32:1",
                  "activ_fwd has the modes 0 to 10, not 11"},
        {"rowwise-activ_fwd-m3-12-r-i:f32:1-i:f32:1-o:f32:1",
         "activ_fwd has tensors of the roles io, not iio"},
        {"rowwise-activ_fwd-m1-12-r-i:i64:1-o:i64:1",
         "activ_fwd has no arithmetic for i64"},
        {"rowwise-scale-m0-12-r-i:i64:1-o:i64:1",
         "scale has no arithmetic for i64"},
        {"rowwise-transform-m0-12-r-i:f32:1-i:f32:1-o:f32:1",
         "transform with an old y has mode 1"},
        {"rowwise-norm_bwd-m2-3x4-r1-i:f32:4:1-i:f32:4:1-i:f32:1:0-i:f32:1:0"
         "-o:f32:4:1",
         "norm_bwd has the modes 0 to 1, not 2"},
        {"rowwise-norm_bwd-m1-3x4-r1-i:f32:4:1-i:f32:4:1-i:f32:1:0-i:f32:1:0"
         "-o:f32:4:1",
         "norm_bwd has tensors of the roles iiiiio, not iiiio"},
        {"rowwise-norm_bwd_weight-m1-3x4-r0-i:f32:4:1-i:f32:4:1-i:f32:1:0"
         "-i:f32:1:0-r:f32:0:1-r:f32:0:1",
         "norm_bwd_weight has the modes 0 to 0, not 1"},
        {"rowwise-norm_bwd_weight-m0-3x4-r0-i:f32:4:1-i:f32:4:1-i:f32:1:0"
         "-i:f32:1:0-r:f32:0:1",
         "norm_bwd_weight has tensors of the roles iiiirr, not iiiir"},
        {"rowwise-dropout-m0-12-r-i:f32:1-i:i32:0-i:i64:0-o:f32:1",
         "seed and counter of dropout are i64"}})
    EXPECT_EQ(print(parse(text)).getStatus().getMessage(), message);
}
