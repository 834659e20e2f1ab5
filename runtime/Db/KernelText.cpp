//===- KernelText.cpp - A kernel in the form in which it is kept ----------===//

#include "runtime/Db/KernelText.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <sstream>

using namespace tessera;

static constexpr std::string_view kDependent = "dependent";
/// Before the expression of a number of workgroups, and of an argument.
static constexpr std::string_view kWorkgroups = "workgroups=";
static constexpr char kOfSizes = '=';
/// Before the bytes of a workspace, and between a tensor and its offset.
static constexpr std::string_view kWorkspace = "workspace=";
static constexpr char kFrom = '+';

/// Calls `visit` with every number of a launch, in the order of its line.
template <typename Recipe, typename Visitor>
static void visitNumbers(Recipe &recipe, Visitor visit) {
  for (auto &size : recipe.grid)
    visit(size);
  for (auto &size : recipe.block)
    visit(size);
  visit(recipe.dynamicLdsBytes);
}

std::string tessera::toText(const std::vector<LaunchRecipe> &launches) {
  std::string text;
  for (const LaunchRecipe &recipe : launches) {
    text += recipe.symbol;
    visitNumbers(
        recipe, [&](uint32_t number) { text += " " + std::to_string(number); });
    const char *separator = " ";
    for (const LaunchArg &arg : recipe.args) {
      text += separator + std::string(getName(arg.kind));
      if (isOfSizes(arg.kind))
        text += kOfSizes + arg.size.toText();
      else if (arg.size != SizeExpr())
        text += kFrom + arg.size.toText();
      if (arg.alignment != 1)
        text += ":" + std::to_string(arg.alignment);
      separator = ",";
    }
    if (recipe.args.empty())
      text += " -";
    if (recipe.workgroups != SizeExpr())
      text += " " + std::string(kWorkgroups) + recipe.workgroups.toText();
    if (recipe.workspace != SizeExpr())
      text += " " + std::string(kWorkspace) + recipe.workspace.toText();
    if (recipe.isDependent)
      text += " " + std::string(kDependent);
    for (const TensorMap &map : recipe.maps)
      text += " " + map.toText();
    text += "\n";
  }
  return text;
}

/// "size=xd1.xd2.*"; nothing if it is anything else.
static std::optional<LaunchArg> parseArgOfSizes(std::string_view word) {
  const size_t end = word.find(kOfSizes);
  const std::optional<KernelArg> kind = parseKernelArg(word.substr(0, end));
  const ErrorOr<SizeExpr> size = parseSizeExpr(word.substr(end + 1));
  if (!kind || !isOfSizes(*kind) || !size)
    return std::nullopt;
  return LaunchArg(*kind, *size);
}

/// "x", "x:16" or "workspace+yd0.64.*:16", or that; nothing if it is none.
static std::optional<LaunchArg> parseArg(std::string_view word) {
  if (word.find(kOfSizes) != word.npos)
    return parseArgOfSizes(word);
  const size_t colon = std::min(word.find(':'), word.size());
  const size_t from = std::min(word.find(kFrom), colon);
  const std::optional<KernelArg> kind = parseKernelArg(word.substr(0, from));
  if (!kind || isOfSizes(*kind))
    return std::nullopt;
  LaunchArg arg = *kind;
  if (from < colon) {
    const ErrorOr<SizeExpr> offset =
        parseSizeExpr(word.substr(from + 1, colon - from - 1));
    if (!offset)
      return std::nullopt;
    arg.size = *offset;
  }
  if (colon == word.size())
    return arg;
  const char *end = word.data() + word.size();
  const auto read =
      std::from_chars(word.data() + colon + 1, end, arg.alignment);
  if (read.ec != std::errc() || read.ptr != end ||
      !std::has_single_bit(arg.alignment))
    return std::nullopt;
  return arg;
}

/// The words "x:16,w:16,y"; nothing if one is unknown.
static std::optional<std::vector<LaunchArg>> parseArgs(std::string_view text) {
  std::vector<LaunchArg> args;
  if (text == "-")
    return args;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(','));
    std::optional<LaunchArg> arg = parseArg(word);
    if (!arg)
      return std::nullopt;
    args.push_back(*arg);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return args;
}

/// Where the expression of a launch's own number begins; 0 if it is none.
static size_t findValue(std::string_view word) {
  for (std::string_view name : {kWorkgroups, kWorkspace})
    if (word.starts_with(name))
      return name.size();
  return 0;
}

std::optional<std::vector<LaunchRecipe>>
tessera::parseLaunches(const std::string &text) {
  std::vector<LaunchRecipe> launches;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    LaunchRecipe recipe;
    std::istringstream words(line);
    std::string args;
    words >> recipe.symbol;
    visitNumbers(recipe, [&](uint32_t &number) { words >> number; });
    if (!words)
      return std::nullopt;
    words >> args;
    std::optional<std::vector<LaunchArg>> parsed = parseArgs(args);
    if (!parsed)
      return std::nullopt;
    recipe.args = std::move(*parsed);
    for (std::string word; words >> word;) {
      if (word == kDependent) {
        recipe.isDependent = true;
        continue;
      }
      if (const size_t value = findValue(word); value != 0) {
        const ErrorOr<SizeExpr> size = parseSizeExpr(word.substr(value));
        if (!size)
          return std::nullopt;
        (word.starts_with(kWorkgroups) ? recipe.workgroups : recipe.workspace) =
            *size;
        continue;
      }
      ErrorOr<TensorMap> map = parseTensorMap(word);
      if (!map)
        return std::nullopt;
      recipe.maps.push_back(*map);
    }
    launches.push_back(std::move(recipe));
  }
  if (toText(launches) != text)
    return std::nullopt;
  return launches;
}
