//===- EffectsReader.h - Effects from LLVM's descriptions ------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_EFFECTSREADER_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_EFFECTSREADER_H

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Decode/Effects.h"

#include <optional>

namespace llvm {
class MCInst;
class MCInstrInfo;
class MCRegisterInfo;
} // namespace llvm

namespace tessera::emulator {

/// Maps LLVM's registers to the registers of a wave. Immutable.
class EffectsReader {
public:
  EffectsReader(const Chip &chip, unsigned waveSize,
                const llvm::MCRegisterInfo &registers,
                const llvm::MCInstrInfo &instructions);

  Effects read(const llvm::MCInst &instruction) const;

private:
  /// Empty for registers that no check needs (MODE, null, apertures).
  using Register = std::optional<RegisterUse>;

  void add(Effects &effects, unsigned reg, bool isWrite) const;
  void addImplicit(Effects &effects, unsigned reg, bool isWrite) const;

  bool isWave32;
  const llvm::MCInstrInfo &instructions;
  std::vector<Register> uses; ///< by LLVM's register number
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_EFFECTSREADER_H
