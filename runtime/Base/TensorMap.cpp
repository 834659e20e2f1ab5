//===- TensorMap.cpp - How a copy engine sees a tensor --------------------===//

#include "runtime/Base/TensorMap.h"
#include "runtime/Base/TextScanner.h"

#include <algorithm>

using namespace tessera;

static constexpr std::string_view kTf32 = "tf32";
static constexpr std::array<std::string_view, 3> kModes = {"tiled", "plain",
                                                           "im2col"};

/// Calls `visit` with each list of numbers, its name and the range of it that
/// is used.
template <typename SomeMap, typename Visitor>
static void visitLists(SomeMap &map, Visitor visit) {
  using List = TensorMap::List;
  const bool isIm2col = map.mode == TensorMap::Mode::Im2col;
  visit(map.sizes, List::Sizes, 0, map.rank);
  visit(map.strides, List::Strides, 1, map.rank);
  visit(map.box, List::Box, 0, isIm2col ? 2 : map.rank);
  visit(map.steps, List::Steps, 0, map.rank);
  if (!isIm2col)
    return;
  visit(map.lower, List::Lower, 0, map.rank - 2);
  visit(map.upper, List::Upper, 0, map.rank - 2);
}

static constexpr std::string_view kLess = "~";

static std::string toText(const TensorMap::OpenEntry &number) {
  std::string text = number.added.toText();
  if (number.subtracted != SizeExpr())
    text += std::string(kLess) + number.subtracted.toText();
  return text;
}

std::string TensorMap::toText() const {
  std::string text(getName(tensor));
  const auto openOffset =
      std::ranges::find(open, List::Offset, &OpenEntry::list);
  if (openOffset != open.end())
    text += "+" + openOffset->added.toText();
  else if (offset != 0)
    text += "+" + std::to_string(offset);
  text += ":" + std::string(roundsToTf32 ? kTf32 : getName(dataType)) + ":";
  text += kModes[static_cast<size_t>(mode)];
  visitLists(*this, [&](const auto &list, List name, uint32_t begin,
                        uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
      const auto unknown = std::ranges::find_if(open, [&](const auto &number) {
        return number.list == name && number.index == i;
      });
      text += (i == begin ? ":" : ",") + (unknown == open.end()
                                              ? std::to_string(list[i])
                                              : ::toText(*unknown));
    }
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

/// Reads a number that is open; nothing if `word` is none.
static std::optional<TensorMap::OpenEntry>
readOpenNumber(std::string_view word, TensorMap::List list, uint32_t index) {
  const size_t less = word.find(kLess);
  const ErrorOr<SizeExpr> added = parseSizeExpr(word.substr(0, less));
  const ErrorOr<SizeExpr> subtracted =
      less == word.npos ? SizeExpr() : parseSizeExpr(word.substr(less + 1));
  if (!added || !subtracted || (added->getNumber() && subtracted->getNumber()))
    return std::nullopt;
  return TensorMap::OpenEntry{list, index, *added, *subtracted};
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
  std::optional<TensorMap::OpenEntry> openOffset;
  scanner.word(tensor, ":+");
  if (scanner.consume("+")) {
    const TextScanner here = scanner;
    std::string_view word;
    scanner.word(word, ":");
    openOffset = readOpenNumber(word, TensorMap::List::Offset, 0);
    if (!openOffset) {
      scanner = here;
      scanner.number(map.offset);
    }
  }
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
    std::vector<TensorMap::OpenEntry> open;
    if (openOffset)
      open.push_back(std::move(*openOffset));
    visitLists(map, [&](auto &list, TensorMap::List name, uint32_t first,
                        uint32_t end) {
      for (uint32_t i = first; i < end; ++i) {
        scanner.expect(i == first ? ":" : ",");
        std::string_view word;
        const TextScanner here = scanner;
        scanner.word(word, ":,");
        if (std::optional<TensorMap::OpenEntry> number =
                readOpenNumber(word, name, i)) {
          open.push_back(std::move(*number));
          continue;
        }
        scanner = here;
        scanInteger(scanner, list[i]);
      }
      if (first >= end)
        scanner.expect(":");
    });
    map.open = std::move(open);
    if (scanner.isDone() && map.toText() == text)
      return map;
  }
  return invalidArgument("'" + std::string(text) + "' is no tensor map");
}

/// What fits a size, a stride or a corner of a map of `rank` (CUDA driver API,
/// cuTensorMapEncodeTiled; PTX ISA 8.6, "Im2col mode").
static bool fitsMap(TensorMap::List list, uint32_t rank, int64_t value) {
  constexpr int64_t kMostSize = int64_t(1) << 32;
  constexpr int64_t kMostStride = int64_t(1) << 40;
  const int64_t corner = rank == 3 ? 32768 : rank == 4 ? 128 : 16;
  switch (list) {
  case TensorMap::List::Offset:
    return value >= 0;
  case TensorMap::List::Sizes:
    return value >= 1 && value <= kMostSize;
  case TensorMap::List::Strides:
    return value >= 1 && value < kMostStride;
  default:
    return value >= -corner && value < corner;
  }
}

ErrorOr<TensorMap> TensorMap::bind(const SizeExpr::Lookup &lookup) const {
  TensorMap bound = *this;
  bound.open.clear();
  for (const OpenEntry &number : open) {
    const ErrorOr<int64_t> added = number.added.evaluate(lookup);
    const ErrorOr<int64_t> subtracted = number.subtracted.evaluate(lookup);
    if (!added || !subtracted)
      return (added ? subtracted : added).getStatus();
    const int64_t value = *added - *subtracted;
    if (!fitsMap(number.list, rank, value))
      return notSupported("a tensor map does not take the number " +
                          std::to_string(value));
    if (number.list == List::Offset)
      bound.offset = value;
    visitLists(bound, [&](auto &list, List name, uint32_t, uint32_t) {
      if (name == number.list)
        list[number.index] = value;
    });
  }
  return bound;
}
