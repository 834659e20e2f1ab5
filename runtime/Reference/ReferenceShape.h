//===- ReferenceShape.h - A problem for the reference ----------*- C++ -*--===//
//
// dialect/Reference does not know the type of problems. Whoever checks one (the
// tuner, dnn-driver, tests) converts it here.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_REFERENCESHAPE_H
#define TESSERA_RUNTIME_REFERENCE_REFERENCESHAPE_H

#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/Epilogue.h"
#include "runtime/Base/Problem.h"

namespace tessera {

inline reference::ConvShape getReferenceShape(const ConvProblem &problem) {
  return {
      .n = problem.batch,
      .c = problem.inChannels,
      .d = problem.in.d,
      .h = problem.in.h,
      .w = problem.in.w,
      .k = problem.outChannels,
      .z = problem.filter.d,
      .y = problem.filter.h,
      .x = problem.filter.w,
      .pad = {problem.pad.h, problem.pad.w, problem.pad.d},
      .extraPad = {problem.extraPad.h, problem.extraPad.w, problem.extraPad.d},
      .stride = {problem.stride.h, problem.stride.w, problem.stride.d},
      .dilation = {problem.dilation.h, problem.dilation.w, problem.dilation.d},
      .groups = problem.groups,
      .allowsTf32 = problem.allowsTf32(),
  };
}

/// The type of the tensor that `resultOf` computes: x of backward data.
inline DataType getTypeOf(const ConvProblem &problem, Direction resultOf) {
  return problem.direction == resultOf ? problem.getResultType()
                                       : problem.dataType;
}

/// The strides, in elements, of the tensor that is computed.
inline Strides getResultStrides(const ConvProblem &problem) {
  switch (problem.direction) {
  case Direction::Forward:
    return problem.getOutputStrides();
  case Direction::BackwardData:
    return problem.getInputStrides();
  case Direction::BackwardWeights:
    return problem.getFilterStrides();
  }
  __builtin_unreachable();
}

/// Converts the strides of a tensor.
inline reference::Strides getReferenceStrides(const Strides &strides) {
  return {strides.n, strides.c, strides.h, strides.w, strides.d};
}

inline reference::Sizes getReferenceSizes(const TensorLengths &lengths) {
  return {lengths.n, lengths.c, lengths.h, lengths.w, lengths.d};
}

inline reference::ElementType getReferenceType(DataType type) {
  switch (type) {
#define DATA_TYPE(NAME, ...)                                                   \
  case DataType::NAME:                                                         \
    return reference::ElementType::NAME;
#include "runtime/Base/DataTypes.def"
  }
  __builtin_unreachable();
}

inline reference::Activation getReferenceActivation(Activation activation) {
  switch (activation) {
  case Activation::None:
    return reference::Activation::None;
  case Activation::Logistic:
    return reference::Activation::Logistic;
  case Activation::Tanh:
    return reference::Activation::Tanh;
  case Activation::Relu:
    return reference::Activation::Relu;
  case Activation::SoftRelu:
    return reference::Activation::SoftRelu;
  case Activation::Abs:
    return reference::Activation::Abs;
  case Activation::Power:
    return reference::Activation::Power;
  case Activation::ClippedRelu:
    return reference::Activation::ClippedRelu;
  case Activation::LeakyRelu:
    return reference::Activation::LeakyRelu;
  case Activation::Elu:
    return reference::Activation::Elu;
  case Activation::Clamp:
    return reference::Activation::Clamp;
  }
  __builtin_unreachable();
}

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_REFERENCESHAPE_H
