//===- ConvertOnce.h - A conversion that keeps nothing back ----*- C++ -*--===//

#ifndef TESSERA_COMPILER_TARGET_CODEGEN_CONVERTONCE_H
#define TESSERA_COMPILER_TARGET_CODEGEN_CONVERTONCE_H

#include "mlir/Transforms/DialectConversion.h"

namespace tessera {

/// Converts what is below `root` without keeping what is replaced, in case that
/// a pattern fails: keeping took 1.6 % of a compilation. Reports each op that
/// has no pattern, whether it stood below `root` or another pattern made it, as
/// one without a lowering for `chip`; MLIR would end the process of the latter.
/// After a failure the program is partly converted.
mlir::LogicalResult convertOnce(mlir::Operation *root,
                                mlir::ConversionTarget &legal,
                                mlir::RewritePatternSet patterns,
                                llvm::StringRef chip);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_CODEGEN_CONVERTONCE_H
