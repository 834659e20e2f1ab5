//===- StreamedReads.h - What the second cache may forget ------*- C++ -*--===//
//
// A read that finds no place in the second cache takes that of the line which
// was not used for longest. Of kernels that read more than they write, that
// is one which an earlier kernel wrote, and which goes to memory first: reading
// 51 MB on an H100 took 27.4 us so, and 24.2 where each line read takes the
// place of one that was read before it (docs/design/0006-hopper.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_STREAMEDREADS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_STREAMEDREADS_H

#include "compiler/Conversion/Cooperative/TileProgram.h"
#include "compiler/Conversion/Hopper/TmaOperand.h"

namespace tessera {

/// Which factors are read as what leaves the second cache first.
struct StreamedReads {
  bool a = false, b = false;
};

StreamedReads chooseStreamedReads(TileProgram &program, TmaWalk walk);

/// The policy of such a copy, an i64, as createpolicy gives it for all of the
/// lines.
mlir::Value emitStreamedPolicy(Emitter &e);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_STREAMEDREADS_H
