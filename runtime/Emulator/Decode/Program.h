//===- Program.h - The predecoded code of a code object --------*- C++ -*--===//
//
// The executable bytes of a code object, decoded once. Translates between
// instructions and addresses as kernels see them (s_getpc).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_PROGRAM_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_PROGRAM_H

#include "runtime/Emulator/Decode/Decoder.h"
#include "runtime/Emulator/Decode/SourceLines.h"
#include "runtime/Emulator/Instruction.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::emulator {

/// Observably immutable after construction, and shared by all threads. Bytes
/// that cannot be decoded, and instructions without a handler, become
/// instructions that stop the kernel with an error if they are ever reached.
class Program {
public:
  /// `code` lies at the address at which the kernel expects it. Messages give
  /// the pc relative to `loadAddress`.
  Program(Decoder &decoder, std::span<const uint8_t> code,
          uint64_t loadAddress);

  /// Returns the instruction at `address`, or nullptr when none starts there.
  const Instruction *find(uint64_t address) const;
  uint64_t getAddress(const Instruction &instruction) const {
    return codeBegin + offsets[instruction.index];
  }
  uint64_t getNextAddress(const Instruction &instruction) const {
    return getAddress(instruction) + instruction.bytes;
  }
  /// The pc as a disassembly of the file shows it.
  uint64_t getOffset(const Instruction &instruction) const {
    return getAddress(instruction) - loadAddress;
  }
  const std::string &getText(const Instruction &instruction) const {
    return texts[instruction.index];
  }
  /// The registers that the instruction reads and writes, computed when they
  /// are first needed. Any thread may call this.
  const Effects &getEffects(const Instruction &instruction) const;
  /// Where the instruction is and what it is, for messages that name two
  /// instructions.
  std::string describe(const Instruction &instruction) const;
  /// Enables source lines in messages. Must be called before another thread
  /// sees the program.
  void setSourceLines(std::shared_ptr<const SourceLines> newLines) {
    lines = std::move(newLines);
  }
  /// Returns "conv.hip:42", or an empty string if the line is not known.
  std::string getSourceLine(const Instruction &instruction) const {
    return lines ? lines->find(getOffset(instruction)) : "";
  }

  const Instruction *getBegin() const { return instructions.data(); }
  size_t size() const { return instructions.size(); }

private:
  friend class InstructionBinder;
  friend class ModifierBinder;
  const uint32_t *getConstantRow(uint32_t value);
  const DppControl *keepDpp(const DppControl &control);
  const Instruction *keepHalves(const std::array<Instruction, 2> &halves);

  /// A cache of the results of getEffects().
  struct KnownEffects {
    std::mutex mutex;
    std::unique_ptr<Decoder> decoder;
    std::vector<std::unique_ptr<Effects>> ofInstruction;
  };

  const Chip &chip;
  unsigned waveSize;
  uint64_t codeBegin;
  uint64_t loadAddress;
  /// The decoded ones and one more that marks the end.
  std::vector<Instruction> instructions;
  std::vector<std::string> texts;
  std::vector<uint32_t> offsets; ///< by instruction
  /// By offset / 4; kNone inside of an instruction.
  std::vector<uint32_t> indexOfWord;
  std::deque<std::array<uint32_t, 64>> constantRows;
  std::unordered_map<uint32_t, const uint32_t *> rowOfConstant;
  std::deque<DppControl> dppControls;
  std::shared_ptr<const SourceLines> lines;
  std::unique_ptr<KnownEffects> effects = std::make_unique<KnownEffects>();
  std::deque<std::array<Instruction, 2>> dualHalves;

  static constexpr uint32_t kNone = ~0u;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_PROGRAM_H
