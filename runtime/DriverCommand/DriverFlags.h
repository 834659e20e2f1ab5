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

namespace tessera {

/// Puts a text between quotes for messages.
std::string quote(std::string_view text);

/// The flags of one command line, by long name. Borrows table and words.
///
/// Getters return the default of a flag that was not given. They remember the
/// first value that cannot be parsed, so that a caller may get all of them and
/// check once.
class FlagValues {
public:
  explicit FlagValues(std::span<const DriverFlag> table) : table(table) {}

  Status parse(std::span<const std::string> words);

  bool isGiven(std::string_view name) const { return given.contains(name); }
  std::string_view getText(std::string_view name) const;
  int64_t getNumber(std::string_view name);
  bool getBool(std::string_view name) { return getNumber(name) != 0; }
  double getReal(std::string_view name);

  /// InvalidArgument unless the number is between 0 and `most`.
  Status checkRange(std::string_view name, int64_t most);
  /// NotSupported if one of `names` has another value than its default.
  Status requireDefaults(std::initializer_list<std::string_view> names) const;

  const std::map<std::string_view, std::string_view> &getGiven() const {
    return given;
  }
  const Status &getStatus() const { return status; }

private:
  const DriverFlag *findFlag(std::string_view word) const;
  std::string_view getDefault(std::string_view longName) const;
  Status unknownFlag(std::string_view word,
                     std::span<const std::string> words) const;
  std::string suggest(std::string_view word,
                      std::span<const std::string> words) const;

  std::span<const DriverFlag> table;
  std::map<std::string_view, std::string_view> given;
  Status status;
};

/// Parses numbers between `separator`s and nothing else; false for any other
/// text.
bool parseNumbers(std::string_view text, char separator,
                  std::vector<int64_t> &numbers);

/// Prints strides in the order n, c, [d,] h, w.
std::string toText(const Strides &strides, bool hasDepth, char separator);
/// Makes strides of as many numbers as toText() writes.
Strides toStrides(const std::vector<int64_t> &numbers);

/// Reads --pad_after_h, -w and, if `hasDepth`, -d: what the padding after the
/// last elements is longer than `pad`, 0 where a flag is not given.
Pads readExtraPad(FlagValues &flags, const Pads &pad, bool hasDepth);

/// The same as flags, each behind a space; empty if the padding is equal.
std::string getPadAfterFlags(const Pads &pad, const Pads &extra);

/// Parses "NCHW", "NHWC", "NCDHW" or "NDHWC" as the value of a flag. With depth
/// the short words mean the long ones.
Status parseLayoutWord(std::string_view flag, std::string_view text,
                       bool hasDepth, Layout &layout);
/// The inverse of parseLayoutWord(); the layout must not be Strided.
std::string_view getLayoutWord(Layout layout, bool hasDepth);

/// Reads the flags that every operation has: iterations, verification, times.
DriverOptions readRun(FlagValues &flags);

// Whether MIOpenDriver has a word for a row-wise operation of this type: f16,
// bf16 and f32, with "fp16", "bfp16" or nothing appended.
bool hasRowWord(DataType type);
Status checkRowType(std::string_view word, DataType type);
std::string getRowWord(std::string_view word, DataType type);
/// Adds the problem in its canonical form, if it is valid.
Status addRowWiseProblem(const RowWiseProblem &problem, DriverOptions &options);

// Each operation has a file. The flags are those of its table; the line of a
// problem has no program name.

std::span<const DriverFlag> getConvDriverFlags();
ErrorOr<DriverOptions> toConvOptions(FlagValues &flags, DataType dataType);
std::string toLine(const ConvProblem &problem);

std::span<const DriverFlag> getPoolDriverFlags();
ErrorOr<DriverOptions> toPoolOptions(FlagValues &flags, DataType dataType);
std::string toLine(const PoolProblem &problem);

std::span<const DriverFlag> getFusedDriverFlags();
ErrorOr<DriverOptions> toFusedOptions(FlagValues &flags, DataType dataType);

std::span<const DriverFlag> getActivationDriverFlags();
std::span<const DriverFlag> getTensorOpDriverFlags();
std::span<const DriverFlag> getSoftmaxDriverFlags();
std::span<const DriverFlag> getReduceDriverFlags();
std::span<const DriverFlag> getBatchNormDriverFlags();
std::span<const DriverFlag> getLayerNormDriverFlags();
std::span<const DriverFlag> getLrnDriverFlags();
ErrorOr<DriverOptions> toActivationOptions(FlagValues &flags, DataType type);
ErrorOr<DriverOptions> toTensorOpOptions(FlagValues &flags, DataType type);
ErrorOr<DriverOptions> toSoftmaxOptions(FlagValues &flags, DataType type);
ErrorOr<DriverOptions> toReduceOptions(FlagValues &flags, DataType type);
ErrorOr<DriverOptions> toBatchNormOptions(FlagValues &flags, DataType type);
ErrorOr<DriverOptions> toLayerNormOptions(FlagValues &flags, DataType type);
/// Fails with NotSupported: see DriverLrn.cpp.
ErrorOr<DriverOptions> toLrnOptions(FlagValues &flags, DataType type);
/// The line of a normalisation; empty if MIOpenDriver has none for it.
std::string toNormLine(const RowWiseProblem &problem);
/// The line of a softmax or a reduction; empty if MIOpenDriver has none for it.
std::string toReduceLine(const RowWiseProblem &problem);
/// Reads a network config, and flags that do not describe the problem.
ErrorOr<DriverOptions> toConfigOptions(std::span<const std::string> words);
/// The problem's line; the network config where MIOpenDriver has none.
std::string toLine(const RowWiseProblem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERFLAGS_H
