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

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_ROWWISEKIND_H
