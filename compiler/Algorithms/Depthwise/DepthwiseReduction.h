//===- DepthwiseReduction.h - Sum of the partial results -------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISEREDUCTION_H
#define TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISEREDUCTION_H

#include "compiler/Algorithms/Common/ConvProgram.h"

namespace tessera {

/// Stores the gradient `sum` of the element number `index` of the filter of
/// `group`.
void emitDepthwiseElement(PointBuilder &p, const ConvProgram &program,
                          mlir::Value sum, mlir::Value index, mlir::Value group,
                          mlir::ValueRange arguments);

/// Appends the launch that adds the partial results in `workspace`, whose
/// dimensions are splits, elements of a group's filter, and groups.
void buildDepthwiseReduction(const ConvProgram &program, mlir::Value workspace);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISEREDUCTION_H
