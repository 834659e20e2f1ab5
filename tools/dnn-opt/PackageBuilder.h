//===- PackageBuilder.h - Kernels made ahead of time -----------*- C++ -*--===//
//
// Builds from a list of problems a package for which a runtime needs no
// compiler. Finished kernels are kept in a file beside the package, so a build
// that was stopped resumes. The package itself is written at the end, in a
// fixed order and without times, so equal lists give equal bytes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_OPT_PACKAGEBUILDER_H
#define TESSERA_TOOLS_DNN_OPT_PACKAGEBUILDER_H

#include "runtime/Engine/KernelCompiler.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera {

struct PackageRequest {
  std::vector<Problem> problems; ///< Canonical, each once.
  std::vector<const GpuTarget *> targets;
  /// The path of the package. The kernels of an existing package are used if
  /// they are of the same compiler; it is then replaced.
  std::string output;
  /// A database with tunings, whose best tiles are used; if empty, the model's
  /// tiles are.
  std::string tiles;
  unsigned jobs = 1; ///< Kernels that are compiled at the same time.
};

/// A kernel that could not be compiled.
struct PackageFailure {
  std::string networkConfig;
  std::string target;
  std::string reason;
};

struct PackageReport {
  int64_t wanted = 0;
  int64_t done = 0; ///< Compiled, reused or failed ones.
  int64_t made = 0;
  int64_t takenOver = 0; ///< From the existing package, or a stopped build.
  int64_t tuned = 0;     ///< Compiled ones with a tile of `tiles`.
  /// Kernels with another tile than the chosen one, because that failed.
  std::vector<PackageFailure> replaced;
  std::vector<PackageFailure> failures;
};

/// Builds the package from every kernel that can be compiled; failures are in
/// the report. Fails only if files cannot be read or written. `progress` is
/// called by one thread at a time.
ErrorOr<PackageReport>
buildPackage(const PackageRequest &request, KernelCompiler &compiler,
             const std::function<void(const PackageReport &)> &progress);

} // namespace tessera

#endif // TESSERA_TOOLS_DNN_OPT_PACKAGEBUILDER_H
