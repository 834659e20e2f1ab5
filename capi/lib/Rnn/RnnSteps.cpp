//===- RnnSteps.cpp - Networks of one descriptor for each time step -------===//

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Rnn/RnnCall.h"

using namespace tessera;
using namespace tessera::capi;

static ErrorOr<RnnTask> makeTask(const miopenRNNDescriptor &desc, int steps,
                                 const miopenTensorDescriptor_t *xDesc) {
  int64_t input = 0;
  ErrorOr<RnnSequences> seqs = readSteps(desc, steps, xDesc, input);
  if (!seqs)
    return seqs.getStatus();
  return makeTask(desc, std::move(*seqs), input);
}

/// Checks the descriptors of an output against the task.
static Status checkOutput(const miopenRNNDescriptor &desc, const RnnTask &task,
                          const miopenTensorDescriptor_t *yDesc) {
  int64_t output = 0;
  const ErrorOr<RnnSequences> seqs =
      readSteps(desc, static_cast<int>(task.seqs.getSteps()), yDesc, output);
  if (!seqs)
    return seqs.getStatus().withContext("the output");
  if (seqs->rows != task.seqs.rows || output != task.net.getOutput())
    return invalidArgument("the output has other batches than the input, or "
                           "vectors of another size than " +
                           std::to_string(task.net.getOutput()));
  return Status::ok();
}

/// Checks that the weights are at least as long as the network needs.
static Status checkWeights(const miopenRNNDescriptor &desc,
                           const miopenTensorDescriptor &w, int64_t needed) {
  int64_t elements = 1;
  for (int64_t length : w.lengths)
    elements *= length;
  if (w.dataType != desc.dataType || elements < needed)
    return invalidArgument("the weights have another data type than the "
                           "network, or fewer than " +
                           std::to_string(needed) + " elements");
  return Status::ok();
}

namespace {
/// The arguments of a forward pass.
struct ForwardCall {
  miopenHandle &handle;
  const miopenRNNDescriptor &rnn;
  int steps;
  const miopenTensorDescriptor_t *xDesc, *yDesc;
  const miopenTensorDescriptor &wDesc;
  const void *x, *w;
  void *y;
  RnnState hx, cx, hy, cy;
  void *workspace, *reserve; ///< A null reserve space means inference.
  size_t workspaceBytes, reserveBytes;
};
} // namespace

static ApiResult runForward(const ForwardCall &call) {
  const ErrorOr<RnnTask> task = makeTask(call.rnn, call.steps, call.xDesc);
  if (!task)
    return task.getStatus();
  Status status = checkOutput(call.rnn, *task, call.yDesc);
  if (status.isOk())
    status = checkWeights(call.rnn, call.wDesc, task->net.getWeightElements());
  if (status.isOk())
    status = checkStates(call.rnn, *task, {call.hx, call.cx, call.hy, call.cy});
  const bool isTraining = call.reserve != nullptr;
  if (status.isOk())
    status = checkSpaces(
        *task, /*isTraining=*/isTraining, call.workspace, call.workspaceBytes,
        isTraining ? call.reserve : nullptr, call.reserveBytes);
  if (!status.isOk())
    return status;
  return RnnExecution(call.handle, *task, isTraining, call.workspace,
                      call.reserve)
      .forward(call.x, call.w, call.y, {call.hx.data, call.cx.data},
               {call.hy.data, call.cy.data});
}

namespace {
struct BackwardDataCall {
  miopenHandle &handle;
  const miopenRNNDescriptor &rnn;
  int steps;
  const miopenTensorDescriptor_t *dxDesc, *dyDesc;
  const miopenTensorDescriptor &wDesc;
  const void *dy, *w;
  void *dx;
  RnnState dhy, dcy, dhx, dcx;
  void *workspace, *reserve;
  size_t workspaceBytes, reserveBytes;
};
} // namespace

static ApiResult runBackwardData(const BackwardDataCall &call) {
  const ErrorOr<RnnTask> task = makeTask(call.rnn, call.steps, call.dxDesc);
  if (!task)
    return task.getStatus();
  Status status = checkOutput(call.rnn, *task, call.dyDesc);
  // PyTorch says here that there are biases even if there are none.
  if (status.isOk())
    status = checkWeights(call.rnn, call.wDesc, task->net.getMatrixElements());
  if (status.isOk())
    status =
        checkStates(call.rnn, *task, {call.dhy, call.dcy, call.dhx, call.dcx});
  if (status.isOk())
    status = checkSpaces(*task, /*isTraining=*/true, call.workspace,
                         call.workspaceBytes, call.reserve, call.reserveBytes);
  if (!status.isOk())
    return status;
  return RnnExecution(call.handle, *task, /*isTraining=*/true, call.workspace,
                      call.reserve)
      .backwardData(call.dy, call.w, call.dx, {call.dhy.data, call.dcy.data},
                    {call.dhx.data, call.dcx.data});
}

/// Calls `read` with the task, for functions that only count.
template <typename Read>
static ApiResult withTask(const miopenRNNDescriptor &desc, int steps,
                          const miopenTensorDescriptor_t *xDesc, Read read) {
  const ErrorOr<RnnTask> task = makeTask(desc, steps, xDesc);
  if (!task)
    return task.getStatus();
  read(*task);
  return Status::ok();
}

extern "C" {

miopenStatus_t miopenGetRNNWorkspaceSize(miopenHandle_t handle,
                                         const miopenRNNDescriptor_t rnnDesc,
                                         const int sequenceLen,
                                         const miopenTensorDescriptor_t *xDesc,
                                         size_t *numBytes) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc, numBytes), [&] {
    return withTask(*rnnDesc, sequenceLen, xDesc, [&](const RnnTask &task) {
      *numBytes = layOutWorkspace(task.net, task.getExtent(),
                                  /*isTraining=*/true, nullptr)
                      .bytes;
    });
  });
}

miopenStatus_t miopenGetRNNTrainingReserveSize(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int sequenceLen,
    const miopenTensorDescriptor_t *xDesc, size_t *numBytes) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc, numBytes), [&] {
    return withTask(*rnnDesc, sequenceLen, xDesc, [&](const RnnTask &task) {
      *numBytes = layOutReserve(task.net, task.getExtent(), nullptr).bytes;
    });
  });
}

miopenStatus_t miopenGetRNNInputTensorSize(miopenHandle_t handle,
                                           miopenRNNDescriptor_t rnnDesc,
                                           const int seqLen,
                                           miopenTensorDescriptor_t *xDesc,
                                           size_t *numBytes) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc, numBytes), [&] {
    return withTask(*rnnDesc, seqLen, xDesc, [&](const RnnTask &task) {
      const int64_t rows = task.seqs.isPacked ? task.seqs.totalRows
                                              : seqLen * task.seqs.getBatch();
      *numBytes = static_cast<size_t>(rows * task.net.input *
                                      getByteSize(task.net.type));
    });
  });
}

miopenStatus_t miopenGetRNNHiddenTensorSize(miopenHandle_t handle,
                                            miopenRNNDescriptor_t rnnDesc,
                                            const int seqLen,
                                            miopenTensorDescriptor_t *xDesc,
                                            size_t *numBytes) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc, numBytes), [&] {
    return withTask(*rnnDesc, seqLen, xDesc, [&](const RnnTask &task) {
      *numBytes = static_cast<size_t>(task.net.layers * task.seqs.getBatch() *
                                      task.net.getOutput() *
                                      getByteSize(task.net.type));
    });
  });
}

miopenStatus_t miopenRNNForwardTraining(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const int sequenceLen, const miopenTensorDescriptor_t *xDesc, const void *x,
    const miopenTensorDescriptor_t hxDesc, const void *hx,
    const miopenTensorDescriptor_t cxDesc, const void *cx,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenTensorDescriptor_t *yDesc, void *y,
    const miopenTensorDescriptor_t hyDesc, void *hy,
    const miopenTensorDescriptor_t cyDesc, void *cy, void *workSpace,
    size_t workSpaceNumBytes, void *reserveSpace, size_t reserveSpaceNumBytes) {
  return guard(__func__,
               REQUIRED(handle, rnnDesc, xDesc, x, orNull(hxDesc),
                        orNull(cxDesc), wDesc, w, yDesc, y, orNull(hyDesc),
                        orNull(cyDesc), workSpace, reserveSpace),
               [&] {
                 return runForward({*handle,
                                    *rnnDesc,
                                    sequenceLen,
                                    xDesc,
                                    yDesc,
                                    *wDesc,
                                    x,
                                    w,
                                    y,
                                    {"hx", hxDesc, hx},
                                    {"cx", cxDesc, cx},
                                    {"hy", hyDesc, hy},
                                    {"cy", cyDesc, cy},
                                    workSpace,
                                    reserveSpace,
                                    workSpaceNumBytes,
                                    reserveSpaceNumBytes});
               });
}

miopenStatus_t
miopenRNNForwardInference(miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
                          const int sequenceLen,
                          const miopenTensorDescriptor_t *xDesc, const void *x,
                          const miopenTensorDescriptor_t hxDesc, const void *hx,
                          const miopenTensorDescriptor_t cxDesc, const void *cx,
                          const miopenTensorDescriptor_t wDesc, const void *w,
                          const miopenTensorDescriptor_t *yDesc, void *y,
                          const miopenTensorDescriptor_t hyDesc, void *hy,
                          const miopenTensorDescriptor_t cyDesc, void *cy,
                          void *workSpace, size_t workSpaceNumBytes) {
  return guard(__func__,
               REQUIRED(handle, rnnDesc, xDesc, x, orNull(hxDesc),
                        orNull(cxDesc), wDesc, w, yDesc, y, orNull(hyDesc),
                        orNull(cyDesc), workSpace),
               [&] {
                 return runForward({*handle,
                                    *rnnDesc,
                                    sequenceLen,
                                    xDesc,
                                    yDesc,
                                    *wDesc,
                                    x,
                                    w,
                                    y,
                                    {"hx", hxDesc, hx},
                                    {"cx", cxDesc, cx},
                                    {"hy", hyDesc, hy},
                                    {"cy", cyDesc, cy},
                                    workSpace,
                                    nullptr,
                                    workSpaceNumBytes,
                                    0});
               });
}

miopenStatus_t miopenRNNBackwardData(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const int sequenceLen, const miopenTensorDescriptor_t *yDesc, const void *y,
    const miopenTensorDescriptor_t *dyDesc, const void *dy,
    const miopenTensorDescriptor_t dhyDesc, const void *dhy,
    const miopenTensorDescriptor_t dcyDesc, const void *dcy,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenTensorDescriptor_t hxDesc, const void *hx,
    const miopenTensorDescriptor_t cxDesc, const void *cx,
    const miopenTensorDescriptor_t *dxDesc, void *dx,
    const miopenTensorDescriptor_t dhxDesc, void *dhx,
    const miopenTensorDescriptor_t dcxDesc, void *dcx, void *workSpace,
    size_t workSpaceNumBytes, void *reserveSpace, size_t reserveSpaceNumBytes) {
  return guard(__func__,
               REQUIRED(handle, rnnDesc, dyDesc, dy, orNull(dhyDesc),
                        orNull(dcyDesc), wDesc, w, orNull(hxDesc),
                        orNull(cxDesc), dxDesc, dx, orNull(dhxDesc),
                        orNull(dcxDesc), workSpace, reserveSpace),
               [&] {
                 return runBackwardData({*handle,
                                         *rnnDesc,
                                         sequenceLen,
                                         dxDesc,
                                         dyDesc,
                                         *wDesc,
                                         dy,
                                         w,
                                         dx,
                                         {"hy", dhyDesc, dhy},
                                         {"cy", dcyDesc, dcy},
                                         {"hx", dhxDesc, dhx},
                                         {"cx", dcxDesc, dcx},
                                         workSpace,
                                         reserveSpace,
                                         workSpaceNumBytes,
                                         reserveSpaceNumBytes});
               });
}

miopenStatus_t miopenRNNBackwardWeights(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const int sequenceLen, const miopenTensorDescriptor_t *xDesc, const void *x,
    const miopenTensorDescriptor_t hxDesc, const void *hx,
    const miopenTensorDescriptor_t *yDesc, const void *y,
    const miopenTensorDescriptor_t dwDesc, void *dw, void *workSpace,
    size_t workSpaceNumBytes, const void *reserveSpace,
    size_t reserveSpaceNumBytes) {
  return guard(
      __func__,
      REQUIRED(handle, rnnDesc, xDesc, x, orNull(hxDesc), dwDesc, dw, workSpace,
               reserveSpace),
      [&]() -> ApiResult {
        const ErrorOr<RnnTask> task = makeTask(*rnnDesc, sequenceLen, xDesc);
        if (!task)
          return task.getStatus();
        Status status =
            checkWeights(*rnnDesc, *dwDesc, task->net.getWeightElements());
        if (status.isOk())
          status = checkSpaces(*task, /*isTraining=*/true, workSpace,
                               workSpaceNumBytes, reserveSpace,
                               reserveSpaceNumBytes);
        if (!status.isOk())
          return status;
        return RnnExecution(*handle, *task, /*isTraining=*/true, workSpace,
                            const_cast<void *>(reserveSpace))
            .backwardWeights(x, dw);
      });
}

} // extern "C"
