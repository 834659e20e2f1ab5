//===- DepthwiseReduction.cpp - Few channels a group: split reduction -----===//
//
// In the partial results the groups are innermost, since they are neighbouring
// lanes. This launch adds the partial results and stores the sums in the layout
// of the filter.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Depthwise/DepthwiseReduction.h"
#include "compiler/Algorithms/Common/SplitReduction.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

void tessera::emitDepthwiseElement(PointBuilder &p, const ConvProgram &program,
                                   Value sum, Value index, Value group,
                                   ValueRange arguments) {
  // The index is ((output * inputs + input) * rows + row) * columns + column.
  Value rest = index;
  auto take = [&](int64_t size) {
    Value coordinate = p.rem(rest, size);
    rest = p.div(rest, size);
    return coordinate;
  };
  Value column = take(program.filter[1]), row = take(program.filter[0]);
  Value input = take(program.getInputsPerGroup());
  Value output = p.add(p.mul(group, program.getOutputsPerGroup()), rest);
  emitResult(p, program, sum, program.w.getChannelDim(),
             program.w.order(output, input, {row, column}), arguments);
}

/// The sum of the partial results first, first + step, ... of an element.
static Value sumSplits(PointBuilder &p, Value memory, Value first, int64_t step,
                       ValueRange element) {
  // All loads of an iteration come before the first addition, so that they are
  // in flight together. Past the last split they read as zero.
  constexpr int64_t kAtOnce = 64;
  auto type = cast<MemRefType>(memory.getType());
  int64_t count = llvm::divideCeilSigned(type.getDimSize(0), step);
  int64_t iterations = llvm::divideCeilSigned(count, kAtOnce);
  int64_t atOnce = llvm::divideCeilSigned(count, iterations);
  Value none = p.zero(type.getElementType(), 1);
  return p.loop(iterations, none, [&](Value iteration, ValueRange carried) {
    PointBuilder::Values elements;
    for (int64_t i = 0; i < atOnce; ++i) {
      Value split = p.mul(p.add(p.mul(iteration, atOnce), i), step);
      elements.push_back(p.loadBlock(
          memory, 2, 1, {p.add(split, first), element[0], element[1]}));
    }
    Value next = carried[0];
    for (Value element : elements)
      next = p.addBlocks(next, element);
    return PointBuilder::Values{next};
  })[0];
}

/// So many threads share an element of the filter that each adds few splits.
/// They add their sums through LDS, and the first of them stores the result.
void tessera::buildDepthwiseReduction(const ConvProgram &program,
                                      Value workspace) {
  constexpr int64_t kFewSplits = 16, kMaxSlices = 8, kThreads = 64;
  func::FuncOp function = appendKernel(program.getConv(), "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, program.getConv().getLoc());
  auto type = cast<MemRefType>(workspace.getType());
  Value memory =
      function.getArgument(cast<BlockArgument>(workspace).getArgNumber());
  int64_t splits = type.getDimSize(0), groups = type.getDimSize(2);
  int64_t slices = std::clamp<int64_t>(splits / kFewSplits, 1, kMaxSlices);
  int64_t lanes = std::min(groups, slices > 1 ? kThreads / 2 : kThreads);
  while (groups % lanes != 0)
    --lanes;
  ValueRange point = p.forEachPoint(
      {type.getDimSize(1), groups / lanes, slices, lanes}, slices * lanes);
  Value index = point[0], slice = point[2], lane = point[3];
  Value group = p.add(p.mul(point[1], lanes), lane);
  Value sum = sumSplits(p, memory, slice, slices, {index, group});
  if (slices > 1) {
    Value shared = p.makeShared(type.getElementType(), {slices, lanes});
    p.storeShared(sum, shared, {slice, lane});
    p.barrier();
    sum = p.loadShared(shared, 1, {p.index(0), lane});
    for (int64_t i = 1; i < slices; ++i)
      sum = p.addBlocks(sum, p.loadShared(shared, 1, {p.index(i), lane}));
    // Stores past the last group are predicated off.
    Value isFirst = arith::CmpIOp::create(b, p.loc, arith::CmpIPredicate::eq,
                                          slice, p.index(0));
    group = arith::SelectOp::create(b, p.loc, isFirst, group, p.index(groups));
  }
  emitDepthwiseElement(p, program, sum, index, group, function.getArguments());
}
