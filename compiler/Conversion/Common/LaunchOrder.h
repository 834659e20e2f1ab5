//===- LaunchOrder.h - Workgroups and tiles in a launch's order -*- C++ -*-===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_LAUNCHORDER_H
#define TESSERA_COMPILER_CONVERSION_COMMON_LAUNCHORDER_H

#include "compiler/Conversion/Common/Emitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tessera {

/// Kernels with a tensor of so many bytes may begin with the last tile. An L2
/// of 50 MB holds less than that for the next launch.
inline constexpr int64_t kLargeTensorBytes = 32 << 20;

/// Workgroup or tile `number` of `count` in the order that the launch asks for
/// (runtime/Base/TileOrder.h): counted from the last one, if that is so. The
/// kernel gets an argument for it with the first call.
mlir::Value emitLaunchOrder(Emitter &e, mlir::gpu::GPUFuncOp kernel,
                            mlir::Value number, int64_t count);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_LAUNCHORDER_H
