//===- DepthwiseWeights.cpp - Few channels a group: backward weights ------===//
//
// A thread holds all sums of its groups' filters in registers and walks over
// output rows, loading each row of both activations once. There are few
// filters and many pixels, so that rows are shared out to parts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Depthwise.h"
#include "compiler/Algorithms/PartSum.h"
#include "compiler/Algorithms/WindowBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
            int64_t dim = w.getChannelDim();
            if (!workspace) {
              emitResult(p, program, sum, dim, place, program.getArguments());
              continue;
            }
            place.insert(place.begin(), part);
            p.storeBlock(sum, workspace, dim + 1, place);
          }
}

void DepthwiseWeightsProgram::emit() {
  ValueRange point = p.forEachPoint(
      {tile.parts, program.dims.groups / tile.groups}, tile.threads);
  part = point[0];
  firstGroup = p.mul(point[1], tile.groups);
  store(emitRows());
}

void tessera::buildDepthwiseWeights(const ConvProgram &program,
                                    const DepthwiseTile &tile) {
  dnn::ConvOp conv = program.getConv();
  Value workspace;
  if (tile.parts > 1) {
    workspace = addPartsWorkspace(conv, tile.parts);
    buildPartSum(conv, workspace);
  }
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  DepthwiseWeightsProgram(p, program, tile, workspace).emit();
  conv.erase();
}
