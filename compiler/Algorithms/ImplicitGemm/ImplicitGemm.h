//===- ImplicitGemm.h - A convolution as a tiled GEMM ----------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_IMPLICITGEMM_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_IMPLICITGEMM_H

#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/SizeExpr.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// Algorithm::build() of "igemm".
mlir::LogicalResult buildImplicitGemm(mlir::Operation *primitive,
                                      const TileConfig &tile,
                                      const GpuTarget &target);

/// Fails after an error at `conv` if instruction `mma` of `tile` rounds
/// operands to tf32, which `conv` does not allow.
mlir::LogicalResult checkRounding(dnn::ConvOp conv, const TileConfig &tile,
                                  llvm::StringRef mma);

/// Creates the tiles of the product of `views`, stored through `stored`, with
/// `extras` and no epilogue yet. If `persistent` is not 0, that many workgroups
/// compute the tiles one after another. `used`: the splits that there are,
/// where sizes decide it.
dnn::TileStoreOp createGemmTiles(mlir::OpBuilder &b, mlir::Location loc,
                                 const GemmTile &tile, const GemmViews &views,
                                 dnn::ViewOp stored, mlir::ValueRange extras,
                                 int64_t persistent, const SizeExpr &used = {});

/// Replaces `conv` by the tiles of the product of `views`, which must be
/// created before it. For algorithms with views of their own.
void buildGemmTiles(dnn::ConvOp conv, const GemmTile &tile, GemmViews views,
                    int64_t persistent = 0);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_IMPLICITGEMM_H
