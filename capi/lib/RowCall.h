//===- RowCall.h - One call of a primitive on rows -------------*- C++ -*-===//
//
// What all these primitives do between the checks of their own arguments and
// the launch: descriptors to a problem, problem to a loaded kernel, launch.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_ROWCALL_H
#define TESSERA_CAPI_LIB_ROWCALL_H

#include "capi/lib/ErrorGuard.h"
#include "capi/lib/HandleState.h"
#include "capi/lib/TensorDescriptor.h"
#include "runtime/Base/RowOp.h"

#include <span>

namespace tessera::capi {

/// NotSupported for a type that no kernel on rows has.
ErrorOr<DataType> getRowType(miopenDataType_t type);

/// A problem under construction, with its launch. Tensors are added in the
/// order of the operation: inputs, row outputs, outputs. The first thing that
/// is wrong is kept until run().
class RowCall {
public:
  using Strides = std::array<int64_t, kMaxRowRank>;

  /// `lengths` of the space; bit i of `reduced`: dimension i is.
  RowCall(RowOp op, uint32_t mode, std::span<const int64_t> lengths,
          uint32_t reduced = 0);

  /// A tensor of the space's rank. A length of 1 where the space has more: the
  /// same element all along that dimension.
  void addInput(const miopenTensorDescriptor &tensor, const void *memory);
  void addRowOutput(const miopenTensorDescriptor &tensor, void *memory);
  void addOutput(const miopenTensorDescriptor &tensor, void *memory);
  /// A tensor with these strides.
  void add(RowRole role, miopenDataType_t type, const Strides &strides,
           const void *memory);
  void addScalar(double value);

  /// Prepares the kernel, and launches it. It waits for nothing but a compile.
  ApiResult run(miopenHandle &handle);

private:
  void add(RowRole role, const miopenTensorDescriptor &tensor,
           const void *memory);
  void fail(Status next);

  RowProblem problem;
  LaunchArgs args;
  int scalarCount = 0;
  Status status = Status::ok();
};

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_ROWCALL_H
