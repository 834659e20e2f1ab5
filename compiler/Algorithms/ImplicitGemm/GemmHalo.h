//===- GemmHalo.h - GEMM tiles whose taps share pixels ---------*- C++ -*-===//
//
// Which problems the tiles of HaloLines.h are for, and the LDS that they take.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_GEMMHALO_H
#define TESSERA_COMPILER_ALGORITHMS_GEMMHALO_H

#include "compiler/Algorithms/ImplicitGemm/GemmShapes.h"
#include "compiler/Target/HaloLds.h"

#include <optional>

namespace tessera {

/// The pixels of a tile of `shape`, which has a halo; nothing if taps of
/// `problem` share none in a way that the lowering knows. Of chunks that are
/// copied directly to LDS.
std::optional<HaloLds> measureGemmHalo(const ConvProblem &problem,
                                       const GpuTarget &target,
                                       const GemmShape &shape);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_GEMMHALO_H
