//===- Measurements.h - Times of tiles, as files give them -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNNFIT_MEASUREMENTS_H
#define TESSERA_TOOLS_DNNFIT_MEASUREMENTS_H

#include "runtime/Base/Problem.h"

#include <string>
#include <vector>

namespace tessera::fit {

struct TileTime {
  std::string tile; ///< "igemm-m128n128k64-w1x1-p6-wgmma".
  double timeUs;
};

/// Tiles of one problem that were timed in one run, so that their times
/// compare.
struct Run {
  ConvProblem problem;
  std::vector<TileTime> times;
};

/// Reads what `dnn-tune --table` and `gpu_tiles.py run` write. Poolings, values
/// that are no microseconds, and tiles in quarantine are passed over. NotFound
/// if the file cannot be read, InvalidArgument if nothing in it is a time.
ErrorOr<std::vector<Run>> readRuns(const std::string &path);

} // namespace tessera::fit

#endif // TESSERA_TOOLS_DNNFIT_MEASUREMENTS_H
