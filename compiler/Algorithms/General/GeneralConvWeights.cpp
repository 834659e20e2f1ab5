//===- GeneralConvWeights.cpp - Backward weights, for any problem ---------===//
//
// An element of the filter's gradient sums, over all images and output pixels,
// products of the two activations. That is a long sum for each of few elements,
// so rows of pixels are shared out to parts, which a second launch adds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/General/GeneralConv.h"
#include "compiler/Algorithms/Common/PartSum.h"

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
  PointBuilder::Values emitPixel(ValueRange row, Value column, ValueRange sums);
  PointBuilder::Values emitRows();
  void store(ValueRange sums);

  PointBuilder &p;
  const ConvProgram &program;
  const GeneralTile &tile;
  Value workspace; ///< Null if the sums are whole.
  int64_t spatial;

  // This thread's point: the channels are those of all groups.
  Value part, outputs, inputs, inputsOfGroup;
  PointBuilder::Values taps;
};
} // namespace

/// Neighbouring threads own what is close together in the filter.
void WeightsProgram::makePoint() {
  int64_t outputBlocks = program.getOutputsPerGroup() / tile.rows;
  int64_t inputBlocks = program.getInputsPerGroup() / tile.block;
  bool channelsLast = program.w.hasChannelsInnermost();
  SmallVector<int64_t> sizes = {tile.parts, program.dims.groups, outputBlocks};
  if (!channelsLast)
    sizes.push_back(inputBlocks);
  llvm::append_range(sizes, program.filter);
  if (channelsLast)
    sizes.push_back(inputBlocks);
  ValueRange point = p.forEachPoint(sizes, tile.threads);
  part = point[0];
  outputs = p.add(p.mul(point[1], program.getOutputsPerGroup()),
                  p.mul(point[2], tile.rows));
  inputsOfGroup = p.mul(channelsLast ? point.back() : point[3], tile.block);
  inputs = p.add(p.mul(point[1], program.getInputsPerGroup()), inputsOfGroup);
  taps = PointBuilder::Values(point.slice(channelsLast ? 3 : 4, spatial));
}

/// Image, and every spatial coordinate of the output but the column. Behind
/// the last row the image is outside.
PointBuilder::Values WeightsProgram::splitRow(Value row) {
  PointBuilder::Values reversed;
  for (int64_t i = spatial - 1; i-- > 0;) {
    Value size = p.index(program.y.getSpatialSize(i));
    reversed.push_back(arith::RemUIOp::create(p.b, p.loc, row, size));
    row = arith::DivUIOp::create(p.b, p.loc, row, size);
  }
  reversed.push_back(row);
  return PointBuilder::Values(llvm::reverse(reversed));
}

/// One output pixel's products.
PointBuilder::Values WeightsProgram::emitPixel(ValueRange row, Value column,
                                               ValueRange sums) {
  PointBuilder::Values pixel(row.drop_front());
  pixel.push_back(column);
  PointBuilder::Values from;
  for (int64_t i = 0; i < spatial; ++i)
    from.push_back(p.add(p.add(p.mul(pixel[i], program.strides[i]),
                               p.mul(taps[i], program.dilations[i])),
                         -program.pads[i]));
  Type type = program.getSumType();
  const ConvTensor &x = program.x, &y = program.y;
  Value data = p.convert(p.loadBlock(x.memory, x.getChannelDim(), tile.block,
                                     x.order(row[0], inputs, from)),
                         type);
  Value gradient = p.convert(p.loadBlock(y.memory, y.getChannelDim(), tile.rows,
                                         y.order(row[0], outputs, pixel)),
                             type);
  PointBuilder::Values next;
  for (int64_t i = 0; i < tile.rows; ++i)
    next.push_back(p.mulAdd(p.splat(p.getElement(gradient, i), tile.block),
                            data, sums[i]));
  return next;
}

PointBuilder::Values WeightsProgram::emitRows() {
  int64_t rows = program.dims.n;
  for (int64_t i = 0; i < spatial - 1; ++i)
    rows *= program.y.getSpatialSize(i);
  int64_t perPart = llvm::divideCeilSigned(rows, tile.parts);
  PointBuilder::Values sums(tile.rows,
                            p.zero(program.getSumType(), tile.block));
  return p.loop(perPart, sums, [&](Value i, ValueRange carried) {
    PointBuilder::Values row = splitRow(p.add(p.mul(part, perPart), i));
    return p.loop(program.y.getSpatialSize(spatial - 1), carried,
                  [&](Value column, ValueRange inner) {
                    return emitPixel(row, column, inner);
                  });
  });
}

void WeightsProgram::store(ValueRange sums) {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    PointBuilder::Values place = program.w.order(
        p.add(outputs, static_cast<int64_t>(i)), inputsOfGroup, taps);
    int64_t dim = program.w.getChannelDim();
    if (!workspace) {
      emitResult(p, program, sum, dim, place, program.getArguments());
      continue;
    }
    place.insert(place.begin(), part);
    p.storeBlock(sum, workspace, dim + 1, place);
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
  if (tile.parts > 1) {
    workspace = addPartsWorkspace(conv, tile.parts);
    buildPartSum(conv, workspace);
  }
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  WeightsProgram(p, program, tile, workspace).emit();
  conv.erase();
}
