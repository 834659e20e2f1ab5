//===- GradientSums.cpp - The sums of a norm's gradient -------------------===//

#include "compiler/Conversion/Hopper/GradientSums.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tessera;

GradientSums::GradientSums(Emitter &e, const HopperShape &shape,
                           dnn::ViewOp result, const PartialsMemory &memory,
                           const Thread &thread, NormMemory norm)
    : StagedPartials(e, shape, result, memory, thread), norm(std::move(norm)) {
  const int64_t pieces = shape.countPieces(shape.getStoreColumns());
  for (int64_t i = 0; i < kPair * pieces; ++i) {
    Value sum = makeVariable(), dot = makeVariable();
    columns.push_back({sum, dot});
  }
  clear();
}

/// Channels past the last one have the numbers of the first.
void GradientSums::fetch(int64_t rowPiece, int64_t columnPiece) {
  const int64_t column =
      shape.getPieceColumn(columnPiece, shape.getStoreColumns());
  Value laneColumn = e.mul(thread.lane, kPair);
  Value warpRow = e.mul(thread.warp, kStoreRows);
  Fetched fetched;
  for (const NormMemory::Tensor &tensor : norm.tensors) {
    const StoreView view =
        getView(tensor.access, tensor.pointer, warpRow, laneColumn);
    const StorePlace at = view.locateP(column);
    SmallVector<Value> &rows = fetched.tensors.emplace_back();
    for (int64_t row = 0; row < kStoreRows; ++row)
      rows.push_back(view.load(
          at, view.locateQ(shape.getPieceRow(rowPiece) + row), kPair));
  }
  Value channel = e.add(e.add(tile.column, column), laneColumn);
  if (extents.back() % shape.tileN != 0)
    channel = e.select(e.ult(channel, extents.back()), channel, e.constant(0));
  for (Value pointer : norm.numbers) {
    Type f32 = e.b.getF32Type();
    Value at = LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), f32, pointer,
                                   ArrayRef<LLVM::GEPArg>{channel});
    fetched.numbers.push_back(LLVM::LoadOp::create(
        e.b, e.loc, VectorType::get(kPair, f32), at, /*alignment=*/8));
  }
  pending.push_back(std::move(fetched));
}

void GradientSums::beginRows(int64_t rowPiece) { mask = findResults(rowPiece); }

GradientSums::Pair GradientSums::getNumbers(const Fetched &fetched, size_t i) {
  Pair values;
  for (int64_t j = 0; j < kPair; ++j)
    values.push_back(LLVM::ExtractElementOp::create(
        e.b, e.loc, fetched.numbers[i], e.constant(j)));
  return values;
}

/// Whether the activation had a gradient at a row, in column `i` of the two;
/// null if there was none.
Value GradientSums::isPositive(const Fetched &fetched, int64_t row, int64_t i,
                               Value centred) {
  constexpr size_t kInverse = 1, kScale = 2, kBias = 3, kMask = 1;
  Value activated;
  if (norm.tensors.size() > kMask) {
    auto type = VectorType::get(kPair, access.getElementType());
    activated = unpackPair(LLVM::BitcastOp::create(
        e.b, e.loc, type, fetched.tensors[kMask][row]))[i];
  } else if (norm.numbers.size() > kInverse) {
    Value normalized = arith::MulFOp::create(e.b, e.loc, centred,
                                             getNumbers(fetched, kInverse)[i]);
    activated = math::FmaOp::create(e.b, e.loc, normalized,
                                    getNumbers(fetched, kScale)[i],
                                    getNumbers(fetched, kBias)[i]);
  } else {
    return {};
  }
  return arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, activated,
                               number(0));
}

/// What is staged of no result may be no number, and counts as zero.
void GradientSums::changeRow(const Fetched &fetched, Value buffer, int64_t row,
                             MutableArrayRef<Value> totals) {
  auto type = VectorType::get(kPair, access.getElementType());
  Value offset = locate(e.constant(row));
  auto gradients = loadPair(buffer, offset);
  auto inputs = unpackPair(
      LLVM::BitcastOp::create(e.b, e.loc, type, fetched.tensors.front()[row]));
  auto means = getNumbers(fetched, 0);
  Value changed = LLVM::UndefOp::create(
      e.b, e.loc, VectorType::get(kPair, e.b.getF32Type()));
  bool isChanged = false;
  for (int64_t i = 0; i < kPair; ++i) {
    Value centred = arith::SubFOp::create(e.b, e.loc, inputs[i], means[i]);
    Value gradient = gradients[i];
    if (Value keeps = isPositive(fetched, row, i, centred)) {
      gradient = e.select(keeps, gradient, number(0));
      isChanged = true;
    }
    changed = LLVM::InsertElementOp::create(e.b, e.loc, changed, gradient,
                                            e.constant(i));
    if (mask) {
      Value isNone = e.ult(e.andi(mask, int64_t(1) << row), 1);
      gradient = e.select(isNone, number(0), gradient);
    }
    totals[i] = arith::AddFOp::create(e.b, e.loc, totals[i], gradient);
    totals[kPair + i] =
        math::FmaOp::create(e.b, e.loc, gradient, centred, totals[kPair + i]);
  }
  if (isChanged)
    LLVM::StoreOp::create(
        e.b, e.loc, arith::TruncFOp::create(e.b, e.loc, type, changed),
        addBytes(e, buffer, offset), kPair * shape.resultBytes);
}

void GradientSums::change(Value buffer, int64_t columnPiece) {
  const Fetched fetched = std::move(pending.front());
  pending.pop_front();
  emitWarpSync(e);
  SmallVector<Value> totals(2 * kPair, number(0));
  for (int64_t row = 0; row < kStoreRows; ++row)
    changeRow(fetched, buffer, row, totals);
  for (int64_t i = 0; i < kPair; ++i)
    for (int64_t j : {0, 1}) {
      Value variable = columns[columnPiece * kPair + i][j];
      store(arith::AddFOp::create(e.b, e.loc, load(variable),
                                  totals[j * kPair + i]),
            variable);
    }
}
