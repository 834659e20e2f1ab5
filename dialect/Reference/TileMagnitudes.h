//===- TileMagnitudes.h - M of pixels that share terms ---------*- C++ -*--===//
//
// Winograd's transforms compute tiles of 2 by 2 pixels or more from terms that
// the pixels share, so a pixel has rounding errors of its neighbours' products,
// too. One at an image's corner, most of whose window is padding, may so be
// further off than its own M of Compare.h allows. Where a kernel may use them,
// M is the largest of the four pixels of a tile.
//
// Where products are of one size that is enough for F(2x2): of a line of the
// tile, y0 = m1 + m2 + m3 and y1 = m2 - m3 - m4, where m1 = (d0 - d2) g0, m4 =
// (d1 - d3) g2, and m2 and m3 are (d1 + d2) (g0 + g1 + g2) / 2 and (d2 - d1)
// (g0 - g1 + g2) / 2. The magnitudes of a pixel's terms are those of 2 + 6
// products, where the sum of the definition has 3; in two dimensions of 64
// for 9. Where padding leaves two pixels of each line of d, they are those of
// 16 products for the 4 of the tile's largest sum. So the terms are at most 64
// / 9 M large, and t has 4 sqrt(9) of what one sum of C channels may be off. A
// larger tile consists of such ones. It is no proof for values of any size: a
// term such as d1 g2 is in no pixel's sum, and may be larger than all of them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_TILEMAGNITUDES_H
#define TESSERA_DIALECT_REFERENCE_TILEMAGNITUDES_H

#include "dialect/Reference/Compare.h"

#include <functional>

namespace tessera::reference {

/// Gives each element of `expected` the largest magnitude of its tile.
/// `magnitudesAt` returns those of elements by their flat indices.
void takeLargestOfTiles(
    Expected &expected,
    const std::function<std::vector<double>(const std::vector<int64_t> &)>
        &magnitudesAt);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_TILEMAGNITUDES_H
