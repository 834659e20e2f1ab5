//===- Findings.h - What went wrong, for people ----------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_EMU_FINDINGS_H
#define TESSERA_TOOLS_DNN_EMU_FINDINGS_H

#include "runtime/Emulator/Launch.h"
#include "tools/dnn-emu/Buffers.h"

namespace tessera::emu {

/// Prints a block for each fault and finding: what happened and where, the
/// instructions around it, the registers that it used, and the argument that
/// its address belongs to.
void printFindings(const emulator::Launch &launch,
                   const emulator::LaunchOutcome &outcome,
                   const Arguments &arguments);

} // namespace tessera::emu

#endif // TESSERA_TOOLS_DNN_EMU_FINDINGS_H
