//===- Symbols.cpp - Copies from and to variables of the program ----------===//

#include "runtime/Hip/FatBinary.h"

using namespace tessera::hip;

/// Finds the address of `bytes` bytes at `offset` of a variable of the program.
static hipError_t findInSymbol(const void *symbol, size_t bytes, size_t offset,
                               void **pointer) {
  void *address = nullptr;
  size_t size = 0;
  if (hipError_t error = findRegisteredVariable(symbol, &address, &size))
    return error;
  if (offset > size || size - offset < bytes)
    return setError(hipErrorInvalidValue,
                    "a copy of " + std::to_string(bytes) + " bytes at offset " +
                        std::to_string(offset) + " of a variable of " +
                        std::to_string(size));
  *pointer = static_cast<char *>(address) + offset;
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemcpyToSymbol(const void *symbol, const void *from,
                                         size_t bytes, size_t offset,
                                         hipMemcpyKind kind) {
  void *to;
  if (hipError_t error = findInSymbol(symbol, bytes, offset, &to))
    return error;
  return hipMemcpy(to, from, bytes, kind);
}
TESSERA_HIP_ALIAS(hipMemcpyToSymbol_spt, hipMemcpyToSymbol,
                  (const void *, const void *, size_t, size_t, hipMemcpyKind));
TESSERA_HIP hipError_t hipMemcpyToSymbolAsync(const void *symbol,
                                              const void *from, size_t bytes,
                                              size_t offset, hipMemcpyKind kind,
                                              hipStream_t stream) {
  void *to;
  if (hipError_t error = findInSymbol(symbol, bytes, offset, &to))
    return error;
  return hipMemcpyAsync(to, from, bytes, kind, stream);
}
TESSERA_HIP hipError_t hipMemcpyFromSymbol(void *to, const void *symbol,
                                           size_t bytes, size_t offset,
                                           hipMemcpyKind kind) {
  void *from;
  if (hipError_t error = findInSymbol(symbol, bytes, offset, &from))
    return error;
  return hipMemcpy(to, from, bytes, kind);
}
TESSERA_HIP_ALIAS(hipMemcpyFromSymbol_spt, hipMemcpyFromSymbol,
                  (void *, const void *, size_t, size_t, hipMemcpyKind));
TESSERA_HIP hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol,
                                                size_t bytes, size_t offset,
                                                hipMemcpyKind kind,
                                                hipStream_t stream) {
  void *from;
  if (hipError_t error = findInSymbol(symbol, bytes, offset, &from))
    return error;
  return hipMemcpyAsync(to, from, bytes, kind, stream);
}

TESSERA_HIP hipError_t hipGetSymbolAddress(void **pointer, const void *symbol) {
  if (!pointer)
    return setError(hipErrorInvalidValue);
  *pointer = nullptr;
  return findInSymbol(symbol, 0, 0, pointer);
}
TESSERA_HIP hipError_t hipGetSymbolSize(size_t *bytes, const void *symbol) {
  if (!bytes)
    return setError(hipErrorInvalidValue);
  void *address = nullptr;
  return findRegisteredVariable(symbol, &address, bytes);
}
