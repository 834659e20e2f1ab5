//===- DriverFused.cpp - "MIOpenDriver CBAInfer" --------------------------===//
//
// Flags and defaults are those of MIOpenDriver (ROCm/MIOpen,
// driver/CBAInferFusion_driver.hpp). A convolution with a bias, an activation
// or both is one problem with an epilogue; plans with a normalisation are no
// problem.
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverFlags.h"

using namespace tessera;

static constexpr DriverFlag kFlags[] = {
    {'n', "batchsize", "32", "batch"},
    {'c', "in_channels", "3", "input channels"},
    {'H', "in_h", "32", "height"},
    {'W', "in_w", "32", "width"},
    {'k', "out_channels", "32", "output channels"},
    {'g', "group_count", "1", "groups"},
    {'y', "fil_h", "3", "height of the filter"},
    {'x', "fil_w", "3", "width of the filter"},
    {'u', "conv_stride_h", "1", "stride of the height"},
    {'v', "conv_stride_w", "1", "stride of the width"},
    {'p', "pad_h", "0", "padding of the height"},
    {'q', "pad_w", "0", "padding of the width"},
    {'r', "pad_val", "0", "value of the padding; only 0"},
    {'A', "alpha", "1.0", "read; activations are run with parameters of ours"},
    {'B', "beta", "0.", "the same"},
    {'G', "gamma", "1", "the same"},
    {'i', "iter", "1", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'m', "activMode", "3", "activation, as the mode of activ"},
    {'M', "bnMode", "0", "of a normalisation, which is not supported"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
    {'l', "dilation_h", "1", "dilation of the height"},
    {'j', "dilation_w", "1", "dilation of the width"},
    {'z', "pad_mode", "conv", "only conv or default"},
    {'F', "fusion_mode", "0",
     "4 bias and activation, 5 activation, 6 bias; 0 to 3 have a normalisation "
     "and are not supported"},
    {'D', "dot_graph", "", "not written"},
};

std::span<const DriverFlag> tessera::getFusedDriverFlags() { return kFlags; }

/// Reads the operations that follow the convolution.
static void readEpilogue(FlagReader &flags, Epilogue &epilogue) {
  enum FusionMode { kBiasActivation = 4, kActivation = 5, kBias = 6 };
  int64_t fusion, mode;
  flags.upTo(kBias, "--fusion_mode", fusion);
  flags.upTo(static_cast<int64_t>(Activation::Elu), "--activMode", mode);
  if (fusion < kBiasActivation)
    flags.check(notSupported("'--fusion_mode " + std::to_string(fusion) +
                             "' has a normalisation, which is not supported; "
                             "use 4, 5 or 6"));
  epilogue.bias = fusion != kActivation;
  if (fusion != kBias)
    epilogue.activation = static_cast<Activation>(mode);
}

ErrorOr<DriverOptions> tessera::toFusedOptions(FlagReader &flags,
                                               DataType dataType) {
  DriverOptions options = readRun(flags);
  ConvProblem problem;
  problem.dataType = dataType;
  readShape(flags, problem);
  flags.number("-g", problem.groups);
  readEpilogue(flags, problem.epilogue);
  flags.requireDefaults({"pad_val"});
  const std::string_view padMode = flags.getText("pad_mode");
  if (padMode != "conv" && padMode != "default")
    flags.check(notSupported("'--pad_mode " + std::string(padMode) +
                             "' is not supported; give the padding"));
  addProblem(flags, problem, options);
  return finish(flags, std::move(options));
}
