//===- ChunkCopy.h - Brings 16-byte chunks of rows to LDS ------*- C++ -*--===//
//
// For views whose reduction lies together in memory, and for those where
// nothing does: a thread loads 16 bytes of a row, in as few loads as the layout
// permits, and writes them with one LDS write.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_CHUNKCOPY_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_CHUNKCOPY_H

#include "compiler/Conversion/Cooperative/TileCopy.h"

namespace tessera {

class ChunkCopy : public TileCopy {
public:
  ChunkCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
            const ReductionWalk &walk, GlobalBuffer buffer, int64_t threads,
            mlir::Value thread);

  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;
  void write(unsigned pass, unsigned part, llvm::ArrayRef<mlir::Value> pieces,
             mlir::Value buffer) override;

protected:
  /// Writes the chunk of pass `pass`, a vector of the element type.
  void store(unsigned pass, mlir::Value value, mlir::Value buffer);

  mlir::Value chunk; ///< Of this thread, within a row.

private:
  int64_t width; ///< Elements of one load.
  int64_t rowsPerPass;
  /// Where this thread's chunks go, an index, for the passes within a period
  /// of the layout.
  llvm::SmallVector<mlir::Value> ldsOffsets;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_CHUNKCOPY_H
