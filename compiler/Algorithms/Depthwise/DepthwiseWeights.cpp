//===- DepthwiseWeights.cpp - Few channels a group: backward weights ------===//
//
// A thread holds the accumulators of its groups' filters in registers and walks
// down a strip of an image that is a few columns wide. The rows of gradients
// that the window spans stay in registers, too, in the type of the tensor. So
// every row of either activation is loaded once, and a row of x is converted
// once.
//
// There are few filters and many pixels, so the reduction is split: each split
// has a share of the strips. A workgroup adds its splits through LDS. In the
// partial results that workgroups store the groups are innermost, since they
// are neighbouring lanes; a second launch (DepthwiseReduction.cpp) adds them
// and stores the sums in the layout of the filter.
//
// With boxes, TMA copies rows to LDS (DepthwiseWeightBoxes.cpp), and a thread
// loads all its rows from there.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/Common/WindowBlock.h"
#include "compiler/Algorithms/Depthwise/DepthwiseReduction.h"
#include "compiler/Algorithms/Depthwise/DepthwiseWeightBoxes.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <optional>
#include <tuple>

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
        rows(getWeightsRows(program, tile)),
        columns(getWeightsColumns(program, tile)),
        rowOffsets(rows.getOffsets()), strips(p, program, tile) {
    if (tile.stages > 0)
      boxes.emplace(p, program, tile, rows, columns);
    for (int64_t i = 0; i < rows.size; ++i)
      if (llvm::any_of(llvm::seq(rows.taps), [&](int64_t tap) {
            return rows.getOffset(i, tap).has_value();
          }))
        dataRows.push_back(i);
  }

  void emit();

private:
  /// The thread's columns of one row by their offsets, as blocks of channels.
  using Row = std::map<int64_t, Value>;

  void makePoint();
  void setStrip(Value strip);
  Row loadGradients(Value block, int64_t offset);
  Row loadData(Value block, int64_t i);
  PointBuilder::Values emitStrip(Value strip, ValueRange accumulators);
  PointBuilder::Values emitStrips(ValueRange accumulators);
  PointBuilder::Values emitBoxes(ValueRange accumulators);
  PointBuilder::Values loadRows(Value block);
  PointBuilder::Values emitBlock(ValueRange loaded, ValueRange carried);
  void addProducts(const Row &data, ArrayRef<Value> gradients, int64_t tap,
                   PointBuilder::Values &accumulators);
  Value take(Value block, int64_t per, int64_t channel);
  void store(ArrayRef<Value> accumulators);
  void storeSum(Value sum, Value index);

  /// Whether a block needs every row of gradients between the first and the
  /// last one, so that the rows of the next block overlap them.
  bool isMoving() const {
    return rowOffsets.back() - rowOffsets.front() + 1 ==
           static_cast<int64_t>(rowOffsets.size());
  }
  /// The number of rows of gradients that a block passes on to the next one.
  int64_t countKept() const {
    return !boxes && isMoving()
               ? static_cast<int64_t>(rowOffsets.size()) - rows.getSourceStep()
               : 0;
  }
  /// The elements of a group's filter whose accumulators this thread has.
  int64_t countAccumulators() const {
    return outputs * inputs * rows.taps * columns.taps;
  }
  /// The elements of a group's filter.
  int64_t countElements() const {
    return outputs * inputs * program.filter[0] * program.filter[1];
  }
  /// The index of an accumulator, which is a block of the thread's groups.
  int64_t getIndex(int64_t output, int64_t input, int64_t row,
                   int64_t column) const {
    return ((output * inputs + input) * rows.taps + row) * columns.taps +
           column;
  }

  PointBuilder &p;
  const ConvProgram &program;
  const DepthwiseTile &tile;
  Value workspace;         ///< Null if there is a single partial result.
  int64_t inputs, outputs; ///< The channels of a group.
  WindowBlock rows;        ///< Its results are rows of x.
  WindowBlock columns;     ///< Its results are columns of y.
  SmallVector<int64_t> rowOffsets;
  SmallVector<int64_t> dataRows; ///< Rows of x in a block that a tap reads.
  DepthwiseStrips strips;
  std::optional<DepthwiseBoxLoader> boxes;

  Value split, firstGroup; ///< This thread's point.
  /// The partial result, the split in the workgroup and the lane in the split.
  Value splitBlock, inBlock, lane;
  Value channelBlock; ///< The workgroup's block of groups.
  Value tapSplit;     ///< The split of the filter's rows, or null.
  Value image, columnBlock, firstBlock; ///< Where the strip begins.
};
} // namespace

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

WindowBlock tessera::getWeightsRows(const ConvProgram &program,
                                    const DepthwiseTile &tile) {
  return {llvm::divideCeilSigned(program.filter[0], tile.tapSplits),
          program.strides[0],
          program.pads[0],
          program.dilations[0],
          tile.rows * program.strides[0],
          /*isForward=*/false};
}

WindowBlock tessera::getWeightsColumns(const ConvProgram &program,
                                       const DepthwiseTile &tile) {
  return {program.filter[1],    program.strides[1], program.pads[1],
          program.dilations[1], tile.columns,       /*isForward=*/true};
}

/// Strips of unknown images are as long as gives every split one: `all` blocks
/// are shared out, and those of an image evenly.
static std::pair<Size, Size> shareOut(PointBuilder &p, const Size &blocks,
                                      const Size &all, int64_t splits) {
  auto divideUp = [&](const Size &size, const Size &by) {
    return Size(arith::CeilDivUIOp::create(p.b, p.loc, p.index(size),
                                           p.index(by))
                    .getResult());
  };
  const Size segments = divideUp(blocks, p.divideUp(all, splits));
  return {segments, divideUp(blocks, segments)};
}

DepthwiseStrips::DepthwiseStrips(PointBuilder &p, const ConvProgram &program,
                                 const DepthwiseTile &tile)
    : columnBlocks(p.divideUp(
          p.getSize(program.y.memory, program.y.getSpatialDim(1)),
          tile.columns * (tile.stages > 0 ? tile.summed : 1))),
      segments(1), perStrip(1), perSplit(1) {
  const Size blocks =
      p.divideUp(p.getSize(program.x.memory, program.x.getSpatialDim(0)),
                 tile.rows * program.strides[0]);
  const Size images = p.getSize(program.x.memory, program.x.getOuterDim());
  const int64_t splits =
      tile.getSplitBlocks() * (tile.stages > 0 ? 1 : tile.summed);
  if (blocks.isKnown()) {
    segments = p.divideUp(blocks, tile.iterations);
    perStrip = std::min(tile.iterations, blocks.number);
  } else {
    const Size all = p.multiply(p.multiply(images, columnBlocks), blocks);
    std::tie(segments, perStrip) = shareOut(p, blocks, all, splits);
  }
  perSplit = p.divideUp(
      p.multiply(p.multiply(images, segments), columnBlocks), splits);
}

/// Past the last strip the image is out of bounds, and past the last block of
/// an image the rows of x are.
void DepthwiseWeightsProgram::setStrip(Value strip) {
  auto take = [&](const Size &size) {
    Value index = p.rem(strip, size);
    strip = p.div(strip, size);
    return index;
  };
  columnBlock = take(strips.columnBlocks);
  firstBlock = p.mul(take(strips.segments), strips.perStrip);
  image = strip;
}

DepthwiseWeightsProgram::Row
DepthwiseWeightsProgram::loadGradients(Value block, int64_t offset) {
  const ConvTensor &y = program.y;
  Row row;
  if (boxes) {
    for (int64_t q = 0; q < tile.columns; ++q)
      row[q] = boxes->loadGradient(offset, q);
    return row;
  }
  Value h = p.add(p.mul(block, rows.getSourceStep()), offset);
  if (tapSplit)
    h = p.add(h, p.mul(tapSplit, -rows.taps * rows.dilation / rows.stride));
  for (int64_t q = 0; q < tile.columns; ++q)
    row[q] =
        p.loadBlock(y.memory, y.getChannelDim(), tile.groups * outputs,
                    y.order(image, p.mul(firstGroup, outputs),
                            {h, p.add(p.mul(columnBlock, tile.columns), q)}));
  return row;
}

/// Loads row `i` of the block.
DepthwiseWeightsProgram::Row DepthwiseWeightsProgram::loadData(Value block,
                                                               int64_t i) {
  const ConvTensor &x = program.x;
  Row row;
  if (boxes) {
    for (int64_t offset : columns.getOffsets())
      row[offset] = boxes->loadPixel(i, offset);
    return row;
  }
  Value h = p.add(p.mul(block, rows.size), i);
  for (int64_t offset : columns.getOffsets())
    row[offset] = p.loadBlock(
        x.memory, x.getChannelDim(), tile.groups * inputs,
        x.order(
            image, p.mul(firstGroup, inputs),
            {h, p.add(p.mul(columnBlock, columns.getSourceStep()), offset)}));
  return row;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Extracts channel `channel` of each of the thread's groups, which have `per`
/// channels.
Value DepthwiseWeightsProgram::take(Value block, int64_t per, int64_t channel) {
  if (per == 1)
    return block;
  PointBuilder::Values elements;
  for (int64_t group = 0; group < tile.groups; ++group)
    elements.push_back(p.getElement(block, group * per + channel));
  return p.makeBlock(elements);
}

/// Adds the products of a row of x and the row of gradients that reads it at
/// `tap`.
void DepthwiseWeightsProgram::addProducts(const Row &data,
                                          ArrayRef<Value> gradients,
                                          int64_t tap,
                                          PointBuilder::Values &accumulators) {
  for (int64_t q = 0; q < tile.columns; ++q) {
    Value gradient = p.convert(gradients[q], program.getAccType());
    for (int64_t output = 0; output < outputs; ++output)
      for (int64_t input = 0; input < inputs; ++input) {
        SmallVector<std::pair<Value *, Value>> products;
        for (int64_t column = 0; column < columns.taps; ++column)
          products.push_back(
              {&accumulators[getIndex(output, input, tap, column)],
               take(data.at(*columns.getOffset(q, column)), inputs, input)});
        p.mulAddAll(products, take(gradient, outputs, output));
      }
  }
}

/// Loads what no block before `block` has loaded: the rows of gradients that
/// are not passed on to it, then its rows of x.
PointBuilder::Values DepthwiseWeightsProgram::loadRows(Value block) {
  PointBuilder::Values loaded;
  for (int64_t offset : ArrayRef(rowOffsets).drop_front(countKept()))
    for (auto &[q, element] : loadGradients(block, offset))
      loaded.push_back(element);
  for (int64_t i : dataRows)
    for (auto &[offset, element] : loadData(block, i))
      loaded.push_back(element);
  return loaded;
}

/// Adds the products of a block of rows of x. `carried`, and what is returned,
/// are the accumulators and then the rows of gradients that the next block
/// needs.
PointBuilder::Values DepthwiseWeightsProgram::emitBlock(ValueRange loaded,
                                                        ValueRange carried) {
  PointBuilder::Values accumulators(carried.take_front(countAccumulators()));
  PointBuilder::Values gradients(carried.drop_front(countAccumulators()));
  int64_t fresh =
      (rowOffsets.size() - countKept()) * static_cast<size_t>(tile.columns);
  llvm::append_range(gradients, loaded.take_front(fresh));
  loaded = loaded.drop_front(fresh);
  for (int64_t i : dataRows) {
    Row row;
    for (int64_t offset : columns.getOffsets()) {
      row[offset] = p.convert(loaded.front(), program.getAccType());
      loaded = loaded.drop_front();
    }
    for (int64_t tap = 0; tap < rows.taps; ++tap)
      if (auto offset = rows.getOffset(i, tap)) {
        auto index = llvm::find(rowOffsets, *offset) - rowOffsets.begin();
        addProducts(
            row, ArrayRef(gradients).slice(index * tile.columns, tile.columns),
            tap, accumulators);
      }
  }
  llvm::append_range(accumulators,
                     ArrayRef(gradients).take_back(countKept() * tile.columns));
  return accumulators;
}

/// Walks down a strip. With `loadsAhead` a block's rows are loaded before the
/// products of the block above it, which hide the latency of the loads.
PointBuilder::Values
DepthwiseWeightsProgram::emitStrip(Value strip, ValueRange accumulators) {
  setStrip(strip);
  PointBuilder::Values carried(accumulators);
  for (int64_t i = 0; i < countKept(); ++i)
    for (auto &[q, element] : loadGradients(firstBlock, rowOffsets[i]))
      carried.push_back(element);
  auto count = static_cast<int64_t>(carried.size());
  if (tile.loadsAhead)
    llvm::append_range(carried, loadRows(firstBlock));
  carried = p.loop(strips.perStrip, carried, [&](Value i, ValueRange inner) {
    Value block = p.add(firstBlock, i);
    if (!tile.loadsAhead)
      return emitBlock(loadRows(block), inner);
    // The loads of the last iteration are out of bounds: below all rows.
    const Size &perStrip = strips.perStrip;
    Value isLast = arith::CmpIOp::create(
        p.b, p.loc, arith::CmpIPredicate::eq,
        perStrip.isKnown() ? i : p.add(i, 1),
        perStrip.isKnown() ? p.index(perStrip.number - 1) : perStrip.value);
    PointBuilder::Values next = loadRows(arith::SelectOp::create(
        p.b, p.loc, isLast, p.index(p.multiply(strips.segments, perStrip)),
        p.add(block, 1)));
    PointBuilder::Values result =
        emitBlock(inner.drop_front(count), inner.take_front(count));
    llvm::append_range(result, next);
    return result;
  });
  carried.truncate(countAccumulators());
  return carried;
}

//===----------------------------------------------------------------------===//
// The reduction in the workgroup
//===----------------------------------------------------------------------===//

/// Stores a sum, which is a block of the thread's groups. Nothing is stored if
/// `index` is past the last accumulator.
void DepthwiseWeightsProgram::storeSum(Value sum, Value index) {
  if (tapSplit) {
    Value isOwn = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                        index, p.index(countAccumulators()));
    index = arith::SelectOp::create(
        p.b, p.loc, isOwn, p.add(index, p.mul(tapSplit, countAccumulators())),
        p.index(countElements()));
  }
  if (workspace)
    return p.storeBlock(sum, workspace, 2, {splitBlock, index, firstGroup});
  Value isElement = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                          index, p.index(countElements()));
  for (int64_t group = 0; group < tile.groups; ++group)
    emitDepthwiseElement(p, program, p.getElement(sum, group), index,
                         arith::SelectOp::create(p.b, p.loc, isElement,
                                                 p.add(firstGroup, group),
                                                 p.index(program.dims.groups)),
                         program.getArguments());
}

/// Stores the accumulators, or their sums if a workgroup adds splits.
/// The threads that hold the same groups divide the elements of the filter
/// round-robin, in as many passes as the space in LDS requires.
void DepthwiseWeightsProgram::store(ArrayRef<Value> accumulators) {
  if (tile.summed == 1) {
    for (auto [i, sum] : llvm::enumerate(accumulators))
      storeSum(sum, p.index(i));
    return;
  }
  int64_t bytes = program.getAccType().getIntOrFloatBitWidth() / 8;
  int64_t perAccumulator = tile.threads * tile.groups;
  int64_t fitting =
      std::max<int64_t>(1, DepthwiseTile::kReductionBytes /
                               (perAccumulator * bytes * tile.summed));
  int64_t passes =
      llvm::divideCeilSigned(countAccumulators(), fitting * tile.summed);
  int64_t perThread =
      llvm::divideCeilSigned(countAccumulators(), passes * tile.summed);
  int64_t atOnce = perThread * tile.summed;
  Value shared = p.makeShared(
      program.getAccType(),
      {atOnce, tile.summed, tile.threads / tile.summed * tile.groups});
  Value offset = p.mul(lane, tile.groups);
  Value none = p.zero(program.getAccType(), tile.groups);
  for (int64_t first = 0; first < countAccumulators(); first += atOnce) {
    if (first != 0)
      p.barrier();
    for (int64_t i = 0; i < atOnce; ++i)
      p.storeShared(first + i < countAccumulators() ? accumulators[first + i]
                                                    : none,
                    shared, {p.index(i), inBlock, offset});
    p.barrier();
    for (int64_t i = 0; i < perThread; ++i) {
      Value index = p.add(inBlock, i * tile.summed);
      Value sum;
      for (int64_t other = 0; other < tile.summed; ++other) {
        Value term =
            p.loadShared(shared, tile.groups, {index, p.index(other), offset});
        sum = sum ? p.addBlocks(sum, term) : term;
      }
      storeSum(sum, p.add(index, first));
    }
  }
}

//===----------------------------------------------------------------------===//
// Together
//===----------------------------------------------------------------------===//

/// The last dimension of the points has the lanes of a split, the one before it
/// the splits that a workgroup adds.
void DepthwiseWeightsProgram::makePoint() {
  int64_t groupBlocks = program.dims.groups / tile.groups;
  int64_t lanes = tile.threads / tile.summed;
  const bool isSummed = tile.summed > 1, isSplit = tile.tapSplits > 1;
  SmallVector<int64_t> sizes = {tile.getSplitBlocks()};
  if (isSplit)
    sizes.push_back(tile.tapSplits);
  if (isSummed)
    sizes.append({groupBlocks / lanes, tile.summed, lanes});
  else
    sizes.push_back(groupBlocks);
  ValueRange point = p.forEachPoint(sizes, tile.threads);
  setResident(p, tile);
  split = splitBlock = point[0];
  if (isSplit)
    tapSplit = point[1];
  Value groupBlock = point[isSplit ? 2 : 1];
  if (isSummed) {
    inBlock = point.drop_back().back();
    lane = point.back();
    split = p.add(p.mul(splitBlock, tile.summed), inBlock);
    channelBlock = groupBlock;
    groupBlock = p.add(p.mul(groupBlock, lanes), lane);
  }
  firstGroup = p.mul(groupBlock, tile.groups);
}

PointBuilder::Values
DepthwiseWeightsProgram::emitStrips(ValueRange accumulators) {
  int64_t splits = tile.getSplitBlocks() * tile.summed;
  return p.loop(strips.perSplit, accumulators,
                [&](Value i, ValueRange carried) {
                  return emitStrip(p.add(p.mul(i, splits), split), carried);
                });
}

/// As soon as all threads have loaded a strip to registers, the next copy fills
/// its slot.
PointBuilder::Values
DepthwiseWeightsProgram::emitBoxes(ValueRange accumulators) {
  boxes->begin(splitBlock, channelBlock, inBlock, p.mul(lane, tile.groups));
  const int64_t perSplit = strips.perSplit.number; // Sizes are known.
  for (int64_t i = 0; i < std::min(tile.stages, perSplit); ++i)
    boxes->copyIn(p.index(i));
  return p.loop(
      strips.perSplit, accumulators, [&](Value iteration, ValueRange carried) {
        boxes->wait(iteration);
        PointBuilder::Values loaded = loadRows(/*block=*/nullptr);
        p.barrier();
        Value later = p.add(iteration, tile.stages);
        p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                       later, p.index(perSplit)),
                 {}, [&] {
                   boxes->copyIn(later);
                   return PointBuilder::Values();
                 });
        return emitBlock(loaded, carried);
      });
}

void DepthwiseWeightsProgram::emit() {
  makePoint();
  PointBuilder::Values accumulators(countAccumulators(),
                                    p.zero(program.getAccType(), tile.groups));
  store(boxes ? emitBoxes(accumulators) : emitStrips(accumulators));
}

void tessera::buildDepthwiseWeights(const ConvProgram &program,
                                    const DepthwiseTile &tile,
                                    bool isElementwise) {
  dnn::ConvOp conv = program.getConv();
  Value workspace;
  if (tile.getSplitBlocks() > 1) {
    int64_t groups = program.dims.groups;
    int64_t elements = program.w.getType().getNumElements() / groups;
    workspace =
        addSplitsWorkspace(conv, {tile.getSplitBlocks(), elements, groups});
    buildDepthwiseReduction(program, workspace);
  }
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  p.isElementwise = isElementwise;
  p.isStreamed = tile.isStreamed;
  DepthwiseWeightsProgram(p, program, tile, workspace).emit();
  conv.erase();
}
