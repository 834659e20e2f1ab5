//===- DepthwiseWeightBoxes.cpp - Few channels a group: boxes of pixels ---===//
//
// Where TMA copies a workgroup's pixels to LDS, the workgroup processes one
// strip of a few rows after another. Workgroups that run at the same time have
// neighbouring strips, so that rows which two of them need are in L2 when the
// second one reads them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Depthwise/DepthwiseWeightBoxes.h"
#include "dialect/IR/PointHints.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace tessera;

DepthwiseBox::DepthwiseBox(ArrayRef<int64_t> rowOffsets,
                           ArrayRef<int64_t> columnOffsets, int64_t columnSteps)
    : firstRow(rowOffsets.front()),
      rows(rowOffsets.back() - rowOffsets.front() + 1),
      firstColumn(columnOffsets.front()),
      columns(columnSteps + columnOffsets.back() - columnOffsets.front() + 1) {}

int64_t DepthwiseBox::countSlotPixels(int64_t bytes) const {
  constexpr int64_t kSlotAlignment = 128;
  return llvm::alignTo(rows * columns,
                       kSlotAlignment / std::gcd(kSlotAlignment, bytes));
}

DepthwiseBoxes::DepthwiseBoxes(const WindowBlock &rows,
                               const WindowBlock &columns,
                               const DepthwiseTile &tile)
    : channels(tile.threads / tile.summed * tile.groups), stages(tile.stages),
      x({0, rows.size - 1}, columns.getOffsets(),
        (tile.summed - 1) * columns.getSourceStep()),
      y(rows.getOffsets(), {0, columns.size - 1},
        (tile.summed - 1) * columns.size) {}

int64_t DepthwiseBoxes::countStageBytes(int64_t elementBytes) const {
  const int64_t pixelBytes = channels * elementBytes;
  return (x.countSlotPixels(pixelBytes) + y.countSlotPixels(pixelBytes)) *
         pixelBytes;
}

bool DepthwiseBoxes::fit(int64_t elementBytes, const GpuTarget &target) const {
  constexpr int64_t kMaxExtent = 256, kPiece = 16; // dnn.box_load's.
  constexpr int64_t kSlack = 4096; // Alignment of buffers, and mbarriers.
  return target.hasTma &&
         std::max({channels, x.rows, x.columns, y.rows, y.columns}) <=
             kMaxExtent &&
         channels * elementBytes % kPiece == 0 &&
         stages * countStageBytes(elementBytes) +
                 DepthwiseTile::kReductionBytes + kSlack <=
             target.getMaxSharedBytes();
}

//===----------------------------------------------------------------------===//
// Copies and loads
//===----------------------------------------------------------------------===//

DepthwiseBoxLoader::DepthwiseBoxLoader(PointBuilder &p,
                                       const ConvProgram &program,
                                       const DepthwiseTile &tile,
                                       const WindowBlock &rows,
                                       const WindowBlock &columns)
    : p(p), program(program), tile(tile), rows(rows), columns(columns),
      boxes(rows, columns, tile) {}

Value DepthwiseBoxLoader::makeBuffer(const ConvTensor &tensor,
                                     const DepthwiseBox &box) {
  const int64_t bytes = tensor.getElementType().getIntOrFloatBitWidth() / 8;
  return p.makeShared(tensor.getElementType(),
                      {tile.stages, box.countSlotPixels(boxes.channels * bytes),
                       boxes.channels});
}

void DepthwiseBoxLoader::begin(Value firstStrip, Value channelBlock,
                               Value strip, Value channel) {
  this->firstStrip = firstStrip;
  firstChannel = p.mul(channelBlock, boxes.channels);
  ownColumn = strip;
  ownChannel = channel;
  xBuffer = makeBuffer(program.x, boxes.x);
  yBuffer = makeBuffer(program.y, boxes.y);
}

/// Past the last strip the image is out of bounds, so that TMA writes zeros.
void DepthwiseBoxLoader::copyIn(Value iteration) {
  const DepthwiseStrips strips(p, program, tile);
  Value strip = p.add(p.mul(iteration, tile.getSplitBlocks()), firstStrip);
  Value column = p.rem(strip, strips.columnBlocks);
  strip = p.div(strip, strips.columnBlocks);
  Value block = p.rem(strip, strips.segments);
  Value image = p.div(strip, strips.segments);
  Value slot = p.rem(iteration, tile.stages);
  auto copy = [&](const ConvTensor &tensor, Value buffer,
                  const DepthwiseBox &box, int64_t rowStep,
                  int64_t columnStep) {
    SmallVector<int64_t> extents(4, 1);
    extents[tensor.getChannelDim()] = boxes.channels;
    extents[tensor.getSpatialDim(0)] = box.rows;
    extents[tensor.getSpatialDim(1)] = box.columns;
    Value h = p.add(p.mul(block, rowStep), box.firstRow);
    Value w = p.add(p.mul(column, tile.summed * columnStep), box.firstColumn);
    auto load = dnn::BoxLoadOp::create(
        p.b, p.loc, tensor.memory, tensor.order(image, firstChannel, {h, w}),
        extents, buffer, slot, /*condition=*/Value(), /*plain=*/true);
    if (tile.isStreamed)
      load->setAttr(dnn::kStreamedAttrName, p.b.getUnitAttr());
  };
  copy(program.x, xBuffer, boxes.x, rows.size, columns.getSourceStep());
  copy(program.y, yBuffer, boxes.y, rows.getSourceStep(), columns.size);
}

void DepthwiseBoxLoader::wait(Value iteration) {
  slot = p.rem(iteration, tile.stages);
  for (Value buffer : {xBuffer, yBuffer})
    dnn::BoxWaitOp::create(p.b, p.loc, buffer, slot,
                           p.div(iteration, tile.stages));
}

Value DepthwiseBoxLoader::load(Value buffer, const DepthwiseBox &box,
                               int64_t row, int64_t columnStep,
                               int64_t column) {
  Value pixel =
      p.add(p.mul(ownColumn, columnStep),
            (row - box.firstRow) * box.columns + column - box.firstColumn);
  return p.loadShared(buffer, tile.groups, {slot, pixel, ownChannel});
}

Value DepthwiseBoxLoader::loadGradient(int64_t row, int64_t column) {
  return load(yBuffer, boxes.y, row, columns.size, column);
}

Value DepthwiseBoxLoader::loadPixel(int64_t row, int64_t column) {
  return load(xBuffer, boxes.x, row, columns.getSourceStep(), column);
}
