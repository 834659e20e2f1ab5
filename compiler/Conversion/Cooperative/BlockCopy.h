//===- BlockCopy.h - Transposes a factor on its way to LDS -----*- C++ -*--===//
//
// For views whose rows, not whose reduction, lie together in memory: the filter
// of backward data, both factors of backward weights, the pixels of NCHW. A
// thread loads vectors of two or four neighbouring rows at some neighbouring
// places of the reduction, transposes that block in registers, and writes half
// a chunk of each row. 64-bit loads and 64-bit LDS writes are the widest that a
// block of 32 bytes permits both.
//
// The pixels that a tap of NCHW sees begin anywhere, and those of the padding
// are zeros. There a block is two rows by a whole chunk: neighbouring lanes
// load pairs of pixels that follow each other, at whatever address, and the
// byte permute that transposes two of them also moves and masks (TileCopy.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_BLOCKCOPY_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_BLOCKCOPY_H

#include "compiler/Conversion/Cooperative/TileCopy.h"

namespace tessera {

class BlockCopy : public TileCopy {
public:
  BlockCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
            const ReductionWalk &walk, GlobalBuffer buffer, int64_t threads,
            mlir::Value thread);

  /// Rows of a block, 2 or 4, such that `threads` divide the tile into blocks;
  /// 1 if it should not be cut into blocks.
  static int64_t chooseBlockRows(const ViewAccess &access, const LdsTile &lds,
                                 int64_t threads);
  /// Whether a tile that is not cut into such blocks is cut into pairs.
  static bool copiesPairs(const ViewAccess &access, const LdsTile &lds,
                          int64_t threads);

  /// One load for each place of the reduction, one write for each row.
  unsigned getLoadParts() const override { return depth; }
  unsigned getWriteParts() const override { return lds.blockRows; }
  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;
  void write(unsigned pass, unsigned part, llvm::ArrayRef<mlir::Value> pieces,
             mlir::Value buffer) override;

private:
  void addPass(mlir::Value block);
  mlir::Value choosePairs(unsigned part, llvm::ArrayRef<mlir::Value> pieces);

  int64_t writeBytes; ///< Of LDS: half a chunk, or a chunk of a row of pairs.
  int64_t depth;      ///< Places of the reduction in a block.
  /// Per pass: the block's first place within the step.
  llvm::SmallVector<mlir::Value> firstElement;
  /// Per pass and row: where the half chunk goes, an index.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> ldsOffsets;
};

/// Element `index` of each of `pieces`, as one vector.
mlir::Value gatherElement(Emitter &e, llvm::ArrayRef<mlir::Value> pieces,
                          int64_t index);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_BLOCKCOPY_H
