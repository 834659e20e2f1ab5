//===- ReportCharts.cpp - The drawings of a report ------------------------===//

#include "tools/dnn-tune/ReportCharts.h"

#include "tools/dnn-tune/Svg.h"
#include "tools/problems/ProblemCost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

using namespace tessera;
using namespace tessera::tune_tool;

Work tessera::tune_tool::getWork(const Problem &problem) {
  if (const ConvProblem *conv = problem.getConv()) {
    const auto elements = static_cast<double>(conv->getInputElements() +
                                              conv->getFilterElements() +
                                              conv->getOutputElements());
    return {conv->getFlops(),
            elements * static_cast<double>(getByteSize(conv->dataType))};
  }
  if (const RowWiseProblem *rows = problem.getRows()) {
    double bytes = 0;
    for (int tensor = 0; tensor < rows->tensorCount; ++tensor)
      bytes += static_cast<double>(rows->getSpan(tensor) *
                                   getByteSize(rows->tensors[tensor].type));
    return {countOperations(problem), bytes};
  }
  const PoolProblem &pool = *problem.getPool();
  const auto elements =
      static_cast<double>(pool.getInputLengths().getElements() +
                          pool.getOutputLengths().getElements());
  return {countOperations(problem),
          elements * static_cast<double>(getByteSize(pool.dataType))};
}

std::optional<TileShape>
tessera::tune_tool::readTileShape(const std::string &parameters) {
  TileShape shape{};
  if (std::sscanf(parameters.c_str(), "m%dn%d", &shape.rows, &shape.columns) !=
      2)
    return std::nullopt;
  return shape;
}

std::string_view tessera::tune_tool::getRateUnit(Objective objective) {
  return objective == Objective::MeasuredTime ? "TFLOP/s"
                                              : "operations a cycle";
}

/// The title of a chart's values.
static std::string_view getValueTitle(Objective objective) {
  return objective == Objective::MeasuredTime ? "measured time in us"
                                              : "issue cycles (estimate)";
}

//===----------------------------------------------------------------------===//
// Roofline
//===----------------------------------------------------------------------===//

namespace {
struct RooflinePoint {
  double intensity; ///< Operations per byte.
  double rate;      ///< Tera-operations per second, or operations per cycle.
  std::string title;
};
} // namespace

static std::vector<RooflinePoint>
getPoints(const std::vector<Outcome> &outcomes, Objective objective) {
  std::vector<RooflinePoint> points;
  for (const Outcome &outcome : outcomes) {
    const Ranking ranking = rate(outcome.result);
    if (!outcome.status.isOk() || !ranking.isKnown ||
        outcome.result.objective != objective)
      continue;
    const Work work = getWork(outcome.problem);
    const bool isTime = objective == Objective::MeasuredTime;
    const double rate = work.operations / ranking.best * (isTime ? 1e-6 : 1);
    points.push_back({work.operations / work.bytes, rate,
                      outcome.problem.toNetworkConfig() + ": " +
                          formatShort(rate) + " " +
                          std::string(getRateUnit(objective))});
  }
  return points;
}

/// Draws the slope of the memory up to the ridge, where it meets the roof of
/// the arithmetic, and that roof.
static void addRoofs(Svg &svg, const Axis &x, const Axis &y,
                     const Roofs &roofs) {
  const double ridge = 1e3 * roofs.tflops / roofs.gbs;
  const double begin = std::max(x.getLeast(), y.getLeast() * 1e3 / roofs.gbs);
  const double end = std::min(ridge, x.getMost());
  if (begin < end)
    svg.addLine(x.map(begin), y.map(begin * roofs.gbs / 1e3), x.map(end),
                y.map(end * roofs.gbs / 1e3), "roof");
  if (ridge < x.getMost())
    svg.addLine(x.map(std::max(ridge, x.getLeast())), y.map(roofs.tflops),
                x.map(x.getMost()), y.map(roofs.tflops), "roof");
}

std::string
tessera::tune_tool::drawRoofline(const std::vector<Outcome> &outcomes,
                                 Objective objective, const Roofs &roofs) {
  const std::vector<RooflinePoint> points = getPoints(outcomes, objective);
  if (points.empty())
    return "<p>Nothing was tuned.</p>\n";
  // The device's limits are in operations per second, so cycles have none.
  const bool hasRoofs =
      objective == Objective::MeasuredTime && roofs.tflops > 0 && roofs.gbs > 0;
  double least = points[0].intensity, most = least;
  double low = points[0].rate, high = low;
  for (const RooflinePoint &point : points) {
    least = std::min(least, point.intensity);
    most = std::max(most, point.intensity);
    low = std::min(low, point.rate);
    high = std::max({high, point.rate, hasRoofs ? roofs.tflops : 0});
  }
  const double left = 70, right = 425, top = 10, bottom = 250;
  // The margin keeps dots off the border.
  const Axis x(Axis::Scale::Log, least * 0.95, most * 1.05, left, right);
  const Axis y(Axis::Scale::Log, low * 0.95, high * 1.05, bottom, top);
  Svg svg(445, 295);
  addAxis(svg, x, true, bottom, bottom - top, "operations a byte");
  addAxis(svg, y, false, left, right - left, getRateUnit(objective));
  if (hasRoofs)
    addRoofs(svg, x, y, roofs);
  for (const RooflinePoint &point : points)
    svg.addDot(x.map(point.intensity), y.map(point.rate), 5, "dot",
               point.title);
  return svg.finish();
}

//===----------------------------------------------------------------------===//
// One problem
//===----------------------------------------------------------------------===//

static std::string getTitle(const TriedTile &tile, const TuningResult &result) {
  return tile.ranked.tile.toText() + ": " + formatShort(tile.value) + " " +
         std::string(getName(result.objective)) + ", expected " +
         formatShort(tile.ranked.cost) + " clocks";
}

/// The CSS class of a tile's dot.
static std::string_view getDotStyle(const TriedTile &tile,
                                    const TriedTile *best) {
  if (tile.rank == 0)
    return &tile == best ? "dot best first" : "dot first";
  return &tile == best ? "dot best" : "dot";
}

static bool isDrawn(const TriedTile &tile) {
  return tile.isVerified() && tile.ranked.cost > 0 && tile.value > 0;
}

std::string tessera::tune_tool::drawRanks(const TuningResult &result) {
  std::vector<double> costs, values;
  for (const TriedTile &tile : result.search.tried)
    if (isDrawn(tile)) {
      costs.push_back(tile.ranked.cost);
      values.push_back(tile.value);
    }
  if (costs.empty())
    return "";
  const double left = 70, right = 345, top = 10, bottom = 240;
  auto makeAxis = [](const std::vector<double> &numbers, double from,
                     double to) {
    const auto [least, most] = std::ranges::minmax(numbers);
    return Axis(chooseScale(least, most), least, most, from, to);
  };
  const Axis x = makeAxis(costs, left, right);
  const Axis y = makeAxis(values, bottom, top);
  Svg svg(365, 285);
  addAxis(svg, x, true, bottom, bottom - top, "clocks that the model expects");
  addAxis(svg, y, false, left, right - left, getValueTitle(result.objective));
  const TriedTile *best = result.search.getBest();
  for (const TriedTile &tile : result.search.tried)
    if (isDrawn(tile))
      svg.addDot(x.map(tile.ranked.cost), y.map(tile.value), 5,
                 getDotStyle(tile, best), getTitle(tile, result));
  return svg.finish();
}

/// How dark a field of the map is: 0 at half of the best speed, 1 at the best.
static double getDepth(double fraction) {
  return std::clamp(2 * fraction - 1, 0.0, 1.0);
}

/// Above this depth white text is easier to read than black.
static constexpr double kLightFrom = 0.8;

/// A colour from white to blue.
static std::string getColour(double depth) {
  auto mix = [&](int light, int dark) {
    return static_cast<int>(light + depth * (dark - light));
  };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", mix(0xf2, 0x26),
                mix(0xf5, 0x67), mix(0xfa, 0xb5));
  return text;
}

std::string tessera::tune_tool::drawTiles(const TuningResult &result) {
  std::map<std::pair<int, int>, const TriedTile *> cells;
  std::set<int> rows, columns;
  for (const TriedTile &tile : result.search.tried) {
    const auto shape = readTileShape(tile.ranked.tile.parameters);
    if (!shape || !tile.isVerified() || tile.value <= 0)
      continue;
    rows.insert(shape->rows);
    columns.insert(shape->columns);
    const TriedTile *&known = cells[{shape->rows, shape->columns}];
    if (!known || tile.value < known->value)
      known = &tile;
  }
  if (cells.empty())
    return "";
  const double size = 46, left = 66, top = 46;
  const double best = result.search.getBest()->value;
  const double width = size * static_cast<double>(columns.size());
  const double height = size * static_cast<double>(rows.size());
  // The width is enough for the titles of a map with one field.
  Svg svg(std::max(left + width + 10, 190.0),
          std::max(top + height, 140.0) + 8);
  svg.addText(left, 14, "start", "columns of the tile");
  svg.addVerticalText(14, top + std::max(height, 94.0) / 2, "rows of the tile");
  double y = top;
  for (int row : rows) {
    svg.addText(left - 8, y + size / 2 + 4, "end", std::to_string(row));
    double x = left;
    for (int column : columns) {
      if (y == top)
        svg.addText(x + size / 2, top - 8, "middle", std::to_string(column));
      if (auto found = cells.find({row, column}); found != cells.end()) {
        const double fraction = best / found->second->value;
        const double depth = getDepth(fraction);
        svg.addBox(x + 1, y + 1, size - 2, size - 2, getColour(depth),
                   getTitle(*found->second, result));
        svg.addText(x + size / 2, y + size / 2 + 5, "middle",
                    formatShort(std::round(100 * fraction), 3) + " %",
                    depth > kLightFrom ? "light" : "");
      }
      x += size;
    }
    y += size;
  }
  return svg.finish();
}
