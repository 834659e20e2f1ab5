//===- FakeCompiler.h - A compiler without code generation -----*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_FAKECOMPILER_H
#define TESSERA_TEST_UNIT_SUPPORT_FAKECOMPILER_H

#include "runtime/Engine/KernelCompiler.h"

#include "test/unit/Support/FakeHip.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace tessera::test {

/// Its kernels load on the fake HIP runtime, and their grid is (batch, 2, 3);
/// of a convolution of unknown sizes, they take five times the batch. The
/// fields must be set before other threads use the compiler.
class FakeCompiler : public KernelCompiler {
public:
  std::string revision = "fake-1";
  std::chrono::milliseconds delay{0};
  /// The errors of chooseTile() and compile(), if not ok.
  Status tileFailure;
  Status compileFailure;
  /// The tile that compile() refuses.
  std::string refusedTile;
  bool refusesUnknownSizes = false;
  /// Changes each kernel before it is handed out.
  void (*spoil)(Kernel &) = nullptr;

  mutable std::atomic<int> tilesChosen = 0;
  std::atomic<int> compiled = 0;

  std::string getRevision() const override { return revision; }

  ErrorOr<TileConfig> chooseTile(const Problem &,
                                 const GpuTarget &) const override {
    ++tilesChosen;
    if (!tileFailure.isOk())
      return tileFailure;
    return TileConfig{"igemm", "m64n64k16-w1x1-b2-fma"};
  }

  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &) override {
    ++compiled;
    std::this_thread::sleep_for(delay);
    if (!compileFailure.isOk())
      return compileFailure;
    if (tile.toText() == refusedTile)
      return notSupported("the fake compiler was told to refuse this tile");
    if (problem.hasUnknownSizes() && refusesUnknownSizes)
      return notSupported("the fake compiler was told to refuse unknown sizes");
    Kernel kernel;
    kernel.codeObject = makeFakeCodeObject("conv");
    const ConvProblem *conv = problem.getConv();
    kernel.launches = {{"conv",
                        {static_cast<uint32_t>(conv ? conv->batch : 1), 2, 3},
                        {256, 1, 1},
                        1024,
                        {},
                        {KernelArg::X, KernelArg::W, KernelArg::Y}}};
    if (problem.hasUnknownSizes()) {
      const SizeExpr batch = SizeExpr::makeSize(KernelArg::X, 0);
      kernel.launches[0].grid[0] = 0;
      kernel.launches[0].workgroups = batch;
      kernel.launches[0].args.emplace_back(KernelArg::Size, batch * 5);
    }
    kernel.tile = tile.toText();
    if (spoil)
      spoil(kernel);
    if (problem.isUnaligned()) // Accesses are of one element, here a float.
      for (LaunchArg &arg : kernel.launches[0].args)
        arg.alignment = std::min(arg.alignment, 4u);
    return kernel;
  }
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_FAKECOMPILER_H
