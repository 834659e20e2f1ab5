//===- RowGroup.cpp - Threads that share a row ----------------------------===//

#include "compiler/Algorithms/RowWise/RowGroup.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;
using LaneWords = RowGroup::LaneWords;

ThreadPosition tessera::enterRowGroups(RowWiseProgram &program,
                                       const RowWiseTile &tile,
                                       bool hasSplits) {
  PointBuilder &p = program.p;
  const Size rows = program.getRowBlocks();
  SmallVector<Size> sizes = {p.divideUp(rows, tile.groups)};
  if (hasSplits)
    sizes.push_back(int64_t(tile.splits));
  const bool isInRow = program.g.isVectorInRow();
  sizes.push_back(int64_t(isInRow ? tile.groups : tile.threads));
  sizes.push_back(int64_t(isInRow ? tile.threads : tile.groups));
  ValueRange point = p.forEachPointOf(sizes, tile.threads * tile.groups);

  ThreadPosition position;
  ValueRange inside = point.take_back(2);
  position.thread = inside[isInRow ? 1 : 0];
  position.group = inside[isInRow ? 0 : 1];
  if (hasSplits)
    position.split = point[1];
  position.row = p.add(p.mul(point[0], tile.groups), position.group);
  if (!rows.isKnown() ? tile.groups > 1 : rows.number % tile.groups != 0)
    position.valid = arith::CmpIOp::create(
        p.b, p.loc, arith::CmpIPredicate::ult, position.row, p.index(rows));
  program.enterRow(position.row, position.valid);
  return position;
}

void RowGroup::byFirstThreads(int64_t count, llvm::function_ref<void()> body) {
  Value isFirst = arith::CmpIOp::create(
      p.b, p.loc,
      count == 1 ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ult, thread,
      p.index(count == 1 ? 0 : count));
  p.branch(isFirst, {}, [&] {
    body();
    return Values();
  });
}

//===----------------------------------------------------------------------===//
// Blocks of the row
//===----------------------------------------------------------------------===//

int64_t RowGroup::getIterations() const {
  return llvm::divideCeilSigned(program.g.getBlocksOfRow(program.vector),
                                getStep());
}

bool RowGroup::isKept() const {
  return program.getSharedRows() == 1 &&
         program.g.isKept(program.vector, getStep());
}

Value RowGroup::getNumber(Value iteration) {
  Value first = split ? p.add(p.mul(split, threads), thread) : thread;
  return p.add(p.mul(iteration, getStep()), first);
}

RowWiseBlock RowGroup::getBlock(int64_t iteration) {
  const int64_t blocks = program.g.getBlocksOfRow(program.vector);
  return program.getBlock(getNumber(p.index(iteration)),
                          (iteration + 1) * getStep() <= blocks);
}

/// Issues all loads before the first visit, so that they are in flight
/// together.
RowGroup::Values RowGroup::visitIterations(int64_t first, int64_t end,
                                           Region &region, Values carried,
                                           Visitor visit) {
  std::vector<RowWiseBlock> blocks;
  for (int64_t iteration = first; iteration < end; ++iteration) {
    auto known = kept.find(iteration);
    blocks.push_back(known == kept.end() ? getBlock(iteration) : known->second);
    program.load(blocks.back(), region);
    if (isKept())
      kept[iteration] = blocks.back();
  }
  for (RowWiseBlock &block : blocks)
    carried = visit(block, carried);
  return carried;
}

RowGroup::Values RowGroup::forEachBlock(Region &region, ValueRange init,
                                        Visitor visit) {
  const int64_t atOnce = blocksAtOnce;
  const int64_t iterations = getIterations();
  Values carried(init);
  if (isKept())
    return visitIterations(0, iterations, region, carried, visit);
  const int64_t loops =
      program.g.getBlocksOfRow(program.vector) / (getStep() * atOnce);
  if (loops > 0)
    carried = p.loop(loops, carried, [&](Value i, ValueRange before) {
      std::vector<RowWiseBlock> blocks;
      for (int64_t iteration = 0; iteration < atOnce; ++iteration) {
        Value number = getNumber(p.add(p.mul(i, atOnce), iteration));
        blocks.push_back(program.getBlock(number, /*isKnown=*/true));
        program.load(blocks.back(), region);
      }
      Values next(before);
      for (RowWiseBlock &block : blocks)
        next = visit(block, next);
      return next;
    });
  return visitIterations(loops * atOnce, iterations, region, carried, visit);
}

//===----------------------------------------------------------------------===//
// One thread
//===----------------------------------------------------------------------===//

/// Thread u of all that share a row of n blocks has n / step of them, and one
/// more if u < n % step.
Value RowGroup::count(int64_t slots, Value j) {
  const int64_t blocks = program.g.getBlocksOfRow(program.vector);
  const int64_t all = blocks / getStep() * (threads / slots);
  const int64_t over = blocks % getStep();
  Value rest; // The blocks of the last, partial iteration in this split.
  if (split) {
    Value before = p.mul(split, threads);
    Value left = arith::SubIOp::create(p.b, p.loc, p.index(over), before);
    left = arith::MaxSIOp::create(p.b, p.loc, left, p.index(0));
    rest = arith::MinSIOp::create(p.b, p.loc, left, p.index(threads));
  } else {
    rest = p.index(over);
  }
  Value numerator =
      arith::SubIOp::create(p.b, p.loc, p.add(rest, slots - 1), j);
  Value more = arith::DivUIOp::create(p.b, p.loc, numerator, p.index(slots));
  Value count = p.add(more, all);
  return program.g.isVectorInRow() ? p.mul(count, program.vector) : count;
}

Value RowGroup::toFloat(Value count) {
  Value narrow =
      arith::IndexCastOp::create(p.b, p.loc, p.b.getI32Type(), count);
  return arith::SIToFPOp::create(p.b, p.loc, program.op.getComputeType(),
                                 narrow);
}

/// The values that the reduction yields for the thread's first block, or zeros
/// if it has none.
SmallVector<Lanes> RowGroup::getPivots(size_t reduction) {
  std::vector<RowWiseFold> folds = program.getFolds(reduction);
  if (llvm::none_of(folds, [](RowWiseFold &fold) { return fold.hasPivot(); }))
    return SmallVector<Lanes>(folds.size(),
                              Lanes(program.getBlockLanes(), Value()));
  Region &region = program.op.getReduces()[reduction];
  RowWiseBlock block = getBlock(0);
  if (isKept())
    visitIterations(0, 1, region, {}, [&](RowWiseBlock &first, ValueRange) {
      block = first;
      return Values();
    });
  program.load(block, region);
  SmallVector<Lanes> pivots = program.evaluate(region, &block);
  if (block.valid)
    for (Lanes &lanes : pivots)
      for (Value &lane : lanes)
        lane = arith::SelectOp::create(p.b, p.loc, block.valid, lane,
                                       p.zero(lane.getType(), 1));
  return pivots;
}

std::vector<LaneWords> RowGroup::fold(size_t reduction) {
  Region &region = program.op.getReduces()[reduction];
  std::vector<RowWiseFold> folds = program.getFolds(reduction);
  SmallVector<Lanes> pivots = getPivots(reduction);
  // Each lane has words of its own, unless there are many: then each row has.
  const int64_t rows = program.getSharedRows();
  const int64_t sums = rows > 1 ? rows : program.vector;
  Values init;
  for (RowWiseFold &fold : folds)
    for (int64_t sum = 0; sum < sums; ++sum)
      llvm::append_range(init, fold.start());

  Values all =
      forEachBlock(region, init, [&](RowWiseBlock &block, ValueRange before) {
        SmallVector<Lanes> values = program.evaluate(region, &block);
        Values next(before);
        size_t done = 0;
        for (auto [fold, lanes, pivot] :
             llvm::zip_equal(folds, values, pivots)) {
          const size_t words = fold.getTypes().size();
          for (int64_t lane = 0; lane < program.getBlockLanes(); ++lane) {
            const int64_t sum = rows > 1 ? program.getRowOfLane(lane) : lane;
            Value index =
                fold.hasIndex() ? program.getIndexInRow(block, lane) : Value();
            Value *first = next.data() + done + sum * words;
            RowWiseFold::Words folded =
                fold.fold(RowWiseFold::Words(ArrayRef(first, words)),
                          lanes[lane], index, pivot[lane], block.valid);
            std::copy(folded.begin(), folded.end(), first);
          }
          done += sums * words;
        }
        return next;
      });

  std::vector<LaneWords> results;
  size_t done = 0;
  for (auto [fold, pivot] : llvm::zip_equal(folds, pivots)) {
    Value number; // The number of values that a lane has folded.
    if (fold.hasPivot()) {
      number = count(threads, thread);
      if (program.g.isVectorInRow() && program.vector > 1)
        number =
            arith::DivUIOp::create(p.b, p.loc, number, p.index(program.vector));
      number = toFloat(number);
    }
    LaneWords lanes;
    for (int64_t sum = 0; sum < sums; ++sum) {
      const size_t words = fold.getTypes().size();
      RowWiseFold::Words folded(ArrayRef<Value>(all).slice(done, words));
      lanes.push_back(fold.finish(folded, pivot[sum], number));
      done += words;
    }
    if (program.g.isVectorInRow() && rows == 1)
      lanes = {fold.combine(lanes, Values(lanes.size(), number))};
    results.push_back(lanes);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// The row group
//===----------------------------------------------------------------------===//

/// Shared memory for a word of every thread. If a thread has several rows,
/// their lanes are contiguous; if not, the threads of a row group are.
Value RowGroup::getShared(Type type, size_t word) {
  Value &memory = buffers[{const_cast<void *>(type.getAsOpaquePointer()), word,
                           usesSecondBuffer}];
  if (!memory && program.g.isVectorInRow())
    memory = p.makeShared(type, {groups, threads});
  else if (!memory)
    memory = p.makeShared(type, {threads, groups * program.getRowLanes()});
  return memory;
}

RowGroup::Values RowGroup::getSharedIndices(Value slot) {
  if (program.g.isVectorInRow())
    return {group, slot};
  return {slot, p.mul(group, program.getRowLanes())};
}

/// One round of a tree reduction: combines the partial results of `slots`
/// threads, `fanIn` of them into one. All threads of the row group compute one
/// of the results, so that the last round gives the same one to each.
LaneWords RowGroup::combineRound(RowWiseFold &fold, const LaneWords &words,
                                 int64_t slots, int64_t fanIn,
                                 const Counter &counter) {
  const auto lanes = static_cast<int64_t>(words.size());
  SmallVector<Value> memories;
  for (auto [word, type] : llvm::enumerate(fold.getTypes()))
    memories.push_back(getShared(type, word));
  auto store = [&] {
    for (auto [word, memory] : llvm::enumerate(memories)) {
      Values block;
      for (const RowWiseFold::Words &lane : words)
        block.push_back(lane[word]);
      p.storeShared(p.makeBlock(block), memory, getSharedIndices(thread));
    }
    return Values();
  };
  if (slots == threads)
    store();
  else
    p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                   thread, p.index(slots)),
             {}, store);
  p.barrier();
  usesSecondBuffer = !usesSecondBuffer;

  const int64_t left = slots / fanIn;
  Value j = left == 1
                ? p.index(0)
                : arith::RemUIOp::create(p.b, p.loc, thread, p.index(left))
                      .getResult();
  std::vector<LaneWords> partials(lanes);
  Values counts;
  for (int64_t i = 0; i < fanIn; ++i) {
    Value slot = p.add(j, i * left);
    SmallVector<Value> blocks;
    for (Value memory : memories)
      blocks.push_back(p.loadShared(memory, lanes, getSharedIndices(slot)));
    for (int64_t lane = 0; lane < lanes; ++lane) {
      RowWiseFold::Words &partial = partials[lane].emplace_back();
      for (Value block : blocks)
        partial.push_back(p.getElement(block, lane));
    }
    counts.push_back(fold.hasPivot() ? toFloat(counter(slots, slot)) : Value());
  }
  return llvm::map_to_vector<8>(partials, [&](const LaneWords &ofLane) {
    return fold.combine(ofLane, counts);
  });
}

LaneWords RowGroup::combine(RowWiseFold &fold, LaneWords words,
                            const Counter &counter) {
  int64_t wordsOfSlot = 0;
  for (Type type : fold.getTypes())
    wordsOfSlot +=
        static_cast<int64_t>(words.size()) * type.getIntOrFloatBitWidth() / 32;
  const int64_t most = getRowWiseFanIn(wordsOfSlot);
  for (int64_t slots = threads; slots > 1;) {
    const int64_t fanIn = std::min(slots, most);
    words = combineRound(fold, words, slots, fanIn, counter);
    slots /= fanIn;
  }
  return words;
}

void RowGroup::reduceAll() {
  for (size_t reduction = 0; reduction < program.op.getReduces().size();
       ++reduction) {
    std::vector<RowWiseFold> folds = program.getFolds(reduction);
    std::vector<LaneWords> words = fold(reduction);
    for (auto [fold, own] : llvm::zip_equal(folds, words)) {
      LaneWords all = combine(
          fold, own, [&](int64_t slots, Value j) { return count(slots, j); });
      for (size_t word = 0; word < fold.getTypes().size(); ++word) {
        Lanes &result = program.results.emplace_back();
        for (const RowWiseFold::Words &lane : all)
          result.push_back(lane[word]);
      }
    }
  }
}

/// Each thread leaves its words of all rows in shared memory; then a row is
/// combined by one thread, which reads what `threads` of them have left.
void RowGroup::reduceShared(RowWiseProgram &own) {
  const int64_t rows = program.getSharedRows();
  const int64_t pitch = getSharedPitch(threads);
  const int64_t width = std::min<int64_t>(threads, kSharedAccessWords);
  std::vector<RowWiseFold> folds = program.getFolds(0);
  std::vector<LaneWords> words = fold(0);
  SmallVector<Value> memories;
  for (auto [fold, lanes] : llvm::zip_equal(folds, words)) {
    memories.push_back(
        p.makeShared(fold.getTypes().front(), {groups, rows, pitch}));
    for (int64_t row = 0; row < rows; ++row)
      p.storeShared(lanes[row].front(), memories.back(),
                    {group, p.index(row), thread});
  }
  p.barrier();
  Value row = arith::RemUIOp::create(p.b, p.loc, thread, p.index(rows));
  for (auto [fold, memory] : llvm::zip_equal(folds, memories)) {
    LaneWords partials;
    for (int64_t i = 0; i < threads; i += width) {
      Value block = p.loadShared(memory, width, {group, row, p.index(i)});
      for (int64_t word = 0; word < width; ++word)
        partials.push_back({p.getElement(block, word)});
    }
    own.results.push_back(
        {fold.combine(partials, Values(partials.size())).front()});
  }
}
