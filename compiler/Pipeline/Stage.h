//===- Stage.h - The named points of the compiler --------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_PIPELINE_STAGE_H
#define TESSERA_COMPILER_PIPELINE_STAGE_H

#include <optional>
#include <string_view>

namespace tessera {

/// In order. Each has a text (the object: bytes) that can be dumped and fed
/// back in.
enum class Stage {
  Problem, ///< A MIOpenDriver command line.
  Dnn,     ///< MLIR: one dnn.conv.
  Tiled,   ///< MLIR: a tile program for one chip.
  Gpu,     ///< MLIR: a gpu.func of lanes and addresses.
  Llvm,    ///< LLVM IR, before LLVM's own optimisation.
  Isa,     ///< AMDGPU assembly, or PTX.
  Object,  ///< Linked code object.
};

/// "problem", "dnn", ... as used by --stop-after, file names and reports.
std::string_view getName(Stage stage);
std::optional<Stage> parseStage(std::string_view name);

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_STAGE_H
