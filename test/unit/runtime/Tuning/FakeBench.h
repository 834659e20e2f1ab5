//===- FakeBench.h - Candidates that are only numbers ----------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_RUNTIME_TUNING_FAKEBENCH_H
#define TESSERA_TEST_UNIT_RUNTIME_TUNING_FAKEBENCH_H

#include "runtime/Tuning/Bench.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>

namespace tessera::test {

class FakeKernel final : public LoadedKernel {
public:
  explicit FakeKernel(const TileConfig &tile) { kernel.tile = tile.toText(); }
  const Kernel &getKernel() const override { return kernel; }
  Origin getOrigin() const override { return Origin::Compiled; }

  Kernel kernel;
};

/// A bench whose answers are set in its fields beforehand. It records by tile
/// what is asked of it.
class FakeBench final : public Bench {
public:
  Objective objective = Objective::IssueCycles;
  std::map<std::string, double> values;       ///< 1000 if missing.
  std::map<std::string, uint64_t> workspaces; ///< 0 if missing.
  std::set<std::string> uncompilable, killed, wrong;
  std::string deadly; ///< This tile takes the device down.
  Status prepareStatus;

  std::vector<std::string> verified; ///< In order.
  std::map<std::string, int> measured;
  int prepared = 0;
  std::atomic<int> made = 0;

  Objective getObjective() const override { return objective; }
  std::string getJudge() const override { return "fake"; }
  MadeKernel make(const TileConfig &tile) override {
    ++made;
    if (uncompilable.contains(tile.toText()))
      return internalError("no code");
    if (killed.contains(tile.toText()))
      return Status(StatusCode::ResourceExhausted, "died of SIGKILL");
    auto kernel = std::make_unique<FakeKernel>(tile);
    if (auto found = workspaces.find(tile.toText()); found != workspaces.end())
      kernel->kernel.workspaceBytes = found->second;
    return std::unique_ptr<LoadedKernel>(std::move(kernel));
  }
  Status prepare() override {
    ++prepared;
    return prepareStatus;
  }
  Status verify(const LoadedKernel &kernel) override {
    const std::string &tile = kernel.getKernel().tile;
    verified.push_back(tile);
    if (tile == deadly) {
      isDead = true;
      return unavailable("launch: illegal address");
    }
    return wrong.contains(tile) ? internalError("wrong result: 1 of 2")
                                : Status::ok();
  }
  ErrorOr<std::vector<double>> measure(const LoadedKernel &kernel) override {
    const std::string &tile = kernel.getKernel().tile;
    ++measured[tile];
    const auto found = values.find(tile);
    const double value = found == values.end() ? 1000 : found->second;
    return std::vector<double>{value, value * 1.01, value * 0.99};
  }
  Status checkDevice() override {
    return isDead ? unavailable("gone") : Status::ok();
  }

private:
  bool isDead = false;
};

/// Makes `count` tiles "t-0", "t-1", ... whose costs grow from 100 by `step`
/// each.
inline std::vector<RankedTile> makeRanking(size_t count, double step) {
  std::vector<RankedTile> ranking;
  for (size_t i = 0; i < count; ++i)
    ranking.push_back(
        {{"t", std::to_string(i)}, 100 + step * static_cast<double>(i)});
  return ranking;
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_RUNTIME_TUNING_FAKEBENCH_H
