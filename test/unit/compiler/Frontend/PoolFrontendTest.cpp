//===- PoolFrontendTest.cpp - A pooling problem as a module ---------------===//

#include "compiler/Frontend/PoolFrontend.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace tessera;

/// Returns a problem whose lengths all differ, so that none can be taken for
/// another.
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

// All arguments are named, and indices are an argument only if there are some.
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

// The verifier of the op refuses what PoolProblem::verify() refuses.
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
