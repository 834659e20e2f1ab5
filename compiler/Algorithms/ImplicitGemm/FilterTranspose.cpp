//===- FilterTranspose.cpp - A filter with its outputs innermost ----------===//

#include "compiler/Algorithms/ImplicitGemm/FilterTranspose.h"
#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/Common/TransposeKernel.h"

using namespace mlir;
using namespace tessera;

/// A thread reads several output channels of one input channel and writes them
/// at once. So neighbouring lanes read neighbouring elements, and writes fill
/// whole sectors of 32 bytes.
static void emitGather(const ConvProgram &program, Value filter,
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
  Value filter = find(conv.getW()), transposed = find(workspace);
  // Of large filters, tiles of one tap each go through memory that threads
  // share: for 9 MB of tf32 a launch that gathers took 20 us on an H100, this
  // one 10 less; for 0.1 MB it took 1 us more.
  constexpr int64_t kLeastElements = int64_t(1) << 19;
  int64_t taps = 1;
  for (int64_t size : program.filter)
    taps *= size;
  const int64_t outputs = program.getOutputsPerGroup();
  const int64_t inputs = program.getInputsPerGroup();
  if (program.dims.groups * outputs * taps * inputs < kLeastElements)
    emitGather(program, filter, transposed);
  else
    emitTranspose(kernel, {cast<BlockArgument>(filter),
                           cast<BlockArgument>(transposed),
                           {SizeExpr(program.dims.groups), SizeExpr(outputs),
                            SizeExpr(inputs), taps}});
  return workspace;
}
