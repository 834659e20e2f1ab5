//===- Random.h - Numbered random bits -------------------------*- C++ -*--===//

#ifndef TESSERA_DIALECT_REFERENCE_RANDOM_H
#define TESSERA_DIALECT_REFERENCE_RANDOM_H

#include <cstdint>

namespace tessera::reference {

/// The `index`-th random word of the sequence `seed`: SplitMix64 (Steele, Lea
/// and Flood, 2014), entered at any position. Unlike the standard library's
/// distributions it gives the same numbers everywhere.
inline uint64_t getRandomBits(uint64_t seed, uint64_t index) {
  uint64_t bits = (seed * 0x2545f4914f6cdd1dull) + index + 1;
  bits *= 0x9e3779b97f4a7c15ull;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  return bits ^ (bits >> 31);
}

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_RANDOM_H
