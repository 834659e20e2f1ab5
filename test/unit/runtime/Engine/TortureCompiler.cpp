//===- TortureCompiler.cpp - A compiler for workers that are killed -------===//
//
// A library with the interface of libtessera-compiler.so for the worker's
// program to load. Without LLVM a worker starts in a millisecond, so that there
// can be many.
//
//===----------------------------------------------------------------------===//

#include "runtime/Engine/KernelCompiler.h"

#include "test/unit/runtime/Engine/Torture.h"

#include <string_view>
#include <thread>

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;

namespace {
/// A compiler that takes some milliseconds for everything.
class TortureCompiler final : public KernelCompiler {
public:
  std::string getRevision() const override { return kTortureRevision; }
  ErrorOr<TileConfig> chooseTile(const Problem &,
                                 const GpuTarget &) const override {
    std::this_thread::sleep_for(5ms);
    return TileConfig{"igemm", "tile"};
  }
  ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &, const GpuTarget &,
                                             size_t) const override {
    std::this_thread::sleep_for(5ms);
    return std::vector<RankedTile>{{{"igemm", "tile"}, 1},
                                   {{"general", "tile"}, 2}};
  }
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &) override {
    std::this_thread::sleep_for(10ms);
    return makeTortureKernel(getTortureNumber(problem), tile.toText());
  }
};
} // namespace

extern "C" __attribute__((visibility("default"))) KernelCompiler *
tesseraCreateCompiler(const char *revision, const char **own) {
  *own = kTortureRevision;
  return std::string_view(revision) == *own ? new TortureCompiler : nullptr;
}
