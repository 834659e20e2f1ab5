//===- ObjectTag.cpp - The memory of a client's objects -------------------===//

#include "capi/lib/ObjectTag.h"

// A sanitizer shall see who reads more of a destroyed object than its tag.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size)                             \
  ((void)(address), (void)(size))
#endif

using namespace tessera::capi;

void *ObjectPool::take(size_t bytes) {
  {
    const std::lock_guard lock(mutex);
    if (freeCount > kLeastFree) {
      Free *block = std::exchange(oldest, oldest->next);
      --freeCount;
      ASAN_UNPOISON_MEMORY_REGION(block, bytes);
      return block;
    }
  }
  return ::operator new(bytes);
}

void ObjectPool::giveBack(void *block, size_t bytes,
                          uint64_t liveTag) noexcept {
  // The block is read through the client's pointer by later calls, so this
  // write after the object's end is none that the compiler may drop.
  Free *free = new (block) Free{kGoneTag + (liveTag & kTypeMask), nullptr};
  ASAN_POISON_MEMORY_REGION(free + 1, bytes - sizeof(Free));
  const std::lock_guard lock(mutex);
  (freeCount++ ? newest->next : oldest) = free;
  newest = free;
}
