//===- FakeTorch.h - As much of PyTorch as its extension calls -*- C++ -*--===//
//
// libtorch_cpu.so and libtorch_cuda.so of our own, for tests of capi/torch on
// machines without PyTorch. Values have owners, as in PyTorch: what is left or
// freed twice is counted.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_FAKETORCH_H
#define TESSERA_TEST_UNIT_SUPPORT_FAKETORCH_H

#include "capi/torch/TorchApi.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace tessera::torch {
extern "C" {
#define TORCH_SYMBOL(name, parameters) int32_t name parameters;
#include "capi/torch/TorchSymbols.def"
}

struct Tensor {
  std::vector<int64_t> sizes, strides;
  int32_t type = 0, device = 0;
  void *data = nullptr;
  bool isDefined = true;
};
struct List {
  std::vector<StableValue> values;
};
} // namespace tessera::torch

namespace tessera {

inline constexpr int32_t kFakeFloat32 = 6, kFakeUint8 = 0;

struct FakeTorch {
  int32_t device = 0;             ///< The current one.
  void *stream = nullptr;         ///< The current one.
  bool isMemoryExhausted = false; ///< No tensor can be made.
  int live = 0;                   ///< Tensors and lists that were not freed.
  std::map<std::string, torch::BoxedFunction *> replaced;
  /// Answers torch_call_dispatcher(): the name, and the stack, whose arguments
  /// it owns. Returns whether it failed.
  std::function<int32_t(const std::string &, torch::StableValue *)> dispatch;

  /// The one of the process.
  static FakeTorch &get();

  /// The value of a new object, which its receiver owns. Tensors are on
  /// device 0.
  torch::StableValue newTensor(std::vector<int64_t> sizes, void *data);
  torch::StableValue newList(std::vector<torch::StableValue> values);
};

} // namespace tessera

#pragma GCC visibility pop

#endif // TESSERA_TEST_UNIT_SUPPORT_FAKETORCH_H
