//===- ProblemText.cpp - The network config, to and fro -------------------===//
//
// The text is the key of every cache and database: it holds every field of the
// problem, and the parser accepts only what the printer writes.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Problem.h"
#include "runtime/Base/TextScanner.h"

using namespace tessera;

static constexpr DataType kDataTypes[] = {DataType::F16, DataType::BF16,
                                          DataType::F32, DataType::F64,
                                          DataType::I8,  DataType::I32};
static constexpr Layout kLayouts[] = {Layout::NCHW, Layout::NHWC};
static constexpr Direction kDirections[] = {
    Direction::Forward, Direction::BackwardData, Direction::BackwardWeights};

std::string_view tessera::getName(DataType type) {
  switch (type) {
  case DataType::F16:
    return "f16";
  case DataType::BF16:
    return "bf16";
  case DataType::F32:
    return "f32";
  case DataType::F64:
    return "f64";
  case DataType::I8:
    return "i8";
  case DataType::I32:
    return "i32";
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(Layout layout) {
  return layout == Layout::NCHW ? "nchw" : "nhwc";
}

std::string_view tessera::getName(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return "fwd";
  case Direction::BackwardData:
    return "bwd";
  case Direction::BackwardWeights:
    return "wrw";
  }
  __builtin_unreachable();
}

static std::string toText(const Spatial &pair) {
  return std::to_string(pair.h) + "x" + std::to_string(pair.w);
}

std::string ConvProblem::toNetworkConfig() const {
  std::string text = "conv-";
  text += getName(direction);
  text += "-";
  text += getName(dataType);
  text += "-";
  text += getName(xLayout);
  text += ",";
  text += getName(wLayout);
  text += ",";
  text += getName(yLayout);
  text += "-n" + std::to_string(batch) + "c" + std::to_string(inChannels);
  text += "h" + std::to_string(in.h) + "w" + std::to_string(in.w);
  text += "-k" + std::to_string(outChannels);
  text += "y" + std::to_string(filter.h) + "x" + std::to_string(filter.w);
  text += "-p" + toText(pad) + "-s" + toText(stride) + "-d" + toText(dilation);
  text += "-g" + std::to_string(groups);
  return text;
}

/// Reads the name of one of `values`.
template <typename Enum, size_t count>
static void scanName(TextScanner &scanner, const Enum (&values)[count],
                     Enum &result) {
  std::string_view name;
  scanner.word(name, "-,");
  for (Enum value : values)
    if (getName(value) == name) {
      result = value;
      return;
    }
  scanner.fail();
}

static void scanPair(TextScanner &scanner, std::string_view prefix,
                     Spatial &pair) {
  scanner.expect(prefix).number(pair.h).expect("x").number(pair.w);
}

ErrorOr<Problem> tessera::parseNetworkConfig(std::string_view text) {
  Problem problem;
  TextScanner scanner(text);
  scanner.expect("conv-");
  scanName(scanner, kDirections, problem.direction);
  scanner.expect("-");
  scanName(scanner, kDataTypes, problem.dataType);
  scanner.expect("-");
  scanName(scanner, kLayouts, problem.xLayout);
  scanner.expect(",");
  scanName(scanner, kLayouts, problem.wLayout);
  scanner.expect(",");
  scanName(scanner, kLayouts, problem.yLayout);
  scanner.expect("-n").number(problem.batch);
  scanner.expect("c").number(problem.inChannels);
  scanner.expect("h").number(problem.in.h).expect("w").number(problem.in.w);
  scanner.expect("-k").number(problem.outChannels);
  scanner.expect("y").number(problem.filter.h);
  scanner.expect("x").number(problem.filter.w);
  scanPair(scanner, "-p", problem.pad);
  scanPair(scanner, "-s", problem.stride);
  scanPair(scanner, "-d", problem.dilation);
  scanner.expect("-g").number(problem.groups);
  if (!scanner.isDone())
    return invalidArgument("'" + std::string(text) +
                           "' is not a network config, which looks like '" +
                           Problem().toNetworkConfig() + "'");
  if (Status status = problem.verify(); !status.isOk())
    return status.withContext("network config '" + std::string(text) + "'");
  return problem;
}
