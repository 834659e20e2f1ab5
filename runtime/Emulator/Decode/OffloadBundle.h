//===- OffloadBundle.h - Code objects of several chips in one --*- C++ -*--===//
//
// clang puts the code objects for all chips of `--offload-arch` into a bundle,
// compressed on request. Programs carry such bundles and pass them to
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

/// Returns the ELF file for `chip` in `image`, which is a code object, a
/// bundle, or a compressed bundle. The size comes from the file's own headers
/// because HIP is not told any. Fails with NotSupported when there is no code
/// for `chip`.
ErrorOr<std::vector<uint8_t>> selectCodeObject(const void *image,
                                               const Chip &chip);

/// The same for a file of known size. Nothing is read beyond its end.
ErrorOr<std::vector<uint8_t>> selectCodeObject(std::span<const uint8_t> file,
                                               const Chip &chip);

/// Whether code compiled for `target` ("gfx90a:sramecc+:xnack-", or without
/// some of the features) runs on a device whose architecture name is
/// `archName`.
bool isCompatibleTarget(std::string_view target, std::string_view archName);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_OFFLOADBUNDLE_H
