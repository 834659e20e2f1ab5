//===- WaveProduct.cpp - Weights times states of a wave -------------------===//

#include "compiler/Algorithms/Recurrent/WaveProduct.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

std::optional<WaveShape> tessera::findWaveShape(const GpuTarget &target,
                                                DataType type) {
  if (type == DataType::F32)
    return makeFmaShape(target.waveSize, 1, 1);
  if (type != DataType::F16 && type != DataType::BF16)
    return std::nullopt;
  for (std::string_view name : {"mma16", "mfma16", "wmma16"})
    if (auto row = findMatrixInstruction(target, name, type))
      return WaveShape{*row};
  return makeFmaShape(target.waveSize, 1, 1);
}

/// A lane loads 16 bytes of f32 at once.
WaveShape tessera::makeFmaShape(int64_t waveSize, int64_t lanes,
                                int64_t sequences) {
  constexpr int kChunk = 4;
  MatrixInstruction row{};
  row.kind = MatrixKind::Fma;
  row.kPerLane = kChunk;
  row.accRegs = 1;
  return {row, lanes, waveSize / lanes, sequences};
}

/// A number of each lane of the table's maps.
static Value getDigits(PointBuilder &p, const LaneMap &map, Value lane) {
  Value sum = p.index(0);
  for (const LaneMap::Digit &digit : map.digits) {
    if (digit.factor == 0)
      continue;
    Value value = p.div(lane, digit.divisor);
    if (digit.modulus)
      value = p.rem(value, digit.modulus);
    sum = p.add(sum, p.mul(value, digit.factor));
  }
  return sum;
}

/// A row of D is in register r of the lanes of one group; groups are numbered
/// by the first row that they have. Each group has its own units.
WaveLane::WaveLane(PointBuilder &p, const WaveShape &shape, Value lane,
                   int64_t gates, int64_t units)
    : p(p), shape(shape), gates(gates), units(units) {
  if (shape.isFma()) {
    firstUnit = heldUnit = p.mul(p.div(lane, shape.lanes), units);
    share = p.rem(lane, shape.lanes);
    firstSequence =
        p.mul(p.div(share, shape.getCopies()), shape.getLaneSequences());
    if (shape.getCopies() > 1)
      keeps =
          arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq,
                                p.rem(share, shape.getCopies()), p.index(0));
    heldSequence = p.index(0);
    firstK = p.mul(share, shape.getKPerLane());
    return;
  }
  if (shape.isMma()) {
    constexpr int64_t kQuad = 4;
    Value quad = p.div(lane, kQuad), inQuad = p.rem(lane, kQuad);
    firstUnit = heldUnit = p.mul(quad, units);
    heldSequence = quad;
    firstSequence = p.mul(inQuad, shape.getLaneSequences());
    firstK = p.mul(inQuad, shape.getKPerLane());
    return;
  }
  const MatrixInstruction &row = shape.row;
  firstUnit = p.mul(p.div(lane, row.columns), units);
  firstSequence = heldSequence = getDigits(p, row.getRowOfQ(), lane);
  firstK = p.mul(getDigits(p, row.getChunkOfLane(), lane), row.kPerLane);
  // Row i of an instruction is register i % rows of group i / rows where a
  // lane's rows are neighbours, else they alternate between the groups.
  Value i = getDigits(p, row.getRowOfP(), lane);
  const int64_t rows = shape.getLaneRows();
  const bool areNeighbours = row.accVector == rows;
  Value group =
      areNeighbours ? p.div(i, rows) : p.rem(i, shape.getLaneGroups());
  Value reg = areNeighbours ? p.rem(i, rows) : p.div(i, shape.getLaneGroups());
  heldUnit = p.add(p.mul(group, units), reg);
}

/// With `mma.sync` the number of a lane's row is known, else the rows of a
/// block are of one gate, and which of them it is is in `heldUnit`.
HeldRow WaveLane::getHeldRow(int64_t block, int64_t i) const {
  const int64_t number = block * shape.getLaneRows() + i;
  return {number / units, p.add(heldUnit, number % units)};
}

/// By fused multiply-adds, there are two chains of them for each sum: packed
/// ones where a chip has these.
static constexpr int64_t kChains = 2;

WaveLane::Value WaveLane::makeZero(Type f32) const {
  if (shape.isFma())
    return p.zero(f32, kChains);
  if (shape.isMma())
    return p.zeroAccumulators();
  return p.zero(f32, shape.getLaneRows());
}

WaveLane::Value WaveLane::multiply(ArrayRef<Value> weights, Value state,
                                   Value accumulators) const {
  const MatrixInstruction &row = shape.row;
  switch (row.kind) {
  case MatrixKind::Mma: {
    // Both rows of the first half of the reduction, then of the second.
    Values a, b;
    for (int64_t half = 0; half < 2; ++half) {
      for (Value row : weights)
        a.push_back(p.getSlice(row, 2 * half, 2));
      b.push_back(p.getSlice(state, 2 * half, 2));
    }
    return p.multiplyMatrices(a, b, accumulators);
  }
  case MatrixKind::Mfma:
    return amdgpu::MFMAOp::create(p.b, p.loc, accumulators.getType(), row.rows,
                                  row.columns, row.k, /*blocks=*/1,
                                  weights.front(), state, accumulators);
  case MatrixKind::Wmma:
    return amdgpu::WMMAOp::create(p.b, p.loc, accumulators.getType(), row.rows,
                                  row.columns, row.k, weights.front(), state,
                                  accumulators);
  case MatrixKind::Fma:
    for (int64_t i = 0; i < shape.getKPerLane(); i += kChains)
      accumulators = p.mulAdd(p.getSlice(weights.front(), i, kChains),
                              p.getSlice(state, i, kChains), accumulators);
    return accumulators;
  }
  llvm_unreachable("no wave has this product");
}

/// Half of the lanes send those of the first half of their sequences and keep
/// the others, until each has its own; then all add up what is left.
WaveLane::Values WaveLane::finish(Values all) const {
  if (!shape.isFma())
    return all;
  for (Value &sum : all)
    sum = p.sumElements(sum);
  int64_t distance = shape.lanes / 2;
  for (int64_t held = shape.sequences; held > 1 && distance > 0;
       held /= 2, distance /= 2) {
    Value isUpper =
        arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ne,
                              p.rem(p.div(share, distance), 2), p.index(0));
    Values kept;
    for (auto [low, high] :
         llvm::zip_equal(ArrayRef<Value>(all).take_front(all.size() / 2),
                         ArrayRef<Value>(all).drop_front(all.size() / 2))) {
      Value own =
          arith::SelectOp::create(p.b, p.loc, isUpper, high, low).getResult();
      Value other =
          arith::SelectOp::create(p.b, p.loc, isUpper, low, high).getResult();
      kept.push_back(p.addBlocks(own, p.exchange(other, distance)));
    }
    all = kept;
  }
  for (; distance > 0; distance /= 2)
    for (Value &sum : all)
      sum = p.addBlocks(sum, p.exchange(sum, distance));
  return all;
}

WaveLane::Value WaveLane::getSum(ArrayRef<Value> accumulators, int64_t gate,
                                 int64_t unit, int64_t sequence) const {
  const int64_t number = gate * units + unit, rows = shape.getLaneRows();
  if (shape.isFma())
    return accumulators[sequence * gates * units + number];
  Value block = accumulators[number / rows];
  if (shape.isMma())
    return p.getElement(p.getRow(block, number % rows), sequence);
  return p.getElement(block, number % rows);
}
