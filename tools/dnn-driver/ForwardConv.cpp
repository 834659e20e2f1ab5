//===- ForwardConv.cpp - One forward convolution on the device ------------===//

#include "tools/dnn-driver/ForwardConv.h"

#include <array>
#include <chrono>

using namespace tessera;
using namespace tessera::driver;

//===----------------------------------------------------------------------===//
// Descriptors and memory
//===----------------------------------------------------------------------===//

static ErrorOr<DeviceBuffer> upload(const GpuApi &gpu,
                                    const std::vector<char> &data) {
  ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, data.size());
  if (!buffer)
    return buffer;
  if (Status status = buffer->copyFromHost(data.data(), data.size());
      !status.isOk())
    return status;
  return buffer;
}

ErrorOr<ForwardConv> ForwardConv::create(const GpuApi &gpu,
                                         const DriverOptions &options,
                                         const HostTensors &tensors) {
  ErrorOr<DeviceBuffer> x = upload(gpu, tensors.x);
  ErrorOr<DeviceBuffer> w = upload(gpu, tensors.w);
  ErrorOr<DeviceBuffer> y = upload(gpu, tensors.y);
  for (const ErrorOr<DeviceBuffer> *buffer : {&x, &w, &y})
    if (!*buffer)
      return buffer->getStatus();
  ForwardConv conv(gpu, options, std::move(*x), std::move(*w), std::move(*y));
  Status status = conv.createDescriptors();
  if (status.isOk())
    status = conv.setDescriptors();
  if (status.isOk())
    status = conv.checkOutputLengths();
  if (!status.isOk())
    return status;
  return conv;
}

Status ForwardConv::createDescriptors() {
  ErrorOr<Handle> newHandle = driver::create<Handle>(miopenCreate);
  if (!newHandle)
    return newHandle.getStatus();
  handle = std::move(*newHandle);
  for (TensorDesc *desc : {&xDesc, &wDesc, &yDesc}) {
    auto created = driver::create<TensorDesc>(miopenCreateTensorDescriptor);
    if (!created)
      return created.getStatus();
    *desc = std::move(*created);
  }
  auto created = driver::create<ConvDesc>(miopenCreateConvolutionDescriptor);
  if (!created)
    return created.getStatus();
  convDesc = std::move(*created);
  return check(miopenEnableProfiling(handle.get(), options.time));
}

static miopenDataType_t getApiType(DataType type) {
  switch (type) {
  case DataType::F16:
    return miopenHalf;
  case DataType::BF16:
    return miopenBFloat16;
  default:
    return miopenFloat;
  }
}

static Status setTensor(const TensorDesc &desc, DataType type, Layout layout,
                        std::array<int64_t, 4> lengths) {
  std::array<int, 4> ints;
  for (int i = 0; i < 4; ++i)
    ints[i] = static_cast<int>(lengths[i]);
  return check(miopenSetNdTensorDescriptorWithLayout(
      desc.get(), getApiType(type),
      layout == Layout::NHWC ? miopenTensorNHWC : miopenTensorNCHW, ints.data(),
      4));
}

Status ForwardConv::setDescriptors() {
  const ConvProblem &p = options.problem;
  const Spatial out = p.getOutput();
  auto number = [](int64_t value) { return static_cast<int>(value); };
  Status status = setTensor(xDesc, p.dataType, p.xLayout,
                            {p.batch, p.inChannels, p.in.h, p.in.w});
  if (status.isOk())
    status = setTensor(
        wDesc, p.dataType, p.wLayout,
        {p.outChannels, p.inChannels / p.groups, p.filter.h, p.filter.w});
  if (status.isOk())
    status = setTensor(yDesc, p.dataType, p.yLayout,
                       {p.batch, p.outChannels, out.h, out.w});
  if (status.isOk())
    status = check(miopenInitConvolutionDescriptor(
        convDesc.get(), miopenConvolution, number(p.pad.h), number(p.pad.w),
        number(p.stride.h), number(p.stride.w), number(p.dilation.h),
        number(p.dilation.w)));
  if (status.isOk())
    status =
        check(miopenSetConvolutionGroupCount(convDesc.get(), number(p.groups)));
  return status;
}

/// The library must agree with the problem about the shape of y.
Status ForwardConv::checkOutputLengths() const {
  int n, c, h, w;
  if (Status status = check(miopenGetConvolutionForwardOutputDim(
          convDesc.get(), xDesc.get(), wDesc.get(), &n, &c, &h, &w));
      !status.isOk())
    return status;
  if (Spatial{h, w} != options.problem.getOutput())
    return internalError("the library gives an output of " + std::to_string(h) +
                         " x " + std::to_string(w));
  return Status::ok();
}

Status ForwardConv::allocateWorkspace(size_t bytes) {
  ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, bytes);
  if (!buffer)
    return buffer.getStatus();
  workspace.emplace(std::move(*buffer));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

ErrorOr<ChosenKernel> ForwardConv::choose() {
  return options.solution < 0 ? find() : chooseImmediate();
}

ErrorOr<ChosenKernel> ForwardConv::find() {
  size_t bytes = 0;
  if (Status status = check(miopenConvolutionForwardGetWorkSpaceSize(
          handle.get(), wDesc.get(), xDesc.get(), convDesc.get(), yDesc.get(),
          &bytes));
      !status.isOk())
    return status;
  if (Status status = allocateWorkspace(bytes); !status.isOk())
    return status;
  int found = 0;
  miopenConvAlgoPerf_t result;
  if (Status status = check(miopenFindConvolutionForwardAlgorithm(
          handle.get(), xDesc.get(), x.get(), wDesc.get(), w.get(),
          convDesc.get(), yDesc.get(), y.get(), 1, &found, &result,
          workspace->get(), bytes, options.search));
      !status.isOk())
    return status;
  // Find does not tell which solution it means; MIOpenDriver prints one.
  const ErrorOr<miopenConvSolution_t> solution = getBestSolution();
  if (!solution)
    return solution.getStatus();
  return ChosenKernel{false, result.fwd_algo, solution->solution_id,
                      result.memory};
}

ErrorOr<miopenConvSolution_t> ForwardConv::getBestSolution() const {
  size_t count = 0;
  miopenConvSolution_t solution;
  if (Status status = check(miopenConvolutionForwardGetSolution(
          handle.get(), wDesc.get(), xDesc.get(), convDesc.get(), yDesc.get(),
          1, &count, &solution));
      !status.isOk())
    return status;
  return solution;
}

/// The best solution for 0, else the one with that id, listed or not: the
/// library judges.
ErrorOr<ChosenKernel> ForwardConv::chooseImmediate() {
  ErrorOr<miopenConvSolution_t> solution = getBestSolution();
  if (!solution)
    return solution.getStatus();
  if (options.solution > 0)
    solution->solution_id = static_cast<uint64_t>(options.solution);
  Status status = check(miopenConvolutionForwardGetSolutionWorkspaceSize(
      handle.get(), wDesc.get(), xDesc.get(), convDesc.get(), yDesc.get(),
      solution->solution_id, &solution->workspace_size));
  if (status.isOk())
    status = allocateWorkspace(solution->workspace_size);
  if (status.isOk())
    status = check(miopenConvolutionForwardCompileSolution(
        handle.get(), wDesc.get(), xDesc.get(), convDesc.get(), yDesc.get(),
        solution->solution_id));
  if (!status.isOk())
    return status;
  return ChosenKernel{true, solution->algorithm, solution->solution_id,
                      solution->workspace_size};
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status ForwardConv::runOnce(const ChosenKernel &kernel) {
  if (kernel.isImmediate)
    return check(miopenConvolutionForwardImmediate(
        handle.get(), wDesc.get(), w.get(), xDesc.get(), x.get(),
        convDesc.get(), yDesc.get(), y.get(), workspace->get(),
        kernel.workspaceBytes, kernel.solution));
  const float alpha = 1, beta = 0;
  return check(miopenConvolutionForward(
      handle.get(), &alpha, xDesc.get(), x.get(), wDesc.get(), w.get(),
      convDesc.get(), static_cast<miopenConvFwdAlgorithm_t>(kernel.algorithm),
      &beta, yDesc.get(), y.get(), workspace->get(), kernel.workspaceBytes));
}

ErrorOr<Times> ForwardConv::run(const ChosenKernel &kernel) {
  using Clock = std::chrono::steady_clock;
  Times sum;
  int counted = 0;
  const int runs = std::max(options.iterations, 1);
  for (int i = 0; i < runs; ++i) {
    const Clock::time_point start = Clock::now();
    Status status = runOnce(kernel);
    if (status.isOk())
      status =
          gpu.check(gpu.hipStreamSynchronize(nullptr), "hipStreamSynchronize");
    const std::chrono::duration<double, std::milli> wall = Clock::now() - start;
    float kernelMs = 0;
    if (status.isOk())
      status = check(miopenGetKernelTime(handle.get(), &kernelMs));
    if (!status.isOk())
      return status;
    if (i == 0 && runs > 1)
      continue;
    sum.kernelMs += kernelMs;
    sum.wallMs += wall.count();
    ++counted;
  }
  return Times{sum.kernelMs / counted, sum.wallMs / counted};
}

Status ForwardConv::readOutput(std::vector<char> &data) const {
  return y.copyToHost(data.data(), data.size());
}

ErrorOr<tesseraKernelInfo> ForwardConv::getKernelInfo() const {
  tesseraKernelInfo info{};
  info.structSize = sizeof info;
  if (Status status = check(tesseraGetConvolutionForwardKernelInfo(
          handle.get(), xDesc.get(), wDesc.get(), convDesc.get(), yDesc.get(),
          &info));
      !status.isOk())
    return status;
  return info;
}
