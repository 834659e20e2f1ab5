//===- RegisterName.h - Registers in messages ------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_REGISTERNAME_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_REGISTERNAME_H

#include <string>

namespace tessera::emulator {

/// Returns "v3", "a0", "s17" or "vcc_lo": a vector row or scalar slot as a
/// disassembly names it.
std::string nameRegister(bool isScalar, unsigned number);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_REGISTERNAME_H
