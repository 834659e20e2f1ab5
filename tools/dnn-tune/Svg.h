//===- Svg.h - Drawings as text --------------------------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_TUNE_SVG_H
#define TESSERA_TOOLS_DNN_TUNE_SVG_H

#include <string>
#include <string_view>
#include <vector>

namespace tessera::tune_tool {

/// Replaces the characters of `text` that have a meaning in HTML.
std::string escapeHtml(std::string_view text);

/// Prints a number with at most `digits` significant digits, but with all
/// digits of a large whole part: exponents are hard to read, for people and in
/// CSS.
std::string formatShort(double value, int digits = 4);

/// Prints a round number for a tick: "0.05", "500", "2k", "1.5M".
std::string formatTick(double value);

/// One drawing of `width` by `height` units, from the top left corner. Colours
/// are CSS classes of the page around it.
class Svg {
public:
  Svg(double width, double height);

  void addLine(double x1, double y1, double x2, double y2,
               std::string_view style);
  /// Adds a dot with a text that appears when the mouse is over it.
  void addDot(double x, double y, double radius, std::string_view style,
              std::string_view title);
  void addBox(double x, double y, double width, double height,
              std::string_view fill, std::string_view title);
  /// `anchor`: start, middle or end.
  void addText(double x, double y, std::string_view anchor,
               std::string_view text, std::string_view style = "");
  /// Adds a text that is read from bottom to top, centred at the point.
  void addVerticalText(double x, double y, std::string_view text);

  std::string finish() const { return text + "</svg>\n"; }

private:
  std::string text;
};

/// Maps numbers to one direction of a drawing. It begins and ends with a tick,
/// so that every value between them is easy to read.
class Axis {
public:
  enum class Scale { Linear, Log };

  /// Makes an axis for values from `least` to `most`, which must be positive.
  /// Ticks are multiples of 1, 2 or 5 times a power of ten; on a logarithmic
  /// scale they are these numbers themselves, or only the powers. The ends are
  /// drawn at `from` and `to`.
  Axis(Scale scale, double least, double most, double from, double to);

  double map(double value) const;
  double getLeast() const { return ticks.front(); }
  double getMost() const { return ticks.back(); }
  const std::vector<double> &getTicks() const { return ticks; }

private:
  Scale scale;
  double from;
  double to;
  std::vector<double> ticks;
};

/// Logarithmic if the ratio of the values is too large for even steps.
Axis::Scale chooseScale(double least, double most);

/// Adds grid, numbers and title of an axis to the drawing, at the bottom or on
/// the left of a plot that is `length` high or wide.
void addAxis(Svg &svg, const Axis &axis, bool isHorizontal, double across,
             double length, std::string_view title);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_SVG_H
