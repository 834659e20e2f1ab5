//===- ReferenceShape.h - A problem for the reference ----------*- C++ -*-===//
//
// dialect/Reference knows nothing of problems, and the runtime nothing of the
// reference: whoever wants a problem checked (tests, dnn-driver) joins them
// here. Header only, so that it costs no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_FRONTEND_REFERENCESHAPE_H
#define TESSERA_COMPILER_FRONTEND_REFERENCESHAPE_H

#include "dialect/Reference/ConvReference.h"
#include "runtime/Base/Problem.h"

namespace tessera {

inline reference::ConvShape getReferenceShape(const ConvProblem &problem) {
  return {
      .n = problem.batch,
      .c = problem.inChannels,
      .h = problem.in.h,
      .w = problem.in.w,
      .k = problem.outChannels,
      .y = problem.filter.h,
      .x = problem.filter.w,
      .pad = {problem.pad.h, problem.pad.w},
      .stride = {problem.stride.h, problem.stride.w},
      .dilation = {problem.dilation.h, problem.dilation.w},
      .groups = problem.groups,
  };
}

/// Where the elements of a packed tensor of `sizes` are.
inline reference::Strides getReferenceStrides(Layout layout,
                                              const reference::Sizes &sizes) {
  return layout == Layout::NCHW ? reference::getNchwStrides(sizes)
                                : reference::getNhwcStrides(sizes);
}

/// NotSupported for a type that the reference has no numbers of.
inline ErrorOr<reference::ElementType> getReferenceType(DataType type) {
  switch (type) {
  case DataType::F16:
    return reference::ElementType::F16;
  case DataType::BF16:
    return reference::ElementType::BF16;
  case DataType::F32:
    return reference::ElementType::F32;
  case DataType::F64:
  case DataType::I8:
  case DataType::I32:
    break;
  }
  return notSupported("the reference has no elements of type " +
                      std::string(getName(type)));
}

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_REFERENCESHAPE_H
