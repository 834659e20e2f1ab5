//===- DirectCopy.h - Loads a factor directly to LDS -----------*- C++ -*--===//
//
// buffer_load ... lds, or cp.async: 16 bytes a lane go from memory to LDS and
// touch no register. A wave fills LDS as it lies, and the swizzle of LdsTile.h
// is applied to the chunk that a lane loads instead of to the place that it
// writes: AMD's lanes have no say in the place, which is M0 + immediate + 16
// times the lane.
//
// That immediate moves both addresses. A wave copies rows that lie together in
// LDS, so that four of its loads share one M0; each lane's memory offset is
// lower by the immediate, and the descriptor begins some bytes before the
// tensor to keep it from becoming negative.
//
// NVIDIA's lanes have an address each. All waves together copy rows that lie
// together, so that the swizzle is the same in a wave's next ones, and an
// address serves several loads, a constant apart (filters, pixels of 1x1).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_DIRECTCOPY_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_DIRECTCOPY_H

#include "compiler/Conversion/Cooperative/TileCopy.h"

namespace tessera {

class DirectCopy : public TileCopy {
public:
  /// Bytes before the tensor at which the descriptor in `buffer` must begin.
  static int64_t getHeadroom(const GpuTarget &target) {
    return (getLoadsPerBase(target) - 1) * getLoadBytes(target);
  }

  DirectCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
             const ReductionWalk &walk, GlobalBuffer buffer, int64_t threads,
             mlir::Value thread);

  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;

private:
  /// Bytes of LDS that one load of a wave fills, and loads that share one M0:
  /// their immediates fit 12 bits.
  static int64_t getLoadBytes(const GpuTarget &target) {
    return target.waveSize * kChunkBytes;
  }
  static int64_t getLoadsPerBase(const GpuTarget &target) {
    return target.vendor == Vendor::Amd ? 4 : 1;
  }

  void choosePlaces(int64_t passRows);

  int64_t loadBytes, loadsPerBase;
  int64_t passBytes; ///< Of LDS, from a pass to the next.
  /// Passes with an address of their own; that of pass p + places lies
  /// `repeatBytes` behind that of pass p.
  unsigned places;
  int64_t repeatBytes = 0;
  mlir::Value place; ///< Of the first load in LDS, in bytes.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_DIRECTCOPY_H
