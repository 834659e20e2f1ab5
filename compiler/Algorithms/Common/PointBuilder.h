//===- PointBuilder.h - Writes the body of a point program -----*- C++ -*-===//
//
// An algorithm says which elements a thread loads, in which loops, and what it
// does with them; in upstream's builders alone that would be a page for a
// window sum.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POINTBUILDER_H
#define TESSERA_COMPILER_ALGORITHMS_POINTBUILDER_H

#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tessera {

/// Elements along dimension `dim` of `type` that one access can have: the
/// largest power of two that divides `limit` and that dnn.point_load accepts.
int64_t getAccessWidth(mlir::MemRefType type, int64_t dim, int64_t limit);

/// A builder of index arithmetic, loops, and blocks of neighbouring elements.
/// A block is a scalar if it has one element, else a vector.
class PointBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  PointBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  /// Whether mulAddAll() writes products lane by lane, for chips without
  /// arithmetic on pairs.
  bool isByLane = false;
  /// Whether loadBlock() loads what caches need not keep.
  bool isStreamed = false;

  /// Makes the op and leaves the builder at the start of its body, whose
  /// arguments are the result.
  mlir::ValueRange forEachPoint(mlir::ArrayRef<int64_t> sizes, int64_t threads);

  // Indices. Operations with neutral constants are not emitted; quotients are
  // of values that are not negative.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  mlir::Value div(mlir::Value value, int64_t by);
  mlir::Value rem(mlir::Value value, int64_t by);

  /// Runs `body` for 0 <= i < count; it maps the carried values to the next.
  Values loop(int64_t count, mlir::ValueRange init,
              llvm::function_ref<Values(mlir::Value i, mlir::ValueRange)> body);

  /// `body`'s values where `condition` holds, else `otherwise`.
  Values branch(mlir::Value condition, mlir::ValueRange otherwise,
                llvm::function_ref<Values()> body);

  // Elements.
  static mlir::Type getBlockType(mlir::Type element, int64_t count);
  static int64_t getBlockSize(mlir::Value block);
  mlir::Value getElement(mlir::Value block, int64_t i);
  mlir::Value makeBlock(mlir::ArrayRef<mlir::Value> elements);
  /// Elements first, first + 1, ...
  mlir::Value getSlice(mlir::Value block, int64_t first, int64_t count);
  mlir::Value splat(mlir::Value scalar, int64_t count);
  mlir::Value zero(mlir::Type element, int64_t count);
  /// The sum of all elements, each half added to the other.
  mlir::Value sumElements(mlir::Value block);

  /// A block of `count` elements from `coordinates` on along `dim`, whose
  /// coordinate is a multiple of `count`, in as few accesses as possible.
  mlir::Value loadBlock(mlir::Value memory, int64_t dim, int64_t count,
                        mlir::ValueRange coordinates);
  void storeBlock(mlir::Value block, mlir::Value memory, int64_t dim,
                  mlir::ValueRange coordinates);

  // Memory that a workgroup's threads share.
  mlir::Value makeShared(mlir::Type element, mlir::ArrayRef<int64_t> shape);
  /// Of `count` elements from `place` on along the last dimension.
  mlir::Value loadShared(mlir::Value shared, int64_t count,
                         mlir::ValueRange place);
  void storeShared(mlir::Value block, mlir::Value shared,
                   mlir::ValueRange place);
  /// `block` as the one element at `place` of memory of blocks.
  void storeWord(mlir::Value block, mlir::Value shared, mlir::ValueRange place);
  /// All threads of the workgroup come here, and what was stored is seen.
  void barrier();

  // Arithmetic on blocks of one size.
  /// Extended or rounded to `element`.
  mlir::Value convert(mlir::Value block, mlir::Type element);
  mlir::Value addBlocks(mlir::Value lhs, mlir::Value rhs);
  /// lhs * rhs + acc, rounded once if of floats.
  mlir::Value mulAdd(mlir::Value lhs, mlir::Value rhs, mlir::Value acc);
  /// To each sum its block times `factor`. The products of a lane follow each
  /// other, if that is wanted: then they read `factor` from its register once.
  void mulAddAll(mlir::ArrayRef<std::pair<mlir::Value *, mlir::Value>> sums,
                 mlir::Value factor);

  // Four matrices of 8 by 8 (dnn.load_matrices), of each a pair.
  Values loadMatrices(mlir::Value shared, mlir::ValueRange place,
                      bool isTransposed);
  void storeMatrices(mlir::ArrayRef<mlir::Value> pairs, mlir::Value shared,
                     mlir::ValueRange place, bool isTransposed);

  /// What the lane so many further has, of a warp of 32; of the last ones, what
  /// they have themselves.
  mlir::Value getFromLane(mlir::Value block, int64_t further);

  // The 16 rows by 8 columns of a product that a warp has, of 16-bit floats and
  // summed in f32: fragments of mma.sync, in blocks of two.
  mlir::Value zeroSums();
  /// `sums` plus `a` times `b`: of four blocks and two a reduction of 16, of
  /// two and one of 8.
  mlir::Value multiplyMatrices(mlir::ArrayRef<mlir::Value> a,
                               mlir::ValueRange b, mlir::Value sums);
  /// Two neighbours of row `i` of the lane's two; and a product from its rows.
  mlir::Value getRow(mlir::Value sums, int64_t i);
  mlir::Value makeSums(mlir::ArrayRef<mlir::Value> rows);
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POINTBUILDER_H
