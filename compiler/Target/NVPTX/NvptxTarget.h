//===- NvptxTarget.h - Read the kernels of a PTX text ----------*- C++ -*--===//
//
// PTX is assembly and code object in one: the GPU's driver assembles it, so
// that there is nothing to assemble or to link here.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_NVPTX_NVPTXTARGET_H
#define TESSERA_COMPILER_TARGET_NVPTX_NVPTXTARGET_H

#include "compiler/Target/Codegen/KernelMetadata.h"
#include "runtime/Base/ErrorOr.h"

#include <string_view>

namespace tessera {

/// Reads the metadata of the entries of a PTX text that LLVM printed, in their
/// order.
ErrorOr<std::vector<KernelMetadata>> readPtx(std::string_view ptx);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_NVPTX_NVPTXTARGET_H
