//===- SourceLines.h - From a pc to a line of source -----------*- C++ -*--===//
//
// With code that was compiled with -g, messages say "at conv.hip:42".
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_SOURCELINES_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_SOURCELINES_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tessera::emulator {

/// Owns a copy of the ELF file and parses it at the first query. Any thread may
/// call it.
class SourceLines {
public:
  /// Returns null when the file has no line table.
  static std::shared_ptr<const SourceLines> load(std::span<const uint8_t> file);
  ~SourceLines();

  /// Returns "conv.hip:42" for an address as a disassembly of the file shows
  /// it, or an empty string if the line is not known.
  std::string find(uint64_t pc) const;

private:
  struct Implementation;
  explicit SourceLines(std::span<const uint8_t> file);

  std::unique_ptr<Implementation> implementation;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_SOURCELINES_H
