//===- FailingNew.cpp - Memory that is counted and runs out ---------------===//

#include "test/unit/capi/FailingNew.h"

#include <cstdlib>
#include <new>

/// Number of allocations of this thread before one fails; if negative, none
/// fails.
static thread_local int left = -1;
static thread_local int allocations = 0;

int tessera::test::countAllocations() { return allocations; }

tessera::test::FailingNew::FailingNew(int count) { left = count; }
tessera::test::FailingNew::~FailingNew() { left = -1; }

// Replaces the program's allocation functions; every other form of new calls
// this one.
#ifndef __SANITIZE_THREAD__
void *operator new(size_t size) {
  ++allocations;
  if (left < 0 || left-- > 0)
    if (void *memory = std::malloc(size ? size : 1))
      return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif
