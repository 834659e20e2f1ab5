//===- DriverFlags.h - The words of a driver command -----------*- C++ -*--===//
//
// What the operations of MIOpenDriver have in common: every flag has a long
// name, optionally a short one, and one value. Each operation has its own
// table, because the same letter means different things.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERFLAGS_H
#define TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERFLAGS_H

#include "runtime/DriverCommand/DriverCommand.h"

#include <map>
#include <optional>

namespace tessera {

/// Puts a text between quotes for messages.
std::string quote(std::string_view text);

/// Prints numbers as "1x2x3".
std::string joinNumbers(std::span<const int64_t> numbers, char separator);
/// Parses numbers between `separator`s and nothing else; false for any other
/// text.
bool parseNumbers(std::string_view text, char separator,
                  std::vector<int64_t> &numbers);

/// Strides in the order n, c, [d,] h, w.
std::vector<int64_t> toNumbers(const Strides &strides, bool hasDepth);
/// The inverse of toNumbers().
Strides toStrides(const std::vector<int64_t> &numbers);

/// Parses "NCHW", "NHWC", "NCDHW" or "NDHWC" as the value of a flag, which is
/// given by its long name. With depth the short words mean the long ones.
Status parseLayoutWord(std::string_view flag, std::string_view text,
                       bool hasDepth, Layout &layout);
/// The inverse of parseLayoutWord(); the layout must not be Strided.
std::string_view getLayoutWord(Layout layout, bool hasDepth);

/// The words of a flag, and what they stand for.
template <typename T>
using FlagWords = std::span<const std::pair<std::string_view, T>>;

/// The flags of one command line, by long name. Borrows table and words.
///
/// Getters return the default of a flag that was not given. Whatever reads or
/// checks a flag remembers the first failure, so that a caller may read all of
/// them and look once.
///
/// Of each operation one description, `describe`, says which flags stand for
/// the fields of its problem. It names them as a line does ("-n", "--in_d") and
/// is visited by a reader or a FlagWriter.
class FlagReader {
public:
  explicit FlagReader(std::span<const DriverFlag> table) : table(table) {}

  Status parse(std::span<const std::string> words);

  bool isGiven(std::string_view name) const { return given.contains(name); }
  std::string_view getText(std::string_view name) const;
  int64_t getNumber(std::string_view name);
  bool getBool(std::string_view name) { return getNumber(name) != 0; }
  double getReal(std::string_view name);

  /// NotSupported if one of `names` has another value than its default.
  void requireDefaults(std::initializer_list<std::string_view> names);
  /// Remembers a failure.
  void check(Status result) {
    if (status.isOk())
      status = std::move(result);
  }

  const std::map<std::string_view, std::string_view> &getGiven() const {
    return given;
  }
  const Status &getStatus() const { return status; }
  bool isOk() const { return status.isOk(); }

  /// Whether to visit a flag that a line has only if its problem needs it.
  bool needs(bool) const { return true; }
  void number(std::string_view flag, int64_t &value) {
    value = getNumber(getName(flag));
  }
  /// A flag that may lack; its default is not used.
  void number(std::string_view flag, std::optional<int64_t> &value);
  /// A number between 0 and `most`.
  void upTo(int64_t most, std::string_view flag, int64_t &value);
  void boolean(std::string_view flag, bool &value);
  /// A real factor of something that is not there if it is 0.
  void factor(std::string_view flag, bool &isThere) {
    isThere = getReal(getName(flag)) != 0;
  }
  /// `least` to `most` numbers; none if the text is empty.
  void numbers(std::string_view flag, char separator, size_t least, size_t most,
               std::vector<int64_t> &values);
  /// NCHW or NHWC.
  void layout(std::string_view flag, bool hasDepth, Layout &value) {
    const std::string_view name = getName(flag);
    check(parseLayoutWord(name, getText(name), hasDepth, value));
  }
  template <typename T>
  void oneOf(std::string_view flag, FlagWords<T> words, T &value) {
    const std::string_view name = getName(flag);
    std::string known;
    for (const auto &[word, meaning] : words) {
      if (word == getText(name)) {
        value = meaning;
        return;
      }
      if (&word != &words.front().first)
        known += &word == &words.back().first ? " or " : ", ";
      known += word;
    }
    if (isGiven(name))
      check(invalidArgument("flag '--" + std::string(name) + "' must be " +
                            known + ", not " + quote(getText(name))));
  }
  /// What a kind of problem has a text for; `value` stays if the flag has none.
  template <typename T>
  void value(std::string_view flag, T &value, std::string (*)(const T &),
             Status (*read)(std::string_view, std::string_view, T &)) {
    const std::string_view name = getName(flag);
    if (!getText(name).empty())
      check(read(name, getText(name), value));
  }
  /// What a reader alone does.
  template <typename T, typename U>
  void assign(T &field, U value) {
    field = static_cast<T>(value);
  }

private:
  const DriverFlag *findFlag(std::string_view word) const;
  std::string_view getName(std::string_view flag) const;
  std::string_view getDefault(std::string_view longName) const;
  Status unknownFlag(std::string_view word,
                     std::span<const std::string> words) const;
  std::string suggest(std::string_view word,
                      std::span<const std::string> words) const;

  std::span<const DriverFlag> table;
  std::map<std::string_view, std::string_view> given;
  Status status;
};

/// Writes the flags that are visited, as FlagReader reads them.
class FlagWriter {
public:
  FlagWriter(std::string_view operation, DataType type)
      : line(std::string(operation) + std::string(getDriverWord(type))) {}

  /// The line of a command that also reports the time of the kernel.
  std::string finish() {
    number("-t", 1);
    return std::move(line);
  }

  bool needs(bool isNeeded) const { return isNeeded; }
  void number(std::string_view flag, int64_t value) {
    add(flag, std::to_string(value));
  }
  void number(std::string_view flag, const std::optional<int64_t> &value) {
    if (value)
      number(flag, *value);
  }
  void upTo(int64_t, std::string_view flag, int64_t value) {
    number(flag, value);
  }
  void boolean(std::string_view flag, bool value) { number(flag, value); }
  void factor(std::string_view flag, bool isThere) { number(flag, isThere); }
  void numbers(std::string_view flag, char separator, size_t, size_t,
               const std::vector<int64_t> &values) {
    add(flag, joinNumbers(values, separator));
  }
  void layout(std::string_view flag, bool hasDepth, Layout value) {
    add(flag, getLayoutWord(value, hasDepth));
  }
  /// Nothing if there is no word.
  template <typename T>
  void oneOf(std::string_view flag, FlagWords<T> words, T value) {
    for (const auto &[word, meaning] : words)
      if (meaning == value)
        add(flag, word);
  }
  template <typename T>
  void value(std::string_view flag, const T &value,
             std::string (*print)(const T &),
             Status (*)(std::string_view, std::string_view, T &)) {
    add(flag, print(value));
  }
  template <typename T, typename U>
  void assign(const T &, U) {}

private:
  /// A flag without a value is not given.
  void add(std::string_view flag, std::string_view value) {
    if (!value.empty())
      line.append(" ").append(flag).append(" ").append(value);
  }

  std::string line;
};

//===----------------------------------------------------------------------===//
// What descriptions have in common
//===----------------------------------------------------------------------===//

/// The flags of a length in each dimension.
struct SpatialFlags {
  std::string_view d, h, w;
};

/// Without depth the first stays what it is.
template <typename Flags, typename LengthsT>
void describeLengths(Flags &flags, const SpatialFlags &names, LengthsT &lengths,
                     bool hasDepth) {
  if (hasDepth)
    flags.number(names.d, lengths.d);
  flags.number(names.h, lengths.h);
  flags.number(names.w, lengths.w);
}

/// Padding, and as flags of our own that after the last elements if that is
/// another one; `extra` is what it is longer.
template <typename Flags, typename PadsT>
void describePads(Flags &flags, const SpatialFlags &names, PadsT &pad,
                  PadsT &extra, bool hasDepth) {
  describeLengths(flags, names, pad, hasDepth);
  auto describeAfter = [&](std::string_view flag, int64_t Pads::*at) {
    std::optional<int64_t> after;
    if (extra.*at != 0)
      after = pad.*at + extra.*at;
    flags.number(flag, after);
    flags.assign(extra.*at, after ? *after - pad.*at : 0);
  };
  if (hasDepth)
    describeAfter("--pad_after_d", &Pads::d);
  describeAfter("--pad_after_h", &Pads::h);
  describeAfter("--pad_after_w", &Pads::w);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Reads the flags that every operation has: iterations, verification, times.
DriverOptions readRun(FlagReader &flags);

/// Adds the problem in its canonical form, if it and the flags are valid.
template <typename ProblemT>
void addProblem(FlagReader &flags, const ProblemT &problem,
                DriverOptions &options) {
  if (flags.isOk())
    flags.check(problem.verify());
  if (flags.isOk())
    options.problems.push_back(problem.canonicalize());
}

/// The options, unless a flag was wrong.
inline ErrorOr<DriverOptions> finish(const FlagReader &flags,
                                     DriverOptions options) {
  if (!flags.isOk())
    return flags.getStatus();
  return options;
}

// Each operation has a file. The flags are those of its table; the line of a
// problem has no program name.

std::span<const DriverFlag> getConvDriverFlags();
ErrorOr<DriverOptions> toConvOptions(FlagReader &flags, DataType dataType);
std::string toLine(const ConvProblem &problem);

std::span<const DriverFlag> getPoolDriverFlags();
ErrorOr<DriverOptions> toPoolOptions(FlagReader &flags, DataType dataType);
std::string toLine(const PoolProblem &problem);

std::span<const DriverFlag> getFusedDriverFlags();
ErrorOr<DriverOptions> toFusedOptions(FlagReader &flags, DataType dataType);
/// Reads what a convolution without depth shares with a fused one: lengths,
/// padding, strides and dilations.
void readShape(FlagReader &flags, ConvProblem &problem);

std::span<const DriverFlag> getActivationDriverFlags();
std::span<const DriverFlag> getTensorOpDriverFlags();
std::span<const DriverFlag> getSoftmaxDriverFlags();
std::span<const DriverFlag> getReduceDriverFlags();
std::span<const DriverFlag> getBatchNormDriverFlags();
std::span<const DriverFlag> getLayerNormDriverFlags();
std::span<const DriverFlag> getLrnDriverFlags();
ErrorOr<DriverOptions> toActivationOptions(FlagReader &flags, DataType type);
ErrorOr<DriverOptions> toTensorOpOptions(FlagReader &flags, DataType type);
ErrorOr<DriverOptions> toSoftmaxOptions(FlagReader &flags, DataType type);
ErrorOr<DriverOptions> toReduceOptions(FlagReader &flags, DataType type);
ErrorOr<DriverOptions> toBatchNormOptions(FlagReader &flags, DataType type);
ErrorOr<DriverOptions> toLayerNormOptions(FlagReader &flags, DataType type);
/// Fails with NotSupported: see DriverLrn.cpp.
ErrorOr<DriverOptions> toLrnOptions(FlagReader &flags, DataType type);
/// The line that MIOpenDriver may have for a row problem, which a caller reads
/// to see whether it is right; "" if there is none.
std::string guessElementLine(const RowWiseProblem &problem);
std::string guessReduceLine(const RowWiseProblem &problem);
std::string guessNormLine(const RowWiseProblem &problem);
/// Reads a network config, and flags that do not describe the problem.
ErrorOr<DriverOptions> toConfigOptions(std::span<const std::string> words);
/// The problem's line; the network config where MIOpenDriver has none.
std::string toLine(const RowWiseProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERFLAGS_H
