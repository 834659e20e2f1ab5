//===- GeneralConvWeights.cpp - Backward weights, for any problem ---------===//
//
// An element of the filter's gradient is the sum of products of the two
// activations over all images and output pixels. Few elements have long
// reductions, so these are split by rows of pixels; a second launch adds the
// partial results of the splits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/General/GeneralConv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tessera;

namespace {
class WeightsProgram {
public:
  WeightsProgram(PointBuilder &p, const ConvProgram &program,
                 const GeneralTile &tile, Value workspace)
      : p(p), program(program), tile(tile), workspace(workspace),
        spatial(program.x.getNumSpatial()) {}

  void emit();

private:
  void makePoint();
  PointBuilder::Values splitRow(Value row);
  PointBuilder::Values emitPixel(ValueRange row, Value column,
                                 ValueRange accumulators);
  PointBuilder::Values emitRows();
  void store(ValueRange accumulators);

  PointBuilder &p;
  const ConvProgram &program;
  const GeneralTile &tile;
  Value workspace; ///< Null if the reduction is not split.
  int64_t spatial;

  // This thread's point. `outputs` and `inputs` count the channels of all
  // groups.
  Value split, outputs, inputs, inputsOfGroup;
  PointBuilder::Values taps;
};
} // namespace

/// Neighbouring threads own elements that are neighbours in the filter, so that
/// their stores are coalesced.
void WeightsProgram::makePoint() {
  int64_t outputBlocks = program.getOutputsPerGroup() / tile.rows;
  int64_t inputBlocks = program.getInputsPerGroup() / tile.block;
  bool channelsLast = program.w.hasChannelsInnermost();
  SmallVector<int64_t> sizes = {tile.splits, program.dims.groups, outputBlocks};
  if (!channelsLast)
    sizes.push_back(inputBlocks);
  llvm::append_range(sizes, program.filter);
  if (channelsLast)
    sizes.push_back(inputBlocks);
  ValueRange point = p.forEachPoint(sizes, tile.threads);
  split = point[0];
  outputs = p.add(p.mul(point[1], program.getOutputsPerGroup()),
                  p.mul(point[2], tile.rows));
  inputsOfGroup = p.mul(channelsLast ? point.back() : point[3], tile.block);
  inputs = p.add(p.mul(point[1], program.getInputsPerGroup()), inputsOfGroup);
  taps = PointBuilder::Values(point.slice(channelsLast ? 3 : 4, spatial));
}

/// Splits `row` into the image and every spatial coordinate of the output but
/// the column. For a row beyond the last one the image is out of bounds, so
/// that its loads yield zeros.
PointBuilder::Values WeightsProgram::splitRow(Value row) {
  PointBuilder::Values reversed;
  for (int64_t i = spatial - 1; i-- > 0;) {
    Value size =
        p.index(p.getSize(program.y.memory, program.y.getSpatialDim(i)));
    reversed.push_back(arith::RemUIOp::create(p.b, p.loc, row, size));
    row = arith::DivUIOp::create(p.b, p.loc, row, size);
  }
  reversed.push_back(row);
  return PointBuilder::Values(llvm::reverse(reversed));
}

/// Accumulates the products of one output pixel.
PointBuilder::Values WeightsProgram::emitPixel(ValueRange row, Value column,
                                               ValueRange accumulators) {
  PointBuilder::Values pixel(row.drop_front());
  pixel.push_back(column);
  PointBuilder::Values inputPixel;
  for (int64_t i = 0; i < spatial; ++i)
    inputPixel.push_back(p.add(p.add(p.mul(pixel[i], program.strides[i]),
                                     p.mul(taps[i], program.dilations[i])),
                               -program.pads[i]));
  Type type = program.getAccType();
  const ConvTensor &x = program.x, &y = program.y;
  Value data = p.convert(p.loadBlock(x.memory, x.getChannelDim(), tile.block,
                                     x.order(row[0], inputs, inputPixel)),
                         type);
  Value gradient = p.convert(p.loadBlock(y.memory, y.getChannelDim(), tile.rows,
                                         y.order(row[0], outputs, pixel)),
                             type);
  PointBuilder::Values next;
  for (int64_t i = 0; i < tile.rows; ++i)
    next.push_back(p.mulAdd(p.splat(p.getElement(gradient, i), tile.block),
                            data, accumulators[i]));
  return next;
}

PointBuilder::Values WeightsProgram::emitRows() {
  auto getSize = [&](int64_t dim) {
    return p.getSize(program.y.memory, program.y.getSpatialDim(dim));
  };
  Size rows = p.getSize(program.y.memory, program.y.getOuterDim());
  for (int64_t i = 0; i < spatial - 1; ++i)
    rows = p.multiply(rows, getSize(i));
  Size rowsPerSplit = p.divideUp(rows, tile.splits);
  PointBuilder::Values accumulators(tile.rows,
                                    p.zero(program.getAccType(), tile.block));
  return p.loop(rowsPerSplit, accumulators, [&](Value i, ValueRange carried) {
    PointBuilder::Values row = splitRow(p.add(p.mul(split, rowsPerSplit), i));
    return p.loop(getSize(spatial - 1), carried,
                  [&](Value column, ValueRange inner) {
                    return emitPixel(row, column, inner);
                  });
  });
}

void WeightsProgram::store(ValueRange accumulators) {
  for (auto [i, accumulator] : llvm::enumerate(accumulators)) {
    PointBuilder::Values indices = program.w.order(
        p.add(outputs, static_cast<int64_t>(i)), inputsOfGroup, taps);
    int64_t dim = program.w.getChannelDim();
    if (!workspace) {
      emitResult(p, program, accumulator, dim, indices, program.getArguments());
      continue;
    }
    indices.insert(indices.begin(), split);
    p.storeBlock(accumulator, workspace, dim + 1, indices);
  }
}

void WeightsProgram::emit() {
  makePoint();
  store(emitRows());
}

void tessera::buildGeneralWeights(const ConvProgram &program,
                                  const GeneralTile &tile) {
  dnn::ConvOp conv = program.getConv();
  Value workspace;
  if (tile.splits > 1) {
    workspace = addSplitsWorkspace(conv, tile.splits);
    buildSplitReduction(conv, workspace);
  }
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  WeightsProgram(p, program, tile, workspace).emit();
  conv.erase();
}
