//===- Layer.h - A layer that tests of the models change -------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_COMPILER_ALGORITHMS_LAYER_H
#define TESSERA_TEST_UNIT_COMPILER_ALGORITHMS_LAYER_H

#include "runtime/Base/ConvProblem.h"

namespace tessera::test {

/// 256 images of 28x28, f16, channels last, 3x3 from 256 to 256 channels.
inline ConvProblem makeLayer() {
  ConvProblem p;
  p.dataType = DataType::F16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 256;
  p.inChannels = p.outChannels = 256;
  p.in = {28, 28};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_COMPILER_ALGORITHMS_LAYER_H
