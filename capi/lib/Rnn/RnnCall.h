//===- RnnCall.h - What all calls of a network check -----------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_RNN_RNNCALL_H
#define TESSERA_CAPI_LIB_RNN_RNNCALL_H

#include "capi/lib/Rnn/RnnExecution.h"

#include <initializer_list>

namespace tessera::capi {

ErrorOr<RnnTask> makeTask(const miopenRNNDescriptor &desc, RnnSequences seqs,
                          int64_t input);

/// The descriptor of a state or of its gradient, and the memory that it
/// describes. The name begins with c or h.
struct RnnState {
  const char *name;
  const miopenTensorDescriptor *desc;
  const void *data;
};

/// Checks the states whose memory is not null. A network without a cell state
/// ignores both its descriptor and its memory.
Status checkStates(const miopenRNNDescriptor &desc, const RnnTask &task,
                   std::initializer_list<RnnState> states);

/// InvalidArgument if a buffer is too small. The workspace of inference is
/// smaller, and inference has no reserve space.
Status checkSpaces(const RnnTask &task, bool isTraining, const void *workspace,
                   size_t workspaceBytes, const void *reserve,
                   size_t reserveBytes);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_RNN_RNNCALL_H
