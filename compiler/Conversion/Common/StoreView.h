//===- StoreView.h - A view as the epilogue touches it ---------*- C++ -*--===//
//
// The result and the extra tensors of an epilogue are views of one shape, met
// by every lane at the same places: some neighbouring accumulators along one
// side of the tile (P, the side whose neighbours a lane holds), at one place of
// the other (Q). Most of an address and most checks belong to one side, and
// are computed once for it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_STOREVIEW_H
#define TESSERA_COMPILER_CONVERSION_COMMON_STOREVIEW_H

#include "compiler/Conversion/Common/GlobalBuffer.h"

#include <optional>

namespace tessera {

/// One side of the output, as a lane sees it; the same for all views.
struct StoreSide {
  unsigned index; ///< 1 rows, 2 columns of the views.
  OpenNumber extent;
  int64_t tile;
  mlir::Value first;  ///< The lane's first position in the tile.
  mlir::Value origin; ///< Of the tile in the view.
};

/// A position along one side, in terms of one view.
struct StorePlace {
  llvm::SmallVector<mlir::Value> forms;
  mlir::Value valid; ///< Null if always inside.
};

class StoreView {
public:
  StoreView(Emitter &e, ViewAccess access, GlobalBuffer buffer, StoreSide p,
            StoreSide q);

  const ViewAccess &getAccess() const { return access; }
  /// Whether P (Q) moves anything in the view.
  bool dependsOnP() const { return isAlongP; }
  bool dependsOnQ() const { return isAlongQ; }
  /// Neighbours along P that one access may take, at most `limit` and 16 bytes.
  int64_t getWidth(int64_t limit) const {
    constexpr int64_t kMaxBytes = 16;
    limit = std::min(limit, kMaxBytes / access.getElementBytes());
    return access.getVectorWidth(p.index, limit);
  }

  /// The length of the tensor's lines, of which it is unknown whether `width`
  /// neighbours along P divide it: where they do, these lie side by side and
  /// are valid together. Nothing if that is known or does not follow.
  std::optional<OpenNumber> findOpenLine(int64_t width) const;

  /// The place of a position. That it is inside of the view's extent is not
  /// checked along a side that moves nothing if `isAnywhere`: for tensors that
  /// have one value for all of the side.
  StorePlace locateP(int64_t offset, bool isAnywhere = false) const;
  StorePlace locateQ(int64_t offset, bool isAnywhere = false) const;

  /// Loads `width` elements as integers; zero where there is nothing.
  mlir::Value load(const StorePlace &p, const StorePlace &q,
                   int64_t width) const;
  /// Stores integers where there is something.
  void store(mlir::Value value, const StorePlace &p, const StorePlace &q) const;
  /// Adds an f32 where there is something, atomically.
  void atomicAdd(mlir::Value value, const StorePlace &p,
                 const StorePlace &q) const;

private:
  StorePlace locate(const StoreSide &side, int64_t offset,
                    bool checksExtent) const;
  /// Whether the side, of unknown extent, ends with the tensor: what lies
  /// behind it is out of the descriptor's range.
  bool endsTensor(const StoreSide &side) const;
  mlir::Value getOffset(const StorePlace &p, const StorePlace &q) const;
  bool isMoved(const StoreSide &side, unsigned form) const;

  Emitter &e;
  ViewAccess access;
  GlobalBuffer buffer;
  StoreSide p, q;
  bool isAlongP, isAlongQ;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_STOREVIEW_H
