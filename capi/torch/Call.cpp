//===- Call.cpp - Carries out what was planned for a call -----------------===//

#include "capi/torch/Call.h"

#include <bit>
#include <cstring>

using namespace tessera::torch;

/// aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *,
///                       ScalarType? dtype=None) -> Tensor
static OwnedTensor sum(TensorHandle tensor, const std::vector<int64_t> &dims) {
  const TorchApi &api = *TorchApi::get();
  TensorHandle self = nullptr;
  ListHandle list = nullptr;
  if (api.aoti_torch_new_tensor_handle(tensor, &self) ||
      api.torch_new_list_reserve_size(dims.size(), &list))
    return nullptr;
  for (int64_t dim : dims)
    api.torch_list_push_back(list, static_cast<StableValue>(dim));
  StableValue stack[] = {reinterpret_cast<StableValue>(self),
                         reinterpret_cast<StableValue>(new StableValue(
                             reinterpret_cast<StableValue>(list))),
                         false, 0};
  if (api.torch_call_dispatcher("aten::sum", "dim_IntList", stack, kAbiVersion))
    return nullptr;
  return OwnedTensor(reinterpret_cast<TensorHandle>(stack[0]));
}

OwnedTensor Call::allocate(const Settings &settings, const New &wanted) const {
  const TorchApi &api = *TorchApi::get();
  TensorHandle tensor = nullptr;
  const int32_t deviceType = settings.isGpu ? api.aoti_torch_device_type_cuda()
                                            : api.aoti_torch_device_type_cpu();
  if (api.aoti_torch_empty_strided(static_cast<int64_t>(wanted.sizes.size()),
                                   wanted.sizes.data(), wanted.strides.data(),
                                   wanted.type, deviceType, device, &tensor))
    return nullptr;
  return OwnedTensor(tensor);
}

bool Call::make(const Settings &settings, const Arguments &arguments,
                NewTensors &tensors) const {
  for (size_t i = 0; i < made.size(); ++i) {
    tensors[i] = made[i].sumOf
                     ? sum(arguments.getTensor(*made[i].sumOf), made[i].sizes)
                     : allocate(settings, made[i]);
    if (!tensors[i])
      return false;
  }
  return true;
}

bool Call::launch(const Settings &settings, Launch &launch,
                  const Arguments &arguments, const NewTensors &tensors) const {
  const TorchApi &api = *TorchApi::get();
  auto *bytes = reinterpret_cast<char *>(&launch.arguments);
  for (auto [offset, number] : launch.tensors) {
    void *data = nullptr;
    api.aoti_torch_get_data_ptr(number >= 0 ? arguments.getTensor(number)
                                            : tensors[~number].get(),
                                &data);
    std::memcpy(bytes + offset, &data, sizeof data);
  }
  // PyTorch's allocator gives the memory to no other stream, so that it may be
  // freed before the kernel has run.
  OwnedTensor workspace;
  if (size_t size = launch.arguments.workSpaceSize) {
    workspace = allocate(settings, {{static_cast<int64_t>(size)},
                                    {1},
                                    api.aoti_torch_dtype_uint8(),
                                    std::nullopt});
    if (!workspace)
      return false;
    api.aoti_torch_get_data_ptr(workspace.get(), &launch.arguments.workSpace);
  }
  return settings.runProblem(handle, launch.problem.c_str(),
                             &launch.arguments) == miopenStatusSuccess;
}

bool Call::run(const Settings &settings, const Arguments &arguments,
               StableValue *values) {
  const TorchApi &api = *TorchApi::get();
  if (settings.isGpu) {
    int32_t current = 0;
    void *stream = nullptr;
    if (api.aoti_torch_get_current_device_index(&current) ||
        current != device || api.getCurrentStream(device, &stream) ||
        settings.setStream(handle, static_cast<hipStream_t>(stream)))
      return false;
  }
  NewTensors tensors;
  if (!make(settings, arguments, tensors))
    return false;
  if (scalar)
    launches.front().arguments.scalars[scalar->second] =
        std::bit_cast<double>(arguments.getValue(scalar->first));
  for (Launch &one : launches)
    if (!launch(settings, one, arguments, tensors))
      return false;
  for (int number : results) {
    TensorHandle tensor = nullptr;
    if (number == kNothing)
      api.aoti_torch_new_uninitialized_tensor(&tensor);
    else
      tensor = tensors[~number].release();
    *values++ = reinterpret_cast<StableValue>(tensor);
  }
  count.fetch_add(1, std::memory_order_relaxed);
  return true;
}
