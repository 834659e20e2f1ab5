//===- ReadProblemTest.cpp - Reads problems back from modules -------------===//

#include "compiler/Pipeline/ReadProblem.h"
#include "compiler/Frontend/ConvFrontend.h"
#include "compiler/Frontend/PoolFrontend.h"
#include "compiler/Frontend/RowWiseFrontend.h"
#include "dialect/IR/PointHints.h"
#include "test/unit/Support/RandomProblem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {
class ReadProblem : public testing::Test {
protected:
  ReadProblem() : context(mlir::MLIRContext::Threading::DISABLED) {}

  std::string print(const ConvProblem &problem) {
    auto module = buildConvModule(context, problem, "conv");
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)))
        << problem.toNetworkConfig();
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }
  ErrorOr<Problem> read(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return readProblem(*module);
  }
  void expectRoundTrip(const ConvProblem &problem) {
    ErrorOr<Problem> found = read(print(problem));
    ASSERT_TRUE(found) << problem.toNetworkConfig() << ": "
                       << found.getStatus().getMessage();
    EXPECT_EQ(found->toNetworkConfig(), problem.toNetworkConfig());
    EXPECT_EQ(*found, Problem(problem));
  }

  mlir::MLIRContext context;
};
} // namespace

// Any problem is the same after it was built as a module, printed, parsed and
// read.
TEST_F(ReadProblem, RandomProblems) {
  test::RandomProblem random;
  SCOPED_TRACE("TESSERA_TEST_SEED=" + std::to_string(random.getSeed()));
  for (int i = 0; i < 300; ++i)
    expectRoundTrip(random.nextOfAll());
}

// Each activation is recognised, with and without the other parts of an
// epilogue, in bf16 and in f64.
TEST_F(ReadProblem, EveryEpilogue) {
  for (int activation = 0; activation <= static_cast<int>(Activation::Clamp);
       ++activation)
    for (int flags = 0; flags < 16; ++flags) {
      ConvProblem problem;
      problem.dataType = flags % 3 == 0 ? DataType::F64 : DataType::BF16;
      problem.epilogue = {.alpha = (flags & 1) != 0,
                          .beta = (flags & 2) != 0,
                          .bias = (flags & 4) != 0,
                          .residual = (flags & 8) != 0,
                          .activation = static_cast<Activation>(activation)};
      expectRoundTrip(problem);
    }
}

// An epilogue that was written by hand may be one that no problem has.
TEST_F(ReadProblem, RefusesForeignEpilogues) {
  ConvProblem problem;
  problem.epilogue.activation = Activation::Abs;
  std::string text = print(problem);
  const std::string from = "math.absf";
  text.replace(text.find(from), from.size(), "arith.negf");
  ErrorOr<Problem> found = read(text);
  EXPECT_EQ(found.getStatus().getCode(), StatusCode::NotSupported);
  EXPECT_EQ(found.getStatus().getMessage(),
            "no problem has the epilogue of this dnn.conv");
}

// A module with two convolutions has no problem.
TEST_F(ReadProblem, RefusesTwoConvolutions) {
  std::string text = print(ConvProblem());
  const std::string op =
      text.substr(text.find("    dnn.conv"),
                  text.find("    return") - text.find("    dnn.conv"));
  text.insert(text.find("    return"), op);
  EXPECT_EQ(read(text).getStatus().getMessage(),
            "a module has one primitive (dnn.conv, dnn.pool or "
            "dnn.row_wise), not 2");
}

// Reads poolings of both directions, with and without indices, depth and gaps.
// All numbers differ, so that none can be taken for another.
TEST_F(ReadProblem, Poolings) {
  PoolProblem p;
  p.dataType = DataType::BF16;
  p.xLayout = Layout::NHWC;
  p.batch = 4;
  p.channels = 6;
  p.in = {17, 19};
  p.window = {3, 5};
  p.pad = {1, 2};
  p.stride = {2, 7};
  std::vector<PoolProblem> problems = {p};
  p.direction = Direction::BackwardData;
  p.indexType = IndexType::U16;
  p.indexMode = IndexMode::Image;
  problems.push_back(p);
  p.mode = PoolMode::AverageInclusive;
  p.indexType = IndexType::None;
  p.indexMode = IndexMode::Mask;
  p.in.d = 9;
  p.window.d = 4;
  problems.push_back(p);
  p.xLayout = p.yLayout = Layout::Strided;
  p.xStrides = {.n = 1000000, .c = 1, .d = 90000, .h = 500, .w = 20};
  p.yStrides = {.n = 50000, .c = 2500, .d = 400, .h = 30, .w = 2};
  problems.push_back(p);
  p.batch = 1;
  problems.push_back(p.canonicalize());
  for (const PoolProblem &problem : problems) {
    SCOPED_TRACE(problem.toNetworkConfig());
    ASSERT_TRUE(problem.verify().isOk()) << problem.verify().getMessage();
    auto module = buildPoolModule(context, problem, "pool");
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
    ErrorOr<Problem> found = readProblem(*module);
    ASSERT_TRUE(found) << found.getStatus().getMessage();
    EXPECT_EQ(found->toNetworkConfig(), problem.toNetworkConfig());
    EXPECT_EQ(*found, Problem(problem));
  }
}

// A row-wise problem is read from the module that the frontend builds. A module
// that computes something else than it names, or names nothing, is refused.
TEST_F(ReadProblem, Rows) {
  for (const char *text :
       {"rowwise-activ_fwd-m6-7x120-r-i:bf16:130:1-o:bf16:120:1",
        "rowwise-op_tensor-m0-3x4-r-i:f32:4:1-i:f32:0:1-o:f32:4:1"}) {
    const ErrorOr<Problem> problem = parseNetworkConfig(text);
    ASSERT_TRUE(problem) << problem.getStatus().getMessage();
    auto module = buildRowWiseModule(context, *problem->getRows(), "rowwise");
    ASSERT_TRUE(module) << module.getStatus().getMessage();
    ErrorOr<Problem> found = readProblem(**module);
    ASSERT_TRUE(found) << found.getStatus().getMessage();
    EXPECT_EQ(*found, *problem);
    (*module)->getOperation()->setAttr(dnn::kUnalignedAttrName,
                                       mlir::UnitAttr::get(&context));
    found = readProblem(**module);
    ASSERT_TRUE(found) << found.getStatus().getMessage();
    EXPECT_EQ(*found, problem->asUnaligned());
    auto function = *(*module)->getOps<mlir::func::FuncOp>().begin();
    function->setAttr(
        kProblemAttrName,
        mlir::StringAttr::get(&context,
                              "rowwise-activ_fwd-m3-9-r-i:f32:1-o:f32:1"));
    EXPECT_EQ(readProblem(**module).getStatus().getMessage(),
              "the function does not compute "
              "rowwise-activ_fwd-m3-9-r-i:f32:1-o:f32:1, which it names");
    function->removeAttr(kProblemAttrName);
    EXPECT_EQ(readProblem(**module).getStatus().getMessage(),
              "a function with dnn.row_wise names its problem in the attribute "
              "dnn.problem");
  }
}
