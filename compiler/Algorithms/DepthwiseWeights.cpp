//===- DepthwiseWeights.cpp - Few channels a group: backward weights ------===//
//
// A thread holds all sums of its groups' filters in registers and walks over
// output rows, loading each row of both activations once. There are few
// filters and many pixels, so that rows are shared out to parts. What these
// leave has the groups last, which are neighbouring lanes: a second launch adds
// the parts and puts the sums where the filter has them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Depthwise.h"
#include "compiler/Algorithms/PartSum.h"
#include "compiler/Algorithms/WindowBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace tessera;

namespace {
class DepthwiseWeightsProgram {
public:
  DepthwiseWeightsProgram(PointBuilder &p, const ConvProgram &program,
                          const DepthwiseTile &tile, Value workspace)
      : p(p), program(program), tile(tile), workspace(workspace),
        inputs(program.getInputsPerGroup()),
        outputs(program.getOutputsPerGroup()),
        columns{program.filter[1],    program.strides[1], program.pads[1],
                program.dilations[1], tile.columns,       true} {}

  void emit();

private:
  PointBuilder::Values emitRows();
  PointBuilder::Values emitBlock(Value image, Value row, Value block,
                                 ValueRange sums);
  Value take(Value block, int64_t per, int64_t channel);
  void store(ValueRange sums);

  /// Place among the sums, each a block of the thread's groups.
  int64_t getIndex(int64_t output, int64_t input, int64_t row,
                   int64_t column) const {
    return ((output * inputs + input) * program.filter[0] + row) *
               program.filter[1] +
           column;
  }

  PointBuilder &p;
  const ConvProgram &program;
  const DepthwiseTile &tile;
  Value workspace;         ///< Null if the sums are whole.
  int64_t inputs, outputs; ///< Channels of a group.
  WindowBlock columns;
  Value part, firstGroup; ///< This thread's point.
};
} // namespace

/// Channel `channel` of each of the thread's groups.
Value DepthwiseWeightsProgram::take(Value block, int64_t per, int64_t channel) {
  if (per == 1)
    return block;
  PointBuilder::Values elements;
  for (int64_t group = 0; group < tile.groups; ++group)
    elements.push_back(p.getElement(block, group * per + channel));
  return p.makeBlock(elements);
}

/// The products of a block of columns of one output row.
PointBuilder::Values DepthwiseWeightsProgram::emitBlock(Value image, Value row,
                                                        Value block,
                                                        ValueRange carried) {
  const ConvTensor &x = program.x, &y = program.y;
  Type type = program.getSumType();
  PointBuilder::Values sums(carried), gradients;
  for (int64_t q = 0; q < tile.columns; ++q)
    gradients.push_back(p.convert(
        p.loadBlock(y.memory, y.getChannelDim(), tile.groups * outputs,
                    y.order(image, p.mul(firstGroup, outputs),
                            {row, p.add(p.mul(block, tile.columns), q)})),
        type));
  for (int64_t tap = 0; tap < program.filter[0]; ++tap) {
    Value h = p.add(p.mul(row, program.strides[0]),
                    tap * program.dilations[0] - program.pads[0]);
    std::map<int64_t, Value> data;
    for (int64_t offset : columns.getOffsets())
      data[offset] = p.convert(
          p.loadBlock(x.memory, x.getChannelDim(), tile.groups * inputs,
                      x.order(image, p.mul(firstGroup, inputs),
                              {h, p.add(p.mul(block, columns.getSourceStep()),
                                        offset)})),
          type);
    for (int64_t column = 0; column < columns.taps; ++column)
      for (int64_t q = 0; q < tile.columns; ++q)
        for (int64_t output = 0; output < outputs; ++output)
          for (int64_t input = 0; input < inputs; ++input) {
            Value &sum = sums[getIndex(output, input, tap, column)];
            sum = p.mulAdd(
                take(data[*columns.getOffset(q, column)], inputs, input),
                take(gradients[q], outputs, output), sum);
          }
  }
  return sums;
}

/// All rows of this thread's part. Behind the last one the image is outside.
PointBuilder::Values DepthwiseWeightsProgram::emitRows() {
  int64_t height = program.y.getSpatialSize(0);
  int64_t perPart = llvm::divideCeilSigned(program.dims.n * height, tile.parts);
  int64_t blocks =
      llvm::divideCeilSigned(program.y.getSpatialSize(1), tile.columns);
  int64_t count = outputs * inputs * program.filter[0] * program.filter[1];
  PointBuilder::Values sums(count, p.zero(program.getSumType(), tile.groups));
  return p.loop(perPart, sums, [&](Value i, ValueRange carried) {
    Value all = p.add(p.mul(part, perPart), i);
    Value size = p.index(height);
    Value image = arith::DivUIOp::create(p.b, p.loc, all, size);
    Value row = arith::RemUIOp::create(p.b, p.loc, all, size);
    return p.loop(blocks, carried, [&](Value block, ValueRange inner) {
      return emitBlock(image, row, block, inner);
    });
  });
}

void DepthwiseWeightsProgram::store(ValueRange sums) {
  const ConvTensor &w = program.w;
  if (workspace) {
    for (auto [i, sum] : llvm::enumerate(sums))
      p.storeBlock(sum, workspace, 2, {part, p.index(i), firstGroup});
    return;
  }
  for (int64_t group = 0; group < tile.groups; ++group)
    for (int64_t output = 0; output < outputs; ++output)
      for (int64_t input = 0; input < inputs; ++input)
        for (int64_t r = 0; r < program.filter[0]; ++r)
          for (int64_t s = 0; s < program.filter[1]; ++s) {
            Value sum =
                p.getElement(sums[getIndex(output, input, r, s)], group);
            PointBuilder::Values place = w.order(
                p.add(p.mul(firstGroup, outputs), group * outputs + output),
                p.index(input), {p.index(r), p.index(s)});
            emitResult(p, program, sum, w.getChannelDim(), place,
                       program.getArguments());
          }
}

void DepthwiseWeightsProgram::emit() {
  ValueRange point = p.forEachPoint(
      {tile.parts, program.dims.groups / tile.groups}, tile.threads);
  part = point[0];
  firstGroup = p.mul(point[1], tile.groups);
  store(emitRows());
}

/// A thread for each element of the filter.
static void buildSum(const ConvProgram &program, Value workspace) {
  // Loads before the first sum, so that they are under way together; behind the
  // last part they give zero.
  constexpr int64_t kAtOnce = 64, kThreads = 64;
  func::FuncOp function = appendKernel(program.getConv(), "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, program.getConv().getLoc());
  auto type = cast<MemRefType>(workspace.getType());
  Value memory =
      function.getArgument(cast<BlockArgument>(workspace).getArgNumber());
  ValueRange point = p.forEachPoint(type.getShape().drop_front(), kThreads);
  int64_t parts = type.getDimSize(0);
  Value none = p.zero(type.getElementType(), 1);
  int64_t turns = llvm::divideCeilSigned(parts, kAtOnce);
  Value sum = p.loop(turns, none, [&](Value turn, ValueRange carried) {
    PointBuilder::Values elements;
    for (int64_t i = 0; i < std::min(parts, kAtOnce); ++i)
      elements.push_back(p.loadBlock(
          memory, 2, 1, {p.add(p.mul(turn, kAtOnce), i), point[0], point[1]}));
    Value next = carried[0];
    for (Value element : elements)
      next = p.addBlocks(next, element);
    return PointBuilder::Values{next};
  })[0];

  // The sum's number is ((output * inputs + input) * rows + row) * columns +
  // column.
  Value rest = point[0];
  auto take = [&](int64_t size) -> Value {
    Value length = p.index(size);
    Value place = arith::RemUIOp::create(b, p.loc, rest, length);
    rest = arith::DivUIOp::create(b, p.loc, rest, length);
    return place;
  };
  Value column = take(program.filter[1]), row = take(program.filter[0]);
  Value input = take(program.getInputsPerGroup());
  Value output = p.add(p.mul(point[1], program.getOutputsPerGroup()), rest);
  emitResult(p, program, sum, program.w.getChannelDim(),
             program.w.order(output, input, {row, column}),
             function.getArguments());
}

void tessera::buildDepthwiseWeights(const ConvProgram &program,
                                    const DepthwiseTile &tile) {
  dnn::ConvOp conv = program.getConv();
  Value workspace;
  if (tile.parts > 1) {
    int64_t groups = program.dims.groups;
    int64_t sums = program.w.getType().getNumElements() / groups;
    workspace = addPartsWorkspace(conv, {tile.parts, sums, groups});
    buildSum(program, workspace);
  }
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  DepthwiseWeightsProgram(p, program, tile, workspace).emit();
  conv.erase();
}
