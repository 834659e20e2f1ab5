//===- PoolProgram.h - What pooling programs are written in ----*- C++ -*-===//
//
// A thread of a pooling program owns some neighbouring channels of some
// neighbouring pixels. These classes let the algorithms say so once: a value is
// a scalar or a vector of channels, a tensor is accessed by meaning whatever
// its layout, and pixels that lie together in memory are moved together.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLPROGRAM_H
#define TESSERA_COMPILER_ALGORITHMS_POOLPROGRAM_H

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

  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value index(int64_t value) { return constant(b.getIndexAttr(value)); }
  mlir::Value constant(mlir::TypedAttr attr);
  /// The same number in each element of `type`, a scalar or a vector.
  mlir::Value splat(mlir::Type type, double value);
  mlir::Value splat(mlir::Type type, int64_t value);

  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);

private:
  mlir::Block *entry;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// A place in a tensor, in the order of PoolDim.
using PoolPlace = std::array<mlir::Value, 5>;

/// What a thread is given: the numbers of its block in the order of PoolDim,
/// and which parts of the windows.
struct PoolPoint {
  PoolPlace block;
  mlir::Value rowPart;    ///< Null, both,
  mlir::Value columnPart; ///< if windows are not divided.
};

/// Divides a tensor into blocks of the given sizes, in the order of PoolDim,
/// the last ones of which may overhang, and the windows into parts (of rows and
/// of columns), and gives each part of a block to a thread. Leaves `b` inside
/// the program, which is put before `op`. Lanes are neighbours along channels
/// if `channelsLast`, else along the parts of columns or the columns.
PoolPoint startPoints(mlir::OpBuilder &b, mlir::Operation *op,
                      const std::array<int64_t, 5> &sizes,
                      const std::array<int64_t, 5> &block, bool channelsLast,
                      std::array<int64_t, 2> parts = {1, 1});

/// Calls `visit` for each point of a box, the last dimension fastest.
void forEachInBox(const std::array<int64_t, 3> &sizes,
                  llvm::function_ref<void(std::array<int64_t, 3>)> visit);

/// The positions, from the first to behind the last, of the window of `output`
/// that are inside x along spatial dimension `dim`.
std::array<mlir::Value, 2> getPositionsInside(PoolBuilder &p,
                                              const PoolGeometry &geometry,
                                              int dim, mlir::Value output);

/// The best value or the sum so far of one element, and where it was found.
struct PoolReduction {
  mlir::Value value;
  mlir::Value index; ///< Null without indices.
};

/// A loop that carries a reduction, from `low` to below `high`.
PoolReduction
walkRange(PoolBuilder &p, std::array<mlir::Value, 2> range, int64_t step,
          PoolReduction so,
          llvm::function_ref<PoolReduction(mlir::Value, PoolReduction)> body);

/// The same with a step of 1, several steps at a time, so that their loads are
/// on their way together; and then the rest.
PoolReduction walkRangeAtOnce(
    PoolBuilder &p, std::array<mlir::Value, 2> range, PoolReduction so,
    llvm::function_ref<PoolReduction(mlir::Value, PoolReduction)> body);

/// A tensor of the op. `vector` channels make up each value.
class PoolTensor {
public:
  /// What was loaded; `valid` is a single bit.
  struct Loaded {
    mlir::Value value;
    mlir::Value valid;
  };

  PoolTensor(mlir::Value memref, dnn::Layout layout,
             const PoolTensorShape &shape, int64_t vector);

  mlir::Type getElementType() const { return type.getElementType(); }
  /// What a thread holds of one pixel: `vector` elements of `element`.
  mlir::Type getValueType(mlir::Type element) const;
  const PoolTensorShape &getShape() const { return shape; }

  /// How many of `count` neighbouring columns, the first of which is a multiple
  /// of `count`, one access moves.
  int64_t getColumnVector(int64_t count) const;

  /// Dimensions in `inside` are not checked.
  Loaded load(PoolBuilder &p, const PoolPlace &at,
              llvm::ArrayRef<PoolDim> inside = {}) const;
  /// Writes what is inside the tensor.
  void store(PoolBuilder &p, mlir::Value value, const PoolPlace &at) const;

  /// The same for neighbouring columns in one access, as getColumnVector()
  /// allows it.
  llvm::SmallVector<Loaded> loadColumns(PoolBuilder &p, const PoolPlace &at,
                                        int64_t count) const;
  void storeColumns(PoolBuilder &p, mlir::ValueRange values,
                    const PoolPlace &at) const;

  /// Stores neighbouring columns, the first of which is a multiple of their
  /// number, in as few accesses as possible.
  void storeRow(PoolBuilder &p, llvm::ArrayRef<mlir::Value> values,
                const PoolPlace &at) const;

private:
  llvm::SmallVector<mlir::Value> getCoordinates(const PoolPlace &at) const;
  mlir::DenseI64ArrayAttr getInside(PoolBuilder &p,
                                    llvm::ArrayRef<PoolDim> inside) const;
  bool movesVectors() const;

  mlir::Value memref;
  mlir::MemRefType type;
  PoolTensorShape shape;
  int64_t vector;
  /// Of each dimension of the memref.
  llvm::SmallVector<PoolDim> order;
};

/// The pixels near a thread's own, each loaded when it is first asked for.
class PoolPixels {
public:
  /// Columns are read `columns` at a time, which divides the origin's column.
  PoolPixels(const PoolTensor &tensor, const PoolPlace &origin, int64_t columns)
      : tensor(tensor), origin(origin), columns(columns) {}

  /// What is at the origin + `offset`.
  PoolTensor::Loaded read(PoolBuilder &p, std::array<int64_t, 3> offset);

private:
  const PoolTensor &tensor;
  PoolPlace origin;
  int64_t columns;
  std::map<std::array<int64_t, 3>, llvm::SmallVector<PoolTensor::Loaded>>
      loaded;
};

/// The arithmetic of one pooling on values of a thread.
class PoolMath {
public:
  /// Refers to both. `inF32`: see getComputeType().
  PoolMath(const PoolGeometry &geometry, const PoolTensor &tensor,
           bool inF32 = false)
      : geometry(geometry), tensor(tensor), element(tensor.getElementType()),
        inF32(inF32) {}

  /// Maxima of f16 are found in f16, unless it shall be f32; everything else is
  /// computed in f32.
  mlir::Type getComputeType() const;
  /// i32, or i64 where 32 bits do not number all positions or where any 64 bits
  /// may have been read.
  mlir::Type getIndexType() const;

  /// Where a maximum or a sum begins.
  mlir::Value getStart(PoolBuilder &p) const;
  /// A loaded value in the compute type; outside it can not become a maximum,
  /// and adds nothing to a sum.
  mlir::Value extend(PoolBuilder &p, PoolTensor::Loaded loaded,
                     bool mayBeOutside) const;
  /// The reverse of extend(), rounding a sum.
  mlir::Value narrow(PoolBuilder &p, mlir::Value value) const;
  /// Indices as integers of another width, unsigned.
  mlir::Value resizeIndices(PoolBuilder &p, mlir::Value indices,
                            mlir::Type to) const;
  /// What the sum over the window of `output` (depth, row, column) is
  /// multiplied by.
  mlir::Value getReciprocal(PoolBuilder &p,
                            const std::array<mlir::Value, 3> &output) const;
  /// (at[0] * sizes[1] + at[1]) * sizes[2] + at[2], as an index; of one lane.
  mlir::Value getNumber(PoolBuilder &p, const std::array<mlir::Value, 3> &at,
                        const std::array<int64_t, 3> &sizes) const;

  /// The same scalar for each channel.
  mlir::Value broadcast(PoolBuilder &p, mlir::Value scalar) const;

private:
  const PoolGeometry &geometry;
  const PoolTensor &tensor;
  mlir::Type element;
  bool inF32;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLPROGRAM_H
