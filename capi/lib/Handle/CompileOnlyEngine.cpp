//===- CompileOnlyEngine.cpp - An engine that launches nothing ------------===//

#include "capi/lib/Handle/CompileOnlyEngine.h"

#include <utility>

using namespace tessera;
using namespace tessera::capi;

static thread_local bool hasSkippedLaunch = false;

namespace {
class CompileOnlyEngine : public Engine {
public:
  explicit CompileOnlyEngine(std::unique_ptr<Engine> engine)
      : engine(std::move(engine)) {}

  ErrorOr<const LoadedKernel *> prepare(const Problem &problem) override {
    return engine->prepare(problem);
  }
  ErrorOr<std::unique_ptr<LoadedKernel>>
  prepareTile(const Problem &problem, const TileConfig &tile) override {
    return engine->prepareTile(problem, tile);
  }
  ErrorOr<std::unique_ptr<LoadedKernel>>
  loadKernel(const Kernel &kernel, const Problem *problem) override {
    return engine->loadKernel(kernel, problem);
  }
  Status adopt(const Problem &problem,
               std::unique_ptr<LoadedKernel> kernel) override {
    return engine->adopt(problem, std::move(kernel));
  }
  Status provide(const Problem &problem, const Kernel &kernel) override {
    return engine->provide(problem, kernel);
  }
  Status forget(const Problem &problem) override {
    return engine->forget(problem);
  }
  Status launch(const LoadedKernel &, hipStream_t,
                const LaunchArgs &) override {
    hasSkippedLaunch = true;
    return unavailable("kernels are compiled and not launched, as "
                       "MIOPEN_DEBUG_COMPILE_ONLY asks");
  }
  KernelCompiler *getCompiler() const override { return engine->getCompiler(); }
  PerfDatabase *getTunings() override { return engine->getTunings(); }
  const EngineCounters &getCounters() const override {
    return engine->getCounters();
  }
  const GpuApi &getGpu() const override { return engine->getGpu(); }
  void drain() override { engine->drain(); }
  void endBackground() override { engine->endBackground(); }

private:
  std::unique_ptr<Engine> engine;
};
} // namespace

std::unique_ptr<Engine> capi::makeCompileOnly(std::unique_ptr<Engine> engine) {
  return std::make_unique<CompileOnlyEngine>(std::move(engine));
}

bool capi::takeSkippedLaunch() {
  return std::exchange(hasSkippedLaunch, false);
}
