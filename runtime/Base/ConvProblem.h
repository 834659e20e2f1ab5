//===- ConvProblem.h - A convolution that is asked for ---------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_CONVPROBLEM_H
#define TESSERA_RUNTIME_BASE_CONVPROBLEM_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include <string>

namespace tessera {

/// MIOpen's activation modes and a clamp. a, b, c are the parameters that a
/// launch passes (activAlpha, activBeta, activGamma); docs/spec/convolution.md
/// has the formulas.
enum class Activation : uint8_t {
  None,
  Logistic,
  Tanh,
  Relu,
  SoftRelu,
  Abs,
  Power,
  ClippedRelu,
  LeakyRelu,
  Elu,
  Clamp,
};

/// What backward data also gives of the normalisation whose result its x is, or
/// whose activated result. g is the gradient that is stored, z the
/// normalisation's saved input (docs/spec/convolution.md, "Gradients of
/// normalisations").
enum class NormGradient : uint8_t {
  None,
  Plain, ///< The sums of g and of g times the normalised z.
  Relu,  ///< g is zero where the normalisation's result is not positive.
  Mask,  ///< g is zero where a tensor, x as it was, is not positive.
};

/// The epilogue: what happens to an accumulator before it is rounded and
/// stored:
///   activation(alpha * accumulator + beta * old + bias[channel]
///              + residual[element])
/// Only the terms that are set take part; each flag costs the kernel an
/// argument. Statistics change nothing that is stored: they are further
/// results, and so are the sums of a normalisation's gradient.
struct Epilogue {
  bool alpha = false;
  bool beta = false;
  bool bias = false;
  bool residual = false; ///< A tensor of the result's type and layout.
  /// The mean and the variance of each channel of the stored result.
  bool statistics = false;
  NormGradient normGradient = NormGradient::None;
  Activation activation = Activation::None;

  /// Whether the sums of channels are results, too.
  bool hasChannelResults() const {
    return statistics || normGradient != NormGradient::None;
  }
  /// Whether the kernel that computes sums stores them as they are.
  bool leavesSums() const {
    return *this ==
           Epilogue{.statistics = statistics, .normGradient = normGradient};
  }
  bool isEmpty() const { return *this == Epilogue(); }
  friend bool operator==(const Epilogue &, const Epilogue &) = default;
};

/// A convolution (cross-correlation, as MIOpen defines it) in one of three
/// directions.
///
/// Shapes are in elements. x is [batch, inChannels, in], w is
/// [outChannels, inChannels / groups, filter], y is
/// [batch, outChannels, getOutput()]. Forward computes y, backward data x,
/// backward weights w. A transposed convolution is backward data of the
/// convolution whose x is the result.
struct ConvProblem {
  Direction direction = Direction::Forward;
  /// The type of all tensors, except that a convolution of bytes (i8, or a
  /// float of 8 bits) writes `byteResult`.
  DataType dataType = DataType::F32;
  /// I32, F32 or I8 for i8; F16, BF16, F32 or `dataType` for a float of 8 bits;
  /// not used for others.
  DataType byteResult = DataType::I32;
  /// Whether the operands are floats of 8 bits that a launch has widened to
  /// `dataType`. Only the compiler asks itself for such a problem, which has no
  /// text (docs/design/0039-float8.md).
  bool hasWidenedOperands = false;
  MathType mathType = MathType::Exact; ///< Used only for f32.
  Layout xLayout = Layout::NCHW;
  Layout wLayout = Layout::NCHW;
  Layout yLayout = Layout::NCHW;
  Strides xStrides;
  Strides wStrides;
  Strides yStrides;
  int64_t batch = 1;
  int64_t inChannels = 1;
  int64_t outChannels = 1;
  int64_t groups = 1;
  Spatial in;
  Spatial filter;
  Pads pad; ///< Before the first element of each dimension.
  /// How much longer the padding after the last element is; negative where it
  /// is shorter. MIOpen's descriptors have the same padding at both ends.
  Pads extraPad;
  Spatial stride;
  Spatial dilation;
  Epilogue epilogue;
  /// Whether every product of the definition must be computed, and not the
  /// fewer ones of Winograd's transforms.
  bool forbidsWinograd = false;

  friend bool operator==(const ConvProblem &, const ConvProblem &) = default;

  /// The padding after the last element of each dimension.
  Pads getPadAfter() const { return pad + extraPad; }

  /// Sets the padding after the last elements, once `pad` is set.
  void setPadAfter(const Pads &after) { extraPad = after - pad; }

  /// Whether the padding differs between the ends of a dimension.
  bool hasUnequalPads() const { return extraPad != Pads(); }

  /// Output size: (in + padding of both ends - (1 + dilation (filter - 1))) /
  /// stride + 1, at least 1 (MIOpen, src/convolution.cpp).
  Spatial getOutput() const;

  /// Whether depth means anything. Without it the problem is a 2-D one.
  bool hasDepth() const;

  /// Whether operands may be rounded to tf32.
  bool allowsTf32() const {
    return dataType == DataType::F32 && mathType == MathType::Tf32;
  }

  /// Whether it is large enough that products in tf32 may take less time than
  /// exact ones: 2^20 multiply-adds, which take less than a launch.
  bool gainsByRounding() const { return getFlops() >= 2.0 * (1 << 20); }

  /// Whether Winograd's transforms could compute it, and so `forbidsWinograd`
  /// means anything.
  bool hasWinogradForm() const;

  /// Whether the result has a type of its own.
  bool hasByteResult() const {
    return dataType == DataType::I8 || isFloat8(dataType) || hasWidenedOperands;
  }

  /// Type of the tensor that is computed.
  DataType getResultType() const {
    return hasByteResult() ? byteResult : dataType;
  }

  /// Type of the epilogue's bias: that of the result, but for i8 f32, because
  /// one of i8 would be too coarse in the units of a scaled result.
  DataType getBiasType() const {
    const DataType result = getResultType();
    return result == DataType::I8 ? DataType::F32 : result;
  }

  TensorLengths getInputLengths() const;
  TensorLengths getFilterLengths() const;
  TensorLengths getOutputLengths() const;
  /// The lengths of the tensor that is computed.
  TensorLengths getResultLengths() const;

  /// Strides in elements, whether or not the layout is Strided.
  Strides getInputStrides() const;
  Strides getFilterStrides() const;
  Strides getOutputStrides() const;

  /// Elements of each tensor, gaps not counted.
  int64_t getInputElements() const { return getInputLengths().getElements(); }
  int64_t getFilterElements() const { return getFilterLengths().getElements(); }
  int64_t getOutputElements() const { return getOutputLengths().getElements(); }

  /// Multiply-add counted as two operations; the same in every direction.
  double getFlops() const;

  /// Returns InvalidArgument with the first rule that is broken, else ok.
  Status verify() const;

  /// The same problem in the one form that has one text: a layout's word where
  /// one fits, a neutral depth where depth means nothing. The padding after the
  /// last element matters only for the output size: it is that before the first
  /// element if this gives the same size, else the least that does.
  ConvProblem canonicalize() const;

  /// The network config, e.g.
  /// "conv-fwd-f16-nhwc,nhwc,nhwc-n64c256h14w14-k256y3x3-p1x1-s1x1-d1x1-g1".
  /// With depth "c256d4h14w14", "z3y3x3" and three numbers in p, s and d;
  /// padding that differs between the ends of a dimension "p1x0:2";
  /// strided tensors "s50176:196:14:1"; bytes with their result "i8,i32"; f32
  /// that may be multiplied as tf32 "tf32"; an epilogue as
  /// "-ealpha+beta+bias+residual+stats+relu" at the end, with "normgrad",
  /// "normgradrelu" or "normgradmask" where forward has "stats", and behind it
  /// "-nowinograd".
  std::string toNetworkConfig() const;
};

std::string_view getName(Activation activation);
std::string_view getName(NormGradient gradient);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_CONVPROBLEM_H
