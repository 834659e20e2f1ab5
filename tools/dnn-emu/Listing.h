//===- Listing.h - Kernels and their instructions as text ------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_EMU_LISTING_H
#define TESSERA_TOOLS_DNN_EMU_LISTING_H

#include "runtime/Emulator/Launch.h"

namespace tessera::emu {

/// Prints arguments, registers and memory of one kernel.
void printKernel(const emulator::KernelImage &kernel);

/// Prints the instructions of one kernel.
void printDisassembly(const emulator::KernelImage &kernel,
                      const emulator::Program &program);

/// Prints the hottest loop, then the whole kernel, with the cost of each
/// instruction.
void printProfile(const emulator::Launch &launch,
                  const emulator::LaunchStats &stats);

} // namespace tessera::emu

#endif // TESSERA_TOOLS_DNN_EMU_LISTING_H
