//===- PoolFrontendTest.cpp - A pooling problem as a module and back ------===//

#include "compiler/Frontend/PoolFrontend.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace tessera;

/// No two numbers are alike.
static PoolProblem makeProblem() {
  PoolProblem p;
  p.dataType = DataType::BF16;
  p.xLayout = Layout::NHWC;
  p.batch = 4;
  p.channels = 6;
  p.in = {17, 19};
  p.window = {3, 5};
  p.pad = {1, 2};
  p.stride = {2, 7};
  return p;
}

// Everything of a problem is in the op: read back, it is the same problem.
TEST(PoolFrontend, RoundTrips) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<PoolProblem> problems = {makeProblem()};
  PoolProblem p = makeProblem();
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
  for (const PoolProblem &problem : problems) {
    SCOPED_TRACE(problem.toNetworkConfig());
    ASSERT_TRUE(problem.verify().isOk()) << problem.verify().getMessage();
    auto module = buildPoolModule(context, problem, "pool");
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
    dnn::PoolOp op;
    module->walk([&](dnn::PoolOp found) { op = found; });
    EXPECT_EQ(readPoolProblem(op).toNetworkConfig(),
              problem.canonicalize().toNetworkConfig());
  }
}

// The arguments are named, the indices only where there are some.
TEST(PoolFrontend, NamesTheArguments) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  PoolProblem problem = makeProblem();
  for (IndexType type : {IndexType::None, IndexType::U32}) {
    problem.indexType = type;
    auto module = buildPoolModule(context, problem, "kernel");
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    EXPECT_EQ(function.getName(), "kernel");
    EXPECT_TRUE(function->hasAttr(dnn::kKernelAttrName));
    std::string names;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      names += function.getArgAttrOfType<mlir::StringAttr>(i, dnn::kArgAttrName)
                   .str() +
               " ";
    EXPECT_EQ(names, type == IndexType::None ? "x y " : "x y indices ");
  }
}

// What PoolProblem::verify() refuses, the verifier of the op refuses.
TEST(PoolFrontend, BadProblemsGiveBadModules) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  PoolProblem problem = makeProblem();
  problem.indexType = IndexType::U8;
  problem.indexMode = IndexMode::Image;
  EXPECT_FALSE(problem.verify().isOk());
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  auto module = buildPoolModule(context, problem, "pool");
  EXPECT_TRUE(mlir::failed(mlir::verify(*module)));
  EXPECT_NE(message.find("greater than the 323 pixels of x"), std::string::npos)
      << message;
}
