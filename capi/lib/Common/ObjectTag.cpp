//===- ObjectTag.cpp - The memory of a client's objects -------------------===//

#include "capi/lib/Common/ObjectTag.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESSERA_HAS_ASAN
// Declared here because some installations have the sanitizer without its
// header.
extern "C" void __asan_poison_memory_region(const volatile void *, size_t);
extern "C" void __asan_unpoison_memory_region(const volatile void *, size_t);
#endif
#endif

using namespace tessera::capi;

/// Lets the address sanitizer report reads of a destroyed object beyond its
/// tag.
static void setHidden([[maybe_unused]] void *memory,
                      [[maybe_unused]] size_t bytes,
                      [[maybe_unused]] bool isHidden) {
#ifdef TESSERA_HAS_ASAN
  if (isHidden)
    __asan_poison_memory_region(memory, bytes);
  else
    __asan_unpoison_memory_region(memory, bytes);
#endif
}

void *ObjectPool::take(size_t bytes) {
  {
    const std::lock_guard lock(mutex);
    if (freeCount > kLeastFree) {
      Free *block = std::exchange(oldest, oldest->next);
      --freeCount;
      setHidden(block, bytes, false);
      return block;
    }
  }
  return ::operator new(bytes);
}

void ObjectPool::giveBack(void *block, size_t bytes,
                          uint64_t liveTag) noexcept {
  // A new object of type Free begins here, so that the compiler must not drop
  // the write as one to a dead object: later calls read the tag through the
  // client's stale pointer.
  Free *free = new (block) Free{kGoneTag + (liveTag & kTypeMask), nullptr};
  setHidden(free + 1, bytes - sizeof(Free), true);
  const std::lock_guard lock(mutex);
  (freeCount++ ? newest->next : oldest) = free;
  newest = free;
}
