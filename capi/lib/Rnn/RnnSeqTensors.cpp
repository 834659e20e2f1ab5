//===- RnnSeqTensors.cpp - Networks of sequence tensors -------------------===//

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Rnn/RnnCall.h"

using namespace tessera;
using namespace tessera::capi;

static ErrorOr<RnnTask> makeTask(const miopenRNNDescriptor &desc,
                                 const miopenSeqTensorDescriptor &x) {
  ErrorOr<RnnSequences> seqs = readSequences(desc, x);
  if (!seqs)
    return seqs.getStatus();
  return makeTask(desc, std::move(*seqs), x.vectorSize);
}

/// Checks an output, whose sequences must lie as those of the input.
static Status checkOutput(const RnnTask &task,
                          const miopenSeqTensorDescriptor &x,
                          const miopenSeqTensorDescriptor &y) {
  if (y.dataType != x.dataType || y.layout != x.layout ||
      y.maxLength != x.maxLength || y.lengths != x.lengths)
    return invalidArgument("input and output have different data types, "
                           "layouts or lengths");
  if (y.vectorSize != task.net.getOutput())
    return invalidArgument(
        "the output has vectors of " + std::to_string(y.vectorSize) +
        " elements, but must have " + std::to_string(task.net.getOutput()));
  return Status::ok();
}

static Status checkWeights(const RnnTask &task, size_t bytes) {
  const auto needed = static_cast<size_t>(task.net.getWeightElements() *
                                          getByteSize(task.net.type));
  if (bytes >= needed)
    return Status::ok();
  return invalidArgument("the weights have " + std::to_string(bytes) +
                         " bytes, but must have " + std::to_string(needed));
}

/// The memory of as many sequences, all as long as the longest may be.
static ApiResult getSizes(const miopenRNNDescriptor &desc,
                          const miopenSeqTensorDescriptor &x,
                          miopenRNNFWDMode_t mode, size_t *workspace,
                          size_t *reserve) {
  if (Status status = checkEnum(mode, miopenRNNInference, "forward mode");
      !status.isOk())
    return status;
  const ErrorOr<RnnTask> task = makeTask(desc, x);
  if (!task)
    return task.getStatus();
  RnnExtent extent = task->getExtent();
  const double mostRows = static_cast<double>(extent.batch) * x.maxLength;
  if (Status status = checkSize(task->net, mostRows); !status.isOk())
    return status;
  extent.rows = extent.batch * x.maxLength;
  extent.isPacked = x.layout == miopenRNNDataSeqMajorNotPadded;
  const bool isTraining = mode == miopenRNNTraining;
  setIfWanted(workspace,
              layOutWorkspace(task->net, extent, isTraining, nullptr).bytes);
  setIfWanted(reserve,
              isTraining ? layOutReserve(task->net, extent, nullptr).bytes : 0);
  return Status::ok();
}

namespace {
/// What all calls have.
struct SeqCall {
  miopenHandle &handle;
  const miopenRNNDescriptor &rnn;
  const miopenSeqTensorDescriptor &x, &y;
  size_t weightBytes;
  void *workspace;
  size_t workspaceBytes;
  const void *reserve;
  size_t reserveBytes;
  bool isTraining;
};
} // namespace

/// Checks a call and passes its execution on to `execute`.
template <typename Execute>
static ApiResult run(const SeqCall &call,
                     std::initializer_list<RnnState> states, Execute execute) {
  const ErrorOr<RnnTask> task = makeTask(call.rnn, call.x);
  if (!task)
    return task.getStatus();
  Status status = checkOutput(*task, call.x, call.y);
  if (status.isOk())
    status = checkWeights(*task, call.weightBytes);
  if (status.isOk())
    status = checkStates(call.rnn, *task, states);
  if (status.isOk())
    status = checkSpaces(*task, call.isTraining, call.workspace,
                         call.workspaceBytes, call.reserve, call.reserveBytes);
  if (!status.isOk())
    return status;
  RnnExecution execution(call.handle, *task, call.isTraining, call.workspace,
                         const_cast<void *>(call.reserve));
  return execute(execution);
}

extern "C" {

miopenStatus_t miopenGetRNNTempSpaceSizes(miopenHandle_t handle,
                                          miopenRNNDescriptor_t rnnDesc,
                                          miopenSeqTensorDescriptor_t xDesc,
                                          miopenRNNFWDMode_t fwdMode,
                                          size_t *workSpaceSize,
                                          size_t *reserveSpaceSize) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc), [&] {
    return getSizes(*rnnDesc, *xDesc, fwdMode, workSpaceSize, reserveSpaceSize);
  });
}

miopenStatus_t miopenRNNForward(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    miopenRNNFWDMode_t fwdMode, const miopenSeqTensorDescriptor_t xDesc,
    const void *x, const miopenTensorDescriptor_t hDesc, const void *hx,
    void *hy, const miopenTensorDescriptor_t cDesc, const void *cx, void *cy,
    const miopenSeqTensorDescriptor_t yDesc, void *y, const void *w,
    size_t weightSpaceSize, void *workSpace, size_t workSpaceNumBytes,
    void *reserveSpace, size_t reserveSpaceNumBytes) {
  return guard(__func__,
               REQUIRED(handle, rnnDesc, xDesc, x, orNull(hDesc), orNull(cDesc),
                        yDesc, y, w, workSpace),
               [&]() -> ApiResult {
                 if (Status status =
                         checkEnum(fwdMode, miopenRNNInference, "forward mode");
                     !status.isOk())
                   return status;
                 return run(
                     {*handle, *rnnDesc, *xDesc, *yDesc, weightSpaceSize,
                      workSpace, workSpaceNumBytes, reserveSpace,
                      reserveSpaceNumBytes, fwdMode == miopenRNNTraining},
                     {{"hx", hDesc, hx},
                      {"hy", hDesc, hy},
                      {"cx", cDesc, cx},
                      {"cy", cDesc, cy}},
                     [&](RnnExecution &execution) {
                       return execution.forward(x, w, y, {hx, cx}, {hy, cy});
                     });
               });
}

miopenStatus_t miopenRNNBackwardSeqData(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const miopenSeqTensorDescriptor_t yDesc, const void *y, const void *dy,
    const miopenTensorDescriptor_t hDesc, const void *hx, const void *dhy,
    void *dhx, const miopenTensorDescriptor_t cDesc, const void *cx,
    const void *dcy, void *dcx, const miopenSeqTensorDescriptor_t xDesc,
    void *dx, const void *w, size_t weightSpaceSize, void *workSpace,
    size_t workSpaceNumBytes, void *reserveSpace, size_t reserveSpaceNumBytes) {
  return guard(__func__,
               REQUIRED(handle, rnnDesc, yDesc, dy, orNull(hDesc),
                        orNull(cDesc), xDesc, dx, w, workSpace, reserveSpace),
               [&] {
                 return run({*handle, *rnnDesc, *xDesc, *yDesc, weightSpaceSize,
                             workSpace, workSpaceNumBytes, reserveSpace,
                             reserveSpaceNumBytes, /*isTraining=*/true},
                            {{"hy", hDesc, dhy},
                             {"hx", hDesc, dhx},
                             {"cy", cDesc, dcy},
                             {"cx", cDesc, dcx}},
                            [&](RnnExecution &execution) {
                              return execution.backwardData(
                                  dy, w, dx, {dhy, dcy}, {dhx, dcx});
                            });
               });
}

miopenStatus_t miopenRNNBackwardWeightsSeqTensor(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const miopenSeqTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t hDesc, const void *hx,
    const miopenSeqTensorDescriptor_t yDesc, const void *y, void *dw,
    size_t weightSpaceSize, void *workSpace, size_t workSpaceNumBytes,
    const void *reserveSpace, size_t reserveSpaceNumBytes) {
  return guard(__func__,
               REQUIRED(handle, rnnDesc, xDesc, x, orNull(hDesc), yDesc, dw,
                        workSpace, reserveSpace),
               [&] {
                 return run({*handle, *rnnDesc, *xDesc, *yDesc, weightSpaceSize,
                             workSpace, workSpaceNumBytes, reserveSpace,
                             reserveSpaceNumBytes, /*isTraining=*/true},
                            {}, [&](RnnExecution &execution) {
                              return execution.backwardWeights(x, dw);
                            });
               });
}

} // extern "C"
