//===- KernelText.cpp - A kernel in the form in which it is kept ----------===//

#include "runtime/Db/KernelText.h"

#include <algorithm>
#include <sstream>

using namespace tessera;

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
    for (KernelArg arg : recipe.args) {
      text += separator + std::string(getName(arg));
      separator = ",";
    }
    if (recipe.args.empty())
      text += " -";
    for (const TensorMap &map : recipe.maps)
      text += " " + map.toText();
    text += "\n";
  }
  return text;
}

/// The words "x,w,y"; nothing if one is unknown.
static std::optional<std::vector<KernelArg>> parseArgs(std::string_view text) {
  std::vector<KernelArg> args;
  if (text == "-")
    return args;
  while (!text.empty()) {
    std::string_view name = text.substr(0, text.find(','));
    std::optional<KernelArg> arg = parseKernelArg(name);
    if (!arg)
      return std::nullopt;
    args.push_back(*arg);
    text.remove_prefix(std::min(name.size() + 1, text.size()));
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
    std::optional<std::vector<KernelArg>> parsed = parseArgs(args);
    if (!parsed)
      return std::nullopt;
    recipe.args = std::move(*parsed);
    for (std::string word; words >> word;) {
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
