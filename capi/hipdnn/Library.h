//===- Library.h - The library that runs the problems ----------*- C++ -*--===//

#ifndef TESSERA_CAPI_HIPDNN_LIBRARY_H
#define TESSERA_CAPI_HIPDNN_LIBRARY_H

#include "runtime/Base/ErrorOr.h"

#include <tessera/problem.h>

namespace tessera::hipdnn {

/// The functions of the library that the plugin calls. It is opened by its
/// path, and not linked: a process with hipDNN may have AMD's MIOpen, too,
/// whose file has the same soname, and the loader would take that one for ours.
struct Library {
  decltype(&miopenCreateWithStream) create;
  decltype(&miopenDestroy) destroy;
  decltype(&miopenSetStream) setStream;
  decltype(&tesseraGetProblemKernelInfo) getInfo;
  decltype(&tesseraRunProblem) run;
  decltype(&tesseraSaveKernel) saveKernel;
  decltype(&tesseraLoadKernel) loadKernel;
  decltype(&tesseraGetLastErrorMessage) getMessage;
};

/// The library that belongs to this plugin, opened by the first call. Any
/// thread may call this.
const ErrorOr<Library> &getLibrary();

} // namespace tessera::hipdnn

#endif // TESSERA_CAPI_HIPDNN_LIBRARY_H
