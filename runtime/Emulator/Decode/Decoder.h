//===- Decoder.h - From bytes to the text of an instruction ----*- C++ -*--===//
//
// This is the only component that uses LLVM. LLVM's disassembler prints an
// instruction, and the rest of the emulator reads the printed text, which is
// the input language of the assembler.
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

/// Not thread-safe: each program that is being built has a decoder of its own.
class Decoder {
public:
  /// `waveSize` matters on RDNA, where a kernel has 32 or 64 lanes.
  Decoder(const Chip &chip, unsigned waveSize);
  ~Decoder();

  /// Decodes the instruction at the front of `bytes`. Returns its size and sets
  /// `text`, or returns 0 when the bytes do not encode an instruction.
  unsigned decode(std::span<const uint8_t> bytes, uint64_t address,
                  std::string &text);

  /// Returns what the instruction at the front of `bytes` reads and writes;
  /// empty when the bytes do not encode an instruction.
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
