//===- RnnCall.cpp - What all calls of a network check --------------------===//

#include "capi/lib/Rnn/RnnCall.h"

#include <string>

using namespace tessera;
using namespace tessera::capi;

ErrorOr<RnnTask> capi::makeTask(const miopenRNNDescriptor &desc,
                                RnnSequences seqs, int64_t input) {
  const ErrorOr<RnnNetwork> net = makeNetwork(desc, input);
  if (!net)
    return net.getStatus();
  const auto rows = static_cast<double>(seqs.totalRows);
  if (Status status = checkSize(*net, rows); !status.isOk())
    return status;
  const bool drops = desc.dropout && desc.dropout->rate > 0 && net->layers > 1;
  return RnnTask{*net, std::move(seqs), drops ? desc.dropout : nullptr};
}

/// Checks the type, the lengths and the strides of a state.
static Status checkState(const miopenRNNDescriptor &desc,
                         const miopenTensorDescriptor &state,
                         std::span<const int64_t, 3> lengths) {
  if (state.dataType != desc.dataType)
    return invalidArgument("its data type is not that of the network");
  int64_t stride = 1;
  for (size_t dim = state.lengths.size(); dim-- > 0;) {
    if (state.lengths[dim] != (dim < 3 ? lengths[dim] : 1))
      return invalidArgument("length " + std::to_string(dim) + " is " +
                             std::to_string(state.lengths[dim]) +
                             ", but must be " +
                             std::to_string(dim < 3 ? lengths[dim] : 1));
    if (state.lengths[dim] != 1 && state.strides[dim] != stride)
      return notSupported("states with gaps are not implemented");
    stride *= state.lengths[dim];
  }
  if (state.getRank() < 3)
    return invalidArgument("it has fewer than 3 dimensions");
  return Status::ok();
}

Status capi::checkStates(const miopenRNNDescriptor &desc, const RnnTask &task,
                         std::initializer_list<RnnState> states) {
  const int64_t expected[] = {task.net.layers * task.net.directions,
                              task.seqs.getBatch(), task.net.hidden};
  for (const RnnState &state : states) {
    if (!state.data || (state.name[0] == 'c' && !task.net.isLstm()))
      continue;
    Status status = !state.desc ? invalidArgument("its descriptor is NULL")
                                : checkState(desc, *state.desc, expected);
    if (!status.isOk())
      return status.withContext(state.name);
  }
  return Status::ok();
}

static Status checkBytes(const char *name, size_t bytes, size_t needed) {
  if (bytes >= needed)
    return Status::ok();
  return invalidArgument(std::string("the ") + name + " has " +
                         std::to_string(bytes) + " bytes, but must have " +
                         std::to_string(needed));
}

Status capi::checkSpaces(const RnnTask &task, bool isTraining,
                         const void *workspace, size_t workspaceBytes,
                         const void *reserve, size_t reserveBytes) {
  const RnnExtent extent = task.getExtent();
  if (!workspace || (isTraining && !reserve))
    return invalidArgument("the workspace or the reserve space is NULL");
  Status status =
      checkBytes("workspace", workspaceBytes,
                 layOutWorkspace(task.net, extent, isTraining, nullptr).bytes);
  if (status.isOk() && isTraining)
    status = checkBytes("reserve space", reserveBytes,
                        layOutReserve(task.net, extent, nullptr).bytes);
  return status;
}
