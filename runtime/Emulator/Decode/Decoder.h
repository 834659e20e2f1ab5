//===- Decoder.h - From bytes to the text of an instruction ----*- C++ -*-===//
//
// The only part that knows LLVM: its disassembler prints an instruction, and
// the printed text, which is the assembler's own input language, is what the
// rest of the emulator reads.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_DECODER_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_DECODER_H

#include "runtime/Emulator/Decode/Effects.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tessera::emulator {

struct Chip;

/// Not thread-safe: one decoder a program that is being made.
class Decoder {
public:
  /// `waveSize` matters on RDNA, where a kernel has 32 or 64 lanes.
  Decoder(const Chip &chip, unsigned waveSize);
  ~Decoder();

  /// Decodes the instruction at the front of `bytes`. Returns its size and
  /// sets `text`; returns 0 when the bytes are no instruction.
  unsigned decode(std::span<const uint8_t> bytes, uint64_t address,
                  std::string &text);

  /// What the instruction at the front of `bytes` reads and writes; nothing
  /// when the bytes are no instruction.
  Effects readEffects(std::span<const uint8_t> bytes);

  const Chip &getChip() const { return chip; }
  unsigned getWaveSize() const { return waveSize; }

private:
  struct Implementation;
  const Chip &chip;
  unsigned waveSize;
  std::unique_ptr<Implementation> implementation;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_DECODER_H
