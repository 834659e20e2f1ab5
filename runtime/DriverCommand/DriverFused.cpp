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

static ConvProblem readShape(FlagValues &flags, DataType type) {
  ConvProblem p;
  p.dataType = type;
  p.batch = flags.getNumber("batchsize");
  p.inChannels = flags.getNumber("in_channels");
  p.outChannels = flags.getNumber("out_channels");
  p.groups = flags.getNumber("group_count");
  p.in = {flags.getNumber("in_h"), flags.getNumber("in_w")};
  p.filter = {flags.getNumber("fil_h"), flags.getNumber("fil_w")};
  p.pad = {flags.getNumber("pad_h"), flags.getNumber("pad_w")};
  p.stride = {flags.getNumber("conv_stride_h"),
              flags.getNumber("conv_stride_w")};
  p.dilation = {flags.getNumber("dilation_h"), flags.getNumber("dilation_w")};
  return p;
}

/// Reads the operations that follow the convolution.
static Status readEpilogue(FlagValues &flags, Epilogue &epilogue) {
  enum FusionMode { kBiasActivation = 4, kActivation = 5, kBias = 6 };
  const int64_t fusion = flags.getNumber("fusion_mode");
  const int64_t mode = flags.getNumber("activMode");
  if (fusion < 0 || fusion > kBias)
    return invalidArgument(
        "flag '--fusion_mode' must be between 0 and 6, not " +
        std::to_string(fusion));
  if (fusion < kBiasActivation)
    return notSupported("'--fusion_mode " + std::to_string(fusion) +
                        "' has a normalisation, which is not supported; use 4, "
                        "5 or 6");
  if (mode < 0 || mode > static_cast<int64_t>(Activation::Elu))
    return invalidArgument("flag '--activMode' must be between 0 and 9, not " +
                           std::to_string(mode));
  epilogue.bias = fusion != kActivation;
  if (fusion != kBias)
    epilogue.activation = static_cast<Activation>(mode);
  return flags.requireDefaults({"pad_val"});
}

ErrorOr<DriverOptions> tessera::toFusedOptions(FlagValues &flags,
                                               DataType dataType) {
  DriverOptions options = readRun(flags);
  ConvProblem problem = readShape(flags, dataType);
  Status status = readEpilogue(flags, problem.epilogue);
  if (status.isOk())
    status = flags.getStatus();
  const std::string_view padMode = flags.getText("pad_mode");
  if (status.isOk() && padMode != "conv" && padMode != "default")
    status = notSupported("'--pad_mode " + std::string(padMode) +
                          "' is not supported; give the padding");
  if (status.isOk())
    status = problem.verify();
  if (!status.isOk())
    return status;
  options.problems.push_back(problem.canonicalize());
  return options;
}
