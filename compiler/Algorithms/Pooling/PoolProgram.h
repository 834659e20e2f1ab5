//===- PoolProgram.h - Building blocks of pooling programs -----*- C++ -*--===//
//
// A thread of a pooling program owns some neighbouring channels of some
// neighbouring pixels. These classes hide how many: a value is a scalar or a
// vector of channels, a tensor is accessed by coordinates in the order of
// PoolDim whatever its layout, and contiguous pixels are moved by one access.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLING_POOLPROGRAM_H
#define TESSERA_COMPILER_ALGORITHMS_POOLING_POOLPROGRAM_H

#include "compiler/Algorithms/Pooling/PoolGeometry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace tessera {

/// Index arithmetic, with constants made once at the start of the function.
class PoolBuilder {
public:
  PoolBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Block *entry)
      : b(b), loc(loc), entry(entry) {}
  /// For sizes of `op` that may be unknown.
  PoolBuilder(mlir::OpBuilder &b, dnn::PoolOp op)
      : b(b), loc(op.getLoc()), op(op), entry(op->getBlock()) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value index(int64_t value) { return constant(b.getIndexAttr(value)); }
  mlir::Value constant(mlir::TypedAttr attr);
  /// A constant of `type`, a scalar or a vector whose elements are all `value`.
  mlir::Value splat(mlir::Type type, double value);
  mlir::Value splat(mlir::Type type, int64_t value);

  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);

  /// The size of x or of y along a spatial dimension, 0 to 2, which is `known`
  /// if that is known.
  mlir::Value getInputSize(int dim, int64_t known);
  mlir::Value getOutputSize(int dim, int64_t known);

private:
  dnn::PoolOp op;
  mlir::Block *entry;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// The coordinates of an element of a tensor, in the order of PoolDim.
using PoolCoordinates = std::array<mlir::Value, 5>;

/// The work of a thread: its block, in units of blocks, and its split of the
/// windows.
struct PoolPoint {
  PoolCoordinates block;
  mlir::Value rowSplit; ///< Both are null if windows are not split.
  mlir::Value columnSplit;
};

/// Begins a point program before `op` and leaves `b` inside it. Each thread
/// gets one split of one block: the tensor is divided into blocks of the given
/// sizes, in the order of PoolDim, the last of which may extend beyond the
/// tensor, and the windows are split along rows and along columns. Neighbouring
/// lanes are neighbours along channels if `channelsLast`, else along the splits
/// of columns or the columns. Sizes of `memref` that are not in `sizes` are
/// unknown.
PoolPoint startPoints(mlir::OpBuilder &b, mlir::Operation *op,
                      const std::array<int64_t, 5> &sizes,
                      const std::array<int64_t, 5> &block, bool channelsLast,
                      std::array<int64_t, 2> splits = {1, 1},
                      mlir::Value memref = {}, dnn::Layout layout = {});

/// Calls `visit` with each index of an array of `sizes`, the last dimension
/// fastest.
void forEachIndex(const std::array<int64_t, 3> &sizes,
                  llvm::function_ref<void(std::array<int64_t, 3>)> visit);

/// The half-open range of positions of the window of `output` that are inside x
/// along spatial dimension `dim`. `high` is below `low` if there are none.
std::array<mlir::Value, 2> getPositionsInside(PoolBuilder &p,
                                              const PoolGeometry &geometry,
                                              int dim, mlir::Value output);

/// The maximum or the sum of the pixels so far, and where the maximum is.
struct PoolReduction {
  mlir::Value value;
  mlir::Value index; ///< Null if there are no indices.
};

/// Emits a loop over the half-open `range` that carries a reduction, which
/// begins with `partial`.
PoolReduction
reduceRange(PoolBuilder &p, std::array<mlir::Value, 2> range, int64_t step,
            PoolReduction partial,
            llvm::function_ref<PoolReduction(mlir::Value, PoolReduction)> body);

/// The same with a step of 1. The loop is unrolled so that the loads of several
/// steps are in flight together; a second loop does the remainder.
PoolReduction reduceRangeUnrolled(
    PoolBuilder &p, std::array<mlir::Value, 2> range, PoolReduction partial,
    llvm::function_ref<PoolReduction(mlir::Value, PoolReduction)> body);

/// A tensor of the op whose values have `vector` channels each.
class PoolTensor {
public:
  /// A loaded value; `valid`, an i1, says whether it is inside the tensor.
  struct Loaded {
    mlir::Value value;
    mlir::Value valid;
  };

  PoolTensor(mlir::Value memref, dnn::Layout layout,
             const PoolTensorShape &shape, int64_t vector);

  mlir::Type getElementType() const { return type.getElementType(); }
  /// The type of a thread's value of one pixel: `vector` elements of `element`.
  mlir::Type getValueType(mlir::Type element) const;
  const PoolTensorShape &getShape() const { return shape; }

  /// How many of `count` neighbouring columns, the first of which is a multiple
  /// of `count`, one access can move.
  int64_t getColumnVector(int64_t count) const;

  /// Loads the value of one pixel. The coordinates in the dimensions `inside`
  /// must be in bounds and are not checked.
  Loaded load(PoolBuilder &p, const PoolCoordinates &at,
              llvm::ArrayRef<PoolDim> inside = {}) const;
  /// Stores the value of one pixel if it is inside the tensor.
  void store(PoolBuilder &p, mlir::Value value,
             const PoolCoordinates &at) const;

  /// The same for neighbouring columns in one access; their number is one that
  /// getColumnVector() returned.
  llvm::SmallVector<Loaded>
  loadColumns(PoolBuilder &p, const PoolCoordinates &at, int64_t count) const;
  void storeColumns(PoolBuilder &p, mlir::ValueRange values,
                    const PoolCoordinates &at) const;

  /// Stores neighbouring columns, the first of which is a multiple of their
  /// number, in as few accesses as possible.
  void storeRow(PoolBuilder &p, llvm::ArrayRef<mlir::Value> values,
                const PoolCoordinates &at) const;

private:
  llvm::SmallVector<mlir::Value>
  getCoordinates(const PoolCoordinates &at) const;
  mlir::DenseI64ArrayAttr getInside(PoolBuilder &p,
                                    llvm::ArrayRef<PoolDim> inside) const;
  bool movesVectors() const;

  mlir::Value memref;
  mlir::MemRefType type;
  PoolTensorShape shape;
  int64_t vector;
  /// The meaning of each dimension of the memref.
  llvm::SmallVector<PoolDim> order;
};

/// The pixels around a thread's own, each loaded at its first use.
class PoolPixels {
public:
  /// Loads `columns` columns at a time; the origin's column is a multiple of
  /// this number.
  PoolPixels(const PoolTensor &tensor, const PoolCoordinates &origin,
             int64_t columns)
      : tensor(tensor), origin(origin), columns(columns) {}

  /// The pixel at the origin plus `offset`.
  PoolTensor::Loaded read(PoolBuilder &p, std::array<int64_t, 3> offset);

private:
  const PoolTensor &tensor;
  PoolCoordinates origin;
  int64_t columns;
  std::map<std::array<int64_t, 3>, llvm::SmallVector<PoolTensor::Loaded>>
      loaded;
};

/// The arithmetic of one pooling on values of a thread.
class PoolMath {
public:
  /// Keeps references to both. `inF32` is explained at getComputeType().
  PoolMath(const PoolGeometry &geometry, const PoolTensor &tensor,
           bool inF32 = false)
      : geometry(geometry), tensor(tensor), element(tensor.getElementType()),
        inF32(inF32) {}

  /// Maxima of f16 are computed in f16, unless `inF32`; everything else is
  /// computed in f32.
  mlir::Type getComputeType() const;
  /// i32, or i64 where 32 bits are too few for all positions, or where the
  /// caller's indices may have any 64 bits (backward).
  mlir::Type getIndexType() const;

  /// The value that a maximum or a sum begins with.
  mlir::Value getStart(PoolBuilder &p) const;
  /// Converts a loaded value to the compute type. Outside of x it becomes one
  /// that can not be a maximum; to a sum it adds zero.
  mlir::Value extend(PoolBuilder &p, PoolTensor::Loaded loaded,
                     bool mayBeOutside) const;
  /// Converts back to the element type, which rounds a sum.
  mlir::Value narrow(PoolBuilder &p, mlir::Value value) const;
  /// Converts indices, which are unsigned, to another width.
  mlir::Value resizeIndices(PoolBuilder &p, mlir::Value indices,
                            mlir::Type to) const;
  /// The factor that turns the sum over the window of `output` (depth, row,
  /// column) into an average.
  mlir::Value getReciprocal(PoolBuilder &p,
                            const std::array<mlir::Value, 3> &output) const;
  /// Returns (at[0] * sizes[1] + at[1]) * sizes[2] + at[2] in the scalar of
  /// getIndexType(). Sizes that are unknown are those of x.
  mlir::Value getLinearIndex(PoolBuilder &p,
                             const std::array<mlir::Value, 3> &at,
                             const std::array<int64_t, 3> &sizes) const;
  /// The same from one pixel of x to another.
  mlir::Value getDistance(PoolBuilder &p,
                          const std::array<int64_t, 3> &offset) const;

  /// The same scalar for each channel.
  mlir::Value broadcast(PoolBuilder &p, mlir::Value scalar) const;

private:
  const PoolGeometry &geometry;
  const PoolTensor &tensor;
  mlir::Type element;
  bool inF32;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLING_POOLPROGRAM_H
