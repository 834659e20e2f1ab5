//===- RowsTeam.cpp - Threads that share a row ----------------------------===//

#include "compiler/Algorithms/RowWise/RowsTeam.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;
using LaneWords = RowsTeam::LaneWords;

RowsPlace tessera::enterTeams(RowsProgram &program, const RowsTile &tile,
                              bool hasParts) {
  PointBuilder &p = program.p;
  const int64_t rows = program.g.getRowBlocks(tile.vector);
  SmallVector<int64_t> sizes = {llvm::divideCeilSigned(rows, tile.columns)};
  if (hasParts)
    sizes.push_back(tile.parts);
  const bool isInRow = program.g.isVectorInRow();
  sizes.push_back(isInRow ? tile.columns : tile.threads);
  sizes.push_back(isInRow ? tile.threads : tile.columns);
  ValueRange point = p.forEachPoint(sizes, tile.threads * tile.columns);

  RowsPlace place;
  ValueRange inside = point.take_back(2);
  place.thread = inside[isInRow ? 1 : 0];
  place.column = inside[isInRow ? 0 : 1];
  if (hasParts)
    place.part = point[1];
  place.row = p.add(p.mul(point[0], tile.columns), place.column);
  if (rows % tile.columns != 0)
    place.valid = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                        place.row, p.index(rows));
  program.enterRow(place.row, place.valid);
  return place;
}

void RowsTeam::byFirstThread(llvm::function_ref<void()> body) {
  Value isFirst = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq,
                                        thread, p.index(0));
  p.branch(isFirst, {}, [&] {
    body();
    return Values();
  });
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

int64_t RowsTeam::getTurns() const {
  return llvm::divideCeilSigned(program.g.getBlocksOfRow(program.vector),
                                getStep());
}

bool RowsTeam::isKept() const {
  return program.g.isKept(program.vector, getStep());
}

Value RowsTeam::getNumber(Value turn) {
  Value first = part ? p.add(p.mul(part, threads), thread) : thread;
  return p.add(p.mul(turn, getStep()), first);
}

RowsBlock RowsTeam::getBlock(int64_t turn) {
  const int64_t blocks = program.g.getBlocksOfRow(program.vector);
  return program.getBlock(getNumber(p.index(turn)),
                          (turn + 1) * getStep() <= blocks);
}

/// All loads before the first visit: one by one, each would wait for memory.
RowsTeam::Values RowsTeam::visitTurns(int64_t first, int64_t end,
                                      Region &region, Values carried,
                                      Visitor visit) {
  std::vector<RowsBlock> blocks;
  for (int64_t turn = first; turn < end; ++turn) {
    auto known = kept.find(turn);
    blocks.push_back(known == kept.end() ? getBlock(turn) : known->second);
    program.load(blocks.back(), region);
    if (isKept())
      kept[turn] = blocks.back();
  }
  for (RowsBlock &block : blocks)
    carried = visit(block, carried);
  return carried;
}

RowsTeam::Values RowsTeam::walk(Region &region, ValueRange init,
                                Visitor visit) {
  constexpr int64_t kAtOnce = kRowBlocksAtOnce;
  const int64_t turns = getTurns();
  Values carried(init);
  if (isKept())
    return visitTurns(0, turns, region, carried, visit);
  const int64_t loops =
      program.g.getBlocksOfRow(program.vector) / (getStep() * kAtOnce);
  if (loops > 0)
    carried = p.loop(loops, carried, [&](Value i, ValueRange before) {
      std::vector<RowsBlock> blocks;
      for (int64_t turn = 0; turn < kAtOnce; ++turn) {
        Value number = getNumber(p.add(p.mul(i, kAtOnce), turn));
        blocks.push_back(program.getBlock(number, /*isKnown=*/true));
        program.load(blocks.back(), region);
      }
      Values next(before);
      for (RowsBlock &block : blocks)
        next = visit(block, next);
      return next;
    });
  return visitTurns(loops * kAtOnce, turns, region, carried, visit);
}

//===----------------------------------------------------------------------===//
// One thread
//===----------------------------------------------------------------------===//

/// With n blocks a row, thread u of all that share it has one more than
/// n / step of them if u < n % step.
Value RowsTeam::count(int64_t slots, Value j) {
  const int64_t blocks = program.g.getBlocksOfRow(program.vector);
  const int64_t all = blocks / getStep() * (threads / slots);
  const int64_t over = blocks % getStep();
  Value rest; // Of this part.
  if (part) {
    Value before = p.mul(part, threads);
    Value left = arith::SubIOp::create(p.b, p.loc, p.index(over), before);
    left = arith::MaxSIOp::create(p.b, p.loc, left, p.index(0));
    rest = arith::MinSIOp::create(p.b, p.loc, left, p.index(threads));
  } else {
    rest = p.index(over);
  }
  Value room = arith::SubIOp::create(p.b, p.loc, p.add(rest, slots - 1), j);
  Value more = arith::DivUIOp::create(p.b, p.loc, room, p.index(slots));
  Value count = p.add(more, all);
  return program.g.isVectorInRow() ? p.mul(count, program.vector) : count;
}

Value RowsTeam::toFloat(Value count) {
  Value narrow =
      arith::IndexCastOp::create(p.b, p.loc, p.b.getI32Type(), count);
  return arith::SIToFPOp::create(p.b, p.loc, program.op.getComputeType(),
                                 narrow);
}

/// What the reduction yields for the thread's first block, or zeros.
SmallVector<Lanes> RowsTeam::getPivots(size_t reduction) {
  std::vector<RowsFold> folds = program.getFolds(reduction);
  if (llvm::none_of(folds, [](RowsFold &fold) { return fold.hasPivot(); }))
    return SmallVector<Lanes>(folds.size(), Lanes(program.vector, Value()));
  Region &region = program.op.getReduces()[reduction];
  RowsBlock block = getBlock(0);
  if (isKept())
    visitTurns(0, 1, region, {}, [&](RowsBlock &first, ValueRange) {
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

std::vector<LaneWords> RowsTeam::fold(size_t reduction) {
  Region &region = program.op.getReduces()[reduction];
  std::vector<RowsFold> folds = program.getFolds(reduction);
  SmallVector<Lanes> pivots = getPivots(reduction);
  Values init;
  for (RowsFold &fold : folds)
    for (int64_t lane = 0; lane < program.vector; ++lane)
      llvm::append_range(init, fold.start());

  Values all = walk(region, init, [&](RowsBlock &block, ValueRange before) {
    SmallVector<Lanes> values = program.evaluate(region, &block);
    Values next;
    for (auto [fold, lanes, pivot] : llvm::zip_equal(folds, values, pivots))
      for (int64_t lane = 0; lane < program.vector; ++lane) {
        const size_t words = fold.getTypes().size();
        Value place =
            fold.hasPlace() ? program.getPlaceInRow(block, lane) : Value();
        llvm::append_range(
            next, fold.fold(RowsFold::Words(before.slice(next.size(), words)),
                            lanes[lane], place, pivot[lane], block.valid));
      }
    return next;
  });

  std::vector<LaneWords> results;
  size_t done = 0;
  for (auto [fold, pivot] : llvm::zip_equal(folds, pivots)) {
    Value number; // Of a lane.
    if (fold.hasPivot()) {
      number = count(threads, thread);
      if (program.g.isVectorInRow() && program.vector > 1)
        number =
            arith::DivUIOp::create(p.b, p.loc, number, p.index(program.vector));
      number = toFloat(number);
    }
    LaneWords lanes;
    for (int64_t lane = 0; lane < program.vector; ++lane) {
      const size_t words = fold.getTypes().size();
      RowsFold::Words folded(ArrayRef<Value>(all).slice(done, words));
      lanes.push_back(fold.finish(folded, pivot[lane], number));
      done += words;
    }
    if (program.g.isVectorInRow())
      lanes = {fold.combine(lanes, Values(lanes.size(), number))};
    results.push_back(lanes);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// The team
//===----------------------------------------------------------------------===//

/// Shared memory for a word of every thread. Lanes of rows are neighbours, and
/// so are the threads of a team that has a row.
Value RowsTeam::getShared(Type type, size_t word) {
  Value &memory =
      shelves[{const_cast<void *>(type.getAsOpaquePointer()), word, isSecond}];
  if (!memory && program.g.isVectorInRow())
    memory = p.makeShared(type, {columns, threads});
  else if (!memory)
    memory = p.makeShared(type, {threads, columns * program.getRowLanes()});
  return memory;
}

RowsTeam::Values RowsTeam::getShelf(Value slot) {
  if (program.g.isVectorInRow())
    return {column, slot};
  return {slot, p.mul(column, program.getRowLanes())};
}

/// The words of `slots` threads become those of fewer, `fanIn` of each in one.
/// Threads beyond them get the same as others.
LaneWords RowsTeam::exchange(RowsFold &fold, const LaneWords &words,
                             int64_t slots, int64_t fanIn,
                             const Counter &counter) {
  const auto lanes = static_cast<int64_t>(words.size());
  SmallVector<Value> memories;
  for (auto [word, type] : llvm::enumerate(fold.getTypes()))
    memories.push_back(getShared(type, word));
  auto store = [&] {
    for (auto [word, memory] : llvm::enumerate(memories)) {
      Values block;
      for (const RowsFold::Words &lane : words)
        block.push_back(lane[word]);
      p.storeShared(p.makeBlock(block), memory, getShelf(thread));
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
  isSecond = !isSecond;

  const int64_t left = slots / fanIn;
  Value j = left == 1
                ? p.index(0)
                : arith::RemUIOp::create(p.b, p.loc, thread, p.index(left))
                      .getResult();
  std::vector<LaneWords> parts(lanes);
  Values counts;
  for (int64_t i = 0; i < fanIn; ++i) {
    Value slot = p.add(j, i * left);
    SmallVector<Value> blocks;
    for (Value memory : memories)
      blocks.push_back(p.loadShared(memory, lanes, getShelf(slot)));
    for (int64_t lane = 0; lane < lanes; ++lane) {
      RowsFold::Words &part = parts[lane].emplace_back();
      for (Value block : blocks)
        part.push_back(p.getElement(block, lane));
    }
    counts.push_back(fold.hasPivot() ? toFloat(counter(slots, slot)) : Value());
  }
  return llvm::map_to_vector<8>(
      parts, [&](const LaneWords &part) { return fold.combine(part, counts); });
}

LaneWords RowsTeam::combine(RowsFold &fold, LaneWords words,
                            const Counter &counter) {
  int64_t wordsOfSlot = 0;
  for (Type type : fold.getTypes())
    wordsOfSlot +=
        static_cast<int64_t>(words.size()) * type.getIntOrFloatBitWidth() / 32;
  const int64_t most = getRowsFanIn(wordsOfSlot);
  for (int64_t slots = threads; slots > 1;) {
    const int64_t fanIn = std::min(slots, most);
    words = exchange(fold, words, slots, fanIn, counter);
    slots /= fanIn;
  }
  return words;
}

void RowsTeam::reduceAll() {
  for (size_t reduction = 0; reduction < program.op.getReduces().size();
       ++reduction) {
    std::vector<RowsFold> folds = program.getFolds(reduction);
    std::vector<LaneWords> words = fold(reduction);
    for (auto [fold, own] : llvm::zip_equal(folds, words)) {
      LaneWords all = combine(
          fold, own, [&](int64_t slots, Value j) { return count(slots, j); });
      for (size_t word = 0; word < fold.getTypes().size(); ++word) {
        Lanes &result = program.results.emplace_back();
        for (const RowsFold::Words &lane : all)
          result.push_back(lane[word]);
      }
    }
  }
}
