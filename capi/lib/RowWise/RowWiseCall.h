//===- RowWiseCall.h - From descriptors to a row-wise launch ---*- C++ -*--===//
//
// All row-wise operations of the API are run in the same way: the descriptors
// become the tensors of a problem, the problem gets a loaded kernel, and the
// kernel is launched. A function of the API names the operation, its tensors
// and its scalars.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_ROWWISE_ROWWISECALL_H
#define TESSERA_CAPI_LIB_ROWWISE_ROWWISECALL_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Tensor/TensorDescriptor.h"
#include "runtime/Base/Problem.h"
#include "runtime/Base/RowWiseKind.h"

#include <span>
#include <vector>

namespace tessera::capi {

/// Converts a data type of MIOpen; NotSupported if row-wise problems do not
/// have it.
ErrorOr<DataType> getRowType(miopenDataType_t type);

/// Reads a scale factor such as alpha, which is a double for double data, else
/// a float.
double readFactor(miopenDataType_t dataType, const void *factor);

/// Reads a number of data type `type`, such as alpha of miopenSetTensor().
double readElement(DataType type, const void *element);

/// NotSupported unless the elements are half, bfloat16, float or double.
Status checkFloat(const miopenTensorDescriptor &desc);

/// UnknownError, as in MIOpen, unless alpha = 1 and beta = 0.
ApiResult checkFactors(miopenDataType_t dataType, const void *alpha,
                       const void *beta);

/// InvalidArgument, with both names, unless the lengths or types are equal.
Status checkSameLengths(const char *name, const miopenTensorDescriptor &desc,
                        const char *otherName,
                        const miopenTensorDescriptor &other);
Status checkSameType(const char *name, const miopenTensorDescriptor &desc,
                     const char *otherName,
                     const miopenTensorDescriptor &other);

/// A row-wise operation that is being built. Tensors and scalars are added in
/// the order of the operation; the first mistake is kept and returned by run().
/// Borrows the handle.
class RowWiseCall {
public:
  RowWiseCall(miopenHandle &handle, RowWiseKind op, uint32_t mode,
              std::span<const int64_t> lengths);

  /// Marks dimension `dim` of the lengths as reduced.
  RowWiseCall &reduce(int dim);

  /// Adds a tensor with as many dimensions as the lengths. An input is
  /// broadcast where its length is 1; a row output has length 1 where
  /// dimensions are reduced. Integers are NotSupported unless the operation has
  /// arithmetic for them.
  RowWiseCall &add(RowRole role, const char *name,
                   const miopenTensorDescriptor &desc, const void *data);
  /// Adds a tensor by its strides, of any type; a stride of 0 broadcasts it.
  RowWiseCall &add(RowRole role, const char *name, DataType type,
                   std::span<const int64_t> strides, const void *data);

  RowWiseCall &scalar(double value);
  /// Adds an integer as three scalars of 22 bits, the highest first. A kernel
  /// may compute with f32, whose 24 bits hold each of them exactly.
  RowWiseCall &integer(int64_t value);

  /// The problem, or the first mistake.
  ErrorOr<RowWiseProblem> getProblem() const;

  /// Finds or compiles the kernel.
  ErrorOr<const LoadedKernel *> prepare() const;

  /// The arguments of a launch.
  LaunchArgs getArgs(void *workspace) const;

  /// Prepares the kernel and launches it with scratch memory of the handle.
  ApiResult run() const;

  /// The two steps of run() for operations that make several launches: the size
  /// of the scratch memory that the kernel needs, and the launch with that
  /// memory.
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
  /// Whether a dimension and the next one can be merged in every tensor.
  bool canMerge(size_t dim) const;
  /// Returns the call with such dimensions merged and dimensions of length 1
  /// removed.
  RowWiseCall fold() const;
  Status checkAliases() const;

  miopenHandle &handle;
  RowWiseKind op;
  uint32_t mode;
  std::vector<int64_t> lengths;
  std::vector<bool> reduced;
  std::vector<Tensor> tensors;
  std::vector<double> scalars;
  Status status; ///< The first failure.
  /// What is valid and not implemented, which is reported after all failures.
  Status unsupported;
};

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_ROWWISE_ROWWISECALL_H
