//===- TorchApi.h - PyTorch's stable C ABI, by table -----------*- C++ -*--===//
//
// PyTorch promises that these functions stay, so that one library serves its
// releases from 2.10 on. They are found in the process, which has loaded
// PyTorch: nothing of it is needed to build this.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_TORCH_TORCHAPI_H
#define TESSERA_CAPI_TORCH_TORCHAPI_H

#include <cstddef>
#include <cstdint>

namespace tessera::torch {

/// PyTorch's objects.
using TensorHandle = struct Tensor *;
using ListHandle = struct List *;
using LibraryHandle = struct Library *;

/// An argument or a result of an operator: a number, a handle that the holder
/// owns or, if it is optional, null or the address of such a value in memory of
/// `new`.
using StableValue = uint64_t;

/// A function that takes the arguments of an operator from `stack` and leaves
/// its results there.
using BoxedFunction = void(StableValue *stack, uint64_t arguments,
                           uint64_t results);

/// The release whose rules we follow: 2.10.
inline constexpr uint64_t kAbiVersion = uint64_t(2) << 56 | uint64_t(10) << 48;

struct TorchApi {
#define TORCH_SYMBOL(name, parameters) int32_t(*name) parameters = nullptr;
#include "capi/torch/TorchSymbols.def"
  /// The stream on which PyTorch computes; null in a PyTorch without GPUs.
  int32_t (*getCurrentStream)(int32_t device, void **stream) = nullptr;

  /// The functions of the PyTorch in this process; null if there is none that
  /// has them all.
  static const TorchApi *get();
};

} // namespace tessera::torch

#endif // TESSERA_CAPI_TORCH_TORCHAPI_H
