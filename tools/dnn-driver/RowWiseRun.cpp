//===- RowWiseRun.cpp - One operation on rows on the device ---------------===//

#include "tools/dnn-driver/RowWiseRun.h"

#include "dialect/Reference/Tensor.h"
#include "runtime/Reference/ReferenceShape.h"
#include "runtime/Reference/RowWiseRecipe.h"

#include <tessera/problem.h>

#include <algorithm>

using namespace tessera;
using namespace tessera::driver;

static ErrorOr<miopenDataType_t> getApiType(DataType type) {
  switch (type) {
  case DataType::F16:
    return miopenHalf;
  case DataType::BF16:
    return miopenBFloat16;
  case DataType::F32:
    return miopenFloat;
  case DataType::I32: // The type of indices.
    return miopenInt32;
  default:
    return notSupported("dnn-driver runs operations of f16, bf16 and f32");
  }
}

/// Makes a descriptor with the space's rank, of length 1 where the tensor is
/// broadcast.
static ErrorOr<TensorDesc> makeDesc(const RowWiseProblem &p,
                                    const RowTensor &tensor) {
  const ErrorOr<miopenDataType_t> type = getApiType(tensor.type);
  if (!type)
    return type.getStatus();
  auto desc = driver::create<TensorDesc>(miopenCreateTensorDescriptor);
  if (!desc)
    return desc;
  std::vector<size_t> lengths, strides;
  for (int dim = 0; dim < p.rank; ++dim) {
    const bool isOne = tensor.strides[dim] == 0;
    lengths.push_back(isOne ? 1 : p.lengths[dim]);
    strides.push_back(isOne ? 1 : tensor.strides[dim]);
  }
  if (Status status = check(miopenSetTensorDescriptorV2(
          desc->get(), *type, p.rank, lengths.data(), strides.data()));
      !status.isOk())
    return status;
  return desc;
}

ErrorOr<RowWiseRun> RowWiseRun::create(const GpuApi &gpu,
                                       const DriverOptions &options,
                                       const RowWiseProblem &problem,
                                       uint64_t seed) {
  if (!findRowRecipe(problem))
    return notSupported("dnn-driver has no data for the operation " +
                        std::string(getName(problem.op)));
  RowWiseRun run(gpu, options, problem, seed);
  for (size_t i = 0; i < options.scalars.size() && i < run.data.scalars.size();
       ++i)
    run.data.scalars[i] = static_cast<float>(options.scalars[i]);
  Status status = run.upload();
  if (status.isOk())
    status = run.setDescriptors();
  if (!status.isOk())
    return status;
  return run;
}

Status RowWiseRun::upload() {
  for (const std::vector<char> &tensor : data.tensors) {
    ErrorOr<DeviceBuffer> buffer = driver::upload(gpu, tensor);
    if (!buffer)
      return buffer.getStatus();
    buffers.push_back(std::move(*buffer));
  }
  return Status::ok();
}

Status RowWiseRun::setDescriptors() {
  for (const RowTensor &tensor : problem.getTensors()) {
    ErrorOr<TensorDesc> desc = makeDesc(problem, tensor);
    if (!desc)
      return desc.getStatus();
    descs.push_back(std::move(*desc));
  }
  auto newHandle = driver::create<Handle>(miopenCreate);
  auto newActivation =
      driver::create<ActivationDesc>(miopenCreateActivationDescriptor);
  if (!newHandle || !newActivation)
    return newHandle ? newActivation.getStatus() : newHandle.getStatus();
  handle = std::move(*newHandle);
  activation = std::move(*newActivation);
  return check(miopenEnableProfiling(handle.get(), options.time));
}

/// The input that is the old value of the result after it, or -1.
static int getOld(const RowWiseProblem &problem) {
  switch (problem.op) {
  case RowWiseKind::ScaleTensor:
    return 0;
  case RowWiseKind::SoftmaxForward:
    return problem.tensorCount == 3 ? 1 : -1;
  case RowWiseKind::Reduce:
    return problem.tensors[1].role == RowRole::Input ? 1 : -1;
  case RowWiseKind::OpTensor:
  case RowWiseKind::SoftmaxBackward:
    return problem.tensorCount == 4 ? 2 : -1;
  default:
    return -1;
  }
}

/// Uploads the inputs. Where the API expects the old value of a result in the
/// result's memory, the case has it as an input.
Status RowWiseRun::reset() {
  const int old = getOld(problem);
  if (old < 0)
    return Status::ok();
  return buffers[old + 1].copyFromHost(data.tensors[old].data(),
                                       data.tensors[old].size());
}

Status RowWiseRun::runActivation() {
  const float alpha = 1, beta = 0;
  Status status = check(miopenSetActivationDescriptor(
      activation.get(), static_cast<miopenActivationMode_t>(problem.mode),
      data.scalars[0], data.scalars[1], data.scalars[2]));
  if (!status.isOk())
    return status;
  auto desc = [&](int i) { return descs[i].get(); };
  auto at = [&](int i) { return buffers[i].get(); };
  if (problem.op == RowWiseKind::ActivationForward)
    return check(miopenActivationForward(handle.get(), activation.get(), &alpha,
                                         desc(0), at(0), &beta, desc(1),
                                         at(1)));
  return check(miopenActivationBackward(handle.get(), activation.get(), &alpha,
                                        desc(1), at(1), desc(2), at(2), desc(0),
                                        at(0), &beta, desc(3), at(3)));
}

Status RowWiseRun::runOpTensor() {
  const auto alpha1 = static_cast<float>(data.scalars[0]),
             alpha2 = static_cast<float>(data.scalars[1]);
  const float beta =
      problem.tensorCount == 4 ? static_cast<float>(data.scalars[2]) : 0;
  const int c = problem.tensorCount - 1;
  return check(miopenOpTensor(
      handle.get(), static_cast<miopenTensorOp_t>(problem.mode), &alpha1,
      descs[0].get(), buffers[0].get(), &alpha2, descs[1].get(),
      buffers[1].get(), &beta, descs[c].get(), buffers[c].get()));
}

/// Runs set or scale, which take a number of the tensor's type.
Status RowWiseRun::runOnOne() {
  char number[8];
  reference::storeElement(getReferenceType(problem.tensors.front().type),
                          number, 0, data.scalars[0]);
  // The verification must use the rounded number that the call gets.
  data.scalars[0] = reference::loadElement(
      getReferenceType(problem.tensors.front().type), number, 0);
  auto call = problem.op == RowWiseKind::SetTensor ? miopenSetTensor
                                                   : miopenScaleTensor;
  return check(
      call(handle.get(), descs.back().get(), buffers.back().get(), number));
}

/// Whether the reduced dimension can be the channels of the API.
static bool isOverChannels(const RowWiseProblem &p) {
  return p.reduced == 1 || p.reduced == 2;
}

/// Makes a descriptor whose channels are the reduced dimension.
static ErrorOr<TensorDesc> makeSoftmaxDesc(const RowWiseProblem &p,
                                           const RowTensor &tensor) {
  std::vector<size_t> lengths, strides;
  auto add = [&](int64_t length, int64_t stride) {
    lengths.push_back(length);
    strides.push_back(std::max<int64_t>(stride, 1));
  };
  if (p.isReduced(0))
    add(1, 1);
  for (int dim = 0; dim < p.rank; ++dim)
    add(p.lengths[dim], tensor.strides[dim]);
  const ErrorOr<miopenDataType_t> type = getApiType(tensor.type);
  auto desc = driver::create<TensorDesc>(miopenCreateTensorDescriptor);
  if (!type || !desc)
    return type ? desc.getStatus() : type.getStatus();
  if (Status status = check(miopenSetTensorDescriptorV2(
          desc->get(), *type, static_cast<int>(lengths.size()), lengths.data(),
          strides.data()));
      !status.isOk())
    return status;
  return desc;
}

Status RowWiseRun::runSoftmax() {
  std::vector<TensorDesc> shapes;
  for (const RowTensor &tensor : problem.getTensors()) {
    ErrorOr<TensorDesc> shape = makeSoftmaxDesc(problem, tensor);
    if (!shape)
      return shape.getStatus();
    shapes.push_back(std::move(*shape));
  }
  const int last = problem.tensorCount - 1;
  const auto alpha = static_cast<float>(data.scalars[0]);
  const float beta =
      getOld(problem) < 0 ? 0 : static_cast<float>(data.scalars[1]);
  const auto algorithm = static_cast<miopenSoftmaxAlgorithm_t>(problem.mode);
  auto desc = [&](int i) { return shapes[i].get(); };
  auto at = [&](int i) { return buffers[i].get(); };
  if (problem.op == RowWiseKind::SoftmaxForward)
    return check(miopenSoftmaxForward_V2(handle.get(), &alpha, desc(0), at(0),
                                         &beta, desc(last), at(last), algorithm,
                                         MIOPEN_SOFTMAX_MODE_CHANNEL));
  return check(miopenSoftmaxBackward_V2(
      handle.get(), &alpha, desc(0), at(0), desc(1), at(1), &beta, desc(last),
      at(last), algorithm, MIOPEN_SOFTMAX_MODE_CHANNEL));
}

/// Bits of modes that miopenReduceTensor() lacks.
static constexpr uint32_t kOtherReductions = 96;

Status RowWiseRun::runReduce() {
  constexpr uint32_t kOp = 7, kKeepsNan = 8, kHasIndices = 16;
  auto reduction =
      driver::create<ReduceDesc>(miopenCreateReduceTensorDescriptor);
  if (!reduction)
    return reduction.getStatus();
  const bool hasIndices = problem.mode & kHasIndices;
  Status status = check(miopenSetReduceTensorDescriptor(
      reduction->get(), static_cast<miopenReduceTensorOp_t>(problem.mode & kOp),
      miopenFloat,
      problem.mode & kKeepsNan ? MIOPEN_PROPAGATE_NAN
                               : MIOPEN_NOT_PROPAGATE_NAN,
      hasIndices ? MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES
                 : MIOPEN_REDUCE_TENSOR_NO_INDICES,
      MIOPEN_32BIT_INDICES));
  if (!status.isOk())
    return status;
  const int c = problem.tensorCount - (hasIndices ? 2 : 1);
  const auto alpha = static_cast<float>(data.scalars[0]);
  const float beta =
      getOld(problem) < 0 ? 0 : static_cast<float>(data.scalars[1]);
  return check(miopenReduceTensor(handle.get(), reduction->get(),
                                  hasIndices ? buffers.back().get() : nullptr,
                                  hasIndices ? data.tensors.back().size() : 0,
                                  nullptr, 0, &alpha, descs[0].get(),
                                  buffers[0].get(), &beta, descs[c].get(),
                                  buffers[c].get()));
}

Status RowWiseRun::runOnce() {
  switch (problem.op) {
  case RowWiseKind::ActivationForward:
  case RowWiseKind::ActivationBackward:
    return runActivation();
  case RowWiseKind::OpTensor:
    return runOpTensor();
  case RowWiseKind::SetTensor:
  case RowWiseKind::ScaleTensor:
    return runOnOne();
  case RowWiseKind::SoftmaxForward:
  case RowWiseKind::SoftmaxBackward:
    return isOverChannels(problem) ? runSoftmax() : runByName();
  case RowWiseKind::Reduce:
    return problem.mode & kOtherReductions ? runByName() : runReduce();
  default:
    return runByName();
  }
}

Status RowWiseRun::runByName() {
  tesseraProblemArguments arguments = TESSERA_PROBLEM_ARGUMENTS_INIT;
  for (size_t i = 0; i < buffers.size(); ++i)
    arguments.tensors[i] = buffers[i].get();
  for (size_t i = 0; i < data.scalars.size(); ++i)
    arguments.scalars[i] = data.scalars[i];
  arguments.workSpace = workspace->get();
  arguments.workSpaceSize = workspace->getByteSize();
  return check(tesseraRunProblem(
      handle.get(), problem.toNetworkConfig().c_str(), &arguments));
}

ErrorOr<Times> RowWiseRun::run() {
  const ErrorOr<tesseraKernelInfo> info = getKernelInfo();
  if (!info)
    return info.getStatus();
  ErrorOr<DeviceBuffer> buffer =
      DeviceBuffer::allocate(gpu, info->workspaceBytes);
  if (!buffer)
    return buffer.getStatus();
  workspace.emplace(std::move(*buffer));
  return measure(
      gpu, handle.get(), options.iterations, [&] { return reset(); },
      [&] { return runOnce(); });
}

ErrorOr<std::string> RowWiseRun::verify() {
  for (int i = 0; i < problem.tensorCount; ++i)
    if (problem.tensors[i].role != RowRole::Input)
      if (Status status = buffers[i].copyToHost(data.tensors[i].data(),
                                                data.tensors[i].size());
          !status.isOk())
        return status;
  constexpr int64_t kAll = 1 << 22, kSample = 1 << 20;
  return data.check(problem.getElements() > kAll ? kSample : 0, seed);
}

ErrorOr<tesseraKernelInfo> RowWiseRun::getKernelInfo() const {
  tesseraKernelInfo info{};
  info.structSize = sizeof info;
  if (Status status = check(tesseraGetProblemKernelInfo(
          handle.get(), problem.toNetworkConfig().c_str(), &info));
      !status.isOk())
    return status;
  return info;
}
