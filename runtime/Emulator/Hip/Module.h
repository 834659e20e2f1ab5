//===- Module.h - Loaded code and how it is found --------------*- C++ -*--===//
//
// The declarations that the files about modules, launches and occupancy share.
// Applications see only the two opaque handles.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_MODULE_H
#define TESSERA_RUNTIME_EMULATOR_HIP_MODULE_H

#include "runtime/Emulator/Decode/CodeObject.h"
#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Hip/Device.h"
#include "runtime/Hip/Launch.h"

#include <memory>
#include <mutex>
#include <vector>

/// A function of a module. Lives as long as the module.
struct ihipModuleSymbol_t {
  ihipModule_t *module;
  const tessera::emulator::KernelImage *kernel;

  /// The number of lanes of the function's waves.
  unsigned getLanes(const tessera::emulator::Chip &chip) const {
    return !chip.isGfx9() && kernel->descriptor.isWave32() ? 32 : 64;
  }
};

/// A loaded module. Its code is decoded when the first kernel is launched, once
/// for each wave size that its kernels use.
struct ihipModule_t {
  std::shared_ptr<const tessera::emulator::CodeObject> object;
  std::mutex mutex;
  std::unique_ptr<tessera::emulator::Program> programs[2];
  std::vector<ihipModuleSymbol_t *> functions;

  const tessera::emulator::Program &
  getProgram(const tessera::emulator::Chip &chip, unsigned lanes);
};

namespace tessera::emulator {

/// Whether `function` belongs to a module that is still loaded.
bool isFunction(hipFunction_t function);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_MODULE_H
