//===- WaveProgram.h - Programs whose waves do all the same ----*- C++ -*--===//
//
// Waves that share a tile copy it, multiply it and store it together. What a
// tile program becomes is written by writeWaveProgram(); a program, whoever
// wrote it, is read, checked and lowered by lowerWaveProgram().
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVEPROGRAM_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVEPROGRAM_H

#include "compiler/Conversion/Cooperative/TileFrame.h"
#include "dialect/Workgroup/Workgroup.h"

namespace tessera {

/// Writes the program of a tile program of waves in its place; fails after an
/// error at the pipeline if its knobs are not for it.
mlir::LogicalResult writeWaveProgram(TileProgram &program,
                                     const DeviceOps &device);

/// The layout of an operand's tiles, and the number behind its name.
std::pair<wg::Layout, int64_t> getLayout(const TileFactor &factor);

/// Replaces `function` by a kernel; fails after an error at the op that is
/// wrong.
mlir::LogicalResult lowerWaveProgram(mlir::func::FuncOp function,
                                     wg::ProgramOp program,
                                     const DeviceOps &device);

/// Fails after an error at the op that reads a slot before it is written for
/// all waves, or writes one that some of them may still read.
mlir::LogicalResult checkSlots(wg::ProgramOp program);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVEPROGRAM_H
