//===- ConvRun.cpp - One convolution on the device ------------------------===//

#include "tools/dnn-driver/ConvRun.h"
#include "runtime/Reference/ReferenceShape.h"

#include <tessera/problem.h>

#include <algorithm>

using namespace tessera;
using namespace tessera::driver;

Direction driver::getApiDirection(const ConvProblem &problem,
                                  bool isTransposed) {
  if (!isTransposed || problem.direction == Direction::BackwardWeights)
    return problem.direction;
  return problem.direction == Direction::Forward ? Direction::BackwardData
                                                 : Direction::Forward;
}

/// Whether a function of MIOpen computes the problem: they have no alpha and
/// beta in 3-D, and its descriptors have the same padding at both ends.
static bool hasFunction(const ConvProblem &problem) {
  const Epilogue &e = problem.epilogue;
  if (problem.hasUnequalPads())
    return false;
  if (e.isEmpty())
    return true;
  return problem.hasDepth() && e.alpha && !e.bias && !e.residual &&
         !e.hasChannelResults() && e.activation == Activation::None;
}

//===----------------------------------------------------------------------===//
// Descriptors and memory
//===----------------------------------------------------------------------===//

ErrorOr<ConvRun> ConvRun::create(const GpuApi &gpu,
                                 const DriverOptions &options,
                                 const ConvProblem &problem,
                                 const ConvCase &data) {
  ErrorOr<DeviceBuffer> x = upload(gpu, data.x);
  ErrorOr<DeviceBuffer> w = upload(gpu, data.w);
  ErrorOr<DeviceBuffer> y = upload(gpu, data.y);
  ErrorOr<DeviceBuffer> bias = upload(gpu, data.bias);
  ErrorOr<DeviceBuffer> residual = upload(gpu, data.residual);
  ErrorOr<DeviceBuffer> mean = upload(gpu, data.mean);
  ErrorOr<DeviceBuffer> variance = upload(gpu, data.variance);
  for (const ErrorOr<DeviceBuffer> *buffer :
       {&x, &w, &y, &bias, &residual, &mean, &variance})
    if (!*buffer)
      return buffer->getStatus();
  std::vector<DeviceBuffer> norm;
  for (const std::vector<char> &tensor : data.normTensors) {
    ErrorOr<DeviceBuffer> buffer = upload(gpu, tensor);
    if (!buffer)
      return buffer.getStatus();
    norm.push_back(std::move(*buffer));
  }
  ConvRun run(gpu, options, problem, data,
              {std::move(*x), std::move(*w), std::move(*y), std::move(*bias),
               std::move(*residual), std::move(*mean), std::move(*variance),
               std::move(norm)});
  Status status = run.setDescriptors();
  if (status.isOk())
    status = run.checkOutputLengths();
  if (!status.isOk())
    return status;
  return run;
}

static ErrorOr<ConvDesc> makeConv(const ConvProblem &p, bool isTransposed) {
  auto desc = driver::create<ConvDesc>(miopenCreateConvolutionDescriptor);
  if (!desc)
    return desc;
  const std::vector<int> pads = toInts(p.pad, p.hasDepth()),
                         strides = toInts(p.stride, p.hasDepth()),
                         dilations = toInts(p.dilation, p.hasDepth());
  Status status = check(miopenInitConvolutionNdDescriptor(
      desc->get(), static_cast<int>(pads.size()), pads.data(), strides.data(),
      dilations.data(), isTransposed ? miopenTranspose : miopenConvolution));
  if (status.isOk())
    status = check(miopenSetConvolutionGroupCount(desc->get(),
                                                  static_cast<int>(p.groups)));
  if (status.isOk() && p.allowsTf32())
    status = check(miopenSetConvolutionAttribute(
        desc->get(), MIOPEN_CONVOLUTION_ATTRIB_MATH_TYPE, miopenMathDefault));
  if (status.isOk() && p.forbidsWinograd)
    status = check(miopenSetConvolutionAttribute(
        desc->get(), TESSERA_CONVOLUTION_ATTRIB_WINOGRAD, 0));
  if (!status.isOk())
    return status;
  return desc;
}

Status ConvRun::setDescriptors() {
  const ConvProblem &p = problem;
  const bool deep = p.hasDepth();
  auto newHandle = driver::create<Handle>(miopenCreate);
  auto conv = makeConv(p, options.isTransposed);
  auto x = makeTensor(getTypeOf(p, Direction::BackwardData), p.xLayout,
                      p.xStrides, p.getInputLengths(), deep);
  auto w = makeTensor(getTypeOf(p, Direction::BackwardWeights), p.wLayout,
                      p.wStrides, p.getFilterLengths(), deep);
  auto y = makeTensor(getTypeOf(p, Direction::Forward), p.yLayout, p.yStrides,
                      p.getOutputLengths(), deep);
  for (const Status &status : {newHandle.getStatus(), conv.getStatus(),
                               x.getStatus(), w.getStatus(), y.getStatus()})
    if (!status.isOk())
      return status;
  handle = std::move(*newHandle);
  convDesc = std::move(*conv);
  xDesc = std::move(*x);
  wDesc = std::move(*w);
  yDesc = std::move(*y);
  operands = {{xDesc.get(), buffers.x.get()},
              {wDesc.get(), buffers.w.get()},
              {yDesc.get(), buffers.y.get()}};
  if (options.isTransposed) {
    std::swap(operands.x, operands.y);
    if (Status status = setOutputPads(); !status.isOk())
      return status;
  }
  return check(miopenEnableProfiling(handle.get(), options.time));
}

/// Sets the output padding: the difference between the result of the transposed
/// convolution and the formula without output padding.
Status ConvRun::setOutputPads() {
  const ConvProblem &p = problem;
  if (p.hasUnequalPads()) // No descriptor says these.
    return Status::ok();
  const Spatial out = p.getOutput();
  Pads adjust;
  auto set = [&](int64_t Spatial::*at, int64_t Pads::*pad) {
    adjust.*pad =
        p.in.*at - (p.stride.*at * (out.*at - 1) + 1 +
                    p.dilation.*at * (p.filter.*at - 1) - 2 * (p.pad.*pad));
  };
  set(&Spatial::d, &Pads::d);
  set(&Spatial::h, &Pads::h);
  set(&Spatial::w, &Pads::w);
  const std::vector<int> pads = toInts(adjust, p.hasDepth());
  return check(miopenSetTransposeConvNdOutputPadding(
      convDesc.get(), static_cast<int>(pads.size()), pads.data()));
}

/// Checks that the library and the problem agree about the shape of y, if a
/// descriptor can say its padding.
Status ConvRun::checkOutputLengths() const {
  if (problem.hasUnequalPads())
    return Status::ok();
  std::array<int, 5> actual;
  int rank = 0;
  if (Status status = check(miopenGetConvolutionNdForwardOutputDim(
          convDesc.get(), operands.x.desc, operands.w.desc, &rank,
          actual.data()));
      !status.isOk())
    return status;
  const TensorLengths l = options.isTransposed ? problem.getInputLengths()
                                               : problem.getOutputLengths();
  const std::vector<int> expected = toInts(l, problem.hasDepth());
  if (!std::equal(expected.begin(), expected.end(), actual.begin(),
                  actual.begin() + rank))
    return internalError("the library gives the output other lengths");
  return Status::ok();
}

Status ConvRun::allocateWorkspace(size_t bytes) {
  ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, bytes);
  if (!buffer)
    return buffer.getStatus();
  workspace.emplace(std::move(*buffer));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

ErrorOr<ChosenKernel> ConvRun::choose() {
  if (!hasFunction(problem))
    return chooseProblem();
  return options.solution < 0 ? find() : chooseImmediate();
}

ErrorOr<ChosenKernel> ConvRun::find() {
  const ConvApi api(direction, handle.get(), convDesc.get(), operands);
  size_t bytes = 0;
  if (Status status = api.getWorkspaceSize(bytes); !status.isOk())
    return status;
  // MIOpen has no query for an epilogue, whose kernel may need a larger
  // workspace.
  if (!problem.epilogue.isEmpty()) {
    const ErrorOr<tesseraKernelInfo> info = getKernelInfo();
    if (!info)
      return info.getStatus();
    bytes = std::max<size_t>(bytes, info->workspaceBytes);
  }
  if (Status status = allocateWorkspace(bytes); !status.isOk())
    return status;
  miopenConvAlgoPerf_t result;
  if (Status status =
          api.find({workspace->get(), bytes}, options.search, result);
      !status.isOk())
    return status;
  // Find does not return the solution's id, which MIOpenDriver prints.
  const ErrorOr<miopenConvSolution_t> solution = getBestSolution();
  if (!solution)
    return solution.getStatus();
  return ChosenKernel{ChosenKernel::Way::Find, result.fwd_algo,
                      solution->solution_id, bytes};
}

ErrorOr<miopenConvSolution_t> ConvRun::getBestSolution() const {
  miopenConvSolution_t solution;
  if (Status status = ConvApi(direction, handle.get(), convDesc.get(), operands)
                          .getBestSolution(solution);
      !status.isOk())
    return status;
  return solution;
}

/// Chooses the best solution for 0, else the one with that id. The library
/// decides whether the id is valid, even if it is not in the list.
ErrorOr<ChosenKernel> ConvRun::chooseImmediate() {
  if (!problem.epilogue.isEmpty())
    return notSupported("immediate mode has no alpha and beta; use --solution "
                        "-1");
  ErrorOr<miopenConvSolution_t> solution = getBestSolution();
  if (!solution)
    return solution.getStatus();
  if (options.solution > 0)
    solution->solution_id = static_cast<uint64_t>(options.solution);
  const ConvApi api(direction, handle.get(), convDesc.get(), operands);
  Status status = api.getSolutionWorkspaceSize(solution->solution_id,
                                               solution->workspace_size);
  if (status.isOk())
    status = allocateWorkspace(solution->workspace_size);
  if (status.isOk())
    status = api.compileSolution(solution->solution_id);
  if (!status.isOk())
    return status;
  return ChosenKernel{ChosenKernel::Way::Immediate, solution->algorithm,
                      solution->solution_id, solution->workspace_size};
}

ErrorOr<ChosenKernel> ConvRun::chooseProblem() {
  const ErrorOr<tesseraKernelInfo> info = getKernelInfo();
  if (!info)
    return info.getStatus();
  if (Status status = allocateWorkspace(info->workspaceBytes); !status.isOk())
    return status;
  return ChosenKernel{ChosenKernel::Way::Problem, 0, 0, info->workspaceBytes};
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// tesseraRunProblem() accepts the values of every epilogue.
Status ConvRun::runProblem(const ChosenKernel &kernel) {
  tesseraProblemArguments arguments = TESSERA_PROBLEM_ARGUMENTS_INIT;
  arguments.x = buffers.x.get();
  arguments.w = buffers.w.get();
  arguments.y = buffers.y.get();
  arguments.bias = buffers.bias.get();
  arguments.residual = buffers.residual.get();
  arguments.mean = buffers.mean.get();
  arguments.variance = buffers.variance.get();
  for (size_t i = 0; i < buffers.norm.size(); ++i)
    arguments.tensors[i] = buffers.norm[i].get();
  arguments.workSpace = workspace->get();
  arguments.workSpaceSize = kernel.workspaceBytes;
  arguments.alpha = data.alpha;
  arguments.beta = data.beta;
  arguments.activAlpha = data.activAlpha;
  arguments.activBeta = data.activBeta;
  arguments.activGamma = data.activGamma;
  return check(tesseraRunProblem(
      handle.get(), problem.toNetworkConfig().c_str(), &arguments));
}

Status ConvRun::runOnce(const ChosenKernel &kernel) {
  const ConvApi api(direction, handle.get(), convDesc.get(), operands);
  const Workspace space{workspace->get(), kernel.workspaceBytes};
  const float alpha = static_cast<float>(data.alpha),
              beta = static_cast<float>(data.beta);
  const bool isDouble = problem.dataType == DataType::F64;
  auto pointTo = [isDouble](const double &wide, const float &narrow) {
    return isDouble ? static_cast<const void *>(&wide) : &narrow;
  };
  switch (kernel.way) {
  case ChosenKernel::Way::Find:
    return api.execute(kernel.algorithm, pointTo(data.alpha, alpha),
                       pointTo(data.beta, beta), space);
  case ChosenKernel::Way::Immediate:
    return api.runSolution(kernel.solution, space);
  case ChosenKernel::Way::Problem:
    return runProblem(kernel);
  }
  __builtin_unreachable();
}

ErrorOr<Times> ConvRun::run(const ChosenKernel &kernel) {
  return measure(
      gpu, handle.get(), options.iterations,
      [&]() -> Status {
        // Every run starts from the same memory, because beta reads it.
        const std::vector<char> &old = data.getResult();
        return getResultBuffer().copyFromHost(old.data(), old.size());
      },
      [&] { return runOnce(kernel); });
}

const DeviceBuffer &ConvRun::getResultBuffer() const {
  switch (problem.direction) {
  case Direction::Forward:
    return buffers.y;
  case Direction::BackwardData:
    return buffers.x;
  case Direction::BackwardWeights:
    return buffers.w;
  }
  __builtin_unreachable();
}

Status ConvRun::readResults(ConvCase &results) const {
  auto read = [](const DeviceBuffer &buffer, std::vector<char> &host) {
    return buffer.copyToHost(host.data(), host.size());
  };
  Status status = read(getResultBuffer(), results.getResult());
  for (KernelArg arg : results.getChannelResults()) {
    const DeviceBuffer &buffer =
        arg == KernelArg::Mean ? buffers.mean
        : arg == KernelArg::Variance
            ? buffers.variance
            : buffers.norm[getOffset(arg, KernelArg::Tensor0)];
    if (status.isOk())
      status = read(buffer, *results.findTensor(arg));
  }
  return status;
}

ErrorOr<tesseraKernelInfo> ConvRun::getKernelInfo() const {
  tesseraKernelInfo info{};
  info.structSize = sizeof info;
  if (Status status = check(tesseraGetProblemKernelInfo(
          handle.get(), problem.toNetworkConfig().c_str(), &info));
      !status.isOk())
    return status;
  return info;
}
