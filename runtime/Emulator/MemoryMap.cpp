//===- MemoryMap.cpp - Every address a kernel may touch -------------------===//

#include "runtime/Emulator/MemoryMap.h"

#include <cstdio>
#include <cstring>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

using namespace tessera::emulator;

static constexpr uint64_t kPage = 4096;
/// Unmapped bytes between two allocations. Accesses of kernels are checked
/// exactly, whatever the distance; the gap catches host code that overruns.
static constexpr uint64_t kGuard = 64 * 1024;
static constexpr size_t kMaxFreedRemembered = 4096;

static uint64_t roundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Reserved address space costs nothing until it is used. If a limit on address
// space makes the reservation fail, try half as much.
MemoryMap::MemoryMap() {
  for (uint64_t wish = uint64_t(1) << 42; wish >= uint64_t(1) << 30;
       wish /= 2) {
    void *arena = mmap(nullptr, wish, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
      continue;
    arenaBegin = arenaNext = reinterpret_cast<uint64_t>(arena);
    arenaEnd = arenaBegin + wish;
    return;
  }
}

MemoryMap::~MemoryMap() {
  if (arenaBegin)
    munmap(reinterpret_cast<void *>(arenaBegin), arenaEnd - arenaBegin);
}

size_t MemoryMap::getTotalBytes() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
}

/// Returns the address of `bytes` free bytes with guards, or 0. Addresses
/// ascend, and start again at the bottom only when the arena is used up.
uint64_t MemoryMap::reserve(size_t bytes) {
  uint64_t span = roundUp(bytes, kPage) + kGuard;
  for (int round = 0; round < 2; ++round) {
    uint64_t begin = arenaNext + kGuard;
    auto next = live.lower_bound(begin);
    if (next != live.begin() && std::prev(next)->second.end + kGuard > begin)
      begin = roundUp(std::prev(next)->second.end, kPage) + kGuard;
    while (next != live.end() && next->first < begin + span) {
      begin = roundUp(next->second.end, kPage) + kGuard;
      ++next;
    }
    if (begin + span <= arenaEnd) {
      arenaNext = begin + roundUp(bytes, kPage);
      return begin;
    }
    arenaNext = arenaBegin;
  }
  return 0;
}

void *MemoryMap::allocate(size_t bytes, MemoryKind kind) {
  std::unique_lock lock(mutex);
  if (bytes > getTotalBytes() || allocatedBytes > getTotalBytes() - bytes)
    return nullptr;
  uint64_t begin = reserve(bytes);
  if (!begin)
    return nullptr;
  void *pointer = reinterpret_cast<void *>(begin);
  if (mprotect(pointer, roundUp(bytes, kPage), PROT_READ | PROT_WRITE))
    return nullptr;
  std::memset(pointer, kPoison, bytes);
  live[begin] = {begin, begin + bytes, kind};
  allocatedBytes += bytes;
  return pointer;
}

bool MemoryMap::free(void *pointer, MemoryKind kind) {
  std::unique_lock lock(mutex);
  auto it = live.find(reinterpret_cast<uint64_t>(pointer));
  if (it == live.end() || it->second.kind != kind)
    return false;
  const Allocation gone = it->second;
  live.erase(it);
  if (isOwned(gone.begin)) {
    uint64_t bytes = roundUp(gone.end - gone.begin, kPage);
    madvise(pointer, bytes, MADV_DONTNEED);
    mprotect(pointer, bytes, PROT_NONE);
    allocatedBytes -= gone.end - gone.begin;
  }
  if (freed.size() == kMaxFreedRemembered)
    freed.erase(freed.begin(), freed.begin() + kMaxFreedRemembered / 2);
  freed.push_back(gone);
  return true;
}

bool MemoryMap::adopt(void *pointer, size_t bytes) {
  std::unique_lock lock(mutex);
  auto begin = reinterpret_cast<uint64_t>(pointer);
  auto next = live.lower_bound(begin + bytes);
  if (next != live.begin() && std::prev(next)->second.end > begin)
    return false;
  live[begin] = {begin, begin + bytes, MemoryKind::Adopted};
  return true;
}

void MemoryMap::split(uint64_t at, MemoryKind kind) {
  std::unique_lock lock(mutex);
  auto next = live.upper_bound(at);
  if (next == live.begin() || std::prev(next)->second.end <= at)
    return;
  Allocation &whole = std::prev(next)->second;
  Allocation tail{at, whole.end, kind};
  whole.end = at;
  live.insert_or_assign(at, tail);
}

const Allocation *MemoryMap::findLocked(uint64_t address) const {
  auto next = live.upper_bound(address);
  if (next == live.begin())
    return nullptr;
  const Allocation &candidate = std::prev(next)->second;
  return address < candidate.end ? &candidate : nullptr;
}

std::optional<Allocation> MemoryMap::find(uint64_t address) const {
  std::shared_lock lock(mutex);
  if (const Allocation *found = findLocked(address))
    return *found;
  return std::nullopt;
}

size_t MemoryMap::getAllocatedBytes() const {
  std::shared_lock lock(mutex);
  return allocatedBytes;
}

static std::string describeRange(const Allocation &allocation) {
  char text[96];
  std::snprintf(text, sizeof text, "the %zu-byte allocation at 0x%llx",
                static_cast<size_t>(allocation.end - allocation.begin),
                static_cast<unsigned long long>(allocation.begin));
  return text;
}

std::string MemoryMap::describeLocked(uint64_t address) const {
  if (const Allocation *inside = findLocked(address))
    return std::to_string(address - inside->begin) + " bytes into " +
           describeRange(*inside);
  for (auto it = freed.rbegin(); it != freed.rend(); ++it)
    if (address >= it->begin && address < it->end)
      return std::to_string(address - it->begin) + " bytes into " +
             describeRange(*it) + ", which was freed";
  auto next = live.upper_bound(address);
  if (next != live.begin()) {
    const Allocation &below = std::prev(next)->second;
    if (address - below.end < kGuard)
      return std::to_string(address - below.end) + " bytes past the end of " +
             describeRange(below);
  }
  if (next != live.end() && next->first - address < kGuard)
    return std::to_string(next->first - address) + " bytes before " +
           describeRange(next->second);
  return "in no allocation";
}
