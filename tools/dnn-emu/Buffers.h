//===- Buffers.h - The arguments of the kernel that is run -----*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_EMU_BUFFERS_H
#define TESSERA_TOOLS_DNN_EMU_BUFFERS_H

#include "runtime/Emulator/Decode/CodeObject.h"
#include "tools/dnn-emu/Options.h"

#include <span>

namespace tessera::emu {

ErrorOr<std::vector<uint8_t>> readFile(const std::string &path);

/// Device memory of the buffer arguments, and the explicit arguments in the
/// layout of the kernel's metadata. Owns the memory.
class Arguments {
public:
  /// Fails with one sentence when the number or sizes do not fit the kernel.
  static ErrorOr<Arguments> create(const emulator::KernelImage &kernel,
                                   const std::vector<ArgumentSpec> &specs,
                                   emulator::MemoryMap &memory);
  Arguments(Arguments &&other) = default;
  ~Arguments();

  const std::vector<uint8_t> &getBytes() const { return bytes; }
  /// Of all buffers together.
  uint64_t getBufferBytes() const;

  /// Writes buffer argument `dump.argument` to a file.
  Status dump(const DumpSpec &dump) const;
  /// Describes the difference in one sentence; empty if there is none.
  ErrorOr<std::string> compare(const CompareSpec &compare) const;

  /// Describes an address in or near a buffer: "argument 2, a buffer of 4096
  /// bytes", with the distance; empty for any other address.
  std::string describe(uint64_t address) const;

private:
  struct Buffer {
    unsigned argument;
    ElementType type;
    std::span<uint8_t> bytes;
  };
  explicit Arguments(emulator::MemoryMap &memory) : memory(&memory) {}
  Status addBuffer(unsigned number, const ArgumentSpec &spec);
  ErrorOr<Buffer> find(const char *option, unsigned number) const;

  emulator::MemoryMap *memory;
  std::vector<Buffer> buffers;
  std::vector<uint8_t> bytes;
};

} // namespace tessera::emu

#endif // TESSERA_TOOLS_DNN_EMU_BUFFERS_H
