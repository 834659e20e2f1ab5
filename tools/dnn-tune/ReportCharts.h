//===- ReportCharts.h - The drawings of a report ---------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_TUNE_REPORTCHARTS_H
#define TESSERA_TOOLS_DNN_TUNE_REPORTCHARTS_H

#include "tools/dnn-tune/Report.h"

#include <optional>

namespace tessera::tune_tool {

/// What the speeds of an objective are counted in: the emulated device has
/// issue cycles and no seconds.
std::string_view getRateUnit(Objective objective);

/// The best tiles of the problems with that objective, and where it is a time
/// the device's limits above them.
std::string drawRoofline(const std::vector<Outcome> &outcomes,
                         Objective objective, const Roofs &roofs);

/// Measured against expected, a dot a tile.
std::string drawRanks(const TuningResult &result);

/// The best speed by rows and columns of the tile, where its text has them.
std::string drawTiles(const TuningResult &result);

/// "m128n64k32-..." has 128 rows and 64 columns.
struct TileShape {
  int rows;
  int columns;
};
std::optional<TileShape> readTileShape(const std::string &parameters);

/// Operations of a problem and the bytes that must move for it at least.
struct Work {
  double operations;
  double bytes;
};
Work getWork(const Problem &problem);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_REPORTCHARTS_H
