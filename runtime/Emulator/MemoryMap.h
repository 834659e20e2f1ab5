//===- MemoryMap.h - Every address a kernel may touch ----------*- C++ -*--===//
//
// Device memory is host memory, so a device pointer is a host pointer. An
// access is legal not because the host could perform it but because it lies
// entirely inside one live allocation: this is the list of them.
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
  Device,  ///< hipMalloc
  Host,    ///< hipHostMalloc: accessible to both sides
  Managed, ///< hipMallocManaged: treated the same
  Adopted, ///< The application's memory, registered by hipHostRegister.
  Code,    ///< Code and constants of a code object, which kernels may read.
  Global,  ///< Variables of a code object.
  Kernarg, ///< Arguments of a running kernel, which it may read.
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

/// Owns device memory. Thread-safe. A running kernel holds `lockForLaunch`, so
/// that no memory that it may access is freed meanwhile.
class MemoryMap {
public:
  MemoryMap();
  ~MemoryMap();
  MemoryMap(const MemoryMap &) = delete;
  MemoryMap &operator=(const MemoryMap &) = delete;

  /// Returns new memory filled with kPoison, page-aligned, with unmapped guard
  /// pages on both sides, or nullptr when memory is short. Addresses are not
  /// reused for a long time, so that a stale pointer is noticed.
  void *allocate(size_t bytes, MemoryKind kind);
  /// Returns false when `pointer` is not the begin of a live allocation of
  /// `kind`.
  bool free(void *pointer, MemoryKind kind);

  /// Makes memory that is owned elsewhere accessible, as MemoryKind::Adopted.
  /// Returns false if any of it is accessible already.
  bool adopt(void *pointer, size_t bytes);
  /// Splits the live allocation that contains `at` at this address; the second
  /// part becomes an allocation of `kind`. `at` must be the begin of a page.
  void split(uint64_t at, MemoryKind kind);

  /// Returns the live allocation that contains `address`.
  std::optional<Allocation> find(uint64_t address) const;
  /// The same as find(), for a thread that already holds lockForLaunch().
  const Allocation *findLocked(uint64_t address) const;
  std::shared_lock<std::shared_mutex> lockForLaunch() const {
    return std::shared_lock(mutex);
  }

  /// Describes `address` in words: "16 bytes past the end of ...". The caller
  /// must hold lockForLaunch().
  std::string describeLocked(uint64_t address) const;

  size_t getAllocatedBytes() const;
  static size_t getTotalBytes();

  /// A NaN in f16, bf16, f32 and f64, so that a result computed from memory
  /// that was never written is noticed.
  static constexpr uint8_t kPoison = 0xff;

private:
  uint64_t reserve(size_t bytes);
  bool isOwned(uint64_t address) const {
    return address >= arenaBegin && address < arenaEnd;
  }

  mutable std::shared_mutex mutex;
  std::map<uint64_t, Allocation> live; ///< by begin
  /// The youngest is last; the size is bounded.
  std::vector<Allocation> freed;
  size_t allocatedBytes = 0;
  uint64_t arenaBegin = 0;
  uint64_t arenaEnd = 0;
  uint64_t arenaNext = 0;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEMORYMAP_H
