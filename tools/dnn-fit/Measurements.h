//===- Measurements.h - Times of tiles, as files give them -----*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_FIT_MEASUREMENTS_H
#define TESSERA_TOOLS_DNN_FIT_MEASUREMENTS_H

#include "runtime/Base/Problem.h"

#include <string>
#include <vector>

namespace tessera::fit {

struct TileValue {
  std::string tile; ///< "igemm-m128n128k64-w1x1-p6-wgmma".
  double value;     ///< Less is better.
};

/// Tiles of one problem that were tried in one run, so that their values are
/// comparable.
struct Run {
  Problem problem;
  std::string unit; ///< "us", or "cycles" on the emulated device.
  std::vector<TileValue> values;
  /// Whether the tiles are known to be good, so that a fit should not leave
  /// them for others of which nothing is known.
  bool isKept = false;
};

/// Reads the output of `dnn-tune --table` and `gpu_tiles.py run`. Tiles in
/// quarantine are skipped. NotFound if the file cannot be read, InvalidArgument
/// if it has no value.
ErrorOr<std::vector<Run>> readRuns(const std::string &path);

} // namespace tessera::fit

#endif // TESSERA_TOOLS_DNN_FIT_MEASUREMENTS_H
