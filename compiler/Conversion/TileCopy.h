//===- TileCopy.h - One factor's way from memory to LDS --------*- C++ -*-===//
//
// Every thread of the workgroup brings some 16-byte chunks of each step: it
// loads them into registers and, a step later, writes them to LDS. How the
// reduction is walked decides what an address costs:
//
// - nested: an outer loop over the filter taps computes each chunk's offset
//   and padding check once, and an inner loop over the channels adds one
//   scalar. No vector arithmetic is left in it.
// - flat: one loop over the whole reduction; each load finds its tap and
//   channel by division. For channels that two steps do not divide.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_TILECOPY_H
#define TESSERA_COMPILER_CONVERSION_TILECOPY_H

#include "compiler/Conversion/GlobalBuffer.h"
#include "compiler/Conversion/LdsTile.h"

namespace tessera {

/// How the main loop walks the reduction; the same for both factors.
struct ReductionWalk {
  bool isNested;
  int64_t outer;    ///< Filter taps (nested), else 1.
  int64_t inner;    ///< Channels (nested), else the padded reduction.
  int64_t elements; ///< Of the whole reduction, without padding.
};

class TileCopy {
public:
  /// `buffer` says where the tile's rows begin.
  TileCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
           const ReductionWalk &walk, GlobalBuffer buffer, int64_t threads,
           mlir::Value thread);

  /// Chunks that each thread brings in a step.
  unsigned getPasses() const { return rowForms.size(); }
  /// Computes the offsets of filter tap `tap` (nested walk only); beyond the
  /// last tap every load is out of range.
  void setTap(mlir::Value tap);

  /// Loads chunk `pass` of the step at `position` bytes of the inner walk.
  llvm::SmallVector<mlir::Value> load(unsigned pass, mlir::Value position);

  /// Writes what load() gave to LDS buffer `lds`.
  void write(unsigned pass, llvm::ArrayRef<mlir::Value> pieces,
             mlir::Value lds);

private:
  llvm::SmallVector<mlir::Value> loadNested(unsigned pass,
                                            mlir::Value position);
  llvm::SmallVector<mlir::Value> loadFlat(unsigned pass, mlir::Value position);
  mlir::Value checkBounds(unsigned pass, llvm::ArrayRef<mlir::Value> walked);
  mlir::Type getPieceType() const;

  Emitter &e;
  const ViewAccess &access;
  LdsTile lds;
  ReductionWalk walk;
  mlir::Value descriptor;
  int64_t width; ///< Elements of one load.
  int64_t rowsPerPass;
  AccessSpace tapSpace;   ///< Nested: the outer reduction dimensions.
  AccessSpace innerSpace; ///< The dimension(s) that are walked by a step.
  mlir::Value chunk;      ///< Of this thread, within a row.
  mlir::Value ldsOffset;  ///< Of this thread's first chunk, an index.
  /// Per pass: the forms of the chunk's row, constants included.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> rowForms;
  /// Per pass: whether the row is in the view; null where it need not be known.
  llvm::SmallVector<mlir::Value> rowValid;
  /// Per pass: the byte offset at the current tap.
  llvm::SmallVector<mlir::Value> tapOffsets;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_TILECOPY_H
