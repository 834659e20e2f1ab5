//===- Measurements.cpp - Times of tiles, as files give them --------------===//

#include "tools/dnn-fit/Measurements.h"
#include "tools/support/Files.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

using namespace tessera;
using namespace tessera::fit;

static std::optional<Problem> parseProblem(std::string_view config) {
  const ErrorOr<Problem> problem = parseNetworkConfig(config);
  return problem ? std::optional<Problem>(*problem) : std::nullopt;
}

static std::optional<double> parseValue(std::string_view text) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0)
    return std::nullopt;
  return value;
}

//===----------------------------------------------------------------------===//
// dnn-tune: "problem",device,rank,tile,model_cost,value,spread,unit,failure
//===----------------------------------------------------------------------===//

/// Splits a line into its fields; those that contain commas are in quotes.
static std::vector<std::string> splitFields(const std::string &line) {
  std::vector<std::string> fields(1);
  bool isQuoted = false;
  for (const char c : line) {
    if (c == '"')
      isQuoted = !isQuoted;
    else if (c == ',' && !isQuoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

static void readTableLine(const std::string &line, std::string &config,
                          std::vector<Run> &runs) {
  enum Field { Config, Tile = 3, Value = 5, Unit = 7, Failure, Count };
  const std::vector<std::string> fields = splitFields(line);
  if (fields.size() != Count || !fields[Failure].empty())
    return;
  const std::optional<double> value = parseValue(fields[Value]);
  const std::optional<Problem> problem = parseProblem(fields[Config]);
  if (!value || !problem)
    return;
  if (runs.empty() || fields[Config] != config)
    runs.push_back({*problem, fields[Unit], {}});
  config = fields[Config];
  runs.back().values.push_back({fields[Tile], *value});
}

//===----------------------------------------------------------------------===//
// gpu_tiles.py: "name config cuDNN T us", and below "  tile T us ..."
//===----------------------------------------------------------------------===//

/// That script leaves out the prefix that all tiles of igemm share:
/// "m128n64k64-w1x1-p9-h2"; "groups-h7w28-w1" is complete.
static std::string completeTile(const std::string &text,
                                const ConvProblem &problem) {
  if (text.starts_with("groups-"))
    return text;
  if (text.find("wgmma") != text.npos || text.find("mma") != text.npos)
    return text;
  const size_t halo = std::min(text.find("-h"), text.size());
  return "igemm-" + text.substr(0, halo) +
         (problem.allowsTf32() ? "-wgmma_tf32" : "-wgmma") + text.substr(halo);
}

static void readTilesLine(const std::string &line, bool &isInRun,
                          std::vector<Run> &runs) {
  std::istringstream words(line);
  std::string first, second, third;
  words >> first >> second >> third;
  if (!line.starts_with(" ")) {
    const std::optional<Problem> problem = parseProblem(second);
    isInRun = problem && problem->getConv();
    if (isInRun)
      runs.push_back({*problem, "us", {}});
    return;
  }
  const std::optional<double> timeUs = parseValue(second);
  if (isInRun && timeUs && third == "us")
    runs.back().values.push_back(
        {completeTile(first, *runs.back().problem.getConv()), *timeUs});
}

ErrorOr<std::vector<Run>> fit::readRuns(const std::string &path) {
  ErrorOr<std::string> text = readInput(path);
  if (!text)
    return text.getStatus();
  std::istringstream file(std::move(*text));
  std::vector<Run> runs;
  std::string config, line;
  bool isTable = false, isInRun = false;
  while (std::getline(file, line)) {
    isTable |= line.starts_with("problem,device,rank,tile,");
    if (isTable)
      readTableLine(line, config, runs);
    else
      readTilesLine(line, isInRun, runs);
  }
  std::erase_if(runs, [](const Run &run) { return run.values.empty(); });
  if (runs.empty())
    return invalidArgument(path +
                           " has no values of tiles, as dnn-tune --table "
                           "or gpu_tiles.py write them");
  return runs;
}
