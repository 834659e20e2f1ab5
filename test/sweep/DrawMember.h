//===- DrawMember.h - Another problem of a family --------------*- C++ -*--===//

#ifndef TESSERA_TEST_SWEEP_DRAWMEMBER_H
#define TESSERA_TEST_SWEEP_DRAWMEMBER_H

#include "runtime/Base/Problem.h"

#include <cstdint>

namespace tessera::sweep {

/// A problem that differs from `problem` in the sizes that its family leaves
/// open, of at most `most` operations. Half of the sizes are powers of two and
/// their neighbours, where the shift of a division changes. The same problem if
/// it has no family, or if no sizes that are drawn make a valid problem.
Problem drawMember(const Problem &problem, uint64_t seed, double most);

} // namespace tessera::sweep

#endif // TESSERA_TEST_SWEEP_DRAWMEMBER_H
