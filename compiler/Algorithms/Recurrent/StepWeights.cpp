//===- StepWeights.cpp - The weights of a step's products -----------------===//
//
// Each lane loads its weights once, into registers and, what does not fit
// these, into shared memory, and multiplies the state by them in each step.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Recurrent/StepProgram.h"

using namespace mlir;
using namespace tessera;

/// Elements from `first` on of a segment of a unit's weights, and zeros beyond
/// the segment.
StepProgram::Value StepProgram::loadWeight(Value memory, Value unit,
                                           int64_t segment, int64_t first) {
  auto type = cast<MemRefType>(memory.getType());
  const int64_t count = g.shape.getKPerLane();
  const bool isPadded = g.getPaddedSegment() != g.units;
  int64_t width = count;
  while (isPadded && g.units % width != 0)
    width /= 2;
  width = getAccessWidth(type, kElement, width);
  SmallVector<int64_t> inside{kTime, kSequence};
  if (g.getPaddedUnits() == g.units)
    inside.push_back(kUnit);
  if (!isPadded)
    inside.push_back(kElement);
  Values elements;
  for (int64_t done = 0; done < count; done += width) {
    Value inSegment = p.add(lane->getFirstK(), first + done);
    Value at = p.add(inSegment, segment * g.units);
    if (isPadded)
      at = arith::SelectOp::create(
          p.b, p.loc,
          arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                inSegment, p.index(g.units)),
          at, p.index(g.elements));
    Value block =
        dnn::PointLoadOp::create(p.b, p.loc, p.getBlockType(element, width),
                                 p.b.getI1Type(), memory,
                                 Values{p.index(0), p.index(0), unit, at},
                                 p.b.getDenseI64ArrayAttr(inside))
            .getValue();
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(p.getElement(block, i));
  }
  return p.convert(p.makeBlock(elements), held);
}

/// The element of shared memory where the lane keeps the weights of a block for
/// one of the last instructions.
StepProgram::Value StepProgram::getMemorySlot(int64_t block,
                                              int64_t instruction) {
  const int64_t number =
      block * g.inMemory + instruction - (g.getInstructions() - g.inMemory);
  return p.add(laneMemory, number * waveSize * g.shape.getHeldElements());
}

void StepProgram::loadWeights() {
  const int64_t perSegment = g.getPaddedSegment() / g.shape.getK();
  if (g.inMemory > 0) {
    const int64_t perWave = g.getMemoryElements(waveSize);
    memory = p.makeShared(held, {g.getWaves() * perWave});
    laneMemory =
        p.add(p.mul(p.div(thread, waveSize), perWave),
              p.mul(p.rem(thread, waveSize), g.shape.getHeldElements()));
  }
  for (int64_t block = 0; block < g.getBlocks(); ++block)
    for (int64_t i = 0; i < g.getInstructions(); ++i) {
      Values rows;
      for (int64_t number = 0; number < g.shape.getHeldRows(); ++number) {
        const HeldRow row = lane->getHeldRow(block, number);
        rows.push_back(loadWeight(op.getInputs()[1 + row.gate],
                                  p.add(waveUnit, row.unit), i / perSegment,
                                  i % perSegment * g.shape.getK()));
      }
      const int64_t perLane = g.shape.getKPerLane();
      if (i < g.getInstructions() - g.inMemory)
        weights.append(rows);
      else
        for (auto [number, row] : llvm::enumerate(rows))
          p.storeShared(row, memory,
                        {p.add(getMemorySlot(block, i), number * perLane)});
    }
}

/// The held rows of an instruction.
StepProgram::Values StepProgram::takeWeights(int64_t block,
                                             int64_t instruction) {
  const int64_t inRegisters = g.getInstructions() - g.inMemory;
  const int64_t rows = g.shape.getHeldRows(), count = g.shape.getKPerLane();
  if (instruction < inRegisters)
    return Values(ArrayRef<Value>(weights).slice(
        (block * inRegisters + instruction) * rows, rows));
  Value all = p.loadShared(memory, g.shape.getHeldElements(),
                           {getMemorySlot(block, instruction)});
  Values taken;
  for (int64_t row = 0; row < rows; ++row)
    taken.push_back(p.getSlice(all, row * count, count));
  return taken;
}

StepProgram::Values StepProgram::multiply(Value buffer) {
  const int64_t perSegment = g.getPaddedSegment() / g.shape.getK();
  const int64_t sequences = g.shape.getHeldSequences();
  Values accumulators(sequences * g.getBlocks(),
                      lane->makeZero(p.b.getF32Type()));
  for (int64_t i = 0; i < g.getInstructions(); ++i) {
    Value at = p.add(lane->getFirstK(), i / perSegment * g.getSegmentPitch() +
                                            i % perSegment * g.shape.getK());
    Values states;
    for (int64_t n = 0; n < sequences; ++n)
      states.push_back(
          p.loadShared(shared, g.shape.getKPerLane(),
                       {buffer, p.add(lane->getHeldSequence(), n), at}));
    for (int64_t block = 0; block < g.getBlocks(); ++block) {
      const Values rows = takeWeights(block, i);
      for (auto [n, state] : llvm::enumerate(states)) {
        Value &sum = accumulators[n * g.getBlocks() + block];
        sum = lane->multiply(rows, state, sum);
      }
    }
  }
  return lane->finish(accumulators);
}
