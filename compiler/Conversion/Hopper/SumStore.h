//===- SumStore.h - From sums to the result --------------------*- C++ -*--===//
//
// A warp rounds up to 64 columns of its 16 rows at a time into a buffer in
// shared memory, from where they leave (WayOut). No other warp takes part, so
// that warps run apart. Two buffers take turns: while one leaves, the other is
// filled. A result of f32 (of f32 operands, or the parts of a split reduction)
// is staged as it is, up to 32 columns at a time.
//
// Of exchanged products a warp has 16 columns of all rows. It writes them,
// transposed, to the buffers of all warps of its warpgroup, which wait for each
// other before and behind that. So are the rows of a result that is
// column-major, while products of swapped operands are staged for that as they
// are.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_SUMSTORE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_SUMSTORE_H

#include "compiler/Conversion/Hopper/StagedPartials.h"
#include "compiler/Conversion/Hopper/StoreExtra.h"
#include "compiler/Conversion/Hopper/TmaStore.h"

#include "mlir/IR/IRMapping.h"

namespace tessera {

class SumStore {
public:
  using Extras = std::vector<std::unique_ptr<StoreExtra>>;

  /// Who stores: a lane of a warp of a consumer.
  struct Thread {
    mlir::Value consumer, warp, lane;
  };
  /// `staging` points to the staging buffers of the consumer's first warp;
  /// `scalars` maps what the epilogue takes from outside.
  SumStore(Emitter &e, const HopperShape &shape, mlir::Type element,
           mlir::Region &epilogue, std::unique_ptr<WayOut> wayOut,
           Extras extras, mlir::Value staging, const Thread &thread,
           mlir::IRMapping scalars);

  /// Before the products of `tile`: what its first piece needs of the extra
  /// tensors is under way meanwhile.
  void begin(const ResultTile &tile);
  /// Stores the sums of each block of 64 rows of that tile.
  void emit(llvm::ArrayRef<mlir::Value> sums);
  /// Behind the last tile.
  void finish();
  /// Has it sum up what it stores.
  void setPartials(std::unique_ptr<StagedPartials> sums) {
    partials = std::move(sums);
  }

private:
  /// What was fetched of each extra.
  using Fetched = std::vector<StoreExtra::Values>;

  Fetched fetchPiece(int64_t piece);
  void fetchForPartials(int64_t piece, int64_t staged);
  mlir::Value getPair(mlir::Value sums, int64_t column, int64_t i,
                      const Fetched &extraValues);
  void stageSums(mlir::Value sums, int64_t column, const Fetched &extraValues,
                 mlir::Value buffer);
  mlir::Value roundToBytes(mlir::Value pair);
  void stageBytes(mlir::Value sums, int64_t column, const Fetched &extraValues,
                  mlir::Value buffer);
  void stageMatrices(mlir::Value sums, int64_t column,
                     const Fetched &extraValues, mlir::Value buffer);
  void turnMatrices(mlir::Value sums, int64_t column, int64_t first,
                    const Fetched &extraValues, mlir::Value buffer);
  void turnSums(mlir::Value sums, int64_t column, int64_t first,
                const Fetched &extraValues, mlir::Value buffer);
  void stageTransposed(mlir::Value sums, int64_t row, int64_t column,
                       const Fetched &extraValues, int64_t bufferBytes);
  llvm::SmallVector<mlir::Value> roundPairs(mlir::Value sums, int64_t column,
                                            int64_t first,
                                            const Fetched &extraValues);
  void awaitGroup();

  Emitter &e;
  const HopperShape &shape;
  mlir::Type element; ///< Of the result.
  mlir::Region &epilogue;
  std::unique_ptr<WayOut> wayOut;
  Extras extras;
  mlir::Value staging;
  Thread thread;
  mlir::IRMapping scalars;
  Fetched next;                             ///< Of the first piece of a tile.
  int64_t fetched = 0;                      ///< Pieces, for the partials.
  std::unique_ptr<StagedPartials> partials; ///< Or null.
  /// Where the lane puts each 16 columns of wgmma in a buffer, each 8 of f32 or
  /// of 8 bits, or, if they are transposed, the 16 of a buffer, or each of the
  /// 4 sums that it has of 8: bytes.
  llvm::SmallVector<mlir::Value> offsets;
};

/// What is known of a tile's results before a kernel is written.
struct StoredTile {
  dnn::ViewOp view;
  llvm::SmallVector<dnn::ViewOp> extras;
  mlir::Region &epilogue;
  const std::optional<ResultMap> &map; ///< None if it is stored row by row.
};

/// Where a kernel runs, as it stores: the arguments of the source are what
/// `getArgument` says.
struct StoringThread {
  mlir::Value shared; ///< Pointer to the aligned begin of shared memory.
  mlir::Value thread;
  mlir::Value warp;     ///< Of the workgroup; uniform.
  mlir::Value consumer; ///< Its number.
  mlir::Value map;      ///< Points to that of the result, if it has one.
  llvm::function_ref<mlir::Value(mlir::Value)> getArgument;
};

/// The store of `tile`, of which a workgroup stores what `stored` says.
SumStore makeSumStore(Emitter &e, const HopperShape &stored, StoredTile tile,
                      const StoringThread &at);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_SUMSTORE_H
