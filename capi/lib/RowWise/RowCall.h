//===- RowCall.h - From descriptors to a launch on rows --------*- C++ -*-===//
//
// What primitives that are row problems have in common: descriptors become the
// tensors of a problem, the problem a loaded kernel, and that is launched. A
// primitive says which operation it is, its tensors and its scalars.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_ROWCALL_H
#define TESSERA_CAPI_LIB_ROWCALL_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Tensor/TensorDescriptor.h"
#include "runtime/Base/Problem.h"
#include "runtime/Base/RowOp.h"

#include <span>
#include <vector>

namespace tessera::capi {

/// Of MIOpen's data types those that row problems have, or NotSupported.
ErrorOr<DataType> getRowType(miopenDataType_t type);

/// A factor such as alpha, which is double for double data and else float.
double readFactor(miopenDataType_t dataType, const void *factor);

/// A number of the type of an element, as alpha of miopenSetTensor().
double readElement(DataType type, const void *element);

/// NotSupported unless the elements are floats.
Status checkFloat(const miopenTensorDescriptor &desc);

/// UnknownError, as MIOpen answers, unless alpha = 1 and beta = 0.
ApiResult checkFactors(miopenDataType_t dataType, const void *alpha,
                       const void *beta);

/// InvalidArgument, with both names, unless the lengths or types are equal.
Status checkSameLengths(const char *name, const miopenTensorDescriptor &desc,
                        const char *otherName,
                        const miopenTensorDescriptor &other);
Status checkSameType(const char *name, const miopenTensorDescriptor &desc,
                     const char *otherName,
                     const miopenTensorDescriptor &other);

/// One call. Tensors and scalars are added in the operation's order; what is
/// wrong with one is remembered for run(). Borrows the handle.
class RowCall {
public:
  RowCall(miopenHandle &handle, RowOp op, uint32_t mode,
          std::span<const int64_t> lengths);

  /// Dimension `dim` of the lengths is reduced.
  RowCall &reduce(int dim);

  /// A tensor of the space's rank. Where its length is 1 an input is broadcast;
  /// a row output is of length 1 where dimensions are reduced.
  RowCall &add(RowRole role, const char *name,
               const miopenTensorDescriptor &desc, const void *data);
  /// The same with strides of its own; 0 where it is broadcast.
  RowCall &add(RowRole role, const char *name, DataType type,
               std::span<const int64_t> strides, const void *data);

  RowCall &scalar(double value);
  /// Three scalars, 22 bits each, the upper ones first: a kernel that computes
  /// with f32 gets every integer exactly.
  RowCall &integer(int64_t value);

  /// The problem, or what was wrong first.
  ErrorOr<RowProblem> getProblem() const;

  /// Finds or makes the kernel.
  ErrorOr<const LoadedKernel *> prepare() const;

  /// What a launch of the kernel takes.
  LaunchArgs getArgs(void *workspace) const;

  /// Both, and launches it.
  ApiResult run() const;

  /// The two steps of run(), for operations of several launches: what scratch
  /// memory the kernel needs, and the launch with it.
  ErrorOr<size_t> getWorkspaceBytes() const;
  ApiResult run(void *workspace) const;

private:
  struct Tensor {
    const char *name;
    RowRole role;
    DataType type;
    std::vector<int64_t> strides;
    const void *data;
  };
  void fail(Status failure);
  /// Whether a dimension and the next one are one in every tensor.
  bool liesTogether(size_t dim) const;
  /// The same call with such dimensions merged, and those of length 1 left out.
  RowCall fold() const;
  Status checkAliases() const;

  miopenHandle &handle;
  RowOp op;
  uint32_t mode;
  std::vector<int64_t> lengths;
  std::vector<bool> reduced;
  std::vector<Tensor> tensors;
  std::vector<double> scalars;
  Status status; ///< The first failure.
};

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_ROWCALL_H
