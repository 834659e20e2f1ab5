//===- SourceLines.h - From a pc to a line of source -----------*- C++ -*-===//
//
// Who compiled with -g gets "at conv.hip:42" in messages.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_SOURCELINES_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_SOURCELINES_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tessera::emulator {

/// Owns a copy of the ELF file. Reads nothing of it before the first question.
/// Any thread may ask.
class SourceLines {
public:
  /// Null when the file has no line table.
  static std::shared_ptr<const SourceLines> load(std::span<const uint8_t> file);
  ~SourceLines();

  /// "conv.hip:42" for an address as a disassembly of the file shows it; empty
  /// when it is not known.
  std::string find(uint64_t pc) const;

private:
  struct Implementation;
  explicit SourceLines(std::span<const uint8_t> file);

  std::unique_ptr<Implementation> implementation;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_SOURCELINES_H
