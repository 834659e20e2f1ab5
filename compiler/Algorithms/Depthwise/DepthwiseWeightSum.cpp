//===- DepthwiseWeightSum.cpp - Few channels a group: sum of the parts ----===//
//
// Parts of the filters' gradients have the groups last, which are neighbouring
// lanes; the sums are put where the filter has them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Depthwise/DepthwiseWeightSum.h"
#include "compiler/Algorithms/Common/PartSum.h"

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
    Value place = p.rem(rest, size);
    rest = p.div(rest, size);
    return place;
  };
  Value column = take(program.filter[1]), row = take(program.filter[0]);
  Value input = take(program.getInputsPerGroup());
  Value output = p.add(p.mul(group, program.getOutputsPerGroup()), rest);
  emitResult(p, program, sum, program.w.getChannelDim(),
             program.w.order(output, input, {row, column}), arguments);
}

/// The sum of the parts from `first` on, every `step` parts, below `parts`.
static Value sumParts(PointBuilder &p, Value memory, Value first, int64_t step,
                      ValueRange element) {
  // Loads before the first sum, so that they are under way together; behind the
  // last part they give zero.
  constexpr int64_t kAtOnce = 64;
  auto type = cast<MemRefType>(memory.getType());
  int64_t count = llvm::divideCeilSigned(type.getDimSize(0), step);
  int64_t turns = llvm::divideCeilSigned(count, kAtOnce);
  int64_t atOnce = llvm::divideCeilSigned(count, turns);
  Value none = p.zero(type.getElementType(), 1);
  return p.loop(turns, none, [&](Value turn, ValueRange carried) {
    PointBuilder::Values elements;
    for (int64_t i = 0; i < atOnce; ++i) {
      Value part = p.mul(p.add(p.mul(turn, atOnce), i), step);
      elements.push_back(p.loadBlock(
          memory, 2, 1, {p.add(part, first), element[0], element[1]}));
    }
    Value next = carried[0];
    for (Value element : elements)
      next = p.addBlocks(next, element);
    return PointBuilder::Values{next};
  })[0];
}

/// The threads of an element of the filter are as many as leave each but few
/// parts, and it is one of them that stores what they have.
void tessera::buildDepthwiseSum(const ConvProgram &program, Value workspace) {
  constexpr int64_t kFewParts = 16, kMaxSlices = 8, kThreads = 64;
  func::FuncOp function = appendKernel(program.getConv(), "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, program.getConv().getLoc());
  auto type = cast<MemRefType>(workspace.getType());
  Value memory =
      function.getArgument(cast<BlockArgument>(workspace).getArgNumber());
  int64_t parts = type.getDimSize(0), groups = type.getDimSize(2);
  int64_t slices = std::clamp<int64_t>(parts / kFewParts, 1, kMaxSlices);
  int64_t lanes = std::min(groups, slices > 1 ? kThreads / 2 : kThreads);
  while (groups % lanes != 0)
    --lanes;
  ValueRange point = p.forEachPoint(
      {type.getDimSize(1), groups / lanes, slices, lanes}, slices * lanes);
  Value index = point[0], slice = point[2], lane = point[3];
  Value group = p.add(p.mul(point[1], lanes), lane);
  Value sum = sumParts(p, memory, slice, slices, {index, group});
  if (slices > 1) {
    Value shared = p.makeShared(type.getElementType(), {slices, lanes});
    p.storeShared(sum, shared, {slice, lane});
    p.barrier();
    sum = p.loadShared(shared, 1, {p.index(0), lane});
    for (int64_t i = 1; i < slices; ++i)
      sum = p.addBlocks(sum, p.loadShared(shared, 1, {p.index(i), lane}));
    // Groups behind the last are not stored.
    Value isFirst = arith::CmpIOp::create(b, p.loc, arith::CmpIPredicate::eq,
                                          slice, p.index(0));
    group = arith::SelectOp::create(b, p.loc, isFirst, group, p.index(groups));
  }
  emitDepthwiseElement(p, program, sum, index, group, function.getArguments());
}
