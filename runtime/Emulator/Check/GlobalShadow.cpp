//===- GlobalShadow.cpp - Who touched which dword of memory ---------------===//

#include "runtime/Emulator/Check/GlobalShadow.h"

#include "runtime/Emulator/MemoryMap.h"

using namespace tessera::emulator;

// The shadow may use a quarter of the host's memory. The shadow of a page is
// ten times as large as the page.
GlobalShadow::GlobalShadow()
    : pagesLeft(MemoryMap::getTotalBytes() / 4 / sizeof(Page)) {}

GlobalShadow::Page *GlobalShadow::getPage(uint64_t address) {
  uint64_t number = address / kPageBytes;
  Shard &shard = shards[number % shards.size()];
  std::lock_guard lock(shard.mutex);
  auto [found, isNew] = shard.pages.try_emplace(number);
  if (isNew && pagesLeft.load(std::memory_order_relaxed) > 0) {
    found->second = std::make_unique<Page>();
    pagesLeft.fetch_sub(1, std::memory_order_relaxed);
  }
  return found->second.get();
}
