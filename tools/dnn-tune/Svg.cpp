//===- Svg.cpp - Drawings as text -----------------------------------------===//

#include "tools/dnn-tune/Svg.h"

#include <cmath>
#include <cstdio>

using namespace tessera::tune_tool;

/// The rounding error of a quotient of two round numbers.
static constexpr double kSlack = 1e-9;

std::string tessera::tune_tool::escapeHtml(std::string_view text) {
  std::string escaped;
  for (char c : text)
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    default:
      escaped += c;
    }
  return escaped;
}

std::string tessera::tune_tool::formatShort(double value, int digits) {
  const bool isLong = std::fabs(value) >= std::pow(10, digits) - 0.5;
  char text[64];
  if (isLong)
    std::snprintf(text, sizeof text, "%.0f", value);
  else
    std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string tessera::tune_tool::formatTick(double value) {
  constexpr std::pair<double, const char *> kUnits[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (auto [unit, letter] : kUnits)
    if (value >= unit * (1 - kSlack))
      return formatShort(value / unit, 6) + letter;
  return formatShort(value, 6);
}

/// Prints name="value" after a blank.
static std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + formatShort(value, 6) + "\"";
}

static std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + escapeHtml(value) + "\"";
}

static std::string titled(std::string_view element, std::string_view title) {
  return "><title>" + escapeHtml(title) + "</title></" + std::string(element) +
         ">\n";
}

Svg::Svg(double width, double height)
    : text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
           formatShort(width) + " " + formatShort(height) + "\"" +
           attribute("width", width) + attribute("height", height) + ">\n") {}

void Svg::addLine(double x1, double y1, double x2, double y2,
                  std::string_view style) {
  text += "<line" + attribute("x1", x1) + attribute("y1", y1) +
          attribute("x2", x2) + attribute("y2", y2) +
          attribute("class", style) + "/>\n";
}

void Svg::addDot(double x, double y, double radius, std::string_view style,
                 std::string_view title) {
  text += "<circle" + attribute("cx", x) + attribute("cy", y) +
          attribute("r", radius) + attribute("class", style) +
          titled("circle", title);
}

void Svg::addBox(double x, double y, double width, double height,
                 std::string_view fill, std::string_view title) {
  text += "<rect" + attribute("x", x) + attribute("y", y) +
          attribute("width", width) + attribute("height", height) +
          attribute("fill", fill) + titled("rect", title);
}

void Svg::addText(double x, double y, std::string_view anchor,
                  std::string_view words, std::string_view style) {
  text += "<text" + attribute("x", x) + attribute("y", y) +
          attribute("text-anchor", anchor) +
          (style.empty() ? "" : attribute("class", style)) + ">" +
          escapeHtml(words) + "</text>\n";
}

void Svg::addVerticalText(double x, double y, std::string_view words) {
  text += "<text text-anchor=\"middle\" transform=\"translate(" +
          formatShort(x, 6) + " " + formatShort(y, 6) + ") rotate(-90)\">" +
          escapeHtml(words) + "</text>\n";
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Multiples of the least of 1, 2, 5, 10, ... with which at most five steps
/// reach from `least` to `most`.
static std::vector<double> getLinearTicks(double least, double most) {
  constexpr double kSteps = 5;
  const double rough = (most - least) / kSteps;
  double step = std::pow(10, std::floor(std::log10(rough)));
  for (double digit : {2.0, 2.5, 2.0})
    if (step < rough * (1 - kSlack))
      step *= digit;
  const double first = std::floor(least / step + kSlack);
  const double last = std::ceil(most / step - kSlack);
  std::vector<double> ticks;
  for (double multiple = first; multiple <= last; ++multiple)
    ticks.push_back(multiple * step);
  return ticks;
}

/// Powers of ten, and 2 and 5 times them where there are few powers: from the
/// last one that is not above `least` to the first that is not below `most`.
static std::vector<double> getLogTicks(double least, double most) {
  const bool hasFewPowers = most / least < 1e3;
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(least));; ++power)
    for (double digit : {1.0, 2.0, 5.0}) {
      if (digit > 1 && !hasFewPowers)
        break;
      const double tick = digit * std::pow(10, power);
      if (tick <= least * (1 + kSlack))
        ticks.clear();
      ticks.push_back(tick);
      if (ticks.size() > 1 && tick >= most * (1 - kSlack))
        return ticks;
    }
}

Axis::Axis(Scale scale, double least, double most, double from, double to)
    : scale(scale), from(from), to(to) {
  // Equal ends would leave no step between ticks.
  if (most <= least * (1 + kSlack)) {
    least *= 0.9;
    most *= 1.1;
  }
  ticks = scale == Scale::Log ? getLogTicks(least, most)
                              : getLinearTicks(least, most);
}

double Axis::map(double value) const {
  const double fraction =
      scale == Scale::Log
          ? std::log(value / getLeast()) / std::log(getMost() / getLeast())
          : (value - getLeast()) / (getMost() - getLeast());
  return from + fraction * (to - from);
}

Axis::Scale tessera::tune_tool::chooseScale(double least, double most) {
  constexpr double kMostLinear = 20;
  return most > kMostLinear * least ? Axis::Scale::Log : Axis::Scale::Linear;
}

void tessera::tune_tool::addAxis(Svg &svg, const Axis &axis, bool isHorizontal,
                                 double across, double length,
                                 std::string_view title) {
  const double middle =
      (axis.map(axis.getLeast()) + axis.map(axis.getMost())) / 2;
  for (double tick : axis.getTicks()) {
    const double at = axis.map(tick);
    if (isHorizontal) {
      svg.addLine(at, across, at, across - length, "grid");
      svg.addText(at, across + 16, "middle", formatTick(tick));
    } else {
      svg.addLine(across, at, across + length, at, "grid");
      svg.addText(across - 6, at + 4, "end", formatTick(tick));
    }
  }
  if (isHorizontal)
    svg.addText(middle, across + 36, "middle", title);
  else
    svg.addVerticalText(across - 52, middle, title);
}
