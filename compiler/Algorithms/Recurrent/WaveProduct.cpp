//===- WaveProduct.cpp - Weights times states by matrix units -------------===//

#include "compiler/Algorithms/Recurrent/WaveProduct.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

std::optional<WaveShape> tessera::findWaveShape(const GpuTarget &target,
                                                DataType type) {
  if (type != DataType::F16 && type != DataType::BF16)
    return std::nullopt;
  for (std::string_view name : {"mma16", "mfma16", "wmma16"})
    if (auto row = findMatrixInstruction(target, name, type))
      return WaveShape{*row};
  return std::nullopt;
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

WaveLane::Value WaveLane::makeZero(Type f32) const {
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
    break;
  }
  llvm_unreachable("no wave has this product");
}

WaveLane::Value WaveLane::getSum(ArrayRef<Value> accumulators, int64_t gate,
                                 int64_t unit, int64_t sequence) const {
  const int64_t number = gate * units + unit, rows = shape.getLaneRows();
  Value block = accumulators[number / rows];
  if (shape.isMma())
    return p.getElement(p.getRow(block, number % rows), sequence);
  return p.getElement(block, number % rows);
}
