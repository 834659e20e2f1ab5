//===- TileMagnitudes.cpp - M of pixels that share terms ------------------===//

#include "dialect/Reference/TileMagnitudes.h"

#include <algorithm>

using namespace tessera::reference;

void tessera::reference::takeLargestOfTiles(
    Expected &expected,
    const std::function<std::vector<double>(const std::vector<int64_t> &)>
        &magnitudesAt) {
  const Sizes &sizes = expected.sizes;
  const size_t count = expected.magnitudes.size();
  std::vector<double> largest = expected.magnitudes;
  for (int64_t pixel = 1; pixel < 4; ++pixel) {
    // What lies beyond the image is in no sum.
    std::vector<int64_t> others(count);
    for (size_t i = 0; i < count; ++i) {
      others[i] = expected.indices.empty() ? static_cast<int64_t>(i)
                                           : expected.indices[i];
      Coord at = sizes.getCoord(others[i]);
      at.row ^= pixel >> 1;
      at.column ^= pixel & 1;
      if (at.row < sizes.row && at.column < sizes.column)
        others[i] = sizes.getFlatIndex(at);
    }
    const std::vector<double> magnitudes = magnitudesAt(others);
    for (size_t i = 0; i < count; ++i)
      largest[i] = std::max(largest[i], magnitudes[i]);
  }
  expected.magnitudes = std::move(largest);
}
