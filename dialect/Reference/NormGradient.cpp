//===- NormGradient.cpp - The sums of a norm's gradient -------------------===//

#include "dialect/Reference/NormGradient.h"

#include <cmath>

using namespace tessera::reference;

static Coord getChannel(const Coord &at) { return {.channel = at.channel}; }

bool NormGradient::isCleared(const Coord &at) const {
  if (mask)
    return !(mask->load(at) > 0);
  if (!scale)
    return false;
  auto load = [&](const TensorView &tensor) {
    return static_cast<float>(tensor.load(getChannel(at)));
  };
  const float centred = static_cast<float>(input.load(at)) - load(mean);
  const float normalized = centred * load(inverse);
  return !(std::fma(normalized, load(*scale), load(*bias)) > 0);
}

void tessera::reference::clear(const NormGradient &norm, Expected &expected) {
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const auto flat = expected.indices.empty() ? static_cast<int64_t>(i)
                                               : expected.indices[i];
    if (norm.isCleared(expected.sizes.getCoord(flat)))
      expected.values[i] = expected.magnitudes[i] = 0;
  }
}

NormSums tessera::reference::getNormSums(const NormGradient &norm,
                                         const Sizes &sizes,
                                         const TensorView &gradient) {
  // The difference, the product and the factor behind the sum.
  constexpr int64_t kRoundings = 4;
  Expected empty;
  empty.sizes.channel = sizes.channel;
  empty.values.resize(sizes.channel);
  empty.magnitudes.resize(sizes.channel);
  empty.reductionLength = sizes.getProduct() / sizes.channel + kRoundings;
  NormSums sums{empty, empty};
  Coord at;
  for (int64_t i = 0; i < sizes.getProduct(); ++i, sizes.advance(at)) {
    const Coord channel = getChannel(at);
    const double g = gradient.load(at);
    const double product = g * (norm.input.load(at) - norm.mean.load(channel)) *
                           norm.inverse.load(channel);
    sums.sum.values[at.channel] += g;
    sums.sum.magnitudes[at.channel] += std::fabs(g);
    sums.dot.values[at.channel] += product;
    sums.dot.magnitudes[at.channel] += std::fabs(product);
  }
  return sums;
}
