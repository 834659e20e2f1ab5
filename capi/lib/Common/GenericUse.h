//===- GenericUse.h - Whether kernels for unknown sizes serve --*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_COMMON_GENERICUSE_H
#define TESSERA_CAPI_LIB_COMMON_GENERICUSE_H

namespace tessera::capi {

/// Whether the environment forbids kernels for unknown sizes.
bool areGenericKernelsForbidden();

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_COMMON_GENERICUSE_H
