//===- ToeplitzFrame.cpp - Threads, tiles and planes of Toeplitz ----------===//
//
// In memory the channels of a pixel are contiguous, but the matrix unit
// multiplies pixels of one channel. So every tile passes through LDS, where
// each channel has a plane.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kWarp = 32;

//===----------------------------------------------------------------------===//
// Planes
//===----------------------------------------------------------------------===//

static constexpr int64_t kBanks = 32;

/// The lanes of a window read four words, and windows side by side have a
/// distance of four words. The gap makes that the distance of a band's last
/// window from the next band's first one, too, modulo the banks.
void ToeplitzPlane::setBand(const ToeplitzTile &tile) {
  bandRows = tile.rows;
  const int64_t wanted = tile.blocks * kBlockColumns / kPair;
  if (tile.bands > 1)
    bandGap = llvm::mod(wanted - bandRows * rowWords, kBanks);
}

/// With boxes, lanes store four words of each channel of an octet.
void ToeplitzPlane::setWords(int64_t least, const ToeplitzTile &tile) {
  constexpr int64_t kNext = 4;
  words = least;
  if (tile.stages == 0 && tile.countOctets() == 1)
    return;
  const int64_t distance =
      tile.stages > 0 ? kNext : std::max(kNext, kBanks / tile.countOctets());
  while (words % kBanks != distance)
    ++words;
}

ToeplitzDataPlanes::ToeplitzDataPlanes(const ToeplitzTile &tile,
                                       int64_t filterRows) {
  source.rows = tile.countRows() + filterRows - 1;
  source.rowWords = (tile.countColumns() + kBlockColumns) / kPair;
  result.rows = tile.countRows();
  result.rowWords = tile.countColumns() / kPair;
  source.columns = source.rowWords;
  result.columns = result.rowWords;
  source.setBand(tile);
  result.setBand(tile);
  if (tile.stages > 0) // Without a gap, addresses take fewer instructions.
    result.bandGap = 0;
  const bool isFull = tile.bands * tile.blocks == kWindows;
  int64_t leftOver =
      isFull ? 0 : (tile.rows - 1) * result.rowWords + kBlockColumns / kPair;
  source.setWords(std::max(source.getRowWord(source.rows),
                           result.getRowWord(result.rows) + leftOver),
                  tile);
  result.words = source.words;
}

int64_t ToeplitzDataPlanes::countBytes(const ToeplitzTile &tile) const {
  constexpr int64_t kWordBytes = 4;
  int64_t words = source.words;
  if (tile.stages > 0)
    words += tile.stages * source.rows * source.columns +
             result.rows * result.columns;
  return words * tile.channels * kWordBytes;
}

ToeplitzWeightsPlanes::ToeplitzWeightsPlanes(const ToeplitzTile &tile,
                                             int64_t filterRows)
    : depth(filterRows + 1) {
  // Lanes read four words of each of eight rows. This distance puts them in
  // different banks.
  constexpr int64_t kDistance = 4;
  x.rows = tile.countRows();
  x.columns = tile.countColumns() + kBlockColumns;
  x.rowWords = x.columns;
  y.rows = tile.countRows() - kPair + depth;
  y.columns = tile.countColumns();
  y.rowWords = y.columns + kDistance;
  x.setWords(x.rows * x.rowWords, tile);
  y.setWords(y.rows * y.rowWords, tile);
}

/// Lanes read seven words of each of two rows of x, and four words of each of
/// eight rows of gradients, 16 columns at a time. The widths of rows are chosen
/// such that these are in different banks.
ToeplitzStripPlanes::ToeplitzStripPlanes(const ToeplitzTile &tile,
                                         int64_t filterRows)
    : depth(filterRows + 1),
      bufferRows(llvm::alignTo(tile.rows + filterRows - 1, tile.rows)) {
  constexpr int64_t kFour = 4, kRead = 16;
  x.rows = y.rows = tile.rows;
  x.columns = tile.countColumns() + kBlockColumns;
  y.columns = tile.countColumns();
  x.rowWords = x.columns;
  while (x.rowWords % kBanks < kBlockColumns ||
         x.rowWords % kBanks > kBanks - kBlockColumns)
    x.rowWords += kFour;
  y.rowWords = static_cast<int64_t>(llvm::alignTo(y.columns, kRead)) + kFour;
  x.setWords(x.rows * x.rowWords, tile);
  y.setWords(bufferRows * y.rowWords, tile);
}

ToeplitzPlane ToeplitzStripPlanes::getBox(const ToeplitzPlane &plane) {
  ToeplitzPlane box = plane;
  box.rowWords = plane.columns;
  while (box.rows * box.rowWords % kPeriod != kPeriod / 2)
    ++box.rowWords;
  box.words = box.rows * box.rowWords;
  return box;
}

static constexpr int64_t kWordBytes = 4;

int64_t ToeplitzStripPlanes::countBoxBytes(const ToeplitzTile &tile) const {
  return tile.stages * (getBox(x).words + getBox(y).words) * tile.channels *
         kWordBytes;
}

int64_t ToeplitzStripPlanes::countBytes(const ToeplitzTile &tile) const {
  return (x.words + y.words) * tile.channels * kWordBytes + countBoxBytes(tile);
}

ToeplitzStrips::ToeplitzStrips(const ToeplitzTile &tile, int64_t filterRows,
                               int64_t padRows)
    : above(
          llvm::divideCeilSigned(std::min(padRows, filterRows - 1), tile.rows)),
      lead(llvm::divideCeilSigned(filterRows - 1, tile.rows)) {}

//===----------------------------------------------------------------------===//
// Threads and tiles
//===----------------------------------------------------------------------===//

int64_t ToeplitzFrame::countWarps() const { return tile.threads / kWarp; }

/// Neighbouring workgroups have different channels of the same pixels, which
/// are in the same lines of memory.
void ToeplitzFrame::makePoint(const Size &images, const Size &rows,
                              const Size &columns, int64_t channels) {
  rowTiles = p.divideUp(rows, tile.countRows());
  columnTiles = p.divideUp(columns, tile.countColumns());
  const Size tiles = p.multiply(p.multiply(images, rowTiles), columnTiles);
  if (tile.workgroups > 0) {
    splits = tile.workgroups;
    iterations = p.divideUp(tiles, tile.workgroups);
  } else {
    splits = p.divideUp(tiles, tile.iterations);
    iterations = tile.iterations;
  }
  ValueRange point = p.forEachPointOf(
      {splits, channels / tile.channels, tile.threads}, tile.threads);
  // So many threads are enough for a multiprocessor, with 128 registers each.
  constexpr int64_t kResident = 512;
  if (iterations.number != 1 || tile.stages > 0)
    mlir::cast<BlockArgument>(point.front())
        .getOwner()
        ->getParentOp()
        ->setAttr(dnn::kResidentAttrName,
                  p.b.getI64IntegerAttr(
                      std::max<int64_t>(1, kResident / tile.threads)));
  split = point[0];
  firstChannel = p.mul(point[1], tile.channels);
  thread = point[2];
  warp = p.div(thread, kWarp);
  lane = p.rem(thread, kWarp);
  quad = p.div(lane, 4);
  inQuad = p.rem(lane, 4);
}

void ToeplitzFrame::setTile(Value iteration) {
  Value number = p.add(p.mul(iteration, countSplits()), split);
  firstColumn = p.mul(p.rem(number, columnTiles), tile.countColumns());
  number = p.div(number, columnTiles);
  firstRow = p.mul(p.rem(number, rowTiles), tile.countRows());
  image = p.div(number, rowTiles);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

int64_t ToeplitzFrame::countTasks(const ToeplitzPlane &plane) const {
  return llvm::divideCeilSigned(plane.rows * plane.columns * tile.countOctets(),
                                tile.threads);
}

/// Neighbouring lanes have the octets of a word, and then those of the next
/// word.
ToeplitzFrame::Task ToeplitzFrame::makeTask(int64_t iteration,
                                            const ToeplitzPlane &plane) const {
  const int64_t octets = tile.countOctets();
  const int64_t count = plane.rows * plane.columns * octets;
  Value number = p.add(thread, iteration * tile.threads);
  if ((iteration + 1) * tile.threads > count)
    number = arith::MinUIOp::create(p.b, p.loc, number, p.index(count - 1));
  Value word = p.div(number, octets);
  Task task{p.rem(number, octets), p.div(word, plane.columns),
            p.rem(word, plane.columns), word};
  if (plane.columns != plane.rowWords)
    task.word = p.add(p.mul(task.row, plane.rowWords), task.column);
  if (plane.bandGap != 0)
    task.word =
        p.add(task.word, p.mul(p.div(task.row, plane.bandRows), plane.bandGap));
  return task;
}

Value ToeplitzFrame::getFirstChannel(const Task &task) const {
  return p.add(firstChannel, p.mul(task.octet, kOctet));
}

Value ToeplitzFrame::getPlane(const Task &task, int64_t i) const {
  return p.add(task.octet, i * tile.countOctets());
}

Value ToeplitzFrame::getChannel(Value plane) const {
  if (tile.stages > 0)
    return p.add(firstChannel, plane);
  const int64_t octets = tile.countOctets();
  return p.add(firstChannel, p.add(p.mul(p.rem(plane, octets), kOctet),
                                   p.div(plane, octets)));
}

std::array<Value, kPair> ToeplitzFrame::loadPair(const ConvTensor &tensor,
                                                 const Task &task, Value h,
                                                 Value w) const {
  std::array<Value, kPair> pixels;
  for (int64_t i = 0; i < kPair; ++i)
    pixels[i] = p.loadBlock(tensor.memory, tensor.getChannelDim(), kOctet,
                            tensor.order(p.add(p.mul(image, kPair), i),
                                         getFirstChannel(task), {h, w}));
  return pixels;
}

PointBuilder::Values ToeplitzFrame::load(const ToeplitzPlane &plane,
                                         Load load) const {
  PointBuilder::Values loaded;
  auto words = VectorType::get(4, p.b.getI32Type());
  for (int64_t t = 0; t < countTasks(plane); ++t)
    for (Value element : load(makeTask(t, plane)))
      loaded.push_back(vector::BitCastOp::create(p.b, p.loc, words, element));
  return loaded;
}

void ToeplitzFrame::store(ValueRange loaded, Type element, Value planes,
                          const ToeplitzPlane &plane) const {
  auto type = VectorType::get(kOctet, element);
  for (int64_t t = 0; t < countTasks(plane); ++t) {
    Task task = makeTask(t, plane);
    Value elements[kPair];
    for (int64_t i = 0; i < kPair; ++i)
      elements[i] =
          vector::BitCastOp::create(p.b, p.loc, type, loaded[t * kPair + i]);
    for (int64_t i = 0; i < kOctet; ++i)
      p.storeWord(p.makeBlock({p.getElement(elements[0], i),
                               p.getElement(elements[1], i)}),
                  planes, {getPlane(task, i), task.word});
  }
}

PointBuilder::Values ToeplitzFrame::forEachTile(ValueRange init,
                                                const Steps &steps) {
  setTile(p.index(0));
  PointBuilder::Values values = steps.load();
  const size_t count = values.size();
  if (iterations.number == 1) {
    steps.store(values);
    p.barrier();
    return steps.body(init);
  }
  llvm::append_range(values, init);
  values = p.loop(iterations, values, [&](Value iteration, ValueRange carried) {
    steps.store(carried.take_front(count));
    p.barrier();
    setTile(p.add(iteration, 1));
    PointBuilder::Values next = steps.load();
    setTile(iteration);
    llvm::append_range(next, steps.body(carried.drop_front(count)));
    p.barrier();
    return next;
  });
  return PointBuilder::Values(ArrayRef(values).drop_front(count));
}
