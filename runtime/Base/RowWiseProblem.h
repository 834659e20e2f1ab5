//===- RowWiseProblem.h - Element-wise, reducing, normalising --*- C++ -*--===//
//
// A RowWiseProblem is what is neither convolution nor pooling: rows of elements
// are reduced to a few numbers, and each element is mapped with them
// (docs/design/0015-row-wise.md). Activations, softmax, batch norm and
// reductions are such problems; docs/spec/row-wise.md says what each operation
// computes of which tensors.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_ROWWISEPROBLEM_H
#define TESSERA_RUNTIME_BASE_ROWWISEPROBLEM_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/KernelArg.h"
#include "runtime/Base/ProblemTypes.h"

#include <array>
#include <span>
#include <string>

namespace tessera {

enum class RowWiseKind : uint8_t; // RowWiseKind.h

enum class RowRole : uint8_t {
  Input,
  RowOutput, ///< One element for each row.
  Output,    ///< One for each element of the space.
};

inline constexpr int kMaxRowRank = 5;

/// A tensor of the space. A stride of 0 broadcasts one element along that
/// dimension.
struct RowTensor {
  DataType type = DataType::F32;
  RowRole role = RowRole::Input;
  std::array<int64_t, kMaxRowRank> strides{};

  friend bool operator==(const RowTensor &, const RowTensor &) = default;
};

/// A row-wise operation on a space. Plain data; entries beyond `rank` and
/// `tensorCount` are as constructed.
struct RowWiseProblem {
  RowWiseKind op{};
  /// The variant of the operation, which defines what the bits mean.
  uint32_t mode = 0;
  int rank = 1;
  std::array<int64_t, kMaxRowRank> lengths{1, 1, 1, 1, 1};
  /// Bit i: dimension i is reduced.
  uint32_t reduced = 0;
  int tensorCount = 0;
  /// Inputs, then row outputs, then outputs.
  std::array<RowTensor, kMaxTensors> tensors{};

  friend bool operator==(const RowWiseProblem &,
                         const RowWiseProblem &) = default;

  bool isReduced(int dim) const { return reduced >> dim & 1; }
  std::span<const RowTensor> getTensors() const {
    return {tensors.data(), static_cast<size_t>(tensorCount)};
  }
  int64_t getElements() const;  ///< Elements of the space.
  int64_t getRowLength() const; ///< 1 if nothing is reduced.
  /// The number of elements from the first one of a tensor to the last one,
  /// both included.
  int64_t getSpan(int tensor) const;

  /// Returns InvalidArgument with the first rule that is broken, else ok.
  Status verify() const;

  /// See ConvProblem::canonicalize(). Dimensions of length 1 are left out,
  /// those that are contiguous are merged, and, unless the operation numbers
  /// its elements, dimensions are ordered by their strides.
  RowWiseProblem canonicalize() const;

  /// The network config, e.g.
  /// "rowwise-softmax_fwd-m2-64x1000x49-r1-i:f32:49000:49:1-o:f32:49000:49:1":
  /// mode, lengths, reduced dimensions ("r0,2"; "r" if none), and of each
  /// tensor role (i, r, o), type and strides.
  std::string toNetworkConfig() const;
};

std::string_view getName(RowWiseKind op);
std::string_view getName(RowRole role);

/// Whether the operation uses dnn.row_index or dnn.element_index, so that the
/// order of its dimensions has a meaning.
bool numbersElements(const RowWiseProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_ROWWISEPROBLEM_H
