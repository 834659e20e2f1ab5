//===- TensorDescriptor.h - A tensor descriptor ----------------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_TENSOR_TENSORDESCRIPTOR_H
#define TESSERA_CAPI_LIB_TENSOR_TENSORDESCRIPTOR_H

#include "capi/lib/Common/ObjectTag.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include <miopen/tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

/// Element type, lengths and strides; empty until it is set. Owned by the
/// client through its handle; any number of threads may read it at once.
struct miopenTensorDescriptor {
  tessera::capi::ObjectTag tag = {};
  miopenDataType_t dataType = miopenFloat;
  /// In the order N, C, [D,] H, W. Each at least 1, and their packed size in
  /// bytes fits in an int64_t.
  std::vector<int64_t> lengths;
  /// In elements, each at least 1; as many as there are lengths.
  std::vector<int64_t> strides;
  /// How many channels lie side by side in a block, 4 or 8; 1 of a layout
  /// without blocks. With blocks, lengths and strides are those of NCHW with
  /// C / vectorLength channels, and of C, H, W, N if `hasBatchLast`, as MIOpen
  /// reports them; the tensor is packed.
  int vectorLength = 1;
  bool hasBatchLast = false;
  /// The type that elements are converted to before they are multiplied, if one
  /// was set.
  std::optional<miopenDataType_t> castType;

  bool hasVectors() const { return vectorLength > 1; }
  int getRank() const { return static_cast<int>(lengths.size()); }
};

namespace tessera::capi {

/// Bytes of an element; 0 for a value that is no data type.
int64_t getElementBytes(int dataType);

/// The number of bytes from the first element to the end of the last one.
ErrorOr<size_t> getTensorBytes(const miopenTensorDescriptor &tensor);

/// Converts a miopenDataType_t; nothing for a value that is no data type.
std::optional<DataType> findDataType(int dataType);

/// InvalidArgument for a value that is no data type.
Status checkDataType(miopenDataType_t dataType);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_TENSOR_TENSORDESCRIPTOR_H
