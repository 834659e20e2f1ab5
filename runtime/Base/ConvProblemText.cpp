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

std::string tessera::toText(const Epilogue &epilogue) {
  std::string text;
  auto add = [&](std::string_view name) {
    text += text.empty() ? "" : "+";
    text += name;
  };
  if (epilogue.alpha)
    add("alpha");
  if (epilogue.beta)
    add("beta");
  if (epilogue.bias)
    add("bias");
  if (epilogue.residual)
    add("residual");
  if (epilogue.statistics)
    add("stats");
  if (epilogue.normGradient != NormGradient::None)
    add(getName(epilogue.normGradient));
  if (epilogue.activation != Activation::None)
    add(getName(epilogue.activation));
  return text;
}

// Scans in the order of the printer, each field with the separator before it.
void tessera::scanEpilogue(TextScanner &scanner, Epilogue &epilogue) {
  std::string_view separator = "-e";
  auto take = [&](std::string_view name) {
    if (!scanner.consume(std::string(separator) + std::string(name)))
      return false;
    separator = "+";
    return true;
  };
  epilogue.alpha = take("alpha");
  epilogue.beta = take("beta");
  epilogue.bias = take("bias");
  epilogue.residual = take("residual");
  epilogue.statistics = take("stats");
  // The longest first: one word begins the others.
  for (NormGradient gradient : std::views::reverse(kNormGradients))
    if (epilogue.normGradient == NormGradient::None && take(getName(gradient)))
      epilogue.normGradient = gradient;
  if (scanner.consume(separator))
    scanName(scanner, kActivations, epilogue.activation);
}

std::string ConvProblem::toNetworkConfig() const {
  bool deep = hasDepth();
  auto depth = [&](const char *name, int64_t value) {
    return deep ? name + toSizeText(value) : std::string();
  };
  std::string text = "conv-";
  text += getName(direction);
  text += "-";
  text += allowsTf32() ? kTf32 : getName(dataType);
  if (hasByteResult())
    text += "," + std::string(getName(byteResult));
  text += "-" + toText(xLayout, xStrides, deep);
  text += "," + toText(wLayout, wStrides, deep);
  text += "," + toText(yLayout, yStrides, deep);
  text += "-n" + toSizeText(batch) + "c" + std::to_string(inChannels);
  text += depth("d", in.d);
  text += "h" + toSizeText(in.h) + "w" + toSizeText(in.w);
  text += "-k" + std::to_string(outChannels);
  text += depth("z", filter.d);
  text += "y" + std::to_string(filter.h) + "x" + std::to_string(filter.w);
  text += "-p" + toPadText(pad, extraPad, deep) + "-s" + toText(stride, deep) +
          "-d" + toText(dilation, deep);
  text += "-g" + std::to_string(groups);
  if (!epilogue.isEmpty())
    text += "-e" + toText(epilogue);
  return forbidsWinograd ? text + std::string(kNoWinograd) : text;
}

ConvProblem tessera::scanConvProblem(TextScanner &scanner, bool hasDepth) {
  ConvProblem p;
  scanName(scanner, kDirections, p.direction);
  scanner.expect("-");
  if (scanner.consume(kTf32))
    p.mathType = MathType::Tf32;
  else
    scanName(scanner, kDataTypes, p.dataType);
  if (p.hasByteResult())
    scanName(scanner.expect(","), kDataTypes, p.byteResult);
  scanLayout(scanner.expect("-"), hasDepth, p.xLayout, p.xStrides);
  scanLayout(scanner.expect(","), hasDepth, p.wLayout, p.wStrides);
  scanLayout(scanner.expect(","), hasDepth, p.yLayout, p.yStrides);
  scanSize(scanner.expect("-n"), p.batch);
  scanner.expect("c").number(p.inChannels);
  if (hasDepth)
    scanSize(scanner.expect("d"), p.in.d);
  scanSize(scanner.expect("h"), p.in.h);
  scanSize(scanner.expect("w"), p.in.w);
  scanner.expect("-k").number(p.outChannels);
  if (hasDepth)
    scanner.expect("z").number(p.filter.d);
  scanner.expect("y").number(p.filter.h).expect("x").number(p.filter.w);
  scanPads(scanner.expect("-p"), hasDepth, p.pad, p.extraPad);
  scanLengths(scanner.expect("-s"), hasDepth, p.stride);
  scanLengths(scanner.expect("-d"), hasDepth, p.dilation);
  scanner.expect("-g").number(p.groups);
  scanEpilogue(scanner, p.epilogue);
  p.forbidsWinograd = scanner.consume(kNoWinograd);
  return p;
}
