//===- TileSupport.h - What the lowering does on a chip --------*- C++ -*--===//
//
// A program whose parts fit together may still ask for what a chip has not, or
// for what nobody has written yet. Both are refused here, by name.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILESUPPORT_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILESUPPORT_H

#include "compiler/Conversion/Cooperative/TileProgram.h"

namespace tessera {

/// Fails after an error at the pipeline of a program that has unknown sizes and
/// is none that takes them.
mlir::LogicalResult checkUnknownSizes(TileProgram &program);

/// Fails after an error at the pipeline, of which nothing else is known yet.
mlir::LogicalResult checkPipelineSupport(TileProgram &program,
                                         const GpuTarget &target);

/// Chooses the instruction and the threads; fails after an error where the chip
/// has not what is asked for.
mlir::LogicalResult checkProducts(TileProgram &program,
                                  const GpuTarget &target);
/// Fails after an error unless threads can share out the chunks of a step; and
/// unless addresses of all tiles fit descriptors.
mlir::LogicalResult checkMainLoop(TileProgram &program);
mlir::LogicalResult checkAllReach(TileProgram &program);
/// Finds the halo of rows that taps share, which go directly to LDS or are
/// planes; fails after an error where the chip, the instruction or the view
/// cannot have one.
mlir::LogicalResult findHalo(TileProgram &program, const GpuTarget &target);
/// Fails after an error unless channels of the filter of taps that share rows
/// are an offset, on which no padding depends.
mlir::LogicalResult checkHaloFilter(TileProgram &program);
/// Chooses `program.walk`; fails after an error at a reduction beyond the reach
/// of a 32-bit loop.
mlir::LogicalResult chooseWalk(TileProgram &program, const GpuTarget &target);
/// Fails after an error at tiles that workgroups take one after another, if
/// their walk does not end behind whole turns, or not each has a first tile.
mlir::LogicalResult checkTurns(TileProgram &program);
/// Finds how LDS holds operands that are loaded as a whole; fails after an
/// error where a view is none of windows, or of a filter.
mlir::LogicalResult findWindows(TileProgram &program);
/// Fails after an error unless direct copies, which bring whole chunks and know
/// no division, can bring the tiles, if they have to.
mlir::LogicalResult checkDirectCopy(TileProgram &program,
                                    const GpuTarget &target);

/// Chooses the instruction, the threads and the walk of a program that does not
/// copy by TMA; fails after an error at the op that asks for too much.
mlir::LogicalResult checkTileSupport(TileProgram &program,
                                     const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILESUPPORT_H
