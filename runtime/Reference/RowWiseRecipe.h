//===- RowWiseRecipe.h - What row-wise operations look like ----*- C++ -*--===//
//
// For code that makes data or problems of an operation without implementing it:
// which tensors it has, in which dimensions their elements differ, and which
// numbers are meaningful (a variance is positive).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_ROWWISERECIPE_H
#define TESSERA_RUNTIME_REFERENCE_ROWWISERECIPE_H

#include "runtime/Base/RowWiseKind.h"

#include <span>
#include <vector>

namespace tessera {

/// In which dimensions a tensor may have a nonzero stride.
enum class RowExtent {
  Full,    ///< all
  Row,     ///< those that are not reduced
  Element, ///< those that are reduced
  Any,     ///< all or some, the same in all tensors of this kind
};

/// Which types a tensor may have.
enum class RowTypes {
  Data,      ///< the type of the first tensor
  Parameter, ///< the same, or f32
  Float,     ///< f32, or f64 if the data are f64
  Index,     ///< i32 or i64
};

struct RowTensorRecipe {
  RowRole role = RowRole::Input;
  RowExtent extent = RowExtent::Full;
  RowTypes types = RowTypes::Data;
  /// The range of the numbers, for an input.
  double least = -4;
  double most = 4;
};

/// One form of an operation. An operation with optional tensors has several
/// forms.
struct RowWiseRecipe {
  RowWiseKind op{};
  bool reduces = false;
  std::vector<uint32_t> modes;
  std::vector<RowTensorRecipe> tensors;
  /// The least and the greatest value of each scalar.
  std::vector<std::array<double, 2>> scalars;
  /// The types of the data; empty means f16, bf16, f32 and f64.
  std::vector<DataType> types = {};
};

/// Recipes for all operations, at least one for each.
std::span<const RowWiseRecipe> getRowRecipes();

/// Returns the recipe that `problem` matches, or null.
const RowWiseRecipe *findRowRecipe(const RowWiseProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_ROWWISERECIPE_H
