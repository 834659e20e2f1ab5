//===- Bench.h - Where candidates are tried --------------------*- C++ -*--===//
//
// A search needs a device and a compiler for one problem. It uses them through
// this interface, so that it is tested without either.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_BENCH_H
#define TESSERA_RUNTIME_TUNING_BENCH_H

#include "runtime/Db/PerfDatabase.h"
#include "runtime/Engine/Engine.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

using MadeKernel = ErrorOr<std::unique_ptr<LoadedKernel>>;

class Bench {
public:
  virtual ~Bench() = default;

  virtual Objective getObjective() const = 0;
  /// The name of the judge, for the user; valid after prepare().
  virtual std::string getJudge() const = 0;

  /// Compiles and loads a kernel. Called from several threads at once.
  virtual MadeKernel make(const TileConfig &tile) = 0;

  /// Makes the data and the judge before the first kernel is tried. No kernel
  /// is blamed for a failure.
  virtual Status prepare() = 0;

  /// Runs `kernel` once on poisoned outputs and judges them. The failure says
  /// what is wrong with the kernel.
  virtual Status verify(const LoadedKernel &kernel) = 0;

  /// Some samples of the value of the verified kernel; less is better.
  virtual ErrorOr<std::vector<double>> measure(const LoadedKernel &kernel) = 0;

  /// Whether the device still works after a failure. If not, nothing that is
  /// tried later can be blamed.
  virtual Status checkDevice() = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_BENCH_H
