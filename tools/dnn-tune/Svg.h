//===- Svg.h - Drawings as text --------------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_TUNE_SVG_H
#define TESSERA_TOOLS_DNN_TUNE_SVG_H

#include <string>
#include <string_view>
#include <vector>

namespace tessera::tune_tool {

/// `text` with what HTML would take for its own replaced.
std::string escapeHtml(std::string_view text);

/// A number with at most `digits` significant ones, but all of a large whole
/// part: neither people nor CSS read exponents well.
std::string formatShort(double value, int digits = 4);

/// A round number as ticks have it: "0.05", "500", "2k", "1.5M".
std::string formatTick(double value);

/// One drawing of `width` by `height` units, from the top left corner. Colours
/// are CSS classes of the page around it.
class Svg {
public:
  Svg(double width, double height);

  void addLine(double x1, double y1, double x2, double y2,
               std::string_view style);
  /// A dot with a text that is shown when the mouse is over it.
  void addDot(double x, double y, double radius, std::string_view style,
              std::string_view title);
  void addBox(double x, double y, double width, double height,
              std::string_view fill, std::string_view title);
  /// `anchor`: start, middle or end.
  void addText(double x, double y, std::string_view anchor,
               std::string_view text, std::string_view style = "");
  /// The same, read from below to above, its middle at the point.
  void addVerticalText(double x, double y, std::string_view text);

  std::string finish() const { return text + "</svg>\n"; }

private:
  std::string text;
};

/// Maps numbers to one direction of a drawing. It begins and ends with a tick,
/// so that every value between is easy to read.
class Axis {
public:
  enum class Scale { Linear, Log };

  /// For values from `least` to `most`, which are positive; ticks are multiples
  /// of 1, 2 or 5 times a power of ten, and on a logarithmic scale these
  /// numbers, or the powers alone. The ends are drawn at `from` and `to`.
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

/// Logarithmic where values differ by more than a factor that even steps can
/// show.
Axis::Scale chooseScale(double least, double most);

/// Grid, numbers and title of an axis of the drawing, at the bottom or on the
/// left of a plot that is `length` high or wide.
void addAxis(Svg &svg, const Axis &axis, bool isHorizontal, double across,
             double length, std::string_view title);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_SVG_H
