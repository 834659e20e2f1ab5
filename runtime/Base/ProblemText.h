//===- ProblemText.h - Pieces of a network config --------------*- C++ -*--===//
//
// The pieces of all problems' texts, each with its printer and its parser,
// which accepts only what the printer writes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_PROBLEMTEXT_H
#define TESSERA_RUNTIME_BASE_PROBLEMTEXT_H

#include "runtime/Base/Problem.h"
#include "runtime/Base/TextScanner.h"

namespace tessera {

/// "14", or "?" if the size is unknown.
std::string toSizeText(int64_t size);
void scanSize(TextScanner &scanner, int64_t &size);

/// "14x14", with depth "4x14x14".
template <int64_t neutral>
std::string toText(const Lengths<neutral> &lengths, bool hasDepth) {
  return (hasDepth ? std::to_string(lengths.d) + "x" : "") +
         std::to_string(lengths.h) + "x" + std::to_string(lengths.w);
}

template <int64_t neutral>
void scanLengths(TextScanner &scanner, bool hasDepth,
                 Lengths<neutral> &lengths) {
  if (hasDepth)
    scanner.number(lengths.d).expect("x");
  scanner.number(lengths.h).expect("x").number(lengths.w);
}

/// "1x1", with depth "1x1x1"; "1x0:2" if 0 is the padding before and 2 that
/// after the last dimension. `extra` is what that after is longer.
std::string toPadText(const Pads &pad, const Pads &extra, bool hasDepth);
void scanPads(TextScanner &scanner, bool hasDepth, Pads &pad, Pads &extra);

/// "nhwc", "ndhwc", or "s50176:196:14:1" in the order n, c, [d,] h, w.
std::string toText(Layout layout, const Strides &strides, bool hasDepth);
void scanLayout(TextScanner &scanner, bool hasDepth, Layout &layout,
                Strides &strides);

/// Prints "alpha+bias+relu"; empty for an empty epilogue.
std::string toText(const Epilogue &epilogue);
/// Reads an epilogue behind "-e"; the text may have none.
void scanEpilogue(TextScanner &scanner, Epilogue &epilogue);

/// Whether the layouts in the text are those of a problem with depth. Looks
/// ahead, because the depth decides how the rest is read.
bool namesDepth(std::string_view text);

/// Reads the name of one of `values`, up to one of `stops`.
template <typename Enum, size_t count>
void scanName(TextScanner &scanner, const Enum (&values)[count], Enum &result,
              std::string_view stops = "-,+") {
  std::string_view name;
  scanner.word(name, stops);
  for (Enum value : values)
    if (getName(value) == name) {
      result = value;
      return;
    }
  scanner.fail();
}

inline constexpr Direction kDirections[] = {
    Direction::Forward, Direction::BackwardData, Direction::BackwardWeights};

/// The scanner fails if the text is not of that kind of problem.
ConvProblem scanConvProblem(TextScanner &scanner, bool hasDepth);
PoolProblem scanPoolProblem(TextScanner &scanner, bool hasDepth);
RowWiseProblem scanRowWiseProblem(TextScanner &scanner);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_PROBLEMTEXT_H
