//===- ColumnStore.h - A column-major result that leaves by TMA -*- C++ -*-===//
//
// Rows of a column-major result (docs/design/0026) are neighbours in memory for
// some time: the pixels of an image, or, where taps share pixels, of a line,
// behind which positions of padding follow. The tensor map has this run as its
// first dimension, then the columns, then what runs are counted by. A staged
// row may reach into further runs. One copy for each stores the same box; in
// those behind the first it begins in front of the run, and the unit clips it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_COLUMNSTORE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_COLUMNSTORE_H

#include "compiler/Conversion/Hopper/TmaStore.h"

namespace tessera {

/// The map of a column-major result of which rows of `storeRowBytes` are
/// staged; none where pixels, lines or channels are at distances that no map
/// can say, or where runs are so short that lanes store them as well.
std::optional<ResultMap> makeColumnMajorMap(dnn::TileStoreOp store,
                                            KernelArg tensor,
                                            int64_t storeRowBytes);

/// Stores 16 columns for each warp.
class ColumnStore final : public TmaStore {
public:
  /// `runs` are those of the map; `elements` are staged of a column.
  ColumnStore(Emitter &e, mlir::Value mapPointer, bool hasGroups,
              ResultMap::Runs runs, int64_t elements, mlir::Value warp,
              mlir::Value lane);

private:
  void emitCopies(mlir::Value buffer, int64_t row, int64_t column) override;
  void appendRun(mlir::Value run,
                 llvm::SmallVector<mlir::Value> &coordinates) const;

  ResultMap::Runs runs;
  int64_t elements;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_COLUMNSTORE_H
