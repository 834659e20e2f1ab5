//===- WaveChoices.h - What is chosen for a program of waves ---*- C++ -*--===//
//
// What a tile program does not say of the program of waves that it becomes: by
// the shapes and the chip, or by the knobs of its pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVECHOICES_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVECHOICES_H

#include "compiler/Conversion/Cooperative/TileFrame.h"
#include "dialect/IR/PlanKnobs.h"

namespace tessera {

struct WaveChoices {
  /// Whether tiles that follow each other are a column's; else they are a
  /// row's.
  bool hasRowsFirst = false;
  /// Whether results go through LDS, where the operands were.
  bool isStaged = false;
  /// Whether the two steps of an iteration, which are one line of L1 in each
  /// row of an operand, are fetched together.
  bool linesM = false, linesN = false;
  /// Workgroups that a multiprocessor is to have at once.
  std::optional<int64_t> resident;

  /// As knobs, of those that such a program can have.
  dnn::PlanKnobs toKnobs(TileProgram &program, const GpuTarget &target) const;
};

/// Fails after an error at the pipeline if its knobs ask for what the program
/// or the chip cannot have.
mlir::FailureOr<WaveChoices> chooseWaves(TileProgram &program,
                                         const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVECHOICES_H
