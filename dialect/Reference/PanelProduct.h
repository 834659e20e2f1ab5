//===- PanelProduct.h - The inner loop of the full evaluators ---*- C++ -*-===//
//
// Multiplies a block of rows with a panel of columns, so that each loaded value
// is used several times. The 4 x 8 accumulators of type double take half of the
// registers of AVX2 and an eighth of those of AVX-512.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_PANELPRODUCT_H
#define TESSERA_DIALECT_REFERENCE_PANELPRODUCT_H

#include <cstdint>

namespace tessera::reference {

inline constexpr int kPanel = 8; ///< columns of a panel
inline constexpr int kBlock = 4; ///< rows of a block

/// accumulators[b][c] += sum over i < length of rows[b][i * step] *
/// panel[i][c].
void addProducts(const float *const *rows, int64_t step, const float *panel,
                 int64_t length, double *accumulators);
void addProducts(const double *const *rows, int64_t step, const double *panel,
                 int64_t length, double *accumulators);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_PANELPRODUCT_H
