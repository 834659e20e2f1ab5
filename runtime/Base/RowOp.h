//===- RowOp.h - The operations of row problems ----------------*- C++ -*-===//
//
// This is separate from RowProblem.h, because nearly everything includes that
// header and little code asks which operations exist.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_ROWOP_H
#define TESSERA_RUNTIME_BASE_ROWOP_H

#include "runtime/Base/RowProblem.h"

namespace tessera {

/// One value for each row of RowOp.def.
enum class RowOp : uint8_t {
#define TESSERA_ROW_OP(name, text) name,
#include "runtime/Base/RowOp.def"
};

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_ROWOP_H
