//===- Algorithm.h - One way to solve some problems ------------*- C++ -*--===//
//
// The interface through which the compiler uses an algorithm: a new one is a
// new file, a row in Registry.cpp and a test
// (docs/guides/adding-an-algorithm.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ALGORITHM_H
#define TESSERA_COMPILER_ALGORITHMS_ALGORITHM_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/Problem.h"
#include "runtime/Base/TileConfig.h"

#include "mlir/Support/LLVM.h"

#include <memory>
#include <span>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace tessera {

/// A tile that is worth trying, and what the model expects of it.
struct Candidate {
  TileConfig tile;
  /// Estimated clocks of the whole chip for all launches. Comparable between
  /// the algorithms of one problem on one target, but not a time.
  double cost;
};

/// Stateless; every method may be called from several threads at once.
class Algorithm {
public:
  virtual ~Algorithm() = default;

  /// The first word of the texts of its tiles, such as "igemm".
  virtual std::string_view getName() const = 0;

  /// Whether it supports misaligned tensors, which may begin at any element.
  /// Point programs do: they then access blocks element by element.
  virtual bool takesUnaligned() const { return false; }

  /// Whether build() takes sizes that are unknown (ProblemFamily.cpp).
  virtual bool takesUnknownSizes() const { return false; }

  /// Whether the kernel of a convolution with `tile`, one of its own, needs a
  /// workspace. True where that is not known.
  virtual bool needsWorkspace(const ConvProblem & /*conv*/,
                              const TileConfig & /*tile*/) const {
    return true;
  }

  /// Ok, or NotSupported with the reason. `problem` must be valid, and has no
  /// unknown sizes unless takesUnknownSizes().
  virtual Status check(const Problem &problem,
                       const GpuTarget &target) const = 0;

  /// The tiles that build() accepts for a problem that check() accepts; empty
  /// if none fits. Where sizes are unknown, they are those of its sample that
  /// do not depend on them.
  virtual std::vector<Candidate>
  getCandidates(const Problem &problem, const GpuTarget &target) const = 0;

  /// Replaces `primitive`, the only op of its function, by the tiled program;
  /// may add functions to the module, which are launched after it. Emits an
  /// error at the op and fails if `tile` is not a tile of this algorithm.
  virtual mlir::LogicalResult build(mlir::Operation *primitive,
                                    const TileConfig &tile,
                                    const GpuTarget &target) const = 0;
};

/// All algorithms, in the order of Registry.cpp.
std::span<const Algorithm *const> getAlgorithms();

/// The algorithm that `tile` names, or null.
const Algorithm *findAlgorithm(const TileConfig &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ALGORITHM_H
