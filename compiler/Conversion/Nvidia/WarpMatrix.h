//===- WarpMatrix.h - The matrix instructions of a warp --------*- C++ -*--===//
//
// mma.sync and ldmatrix by the ISA's fragments, in registers of 32 bits. The
// tile path has them behind a row of a table, which holds 32 columns together;
// groups of channels are as narrow as one instruction.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_NVIDIA_WARPMATRIX_H
#define TESSERA_COMPILER_CONVERSION_NVIDIA_WARPMATRIX_H

#include "compiler/Conversion/Common/Emitter.h"

namespace mlir::nvgpu {
class MmaSyncOp;
} // namespace mlir::nvgpu

namespace tessera {

/// Four matrices of 8 rows by 16 bytes, of which lane l points to row l % 8 of
/// matrix l / 8. A lane gets two neighbours of row l / 4, or, transposed, two
/// neighbouring rows of column l / 4.
llvm::SmallVector<mlir::Value> readMatrices(Emitter &e, mlir::Value pointer,
                                            bool isTransposed);

/// Writes four matrices, of which a lane has `words` as it would have read
/// them. From sm_90 on.
void writeMatrices(Emitter &e, mlir::Value pointer,
                   mlir::ArrayRef<mlir::Value> words, bool isTransposed);

/// The f32 in a register of 32 bits, rounded to tf32; mma.sync would cut it
/// off.
mlir::Value roundToTf32(Emitter &e, mlir::Value word);

/// c + the 16 rows of a times the 8 columns of b, four sums of f32. Of 16 bits
/// an element reductions are of 8 (two registers of a, one of b) or 16 (four
/// and two), of f32 that is rounded to tf32 half of that.
llvm::SmallVector<mlir::Value> multiplyMatrices(Emitter &e, mlir::Type element,
                                                mlir::ValueRange a,
                                                mlir::ValueRange b,
                                                mlir::ValueRange c);

/// Replaces the op, whose fragments are vectors of pairs, by the instruction.
void lowerProduct(Emitter &e, mlir::nvgpu::MmaSyncOp op);

/// What the lane whose number differs in the bits of `mask` has for `value`.
mlir::Value exchangeLanes(Emitter &e, mlir::Value value, int64_t mask);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_NVIDIA_WARPMATRIX_H
