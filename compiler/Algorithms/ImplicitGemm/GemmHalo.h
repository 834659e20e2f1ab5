//===- GemmHalo.h - GEMM tiles whose taps share pixels ---------*- C++ -*--===//
//
// Decides which problems the tiles of HaloLines.h and PlaneHalo.h suit, and how
// much LDS these take.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMHALO_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMHALO_H

#include "compiler/Algorithms/ImplicitGemm/GemmShapes.h"
#include "compiler/Target/HaloLds.h"

#include <optional>

namespace tessera {

/// The LDS for the pixels of a tile of `shape`, which has a halo: chunks that
/// are copied directly to LDS, or planes through registers. None if the taps of
/// `problem` do not share pixels in a way that the lowering supports.
std::optional<HaloLds> measureGemmHalo(const ConvProblem &problem,
                                       const GpuTarget &target,
                                       const GemmShape &shape);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMHALO_H
