//===- TensorMap.cpp - How a copy engine sees a tensor --------------------===//

#include "runtime/Base/TensorMap.h"
#include "runtime/Base/TextScanner.h"

#include <algorithm>

using namespace tessera;

static constexpr std::string_view kTf32 = "tf32";
static constexpr std::array<std::string_view, 3> kModes = {"tiled", "plain",
                                                           "im2col"};

/// Calls `visit` with each list of numbers and the range of it that is used.
template <typename SomeMap, typename Visitor>
static void visitLists(SomeMap &map, Visitor visit) {
  const bool isIm2col = map.mode == TensorMap::Mode::Im2col;
  visit(map.sizes, 0, map.rank);
  visit(map.strides, 1, map.rank);
  visit(map.box, 0, isIm2col ? 2 : map.rank);
  visit(map.steps, 0, map.rank);
  if (!isIm2col)
    return;
  visit(map.lower, 0, map.rank - 2);
  visit(map.upper, 0, map.rank - 2);
}

std::string TensorMap::toText() const {
  std::string text(getName(tensor));
  if (offset != 0)
    text += "+" + std::to_string(offset);
  text += ":" + std::string(roundsToTf32 ? kTf32 : getName(dataType)) + ":";
  text += kModes[static_cast<size_t>(mode)];
  visitLists(*this, [&](const auto &list, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
      text += (i == begin ? ":" : ",") + std::to_string(list[i]);
    if (begin >= end)
      text += ":";
  });
  return text;
}

/// Reads a number that may be negative.
template <typename Int>
static void scanInteger(TextScanner &scanner, Int &value) {
  const bool isNegative = scanner.consume("-");
  scanner.number(value);
  if (isNegative)
    value = -value;
}

/// The number of sizes in the text, which is the rank.
static uint32_t countSizes(std::string_view text) {
  uint32_t count = 1;
  for (char c : text.substr(0, text.find(':')))
    count += c == ',';
  return count;
}

ErrorOr<TensorMap> tessera::parseTensorMap(std::string_view text) {
  TensorMap map;
  TextScanner scanner(text);
  std::string_view tensor, type, mode;
  scanner.word(tensor, ":+");
  if (scanner.consume("+"))
    scanner.number(map.offset);
  scanner.expect(":").word(type, ":").expect(":").word(mode, ":");
  std::optional<KernelArg> arg = parseKernelArg(tensor);
  map.tensor = arg.value_or(KernelArg::X);
  const auto *known = std::find(kModes.begin(), kModes.end(), mode);
  const bool isKnown = known != kModes.end();
  if (isKnown)
    map.mode = static_cast<TensorMap::Mode>(known - kModes.begin());
  map.roundsToTf32 = type == kTf32;
  bool hasType = map.roundsToTf32;
  if (map.roundsToTf32)
    map.dataType = DataType::F32;
  for (DataType dataType : kDataTypes)
    if (type == getName(dataType)) {
      map.dataType = dataType;
      hasType = true;
    }
  const size_t begin = text.find(':') + type.size() + mode.size() + 3;
  map.rank = begin < text.size() ? countSizes(text.substr(begin)) : 0;
  const uint32_t leastRank = map.mode == TensorMap::Mode::Im2col ? 3 : 1;
  if (arg && isKnown && hasType && map.rank >= leastRank &&
      map.rank <= TensorMap::kMaxRank) {
    visitLists(map, [&](auto &list, uint32_t first, uint32_t end) {
      for (uint32_t i = first; i < end; ++i) {
        scanner.expect(i == first ? ":" : ",");
        scanInteger(scanner, list[i]);
      }
      if (first >= end)
        scanner.expect(":");
    });
    if (scanner.isDone() && map.toText() == text)
      return map;
  }
  return invalidArgument("'" + std::string(text) + "' is no tensor map");
}
