//===- PointBuilder.h - Writes the body of a point program -----*- C++ -*--===//
//
// An algorithm describes which elements a thread loads, in which loops, and
// what it does with them. Written with MLIR's builders alone, the sum over a
// window would take a page.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_POINTBUILDER_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_POINTBUILDER_H

#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <array>

namespace tessera {

/// The width of an access along dimension `dim` of `type`, in elements: the
/// largest power of two that divides `limit` and that dnn.point_load accepts.
int64_t getAccessWidth(mlir::MemRefType type, int64_t dim, int64_t limit);

/// A size of a tensor, or what is made of sizes: a number, or a value where
/// sizes are unknown.
struct Size {
  Size(int64_t number) : number(number) {}
  explicit Size(mlir::Value value)
      : number(mlir::ShapedType::kDynamic), value(value) {}

  int64_t number; ///< kDynamic if it is unknown.
  mlir::Value value;

  bool isKnown() const { return !value; }
};

/// Builds index arithmetic, loops, and operations on blocks of neighbouring
/// elements. A block is a scalar if it has one element, else a vector.
class PointBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  PointBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  /// Whether mulAddAll() emits the multiply-adds of a block element by element,
  /// for chips without packed arithmetic.
  bool isElementwise = false;
  /// Whether the loads of loadBlock() need not stay in L1 (dnn.streamed).
  bool isStreamed = false;

  /// Creates a dnn.for_each_point, moves the builder to the start of its body
  /// and returns the arguments of the body.
  mlir::ValueRange forEachPoint(mlir::ArrayRef<int64_t> sizes, int64_t threads);
  mlir::ValueRange forEachPointOf(mlir::ArrayRef<Size> sizes, int64_t threads);

  // Sizes.
  Size getSize(mlir::Value memory, int64_t dim);
  Size multiply(const Size &lhs, const Size &rhs);
  Size divideUp(const Size &size, int64_t by);
  Size add(const Size &lhs, const Size &rhs);

  // Index arithmetic. Operations with a neutral constant are not emitted, and
  // dividends must not be negative.
  mlir::Value index(const Size &value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value mul(mlir::Value lhs, const Size &rhs);
  mlir::Value div(mlir::Value value, const Size &by);
  mlir::Value rem(mlir::Value value, const Size &by);

  /// The coordinates of point number `position` of a space of `sizes`, the last
  /// dimension fastest. Past the last point, the first one is out of bounds.
  Values splitPosition(mlir::ArrayRef<Size> sizes, mlir::Value position);

  /// Emits a loop over 0 <= i < count whose `body` maps the carried values to
  /// those of the next iteration.
  Values loop(const Size &count, mlir::ValueRange init,
              llvm::function_ref<Values(mlir::Value i, mlir::ValueRange)> body);

  /// Emits a branch: the values of `body` where `condition` holds, else
  /// `otherwise`.
  Values branch(mlir::Value condition, mlir::ValueRange otherwise,
                llvm::function_ref<Values()> body);
  /// Emits two programs for the workgroups of one launch, of which `group` is
  /// one: `first` for `counts[0]` of them, `second` for `counts[1]`. Each gets
  /// a number below its count: the second's counts downwards from the last
  /// workgroup, so that no number is ever negative.
  void shareGroups(mlir::Value group, const std::array<Size, 2> &counts,
                   llvm::function_ref<void(mlir::Value)> first,
                   llvm::function_ref<void(mlir::Value)> second);

  // Elements.
  static mlir::Type getBlockType(mlir::Type element, int64_t count);
  static int64_t getBlockSize(mlir::Value block);
  mlir::Value getElement(mlir::Value block, int64_t i);
  mlir::Value makeBlock(mlir::ArrayRef<mlir::Value> elements);
  /// The elements first, first + 1, ...
  mlir::Value getSlice(mlir::Value block, int64_t first, int64_t count);
  mlir::Value splat(mlir::Value scalar, int64_t count);
  mlir::Value zero(mlir::Type element, int64_t count);
  /// The sum of all elements, computed as a tree: the halves of the block are
  /// added until one element is left.
  mlir::Value sumElements(mlir::Value block);

  /// Loads `count` elements along `dim` that begin at `coordinates`, in as few
  /// accesses as possible. The coordinate along `dim` must be a multiple of
  /// `count`.
  mlir::Value loadBlock(mlir::Value memory, int64_t dim, int64_t count,
                        mlir::ValueRange coordinates);
  void storeBlock(mlir::Value block, mlir::Value memory, int64_t dim,
                  mlir::ValueRange coordinates);

  // Memory that a workgroup's threads share.
  mlir::Value makeShared(mlir::Type element, mlir::ArrayRef<int64_t> shape);
  /// Loads `count` elements along the last dimension that begin at `indices`.
  mlir::Value loadShared(mlir::Value shared, int64_t count,
                         mlir::ValueRange indices);
  void storeShared(mlir::Value block, mlir::Value shared,
                   mlir::ValueRange indices);
  /// Stores `block` as a single element, in memory whose elements are blocks.
  void storeWord(mlir::Value block, mlir::Value shared,
                 mlir::ValueRange indices);
  /// Waits for all threads of the workgroup and makes their stores visible.
  void barrier();

  // Arithmetic on blocks of one size.
  /// Converts the elements to the type `element`.
  mlir::Value convert(mlir::Value block, mlir::Type element);
  mlir::Value addBlocks(mlir::Value lhs, mlir::Value rhs);
  /// lhs * rhs + acc; floats are rounded once.
  mlir::Value mulAdd(mlir::Value lhs, mlir::Value rhs, mlir::Value acc);
  /// Adds to each accumulator its block times `operand`. With isElementwise all
  /// products of one element of `operand` follow each other, so that its
  /// register is read once.
  void
  mulAddAll(mlir::ArrayRef<std::pair<mlir::Value *, mlir::Value>> accumulators,
            mlir::Value operand);

  // Four 8x8 matrices (dnn.load_matrices), as one pair of elements of each.
  Values loadMatrices(mlir::Value shared, mlir::ValueRange indices,
                      bool isTransposed);
  void storeMatrices(mlir::ArrayRef<mlir::Value> pairs, mlir::Value shared,
                     mlir::ValueRange indices, bool isTransposed);

  /// The block of the lane that is `distance` lanes further in a warp of 32.
  /// The last lanes, which have no such lane, get their own block.
  mlir::Value getFromLane(mlir::Value block, int64_t distance);
  /// The block of the lane whose number among 32 differs in the bit `distance`.
  mlir::Value exchange(mlir::Value block, int64_t distance);

  // Fragments of mma.sync in blocks of two elements. A warp has 16 rows by 8
  // columns of f32 accumulators; operands are 16-bit floats.
  mlir::Value zeroAccumulators();
  /// `accumulators` plus `operandA` times `operandB`. Four blocks of A and two
  /// of B are a reduction of 16; two and one are a reduction of 8.
  mlir::Value multiplyMatrices(mlir::ArrayRef<mlir::Value> operandA,
                               mlir::ValueRange operandB,
                               mlir::Value accumulators);
  /// The two neighbouring accumulators of a lane in row `i` of its two rows.
  mlir::Value getRow(mlir::Value accumulators, int64_t i);
  /// The accumulators of a lane, made of their two rows.
  mlir::Value makeSums(mlir::ArrayRef<mlir::Value> rows);
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_POINTBUILDER_H
