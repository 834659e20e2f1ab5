//===- Pooling.cpp - Running miopen/pooling.h -----------------------------===//
//
// Both directions have the steps of a convolution: make a problem from the
// descriptors, get a loaded kernel, and launch it. Where MIOpen returns
// UnknownError, these functions do too, but with a message.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Pooling/PoolingDescriptor.h"
#include "capi/lib/Tensor/VectorLayout.h"
#include "runtime/Base/Log.h"
#include "runtime/DriverCommand/LogCommand.h"

#include <string>

using namespace tessera;
using namespace tessera::capi;

namespace {
/// A call in either direction; in backward, x and y stand for dx and dy. Refers
/// to the client's objects.
struct PoolingCall {
  miopenHandle &handle;
  const miopenPoolingDescriptor &pool;
  const OtherWords x, y; ///< Blocks of channels as images.
  Direction direction;
  bool wantsIndices;
};
} // namespace

static Status checkTensors(const PoolingCall &call) {
  const ErrorOr<PoolingOutput> expected =
      getPoolingOutput(call.pool, call.x.get());
  if (!expected)
    return expected.getStatus();
  if (call.x.get().dataType != call.y.get().dataType)
    return invalidArgument("x and y have different data types");
  if (call.y.get().getRank() != expected->rank)
    return invalidArgument("y has " + std::to_string(call.y.get().getRank()) +
                           " dimensions, but x has " +
                           std::to_string(expected->rank));
  for (int i = 0; i < expected->rank; ++i)
    if (call.y.get().lengths[i] != expected->lengths[i])
      return invalidArgument("length " + std::to_string(i) + " of y is " +
                             std::to_string(call.y.get().lengths[i]) +
                             ", but the pooling gives " +
                             std::to_string(expected->lengths[i]));
  return Status::ok();
}

static ErrorOr<DataType> getKernelType(miopenDataType_t type) {
  const std::optional<DataType> known = findDataType(type);
  if (known == DataType::F16 || known == DataType::BF16 ||
      known == DataType::F32)
    return *known;
  return notSupported("poolings of data type " + std::to_string(type) +
                      " are not implemented; half, bfloat16 and float are");
}

static PoolMode getMode(miopenPoolingMode_t mode) {
  switch (mode) {
  case miopenPoolingMax:
    return PoolMode::Max;
  case miopenPoolingAverage:
    return PoolMode::Average;
  case miopenPoolingAverageInclusive:
    return PoolMode::AverageInclusive;
  }
  __builtin_unreachable(); // The setters check the mode.
}

static IndexType getIndexType(miopenIndexType_t type) {
  switch (type) {
  case miopenIndexUint8:
    return IndexType::U8;
  case miopenIndexUint16:
    return IndexType::U16;
  case miopenIndexUint32:
    return IndexType::U32;
  case miopenIndexUint64:
    return IndexType::U64;
  }
  __builtin_unreachable(); // The setter checks the type.
}

/// Converts one number for each spatial dimension to `T`, Spatial or Pads.
template <typename T>
static T getLengths(const miopenPoolingDescriptor &pool,
                    const miopenPoolingDescriptor::PerDimension &numbers) {
  T lengths;
  const int depths = pool.spatialRank - 2;
  if (depths)
    lengths.d = numbers[0];
  lengths.h = numbers[depths];
  lengths.w = numbers[depths + 1];
  return lengths;
}

static Strides getStrides(const miopenTensorDescriptor &tensor) {
  const int last = tensor.getRank() - 1;
  return {.n = tensor.strides[0],
          .c = tensor.strides[1],
          .d = tensor.getRank() == 5 ? tensor.strides[2] : 1,
          .h = tensor.strides[last - 1],
          .w = tensor.strides[last]};
}

/// Makes the problem. Fails if the tensors do not fit each other or no kernel
/// has their type.
static ErrorOr<PoolProblem> makeProblem(const PoolingCall &call) {
  if (Status status = checkTensors(call); !status.isOk())
    return status;
  const ErrorOr<DataType> type = getKernelType(call.x.get().dataType);
  if (!type)
    return type.getStatus();
  const miopenPoolingDescriptor &pool = call.pool;
  const miopenTensorDescriptor &x = call.x.get();
  const int last = x.getRank() - 1;
  PoolProblem problem;
  problem.direction = call.direction;
  problem.mode = getMode(pool.mode);
  problem.dataType = *type;
  problem.xLayout = problem.yLayout = Layout::Strided;
  problem.xStrides = getStrides(x);
  problem.yStrides = getStrides(call.y.get());
  problem.batch = x.lengths[0];
  problem.channels = x.lengths[1];
  problem.in = {x.lengths[last - 1], x.lengths[last],
                x.getRank() == 5 ? x.lengths[2] : 1};
  problem.window = getLengths<Spatial>(pool, pool.window);
  problem.pad = getLengths<Pads>(pool, pool.pads);
  problem.stride = getLengths<Spatial>(pool, pool.strides);
  if (call.wantsIndices) {
    problem.indexType = getIndexType(pool.indexType);
    problem.indexMode = pool.indexMode == miopenPoolingWorkspaceIndexMask
                            ? IndexMode::Mask
                            : IndexMode::Image;
  }
  return problem.canonicalize();
}

/// UnknownError, as in MIOpen, if the index type is too small.
static ApiResult checkIndices(const PoolProblem &problem) {
  if (Status status = problem.verifyIndices(); !status.isOk())
    return {miopenStatusUnknownError, status.getMessage()};
  return Status::ok();
}

/// UnknownError, as in MIOpen, unless alpha = 1 and beta = 0. They are doubles
/// for double data, else floats.
static ApiResult checkScaling(miopenDataType_t dataType, const void *alpha,
                              const void *beta) {
  const bool isDouble = dataType == miopenDouble;
  auto read = [isDouble](const void *number) {
    return isDouble ? *static_cast<const double *>(number)
                    : *static_cast<const float *>(number);
  };
  if (read(alpha) != 1 || read(beta) != 0)
    return {miopenStatusUnknownError,
            "only alpha = 1 and beta = 0 are supported"};
  return Status::ok();
}

static ApiResult checkWorkspace(const PoolingCall &call, const void *workspace,
                                size_t bytes) {
  if (!call.wantsIndices)
    return Status::ok();
  if (!workspace)
    return {miopenStatusUnknownError,
            "workSpace is NULL, but max pooling needs it for its indices"};
  const ErrorOr<size_t> needed = getIndicesBytes(call.pool, call.y.get());
  if (!needed)
    return needed.getStatus();
  if (bytes < *needed)
    return invalidArgument("the workspace has " + std::to_string(bytes) +
                           " bytes, but the indices need " +
                           std::to_string(*needed));
  return Status::ok();
}

/// Makes the problem, prepares its kernel and launches it.
static ApiResult run(const PoolingCall &call, LaunchArgs args) {
  const ErrorOr<PoolProblem> problem = makeProblem(call);
  if (!problem)
    return problem.getStatus();
  if (ApiResult result = checkIndices(*problem);
      result.getStatus() != miopenStatusSuccess)
    return result;
  logCommand(*problem);
  const ErrorOr<const LoadedKernel *> kernel =
      call.handle.engine.prepare(*problem);
  if (!kernel)
    return kernel.getStatus();
  const ErrorOr<void *> scratch =
      call.handle.getScratch((*kernel)->getKernel().workspaceBytes);
  if (!scratch)
    return scratch.getStatus();
  args.workspace = *scratch;
  return call.handle.launch(**kernel, args);
}

extern "C" {

miopenStatus_t miopenPoolingForward(
    miopenHandle_t handle, const miopenPoolingDescriptor_t poolDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y,
    bool do_backward, void *workSpace, size_t workSpaceSize) {
  return guard(__func__,
               REQUIRED(handle, poolDesc, alpha, anyLayout(xDesc), x, beta,
                        anyLayout(yDesc), y),
               [&]() -> ApiResult {
                 const PoolingCall call{*handle,
                                        *poolDesc,
                                        OtherWords::asImages(*xDesc),
                                        OtherWords::asImages(*yDesc),
                                        Direction::Forward,
                                        do_backward &&
                                            poolDesc->mode == miopenPoolingMax};
                 ApiResult result =
                     checkScaling(call.x.get().dataType, alpha, beta);
                 if (result.getStatus() == miopenStatusSuccess)
                   result = checkWorkspace(call, workSpace, workSpaceSize);
                 if (result.getStatus() != miopenStatusSuccess)
                   return result;
                 LaunchArgs args;
                 args.x = x;
                 args.y = y;
                 args.indices = workSpace;
                 return run(call, args);
               });
}

miopenStatus_t miopenPoolingBackward(
    miopenHandle_t handle, const miopenPoolingDescriptor_t poolDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx, void *workSpace) {
  return guard(
      __func__,
      REQUIRED(handle, poolDesc, alpha, anyLayout(yDesc), anyLayout(dyDesc), dy,
               anyLayout(xDesc), beta, anyLayout(dxDesc), dx),
      [&]() -> ApiResult {
        const PoolingCall call{*handle,
                               *poolDesc,
                               OtherWords::asImages(*dxDesc),
                               OtherWords::asImages(*dyDesc),
                               Direction::BackwardData,
                               poolDesc->mode == miopenPoolingMax};
        ApiResult result = checkScaling(call.x.get().dataType, alpha, beta);
        // The client does not pass the size of the workspace.
        if (result.getStatus() == miopenStatusSuccess)
          result = checkWorkspace(call, workSpace, SIZE_MAX);
        if (result.getStatus() != miopenStatusSuccess)
          return result;
        LaunchArgs args;
        args.x = dx;
        args.y = dy;
        args.indices = workSpace;
        return run(call, args);
      });
}

} // extern "C"
