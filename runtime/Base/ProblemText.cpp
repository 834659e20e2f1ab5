//===- ProblemText.cpp - Pieces of a network config -----------------------===//

#include "runtime/Base/ProblemText.h"

using namespace tessera;

std::string tessera::toSizeText(int64_t size) {
  return size == kUnknownSize ? "?" : std::to_string(size);
}

void tessera::scanSize(TextScanner &scanner, int64_t &size) {
  if (scanner.consume("?"))
    size = kUnknownSize;
  else
    scanner.number(size);
}

std::string tessera::toPadText(const Pads &pad, const Pads &extra,
                               bool hasDepth) {
  auto getEnds = [&](int64_t Pads::*at) {
    std::string text = std::to_string(pad.*at);
    return extra.*at == 0 ? text
                          : text + ":" + std::to_string(pad.*at + extra.*at);
  };
  return (hasDepth ? getEnds(&Pads::d) + "x" : "") + getEnds(&Pads::h) + "x" +
         getEnds(&Pads::w);
}

void tessera::scanPads(TextScanner &scanner, bool hasDepth, Pads &pad,
                       Pads &extra) {
  auto scanEnds = [&](int64_t Pads::*at) {
    scanner.number(pad.*at);
    int64_t after = pad.*at;
    if (scanner.consume(":"))
      scanner.number(after);
    extra.*at = after - pad.*at;
  };
  if (hasDepth) {
    scanEnds(&Pads::d);
    scanner.expect("x");
  }
  scanEnds(&Pads::h);
  scanner.expect("x");
  scanEnds(&Pads::w);
}

/// "nhwc" or "ndhwc".
static std::string getWord(Layout layout, bool hasDepth) {
  std::string word(getName(layout));
  if (hasDepth)
    word.insert(word.find('h'), "d");
  return word;
}

std::string tessera::toText(Layout layout, const Strides &strides,
                            bool hasDepth) {
  if (layout != Layout::Strided)
    return getWord(layout, hasDepth);
  std::string text =
      "s" + std::to_string(strides.n) + ":" + std::to_string(strides.c) + ":";
  if (hasDepth)
    text += std::to_string(strides.d) + ":";
  return text + std::to_string(strides.h) + ":" + std::to_string(strides.w);
}

void tessera::scanLayout(TextScanner &scanner, bool hasDepth, Layout &layout,
                         Strides &strides) {
  for (Layout word : {Layout::NCHW, Layout::NHWC})
    if (scanner.consume(getWord(word, hasDepth))) {
      layout = word;
      return;
    }
  layout = Layout::Strided;
  scanner.expect("s").number(strides.n).expect(":").number(strides.c);
  // A dimension that does not exist has stride 1; see canonicalizeLayout().
  strides.d = 1;
  if (hasDepth)
    scanner.expect(":").number(strides.d);
  scanner.expect(":").number(strides.h).expect(":").number(strides.w);
}

bool tessera::namesDepth(std::string_view text) {
  // "-n64c256d4h14w14-": only lengths have a d between digits and before an h.
  size_t lengths = text.find("-n");
  if (lengths == text.npos)
    return false;
  std::string_view field = text.substr(lengths + 1);
  field = field.substr(0, field.find('-'));
  return field.find('d') != field.npos;
}

bool tessera::isNetworkConfig(std::string_view word) {
  for (std::string_view kind : {"conv-", "pool-", "rowwise-"})
    if (word.starts_with(kind))
      return true;
  return false;
}

ErrorOr<Problem> tessera::parseNetworkConfig(std::string_view text) {
  std::string_view plain = text;
  auto consumeSuffix = [&](std::string_view suffix) {
    const bool hasSuffix = plain.ends_with(suffix);
    if (hasSuffix)
      plain.remove_suffix(suffix.size());
    return hasSuffix;
  };
  const bool isUnaligned = consumeSuffix(kUnalignedSuffix);
  const bool isWithoutWorkspace = consumeSuffix(kNoWorkspaceSuffix);
  const bool isSmall = consumeSuffix(kSmallSuffix);
  TextScanner scanner(plain);
  bool hasDepth = namesDepth(text);
  Problem problem;
  if (scanner.consume("pool-"))
    problem = scanPoolProblem(scanner, hasDepth);
  else if (scanner.consume("rowwise-"))
    problem = scanRowWiseProblem(scanner);
  else
    problem = scanConvProblem(scanner.expect("conv-"), hasDepth);
  if (isUnaligned)
    problem = problem.asUnaligned();
  if (isSmall)
    problem = problem.asSmall();
  if (isWithoutWorkspace)
    problem = problem.asWithoutWorkspace();
  if (!scanner.isDone() || problem.toNetworkConfig() != text)
    return invalidArgument("'" + std::string(text) +
                           "' is not a network config, which looks like '" +
                           ConvProblem().toNetworkConfig() + "'");
  if (Status status = problem.verify(); !status.isOk())
    return status.withContext("network config '" + std::string(text) + "'");
  return problem;
}
