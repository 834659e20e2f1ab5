//===- Report.cpp - A tuning to look at -----------------------------------===//

#include "tools/dnn-tune/Report.h"

#include "tools/dnn-tune/ReportCharts.h"
#include "tools/dnn-tune/Svg.h"

#include <set>

using namespace tessera;
using namespace tessera::tune_tool;

static constexpr const char *kStyle = R"(<style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em;
  color: #222; background: #fff; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } td, th { padding: .15em .7em;
  border-bottom: 1px solid #ddd; text-align: right; font-size: 13px;
  vertical-align: top; }
td:first-child, th:first-child { text-align: left; padding-left: 0; }
.wide td { white-space: nowrap; }
.wide td:has(code), .wide td[colspan] { white-space: normal; min-width: 16em;
  text-align: left; }
.wide th:nth-child(2) { text-align: left; }
code { font-size: 12px; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; margin: .4em 1em 0 0; vertical-align: top; }
svg text { font: 12px system-ui, sans-serif; fill: #222; }
svg text.light { fill: #fff; }
.roof { stroke: #444; stroke-width: 1.6; fill: none; }
.grid { stroke: #e0e0e0; } .dot { fill: #2667b5; fill-opacity: .75; }
.best { fill: #1d8a4a; fill-opacity: 1; }
.first { fill: #d1541f; fill-opacity: 1; }
.best.first { fill: #1d8a4a; stroke: #d1541f; stroke-width: 3; }
.key { width: 1em; height: 1em; margin: 0; vertical-align: -.15em; }
.note { color: #555; } summary { cursor: pointer; padding: .2em 0; }
</style>
)";

/// Draws a dot like those in the charts, for the text that explains it.
static std::string key(const char *style) {
  return std::string("<svg class=\"key\" viewBox=\"0 0 16 16\">"
                     "<circle cx=\"8\" cy=\"8\" r=\"5\" class=\"") +
         style + "\"/></svg>";
}

static std::string cell(const std::string &text) {
  return "<td>" + escapeHtml(text) + "</td>";
}

/// Prints what was tuned, when, with which tool, on which device.
static std::string formatHead(const std::vector<Outcome> &outcomes,
                              const ReportOptions &options) {
  std::set<std::string> devices, judges;
  size_t tried = 0, candidates = 0;
  for (const Outcome &outcome : outcomes) {
    if (!outcome.status.isOk())
      continue;
    devices.insert(outcome.result.device + " (" + outcome.result.key.target +
                   ", " + std::to_string(outcome.result.key.computeUnits) +
                   " compute units)");
    judges.insert(outcome.result.judge.empty() ? "earlier runs"
                                               : outcome.result.judge);
    tried += outcome.result.search.tried.size();
    candidates += outcome.result.candidates;
  }
  auto join = [](const std::set<std::string> &words) {
    std::string text;
    for (const std::string &word : words)
      text += (text.empty() ? "" : ", ") + word;
    return text;
  };
  return "<p>" + escapeHtml(options.date) + ", compiler <code>" +
         escapeHtml(options.revision) + "</code>.<br>Device: " +
         escapeHtml(devices.empty() ? "none" : join(devices)) + ".<br>" +
         std::to_string(tried) + " of " + std::to_string(candidates) +
         " tiles tried. Verified by: " +
         escapeHtml(judges.empty() ? "nobody" : join(judges)) + ".</p>\n";
}

static std::string formatRating(const std::vector<Outcome> &outcomes) {
  const Rating rating = rate(outcomes);
  std::string html = "<table><tr><th>over " + std::to_string(rating.problems) +
                     " problems</th><th></th></tr>\n";
  auto row = [&](const char *name, double value) {
    html += "<tr><td>" + std::string(name) + "</td>" +
            cell(formatShort(value, 3)) + "</tr>\n";
  };
  row("the model's first choice, of the best tile's speed (geometric mean)",
      rating.firstOverBest);
  row("the best of the model's first four, likewise", rating.topFourOverBest);
  row("Kendall's tau of the model's costs and the values (mean)", rating.tau);
  return html + "</table>\n";
}

static std::string formatProblems(const std::vector<Outcome> &outcomes) {
  std::string html = "<div class=\"wide\"><table><tr><th>problem</th><th>best "
                     "tile</th><th>value</th><th>first / "
                     "best</th><th>top 4 / best</th><th>tau</th><th>tried</th>"
                     "<th>quarantine</th></tr>\n";
  for (const Outcome &outcome : outcomes) {
    const Ranking ranking = rate(outcome.result);
    html += "<tr><td><code>" + escapeHtml(outcome.problem.toNetworkConfig()) +
            "</code></td>";
    if (!outcome.status.isOk() || !ranking.isKnown) {
      html += "<td colspan=\"7\">" + escapeHtml(outcome.status.getMessage()) +
              "</td></tr>\n";
      continue;
    }
    const TuningResult &result = outcome.result;
    const TriedTile &best = *result.search.getBest();
    html += "<td><code>" + escapeHtml(best.ranked.tile.toText()) + "</code> " +
            key(best.rank == 0 ? "dot best first" : "dot best") + "</td>" +
            cell(formatShort(ranking.best) + " " +
                 std::string(getName(result.objective))) +
            cell(formatShort(ranking.firstOverBest, 3)) +
            cell(formatShort(ranking.topFourOverBest, 3)) +
            cell(formatShort(ranking.tau, 2)) +
            cell(std::to_string(result.search.tried.size()) + " of " +
                 std::to_string(result.candidates)) +
            cell(std::to_string(ranking.quarantined)) + "</tr>\n";
  }
  return html + "</table></div>\n";
}

static std::string formatQuarantine(const TuningResult &result) {
  std::string html;
  for (const TriedTile &tile : result.search.tried)
    if (!tile.isVerified())
      html += "<li><code>" + escapeHtml(tile.ranked.tile.toText()) +
              "</code>: " + escapeHtml(tile.failure) + "</li>\n";
  return html.empty() ? "" : "<p>Quarantine:</p><ul>\n" + html + "</ul>\n";
}

/// Prints one problem's charts, folded unless they are the first.
static std::string formatDetails(const Outcome &outcome, bool isFirst) {
  return std::string(isFirst ? "<details open>" : "<details>") +
         "<summary><code>" + escapeHtml(outcome.problem.toNetworkConfig()) +
         "</code></summary>\n" + drawRanks(outcome.result) +
         drawTiles(outcome.result) + formatQuarantine(outcome.result) +
         "</details>\n";
}

/// Prints a roofline for each kind of values: those of the emulated device are
/// no times.
static std::string formatRooflines(const std::vector<Outcome> &outcomes,
                                   const Roofs &roofs) {
  std::set<Objective> objectives;
  for (const Outcome &outcome : outcomes)
    if (outcome.status.isOk())
      objectives.insert(outcome.result.objective);
  std::string html = "<h2>Roofline</h2>\n";
  for (Objective objective : objectives)
    html += "<p class=\"note\">Each dot is the best tile of a problem: " +
            std::string(objective == Objective::MeasuredTime
                            ? "tera-operations a second (TFLOP/s)"
                            : "operations a cycle, of the issue cycles that "
                              "the emulated device estimates and which are no "
                              "time,") +
            " against operations a byte that must move.</p>\n" +
            drawRoofline(outcomes, objective, roofs);
  return html;
}

std::string
tessera::tune_tool::formatReport(const std::vector<Outcome> &outcomes,
                                 const ReportOptions &options) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">"
      "<title>Tuning</title>\n" +
      std::string(kStyle) + "</head><body>\n<h1>Tuning</h1>\n" +
      formatHead(outcomes, options) + formatRating(outcomes) +
      formatRooflines(outcomes, options.roofs) + "<h2>Problems</h2>\n" +
      formatProblems(outcomes) +
      "<h2>Tiles</h2>\n<p class=\"note\">The chart: each tile's value against "
      "the cost that the model expected; " +
      key("dot first") + " is the model's first choice, " + key("dot best") +
      " the best tile, " + key("dot best first") +
      " a first choice that is the best tile, too. The map: the speed of the "
      "best tile with so many rows and columns, of the best of all.</p>\n";
  bool isFirst = true;
  for (const Outcome &outcome : outcomes)
    if (outcome.status.isOk() && rate(outcome.result).isKnown) {
      html += formatDetails(outcome, isFirst);
      isFirst = false;
    }
  return html + "</body></html>\n";
}
