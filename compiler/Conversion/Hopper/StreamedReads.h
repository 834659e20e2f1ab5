//===- StreamedReads.h - What L2 may forget ---------------------*- C++ -*-===//
//
// A read that misses in L2 replaces the line that was not used for longest. In
// kernels that read more than they write, that is a line of an earlier kernel's
// result, which has to be written to memory first. So reading 51 MB on an H100
// took 27.4 us, and 24.2 where each line that is read replaces one that was
// read before it (docs/design/0006-hopper.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_STREAMEDREADS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_STREAMEDREADS_H

#include "compiler/Conversion/Cooperative/TileProgram.h"
#include "compiler/Conversion/Hopper/TmaOperand.h"

namespace tessera {

/// Which operands are read so that they leave L2 first.
struct StreamedReads {
  bool a = false, b = false;
};

/// Bytes from the first to the last element of a tensor, whose windows may
/// overlap, or of what a view reaches if that is less: strides leave pixels
/// out. Parts of a reduction share it out.
int64_t getReadBytes(TileProgram &program, mlir::Value view);

StreamedReads chooseStreamedReads(TileProgram &program, TmaWalk walk);

/// The policy of such a copy, an i64, as createpolicy gives it for all of the
/// lines.
mlir::Value emitStreamedPolicy(Emitter &e);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_STREAMEDREADS_H
