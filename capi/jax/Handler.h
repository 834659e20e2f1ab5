//===- Handler.h - What XLA calls, and Python ------------------*- C++ -*--===//
//
// A call in a program of XLA's is one problem of the library's: its text, and
// which tensor each buffer is, are attributes that tessera/_jax_calls.py has
// set (docs/design/0034-jax.md). Python calls the rest by ctypes. Both are of
// one release, so that this is no API.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_JAX_HANDLER_H
#define TESSERA_CAPI_JAX_HANDLER_H

#include "capi/jax/XlaFfi.h"

#include <tessera/problem.h>

namespace tessera::jax {

/// What Python gives once: functions of the library and of HIP that it has
/// loaded.
struct Settings {
  int32_t isGpu; ///< Otherwise buffers are the host's, and are copied.
  decltype(tesseraRunProblem) *runProblem;
  decltype(miopenCreateWithStream) *create;
  decltype(miopenSetStream) *setStream;
  decltype(tesseraGetLastErrorMessage) *getMessage;
  int32_t (*allocate)(void **memory, size_t size);
  int32_t (*free)(void *memory);
  int32_t (*copy)(void *to, const void *from, size_t size, int32_t kind);
};

} // namespace tessera::jax

#pragma GCC visibility push(default)
extern "C" {

/// Called once, and first.
void tesseraJaxStart(const tessera::jax::Settings *given);

/// Launches the problem "problem" on the stream of the call. A letter of
/// "tensors" says for each argument and result which tensor it is: x, w, y,
/// i (indices) or s (workspace).
tessera::jax::xla::Error *tesseraJaxRun(tessera::jax::xla::CallFrame *frame);

/// How often a problem was run.
uint64_t tesseraJaxGetCount(const char *problem);

} // extern "C"
#pragma GCC visibility pop

#endif // TESSERA_CAPI_JAX_HANDLER_H
