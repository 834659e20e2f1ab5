//===- PointClusters.h - Workgroups that share memory ----------*- C++ -*--===//
//
// On chips with clusters, neighbouring workgroups of a point program may write
// to each other's shared memory. Three attributes say so.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_POINTCLUSTERS_H
#define TESSERA_DIALECT_IR_POINTCLUSTERS_H

#include "llvm/ADT/StringRef.h"

namespace tessera::dnn {

/// The i64 attribute of a dnn.for_each_point with the number of neighbouring
/// workgroups that run at once as a cluster. It divides that of all workgroups.
/// On a `gpu.barrier` in it, a unit attribute: the barrier is that of the
/// cluster. On a `vector.store` to memory that a workgroup shares, a unit
/// attribute: the same offset is written in each workgroup of the cluster.
inline constexpr llvm::StringLiteral kClusterAttrName = "dnn.cluster";

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_POINTCLUSTERS_H
