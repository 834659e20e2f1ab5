//===- Extension.h - What Python calls of the extension --------*- C++ -*--===//
//
// By ctypes (tessera/_extension.py). Both are of one release, so that this is
// no API.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_TORCH_EXTENSION_H
#define TESSERA_CAPI_TORCH_EXTENSION_H

#include "capi/torch/Call.h"

#pragma GCC visibility push(default)
extern "C" {

/// Whether this PyTorch has what is needed. Called once, and first.
int tesseraTorchStart(const tessera::torch::Settings *given);

/// Replacements in a namespace that end together; null if PyTorch refuses.
tessera::torch::LibraryHandle
tesseraTorchNewReplacements(const char *space, const char *dispatchKey);
void tesseraTorchEndReplacements(tessera::torch::LibraryHandle library);

/// Answers an operator, with a Kind for each argument. Returns
/// whether it does.
int tesseraTorchReplace(tessera::torch::LibraryHandle library, const char *name,
                        const char *kinds, int asksForTf32);

/// Says why Python's answer failed, which has returned tensors all the same.
void tesseraTorchFail(const char *error);

/// A plan for the arguments that Python is answering now in this thread; null
/// if there are none, or they have one. The following add to it in order.
tessera::torch::Call *tesseraTorchNewCall(miopenHandle_t handle,
                                          int32_t device);
void tesseraTorchAddNew(tessera::torch::Call *call, int dims,
                        const int64_t *sizes, const int64_t *strides,
                        int32_t type);
void tesseraTorchAddSum(tessera::torch::Call *call, int dims,
                        const int64_t *summed, int argument);
void tesseraTorchAddLaunch(tessera::torch::Call *call, const char *problem,
                           const tesseraProblemArguments *arguments, int count,
                           const uint32_t *offsets, const int *numbers);
void tesseraTorchSetScalar(tessera::torch::Call *call, int argument,
                           int scalar);
void tesseraTorchAddResult(tessera::torch::Call *call, int number);

/// Ends a plan; from now on it is carried out here. It stays, as Python's does.
void tesseraTorchKeepCall(tessera::torch::Call *call);

/// How often a plan was carried out here.
uint64_t tesseraTorchGetCount(const tessera::torch::Call *call);

} // extern "C"
#pragma GCC visibility pop

#endif // TESSERA_CAPI_TORCH_EXTENSION_H
