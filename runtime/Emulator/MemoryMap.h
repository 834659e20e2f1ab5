//===- MemoryMap.h - Every address a kernel may touch ----------*- C++ -*-===//
//
// Device memory is host memory, so a device pointer is a host pointer. What
// makes an access legal is not that the host could do it but that it lies
// wholly inside one live allocation: this is the list of them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEMORYMAP_H
#define TESSERA_RUNTIME_EMULATOR_MEMORYMAP_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

namespace tessera::emulator {

enum class MemoryKind : uint8_t {
  Device,  ///< hipMalloc.
  Host,    ///< hipHostMalloc: reachable from both sides.
  Managed, ///< hipMallocManaged: the same to us.
  Adopted, ///< The application's own, made reachable by hipHostRegister.
  Code,    ///< Code and constants of a code object: kernels may read them.
  Global,  ///< Variables of a code object.
  Kernarg, ///< Arguments of a running kernel: may be read.
  Scratch, ///< Private memory of running waves.
};

struct Allocation {
  uint64_t begin = 0;
  uint64_t end = 0;
  MemoryKind kind = MemoryKind::Device;

  bool contains(uint64_t address, uint64_t bytes) const {
    return address >= begin && address <= end && end - address >= bytes;
  }
  bool isWritable() const {
    return kind != MemoryKind::Code && kind != MemoryKind::Kernarg;
  }
};

/// Owns device memory. Thread-safe; a running kernel holds `lockForLaunch` so
/// that nothing it may touch goes away under it.
class MemoryMap {
public:
  MemoryMap();
  ~MemoryMap();
  MemoryMap(const MemoryMap &) = delete;
  MemoryMap &operator=(const MemoryMap &) = delete;

  /// New memory filled with kPoison, page-aligned, with unmapped guard pages
  /// on both sides; addresses are not used again for a long time, so that a
  /// stale pointer is noticed. Returns nullptr when memory is short.
  void *allocate(size_t bytes, MemoryKind kind);
  /// False when `pointer` is not the begin of a live allocation of `kind`.
  bool free(void *pointer, MemoryKind kind);

  /// Makes memory that somebody else owns reachable, as MemoryKind::Adopted.
  /// False when any of it is reachable already.
  bool adopt(void *pointer, size_t bytes);
  /// Cuts the live allocation with `at` inside in two, there: what follows is
  /// of `kind` from now on. `at` begins a page.
  void split(uint64_t at, MemoryKind kind);

  /// The live allocation with `address` inside.
  std::optional<Allocation> find(uint64_t address) const;
  /// As find(), for a thread that already holds lockForLaunch().
  const Allocation *findLocked(uint64_t address) const;
  std::shared_lock<std::shared_mutex> lockForLaunch() const {
    return std::shared_lock(mutex);
  }

  /// What lies at `address`, in words: "16 bytes past the end of ...". The
  /// caller holds lockForLaunch().
  std::string describeLocked(uint64_t address) const;

  size_t getAllocatedBytes() const;
  static size_t getTotalBytes();

  /// A NaN in f16, bf16, f32 and f64, so that a result made from memory that
  /// nobody wrote is seen.
  static constexpr uint8_t kPoison = 0xff;

private:
  uint64_t reserve(size_t bytes);
  bool isOwned(uint64_t address) const {
    return address >= arenaBegin && address < arenaEnd;
  }

  mutable std::shared_mutex mutex;
  std::map<uint64_t, Allocation> live; ///< By begin.
  std::vector<Allocation> freed;       ///< The youngest last; bounded.
  size_t allocatedBytes = 0;
  uint64_t arenaBegin = 0;
  uint64_t arenaEnd = 0;
  uint64_t arenaNext = 0;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEMORYMAP_H
