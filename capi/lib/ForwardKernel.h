//===- ForwardKernel.h - From descriptors to a loaded kernel ---*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_FORWARDKERNEL_H
#define TESSERA_CAPI_LIB_FORWARDKERNEL_H

#include "capi/lib/ConvolutionDescriptor.h"
#include "capi/lib/HandleState.h"

namespace tessera::capi {

/// The descriptors of one call. Borrows all four.
struct ForwardOperands {
  const miopenTensorDescriptor &x;
  const miopenTensorDescriptor &w;
  const miopenConvolutionDescriptor &conv;
  const miopenTensorDescriptor &y;
};

/// Whether the call runs the problem, and so belongs into the log that
/// MIOPEN_ENABLE_LOGGING_CMD asks for.
enum class LogCommand { No, Yes };

/// The kernel for y = conv(x, w), loaded on the device: found in memory, in
/// the database, or compiled. A hit in memory allocates nothing.
ErrorOr<const LoadedKernel *> prepareForward(miopenHandle &handle,
                                             const ForwardOperands &operands,
                                             LogCommand log = LogCommand::No);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FORWARDKERNEL_H
