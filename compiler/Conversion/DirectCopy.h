//===- DirectCopy.h - Loads a factor directly to LDS -----------*- C++ -*-===//
//
// buffer_load ... lds: 16 bytes a lane go from memory to LDS, at M0 + immediate
// + 16 times the lane, and touch no register. A wave therefore fills 1 KiB of
// LDS as it lies, and the swizzle of LdsTile.h is applied to the chunk that a
// lane loads instead of to the place that it writes.
//
// The immediate moves both addresses. A wave copies rows that lie together in
// LDS, so that four of its loads share one M0; each lane's memory offset is
// lower by the immediate, and the descriptor begins some bytes before the
// tensor to keep it from becoming negative.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_DIRECTCOPY_H
#define TESSERA_COMPILER_CONVERSION_DIRECTCOPY_H

#include "compiler/Conversion/TileCopy.h"

namespace tessera {

class DirectCopy : public TileCopy {
public:
  /// Bytes of LDS that one load of a wave fills, and loads that share one M0:
  /// their immediates fit 12 bits.
  static constexpr int64_t kLoadBytes = 1024;
  static constexpr int64_t kLoadsPerBase = 4;
  /// Bytes before the tensor at which the descriptor in `buffer` must begin.
  static constexpr int64_t kHeadroom = (kLoadsPerBase - 1) * kLoadBytes;

  DirectCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
             const ReductionWalk &walk, GlobalBuffer buffer, int64_t threads,
             mlir::Value thread);

  unsigned getLoadParts() const override { return 1; }
  unsigned getWriteParts() const override { return 0; }
  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;
  void write(unsigned pass, unsigned part, llvm::ArrayRef<mlir::Value> pieces,
             mlir::Value buffer) override;

private:
  mlir::Value waveOffset; ///< Of this wave's first load in LDS, in bytes.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_DIRECTCOPY_H
