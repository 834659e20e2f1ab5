//===- ConvProblemText.cpp - A convolution's network config ---------------===//
//
// The text is the key of every cache and database: it holds every field of the
// problem.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/ProblemText.h"

#include <ranges>

using namespace tessera;

static constexpr Activation kActivations[] = {
    Activation::Logistic,    Activation::Tanh,      Activation::Relu,
    Activation::SoftRelu,    Activation::Abs,       Activation::Power,
    Activation::ClippedRelu, Activation::LeakyRelu, Activation::Elu,
    Activation::Clamp};

/// Written instead of the type: f32 that may be multiplied as tf32.
static constexpr std::string_view kTf32 = "tf32";

/// Written at the end if Winograd's transforms are forbidden.
static constexpr std::string_view kNoWinograd = "-nowinograd";

std::string_view tessera::getName(Activation activation) {
  switch (activation) {
  case Activation::None:
    return "none";
  case Activation::Logistic:
    return "logistic";
  case Activation::Tanh:
    return "tanh";
  case Activation::Relu:
    return "relu";
  case Activation::SoftRelu:
    return "softrelu";
  case Activation::Abs:
    return "abs";
  case Activation::Power:
    return "power";
  case Activation::ClippedRelu:
    return "clippedrelu";
  case Activation::LeakyRelu:
    return "leakyrelu";
  case Activation::Elu:
    return "elu";
  case Activation::Clamp:
    return "clamp";
  }
  __builtin_unreachable();
}

static constexpr NormGradient kNormGradients[] = {
    NormGradient::Plain, NormGradient::Relu, NormGradient::Mask};

std::string_view tessera::getName(NormGradient gradient) {
  switch (gradient) {
  case NormGradient::None:
    return "none";
  case NormGradient::Plain:
    return "normgrad";
  case NormGradient::Relu:
    return "normgradrelu";
  case NormGradient::Mask:
    return "normgradmask";
  }
  __builtin_unreachable();
}

/// The first word follows `separator`, the others a plus.
template <typename Text, typename EpilogueT>
static void describeEpilogue(Text &text, EpilogueT &epilogue,
                             std::string_view separator) {
  auto describeWord = [&](std::string_view word, auto &has) {
    if (text.option(separator, word, has))
      separator = "+";
  };
  describeWord("alpha", epilogue.alpha);
  describeWord("beta", epilogue.beta);
  describeWord("bias", epilogue.bias);
  describeWord("residual", epilogue.residual);
  describeWord("stats", epilogue.statistics);
  // The longest first: one word begins the others.
  for (NormGradient gradient : std::views::reverse(kNormGradients))
    if (text.choice(separator, getName(gradient), epilogue.normGradient,
                    gradient)) {
      separator = "+";
      break;
    }
  for (Activation activation : kActivations)
    if (text.choice(separator, getName(activation), epilogue.activation,
                    activation))
      break;
}

std::string tessera::toText(const Epilogue &epilogue) {
  TextWriter writer;
  describeEpilogue(writer, epilogue, "");
  return writer.text;
}

void tessera::scanEpilogue(TextScanner &scanner, Epilogue &epilogue) {
  TextReader reader(scanner);
  describeEpilogue(reader, epilogue, "-e");
}

/// The fields of a convolution; a reader knows beforehand whether it has depth.
template <typename Text, typename ProblemT>
static void describe(Text &text, ProblemT &p, bool hasDepth) {
  text.name(p.direction, kDirections).literal("-");
  bool isTf32 = p.allowsTf32();
  if (text.option("", kTf32, isTf32))
    text.assign(p.mathType, MathType::Tf32);
  else
    text.name(p.dataType, kDataTypes);
  if (p.hasByteResult())
    text.literal(",").name(p.byteResult, kDataTypes);
  describeLayout(text.literal("-"), p.xLayout, p.xStrides, hasDepth);
  describeLayout(text.literal(","), p.wLayout, p.wStrides, hasDepth);
  describeLayout(text.literal(","), p.yLayout, p.yStrides, hasDepth);
  describeImages(text, p.batch, p.inChannels, p.in, hasDepth);
  describeWindow(text.literal("-k").number(p.outChannels), p.filter, hasDepth);
  describePads(text.literal("-p"), p.pad, p.extraPad, hasDepth);
  describeLengths(text.literal("-s"), p.stride, hasDepth);
  describeLengths(text.literal("-d"), p.dilation, hasDepth);
  text.literal("-g").number(p.groups);
  describeEpilogue(text, p.epilogue, "-e");
  text.option("", kNoWinograd, p.forbidsWinograd);
}

std::string ConvProblem::toNetworkConfig() const {
  TextWriter writer;
  describe(writer.literal("conv-"), *this, hasDepth());
  return writer.text;
}

ConvProblem tessera::scanConvProblem(TextScanner &scanner, bool hasDepth) {
  ConvProblem problem;
  TextReader reader(scanner);
  describe(reader, problem, hasDepth);
  return problem;
}

void tessera::mix(FieldMixer &mixer, const ConvProblem &problem) {
  describe(mixer, problem, problem.hasDepth());
}
