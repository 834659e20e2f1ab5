//===- CodeObject.h - An AMDGPU code object in memory ----------*- C++ -*--===//
//
// Reads the ELF file that a compiler made: places its segments in emulated
// device memory, applies relocations, and collects what the descriptor and
// metadata say about each kernel. It does not look at instructions.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_CODEOBJECT_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_CODEOBJECT_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Decode/SourceLines.h"
#include "runtime/Emulator/MemoryMap.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::emulator {

/// The 64 bytes of NAME.kd, unpacked (LLVM's AMDGPU usage guide).
struct KernelDescriptor {
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0; ///< per lane
  uint32_t kernargBytes = 0;
  int64_t entryOffset = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  uint16_t kernargPreload = 0;

  bool hasProperty(unsigned bit) const { return properties >> bit & 1; }
  unsigned getUserSgprCount() const { return rsrc2 >> 1 & 31; }
  bool hasScratch() const { return rsrc2 & 1; }
  bool isWave32() const { return hasProperty(10); }
  bool hasDynamicStack() const { return hasProperty(11); }
};

/// One argument as the metadata lists it: explicit or hidden.
struct KernelArgument {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  std::string kind; ///< .value_kind, for example "hidden_block_count_x"
  bool isHidden() const { return kind.starts_with("hidden_"); }
};

struct KernelImage {
  std::string name;
  uint64_t entry = 0;     ///< The address of the first instruction.
  uint64_t codeBytes = 0; ///< The size of the function symbol.
  KernelDescriptor descriptor;
  std::vector<KernelArgument> arguments;
  uint32_t maxWorkgroupSize = 1024;
  /// The only group size that the kernel was compiled for; zeros if it supports
  /// any.
  std::array<uint32_t, 3> requiredGroupSize{};
  uint32_t vgprCount = 0; ///< AGPRs included.
  uint32_t agprCount = 0;
  uint32_t sgprCount = 0;
};

/// A variable of the code object, for hipModuleGetGlobal.
struct GlobalImage {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

/// Owns the image in device memory. Immutable once loaded.
class CodeObject {
public:
  /// Copies `bytes`. Fails with NotSupported when the code is for a chip other
  /// than `chip`, and with InvalidArgument when it is not a code object.
  static ErrorOr<std::shared_ptr<const CodeObject>>
  load(const void *bytes, size_t size, const Chip &chip, MemoryMap &memory);
  ~CodeObject();

  const KernelImage *findKernel(std::string_view name) const;
  const GlobalImage *findGlobal(std::string_view name) const;
  std::span<const KernelImage> getKernels() const { return kernels; }

  /// The executable bytes and the address at which they were placed.
  std::span<const uint8_t> getText() const { return text; }
  uint64_t getTextAddress() const {
    return reinterpret_cast<uint64_t>(text.data());
  }
  /// Null when the code was compiled without line tables.
  const std::shared_ptr<const SourceLines> &getSourceLines() const {
    return lines;
  }
  /// The address at which the object's address 0 was placed.
  uint64_t getLoadAddress() const { return base; }

private:
  friend class CodeObjectReader;
  explicit CodeObject(MemoryMap &memory) : memory(memory) {}

  MemoryMap &memory;
  uint64_t base = 0;
  /// The allocations of the image in ascending order; the first begins at
  /// `base`.
  std::vector<std::pair<uint64_t, MemoryKind>> allocations;
  std::span<const uint8_t> text;
  std::vector<KernelImage> kernels;
  std::vector<GlobalImage> globals;
  std::shared_ptr<const SourceLines> lines;
};

/// Returns the size of the ELF file at `image` from its own headers, or 0 if it
/// is not one. hipModuleLoadData is not given a size.
size_t getElfSize(const void *image);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_CODEOBJECT_H
