//===- CellTile.cpp - What a warp multiplies of narrow groups -------------===//

#include "compiler/Conversion/Ampere/CellTile.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tessera;

/// Registers of each 8 of the reduction are those of its first half, then of
/// its second one.
static SmallVector<Value> splitTerms(Emitter &e, ArrayRef<Value> loaded,
                                     int64_t perPiece) {
  auto toFloat = [&](Value word) -> Value {
    return LLVM::BitcastOp::create(e.b, e.loc, e.b.getF32Type(), word);
  };
  const int64_t half = perPiece / 2;
  SmallVector<SplitPair> pairs;
  for (int64_t piece = 0; piece < std::ssize(loaded); piece += perPiece)
    for (int64_t i = piece; i < piece + half; ++i)
      pairs.push_back(
          splitPair(e, toFloat(loaded[i]), toFloat(loaded[i + half])));
  SmallVector<Value> terms;
  for (unsigned term = 0; term < SplitPair::kTerms; ++term)
    for (const SplitPair &pair : pairs)
      terms.push_back(pair.terms[term]);
  return terms;
}

SmallVector<Value> CellTile::prepare(Emitter &e, ArrayRef<Value> loaded,
                                     int64_t perPiece) const {
  if (isSplit)
    return splitTerms(e, loaded, perPiece);
  SmallVector<Value> operand(loaded);
  if (isF32)
    for (Value &value : operand)
      value = roundToTf32(e, value);
  return operand;
}

SmallVector<Value> CellTile::joinFilter(ArrayRef<Value> filter, int64_t first,
                                        int64_t pieces) const {
  const int64_t registers = countFilterRegisters();
  filter = filter.slice(first * registers, pieces * registers);
  if (!isSplit)
    return SmallVector<Value>(filter);
  SmallVector<Value> joined;
  for (int64_t term = 0; term < registers; ++term)
    for (int64_t piece = 0; piece < pieces; ++piece)
      joined.push_back(filter[piece * registers + term]);
  return joined;
}

/// Of terms the small products come first, and sums begin anew with each
/// instruction: an accumulator cuts off what does not fit it
/// (docs/design/0027-splits-in-registers.md).
SmallVector<Value> CellTile::multiply(Emitter &e, Type element, ValueRange a,
                                      ValueRange b, ValueRange c) const {
  if (!isSplit)
    return multiplyMatrices(e, element, a, b, c);
  constexpr int64_t kSums = 4;
  auto multiplyTerms = [&](TermProduct product, ValueRange sums) {
    auto take = [](ValueRange operand, SplitPair::Term term) {
      const size_t registers = operand.size() / SplitPair::kTerms;
      return operand.slice(term * registers, registers);
    };
    return multiplyMatrices(e, e.b.getBF16Type(), take(a, product.a),
                            take(b, product.b), sums);
  };
  Value zero = e.constant(cast<TypedAttr>(e.b.getF32FloatAttr(0)));
  SmallVector<Value> sums(kSums, zero);
  for (const TermProduct &product : kSmallProducts)
    sums = multiplyTerms(product, sums);
  sums = multiplyTerms({SplitPair::First, SplitPair::First}, sums);
  for (auto [sum, before] : llvm::zip(sums, c))
    sum = arith::AddFOp::create(e.b, e.loc, before, sum);
  return sums;
}
