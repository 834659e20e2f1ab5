//===- HaloLds.cpp - LDS of the pixels that taps share --------------------===//

#include "compiler/Target/HaloLds.h"

#include <algorithm>

using namespace tessera;

HaloLds HaloLds::make(int64_t pixels, int64_t lineBytes, int64_t threads) {
  int64_t passLines = threads / (lineBytes / kChunkBytes);
  return {(pixels + passLines - 1) / passLines * passLines, lineBytes};
}

HaloLds HaloLds::makeOfPlanes(int64_t pixels, int64_t lineBytes,
                              int64_t threads) {
  return make(pixels + kPlanePixels - 1 + kZeroLines, lineBytes,
              threads * kPlanePixels);
}

/// The offset of `row`, whose coordinates are those of a tensor of `sizes`.
static int64_t getOffset(std::span<const int64_t> sizes,
                         std::span<const int64_t> steps, int64_t row) {
  int64_t offset = 0;
  for (size_t d = sizes.size(); d-- > 0;) {
    offset += steps[d] * (d == 0 ? row : row % sizes[d]);
    row /= sizes[d];
  }
  return offset;
}

int64_t tessera::getMaxSpan(std::span<const int64_t> sizes,
                            std::span<const int64_t> steps, int64_t rows) {
  int64_t extent = 1, most = 0;
  for (int64_t size : sizes)
    extent *= size;
  for (int64_t row = 0; row < extent; row += rows)
    most = std::max(most, getOffset(sizes, steps, row + rows - 1) -
                              getOffset(sizes, steps, row));
  return most;
}

bool tessera::holdsWideProducts(const GpuTarget &target) {
  constexpr std::string_view kHolding[] = {"sm_80", "sm_86", "sm_87", "sm_89",
                                           "sm_90"};
  return std::ranges::find(kHolding, target.name) != std::end(kHolding);
}
