//===- Trial.h - A problem's data and who judges its results ---*- C++ -*--===//
//
// Every candidate is verified before it is timed: a fast wrong kernel must not
// win. The judge is chosen for the problem and named in the result:
//
//   host     the oracle in double (dialect/Reference), where it takes less than
//            a second, and always on the emulated device;
//   device   the same sums by kernels that another compiler made
//            (runtime/Reference), where there is one;
//   general  our kernel of the algorithm "general", another program than the
//            ones that are tuned. The host checks it on a sample of elements.
//            Its result is already rounded once, and its magnitudes are only
//            estimated, so intervals are wider.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_TRIAL_H
#define TESSERA_RUNTIME_TUNING_TRIAL_H

#include "runtime/Engine/Engine.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Tensors that a kernel may be given, besides the workspace.
inline constexpr auto kTensorArgs = [] {
  constexpr int kOthers = 8;
  std::array<KernelArg, kOthers + kMaxTensors> args = {
      KernelArg::X,    KernelArg::W,        KernelArg::Y,
      KernelArg::Bias, KernelArg::Residual, KernelArg::Indices,
      KernelArg::Mean, KernelArg::Variance};
  for (int tensor = 0; tensor < kMaxTensors; ++tensor)
    args[kOthers + tensor] = getTensorArg(tensor);
  return args;
}();

/// The content of the tensors that a kernel has written.
using TrialOutputs = std::map<KernelArg, std::vector<char>>;

/// Who judges convolutions; other problems have one judge.
enum class JudgeChoice { Auto, Host, Device, General };

/// Parses "auto", "host", "device", "general".
std::optional<JudgeChoice> parseJudgeChoice(std::string_view word);

/// The data of a problem and the judge of its results. Used by one thread.
class Trial {
public:
  /// `problem` must be valid. The same seed gives the same data. Null for a
  /// row problem without a recipe (runtime/Reference/RowWiseRecipe.h).
  static std::unique_ptr<Trial> create(const Problem &problem,
                                       const GpuTarget &target, uint64_t seed);
  virtual ~Trial() = default;

  /// The host's tensor, with poisoned outputs; empty if the problem has none.
  virtual const std::vector<char> &getTensor(KernelArg arg) const = 0;
  virtual std::vector<KernelArg> getOutputs() const = 0;
  virtual void setScalars(LaunchArgs &args) const = 0;

  /// Runs the kernel of a tile's algorithm on the tensors.
  using RunAlgorithm =
      std::function<ErrorOr<TrialOutputs>(const std::string &algorithm)>;
  /// Computes what is right, on the host or with `gpu`. Returns the judge's
  /// name.
  virtual ErrorOr<std::string> prepareJudge(const GpuApi &gpu,
                                            const RunAlgorithm &run,
                                            JudgeChoice choice) = 0;

  /// Says what is wrong; empty if nothing is. Must be called after
  /// prepareJudge().
  virtual std::string judge(const TrialOutputs &outputs) = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_TRIAL_H
