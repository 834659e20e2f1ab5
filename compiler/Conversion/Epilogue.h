//===- Epilogue.h - From accumulators to the output tensor -----*- C++ -*-===//

#ifndef TESSERA_COMPILER_CONVERSION_EPILOGUE_H
#define TESSERA_COMPILER_CONVERSION_EPILOGUE_H

#include "compiler/Conversion/GlobalBuffer.h"
#include "compiler/Conversion/TileMma.h"

namespace tessera {

/// Applies the epilogue region of `store`, rounds to the tensor's type, and
/// stores each lane's neighbours with the widest store that the layout allows.
/// Elements outside the view (tails of the tile, whose first element is at
/// `row0` and `column0`) are not stored.
void emitEpilogue(Emitter &e, dnn::TileStoreOp store, const ViewAccess &access,
                  const TileMma &mma, llvm::ArrayRef<mlir::Value> accumulators,
                  const GlobalBuffer &buffer, mlir::Value lane,
                  mlir::Value row0, mlir::Value column0);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_EPILOGUE_H
