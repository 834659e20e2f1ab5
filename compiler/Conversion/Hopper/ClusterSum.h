//===- ClusterSum.h - Accumulators of a cluster, added ---------*- C++ -*--===//
//
// The workgroups of a cluster each multiply some steps of one tile. A share of
// its columns, in the rows of some warps, belongs to each of them: the others
// store their accumulators of it in the shared memory of that workgroup, which
// adds them in the order of ranks (docs/design/0029-clusters.md). A thread has
// the same elements of the tile in every workgroup, so what it reads is what
// threads of its own number wrote.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_CLUSTERSUM_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_CLUSTERSUM_H

#include "compiler/Conversion/Hopper/HopperShape.h"

namespace tessera {

class ClusterSum {
public:
  /// Who adds: a thread by its number among the consumers', of a warp by its
  /// number in the warpgroup, of the workgroup of `rank` in the cluster.
  struct Thread {
    mlir::Value rank, warp, thread;
  };
  /// `shared` points to the aligned begin of shared memory.
  ClusterSum(Emitter &e, const HopperShape &shape, mlir::Value shared,
             const Thread &thread);

  /// For all threads, before send(): others may store here.
  static void begin(Emitter &e);
  /// For threads that send nothing, behind all they do: they come to both
  /// barriers as well, since one that ends between its arrival and the others'
  /// might be counted twice. Lanes of a warp may come one by one.
  static void attend(Emitter &e);
  /// Stores the accumulators of each block of 64 rows where they are added.
  /// Behind it, those of all workgroups have come.
  void send(llvm::ArrayRef<mlir::Value> sums);
  /// Whether the warp has rows of the workgroup's share; null if all have.
  mlir::Value hasShare();
  /// The first column of that share in the tile.
  mlir::Value getColumn();
  /// Its sums of each block of 64 rows.
  llvm::SmallVector<mlir::Value> receive();

private:
  mlir::Value getSlot(mlir::Value pointer, mlir::Value rank, int64_t block,
                      int64_t piece);
  mlir::Value receiveBlock(int64_t block);

  Emitter &e;
  const HopperShape &shape;
  mlir::Value rank;
  mlir::Value part;   ///< Which of the parts of a share the warp has.
  mlir::Value buffer; ///< Where the thread's first slot is.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_CLUSTERSUM_H
