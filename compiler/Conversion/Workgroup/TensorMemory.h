//===- TensorMemory.h - Sums in the memory of tensor cores -----*- C++ -*--===//
//
// sm_100 keeps sums in a memory of 128 lanes by 512 words, which instructions
// (tcgen05, PTX ISA, "TensorCore 5th Generation Family Instructions") write,
// and warps read: each has the 32 lanes of its number in the warpgroup.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_TENSORMEMORY_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_TENSORMEMORY_H

#include "compiler/Conversion/Hopper/HopperShape.h"
#include "dialect/Workgroup/Workgroup.h"

namespace tessera {

class TensorMemory {
public:
  /// Of `sums`, of products of `element`, whose operands lie in `shared`. The
  /// address comes to the four bytes of shared memory at `offset`.
  TensorMemory(Emitter &e, const HopperShape &shape, wg::SumsType sums,
               mlir::Type element, const SharedBase &shared, int64_t offset);

  /// One warp, of this number, allocates it; behind the workgroup's next
  /// barrier all threads find it.
  void allocate(mlir::Value warp);
  void find();
  /// Behind all that the workgroup does, the same warp gives it back.
  void free(mlir::Value warp);

  /// Issues the products of a step: of A's and B's tiles, which begin so many
  /// bytes behind the first of each, into `slot`, added to it if `adds`.
  void multiply(mlir::Value bytesA, mlir::Value bytesB, mlir::Value slot,
                mlir::Value adds);
  /// An arrival at `barrier` when all that this thread has issued has run.
  void commit(mlir::Value barrier);
  /// Between a wait for a barrier and what depends on it.
  void fence();
  /// The sums of `slot` of a warp's 32 rows: structs as wgmma has them, of 16
  /// rows each. `warp` is the number in the warpgroup.
  llvm::SmallVector<mlir::Value> load(mlir::Value slot, mlir::Value warp);
  /// Waits until all warps of the warpgroup have loaded.
  void awaitLoads();

private:
  mlir::Value locate(mlir::Value slot);

  Emitter &e;
  const HopperShape &shape;
  wg::SumsType type;
  mlir::Type element;
  SharedBase shared;
  int64_t offset;
  mlir::Value base; ///< i32: the lane in its upper half, the word.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_TENSORMEMORY_H
