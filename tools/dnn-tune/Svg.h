//===- Svg.h - Drawings as text --------------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_TUNE_SVG_H
#define TESSERA_TOOLS_DNN_TUNE_SVG_H

#include <string>
#include <string_view>

namespace tessera::tune_tool {

/// `text` with what HTML would take for its own replaced.
std::string escapeHtml(std::string_view text);

/// A number as SVG and people like it: at most `digits` significant ones.
std::string formatShort(double value, int digits = 4);

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
               std::string_view text);

  std::string finish() const { return text + "</svg>\n"; }

private:
  std::string text;
};

/// Maps positive numbers to an axis by their logarithms.
struct LogAxis {
  double least;
  double most;
  double from; ///< Where `least` is drawn.
  double to;

  double map(double value) const;
};

/// An axis with a tick at each power of ten.
void addTicks(Svg &svg, const LogAxis &axis, bool isHorizontal, double across,
              double length);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_SVG_H
