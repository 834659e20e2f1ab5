//===- ReferencePool.h - A pooling for the reference -----------*- C++ -*--===//
//
// Converts a problem to the reference's types, as ReferenceShape.h does.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_REFERENCEPOOL_H
#define TESSERA_RUNTIME_REFERENCE_REFERENCEPOOL_H

#include "dialect/Reference/PoolReference.h"
#include "runtime/Base/Problem.h"
#include "runtime/Reference/ReferenceShape.h"

namespace tessera {

inline reference::PoolShape getReferencePool(const PoolProblem &problem) {
  // The enums have the same names in the same order.
  return {
      .mode = static_cast<reference::PoolMode>(problem.mode),
      .indexMode = static_cast<reference::IndexMode>(problem.indexMode),
      .n = problem.batch,
      .c = problem.channels,
      .h = problem.in.h,
      .w = problem.in.w,
      .d = problem.in.d,
      .window = {problem.window.h, problem.window.w, problem.window.d},
      .pad = {problem.pad.h, problem.pad.w, problem.pad.d},
      .extraPad = {problem.extraPad.h, problem.extraPad.w, problem.extraPad.d},
      .stride = {problem.stride.h, problem.stride.w, problem.stride.d},
  };
}

/// The strides of the indices of a pooling.
inline Strides getIndexStrides(const PoolProblem &problem) {
  return getPackedStrides(problem.yLayout == Layout::NHWC ? Layout::NHWC
                                                          : Layout::NCHW,
                          problem.getOutputLengths());
}

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_REFERENCEPOOL_H
