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
/// by the first row that they have. The units of a group are neighbours.
WaveLane::WaveLane(PointBuilder &p, const WaveShape &shape, Value lane,
                   int64_t blocks)
    : p(p), shape(shape), blocks(blocks) {
  const int64_t units = shape.getLaneUnits();
  if (shape.isMma()) {
    constexpr int64_t kQuad = 4;
    Value quad = p.div(lane, kQuad), inQuad = p.rem(lane, kQuad);
    firstUnit = heldUnit = p.mul(quad, units * blocks);
    heldSequence = quad;
    firstSequence = p.mul(inQuad, shape.getLaneSequences());
    firstK = p.mul(inQuad, shape.getKPerLane());
    return;
  }
  const MatrixInstruction &row = shape.row;
  Value group = p.div(lane, row.columns);
  firstUnit = p.mul(group, units * blocks);
  firstSequence = heldSequence = getDigits(p, row.getRowOfQ(), lane);
  firstK = p.mul(getDigits(p, row.getChunkOfLane(), lane), row.kPerLane);
  // Row i of an instruction is register i % units of group i / units where a
  // lane's rows are neighbours, else they alternate between the groups.
  Value i = getDigits(p, row.getRowOfP(), lane);
  const int64_t groups = WaveShape::kUnits / units;
  const bool areNeighbours = row.accVector == units;
  Value of = areNeighbours ? p.div(i, units) : p.rem(i, groups);
  Value reg = areNeighbours ? p.rem(i, units) : p.div(i, groups);
  heldUnit = p.add(p.mul(of, units * blocks), reg);
}

WaveLane::Value WaveLane::getHeldUnit(int64_t block, int64_t i) const {
  return p.add(heldUnit, block * shape.getLaneUnits() + i);
}

WaveLane::Value WaveLane::makeZero(Type f32) const {
  if (shape.isMma())
    return p.zeroAccumulators();
  return p.zero(f32, shape.getLaneUnits());
}

WaveLane::Value WaveLane::multiply(ArrayRef<Value> weights, Value state,
                                   Value sums) const {
  const MatrixInstruction &row = shape.row;
  switch (row.kind) {
  case MatrixKind::Mma: {
    // Both units of the first half of the reduction, then of the second.
    Values a, b;
    for (int64_t half = 0; half < 2; ++half) {
      for (Value unit : weights)
        a.push_back(p.getSlice(unit, 2 * half, 2));
      b.push_back(p.getSlice(state, 2 * half, 2));
    }
    return p.multiplyMatrices(a, b, sums);
  }
  case MatrixKind::Mfma:
    return amdgpu::MFMAOp::create(p.b, p.loc, sums.getType(), row.rows,
                                  row.columns, row.k, /*blocks=*/1,
                                  weights.front(), state, sums);
  case MatrixKind::Wmma:
    return amdgpu::WMMAOp::create(p.b, p.loc, sums.getType(), row.rows,
                                  row.columns, row.k, weights.front(), state,
                                  sums);
  case MatrixKind::Fma:
    break;
  }
  llvm_unreachable("no wave has this product");
}

WaveLane::Value WaveLane::getSum(Value sums, int64_t unit,
                                 int64_t sequence) const {
  if (shape.isMma())
    return p.getElement(p.getRow(sums, unit), sequence);
  return p.getElement(sums, unit);
}
