//===- OpenClCompiler.h - Compiled kernels for tests -----------*- C++ -*--===//
//
// What a check must find, or must not report, is easiest to express in the
// language in which people write kernels.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_RUNTIME_EMULATOR_OPENCLCOMPILER_H
#define TESSERA_TEST_UNIT_RUNTIME_EMULATOR_OPENCLCOMPILER_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::emulator {

/// False where clang-22 is not installed: such tests are then skipped.
bool hasOpenClCompiler();

/// Returns a code object with the one kernel of `source`, OpenCL C 2.0 that may
/// use the macros TID (work-item in group), GID (group), BARRIER() and FENCE().
std::vector<uint8_t> compileOpenCl(const std::string &chip,
                                   const std::string &source,
                                   const std::string &options = "-O2");

} // namespace tessera::emulator

#endif // TESSERA_TEST_UNIT_RUNTIME_EMULATOR_OPENCLCOMPILER_H
