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
  if (const RowProblem *rows = problem.getRows()) {
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

/// The least power of ten that is not below `value`, or the greatest not above.
static double roundUp(double value) {
  return std::pow(10, std::ceil(std::log10(value) - 1e-9));
}
static double roundDown(double value) {
  return std::pow(10, std::floor(std::log10(value) + 1e-9));
}

//===----------------------------------------------------------------------===//
// Roofline
//===----------------------------------------------------------------------===//

namespace {
struct RooflinePoint {
  double intensity; ///< Operations a byte.
  double rate;      ///< Tera-operations a second, or operations a cycle.
  std::string title;
};
} // namespace

static std::vector<RooflinePoint>
getPoints(const std::vector<Outcome> &outcomes) {
  std::vector<RooflinePoint> points;
  for (const Outcome &outcome : outcomes) {
    const Ranking ranking = rate(outcome.result);
    if (!outcome.status.isOk() || !ranking.isKnown)
      continue;
    const Work work = getWork(outcome.problem);
    const bool isTime = outcome.result.objective == Objective::MeasuredTime;
    const double rate = work.operations / ranking.best * (isTime ? 1e-6 : 1);
    points.push_back({work.operations / work.bytes, rate,
                      outcome.problem.toNetworkConfig() + ": " +
                          formatShort(rate) +
                          (isTime ? " TFLOP/s" : " operations a cycle")});
  }
  return points;
}

std::string
tessera::tune_tool::drawRoofline(const std::vector<Outcome> &outcomes,
                                 const Roofs &roofs) {
  const std::vector<RooflinePoint> points = getPoints(outcomes);
  if (points.empty())
    return "<p>Nothing was tuned.</p>\n";
  double least = points[0].intensity, most = least;
  double low = points[0].rate, high = low;
  for (const RooflinePoint &point : points) {
    least = std::min(least, point.intensity);
    most = std::max(most, point.intensity);
    low = std::min(low, point.rate);
    high = std::max({high, point.rate, roofs.tflops});
  }
  const double left = 60, right = 600, top = 10, bottom = 300;
  const LogAxis x{roundDown(least), roundUp(most * 1.01), left, right};
  const LogAxis y{roundDown(low), roundUp(high * 1.01), bottom, top};
  Svg svg(640, 340);
  addTicks(svg, x, true, bottom, bottom - top);
  addTicks(svg, y, false, left, right - left);
  svg.addText((left + right) / 2, 336, "middle", "operations a byte");
  if (roofs.tflops > 0 && roofs.gbs > 0) {
    // Where the slope of the memory meets the roof of the arithmetic.
    const double ridge = 1e3 * roofs.tflops / roofs.gbs;
    const double begin = std::max(x.least, y.least * 1e3 / roofs.gbs);
    if (begin < ridge)
      svg.addLine(x.map(begin), y.map(begin * roofs.gbs / 1e3),
                  x.map(std::min(ridge, x.most)),
                  y.map(std::min(ridge, x.most) * roofs.gbs / 1e3), "roof");
    if (ridge < x.most)
      svg.addLine(x.map(std::max(ridge, x.least)), y.map(roofs.tflops), right,
                  y.map(roofs.tflops), "roof");
  }
  for (const RooflinePoint &point : points)
    svg.addDot(x.map(point.intensity), y.map(point.rate), 4, "dot",
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

std::string tessera::tune_tool::drawRanks(const TuningResult &result) {
  const double left = 60, right = 340, top = 10, bottom = 240;
  LogAxis x{0, 0, left, right}, y{0, 0, bottom, top};
  for (const TriedTile &tile : result.search.tried) {
    if (!tile.isVerified() || tile.ranked.cost <= 0 || tile.value <= 0)
      continue;
    const bool isFirst = x.most == 0;
    x.least = isFirst ? tile.ranked.cost : std::min(x.least, tile.ranked.cost);
    y.least = isFirst ? tile.value : std::min(y.least, tile.value);
    x.most = std::max(x.most, tile.ranked.cost);
    y.most = std::max(y.most, tile.value);
  }
  if (x.most == 0)
    return "";
  for (LogAxis *axis : {&x, &y}) {
    axis->least *= 0.95;
    axis->most *= 1.05;
  }
  Svg svg(370, 280);
  svg.addLine(left, bottom, right, bottom, "axis");
  svg.addLine(left, bottom, left, top, "axis");
  for (const LogAxis *axis : {&x, &y})
    for (double end : {axis->least, axis->most})
      axis == &x ? svg.addText(axis->map(end), bottom + 14, "middle",
                               formatShort(end, 3))
                 : svg.addText(left - 5, axis->map(end) + 4, "end",
                               formatShort(end, 3));
  svg.addText((left + right) / 2, bottom + 30, "middle",
              "clocks that the model expects");
  const TriedTile *best = result.search.getBest();
  for (const TriedTile &tile : result.search.tried)
    if (tile.isVerified() && tile.ranked.cost > 0 && tile.value > 0)
      svg.addDot(x.map(tile.ranked.cost), y.map(tile.value), 4,
                 &tile == best    ? "dot best"
                 : tile.rank == 0 ? "dot first"
                                  : "dot",
                 getTitle(tile, result));
  return svg.finish();
}

/// From white to blue as `part` goes from a half to 1.
static std::string getColour(double part) {
  const double depth = std::clamp(2 * part - 1, 0.0, 1.0);
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
  const double size = 38, left = 60, top = 24;
  const double best = result.search.getBest()->value;
  Svg svg(left + size * static_cast<double>(columns.size()) + 10,
          top + size * static_cast<double>(rows.size()) + 10);
  svg.addText(left - 6, 14, "end", "rows");
  double y = top;
  for (int row : rows) {
    svg.addText(left - 6, y + size / 2 + 4, "end", std::to_string(row));
    double x = left;
    for (int column : columns) {
      if (y == top)
        svg.addText(x + size / 2, 14, "middle", std::to_string(column));
      if (auto found = cells.find({row, column}); found != cells.end()) {
        const double part = best / found->second->value;
        svg.addBox(x + 1, y + 1, size - 2, size - 2, getColour(part),
                   getTitle(*found->second, result));
        svg.addText(x + size / 2, y + size / 2 + 4, "middle",
                    formatShort(part, 2));
      }
      x += size;
    }
    y += size;
  }
  return svg.finish();
}
