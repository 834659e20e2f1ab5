//===- HopperPlan.h - What is known before a kernel is written -*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERPLAN_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERPLAN_H

#include "compiler/Conversion/Hopper/HaloOperand.h"
#include "compiler/Conversion/Hopper/HopperShape.h"
#include "compiler/Conversion/Hopper/SlidingHalo.h"
#include "compiler/Conversion/Hopper/StepWalk.h"
#include "compiler/Conversion/Hopper/TmaStore.h"

namespace tessera {

/// Bits of the knob of overlapping tiles, in the order of its words.
enum : int64_t { kOverlapsRows = 1, kOverlapsColumns = 2 };

struct HopperPlan {
  HopperShape shape;
  TmaOperand a, b;
  std::optional<HaloOperand> halo; ///< `a`, if all taps share its pixels.
  /// `a` or `b`, as the shape's halo says, if all taps share its pixels.
  std::optional<SlidingHalo> sliding;
  std::optional<ResultMap> result; ///< None if it is stored row by row.
  int64_t groups;
  OpenNumber steps; ///< Of the reduction of one tile, or of its part.
  int64_t splits;
  /// The instructions that multiply in the last step of a tap, if that ends
  /// with the last channel; else 0.
  int64_t lastShares;
  StepWalk walk; ///< Of a part.
  /// Pairs of them if two workgroups share an operand.
  OpenNumber tiles;
  /// Of unknown sizes, no more than this are launched.
  int64_t workgroups;
  bool sharesColumns; ///< Whether all tiles have the same columns.
  /// Whether tiles that follow each other are a column's; else they are a
  /// row's.
  bool hasRowsFirst;
  /// Along which sides the last tile ends with the result, and begins in the
  /// tile before it: bits of the knob.
  int64_t overlap;
  /// Whether a launch may begin with the last tile (runtime/Base/TileOrder.h).
  bool walksBothWays = false;

  /// What walks the tiles: workgroups, or clusters of them.
  OpenNumber countWalkers() const {
    if (!tiles.isKnown())
      return OpenNumber(minimum(tiles.toExpr(), SizeExpr(workgroups)));
    return workgroups / shape.getClusterSize();
  }
};

/// The plan of a tile program with copy tma; fails after an error at the op
/// that no kernel can be made of.
llvm::FailureOr<HopperPlan> makeHopperPlan(TileProgram &program,
                                           const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERPLAN_H
