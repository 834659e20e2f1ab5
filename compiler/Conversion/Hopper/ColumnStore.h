//===- ColumnStore.h - A column-major result that leaves by TMA -*- C++ -*-===//
//
// Rows of a column-major result (docs/design/0026) are neighbours in memory for
// some time: the pixels of an image. The tensor map has this run as its first
// dimension, then the columns, then what runs are counted by. A staged row is
// of one run.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_COLUMNSTORE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_COLUMNSTORE_H

#include "compiler/Conversion/Hopper/TmaStore.h"

namespace tessera {

/// The map of a column-major result of which rows of `storeRowBytes` are
/// staged, whose first elements are at multiples of `rowStep`; none where
/// pixels or channels are at distances that no map can say, or where a staged
/// row may reach into another run.
std::optional<ResultMap> makeColumnMajorMap(dnn::ViewOp view, KernelArg tensor,
                                            int64_t storeRowBytes,
                                            int64_t rowStep);

/// Stores 16 columns for each warp.
class ColumnStore final : public TmaStore {
public:
  /// `runs` are those of the map.
  ColumnStore(Emitter &e, mlir::Value mapPointer, bool hasGroups,
              ResultMap::Runs runs, mlir::Value warp, mlir::Value lane);

private:
  void emitCopy(mlir::Value buffer, int64_t row, int64_t column) override;
  void appendRun(mlir::Value run,
                 llvm::SmallVector<mlir::Value> &coordinates) const;

  ResultMap::Runs runs;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_COLUMNSTORE_H
