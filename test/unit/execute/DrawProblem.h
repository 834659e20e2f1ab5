//===- DrawProblem.h - Draws valid convolutions --------------*- C++ -*-===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H
#define TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H

#include "runtime/Base/Problem.h"

#include <cstdint>

namespace tessera {

/// The `index`-th valid forward problem of the sequence that `seed` starts.
/// Type and layout go round with the index, so every pair of them is met;
/// everything else is drawn: groups and depthwise, dilation, asymmetric sizes,
/// 1x1, filters larger than the image, channels 1, 3 and 67 among others,
/// mixed layouts. Small enough to be executed and checked in a moment.
ConvProblem drawProblem(uint64_t seed, int index);

} // namespace tessera

#endif // TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H
