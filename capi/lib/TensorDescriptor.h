//===- TensorDescriptor.h - What stands behind the C handle ----*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_TENSORDESCRIPTOR_H
#define TESSERA_CAPI_LIB_TENSORDESCRIPTOR_H

#include <miopen/tensor.h>

#include <cstdint>
#include <vector>

/// Element type, lengths and strides; empty until it is set. Owned by the
/// client through its handle; any number of threads may read it at once.
struct miopenTensorDescriptor {
  miopenDataType_t dataType = miopenFloat;
  /// In the order N, C, [D,] H, W. Each at least 1, and their packed size in
  /// bytes fits in an int64_t.
  std::vector<int64_t> lengths;
  /// In elements, each at least 1; as many as there are lengths.
  std::vector<int64_t> strides;

  int getRank() const { return static_cast<int>(lengths.size()); }
};

#endif // TESSERA_CAPI_LIB_TENSORDESCRIPTOR_H
