//===- GemmShapes.h - The GEMM tiles worth trying on a chip ----*- C++ -*--===//
//
// Which shapes suit a matrix unit depends on the chip and the type, and was
// learned from the inner loops that the compiler generates
// (docs/performance.md). GemmCost.h weighs the shapes for a problem.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMSHAPES_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMSHAPES_H

#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/GpuTarget.h"

#include <span>

namespace tessera {

struct GemmShape {
  int m, n, wavesM, wavesN;
  int stepBytes; ///< Bytes of a row in one step of the main loop.
  int buffers;
  bool isDirect; ///< Copied directly to LDS.
  /// Share of the issue clocks that multiply-adds take.
  double efficiency;
  /// Whether registers are left for the addresses of a flat walk (TileCopy.h);
  /// if not, such a kernel would spill.
  bool fitsFlatWalk;
  /// Whether registers are left to transpose both operands (BlockCopy.h).
  bool fitsTransposes = true;
  /// Buffers for pixels that all taps share (GemmHalo.h); 0 if each tap loads
  /// its own.
  int halo = 0;
  /// Whether it is worth trying only for planes, of which a step is a line of
  /// L1 (PlaneCopy.h).
  bool isForPlanes = false;
};

/// The shapes for one chip and type of product, and the instruction that they
/// are for.
struct GemmShapes {
  std::string_view instruction;
  std::span<const GemmShape> shapes;
  /// Peak multiply-adds of a compute unit in a clock.
  double peak;
  /// Clocks of a launch; 0 where all that a problem can choose has it alike.
  double launch = 0;
  /// Bytes that a compute unit gets from LDS in a clock; 0 if that is what
  /// GemmRates.def says.
  double lds = 0;
};

GemmShapes getGemmShapes(const GpuTarget &target, const ConvProblem &problem);

/// The tile of a shape, for elements of `elementBytes`.
GemmTile makeGemmTile(const GemmShapes &shapes, const GemmShape &shape,
                      int64_t elementBytes);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMSHAPES_H
