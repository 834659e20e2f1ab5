//===- RowRecipe.h - What row-wise operations look like --------*- C++ -*-===//
//
// For code that makes data or problems of an operation without implementing it:
// which tensors it has, where their elements differ, and numbers that mean
// something to it: a variance is positive.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_ROWRECIPE_H
#define TESSERA_RUNTIME_REFERENCE_ROWRECIPE_H

#include "runtime/Base/RowOp.h"

#include <span>
#include <vector>

namespace tessera {

/// In which dimensions a tensor may have a stride.
enum class RowExtent {
  Full,    ///< In all.
  Row,     ///< In those that are not reduced.
  Element, ///< In those that are.
  Any,     ///< In all or some, alike in all tensors of this kind.
};

/// Which types a tensor may have.
enum class RowTypes {
  Data,      ///< That of the first tensor.
  Parameter, ///< The same, or f32.
  Float,     ///< f32, or f64 with data of f64.
  Index,     ///< i32 or i64.
};

struct RowTensorRecipe {
  RowRole role = RowRole::Input;
  RowExtent extent = RowExtent::Full;
  RowTypes types = RowTypes::Data;
  /// Of an input: its numbers.
  double least = -4;
  double most = 4;
};

/// One form of an operation. One with tensors that may be left out has several.
struct RowRecipe {
  RowOp op{};
  bool reduces = false;
  std::vector<uint32_t> modes;
  std::vector<RowTensorRecipe> tensors;
  /// The least and the greatest value of each scalar.
  std::vector<std::array<double, 2>> scalars;
  /// Of the first tensor; empty: f16, bf16, f32 and f64.
  std::vector<DataType> types = {};
};

/// Of every operation one or more.
std::span<const RowRecipe> getRowRecipes();

/// The one that `problem` follows, or null.
const RowRecipe *findRowRecipe(const RowProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_ROWRECIPE_H
