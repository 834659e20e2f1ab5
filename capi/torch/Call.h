//===- Call.h - What a call of an operator does ----------------*- C++ -*--===//

#ifndef TESSERA_CAPI_TORCH_CALL_H
#define TESSERA_CAPI_TORCH_CALL_H

#include "capi/torch/Arguments.h"

#include <tessera/problem.h>

#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tessera::torch {

/// What Python gives once: functions of the library that it has loaded.
struct Settings {
  int32_t isGpu; ///< Otherwise tensors are the host's.
  decltype(tesseraRunProblem) *runProblem;
  decltype(miopenSetStream) *setStream;
  int32_t (*allowsTf32)(); ///< Whether PyTorch lets f32 be rounded to tf32.
};

/// A plan that Python made (tessera/_launch.py), for arguments of one Key.
/// Numbers say which tensor: an argument or, as ~0, ~1 ..., a new one. Used by
/// one thread, which has the handle.
class Call {
public:
  /// A new tensor: allocated, or what PyTorch's sum over `sizes` of an argument
  /// makes.
  struct New {
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    int32_t type = 0;
    std::optional<int> sumOf;
  };

  struct Launch {
    std::string problem;
    tesseraProblemArguments arguments;
    /// Where `arguments` has which tensor.
    std::vector<std::pair<uint32_t, int>> tensors;
  };

  /// Instead of a number: a result that is no tensor.
  static constexpr int kNothing = std::numeric_limits<int>::min();
  static constexpr size_t kMaxNew = 8;

  miopenHandle_t handle = nullptr;
  int32_t device = 0;
  std::vector<int64_t> key;
  std::vector<New> made;
  std::vector<Launch> launches;
  std::vector<int> results;
  /// A number among the arguments, and which scalar of the first launch it is.
  std::optional<std::pair<int, int>> scalar;
  std::atomic<uint64_t> count{0}; ///< How often it has run.

  /// Whether everything is on its stream, and `results` is filled. Otherwise
  /// there is nothing in it.
  bool run(const Settings &settings, const Arguments &arguments,
           StableValue *values);

private:
  using NewTensors = std::array<OwnedTensor, kMaxNew>;

  bool make(const Settings &settings, const Arguments &arguments,
            NewTensors &tensors) const;
  bool launch(const Settings &settings, Launch &launch,
              const Arguments &arguments, const NewTensors &tensors) const;
  OwnedTensor allocate(const Settings &settings, const New &wanted) const;
};

} // namespace tessera::torch

#endif // TESSERA_CAPI_TORCH_CALL_H
