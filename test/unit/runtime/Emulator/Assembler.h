//===- Assembler.h - AMDGPU assembly for tests -----------------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_RUNTIME_EMULATOR_ASSEMBLER_H
#define TESSERA_TEST_UNIT_RUNTIME_EMULATOR_ASSEMBLER_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::emulator {

/// Returns the encoding of some instructions, one a line. Returns nothing,
/// after a test failure, if `chip` does not have one of them.
std::vector<uint8_t> assemble(const std::string &chip, const std::string &text);

/// What assembleKernel() needs besides the instructions.
struct KernelSource {
  std::string chip = "gfx942";
  std::string name = "kernel";
  std::string body;
  unsigned ldsBytes = 0;
  unsigned scratchBytes = 0;
  /// The size of the explicit arguments, which are all 8-byte pointers.
  unsigned argumentBytes = 0;
  /// Lines ".name value" for .amdhsa_ directives, without the prefix.
  std::string directives;
  /// Hidden arguments after the explicit ones: name and size.
  std::vector<std::pair<std::string, unsigned>> hidden;
};

/// Returns a linked code object.
std::vector<uint8_t> assembleKernel(const KernelSource &source);

} // namespace tessera::emulator

#endif // TESSERA_TEST_UNIT_RUNTIME_EMULATOR_ASSEMBLER_H
