//===- DepthwiseData.cpp - Few channels a group: forward, backward data ---===//
//
// These programs are bound by memory. A thread owns a block of result pixels
// and loads each row of the source that they share once, in 16-byte accesses
// along the contiguous dimension (channels or columns). All taps of the window
// are unrolled, so that the filter and the row stay in registers. Where loading
// a filter is expensive, a thread walks several blocks, one below the other,
// with the same filter.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/WindowBlock.h"
#include "compiler/Algorithms/Depthwise/Depthwise.h"

#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace tessera;

namespace {
/// Emits the program. The elements of a vector are either channels or columns.
class DepthwiseProgram {
public:
  DepthwiseProgram(PointBuilder &p, const ConvProgram &program,
                   const DepthwiseTile &tile, Value flatFilter)
      : p(p), program(program), tile(tile), flatFilter(flatFilter),
        isForward(program.hasDirection(dnn::ConvDirection::Forward)),
        source(isForward ? program.x : program.y),
        result(isForward ? program.y : program.x),
        sourcePer(isForward ? program.getInputsPerGroup()
                            : program.getOutputsPerGroup()),
        resultPer(isForward ? program.getOutputsPerGroup()
                            : program.getInputsPerGroup()),
        rows(makeWindow(0, tile.rows)), columns(makeWindow(1, tile.columns)),
        channelsLast(result.hasChannelsInnermost()) {}

  void emit();

private:
  /// The elements of one source row by their offset from the block's first
  /// column. They are blocks of channels or, if vectors hold columns, single
  /// elements of one channel.
  using Row = std::map<int64_t, Value>;

  WindowBlock makeWindow(int64_t dim, int64_t size) const {
    return {program.filter[dim],
            program.strides[dim],
            program.pads[dim],
            program.dilations[dim],
            size,
            isForward};
  }
  void makePoint();
  void emitBlock();
  Value getWeight(int64_t owned, int64_t reduced, int64_t row, int64_t column);
  Row loadChannelRow(int64_t offset);
  Row loadColumnRow(int64_t offset, int64_t channel);
  void addChannels(const Row &row, int64_t i, int64_t tap);
  void addColumns(const Row &row, int64_t i, int64_t tap, int64_t channel);
  SmallVector<Row> loadRow(int64_t offset);
  void addRow(SmallVector<Row> loaded, int64_t offset);
  void storeResult();

  /// The accumulator of pixel (row, other), a vector of the block's channels,
  /// or of row and channel `other`, a vector of the block's columns.
  Value &getAccumulator(int64_t row, int64_t other) {
    return accumulators[row * (channelsLast ? tile.columns
                                            : tile.groups * resultPer) +
                        other];
  }

  PointBuilder &p;
  const ConvProgram &program;
  const DepthwiseTile &tile;
  Value flatFilter;
  bool isForward;
  const ConvTensor &source;
  const ConvTensor &result;
  int64_t sourcePer, resultPer; ///< The channels of a group.
  WindowBlock rows, columns;
  bool channelsLast; ///< Vectors hold channels, else columns.

  Value image, groupBlock, firstGroup, columnBlock; ///< This thread's point.
  Value thread;   ///< Its number in a workgroup that shares filters, else null.
  Value rowBlock; ///< The block of the iteration that is being emitted.
  std::optional<GroupFilter> filter;
  PointBuilder::Values accumulators;
};
} // namespace

void DepthwiseProgram::makePoint() {
  const Size groupBlocks = program.dims.groups / tile.groups;
  auto getSize = [&](int64_t dim) { return p.getSize(result.memory, dim); };
  const std::array<Size, 2> blocks = {
      p.divideUp(getSize(result.getSpatialDim(0)), tile.rows * tile.iterations),
      p.divideUp(getSize(result.getSpatialDim(1)), tile.columns)};
  const Size images = getSize(result.getOuterDim());
  ValueRange point =
      channelsLast
          ? p.forEachPointOf({images, blocks[0], blocks[1], groupBlocks},
                             tile.threads)
          : p.forEachPointOf({images, groupBlocks, blocks[0], blocks[1]},
                             tile.threads);
  setResident(p, tile);
  image = point[0];
  groupBlock = point[channelsLast ? 3 : 1];
  firstGroup = p.mul(groupBlock, tile.groups);
  rowBlock = point[channelsLast ? 1 : 2];
  columnBlock = point[channelsLast ? 2 : 3];
  if (!tile.sharesFilters)
    return;
  Value number = p.add(p.mul(image, blocks[0]), rowBlock);
  number = p.add(p.mul(number, blocks[1]), columnBlock);
  number = p.add(p.mul(number, groupBlocks), groupBlock);
  thread = arith::RemUIOp::create(p.b, p.loc, number, p.index(tile.threads));
}

/// The element of the filter for channel `owned` of the thread's result
/// channels and channel `reduced` of the same group in the source.
Value DepthwiseProgram::getWeight(int64_t owned, int64_t reduced, int64_t row,
                                  int64_t column) {
  if (isForward)
    return filter->get(owned, reduced, row, column);
  int64_t group = owned / resultPer;
  return filter->get(group * sourcePer + reduced, owned % resultPer, row,
                     column);
}

//===----------------------------------------------------------------------===//
// Vectors hold channels
//===----------------------------------------------------------------------===//

DepthwiseProgram::Row DepthwiseProgram::loadChannelRow(int64_t offset) {
  Row row;
  Value channel = p.mul(firstGroup, sourcePer);
  Value h = p.add(p.mul(rowBlock, rows.getSourceStep()), offset);
  for (int64_t column : columns.getOffsets()) {
    Value w = p.add(p.mul(columnBlock, columns.getSourceStep()), column);
    row[column] = p.loadBlock(source.memory, source.getChannelDim(),
                              tile.groups * sourcePer,
                              source.order(image, channel, {h, w}));
  }
  return row;
}

/// Adds the products of filter row `tap` and a source row to row `i` of the
/// block.
void DepthwiseProgram::addChannels(const Row &row, int64_t i, int64_t tap) {
  int64_t owned = tile.groups * resultPer;
  for (int64_t column = 0; column < columns.taps; ++column)
    for (int64_t reduced = 0; reduced < sourcePer; ++reduced) {
      PointBuilder::Values weights;
      for (int64_t channel = 0; channel < owned; ++channel)
        weights.push_back(getWeight(channel, reduced, tap, column));
      Value weight = p.makeBlock(weights);
      SmallVector<std::pair<Value *, Value>> products;
      for (int64_t q = 0; q < tile.columns; ++q) {
        auto offset = columns.getOffset(q, column);
        if (!offset)
          continue;
        PointBuilder::Values data;
        for (int64_t channel = 0; channel < owned; ++channel)
          data.push_back(p.getElement(
              row.at(*offset), channel / resultPer * sourcePer + reduced));
        Value block = sourcePer == 1 && resultPer == 1 ? row.at(*offset)
                                                       : p.makeBlock(data);
        products.push_back({&getAccumulator(i, q), block});
      }
      p.mulAddAll(products, weight);
    }
}

//===----------------------------------------------------------------------===//
// Vectors hold columns
//===----------------------------------------------------------------------===//

/// Loads a whole aligned piece where more than one of its elements is needed.
DepthwiseProgram::Row DepthwiseProgram::loadColumnRow(int64_t offset,
                                                      int64_t channel) {
  constexpr int64_t kBytes = 16;
  int64_t step = columns.getSourceStep();
  int64_t dim = source.getSpatialDim(1);
  int64_t bytes = source.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t width = getAccessWidth(source.getType(), dim,
                                 std::min(kBytes / bytes, step & -step));
  llvm::MapVector<int64_t, SmallVector<int64_t>> pieces;
  for (int64_t column : columns.getOffsets())
    pieces[llvm::divideFloorSigned(column, width) * width].push_back(column);

  Row row;
  Value h = p.add(p.mul(rowBlock, rows.getSourceStep()), offset);
  Value c = p.add(p.mul(firstGroup, sourcePer), channel);
  for (auto &[first, needed] : pieces) {
    bool isWhole = needed.size() > 1;
    int64_t start = isWhole ? first : needed.front();
    Value w = p.add(p.mul(columnBlock, step), start);
    Value block = p.loadBlock(source.memory, dim, isWhole ? width : 1,
                              source.order(image, c, {h, w}));
    for (int64_t column : needed)
      row[column] = p.getElement(block, column - start);
  }
  return row;
}

void DepthwiseProgram::addColumns(const Row &row, int64_t i, int64_t tap,
                                  int64_t channel) {
  Value zero = p.zero(program.getAccType(), 1);
  int64_t group = channel / sourcePer;
  for (int64_t column = 0; column < columns.taps; ++column) {
    PointBuilder::Values data;
    bool isRead = false;
    for (int64_t q = 0; q < tile.columns; ++q) {
      auto offset = columns.getOffset(q, column);
      data.push_back(offset ? row.at(*offset) : zero);
      isRead |= offset.has_value();
    }
    if (!isRead)
      continue;
    Value block = p.makeBlock(data);
    for (int64_t j = 0; j < resultPer; ++j) {
      int64_t owned = group * resultPer + j;
      Value weight = getWeight(owned, channel % sourcePer, tap, column);
      Value &accumulator = getAccumulator(i, owned);
      accumulator = p.mulAdd(block, p.splat(weight, tile.columns), accumulator);
    }
  }
}

//===----------------------------------------------------------------------===//
// Together
//===----------------------------------------------------------------------===//

void DepthwiseProgram::storeResult() {
  Value firstChannel = p.mul(firstGroup, resultPer);
  Value firstColumn = p.mul(columnBlock, tile.columns);
  int64_t others = channelsLast ? tile.columns : tile.groups * resultPer;
  for (int64_t i = 0; i < tile.rows; ++i)
    for (int64_t j = 0; j < others; ++j) {
      Value h = p.add(p.mul(rowBlock, tile.rows), i);
      Value w = channelsLast ? p.add(firstColumn, j) : firstColumn;
      Value c = channelsLast ? firstChannel : p.add(firstChannel, j);
      emitResult(p, program, getAccumulator(i, j),
                 channelsLast ? result.getChannelDim()
                              : result.getSpatialDim(1),
                 result.order(image, c, {h, w}), program.getArguments());
    }
}

/// Loads what the block needs of the source row at `offset`: one Row of all
/// channels, or one Row of columns for each channel.
SmallVector<DepthwiseProgram::Row> DepthwiseProgram::loadRow(int64_t offset) {
  if (channelsLast)
    return {loadChannelRow(offset)};
  SmallVector<Row> loaded;
  for (int64_t channel = 0; channel < tile.groups * sourcePer; ++channel)
    loaded.push_back(loadColumnRow(offset, channel));
  return loaded;
}

/// Adds the products of the source row at `offset`.
void DepthwiseProgram::addRow(SmallVector<Row> loaded, int64_t offset) {
  for (Row &row : loaded)
    for (auto &[column, element] : row)
      element = p.convert(element, program.getAccType());
  for (int64_t i = 0; i < tile.rows; ++i)
    for (int64_t tap = 0; tap < rows.taps; ++tap) {
      if (rows.getOffset(i, tap) != offset)
        continue;
      for (auto [channel, row] : llvm::enumerate(loaded))
        if (channelsLast)
          addChannels(row, i, tap);
        else
          addColumns(row, i, tap, channel);
    }
}

/// Emits the block of pixels at `rowBlock` and `columnBlock`. A row is loaded
/// before the products of the row above it, which hide the latency of the load.
void DepthwiseProgram::emitBlock() {
  int64_t owned = tile.groups * resultPer;
  int64_t count = tile.rows * (channelsLast ? tile.columns : owned);
  accumulators.assign(
      count, p.zero(program.getAccType(), channelsLast ? owned : tile.columns));
  SmallVector<int64_t> offsets = rows.getOffsets();
  SmallVector<Row> next = loadRow(offsets.front());
  for (auto [i, offset] : llvm::enumerate(offsets)) {
    SmallVector<Row> loaded = std::move(next);
    if (i + 1 < offsets.size())
      next = loadRow(offsets[i + 1]);
    addRow(std::move(loaded), offset);
  }
  storeResult();
}

void DepthwiseProgram::emit() {
  makePoint();
  filter.emplace(p, program, tile, flatFilter, groupBlock, thread);
  Value firstBlock = p.mul(rowBlock, tile.iterations);
  p.loop(tile.iterations, {},
         [&](Value iteration, ValueRange) -> PointBuilder::Values {
           rowBlock = p.add(firstBlock, iteration);
           emitBlock();
           return {};
         });
}

void tessera::buildDepthwiseData(const ConvProgram &program,
                                 const DepthwiseTile &tile,
                                 bool isElementwise) {
  dnn::ConvOp conv = program.getConv();
  Value flat = flattenArgument(program.w.memory);
  OpBuilder b(conv);
  PointBuilder p(b, conv.getLoc());
  p.isElementwise = isElementwise;
  DepthwiseProgram(p, program, tile, flat).emit();
  conv.erase();
}
