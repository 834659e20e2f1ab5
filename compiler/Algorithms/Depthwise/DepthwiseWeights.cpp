//===- DepthwiseWeights.cpp - Few channels a group: backward weights ------===//
//
// A thread holds all sums of its groups' filters in registers and walks down a
// strip of an image, a few columns wide. The rows of gradients that the window
// spans stay in registers, too, as they are in memory: so every row of either
// activation is loaded once, and one of x converted once. There are few filters
// and many pixels, so that strips are shared out to parts. The parts of a
// workgroup are summed through LDS; what these leave has the groups last, which
// are neighbouring lanes: a second launch adds it up and puts the sums where
// the filter has them.
//
// Or a copy engine brings boxes of rows to LDS (DepthwiseWeightBoxes.cpp), and
// a thread has all its rows from there.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Depthwise/DepthwiseWeightBoxes.h"
#include "compiler/Algorithms/Depthwise/DepthwiseWeightSum.h"
#include "compiler/Algorithms/Common/PartSum.h"
#include "compiler/Algorithms/Common/WindowBlock.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <optional>

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
        rowOffsets(rows.getOffsets()), strips(program, tile) {
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
  /// The thread's columns of one row, by their offsets: blocks of channels, not
  /// converted.
  using Row = std::map<int64_t, Value>;

  void makePoint();
  void setStrip(Value strip);
  Row loadGradients(Value block, int64_t offset);
  Row loadData(Value block, int64_t i);
  PointBuilder::Values emitStrip(Value strip, ValueRange sums);
  PointBuilder::Values emitStrips(ValueRange sums);
  PointBuilder::Values emitBoxes(ValueRange sums);
  PointBuilder::Values loadRows(Value block);
  PointBuilder::Values emitBlock(ValueRange loaded, ValueRange carried);
  void addProducts(const Row &data, ArrayRef<Value> gradients, int64_t tap,
                   PointBuilder::Values &sums);
  Value take(Value block, int64_t per, int64_t channel);
  void store(ArrayRef<Value> sums);
  void storeSum(Value sum, Value index);

  /// Whether each block needs all rows of the window, which then moves.
  bool isMoving() const {
    return rowOffsets.back() - rowOffsets.front() + 1 ==
           static_cast<int64_t>(rowOffsets.size());
  }
  /// Rows of gradients that a block passes on to the next.
  int64_t countKept() const {
    return !boxes && isMoving()
               ? static_cast<int64_t>(rowOffsets.size()) - rows.getSourceStep()
               : 0;
  }
  /// Of this thread, for each of its groups; of all.
  int64_t countSums() const {
    return outputs * inputs * rows.taps * columns.taps;
  }
  int64_t countElements() const {
    return outputs * inputs * program.filter[0] * program.filter[1];
  }
  /// Place among the sums, each a block of the thread's groups.
  int64_t getIndex(int64_t output, int64_t input, int64_t row,
                   int64_t column) const {
    return ((output * inputs + input) * rows.taps + row) * columns.taps +
           column;
  }

  PointBuilder &p;
  const ConvProgram &program;
  const DepthwiseTile &tile;
  Value workspace;         ///< Null if the sums are whole.
  int64_t inputs, outputs; ///< Channels of a group.
  WindowBlock rows;        ///< Rows of x are the results.
  WindowBlock columns;     ///< Columns of y are.
  SmallVector<int64_t> rowOffsets;
  SmallVector<int64_t> dataRows; ///< Rows of x in a block that a tap meets.
  DepthwiseStrips strips;
  std::optional<DepthwiseBoxLoader> boxes;

  Value part, firstGroup;         ///< This thread's point,
  Value partBlock, inBlock, lane; ///< and with the workgroup's parts apart.
  Value channelBlock;             ///< Of the workgroup's groups.
  Value tapPart;                  ///< Of the filter's rows, if it has parts.
  Value image, columnBlock, firstBlock; ///< Of the strip.
};
} // namespace

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

WindowBlock tessera::getWeightsRows(const ConvProgram &program,
                                    const DepthwiseTile &tile) {
  return {llvm::divideCeilSigned(program.filter[0], tile.tapParts),
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

DepthwiseStrips::DepthwiseStrips(const ConvProgram &program,
                                 const DepthwiseTile &tile)
    : columnBlocks(llvm::divideCeilSigned(
          program.y.getSpatialSize(1),
          tile.columns * (tile.stages > 0 ? tile.summed : 1))) {
  int64_t blocks = llvm::divideCeilSigned(program.x.getSpatialSize(0),
                                          tile.rows * program.strides[0]);
  perStrip = std::min(tile.turns, blocks);
  segments = llvm::divideCeilSigned(blocks, perStrip);
  perPart = llvm::divideCeilSigned(program.dims.n * segments * columnBlocks,
                                   tile.getPartBlocks() *
                                       (tile.stages > 0 ? 1 : tile.summed));
}

/// Behind the last strip the image is outside, behind the last block of an
/// image the rows of x are.
void DepthwiseWeightsProgram::setStrip(Value strip) {
  auto take = [&](int64_t size) {
    Value place = p.rem(strip, size);
    strip = p.div(strip, size);
    return place;
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
  if (tapPart)
    h = p.add(h, p.mul(tapPart, -rows.taps * rows.dilation / rows.stride));
  for (int64_t q = 0; q < tile.columns; ++q)
    row[q] =
        p.loadBlock(y.memory, y.getChannelDim(), tile.groups * outputs,
                    y.order(image, p.mul(firstGroup, outputs),
                            {h, p.add(p.mul(columnBlock, tile.columns), q)}));
  return row;
}

/// Row `i` of the block.
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

/// Channel `channel` of each of the thread's groups.
Value DepthwiseWeightsProgram::take(Value block, int64_t per, int64_t channel) {
  if (per == 1)
    return block;
  PointBuilder::Values elements;
  for (int64_t group = 0; group < tile.groups; ++group)
    elements.push_back(p.getElement(block, group * per + channel));
  return p.makeBlock(elements);
}

/// The products of a row of x with the row of gradients that `tap` makes of it.
void DepthwiseWeightsProgram::addProducts(const Row &data,
                                          ArrayRef<Value> gradients,
                                          int64_t tap,
                                          PointBuilder::Values &sums) {
  for (int64_t q = 0; q < tile.columns; ++q) {
    Value gradient = p.convert(gradients[q], program.getSumType());
    for (int64_t output = 0; output < outputs; ++output)
      for (int64_t input = 0; input < inputs; ++input) {
        SmallVector<std::pair<Value *, Value>> products;
        for (int64_t column = 0; column < columns.taps; ++column)
          products.push_back(
              {&sums[getIndex(output, input, tap, column)],
               take(data.at(*columns.getOffset(q, column)), inputs, input)});
        p.mulAddAll(products, take(gradient, outputs, output));
      }
  }
}

/// What a block is the first to load: the rows of gradients that none has
/// passed on to it, then its rows of x.
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

/// The products of a block of rows of x. `carried` and what is returned: the
/// sums, then the rows of gradients that are kept.
PointBuilder::Values DepthwiseWeightsProgram::emitBlock(ValueRange loaded,
                                                        ValueRange carried) {
  PointBuilder::Values sums(carried.take_front(countSums()));
  PointBuilder::Values gradients(carried.drop_front(countSums()));
  int64_t fresh =
      (rowOffsets.size() - countKept()) * static_cast<size_t>(tile.columns);
  llvm::append_range(gradients, loaded.take_front(fresh));
  loaded = loaded.drop_front(fresh);
  for (int64_t i : dataRows) {
    Row row;
    for (int64_t offset : columns.getOffsets()) {
      row[offset] = p.convert(loaded.front(), program.getSumType());
      loaded = loaded.drop_front();
    }
    for (int64_t tap = 0; tap < rows.taps; ++tap)
      if (auto offset = rows.getOffset(i, tap)) {
        auto place = llvm::find(rowOffsets, *offset) - rowOffsets.begin();
        addProducts(
            row, ArrayRef(gradients).slice(place * tile.columns, tile.columns),
            tap, sums);
      }
  }
  llvm::append_range(sums,
                     ArrayRef(gradients).take_back(countKept() * tile.columns));
  return sums;
}

/// Where the tile says so, a block's rows are loaded before the products of the
/// block above it, which then hide that it takes time.
PointBuilder::Values DepthwiseWeightsProgram::emitStrip(Value strip,
                                                        ValueRange sums) {
  setStrip(strip);
  PointBuilder::Values carried(sums);
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
    // Behind the last block everything is outside.
    Value isLast = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq,
                                         i, p.index(strips.perStrip - 1));
    PointBuilder::Values next = loadRows(arith::SelectOp::create(
        p.b, p.loc, isLast, p.index(strips.getOutside()), p.add(block, 1)));
    PointBuilder::Values result =
        emitBlock(inner.drop_front(count), inner.take_front(count));
    llvm::append_range(result, next);
    return result;
  });
  carried.truncate(countSums());
  return carried;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// A block of the thread's groups; nothing if `index` is behind the last.
void DepthwiseWeightsProgram::storeSum(Value sum, Value index) {
  if (tapPart) {
    Value isOwn = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                        index, p.index(countSums()));
    index = arith::SelectOp::create(p.b, p.loc, isOwn,
                                    p.add(index, p.mul(tapPart, countSums())),
                                    p.index(countElements()));
  }
  if (workspace)
    return p.storeBlock(sum, workspace, 2, {partBlock, index, firstGroup});
  Value isElement = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                          index, p.index(countElements()));
  for (int64_t group = 0; group < tile.groups; ++group)
    emitDepthwiseElement(p, program, p.getElement(sum, group), index,
                         arith::SelectOp::create(p.b, p.loc, isElement,
                                                 p.add(firstGroup, group),
                                                 p.index(program.dims.groups)),
                         program.getArguments());
}

/// Each thread of those that hold the same groups sums every so many elements,
/// as many at a time as LDS has room for.
void DepthwiseWeightsProgram::store(ArrayRef<Value> sums) {
  if (tile.summed == 1) {
    for (auto [i, sum] : llvm::enumerate(sums))
      storeSum(sum, p.index(i));
    return;
  }
  int64_t bytes = program.getSumType().getIntOrFloatBitWidth() / 8;
  int64_t perSum = tile.threads * tile.groups;
  int64_t room = std::max<int64_t>(1, DepthwiseTile::kSumBytes /
                                          (perSum * bytes * tile.summed));
  int64_t turns = llvm::divideCeilSigned(countSums(), room * tile.summed);
  int64_t perThread = llvm::divideCeilSigned(countSums(), turns * tile.summed);
  int64_t atOnce = perThread * tile.summed;
  Value shared = p.makeShared(
      program.getSumType(),
      {atOnce, tile.summed, tile.threads / tile.summed * tile.groups});
  Value place = p.mul(lane, tile.groups);
  Value none = p.zero(program.getSumType(), tile.groups);
  for (int64_t first = 0; first < countSums(); first += atOnce) {
    if (first != 0)
      p.barrier();
    for (int64_t i = 0; i < atOnce; ++i)
      p.storeShared(first + i < countSums() ? sums[first + i] : none, shared,
                    {p.index(i), inBlock, place});
    p.barrier();
    for (int64_t i = 0; i < perThread; ++i) {
      Value index = p.add(inBlock, i * tile.summed);
      Value sum;
      for (int64_t other = 0; other < tile.summed; ++other) {
        Value term =
            p.loadShared(shared, tile.groups, {index, p.index(other), place});
        sum = sum ? p.addBlocks(sum, term) : term;
      }
      storeSum(sum, p.add(index, first));
    }
  }
}

//===----------------------------------------------------------------------===//
// Together
//===----------------------------------------------------------------------===//

/// The parts that a workgroup sums are of whole rows of its threads.
void DepthwiseWeightsProgram::makePoint() {
  int64_t groupBlocks = program.dims.groups / tile.groups;
  int64_t lanes = tile.threads / tile.summed;
  const bool isSummed = tile.summed > 1, isSplit = tile.tapParts > 1;
  SmallVector<int64_t> sizes = {tile.getPartBlocks()};
  if (isSplit)
    sizes.push_back(tile.tapParts);
  if (isSummed)
    sizes.append({groupBlocks / lanes, tile.summed, lanes});
  else
    sizes.push_back(groupBlocks);
  ValueRange point = p.forEachPoint(sizes, tile.threads);
  setResident(p, tile);
  part = partBlock = point[0];
  if (isSplit)
    tapPart = point[1];
  Value groupBlock = point[isSplit ? 2 : 1];
  if (isSummed) {
    inBlock = point.drop_back().back();
    lane = point.back();
    part = p.add(p.mul(partBlock, tile.summed), inBlock);
    channelBlock = groupBlock;
    groupBlock = p.add(p.mul(groupBlock, lanes), lane);
  }
  firstGroup = p.mul(groupBlock, tile.groups);
}

PointBuilder::Values DepthwiseWeightsProgram::emitStrips(ValueRange sums) {
  int64_t parts = tile.getPartBlocks() * tile.summed;
  return p.loop(strips.perPart, sums, [&](Value i, ValueRange carried) {
    return emitStrip(p.add(p.mul(i, parts), part), carried);
  });
}

/// As soon as all threads have a strip in registers, another one comes to its
/// place.
PointBuilder::Values DepthwiseWeightsProgram::emitBoxes(ValueRange sums) {
  boxes->begin(partBlock, channelBlock, inBlock, p.mul(lane, tile.groups));
  for (int64_t turn = 0; turn < std::min(tile.stages, strips.perPart); ++turn)
    boxes->copyIn(p.index(turn));
  return p.loop(strips.perPart, sums, [&](Value turn, ValueRange carried) {
    boxes->wait(turn);
    PointBuilder::Values loaded = loadRows(/*block=*/nullptr);
    p.barrier();
    Value later = p.add(turn, tile.stages);
    p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult, later,
                                   p.index(strips.perPart)),
             {}, [&] {
               boxes->copyIn(later);
               return PointBuilder::Values();
             });
    return emitBlock(loaded, carried);
  });
}

void DepthwiseWeightsProgram::emit() {
  makePoint();
  PointBuilder::Values sums(countSums(),
                            p.zero(program.getSumType(), tile.groups));
  store(boxes ? emitBoxes(sums) : emitStrips(sums));
}

void tessera::buildDepthwiseWeights(const ConvProgram &program,
                                    const DepthwiseTile &tile, bool isByLane) {
  dnn::ConvOp conv = program.getConv();
  Value workspace;
  if (tile.getPartBlocks() > 1) {
    int64_t groups = program.dims.groups;
    int64_t sums = program.w.getType().getNumElements() / groups;
    workspace = addPartsWorkspace(conv, {tile.getPartBlocks(), sums, groups});
    buildDepthwiseSum(program, workspace);
  }
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  p.isByLane = isByLane;
  p.isStreamed = tile.isStreamed;
  DepthwiseWeightsProgram(p, program, tile, workspace).emit();
  conv.erase();
}
