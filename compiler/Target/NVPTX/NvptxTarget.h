//===- NvptxTarget.h - What PTX says of its kernels ------------*- C++ -*-===//
//
// PTX is assembly and code object in one: the driver of the GPU assembles it,
// so that there is nothing to assemble or to link here.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_NVPTX_NVPTXTARGET_H
#define TESSERA_COMPILER_TARGET_NVPTX_NVPTXTARGET_H

#include "compiler/Target/Codegen/KernelMetadata.h"
#include "runtime/Base/ErrorOr.h"

#include <string_view>

namespace tessera {

/// The entries of a PTX text as LLVM prints it, in its order.
ErrorOr<std::vector<KernelMetadata>> readPtx(std::string_view ptx);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_NVPTX_NVPTXTARGET_H
