//===- RowWiseKind.h - The operations of row problems ----------*- C++ -*--===//
//
// This is separate from RowWiseProblem.h, because nearly everything includes
// that header and little code asks which operations exist.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_ROWWISEKIND_H
#define TESSERA_RUNTIME_BASE_ROWWISEKIND_H

#include "runtime/Base/RowWiseProblem.h"

namespace tessera {

/// One value for each row of RowWiseKind.def.
enum class RowWiseKind : uint8_t {
#define TESSERA_ROW_OP(name, text) name,
#include "runtime/Base/RowWiseKind.def"
};

/// Bits of the mode of a whole step of a recurrent network: the launch makes
/// all steps, which are dimension 0 of the space; and the first step is the
/// last one along it.
inline constexpr uint32_t kAllSteps = 8, kDescendingSteps = 16;

/// Whether the problem has the steps of a recurrent network in its space.
bool hasSteps(const RowWiseProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_ROWWISEKIND_H
