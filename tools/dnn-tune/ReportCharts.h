//===- ReportCharts.h - The drawings of a report ---------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_TUNE_REPORTCHARTS_H
#define TESSERA_TOOLS_DNN_TUNE_REPORTCHARTS_H

#include "tools/dnn-tune/Report.h"

#include <optional>

namespace tessera::tune_tool {

/// The unit of an objective's speeds: the emulated device has issue cycles and
/// no seconds.
std::string_view getRateUnit(Objective objective);

/// Draws the best tiles of the problems with that objective, and, if it is a
/// time, the device's limits.
std::string drawRoofline(const std::vector<Outcome> &outcomes,
                         Objective objective, const Roofs &roofs);

/// Draws measured values against expected ones, with a dot for each tile.
std::string drawRanks(const TuningResult &result);

/// Draws the best speed by rows and columns of the tile, for tiles whose text
/// has them.
std::string drawTiles(const TuningResult &result);

/// The rows and columns of a tile: "m128n64k32-..." has 128 and 64.
struct TileShape {
  int rows;
  int columns;
};
std::optional<TileShape> readTileShape(const std::string &parameters);

/// Operations of a problem and the least number of bytes that must move for it.
struct Work {
  double operations;
  double bytes;
};
Work getWork(const Problem &problem);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_REPORTCHARTS_H
