//===- ForwardKernel.cpp - From descriptors to a loaded kernel ------------===//

#include "capi/lib/ForwardKernel.h"

#include "capi/lib/ForwardProblem.h"
#include "runtime/Base/Log.h"

using namespace tessera;
using namespace tessera::capi;

ErrorOr<const LoadedKernel *>
capi::prepareForward(miopenHandle &handle, const ForwardOperands &operands,
                     LogCommand log) {
  const ErrorOr<ConvProblem> problem =
      makeForwardProblem(operands.x, operands.w, operands.conv, operands.y);
  if (!problem)
    return problem.getStatus();
  if (log == LogCommand::Yes)
    logCommand(*problem);
  return handle.engine.prepare(*problem);
}
