//===- PanelSums.h - The inner loop of the full evaluators -----*- C++ -*-===//
//
// A block of rows meets a panel of columns, so that each loaded value is used
// several times. 4 x 8 sums of double are half of the registers of AVX2 and an
// eighth of those of AVX-512.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_PANELSUMS_H
#define TESSERA_DIALECT_REFERENCE_PANELSUMS_H

#include <cstdint>

namespace tessera::reference {

inline constexpr int kPanel = 8; ///< Columns of a panel.
inline constexpr int kBlock = 4; ///< Rows of a block.

/// sums[b][c] += sum over i < length of rows[b][i * step] * panel[i][c].
void addProducts(const float *const *rows, int64_t step, const float *panel,
                 int64_t length, double *sums);
void addProducts(const double *const *rows, int64_t step, const double *panel,
                 int64_t length, double *sums);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_PANELSUMS_H
