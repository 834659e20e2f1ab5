//===- DriverFlags.cpp - The words of a driver command --------------------===//

#include "runtime/DriverCommand/DriverFlags.h"

#include "runtime/Base/Nearest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

using namespace tessera;

std::string tessera::quote(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// The flag that `word` names: "-n", "--batchsize".
const DriverFlag *FlagReader::findFlag(std::string_view word) const {
  bool isLong = word.starts_with("--");
  for (const DriverFlag &flag : table)
    if (isLong
            ? word.substr(2) == flag.longName
            : word.size() == 2 && word[0] == '-' && word[1] == flag.shortName)
      return &flag;
  return nullptr;
}

std::string_view FlagReader::getName(std::string_view flag) const {
  const DriverFlag *found = findFlag(flag);
  return found ? found->longName : std::string_view();
}

std::string_view FlagReader::getDefault(std::string_view longName) const {
  return findFlag("--" + std::string(longName))->defaultValue;
}

//===----------------------------------------------------------------------===//
// Suggestions
//===----------------------------------------------------------------------===//

/// The names that most operations have for the lengths of their input.
static constexpr std::array<std::string_view, 2> kLengths[] = {
    {"-n", "--batchsize"},
    {"-c", "--in_channels"},
    {"-H", "--in_h"},
    {"-W", "--in_w"}};

static bool isLength(std::string_view word) {
  return std::ranges::any_of(kLengths, [&](const auto &names) {
    return names[0] == word || names[1] == word;
  });
}

/// The suggestion for an operation that takes its input's lengths in one flag,
/// as pool does, where `words` give them one by one: "-W 4x3x32x32" for "-n 4".
/// Lengths that `words` lack come from the flag's default.
static std::string joinLengths(const DriverFlag &input,
                               std::span<const std::string> words) {
  const char separator =
      input.defaultValue.find('x') == input.defaultValue.npos ? ',' : 'x';
  std::string text = std::string("-") + input.shortName;
  std::string_view rest = input.defaultValue;
  for (const auto &names : kLengths) {
    std::string length(rest.substr(0, rest.find_first_of("x,")));
    rest.remove_prefix(std::min(length.size() + 1, rest.size()));
    // A length may have the letter of this flag, whose value then has all
    // lengths.
    for (size_t i = 0; i + 1 < words.size(); ++i)
      if ((words[i] == names[0] || words[i] == names[1]) &&
          words[i + 1].find_first_not_of("0123456789") == std::string::npos)
        length = words[i + 1];
    text += (&names == &kLengths[0] ? ' ' : separator) + length;
  }
  return text;
}

/// The suggestion for a word that is no flag; "" if there is none.
std::string FlagReader::suggest(std::string_view word,
                                std::span<const std::string> words) const {
  const std::string_view bare =
      word.substr(std::min(word.find_first_not_of('-'), word.size()));
  for (const std::string &other :
       {"-" + std::string(bare), "--" + std::string(bare)})
    if (findFlag(other))
      return other;
  // MIOpenDriver reads "-n64" as "-n" and takes the next word as its value.
  if (word.size() > 2 && word[0] == '-' && word[1] != '-' &&
      findFlag(word.substr(0, 2)))
    return std::string(word.substr(0, 2)) + " " + std::string(word.substr(2));
  std::vector<std::string_view> names;
  for (const DriverFlag &flag : table) {
    if (isLength(word) &&
        (flag.longName == "input" || flag.longName == "DimLengths"))
      return joinLengths(flag, words);
    names.push_back(flag.longName);
  }
  const std::string_view nearest = findNearest(bare, names);
  return nearest.empty() ? "" : "--" + std::string(nearest);
}

Status FlagReader::unknownFlag(std::string_view word,
                               std::span<const std::string> words) const {
  const std::string suggested = suggest(word, words);
  return invalidArgument(
      (word.starts_with("-") ? "unknown flag " + quote(word)
                             : quote(word) + " stands where a flag should") +
      (suggested.empty() ? "" : "; write " + quote(suggested)));
}

//===----------------------------------------------------------------------===//
// FlagReader
//===----------------------------------------------------------------------===//

Status FlagReader::parse(std::span<const std::string> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    // Only we accept "--flag=value"; MIOpenDriver has only "--flag value".
    size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    const DriverFlag *flag = findFlag(word.substr(0, equals));
    if (!flag)
      return unknownFlag(word.substr(0, equals), words);
    if (equals != word.npos)
      given[flag->longName] = word.substr(equals + 1);
    else if (++i < words.size())
      given[flag->longName] = words[i];
    else
      return invalidArgument("flag " + quote(word) + " needs a value");
  }
  return Status::ok();
}

std::string_view FlagReader::getText(std::string_view name) const {
  if (auto found = given.find(name); found != given.end())
    return found->second;
  return getDefault(name);
}

int64_t FlagReader::getNumber(std::string_view name) {
  std::string_view text = getText(name);
  if (text.empty()) // The default of --bias is empty.
    return 0;
  int32_t value = 0;
  auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size())
    check(invalidArgument("flag '--" + std::string(name) +
                          "' needs an integer of 32 bits, not " + quote(text)));
  return value;
}

double FlagReader::getReal(std::string_view name) {
  std::string_view text = getText(name);
  double value = 0;
  auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size())
    check(invalidArgument("flag '--" + std::string(name) +
                          "' needs a number, not " + quote(text)));
  return value;
}

void FlagReader::requireDefaults(
    std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (getText(name) != getDefault(name))
      check(notSupported("flag '--" + std::string(name) +
                         "' is supported only with its default " +
                         quote(getDefault(name)) + ", not " +
                         quote(getText(name))));
}

void FlagReader::number(std::string_view flag, std::optional<int64_t> &value) {
  if (const std::string_view name = getName(flag); isGiven(name))
    value = getNumber(name);
}

void FlagReader::upTo(int64_t most, std::string_view flag, int64_t &value) {
  number(flag, value);
  if (value < 0 || value > most)
    check(invalidArgument("flag '--" + std::string(getName(flag)) +
                          "' must be between 0 and " + std::to_string(most) +
                          ", not " + std::to_string(value)));
}

void FlagReader::boolean(std::string_view flag, bool &value) {
  int64_t number;
  upTo(1, flag, number);
  value = number != 0;
}

void FlagReader::numbers(std::string_view flag, char separator, size_t least,
                         size_t most, std::vector<int64_t> &values) {
  const std::string_view name = getName(flag), text = getText(name);
  values.clear();
  if ((text.empty() && !isGiven(name)) ||
      (parseNumbers(text, separator, values) && values.size() >= least &&
       values.size() <= most))
    return;
  values.clear();
  check(invalidArgument("flag '--" + std::string(name) + "' needs " +
                        (least == most ? "" : std::to_string(least) + " to ") +
                        std::to_string(most) + " numbers with " +
                        (separator == ',' ? "commas" : "x") + " between, not " +
                        quote(text)));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool tessera::parseNumbers(std::string_view text, char separator,
                           std::vector<int64_t> &numbers) {
  for (;;) {
    int64_t number = 0;
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc())
      return false;
    numbers.push_back(number);
    if (stop == end)
      return true;
    if (*stop != separator)
      return false;
    text.remove_prefix(stop - text.data() + 1);
  }
}

std::string tessera::joinNumbers(std::span<const int64_t> numbers,
                                 char separator) {
  std::string text;
  for (int64_t number : numbers) {
    if (!text.empty())
      text += separator;
    text += std::to_string(number);
  }
  return text;
}

std::vector<int64_t> tessera::toNumbers(const Strides &strides, bool hasDepth) {
  const auto &[n, c, d, h, w] = strides;
  return hasDepth ? std::vector{n, c, d, h, w} : std::vector{n, c, h, w};
}

Strides tessera::toStrides(const std::vector<int64_t> &numbers) {
  size_t last = numbers.size() - 1;
  return {numbers[0], numbers[1], last == 4 ? numbers[2] : 1, numbers[last - 1],
          numbers[last]};
}

Status tessera::parseLayoutWord(std::string_view flag, std::string_view text,
                                bool hasDepth, Layout &layout) {
  std::string where = "flag '--" + std::string(flag) + "'";
  if (text == "NCHW" || (hasDepth && text == "NCDHW"))
    layout = Layout::NCHW;
  else if (text == "NHWC" || (hasDepth && text == "NDHWC"))
    layout = Layout::NHWC;
  else if (text == "NCDHW" || text == "NDHWC")
    return invalidArgument("the layout " + quote(text) + " of " + where +
                           " has a depth, but the problem has none");
  else if (text == "CHWN")
    return notSupported("the layout " + quote(text) + " of " + where +
                        " is not supported; give its strides");
  else
    return invalidArgument(where + " must be " +
                           (hasDepth ? "NCDHW or NDHWC" : "NCHW or NHWC") +
                           ", not " + quote(text));
  return Status::ok();
}

std::string_view tessera::getLayoutWord(Layout layout, bool hasDepth) {
  if (layout == Layout::NHWC)
    return hasDepth ? "NDHWC" : "NHWC";
  return hasDepth ? "NCDHW" : "NCHW";
}

DriverOptions tessera::readRun(FlagReader &flags) {
  DriverOptions options;
  options.iterations = static_cast<int>(flags.getNumber("iter"));
  options.verify = flags.getBool("verify");
  options.time = flags.getBool("time");
  options.wall = flags.getBool("wall");
  return options;
}
