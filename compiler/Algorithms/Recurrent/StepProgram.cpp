//===- StepProgram.cpp - All steps of a recurrent network -----------------===//

#include "compiler/Algorithms/Recurrent/StepProgram.h"
#include "dialect/IR/PointClusters.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera;

LogicalResult StepProgram::check() {
  Block &body = op.getReduces()[0].front();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto product = value.getDefiningOp<arith::MulFOp>();
    if (op.getReduces().size() != 1 || !product ||
        product.getLhs() != body.getArgument(0) ||
        product.getRhs() != body.getArgument(1 + i))
      return op.emitOpError("needs one reduction, of the products of the first "
                            "input with each of the next ones");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors of units
//===----------------------------------------------------------------------===//

/// Whether all of a dimension have the same element.
bool StepProgram::isBroadcast(MemRefType type, int64_t dim) {
  return type.getDimSize(dim) == 1 && op.getLengths()[dim] > 1;
}

StepProgram::Access StepProgram::getAccess(Value memory) {
  Access access{memory, cast<MemRefType>(memory.getType())};
  if (!isBroadcast(access.type, kUnit)) {
    const int64_t units = lane->countUnits();
    access.width = getAccessWidth(access.type, kUnit, units);
    access.blocks = units / access.width;
  }
  if (!isBroadcast(access.type, kSequence))
    access.sequences = g.shape.getLaneSequences();
  access.isTimed =
      access.type.isDynamicDim(kTime) || access.type.getDimSize(kTime) > 1;
  return access;
}

StepProgram::Values StepProgram::getIndices(const Access &access, int64_t block,
                                            Value time) {
  Values at(4, p.index(0));
  if (access.isTimed)
    at[kTime] = time;
  if (!isBroadcast(access.type, kSequence))
    at[kSequence] = p.add(firstSequence, block / access.blocks);
  if (!isBroadcast(access.type, kUnit))
    at[kUnit] = p.add(firstUnit, block % access.blocks * access.width);
  return at;
}

DenseI64ArrayAttr StepProgram::getInside(const Access &access) {
  SmallVector<int64_t> inside{kTime};
  if (isBroadcast(access.type, kSequence) ||
      (g.sequences % g.getGroupSequences() == 0 && !lane->getKeeps()))
    inside.push_back(kSequence);
  if (isBroadcast(access.type, kUnit) || g.getPaddedUnits() == g.units)
    inside.push_back(kUnit);
  inside.push_back(kElement);
  return p.b.getDenseI64ArrayAttr(inside);
}

StepProgram::Values StepProgram::load(const Access &access, Value time) {
  Values blocks;
  for (int64_t block = 0; block < access.count(); ++block)
    blocks.push_back(
        dnn::PointLoadOp::create(
            p.b, p.loc,
            p.getBlockType(access.type.getElementType(), access.width),
            p.b.getI1Type(), access.memory, getIndices(access, block, time),
            getInside(access))
            .getValue());
  return blocks;
}

void StepProgram::store(const Access &access, ValueRange blocks, Value time) {
  for (auto [i, block] : llvm::enumerate(blocks))
    dnn::PointStoreOp::create(p.b, p.loc, block, access.memory,
                              getIndices(access, i, time), getInside(access));
}

StepProgram::Value StepProgram::getElement(const Access &access,
                                           ValueRange blocks, int64_t unit,
                                           int64_t sequence) {
  if (access.sequences == 1)
    sequence = 0;
  if (isBroadcast(access.type, kUnit))
    unit = 0;
  return p.getElement(blocks[sequence * access.blocks + unit / access.width],
                      unit % access.width);
}

StepProgram::Values StepProgram::makeBlocks(const Access &access,
                                            ArrayRef<Value> results) {
  Values blocks;
  for (int64_t first = 0; first < static_cast<int64_t>(results.size());
       first += access.width)
    blocks.push_back(p.convert(p.makeBlock(results.slice(first, access.width)),
                               access.type.getElementType()));
  return blocks;
}

//===----------------------------------------------------------------------===//
// Before the steps
//===----------------------------------------------------------------------===//

void StepProgram::enterLane() {
  const int64_t threads = g.getWaves() * waveSize, cluster = g.tile.cluster;
  const int64_t others = g.getUnitGroups();
  ValueRange point = p.forEachPoint({g.getGroups(), threads}, threads);
  if (cluster > 1)
    p.b.getInsertionBlock()->getParentOp()->setAttr(
        dnn::kClusterAttrName, p.b.getI64IntegerAttr(cluster));
  thread = point[1];
  lane.emplace(p, g.shape, p.rem(thread, waveSize), g.gates, g.tile.units);
  groupUnit = p.mul(p.rem(point[0], others), g.getGroupUnits());
  waveUnit =
      g.tile.isOneStep()
          ? groupUnit
          : p.add(p.mul(p.div(thread, waveSize), g.getWaveUnits()), groupUnit);
  groupSequence = p.mul(p.div(point[0], others), g.getGroupSequences());
  firstUnit = p.add(waveUnit, lane->getFirstUnit());
  firstSequence = p.add(groupSequence, lane->getFirstSequence());
  // Lanes that keep nothing have a sequence beyond all others.
  if (Value keeps = lane->getKeeps())
    firstSequence = arith::SelectOp::create(p.b, p.loc, keeps, firstSequence,
                                            p.index(g.sequences));
}

/// Does what only lanes that keep their sums must do.
void StepProgram::ifKept(function_ref<void()> body) {
  if (Value keeps = lane->getKeeps())
    p.branch(keeps, {}, [&]() -> Values {
      body();
      return {};
    });
  else
    body();
}

void StepProgram::clusterBarrier() {
  gpu::BarrierOp::create(p.b, p.loc)
      ->setAttr(dnn::kClusterAttrName, p.b.getUnitAttr());
}

/// Elements that no unit writes are multiplied by zeros, and must be numbers.
void StepProgram::clearState() {
  if (g.getPaddedSegment() <= g.getPaddedUnits())
    return;
  const int64_t threads = g.getWaves() * waveSize;
  const int64_t all = 2 * g.shape.getSequences() * g.getPitch();
  Value zero = p.zero(held, 1);
  p.loop(Size(llvm::divideCeil(all, threads)), {},
         [&](Value i, ValueRange) -> Values {
           Value at = p.add(p.mul(i, threads), thread);
           p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                          at, p.index(all)),
                    {}, [&]() -> Values {
                      Value row = p.div(at, g.getPitch());
                      p.storeShared(zero, shared,
                                    {p.div(row, g.shape.getSequences()),
                                     p.rem(row, g.shape.getSequences()),
                                     p.rem(at, g.getPitch())});
                      return {};
                    });
           return {};
         });
  p.barrier();
}

void StepProgram::storeSegment(Value buffer, int64_t segment, int64_t sequence,
                               Value units) {
  Value unit = p.add(p.add(waveUnit, lane->getFirstUnit()),
                     segment * g.getSegmentPitch());
  p.storeShared(p.convert(units, held), shared,
                {buffer, p.add(lane->getFirstSequence(), sequence), unit});
}

/// Lets all others see the state that the lanes have written, those of other
/// workgroups of the cluster, too: each of some threads copies 16 bytes of it
/// to all of them. Nothing that goes to global memory is in front of the
/// cluster's barrier, which would wait for it.
void StepProgram::publish(Value buffer) {
  p.barrier();
  if (g.tile.cluster == 1)
    return;
  const int64_t kChunk = 16 / g.getElementBytes();
  const int64_t perRow = g.getGroupUnits() / kChunk;
  const int64_t chunks = g.getSegments() * g.shape.getSequences() * perRow;
  const int64_t threads = g.getWaves() * waveSize;
  for (int64_t first = 0; first < chunks; first += threads) {
    Value number = p.add(thread, first);
    auto copy = [&]() -> Values {
      Value row = p.div(number, perRow);
      Value column = p.add(p.mul(p.rem(number, perRow), kChunk), groupUnit);
      column = p.add(column, p.mul(p.div(row, g.shape.getSequences()),
                                   g.getSegmentPitch()));
      const Values slot{buffer, p.rem(row, g.shape.getSequences()), column};
      auto store = vector::StoreOp::create(
          p.b, p.loc, p.loadShared(shared, kChunk, slot), shared, slot);
      store->setAttr(dnn::kClusterAttrName, p.b.getUnitAttr());
      return {};
    };
    if (first + threads <= chunks)
      copy();
    else
      p.branch(arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                     number, p.index(chunks)),
               {}, copy);
  }
  clusterBarrier();
}

/// The number of steps, which a tensor tells if it is unknown.
Size StepProgram::getSteps() {
  const int64_t steps = op.getLengths()[kTime];
  if (!ShapedType::isDynamic(steps))
    return steps;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType());
        type && type.isDynamicDim(kTime))
      return p.getSize(operand, kTime);
  llvm_unreachable("a result of each step has all steps");
}

/// Each lane brings the elements of the state that it will compute later.
/// Before that, all workgroups of a cluster must have begun.
void StepProgram::beginState() {
  if (g.tile.cluster > 1)
    clusterBarrier();
  Value state = op.getInputs()[0];
  auto type = cast<MemRefType>(state.getType());
  const int64_t units = lane->countUnits();
  const bool isPadded = g.getPaddedUnits() != g.units;
  int64_t width = units;
  while (g.units % width != 0)
    width /= 2;
  width = getAccessWidth(type, kElement, width);
  SmallVector<int64_t> inside{kTime};
  const bool isShared = isBroadcast(type, kSequence);
  if (isShared ||
      (g.sequences % g.shape.getSequences() == 0 && !lane->getKeeps()))
    inside.push_back(kSequence);
  inside.push_back(kUnit);
  if (!isPadded)
    inside.push_back(kElement);
  for (int64_t segment = 0; segment < g.getSegments(); ++segment)
    for (int64_t n = 0; n < g.shape.getLaneSequences(); ++n) {
      Values elements;
      for (int64_t done = 0; done < units; done += width) {
        Value unit = p.add(firstUnit, done);
        Value at = p.add(unit, segment * g.units);
        if (isPadded)
          at = arith::SelectOp::create(
              p.b, p.loc,
              arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult, unit,
                                    p.index(g.units)),
              at, p.index(g.elements));
        Value block =
            dnn::PointLoadOp::create(
                p.b, p.loc, p.getBlockType(element, width), p.b.getI1Type(),
                state,
                Values{p.index(0),
                       isShared ? p.index(0) : p.add(firstSequence, n),
                       p.index(0), at},
                p.b.getDenseI64ArrayAttr(inside))
                .getValue();
        for (int64_t i = 0; i < width; ++i)
          elements.push_back(p.getElement(block, i));
      }
      ifKept(
          [&] { storeSegment(p.index(0), segment, n, p.makeBlock(elements)); });
    }
  publish(p.index(0));
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

std::vector<StepProgram::Values>
StepProgram::evaluate(ArrayRef<Values> own, const Values &accumulators) {
  Block &body = op.getRow().front();
  std::vector<Values> results(body.getTerminator()->getNumOperands());
  for (int64_t n = 0; n < g.shape.getLaneSequences(); ++n)
    for (int64_t unit = 0; unit < lane->countUnits(); ++unit) {
      IRMapping mapping;
      auto argument = body.getArguments().begin();
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].memory)
          continue;
        Value value = getElement(inputs[i], own[i], unit, n);
        mapping.map(*argument, p.convert(value, argument->getType()));
        ++argument;
      }
      for (int64_t gate = 0; gate < g.gates; ++gate)
        mapping.map(*argument++, lane->getSum(accumulators, gate, unit, n));
      // A quotient may be a product with a reciprocal, as the reference allows;
      // an exact one takes longer than the products of a step.
      for (Operation &each : body.without_terminator())
        if (auto quotient = dyn_cast<arith::DivFOp>(p.b.clone(each, mapping)))
          quotient.setFastmath(arith::FastMathFlags::arcp |
                               arith::FastMathFlags::afn);
      for (auto [all, value] :
           llvm::zip_equal(results, body.getTerminator()->getOperands()))
        all.push_back(mapping.lookupOrDefault(value));
    }
  return results;
}

/// The new state of all units and sequences of the lane.
void StepProgram::putState(Value buffer, int64_t segment,
                           ArrayRef<Value> results) {
  const int64_t units = lane->countUnits();
  ifKept([&] {
    for (int64_t n = 0; n < g.shape.getLaneSequences(); ++n)
      storeSegment(
          buffer, segment, n,
          p.convert(p.makeBlock(results.slice(n * units, units)), element));
  });
}

StepProgram::Value StepProgram::getTime(Value step) {
  if (!op->hasAttr(dnn::kDescendingAttrName))
    return step;
  return arith::SubIOp::create(p.b, p.loc, lastStep, step);
}

/// Adds blocks to the values that the loop carries.
static StepProgram::Slot append(SmallVectorImpl<Value> &init,
                                ArrayRef<Value> blocks) {
  StepProgram::Slot slot{init.size(), blocks.size()};
  init.append(blocks.begin(), blocks.end());
  return slot;
}

/// Loads what the first step is given. Inputs that are the same for all steps
/// are not carried.
void StepProgram::beginInputs(Values &init) {
  const Value begin = getTime(p.index(0));
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    const bool isOfUnits = i > static_cast<size_t>(g.gates);
    inputs.push_back(isOfUnits ? getAccess(input) : Access());
    Access &access = inputs.back();
    if (!isOfUnits)
      continue;
    access.fixed = load(access, begin);
    const bool isCarried = llvm::any_of(
        carried, [&](const dnn::Carried &c) { return c.input == int64_t(i); });
    if (access.isTimed || isCarried)
      access.slot = append(init, access.fixed);
  }
}

/// Results of the last step alone are carried to the end.
void StepProgram::beginOutputs(Values &init) {
  for (Value output : op.getRowOutputs()) {
    outputs.push_back(getAccess(output));
    Access &access = outputs.back();
    if (!access.isTimed)
      access.slot = append(
          init, Values(access.count(),
                       p.zero(access.type.getElementType(), access.width)));
  }
}

static void setSlot(SmallVectorImpl<Value> &values, StepProgram::Slot slot,
                    ArrayRef<Value> blocks) {
  llvm::copy(blocks, values.begin() + slot.first);
}

/// One step: what the next one carries. What that is given is loaded while this
/// one is computed; the last step loads its own once more.
StepProgram::Values StepProgram::makeStep(Value step, ValueRange values) {
  Value buffer = p.rem(step, 2), time = getTime(step);
  Value other = arith::SubIOp::create(p.b, p.loc, p.index(1), buffer);
  Value following =
      arith::MinUIOp::create(p.b, p.loc, p.add(step, 1), p.index(g.steps - 1));
  Values next(values);
  std::vector<Values> own;
  for (const Access &access : inputs) {
    own.push_back(access.slot ? Values(values.slice(access.slot->first,
                                                    access.slot->count))
                              : access.fixed);
    if (access.slot && access.isTimed)
      setSlot(next, *access.slot, load(access, getTime(following)));
  }
  std::vector<Values> results = evaluate(own, multiply(buffer));
  for (auto [segment, output] : llvm::enumerate(carried.front().outputs))
    putState(other, segment, results[output]);
  publish(other);
  for (auto [access, all] : llvm::zip(outputs, results)) {
    Values blocks = makeBlocks(access, all);
    if (access.slot)
      setSlot(next, *access.slot, blocks);
    else
      store(access, blocks, time);
  }
  for (const dnn::Carried &each : ArrayRef(carried).drop_front())
    setSlot(next, *inputs[each.input].slot,
            makeBlocks(inputs[each.input], results[each.outputs.front()]));
  return next;
}

void StepProgram::build() {
  element = cast<MemRefType>(op.getInputs()[0].getType()).getElementType();
  held = g.shape.isFma() ? p.b.getF32Type() : element;
  enterLane();
  shared = p.makeShared(held, {2, g.shape.getSequences(), g.getPitch()});
  const Size steps = getSteps();
  lastStep = arith::SubIOp::create(p.b, p.loc, p.index(steps), p.index(1));
  loadWeights();
  clearState();
  beginState();
  Values init;
  beginInputs(init);
  beginOutputs(init);
  Values ended = p.loop(steps, init, [&](Value step, ValueRange values) {
    return makeStep(step, values);
  });
  for (const Access &access : outputs)
    if (access.slot)
      store(access,
            ValueRange(ended).slice(access.slot->first, access.slot->count),
            p.index(0));
}
