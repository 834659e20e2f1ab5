//===- RowWiseGeometryTest.cpp - A row-wise problem as the model sees it --===//

#include "compiler/Algorithms/RowWise/RowWiseGeometry.h"
#include "compiler/Frontend/RowWiseFrontend.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace tessera;

// The model must see a problem as the program does that is built from its
// operation: the words of elements and of reductions decide what a thread
// keeps.
TEST(RowWiseGeometry, IsThatOfTheOperation) {
  for (const char *text :
       {"rowwise-activ_fwd-m6-7x120-r-i:bf16:130:1-o:f16:120:1",
        "rowwise-dropout-m1-12-r-i:f16:1-i:i64:0-i:i64:0-o:f16:1-o:i8:1",
        "rowwise-reduce-m27-16x100-r1-i:f16:100:1-r:f16:1:0-r:i32:1:0",
        "rowwise-reduce-m0-30x8-r0-i:f64:8:1-r:f32:0:1",
        "rowwise-softmax_bwd-m1-4x40-r1-i:f32:40:1-i:f32:40:1-o:f32:40:1",
        "rowwise-norm_fwd-m30-1x64-r1-i:f16:64:1-i:f16:0:1-i:f16:0:1-r:f16:1:0-"
        "r:f16:1:0-o:f16:64:1"}) {
    const ErrorOr<Problem> problem = parseNetworkConfig(text);
    ASSERT_TRUE(problem) << problem.getStatus().getMessage();
    mlir::MLIRContext context;
    auto module = buildRowWiseModule(context, *problem->getRows(), "rows");
    ASSERT_TRUE(module) << module.getStatus().getMessage();
    const RowWiseGeometry expected(*problem->getRows());
    (*module)->walk([&](dnn::RowWiseOp op) {
      const RowWiseGeometry g(op);
      EXPECT_EQ(g.reductions, expected.reductions) << text;
      EXPECT_EQ(g.reduced, expected.reduced) << text;
      EXPECT_EQ(g.vectorDim, expected.vectorDim) << text;
      ASSERT_EQ(g.tensors.size(), expected.tensors.size()) << text;
      for (size_t i = 0; i != g.tensors.size(); ++i) {
        EXPECT_EQ(g.tensors[i].words, expected.tensors[i].words) << text << i;
        EXPECT_EQ(g.tensors[i].strides, expected.tensors[i].strides)
            << text << i;
      }
    });
  }
}
