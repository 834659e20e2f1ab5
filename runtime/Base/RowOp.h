//===- RowOp.h - The operations of row problems ----------------*- C++ -*-===//
//
// Apart from RowProblem.h, because nearly everything includes that and few ask
// which operations there are.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_ROWOP_H
#define TESSERA_RUNTIME_BASE_ROWOP_H

#include "runtime/Base/RowProblem.h"

namespace tessera {

/// One for each row of RowOp.def.
enum class RowOp : uint8_t {
#define TESSERA_ROW_OP(name, text) name,
#include "runtime/Base/RowOp.def"
};

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_ROWOP_H
