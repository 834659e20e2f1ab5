//===- ImplicitGemm.h - A convolution as a tiled GEMM ----------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_H

#include "runtime/Base/TileConfig.h"

#include "mlir/Support/LLVM.h"

namespace tessera {

/// Algorithm::build() of "igemm".
mlir::LogicalResult buildImplicitGemm(mlir::Operation *primitive,
                                      const TileConfig &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_H
