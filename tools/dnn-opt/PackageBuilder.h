//===- PackageBuilder.h - Kernels made ahead of time -----------*- C++ -*-===//
//
// From a list of problems to a package that a runtime needs no compiler for.
// Kernels are kept in a file beside the package as they are made, so a build
// that was stopped goes on where it was; the package itself is written at the
// end, in one order and without times, so equal lists give equal bytes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNNOPT_PACKAGEBUILDER_H
#define TESSERA_TOOLS_DNNOPT_PACKAGEBUILDER_H

#include "runtime/Engine/KernelCompiler.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera {

struct PackageRequest {
  std::vector<Problem> problems; ///< Canonical, each once.
  std::vector<const GpuTarget *> targets;
  /// Where the package goes. One that is there gives its kernels, if they are
  /// of the same compiler, and is replaced.
  std::string output;
  /// A database with tunings, whose best tiles are used; empty: the model's.
  std::string tiles;
  unsigned jobs = 1; ///< Kernels that are made at the same time.
};

/// A kernel that could not be made.
struct PackageFailure {
  std::string networkConfig;
  std::string target;
  std::string reason;
};

struct PackageReport {
  int64_t wanted = 0;
  int64_t done = 0; ///< Of those, made, taken over or failed.
  int64_t made = 0;
  int64_t takenOver =
      0;             ///< From the package that was there, or a stopped build.
  int64_t tuned = 0; ///< Of those made, with a tile of `tiles`.
  /// Made with another tile than was chosen, because that one failed.
  std::vector<PackageFailure> replaced;
  std::vector<PackageFailure> failures;
};

/// The package has every kernel that could be made; failures are in the report.
/// Fails itself if files cannot be read or written. `progress` is called by one
/// thread at a time.
ErrorOr<PackageReport>
buildPackage(const PackageRequest &request, KernelCompiler &compiler,
             const std::function<void(const PackageReport &)> &progress);

} // namespace tessera

#endif // TESSERA_TOOLS_DNNOPT_PACKAGEBUILDER_H
