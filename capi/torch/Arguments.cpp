//===- Arguments.cpp - Reads and releases arguments -----------------------===//

#include "capi/torch/Arguments.h"

using namespace tessera::torch;

template <typename T>
static T toHandle(StableValue value) {
  return reinterpret_cast<T>(value);
}

/// Stands for what is not there. No number of dimensions is this.
static constexpr int64_t kNone = -1;

static void addList(ListHandle list, Key &key) {
  const TorchApi &api = *TorchApi::get();
  size_t size = 0;
  api.torch_list_size(list, &size);
  key.add(static_cast<int64_t>(size));
  for (size_t i = 0; i < size; ++i) {
    StableValue value = 0;
    api.torch_list_get_item(list, i, &value);
    key.add(static_cast<int64_t>(value));
  }
}

void Arguments::addTensor(TensorHandle tensor, int number, Key &key) {
  const TorchApi &api = *TorchApi::get();
  bool isDefined = false;
  api.aoti_torch_is_defined(tensor, &isDefined);
  if (!isDefined)
    return key.add(kNone);
  tensors[number] = tensor;
  int64_t dims = 0, *sizes = nullptr, *strides = nullptr;
  int32_t type = 0, device = 0;
  api.aoti_torch_get_dim(tensor, &dims);
  api.aoti_torch_get_sizes(tensor, &sizes);
  api.aoti_torch_get_strides(tensor, &strides);
  api.aoti_torch_get_dtype(tensor, &type);
  api.aoti_torch_get_device_index(tensor, &device);
  key.add(dims);
  key.add(type);
  key.add(device);
  for (int64_t dim = 0; dim < dims; ++dim) {
    key.add(sizes[dim]);
    key.add(strides[dim]);
  }
}

Arguments::Arguments(const std::string &kinds, StableValue *stack, Key &key)
    : kinds(kinds), stack(stack) {
  for (size_t i = 0; i < kinds.size(); ++i) {
    const auto *optional = toHandle<const StableValue *>(stack[i]);
    switch (Kind{kinds[i]}) {
    case Kind::Tensor:
      addTensor(toHandle<TensorHandle>(stack[i]), i, key);
      break;
    case Kind::OptionalTensor:
      if (optional)
        addTensor(toHandle<TensorHandle>(*optional), i, key);
      else
        key.add(kNone);
      break;
    case Kind::Number:
      key.add(static_cast<int64_t>(stack[i]));
      break;
    case Kind::OptionalNumber:
      key.add(optional != nullptr);
      key.add(optional ? static_cast<int64_t>(*optional) : 0);
      break;
    case Kind::List:
      addList(toHandle<ListHandle>(stack[i]), key);
      break;
    case Kind::IgnoredNumber:
    case Kind::IgnoredOptionalList:
      break;
    }
  }
}

void Arguments::release() {
  const TorchApi &api = *TorchApi::get();
  for (size_t i = 0; i < kinds.size(); ++i) {
    const auto *optional = toHandle<const StableValue *>(stack[i]);
    switch (Kind{kinds[i]}) {
    case Kind::Tensor:
      api.aoti_torch_delete_tensor_object(toHandle<TensorHandle>(stack[i]));
      break;
    case Kind::OptionalTensor:
      if (optional)
        api.aoti_torch_delete_tensor_object(toHandle<TensorHandle>(*optional));
      delete optional;
      break;
    case Kind::OptionalNumber:
      delete optional;
      break;
    case Kind::List:
      api.torch_delete_list(toHandle<ListHandle>(stack[i]));
      break;
    case Kind::IgnoredOptionalList:
      if (optional)
        api.torch_delete_list(toHandle<ListHandle>(*optional));
      delete optional;
      break;
    case Kind::Number:
    case Kind::IgnoredNumber:
      break;
    }
  }
}
