//===- DeviceBench.h - Candidates on the current device --------*- C++ -*--===//
//
// The bench has its own tensors, so that a client's are never touched, and its
// own stream. On a GPU a value is a time measured by the device's events with
// L2 flushed before each launch; on the emulated device it is the estimated
// issue cycles of the verified launch.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_DEVICEBENCH_H
#define TESSERA_RUNTIME_TUNING_DEVICEBENCH_H

#include "runtime/Gpu/DeviceBuffer.h"
#include "runtime/Gpu/Event.h"
#include "runtime/Gpu/Stream.h"
#include "runtime/Tuning/Bench.h"
#include "runtime/Tuning/Trial.h"

#include <optional>

namespace tessera {

/// Used by one thread, except for make().
class DeviceBench final : public Bench {
public:
  /// `problem` must be valid. prepare() makes data and judge: a search that
  /// knows all tiles already needs neither.
  static ErrorOr<std::unique_ptr<DeviceBench>>
  create(Engine &engine, const Problem &problem, uint64_t seed,
         JudgeChoice choice = JudgeChoice::Auto);

  Objective getObjective() const override;
  std::string getJudge() const override { return judge; }
  MadeKernel make(const TileConfig &tile) override;
  Status prepare() override;
  Status verify(const LoadedKernel &kernel) override;
  ErrorOr<std::vector<double>> measure(const LoadedKernel &kernel) override;
  Status checkDevice() override;

private:
  DeviceBench(Engine &engine, const Problem &problem, uint64_t seed,
              JudgeChoice choice, int device, Stream stream);

  Status allocate();
  Status reserveWorkspace(uint64_t bytes);
  Status poison();
  Status verifyRun(const LoadedKernel &kernel);
  Status launch(const LoadedKernel &kernel);
  Status launchCounted(const LoadedKernel &kernel);
  ErrorOr<std::vector<double>> predict(const LoadedKernel &kernel);
  ErrorOr<TrialOutputs> run(const LoadedKernel &kernel);
  ErrorOr<TrialOutputs> runAlgorithm(const std::string &algorithm);
  Status flush();
  ErrorOr<std::vector<double>> time(const LoadedKernel &kernel, int count);

  Engine &engine;
  const GpuApi &gpu;
  const Problem problem;
  const uint64_t seed;
  const JudgeChoice choice;
  const int device;
  Stream stream;
  std::unique_ptr<Trial> trial;
  std::map<KernelArg, DeviceBuffer> tensors;
  std::optional<DeviceBuffer> workspace;
  std::optional<DeviceBuffer> flushed; ///< Larger than the caches.
  std::string judge;
  bool isFromEnd = false; ///< Launches begin with the last tile.
  double cycles = 0;      ///< Those of the last verified launch, if emulated.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_DEVICEBENCH_H
