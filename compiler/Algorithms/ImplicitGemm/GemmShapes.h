//===- GemmShapes.h - The GEMM tiles worth trying on a chip ----*- C++ -*-===//
//
// Which shapes suit a matrix unit is a fact about the chip and the type, told
// by the inner loops that the compiler makes of them (docs/performance.md). The
// model weighs them for a problem.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_GEMMSHAPES_H
#define TESSERA_COMPILER_ALGORITHMS_GEMMSHAPES_H

#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/GpuTarget.h"

#include <span>

namespace tessera {

struct GemmShape {
  int m, n, wavesM, wavesN;
  int stepBytes; ///< Of a row of a step.
  int buffers;
  bool isDirect; ///< Copied directly to LDS.
  /// Share of issue clocks on multiply-adds.
  double efficiency;
  /// Registers left for the addresses of a flat walk (TileCopy.h); without
  /// them the kernel spills.
  bool fitsFlatWalk;
  /// The same, left for the transposition of both factors (BlockCopy.h).
  bool fitsTransposes = true;
  /// Buffers for pixels that all taps see (GemmHalo.h); 0 if each tap brings
  /// its own.
  int halo = 0;
};

/// The shapes for one chip and type of product, and the instruction that they
/// are for.
struct GemmShapes {
  std::string_view instruction;
  std::span<const GemmShape> shapes;
  /// Multiply-adds of a compute unit in a clock, at best.
  double peak;
};

GemmShapes getGemmShapes(const GpuTarget &target, const ConvProblem &problem);

/// The tile of a shape, for elements of `elementBytes`.
GemmTile makeGemmTile(const GemmShapes &shapes, const GemmShape &shape,
                      int64_t elementBytes);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_GEMMSHAPES_H
