//===- OffloadBundle.h - Code objects of several chips in one --*- C++ -*-===//
//
// clang puts the code objects for all chips of `--offload-arch` into a bundle,
// compressed if asked: this is what programs carry and what they hand to
// hipModuleLoadData. Formats: clang's documentation, "Clang Offload Bundler".
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_OFFLOADBUNDLE_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_OFFLOADBUNDLE_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Emulator/Chip.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::emulator {

/// The ELF file for `chip` in `image`: a code object itself, or a bundle, or a
/// compressed one. The size comes from the file's own headers because HIP is
/// not told any. NotSupported when there is nothing for `chip`.
ErrorOr<std::vector<uint8_t>> selectCodeObject(const void *image,
                                               const Chip &chip);

/// As above, for a file of known size: nothing is read behind its end.
ErrorOr<std::vector<uint8_t>> selectCodeObject(std::span<const uint8_t> file,
                                               const Chip &chip);

/// Whether code compiled for `target` ("gfx90a:sramecc+:xnack-", or without
/// some of the features) runs on a device that calls itself `archName`.
bool isCompatibleTarget(std::string_view target, std::string_view archName);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_OFFLOADBUNDLE_H
