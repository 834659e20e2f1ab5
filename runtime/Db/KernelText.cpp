//===- KernelText.cpp - A kernel in the form in which it is kept ----------===//

#include "runtime/Db/KernelText.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <sstream>

using namespace tessera;

static constexpr std::string_view kDependent = "dependent";

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
      if (arg.alignment != 1)
        text += ":" + std::to_string(arg.alignment);
      separator = ",";
    }
    if (recipe.args.empty())
      text += " -";
    if (recipe.isDependent)
      text += " " + std::string(kDependent);
    for (const TensorMap &map : recipe.maps)
      text += " " + map.toText();
    text += "\n";
  }
  return text;
}

/// "x" or "x:16"; nothing if it is neither.
static std::optional<LaunchArg> parseArg(std::string_view word) {
  const size_t colon = std::min(word.find(':'), word.size());
  const std::optional<KernelArg> kind = parseKernelArg(word.substr(0, colon));
  if (!kind)
    return std::nullopt;
  LaunchArg arg = *kind;
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
