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

/// A 3x3 layer of ResNet-50 in NCHW.
inline ConvProblem makeChannelsFirst(Direction direction) {
  ConvProblem p = makeLayer();
  p.direction = direction;
  p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
  p.batch = 64;
  p.in = {14, 14};
  return p;
}

/// The first layer of ResNet-50, 32 images.
inline ConvProblem makeStem() {
  ConvProblem p = makeLayer();
  p.batch = 32;
  p.inChannels = 3;
  p.outChannels = 64;
  p.in = {224, 224};
  p.filter = {7, 7};
  p.pad = {3, 3};
  p.stride = {2, 2};
  return p;
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_COMPILER_ALGORITHMS_LAYER_H
