//===- CellStore.cpp - From a warp's sums to the result -------------------===//

#include "compiler/Conversion/Ampere/CellStore.h"
#include "compiler/Conversion/Cooperative/Epilogue.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kNeighbours = 4; ///< Channels that a lane stores.

CellSums tessera::makeZeroSums(Emitter &e) {
  constexpr int64_t kSums = 4;
  Value zero = e.constant(cast<TypedAttr>(e.b.getF32FloatAttr(0)));
  return CellSums(kCells, SmallVector<Value>(kSums, zero));
}

IRMapping CellStore::mapScalars(CellKernel &k, Region &region) {
  return mapEpilogueScalars(
      k.e, region, VectorType::get(kNeighbours, k.e.b.getF32Type()),
      [&](Value source) { return k.getArgument(source); });
}

/// The first of the channels that a lane stores.
static Value getColumn(CellKernel &k, Value warp) {
  Emitter &e = k.e;
  Value lane = e.remu(k.place.lane, 4);
  return e.add(e.mul(warp, kWarpChannels),
               e.add(e.mul(e.remu(lane, 2), kCellChannels),
                     e.mul(e.divu(lane, 2), kNeighbours)));
}

CellStore::CellStore(CellKernel &kernel, Value warp, Value row)
    : k(kernel), e(kernel.e),
      result(k.viewStored(k.program.viewD, getColumn(k, warp), row)) {
  for (dnn::ViewOp extra : k.program.extras)
    extras.push_back(k.viewStored(extra, getColumn(k, warp), row));
}

/// Two sums of each cell, of a pixel, become four neighbours of one cell: lanes
/// with an even number take the first cell, their neighbours the second.
SmallVector<Value> CellStore::joinCells(const CellSums &sums,
                                        int64_t half) const {
  Value isOdd = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                      e.andi(k.place.lane, 1), e.constant(0));
  SmallVector<Value> own, other;
  for (int64_t i = 0; i < 2; ++i) {
    Value first = sums[0][2 * half + i], second = sums[1][2 * half + i];
    own.push_back(e.select(isOdd, second, first));
    other.push_back(exchangeLanes(e, e.select(isOdd, first, second), 1));
  }
  SmallVector<Value> joined;
  for (int64_t i = 0; i < 2; ++i)
    joined.push_back(e.select(isOdd, other[i], own[i]));
  for (int64_t i = 0; i < 2; ++i)
    joined.push_back(e.select(isOdd, own[i], other[i]));
  return joined;
}

void CellStore::store(const CellSums &sums, int64_t offset,
                      ArrayRef<Value> valid, Region &epilogue,
                      const IRMapping &scalars) const {
  auto type = VectorType::get(kNeighbours, e.b.getF32Type());
  for (auto [half, isThere] : llvm::enumerate(valid)) {
    const auto place = offset + static_cast<int64_t>(half) * kFragment / 2;
    SmallVector<Value> values = {vector::FromElementsOp::create(
        e.b, e.loc, type, joinCells(sums, static_cast<int64_t>(half)))};
    for (const StoreView &extra : extras)
      values.push_back(loadNeighbours(e, extra, place, kNeighbours));
    Value value = applyEpilogue(e, epilogue, values, scalars);
    storeNeighbours(e, result, value, place, isThere);
  }
}
