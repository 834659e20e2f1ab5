//===- OneStepProgram.cpp - One step of a recurrent network ---------------===//

#include "compiler/Algorithms/Recurrent/OneStepProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tessera;

/// Numbers of f32 that a lane moves at once.
static constexpr int64_t kChunk = 4;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

OneStepProgram::Value OneStepProgram::loadRow(Value memory, ArrayRef<Value> at,
                                              int64_t first,
                                              ArrayRef<int64_t> inside) {
  auto type = cast<MemRefType>(memory.getType());
  const int64_t merged = g.getMerged(), count = g.shape.getKPerLane() * merged;
  const int64_t width = getAccessWidth(type, kElement, count);
  Value begin = p.add(p.mul(lane->getFirstK(), merged),
                      p.mul(split, g.getWaveInstructions() * g.shape.getK()));
  Values indices(at), elements;
  for (int64_t done = 0; done < count; done += width) {
    indices[kElement] = p.add(begin, first * g.shape.getK() + done);
    Value block =
        dnn::PointLoadOp::create(p.b, p.loc, p.getBlockType(element, width),
                                 p.b.getI1Type(), memory, indices,
                                 p.b.getDenseI64ArrayAttr(inside))
            .getValue();
    if (width == count)
      return block;
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(p.getElement(block, i));
  }
  return p.makeBlock(elements);
}

OneStepProgram::Values OneStepProgram::loadWeights(int64_t first) {
  SmallVector<int64_t> inside{kTime, kSequence, kElement};
  if (g.getPaddedUnits() == g.units)
    inside.push_back(kUnit);
  Value zero = p.index(0);
  Values rows;
  for (int64_t block = 0; block < g.getBlocks(); ++block)
    for (int64_t number = 0; number < g.shape.getHeldRows(); ++number) {
      const HeldRow row = lane->getHeldRow(block, number);
      rows.push_back(loadRow(op.getInputs()[1 + row.gate],
                             {zero, zero, p.add(waveUnit, row.unit), zero},
                             first, inside));
    }
  return rows;
}

OneStepProgram::Values OneStepProgram::loadState(int64_t first) {
  Value state = op.getInputs()[0], zero = p.index(0);
  SmallVector<int64_t> inside{kTime, kUnit, kElement};
  const bool isShared =
      isBroadcast(cast<MemRefType>(state.getType()), kSequence);
  if (isShared || g.sequences % g.getGroupSequences() == 0)
    inside.push_back(kSequence);
  Values tiles;
  for (int64_t tile = 0; tile < g.tile.tiles; ++tile) {
    Value sequence = p.add(p.add(groupSequence, tile * g.shape.getSequences()),
                           lane->getHeldSequence());
    tiles.push_back(loadRow(
        state, {zero, isShared ? zero : sequence, zero, zero}, first, inside));
  }
  return tiles;
}

std::vector<OneStepProgram::Values> OneStepProgram::multiplyTiles() {
  std::vector<Values> tiles(
      g.tile.tiles, Values(g.getBlocks(), lane->makeZero(p.b.getF32Type())));
  const int64_t merged = g.getMerged(), count = g.shape.getKPerLane();
  const int64_t held = g.shape.getHeldRows();
  const int64_t loads = g.getWaveInstructions() / merged;
  std::vector<Values> rows(loads), states(loads);
  auto loadUntil = [&](std::vector<Values> &all, int64_t from, int64_t to,
                       auto load) {
    for (; from < std::min(to, loads); ++from)
      all[from] = load(from * merged);
  };
  auto ofWeights = [&](int64_t i) { return loadWeights(i); };
  auto ofState = [&](int64_t i) { return loadState(i); };
  loadUntil(rows, 0, g.weightsAhead, ofWeights);
  loadUntil(states, 0, g.stateAhead, ofState);
  for (int64_t i = 0; i < loads; ++i) {
    for (int64_t block = 0; block < g.getBlocks(); ++block)
      for (int64_t each = 0; each < merged; ++each) {
        Values slices;
        for (Value row : ArrayRef<Value>(rows[i]).slice(block * held, held))
          slices.push_back(p.getSlice(row, each * count, count));
        for (auto [state, own] : llvm::zip_equal(states[i], tiles))
          own[block] = lane->multiply(
              slices, p.getSlice(state, each * count, count), own[block]);
      }
    loadUntil(rows, i + g.weightsAhead, i + g.weightsAhead + 1, ofWeights);
    loadUntil(states, i + g.stateAhead, i + g.stateAhead + 1, ofState);
  }
  return tiles;
}

//===----------------------------------------------------------------------===//
// Sums of all waves
//===----------------------------------------------------------------------===//

OneStepProgram::Values OneStepProgram::pack(ArrayRef<Value> accumulators) {
  Values numbers, chunks;
  for (Value block : accumulators)
    for (int64_t row = 0; row < g.shape.getLaneRows(); ++row)
      for (int64_t n = 0; n < g.shape.getLaneSequences(); ++n)
        numbers.push_back(g.shape.isMma()
                              ? p.getElement(p.getRow(block, row), n)
                              : p.getElement(block, row));
  for (size_t i = 0; i < numbers.size(); i += kChunk)
    chunks.push_back(p.makeBlock(ArrayRef<Value>(numbers).slice(i, kChunk)));
  return chunks;
}

OneStepProgram::Values OneStepProgram::unpack(ArrayRef<Value> chunks) {
  Values accumulators;
  const int64_t perBlock =
      g.shape.getLaneRows() * g.shape.getLaneSequences() / kChunk;
  for (; !chunks.empty(); chunks = chunks.drop_front(perBlock)) {
    if (g.shape.isMma()) {
      accumulators.push_back(p.makeSums({p.getSlice(chunks.front(), 0, 2),
                                         p.getSlice(chunks.front(), 2, 2)}));
      continue;
    }
    Values numbers;
    for (Value chunk : chunks.take_front(perBlock))
      for (int64_t i = 0; i < kChunk; ++i)
        numbers.push_back(p.getElement(chunk, i));
    accumulators.push_back(p.makeBlock(numbers));
  }
  return accumulators;
}

OneStepProgram::Values OneStepProgram::addSplits(ArrayRef<Values> tiles,
                                                 Value tile) {
  if (g.tile.splits == 1)
    return tiles.front();
  const int64_t chunks = g.getLaneSums() / g.tile.tiles / kChunk;
  Value partial = p.makeShared(p.b.getF32Type(), {g.tile.splits, g.tile.tiles,
                                                  chunks, waveSize, kChunk});
  Value number = p.rem(thread, waveSize), zero = p.index(0);
  for (auto [i, accumulators] : llvm::enumerate(tiles))
    for (auto [j, chunk] : llvm::enumerate(pack(accumulators)))
      p.storeShared(chunk, partial,
                    {split, p.index(i), p.index(j), number, zero});
  p.barrier();
  Values all;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    for (int64_t other = 0; other < g.tile.splits; ++other) {
      Value one =
          p.loadShared(partial, kChunk,
                       {p.index(other), tile, p.index(chunk), number, zero});
      if (other == 0)
        all.push_back(one);
      else
        all.back() = p.addBlocks(all.back(), one);
    }
  return unpack(all);
}

/// Each of the first waves makes the gates of one tile of sequences. The launch
/// in front is another step, and a multiprocessor can hold both.
void OneStepProgram::build() {
  element = cast<MemRefType>(op.getInputs()[0].getType()).getElementType();
  held = element;
  enterLane();
  op->getParentOfType<func::FuncOp>()->setAttr(dnn::kBeginsEarlyAttrName,
                                               p.b.getUnitAttr());
  split = p.div(thread, waveSize);
  Value zero = p.index(0), tile = p.rem(split, g.tile.tiles);
  firstSequence = p.add(firstSequence, p.mul(tile, g.shape.getSequences()));
  std::vector<Values> own;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    const bool isOfUnits = i > static_cast<size_t>(g.gates);
    inputs.push_back(isOfUnits ? getAccess(input) : Access());
    own.push_back(isOfUnits ? load(inputs.back(), zero) : Values());
  }
  const Values all = addSplits(multiplyTiles(), tile);
  auto finish = [&]() -> Values {
    const std::vector<Values> results = evaluate(own, all);
    for (auto [output, each] : llvm::zip_equal(op.getRowOutputs(), results)) {
      const Access access = getAccess(output);
      store(access, makeBlocks(access, each), zero);
    }
    return {};
  };
  if (g.tile.splits == g.tile.tiles)
    finish();
  else
    p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult, split,
                                   p.index(g.tile.tiles)),
             {}, finish);
}
