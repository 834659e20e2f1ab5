//===- GradientSums.cpp - The sums of a norm's gradient -------------------===//

#include "compiler/Conversion/Hopper/GradientSums.h"

#include "compiler/Conversion/Common/PredicatedAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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

int64_t GradientSums::countFetched() const {
  return static_cast<int64_t>(norm.tensors.size()) * kStoreRows;
}

/// Coordinates of a view.
static constexpr unsigned kRow = 1, kColumn = 2;

/// Whether neighbours along rows and along columns are steps in memory, and
/// nothing else tells one place from another.
static bool isMatrix(const ViewAccess &access) {
  return !access.isOpen() && access.getNumForms() == 1 &&
         access.getSpace(kRow).isLinear() &&
         access.getSpace(kColumn).isLinear();
}

/// Of a matrix one address is kept, and rows are constants behind it, which an
/// instruction has anyway.
void GradientSums::begin(const ResultTile &place) {
  StagedPartials::begin(place);
  Type wide = e.b.getI64Type();
  Value row = e.add(tile.row, e.mul(thread.warp, kStoreRows));
  Value column = e.add(tile.column, e.mul(thread.lane, kPair));
  auto countLeft = [&](unsigned side, int64_t ofTile, Value position) -> Value {
    if (extents[side] % ofTile == 0)
      return {};
    return arith::SubIOp::create(e.b, e.loc, e.constant(extents[side]),
                                 position);
  };
  rowsLeft = countLeft(kRow, shape.tileM, row);
  columnsLeft = countLeft(kColumn, shape.tileN, column);
  firsts.clear();
  for (const NormMemory::Tensor &tensor : norm.tensors) {
    Value &first = firsts.emplace_back();
    if (!isMatrix(tensor.access))
      continue;
    first = tensor.pointer;
    auto add = [&](Value bytes) {
      first = LLVM::GEPOp::create(e.b, e.loc, first.getType(), e.b.getI8Type(),
                                  first, bytes);
    };
    for (auto [position, index] : {std::pair(row, kRow), {column, kColumn}}) {
      Value step = e.constant(e.b.getI64IntegerAttr(
          tensor.access.getSpace(index).getInnermostStep()));
      add(arith::MulIOp::create(
          e.b, e.loc, arith::ExtUIOp::create(e.b, e.loc, wide, position),
          step));
    }
    add(e.constant(e.b.getI64IntegerAttr(tensor.access.getConstant(0))));
  }
}

/// Two elements of a row of a matrix, `row` and `column` behind the first ones.
Value GradientSums::loadPairOf(const ViewAccess &access, Value first,
                               int64_t row, int64_t column) {
  auto isInside = [&](Value left, int64_t position) -> Value {
    return left ? arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sgt,
                                        left, e.constant(position))
                      .getResult()
                : Value();
  };
  const int64_t bytes = row * access.getSpace(kRow).getInnermostStep() +
                        column * access.getSpace(kColumn).getInnermostStep();
  Value address =
      LLVM::GEPOp::create(e.b, e.loc, first.getType(), e.b.getI8Type(), first,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  return loadPairAt(
      e.both(isInside(rowsLeft, row), isInside(columnsLeft, column)), address);
}

/// Two elements that are read once, ahead of their use: zeros if not
/// `isInside`.
Value GradientSums::loadPairAt(Value isInside, Value address) {
  return loadIf(e, isInside, e.b.getI32Type(), address,
                kPair * shape.resultBytes, /*otherwise=*/0,
                {.isConstant = false, .isStreamed = true, .isPinned = true});
}

/// Of a tensor whose rows are no steps, as behind a halo, each lane finds the
/// offset of one of the warp's rows, and tells all. It lies as the result.
SmallVector<Value>
GradientSums::fetchScattered(const NormMemory::Tensor &tensor, int64_t row,
                             int64_t column) {
  constexpr int64_t kAllLanes = -1, kLastLane = 31;
  assert(tensor.access.getTensorBytes() <= kOutOfRange &&
         "a result that is not stored by TMA is in reach of offsets");
  Value lanesRow = e.add(e.mul(thread.warp, kStoreRows),
                         e.andi(thread.lane, kStoreRows - 1));
  const StoreView view = getView(tensor.access, tensor.pointer, lanesRow,
                                 e.mul(thread.lane, kPair));
  const StorePlace at = view.locateP(column), place = view.locateQ(row);
  Value offset = place.forms[0];
  if (place.valid)
    offset = e.select(place.valid, offset, e.constant(kOutOfRange));
  SmallVector<Value> rows;
  for (int64_t i = 0; i < kStoreRows; ++i) {
    Value ofRow = NVVM::ShflOp::create(
        e.b, e.loc, offset.getType(), e.constant(kAllLanes), offset,
        e.constant(i), e.constant(kLastLane), NVVM::ShflKind::idx, UnitAttr());
    rows.push_back(
        loadPairAt(e.both(at.valid, e.ult(ofRow, kOutOfRange)),
                   emitAddress(e, tensor.pointer, e.add(ofRow, at.forms[0]))));
  }
  return rows;
}

void GradientSums::fetch(int64_t rowPiece, int64_t columnPiece) {
  const int64_t column =
      shape.getPieceColumn(columnPiece, shape.getStoreColumns());
  const int64_t firstRow = shape.getPieceRow(rowPiece);
  Fetched fetched;
  for (auto [tensor, first] : llvm::zip_equal(norm.tensors, firsts)) {
    SmallVector<Value> &rows = fetched.emplace_back();
    if (first)
      for (int64_t row = 0; row < kStoreRows; ++row)
        rows.push_back(
            loadPairOf(tensor.access, first, firstRow + row, column));
    else
      rows = fetchScattered(tensor, firstRow, column);
  }
  pending.push_back(std::move(fetched));
}

void GradientSums::beginRows(int64_t rowPiece) { mask = findResults(rowPiece); }

/// Of the lane's two channels. Those past the last one have the numbers of the
/// first.
GradientSums::Numbers GradientSums::loadNumbers(int64_t columnPiece) {
  const int64_t column =
      shape.getPieceColumn(columnPiece, shape.getStoreColumns());
  Value channel = e.add(e.add(tile.column, column), e.mul(thread.lane, kPair));
  if (extents.back() % shape.tileN != 0)
    channel = e.select(e.ult(channel, extents.back()), channel, e.constant(0));
  Type f32 = e.b.getF32Type();
  Numbers numbers;
  for (Value pointer : norm.numbers) {
    Value at = LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), f32, pointer,
                                   ArrayRef<LLVM::GEPArg>{channel});
    Value loaded = LLVM::LoadOp::create(e.b, e.loc, VectorType::get(kPair, f32),
                                        at, /*alignment=*/8);
    Pair &values = numbers.emplace_back();
    for (int64_t i = 0; i < kPair; ++i)
      values.push_back(
          LLVM::ExtractElementOp::create(e.b, e.loc, loaded, e.constant(i)));
  }
  return numbers;
}

/// Whether the activation had a gradient at a row, in column `i` of the two;
/// null if there was none.
Value GradientSums::isPositive(const Fetched &fetched, const Numbers &numbers,
                               int64_t row, int64_t i, Value centred) {
  constexpr size_t kInverse = 1, kScale = 2, kBias = 3, kMask = 1;
  Value activated;
  if (norm.tensors.size() > kMask) {
    auto type = VectorType::get(kPair, access.getElementType());
    activated = unpackPair(
        LLVM::BitcastOp::create(e.b, e.loc, type, fetched[kMask][row]))[i];
  } else if (norm.numbers.size() > kInverse) {
    Value normalized =
        arith::MulFOp::create(e.b, e.loc, centred, numbers[kInverse][i]);
    activated = math::FmaOp::create(e.b, e.loc, normalized, numbers[kScale][i],
                                    numbers[kBias][i]);
  } else {
    return {};
  }
  return arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, activated,
                               number(0));
}

/// What is staged of no result may be no number, and counts as zero.
void GradientSums::changeRow(const Fetched &fetched, const Numbers &numbers,
                             Value buffer, int64_t row, Pair gradients,
                             MutableArrayRef<Value> totals) {
  auto type = VectorType::get(kPair, access.getElementType());
  auto inputs = unpackPair(
      LLVM::BitcastOp::create(e.b, e.loc, type, fetched.front()[row]));
  Value changed = LLVM::UndefOp::create(
      e.b, e.loc, VectorType::get(kPair, e.b.getF32Type()));
  bool isChanged = false;
  for (int64_t i = 0; i < kPair; ++i) {
    Value centred =
        arith::SubFOp::create(e.b, e.loc, inputs[i], numbers.front()[i]);
    Value gradient = gradients[i];
    if (Value keeps = isPositive(fetched, numbers, row, i, centred)) {
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
    LLVM::StoreOp::create(e.b, e.loc,
                          arith::TruncFOp::create(e.b, e.loc, type, changed),
                          addBytes(e, buffer, locate(e.constant(row))),
                          kPair * shape.resultBytes);
}

void GradientSums::change(Value buffer, int64_t columnPiece) {
  const Fetched fetched = std::move(pending.front());
  pending.pop_front();
  const Numbers numbers = loadNumbers(columnPiece);
  emitWarpSync(e);
  SmallVector<Value> totals(2 * kPair, number(0));
  // No load passes a store, so some rows are loaded before one is stored.
  constexpr int64_t kRows = 4;
  for (int64_t first = 0; first < kStoreRows; first += kRows) {
    SmallVector<Pair> gradients;
    for (int64_t i = 0; i < kRows; ++i)
      gradients.push_back(loadPair(buffer, locate(e.constant(first + i))));
    for (int64_t i = 0; i < kRows; ++i)
      changeRow(fetched, numbers, buffer, first + i, gradients[i], totals);
  }
  for (int64_t i = 0; i < kPair; ++i)
    for (int64_t j : {0, 1}) {
      Value variable = columns[columnPiece * kPair + i][j];
      store(arith::AddFOp::create(e.b, e.loc, load(variable),
                                  totals[j * kPair + i]),
            variable);
    }
}
