//===- InstructionText.cpp - The parts of a printed instruction -----------===//

#include "runtime/Emulator/Decode/InstructionText.h"

#include <charconv>

using namespace tessera::emulator;

/// Splits `text` at every `separator` that is not inside brackets.
static std::vector<std::string_view> split(std::string_view text,
                                           char separator) {
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  int depth = 0;
  auto keep = [&](size_t end) {
    std::string_view piece = text.substr(begin, end - begin);
    while (!piece.empty() && piece.front() == ' ')
      piece.remove_prefix(1);
    while (!piece.empty() && piece.back() == ' ')
      piece.remove_suffix(1);
    if (!piece.empty())
      pieces.push_back(piece);
    begin = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(')
      ++depth;
    else if (text[i] == ']' || text[i] == ')')
      --depth;
    else if (text[i] == separator && depth == 0)
      keep(i);
  }
  keep(text.size());
  return pieces;
}

/// Removes `prefix` and the closing bracket if both are there.
static bool unwrap(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix) || !text.ends_with(')'))
    return false;
  text.remove_prefix(prefix.size());
  text.remove_suffix(1);
  return true;
}

static OperandText parseOperand(std::string_view text) {
  OperandText operand;
  if (unwrap(text, "neg("))
    operand.neg = true;
  else if (text.size() > 1 && text[0] == '-' &&
           !(text[1] >= '0' && text[1] <= '9')) {
    operand.neg = true;
    text.remove_prefix(1);
  }
  if (unwrap(text, "abs("))
    operand.abs = true;
  else if (text.size() > 2 && text.front() == '|' && text.back() == '|') {
    operand.abs = true;
    text = text.substr(1, text.size() - 2);
  }
  if (unwrap(text, "sext("))
    operand.sext = true;
  if (unwrap(text, "lit(") || unwrap(text, "lit64("))
    operand.sext = false;
  operand.name = text;
  return operand;
}

/// Words that stand where an operand could but are modifiers.
static bool isBareModifier(std::string_view word) {
  return word == "sc0" || word == "sc1" || word == "nt" || word == "glc" ||
         word == "slc" || word == "dlc" || word == "lds" || word == "gds";
}

InstructionText tessera::emulator::splitInstruction(std::string_view text) {
  InstructionText result;
  size_t space = text.find(' ');
  result.mnemonic = text.substr(0, space);
  if (space == std::string_view::npos)
    return result;
  for (std::string_view piece : split(text.substr(space + 1), ',')) {
    std::vector<std::string_view> words = split(piece, ' ');
    for (size_t i = 0; i < words.size(); ++i) {
      std::string_view word = words[i];
      size_t colon = word.find_first_of(":[(");
      bool hasValue = colon != std::string_view::npos && word[colon] == ':';
      if (i == 0 && !hasValue && !isBareModifier(word))
        result.operands.push_back(parseOperand(word));
      else
        result.modifiers.push_back(
            {word.substr(0, hasValue ? colon : word.size()),
             hasValue ? word.substr(colon + 1) : std::string_view()});
    }
  }
  return result;
}

std::optional<std::string_view>
InstructionText::find(std::string_view modifier) const {
  for (auto [name, value] : modifiers)
    if (name == modifier)
      return value;
  return std::nullopt;
}

std::optional<int64_t> tessera::emulator::parseInteger(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative)
    text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::vector<int64_t>
tessera::emulator::parseIntegerList(std::string_view text) {
  std::vector<int64_t> result;
  if (text.size() >= 2)
    for (std::string_view item : split(text.substr(1, text.size() - 2), ','))
      result.push_back(parseInteger(item).value_or(0));
  return result;
}

std::optional<RegisterName>
tessera::emulator::parseRegister(std::string_view name) {
  RegisterName result{RegisterName::File::Scalar, 0, 1};
  if (name.starts_with('v') && (name.ends_with(".l") || name.ends_with(".h"))) {
    result.isHighHalf = name.ends_with('h');
    name.remove_suffix(2);
  }
  if (name.starts_with("ttmp")) {
    result.file = RegisterName::File::Ttmp;
    name.remove_prefix(4);
  } else if (!name.empty() &&
             (name[0] == 'v' || name[0] == 'a' || name[0] == 's')) {
    result.file = name[0] == 'v'   ? RegisterName::File::Vector
                  : name[0] == 'a' ? RegisterName::File::Accumulation
                                   : RegisterName::File::Scalar;
    name.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  bool isRange = name.size() > 2 && name.front() == '[' && name.back() == ']';
  if (!isRange) {
    auto number = parseInteger(name);
    if (!number || *number < 0 || *number > 255)
      return std::nullopt;
    result.first = static_cast<unsigned>(*number);
    return result;
  }
  name = name.substr(1, name.size() - 2);
  size_t colon = name.find(':');
  auto first = parseInteger(name.substr(0, colon));
  auto last = colon == std::string_view::npos
                  ? first
                  : parseInteger(name.substr(colon + 1));
  if (!first || !last || *first < 0 || *last < *first || *last > 255)
    return std::nullopt;
  result.first = static_cast<unsigned>(*first);
  result.count = static_cast<unsigned>(*last - *first + 1);
  return result;
}
