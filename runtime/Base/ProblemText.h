//===- ProblemText.h - Pieces of a network config --------------*- C++ -*--===//
//
// Each kind of problem has one description of its fields, in the order of its
// text: `describe`. Who visits it decides what comes of it: a TextWriter makes
// the network config, a TextReader reads one, and accepts only what the writer
// writes, and a FieldMixer makes a hash.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_PROBLEMTEXT_H
#define TESSERA_RUNTIME_BASE_PROBLEMTEXT_H

#include "runtime/Base/Problem.h"
#include "runtime/Base/TextScanner.h"

namespace tessera {

/// Writes the fields that are visited.
class TextWriter {
public:
  TextWriter &literal(std::string_view word) {
    text += word;
    return *this;
  }
  template <typename Int>
  TextWriter &number(Int value) {
    text += std::to_string(value);
    return *this;
  }
  /// "14", or "?" if the size is unknown.
  TextWriter &size(int64_t value) {
    return value == kUnknownSize ? literal("?") : number(value);
  }
  template <typename Enum, size_t count>
  TextWriter &name(Enum value, const Enum (&)[count],
                   std::string_view /*stops*/ = "") {
    return literal(getName(value));
  }
  /// A word that is there or is not.
  bool option(std::string_view separator, std::string_view word, bool has) {
    if (has)
      literal(separator).literal(word);
    return has;
  }
  /// A word that is there if `value` is `candidate`.
  template <typename T>
  bool choice(std::string_view separator, std::string_view word, T value,
              T candidate) {
    return option(separator, word, value == candidate);
  }
  /// What a reader alone does.
  template <typename T, typename U>
  void assign(const T &, U) {}

  std::string text;
};

/// Reads the fields that are visited, as TextWriter writes them.
class TextReader {
public:
  explicit TextReader(TextScanner &scanner) : scanner(scanner) {}

  TextReader &literal(std::string_view word) {
    scanner.expect(word);
    return *this;
  }
  template <typename Int>
  TextReader &number(Int &value) {
    scanner.number(value);
    return *this;
  }
  TextReader &size(int64_t &value) {
    if (scanner.consume("?"))
      value = kUnknownSize;
    else
      scanner.number(value);
    return *this;
  }
  /// One of `values`, up to one of `stops`.
  template <typename Enum, size_t count>
  TextReader &name(Enum &value, const Enum (&values)[count],
                   std::string_view stops = "-,+") {
    std::string_view name;
    scanner.word(name, stops);
    for (Enum candidate : values)
      if (getName(candidate) == name) {
        value = candidate;
        return *this;
      }
    scanner.fail();
    return *this;
  }
  bool option(std::string_view separator, std::string_view word, bool &has) {
    return has = scanner.consume(std::string(separator) + std::string(word));
  }
  template <typename T>
  bool choice(std::string_view separator, std::string_view word, T &value,
              T candidate) {
    bool has;
    if (option(separator, word, has))
      value = candidate;
    return has;
  }
  template <typename T, typename U>
  void assign(T &field, U value) {
    field = static_cast<T>(value);
  }

private:
  TextScanner &scanner;
};

/// Mixes the fields that are visited into a hash; allocates nothing. Fnv1a
/// takes eight steps a number, which would show in the cost of every launch.
class FieldMixer {
public:
  FieldMixer &literal(std::string_view) { return *this; }
  template <typename T>
  FieldMixer &number(T value) {
    // Multiplying moves low bits up, the shift moves high bits down; the
    // constant is 2^64 over the golden ratio.
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
    return *this;
  }
  FieldMixer &size(int64_t value) { return number(value); }
  template <typename Enum, size_t count>
  FieldMixer &name(Enum value, const Enum (&)[count], std::string_view = "") {
    return number(value);
  }
  bool option(std::string_view, std::string_view, bool has) {
    flags = flags << 1 | static_cast<uint64_t>(has);
    return has;
  }
  template <typename T>
  bool choice(std::string_view, std::string_view, T value, T candidate) {
    return option({}, {}, value == candidate);
  }
  template <typename T, typename U>
  void assign(const T &, U) {}

  uint64_t getHash() { return number(flags).hash; }

private:
  uint64_t hash = 0;
  /// Words that are there or are not, of which a problem has fewer than 64.
  uint64_t flags = 1;
};

//===----------------------------------------------------------------------===//
// What kinds of problems have in common
//===----------------------------------------------------------------------===//

/// "14x14", with depth "4x14x14".
template <typename Text, typename LengthsT>
void describeLengths(Text &text, LengthsT &lengths, bool hasDepth) {
  if (hasDepth)
    text.number(lengths.d).literal("x");
  text.number(lengths.h).literal("x").number(lengths.w);
}

/// "1x1", with depth "1x1x1"; "1x0:2" if 0 is the padding before and 2 that
/// after the last dimension. `extra` is what that after is longer.
template <typename Text, typename PadsT>
void describePads(Text &text, PadsT &pad, PadsT &extra, bool hasDepth) {
  auto describeEnds = [&](int64_t Pads::*at) {
    text.number(pad.*at);
    bool isUnequal = extra.*at != 0;
    int64_t after = pad.*at + extra.*at;
    if (text.option("", ":", isUnequal))
      text.number(after);
    else
      after = pad.*at;
    text.assign(extra.*at, after - pad.*at);
  };
  if (hasDepth) {
    describeEnds(&Pads::d);
    text.literal("x");
  }
  describeEnds(&Pads::h);
  text.literal("x");
  describeEnds(&Pads::w);
}

/// "nhwc", "ndhwc", or "s50176:196:14:1" in the order n, c, [d,] h, w.
template <typename Text, typename LayoutT, typename StridesT>
void describeLayout(Text &text, LayoutT &layout, StridesT &strides,
                    bool hasDepth) {
  if (text.choice("", hasDepth ? "ncdhw" : "nchw", layout, Layout::NCHW) ||
      text.choice("", hasDepth ? "ndhwc" : "nhwc", layout, Layout::NHWC))
    return;
  text.assign(layout, Layout::Strided);
  text.literal("s").number(strides.n).literal(":").number(strides.c);
  // A dimension that does not exist has stride 1; see canonicalizeLayout().
  text.assign(strides.d, 1);
  if (hasDepth)
    text.literal(":").number(strides.d);
  text.literal(":").number(strides.h).literal(":").number(strides.w);
}

/// "n64c256h14w14", with depth "n64c256d4h14w14".
template <typename Text, typename SizeT, typename SpatialT>
void describeImages(Text &text, SizeT &batch, SizeT &channels, SpatialT &in,
                    bool hasDepth) {
  text.literal("-n").size(batch).literal("c").number(channels);
  if (hasDepth)
    text.literal("d").size(in.d);
  text.literal("h").size(in.h).literal("w").size(in.w);
}

/// "y3x3", with depth "z3y3x3".
template <typename Text, typename SpatialT>
void describeWindow(Text &text, SpatialT &window, bool hasDepth) {
  if (hasDepth)
    text.literal("z").number(window.d);
  text.literal("y").number(window.h).literal("x").number(window.w);
}

/// "alpha+bias+relu"; empty for an empty epilogue.
std::string toText(const Epilogue &epilogue);
/// Reads an epilogue behind "-e"; the text may have none.
void scanEpilogue(TextScanner &scanner, Epilogue &epilogue);

/// Whether the layouts in the text are those of a problem with depth. Looks
/// ahead, because the depth decides how the rest is read.
bool namesDepth(std::string_view text);

inline constexpr Direction kDirections[] = {
    Direction::Forward, Direction::BackwardData, Direction::BackwardWeights};

/// The scanner fails if the text is not of that kind of problem.
ConvProblem scanConvProblem(TextScanner &scanner, bool hasDepth);
PoolProblem scanPoolProblem(TextScanner &scanner, bool hasDepth);
RowWiseProblem scanRowWiseProblem(TextScanner &scanner);

void mix(FieldMixer &mixer, const ConvProblem &problem);
void mix(FieldMixer &mixer, const PoolProblem &problem);
void mix(FieldMixer &mixer, const RowWiseProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_PROBLEMTEXT_H
