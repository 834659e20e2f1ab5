//===- PoolRun.cpp - One pooling on the device ----------------------------===//

#include "tools/dnn-driver/PoolRun.h"

#include <tessera/problem.h>

#include <algorithm>

using namespace tessera;
using namespace tessera::driver;

static miopenPoolingMode_t getApiMode(PoolMode mode) {
  switch (mode) {
  case PoolMode::Max:
  case PoolMode::MaxNan: // run by tesseraRunProblem()
    return miopenPoolingMax;
  case PoolMode::Average:
    return miopenPoolingAverage;
  case PoolMode::AverageInclusive:
    return miopenPoolingAverageInclusive;
  }
  __builtin_unreachable();
}

/// The API's type; any if there are no indices.
static miopenIndexType_t getApiIndexType(IndexType type) {
  switch (type) {
  case IndexType::None:
  case IndexType::U8:
    return miopenIndexUint8;
  case IndexType::U16:
    return miopenIndexUint16;
  case IndexType::U32:
    return miopenIndexUint32;
  case IndexType::U64:
    return miopenIndexUint64;
  }
  __builtin_unreachable();
}

static ErrorOr<PoolDesc> makePool(const PoolProblem &p) {
  auto desc = driver::create<PoolDesc>(miopenCreatePoolingDescriptor);
  if (!desc)
    return desc;
  const bool deep = p.hasDepth();
  const std::vector<int> window = toInts(p.window, deep),
                         pads = toInts(p.pad, deep),
                         strides = toInts(p.stride, deep);
  Status status = check(miopenSetNdPoolingDescriptor(
      desc->get(), getApiMode(p.mode), static_cast<int>(window.size()),
      window.data(), pads.data(), strides.data()));
  if (status.isOk())
    status = check(
        miopenSetPoolingIndexType(desc->get(), getApiIndexType(p.indexType)));
  if (status.isOk())
    status = check(miopenSetPoolingWorkSpaceIndexMode(
        desc->get(), p.indexMode == IndexMode::Image
                         ? miopenPoolingWorkspaceIndexImage
                         : miopenPoolingWorkspaceIndexMask));
  if (!status.isOk())
    return status;
  return desc;
}

ErrorOr<PoolRun> PoolRun::create(const GpuApi &gpu,
                                 const DriverOptions &options,
                                 const PoolProblem &problem,
                                 const PoolCase &data) {
  ErrorOr<DeviceBuffer> x = upload(gpu, data.x);
  ErrorOr<DeviceBuffer> y = upload(gpu, data.y);
  ErrorOr<DeviceBuffer> indices = upload(gpu, data.indices);
  for (const ErrorOr<DeviceBuffer> *buffer : {&x, &y, &indices})
    if (!*buffer)
      return buffer->getStatus();
  PoolRun run(gpu, options, problem,
              {std::move(*x), std::move(*y), std::move(*indices)});
  Status status = run.setDescriptors();
  // MIOpen's descriptors have the same padding at both ends, and other modes.
  const bool isOurs =
      problem.hasUnequalPads() || problem.mode == PoolMode::MaxNan;
  if (status.isOk())
    status = isOurs ? run.allocateWorkspace() : run.checkSizes();
  if (!status.isOk())
    return status;
  return run;
}

Status PoolRun::setDescriptors() {
  const PoolProblem &p = problem;
  const bool deep = p.hasDepth();
  auto newHandle = driver::create<Handle>(miopenCreate);
  auto pool = makePool(p);
  auto x =
      makeTensor(p.dataType, p.xLayout, p.xStrides, p.getInputLengths(), deep);
  auto y =
      makeTensor(p.dataType, p.yLayout, p.yStrides, p.getOutputLengths(), deep);
  for (const Status &status :
       {newHandle.getStatus(), pool.getStatus(), x.getStatus(), y.getStatus()})
    if (!status.isOk())
      return status;
  handle = std::move(*newHandle);
  poolDesc = std::move(*pool);
  xDesc = std::move(*x);
  yDesc = std::move(*y);
  return check(miopenEnableProfiling(handle.get(), options.time));
}

/// Checks that the library and the problem agree about the shape of y and the
/// size of its indices.
Status PoolRun::checkSizes() const {
  const std::vector<int> expected =
      toInts(problem.getOutputLengths(), problem.hasDepth());
  std::vector<int> actual(expected.size());
  size_t bytes = 0;
  Status status = check(miopenGetPoolingNdForwardOutputDim(
      poolDesc.get(), xDesc.get(), static_cast<int>(actual.size()),
      actual.data()));
  if (status.isOk())
    status = check(
        miopenPoolingGetWorkSpaceSizeV2(poolDesc.get(), yDesc.get(), &bytes));
  if (!status.isOk())
    return status;
  if (actual != expected)
    return internalError("the library gives the output other lengths");
  if (problem.indexType != IndexType::None &&
      bytes != buffers.indices.getByteSize())
    return internalError("the library wants " + std::to_string(bytes) +
                         " bytes for the indices");
  return Status::ok();
}

Status PoolRun::allocateWorkspace() {
  const ErrorOr<tesseraKernelInfo> info = getKernelInfo();
  if (!info)
    return info.getStatus();
  ErrorOr<DeviceBuffer> buffer =
      DeviceBuffer::allocate(gpu, info->workspaceBytes);
  if (!buffer)
    return buffer.getStatus();
  workspace.emplace(std::move(*buffer));
  return Status::ok();
}

Status PoolRun::runProblem() {
  tesseraProblemArguments arguments = TESSERA_PROBLEM_ARGUMENTS_INIT;
  arguments.x = buffers.x.get();
  arguments.y = buffers.y.get();
  arguments.indices = buffers.indices.get();
  arguments.workSpace = workspace->get();
  arguments.workSpaceSize = workspace->getByteSize();
  return check(tesseraRunProblem(
      handle.get(), problem.toNetworkConfig().c_str(), &arguments));
}

Status PoolRun::runOnce() {
  if (workspace)
    return runProblem();
  const float alpha = 1, beta = 0;
  if (problem.direction == Direction::Forward)
    return check(miopenPoolingForward(
        handle.get(), poolDesc.get(), &alpha, xDesc.get(), buffers.x.get(),
        &beta, yDesc.get(), buffers.y.get(),
        problem.indexType != IndexType::None, buffers.indices.get(),
        buffers.indices.getByteSize()));
  // x and y would only be needed where the indices are ambiguous.
  return check(miopenPoolingBackward(
      handle.get(), poolDesc.get(), &alpha, yDesc.get(), buffers.y.get(),
      yDesc.get(), buffers.y.get(), xDesc.get(), buffers.x.get(), &beta,
      xDesc.get(), buffers.x.get(), buffers.indices.get()));
}

ErrorOr<Times> PoolRun::run() {
  return measure(
      gpu, handle.get(), options.iterations, [] { return Status::ok(); },
      [&] { return runOnce(); });
}

Status PoolRun::readResults(PoolCase &data) const {
  if (problem.direction == Direction::BackwardData)
    return buffers.x.copyToHost(data.x.data(), data.x.size());
  if (Status status = buffers.y.copyToHost(data.y.data(), data.y.size());
      !status.isOk())
    return status;
  return buffers.indices.copyToHost(data.indices.data(), data.indices.size());
}

ErrorOr<tesseraKernelInfo> PoolRun::getKernelInfo() const {
  tesseraKernelInfo info{};
  info.structSize = sizeof info;
  if (Status status = check(tesseraGetProblemKernelInfo(
          handle.get(), problem.toNetworkConfig().c_str(), &info));
      !status.isOk())
    return status;
  return info;
}
