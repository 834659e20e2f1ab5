//===- FakeTorch.cpp - As much of PyTorch as its extension calls ----------===//

#include "test/unit/Support/FakeTorch.h"

using namespace tessera;
using namespace tessera::torch;

FakeTorch &FakeTorch::get() {
  static FakeTorch torch;
  return torch;
}

template <typename T>
static T *count(T *object) {
  ++FakeTorch::get().live;
  return object;
}

StableValue FakeTorch::newTensor(std::vector<int64_t> sizes, void *data) {
  std::vector<int64_t> strides(sizes.size(), 1);
  return reinterpret_cast<StableValue>(count(new Tensor{
      std::move(sizes), std::move(strides), kFakeFloat32, 0, data, true}));
}

StableValue FakeTorch::newList(std::vector<StableValue> values) {
  return reinterpret_cast<StableValue>(count(new List{std::move(values)}));
}

namespace tessera::torch {

int32_t aoti_torch_is_defined(TensorHandle tensor, bool *isDefined) {
  *isDefined = tensor->isDefined;
  return 0;
}
int32_t aoti_torch_get_dim(TensorHandle tensor, int64_t *dims) {
  *dims = static_cast<int64_t>(tensor->sizes.size());
  return 0;
}
int32_t aoti_torch_get_sizes(TensorHandle tensor, int64_t **sizes) {
  *sizes = tensor->sizes.data();
  return 0;
}
int32_t aoti_torch_get_strides(TensorHandle tensor, int64_t **strides) {
  *strides = tensor->strides.data();
  return 0;
}
int32_t aoti_torch_get_dtype(TensorHandle tensor, int32_t *type) {
  *type = tensor->type;
  return 0;
}
int32_t aoti_torch_get_device_index(TensorHandle tensor, int32_t *device) {
  *device = tensor->device;
  return 0;
}
int32_t aoti_torch_get_data_ptr(TensorHandle tensor, void **data) {
  *data = tensor->data;
  return 0;
}
/// The data of a new tensor is the tensor.
int32_t aoti_torch_empty_strided(int64_t dims, const int64_t *sizes,
                                 const int64_t *strides, int32_t type,
                                 int32_t deviceType, int32_t device,
                                 TensorHandle *tensor) {
  if (FakeTorch::get().isMemoryExhausted ||
      deviceType != aoti_torch_device_type_cuda())
    return 1;
  *tensor = count(new Tensor{
      {sizes, sizes + dims}, {strides, strides + dims}, type, device});
  (*tensor)->data = *tensor;
  return 0;
}
int32_t aoti_torch_new_tensor_handle(TensorHandle tensor, TensorHandle *copy) {
  *copy = count(new Tensor(*tensor));
  return 0;
}
int32_t aoti_torch_new_uninitialized_tensor(TensorHandle *tensor) {
  *tensor = count(new Tensor);
  (*tensor)->isDefined = false;
  return 0;
}
int32_t aoti_torch_delete_tensor_object(TensorHandle tensor) {
  --FakeTorch::get().live;
  delete tensor;
  return 0;
}

int32_t torch_new_list_reserve_size(size_t, ListHandle *list) {
  *list = count(new List);
  return 0;
}
int32_t torch_list_push_back(ListHandle list, StableValue value) {
  list->values.push_back(value);
  return 0;
}
int32_t torch_list_size(ListHandle list, size_t *size) {
  *size = list->values.size();
  return 0;
}
int32_t torch_list_get_item(ListHandle list, size_t number,
                            StableValue *value) {
  *value = list->values.at(number);
  return 0;
}
int32_t torch_delete_list(ListHandle list) {
  --FakeTorch::get().live;
  delete list;
  return 0;
}

int32_t aoti_torch_library_init_impl(const char *, const char *, const char *,
                                     uint32_t, LibraryHandle *library) {
  *library = reinterpret_cast<LibraryHandle>(&FakeTorch::get());
  return 0;
}
int32_t torch_library_impl(LibraryHandle, const char *name,
                           BoxedFunction *function, uint64_t) {
  FakeTorch::get().replaced[name] = function;
  return 0;
}
int32_t aoti_torch_delete_library_object(LibraryHandle) {
  FakeTorch::get().replaced.clear();
  return 0;
}
int32_t torch_call_dispatcher(const char *name, const char *overload,
                              StableValue *stack, uint64_t) {
  return FakeTorch::get().dispatch(name + std::string(overload), stack);
}

int32_t aoti_torch_device_type_cpu() { return 0; }
int32_t aoti_torch_device_type_cuda() { return 1; }
int32_t aoti_torch_dtype_uint8() { return kFakeUint8; }
int32_t aoti_torch_dtype_float32() { return kFakeFloat32; }
int32_t aoti_torch_get_current_device_index(int32_t *device) {
  *device = FakeTorch::get().device;
  return 0;
}

} // namespace tessera::torch
