//===- KeepMemory.h - Memory that a process of ours keeps ------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_KEEPMEMORY_H
#define TESSERA_RUNTIME_BASE_KEEPMEMORY_H

#include <malloc.h>

namespace tessera {

/// Makes the C library keep what is freed. It would give the pages of each
/// compilation back, which the next one asks for again: a thousand page faults,
/// one fortieth of the time. Only for programs that are ours alone; a library
/// leaves this to its client.
inline void keepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kKeptBytes = 64 << 20, kLargestBytes = 32 << 20;
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kLargestBytes);
#endif
}

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_KEEPMEMORY_H
