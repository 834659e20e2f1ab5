//===- TransposedCopy.h - A factor in LDS as it lies in memory -*- C++ -*--===//
//
// For views whose rows, not whose reduction, lie together in memory, on chips
// that transpose matrices as they read them from LDS (ldmatrix.trans): 16 bytes
// of neighbouring rows at one place of the reduction go to LDS by cp.async and
// touch no register, where BlockCopy.h would transpose them in some.
//
// LDS holds a line for each place of the reduction. Chunk c of line k lies in
// place c ^ (k & 7), so that eight lines at the same chunk, a matrix, are in
// different banks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_TRANSPOSEDCOPY_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_TRANSPOSEDCOPY_H

#include "compiler/Conversion/Cooperative/FragmentSource.h"
#include "compiler/Conversion/Cooperative/TileCopy.h"
#include "compiler/Target/MatrixInstruction.h"

namespace tessera {

class TransposedCopy : public TileCopy {
public:
  /// Whether the rows of `access`, and not its columns, are copied by chunks,
  /// and `instruction` can read them so.
  static bool isFor(const ViewAccess &access,
                    const MatrixInstruction &instruction);
  /// Whether `threads` threads can share out a tile of `rows` rows.
  static bool divides(int64_t rows, int64_t step, int64_t threads);

  TransposedCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
                 const ReductionWalk &walk, GlobalBuffer buffer,
                 int64_t threads, mlir::Value thread);

  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;

private:
  int64_t passBytes; ///< Of LDS, from a pass to the next.
  /// Passes with an address of their own; that of pass p + places lies
  /// `repeatBytes` behind that of pass p.
  unsigned places;
  int64_t repeatBytes;
  mlir::Value place; ///< Of the first load in LDS, in bytes.
};

/// Fragments of such a tile of `rows` rows: of P, or of Q.
std::unique_ptr<FragmentSource> readTransposed(Emitter &e, int64_t rows,
                                               const FragmentPlace &place,
                                               bool isP, mlir::Value lane);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_TRANSPOSEDCOPY_H
