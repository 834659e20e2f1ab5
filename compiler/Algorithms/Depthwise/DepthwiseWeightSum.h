//===- DepthwiseWeightSum.h - Sum of the parts -----------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_DEPTHWISEWEIGHTSUM_H
#define TESSERA_COMPILER_ALGORITHMS_DEPTHWISEWEIGHTSUM_H

#include "compiler/Algorithms/Common/ConvProgram.h"

namespace tessera {

/// Stores what is summed up of the filter's element at `index` among those of a
/// group, which is `group`.
void emitDepthwiseElement(PointBuilder &p, const ConvProgram &program,
                          mlir::Value sum, mlir::Value index, mlir::Value group,
                          mlir::ValueRange arguments);

/// Appends the launch that sums `workspace`: parts, elements of a group's
/// filter, groups.
void buildDepthwiseSum(const ConvProgram &program, mlir::Value workspace);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_DEPTHWISEWEIGHTSUM_H
