//===- WindowLoop.h - A product whose factors are in LDS -------*- C++ -*--===//
//
// With both factors in LDS as a whole there is no pipeline: the product is
// written out, and each fragment is read while the one before is multiplied.
// What hides the time of bringing the factors there is the next workgroup on
// the same compute unit.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_WINDOWLOOP_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_WINDOWLOOP_H

#include "compiler/Conversion/Cooperative/TileMma.h"

namespace tessera {

/// The fragments of n, chunk by chunk, or none.
using HeldFragments = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;

/// All fragments of n, for many products, if a lane has registers for them.
HeldFragments holdFragments(TileMma &mma, mlir::Value bufferN);

/// The accumulators of the whole product, in the order of EpilogueInputs;
/// fragments of n are read where none are held.
llvm::SmallVector<mlir::Value> emitWholeProduct(Emitter &e, TileMma &mma,
                                                mlir::Value bufferM,
                                                mlir::Value bufferN,
                                                const HeldFragments &held = {});

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_WINDOWLOOP_H
