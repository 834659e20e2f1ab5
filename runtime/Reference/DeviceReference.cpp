//===- DeviceReference.cpp - What a problem should give, by the device ----===//

#include "runtime/Reference/DeviceReference.h"

#include "runtime/Gpu/DeviceBuffer.h"
#include "runtime/Reference/Arguments.h"
#include "runtime/Reference/Source.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::ondevice;

/// The same as in Reference.hip.
static constexpr int64_t kGroupSize = 256;
/// More groups than any device runs at a time; beyond that, each thread
/// computes several elements.
static constexpr int64_t kMaxGroups = 1 << 16;

template <typename Five>
static Extents toExtents(const Five &five) {
  return {five.n, five.c, five.d, five.h, five.w};
}

template <typename Three>
static Spatials toSpatials(const Three &three) {
  return {three.d, three.h, three.w};
}

/// The definitions for Reference.hip; none if it does not read the type.
static std::vector<std::string> getElementOptions(DataType type) {
  auto float8 = [](int fraction, int bias, int largest) {
    return std::vector<std::string>{
        "-DELEMENT_FLOAT8=" + std::to_string(fraction),
        "-DFLOAT8_BIAS=" + std::to_string(bias),
        "-DFLOAT8_LARGEST=" + std::to_string(largest)};
  };
  switch (type) {
  case DataType::F16:
    return {"-DELEMENT_F16"};
  case DataType::BF16:
    return {"-DELEMENT_BF16"};
  case DataType::F32:
    return {"-DELEMENT_F32"};
  case DataType::F64:
    return {"-DELEMENT_F64"};
  case DataType::I8:
    return {"-DELEMENT_I8"};
  case DataType::E4M3FNUZ:
    return float8(3, 8, 0x7f);
  case DataType::E5M2FNUZ:
    return float8(2, 16, 0x7f);
  case DataType::E4M3FN:
    return float8(3, 7, 0x7e);
  case DataType::E5M2:
    return float8(2, 15, 0x7b);
  case DataType::I32:
  case DataType::I64:
    break;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

ErrorOr<DeviceReference> DeviceReference::create(const GpuApi &gpu) {
  ErrorOr<RuntimeCompilerPtr> compiler = findRuntimeCompiler(gpu.getKind());
  if (!compiler)
    return compiler.getStatus();
  return create(gpu, std::move(*compiler));
}

ErrorOr<DeviceReference> DeviceReference::create(const GpuApi &gpu,
                                                 RuntimeCompilerPtr compiler) {
  ErrorOr<std::string> architecture = gpu.getArchitecture();
  if (!architecture)
    return architecture.getStatus();
  return DeviceReference(gpu, std::move(compiler), std::move(*architecture));
}

ErrorOr<hipFunction_t> DeviceReference::getKernel(DataType type,
                                                  const char *name) {
  auto found = modules.find(type);
  if (found == modules.end()) {
    const std::vector<std::string> options = getElementOptions(type);
    if (options.empty())
      return notSupported("the device's reference reads no " +
                          std::string(getName(type)));
    ErrorOr<std::vector<char>> code =
        compiler->compile(getReferenceSource(), architecture, options);
    if (!code)
      return code.getStatus();
    ErrorOr<Module> module = Module::load(gpu, *code);
    if (!module)
      return module.getStatus();
    found = modules.emplace(type, std::move(*module)).first;
  }
  return found->second.getFunction(name);
}

/// Copies the buffer's content to the host.
template <typename T>
static Status read(const DeviceBuffer &buffer, std::vector<T> &into) {
  into.resize(buffer.getByteSize() / sizeof(T));
  return buffer.copyToHost(into.data(), buffer.getByteSize());
}

template <typename Arguments>
ErrorOr<ReferenceSums> DeviceReference::run(DataType type, const char *name,
                                            int64_t elements, bool hasIndices,
                                            Arguments &arguments) {
  ErrorOr<hipFunction_t> kernel = getKernel(type, name);
  const size_t bytes = elements * sizeof(double);
  auto values = DeviceBuffer::allocate(gpu, bytes);
  auto magnitudes = DeviceBuffer::allocate(gpu, bytes);
  auto indices = DeviceBuffer::allocate(gpu, hasIndices ? bytes : 0);
  for (const Status &status : {kernel.getStatus(), values.getStatus(),
                               magnitudes.getStatus(), indices.getStatus()})
    if (!status.isOk())
      return status;
  const int64_t groups =
      std::min((elements + kGroupSize - 1) / kGroupSize, kMaxGroups);
  arguments.results = {static_cast<double *>(values->get()),
                       static_cast<double *>(magnitudes->get()),
                       static_cast<unsigned long long *>(indices->get()),
                       groups * kGroupSize};
  void *pointers[] = {&arguments};
  Status status = gpu.check(
      gpu.hipModuleLaunchKernel(*kernel, static_cast<unsigned>(groups), 1, 1,
                                static_cast<unsigned>(kGroupSize), 1, 1, 0,
                                nullptr, pointers, nullptr),
      "launching a reference kernel");
  if (status.isOk())
    status = gpu.check(gpu.hipDeviceSynchronize(), "a reference kernel");
  ReferenceSums sums;
  if (status.isOk())
    status = read(*values, sums.values);
  if (status.isOk())
    status = read(*magnitudes, sums.magnitudes);
  if (status.isOk())
    status = read(*indices, sums.indices);
  if (!status.isOk())
    return status;
  return sums;
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// Copies `host` to the device, unless the tensor is the result.
static ErrorOr<DeviceBuffer> copyInput(const GpuApi &gpu, bool isResult,
                                       const std::vector<char> &host) {
  ErrorOr<DeviceBuffer> buffer =
      DeviceBuffer::allocate(gpu, isResult ? 0 : host.size());
  if (!buffer || isResult)
    return buffer;
  if (Status status = buffer->copyFromHost(host.data(), host.size());
      !status.isOk())
    return status;
  return buffer;
}

static const char *getKernelName(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return "convForward";
  case Direction::BackwardData:
    return "convBackwardData";
  case Direction::BackwardWeights:
    return "convBackwardWeights";
  }
  __builtin_unreachable();
}

ErrorOr<ReferenceSums> DeviceReference::evaluate(const ConvProblem &problem,
                                                 const std::vector<char> &x,
                                                 const std::vector<char> &w,
                                                 const std::vector<char> &y) {
  const Direction direction = problem.direction;
  auto deviceX = copyInput(gpu, direction == Direction::BackwardData, x);
  auto deviceW = copyInput(gpu, direction == Direction::BackwardWeights, w);
  auto deviceY = copyInput(gpu, direction == Direction::Forward, y);
  for (const ErrorOr<DeviceBuffer> *buffer : {&deviceX, &deviceW, &deviceY})
    if (!*buffer)
      return buffer->getStatus();
  ConvArguments arguments{};
  arguments.x = deviceX->get();
  arguments.w = deviceW->get();
  arguments.y = deviceY->get();
  arguments.xLengths = toExtents(problem.getInputLengths());
  arguments.wLengths = toExtents(problem.getFilterLengths());
  arguments.yLengths = toExtents(problem.getOutputLengths());
  arguments.xStrides = toExtents(problem.getInputStrides());
  arguments.wStrides = toExtents(problem.getFilterStrides());
  arguments.yStrides = toExtents(problem.getOutputStrides());
  arguments.pad = toSpatials(problem.pad);
  arguments.stride = toSpatials(problem.stride);
  arguments.dilation = toSpatials(problem.dilation);
  arguments.groups = problem.groups;
  return run(problem.dataType, getKernelName(direction),
             problem.getResultLengths().getElements(), false, arguments);
}

ErrorOr<ReferenceSums> DeviceReference::evaluate(
    const PoolProblem &problem, const std::vector<char> &x,
    const std::vector<char> &y, const std::vector<char> &indices) {
  const bool isForward = problem.direction == Direction::Forward;
  const bool isMax = isMaximum(problem.mode);
  auto deviceX = copyInput(gpu, !isForward, x);
  auto deviceY = copyInput(gpu, isForward, y);
  auto deviceIndices = copyInput(gpu, isForward || !isMax, indices);
  for (const ErrorOr<DeviceBuffer> *buffer :
       {&deviceX, &deviceY, &deviceIndices})
    if (!*buffer)
      return buffer->getStatus();
  PoolArguments arguments{};
  arguments.x = deviceX->get();
  arguments.y = deviceY->get();
  arguments.indices = deviceIndices->get();
  arguments.indexBytes = getByteSize(problem.indexType);
  arguments.xLengths = toExtents(problem.getInputLengths());
  arguments.yLengths = toExtents(problem.getOutputLengths());
  arguments.xStrides = toExtents(problem.getInputStrides());
  arguments.yStrides = toExtents(problem.getOutputStrides());
  // Indices are packed in the layout of y, or as NCHW where y has strides.
  arguments.indexStrides = toExtents(getPackedStrides(
      problem.yLayout == Layout::NHWC ? Layout::NHWC : Layout::NCHW,
      problem.getOutputLengths()));
  arguments.window = toSpatials(problem.window);
  arguments.pad = toSpatials(problem.pad);
  arguments.stride = toSpatials(problem.stride);
  arguments.isMax = isMax;
  arguments.choosesNan = problem.mode == PoolMode::MaxNan;
  arguments.countsPadding = problem.mode == PoolMode::AverageInclusive;
  arguments.indexesImage = problem.indexMode == IndexMode::Image;
  return run(
      problem.dataType, isForward ? "poolForward" : "poolBackward",
      (isForward ? problem.getOutputLengths() : problem.getInputLengths())
          .getElements(),
      isForward && isMax, arguments);
}
