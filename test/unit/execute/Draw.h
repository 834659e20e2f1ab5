//===- Draw.h - Random choices that a seed repeats -------------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_DRAW_H
#define TESSERA_TEST_UNIT_EXECUTE_DRAW_H

#include "runtime/Base/ProblemTypes.h"

#include <initializer_list>
#include <random>

namespace tessera {

/// Random numbers of std::mt19937_64 with distributions of our own: those of
/// the standard differ between libraries, and a seed must name the same problem
/// everywhere.
class Draw {
public:
  explicit Draw(uint64_t seed) : engine(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % (high - low + 1));
  }
  bool chance(int64_t percent) { return between(1, 100) <= percent; }
  int64_t oneOf(std::initializer_list<int64_t> values) {
    return values.begin()[between(0, static_cast<int64_t>(values.size()) - 1)];
  }

private:
  std::mt19937_64 engine;
};

/// Draws strides with the dimensions in any order and gaps behind some of them.
Strides drawStrides(Draw &draw, Layout layout, const TensorLengths &lengths);

} // namespace tessera

#endif // TESSERA_TEST_UNIT_EXECUTE_DRAW_H
