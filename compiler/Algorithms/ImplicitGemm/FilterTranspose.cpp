//===- FilterTranspose.cpp - A filter with its outputs innermost ----------===//

#include "compiler/Algorithms/ImplicitGemm/FilterTranspose.h"
#include "compiler/Algorithms/Common/SplitReduction.h"

using namespace mlir;
using namespace tessera;

/// A thread reads several output channels of one input channel and writes them
/// at once. So neighbouring lanes read neighbouring elements, and writes fill
/// whole sectors of 32 bytes.
static void emitTransposition(const ConvProgram &program, Value filter,
                              Value transposed) {
  constexpr int64_t kThreads = 256, kMaxWidth = 8;
  OpBuilder b(cast<BlockArgument>(filter).getOwner()->getTerminator());
  PointBuilder p(b, program.getConv().getLoc());
  auto type = cast<MemRefType>(transposed.getType());
  const int64_t last = type.getRank() - 1;
  const int64_t outputs = program.getOutputsPerGroup();
  const int64_t inputs = program.getInputsPerGroup();
  const int64_t width = getAccessWidth(type, last, kMaxWidth);
  SmallVector<int64_t> sizes = {program.dims.groups};
  llvm::append_range(sizes, program.filter);
  sizes.append({outputs / width, inputs});
  PointBuilder::Values indices(p.forEachPoint(sizes, kThreads));
  ArrayRef<Value> taps =
      ArrayRef<Value>(indices).slice(1, program.filter.size());
  Value group = indices.front(), channel = indices.back();
  Value output = p.mul(indices[indices.size() - 2], width);
  PointBuilder::Values elements;
  for (int64_t i = 0; i < width; ++i) {
    Value outer = p.add(p.mul(group, outputs), p.add(output, i));
    elements.push_back(p.loadBlock(filter, program.w.getChannelDim(), 1,
                                   program.w.order(outer, channel, taps)));
  }
  PointBuilder::Values destination = {p.add(p.mul(group, inputs), channel)};
  destination.append(taps.begin(), taps.end());
  destination.push_back(output);
  p.storeBlock(p.makeBlock(elements), transposed, last, destination);
}

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
  emitTransposition(program, find(conv.getW()), find(workspace));
  return workspace;
}
