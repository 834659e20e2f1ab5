//===- Svg.cpp - Drawings as text -----------------------------------------===//

#include "tools/dnn-tune/Svg.h"

#include <cmath>
#include <cstdio>

using namespace tessera::tune_tool;

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
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

/// name="value" with a blank before it.
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
                  std::string_view words) {
  text += "<text" + attribute("x", x) + attribute("y", y) +
          attribute("text-anchor", anchor) + ">" + escapeHtml(words) +
          "</text>\n";
}

double LogAxis::map(double value) const {
  const double part = std::log(value / least) / std::log(most / least);
  return from + part * (to - from);
}

void tessera::tune_tool::addTicks(Svg &svg, const LogAxis &axis,
                                  bool isHorizontal, double across,
                                  double length) {
  const double first = std::ceil(std::log10(axis.least) - 1e-9);
  for (double power = first; std::pow(10, power) <= axis.most * (1 + 1e-9);
       ++power) {
    const double value = std::pow(10, power), place = axis.map(value);
    if (isHorizontal) {
      svg.addLine(place, across, place, across - length, "grid");
      svg.addText(place, across + 14, "middle", formatShort(value));
    } else {
      svg.addLine(across, place, across + length, place, "grid");
      svg.addText(across - 5, place + 4, "end", formatShort(value));
    }
  }
}
