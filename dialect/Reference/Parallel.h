//===- Parallel.h - A loop on all processors -------------------*- C++ -*--===//

#ifndef TESSERA_DIALECT_REFERENCE_PARALLEL_H
#define TESSERA_DIALECT_REFERENCE_PARALLEL_H

#include <cstdint>
#include <functional>

namespace tessera::reference {

/// Runs `body(0)` to `body(count - 1)`, in no particular order, on all
/// processors. If one of them throws, the exception is thrown to the caller
/// when no other one runs any more.
void parallelFor(int64_t count, const std::function<void(int64_t)> &body);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_PARALLEL_H
