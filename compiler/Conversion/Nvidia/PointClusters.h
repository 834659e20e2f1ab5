//===- PointClusters.h - Clusters of point programs ------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_NVIDIA_POINTCLUSTERS_H
#define TESSERA_COMPILER_CONVERSION_NVIDIA_POINTCLUSTERS_H

#include "compiler/Conversion/Common/Emitter.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tessera {

/// The workgroups of a cluster of the program, which is 1 without clusters.
/// Emits an error and fails unless the chip has them, they divide the
/// `workgroups`, and everything that is of a cluster is in a program with them.
mlir::FailureOr<int64_t> findCluster(dnn::ForEachPointOp points,
                                     const GpuTarget &target,
                                     int64_t workgroups);

/// Replaces the barriers and stores of the kernel that are of its cluster.
void lowerCluster(Emitter &e, mlir::gpu::GPUFuncOp kernel, int64_t cluster);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_NVIDIA_POINTCLUSTERS_H
