//===- ConvFixture.h - Compiles, runs and judges a convolution -*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_CONVFIXTURE_H
#define TESSERA_TEST_UNIT_EXECUTE_CONVFIXTURE_H

#include "compiler/Driver/JitCompiler.h"
#include "runtime/Base/Env.h"
#include "runtime/Engine/Engine.h"
#include "test/unit/Support/RunConv.h"

#include <gtest/gtest.h>

namespace tessera::test {

/// The seed of random problems and data: another one for each chip, so that the
/// chips draw different problems.
uint64_t getSeed();

/// A JIT compiler that always chooses the given tile.
class FixedTileCompiler : public KernelCompiler {
public:
  explicit FixedTileCompiler(TileConfig tile) : tile(std::move(tile)) {}

  std::string getRevision() const override { return jit->getRevision(); }
  ErrorOr<TileConfig> chooseTile(const Problem &,
                                 const GpuTarget &) const override {
    return tile;
  }
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &chosen,
                          const GpuTarget &target) override {
    return jit->compile(problem, chosen, target);
  }

private:
  std::unique_ptr<KernelCompiler> jit = createJitCompiler();
  TileConfig tile;
};

/// The device that TESSERA_DEVICE names.
inline const GpuApi &getGpu() {
  static const GpuApi *gpu = [] {
    ErrorOr<const GpuApi *> found = GpuApi::get();
    EXPECT_TRUE(found) << found.getStatus().getMessage();
    return found ? *found : nullptr;
  }();
  return *gpu;
}

inline const GpuTarget &getTarget() {
  ErrorOr<const GpuTarget *> target = getGpu().getTarget();
  EXPECT_TRUE(target) << target.getStatus().getMessage();
  return **target;
}

/// Whether this device runs one of the numbered combinations of a sweep. Each
/// device runs half of them: gfx942 and gfx1100 those with odd numbers, the
/// others the even ones, so that chips of either wave size run all between
/// them. With TESSERA_TEST_ALL=1 each device runs all.
bool isTurn(int64_t number);

/// Returns an engine that uses `compiler` and no database.
std::unique_ptr<Engine> makeEngine(std::shared_ptr<KernelCompiler> compiler);

/// Compiles and runs `problem` and compares its result with the reference:
/// every element or, if `sample` is not 0, that many, for large problems.
void checkConv(Engine &engine, const ConvProblem &problem,
               reference::DataKind kind, int64_t sample = 0);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_EXECUTE_CONVFIXTURE_H
