//===- Stage.h - The stages of the compiler --------------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_PIPELINE_STAGE_H
#define TESSERA_COMPILER_PIPELINE_STAGE_H

#include <optional>
#include <string_view>

namespace tessera {

/// The stages in their order. Each has a text (the object: bytes) that can be
/// printed; all but the object can be read again.
enum class Stage {
  Problem, ///< A MIOpenDriver command line.
  Dnn,     ///< MLIR: a function with one primitive.
  Tiled,   ///< MLIR: a tile program or point program for one chip.
  /// MLIR: programs of a workgroup; others are as in the stage before.
  Workgroup,
  Gpu,    ///< MLIR: a gpu.func of lanes and addresses.
  Llvm,   ///< LLVM IR, before LLVM's own optimisation.
  Isa,    ///< AMDGPU assembly, or PTX.
  Object, ///< Linked code object.
};

/// Returns "problem", "dnn", ..., which --stop-after, file names and reports
/// use.
std::string_view getName(Stage stage);
std::optional<Stage> parseStage(std::string_view name);

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_STAGE_H
