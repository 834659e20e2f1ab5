//===- Arguments.h - The arguments of a call of PyTorch's ------*- C++ -*--===//

#ifndef TESSERA_CAPI_TORCH_ARGUMENTS_H
#define TESSERA_CAPI_TORCH_ARGUMENTS_H

#include "capi/torch/TorchApi.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>

namespace tessera::torch {

inline constexpr size_t kMaxArguments = 16;

struct DeleteTensor {
  void operator()(Tensor *tensor) const {
    TorchApi::get()->aoti_torch_delete_tensor_object(tensor);
  }
};
using OwnedTensor = std::unique_ptr<Tensor, DeleteTensor>;

/// The numbers by which a call is known: those that its plan depends on.
class Key {
public:
  void add(int64_t word) {
    if (count < kMaxWords)
      words[count] = word;
    ++count;
  }
  bool isWhole() const { return count <= kMaxWords; }
  std::span<const int64_t> get() const { return {words.data(), count}; }

  uint64_t getHash() const {
    uint64_t hash = count;
    for (int64_t word : get()) {
      hash = (hash ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
    return hash;
  }

private:
  static constexpr size_t kMaxWords = 256;
  std::array<int64_t, kMaxWords> words;
  size_t count = 0;
};

/// How an argument is read.
enum class Kind : char {
  Tensor = 'T',
  OptionalTensor = 't',
  Number = 'n',
  IgnoredNumber = 'i', ///< The plan does not depend on it.
  OptionalNumber = 'o',
  List = 'l',                ///< Of numbers.
  IgnoredOptionalList = 'L', ///< The same.
};

/// The arguments of a call. They are owned by the stack, until this releases
/// them.
class Arguments {
public:
  /// Adds to `key` what the plan depends on. `kinds` has a Kind for each.
  Arguments(const std::string &kinds, StableValue *stack, Key &key);

  /// Null for what is no tensor or has none.
  TensorHandle getTensor(int number) const { return tensors[number]; }
  StableValue getValue(int number) const { return stack[number]; }

  void release();

private:
  void addTensor(TensorHandle tensor, int number, Key &key);

  const std::string &kinds;
  StableValue *stack;
  std::array<TensorHandle, kMaxArguments> tensors{};
};

} // namespace tessera::torch

#endif // TESSERA_CAPI_TORCH_ARGUMENTS_H
