//===- PanelProduct.cpp - The inner loop of the full evaluators -----------===//
//--------------===//

#include "dialect/Reference/PanelProduct.h"

using namespace tessera::reference;

#if defined(__x86_64__) && defined(__clang__)
#define TESSERA_FOR_EACH_PROCESSOR                                             \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TESSERA_FOR_EACH_PROCESSOR
#endif

template <typename T>
[[gnu::always_inline]] static inline void
addPanel(const T *const *rows, int64_t step, const T *panel, int64_t length,
         double *accumulators) {
  using Values = T __attribute__((vector_size(kPanel * sizeof(T))));
  using Doubles = double __attribute__((vector_size(kPanel * sizeof(double))));
  Doubles total[kBlock];
  __builtin_memcpy(total, accumulators, sizeof(total));
  for (int64_t i = 0; i < length; ++i) {
    Values columns;
    __builtin_memcpy(&columns, panel + i * kPanel, sizeof(columns));
    const Doubles wide = __builtin_convertvector(columns, Doubles);
    for (int row = 0; row < kBlock; ++row)
      total[row] += wide * static_cast<double>(rows[row][i * step]);
  }
  __builtin_memcpy(accumulators, total, sizeof(total));
}

TESSERA_FOR_EACH_PROCESSOR
void tessera::reference::addProducts(const float *const *rows, int64_t step,
                                     const float *panel, int64_t length,
                                     double *accumulators) {
  addPanel(rows, step, panel, length, accumulators);
}

TESSERA_FOR_EACH_PROCESSOR
void tessera::reference::addProducts(const double *const *rows, int64_t step,
                                     const double *panel, int64_t length,
                                     double *accumulators) {
  addPanel(rows, step, panel, length, accumulators);
}
