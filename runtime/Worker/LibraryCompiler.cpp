//===- LibraryCompiler.cpp - The compiler, once it is needed --------------===//

#include "runtime/Worker/LibraryCompiler.h"

#include "runtime/Base/Env.h"
#include "runtime/Base/OwnFiles.h"

#include <dlfcn.h>
#include <unistd.h>

using namespace tessera;

static constexpr char kLibrary[] = "libtessera-compiler.so";
static constexpr char kVariable[] = "TESSERA_COMPILER_LIBRARY";

std::string tessera::getCompilerLibrary() {
  if (auto named = getEnvText(kVariable); named && !named->empty())
    return *named;
  for (const std::string &folder : getOwnLibraryFolders())
    if (std::string file = folder + "/" + kLibrary;
        access(file.c_str(), R_OK) == 0)
      return file;
  return kLibrary;
}

/// Says why `file` could not be opened, and where it was searched before.
static Status reportMissing(const std::string &file, const char *reason) {
  std::string message = "there is no compiler to make it: ";
  if (file == getEnvText(kVariable))
    message +=
        std::string(kVariable) + " is '" + file + "', which cannot be loaded: ";
  if (file == kLibrary) {
    message += file + " is not in ";
    for (const std::string &folder : getOwnLibraryFolders())
      message += folder + ", ";
    message += "and the loader says: ";
  }
  return notSupported(message + reason);
}

ErrorOr<std::unique_ptr<KernelCompiler>>
tessera::loadCompiler(const std::string &file, const std::string &revision) {
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return reportMissing(file, dlerror());
  auto *create = reinterpret_cast<CreateCompilerFunction *>(
      dlsym(library, kCreateCompilerName));
  if (!create)
    return notSupported(file + " has no function " + kCreateCompilerName);
  const char *own = "";
  std::unique_ptr<KernelCompiler> compiler(create(revision.c_str(), &own));
  if (!compiler)
    return notSupported(file + " is the compiler of another build, " + own +
                        "; this one needs " + revision);
  return compiler;
}

ErrorOr<KernelCompiler *> LibraryCompiler::get() const {
  std::call_once(isTried, [&] {
    ErrorOr<std::unique_ptr<KernelCompiler>> loaded =
        loadCompiler(getCompilerLibrary(), revision);
    if (loaded)
      compiler = std::move(*loaded);
    failure = loaded.getStatus();
  });
  if (!compiler)
    return failure;
  return compiler.get();
}

ErrorOr<TileConfig> LibraryCompiler::chooseTile(const Problem &problem,
                                                const GpuTarget &target) const {
  ErrorOr<KernelCompiler *> loaded = get();
  return loaded ? (*loaded)->chooseTile(problem, target) : loaded.getStatus();
}

ErrorOr<std::vector<RankedTile>>
LibraryCompiler::rankTiles(const Problem &problem, const GpuTarget &target,
                           size_t limit) const {
  ErrorOr<KernelCompiler *> loaded = get();
  return loaded ? (*loaded)->rankTiles(problem, target, limit)
                : loaded.getStatus();
}

ErrorOr<std::vector<TileConfig>>
LibraryCompiler::findNeighbours(const Problem &problem, const TileConfig &tile,
                                const GpuTarget &target) {
  ErrorOr<KernelCompiler *> loaded = get();
  return loaded ? (*loaded)->findNeighbours(problem, tile, target)
                : loaded.getStatus();
}

ErrorOr<Kernel> LibraryCompiler::compile(const Problem &problem,
                                         const TileConfig &tile,
                                         const GpuTarget &target) {
  ErrorOr<KernelCompiler *> loaded = get();
  return loaded ? (*loaded)->compile(problem, tile, target)
                : loaded.getStatus();
}
