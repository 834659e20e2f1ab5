//===- OpenSamples.cpp - Sizes that stand for unknown ones ----------------===//

#include "compiler/Algorithms/OpenSamples.h"
#include "runtime/Base/ProblemFamily.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace tessera;

/// Sets a size that is unknown so that y, or x, has `wanted` elements along it.
static void setSize(int64_t &in, int64_t wanted, bool isOfY, int64_t filter,
                    int64_t pads, int64_t stride, int64_t dilation) {
  if (in != kUnknownSize)
    return;
  const int64_t reach = (filter - 1) * dilation + 1;
  in = isOfY ? (wanted - 1) * stride + reach - pads : wanted;
  // A window is no larger than the image.
  in = std::max(in, std::max<int64_t>(1, reach - pads));
}

/// The member of one image, or of `images`, that has about `pixels`.
static ConvProblem makeMember(const ConvProblem &family, double pixels,
                              int64_t images = 1) {
  ConvProblem member = family;
  member.batch = images;
  pixels /= static_cast<double>(images);
  const int unknown = (family.in.d == kUnknownSize) +
                      (family.in.h == kUnknownSize) +
                      (family.in.w == kUnknownSize);
  const double side = unknown > 0 ? std::pow(pixels, 1.0 / unknown) : 1;
  if (unknown == 0)
    member.batch = std::max<int64_t>(1, std::llround(pixels));
  const int64_t wanted = std::max<int64_t>(1, std::llround(side));
  // Pixels are those of the result, or of the reduction.
  const bool isOfY = family.direction != Direction::BackwardData;
  auto set = [&](int64_t Spatial::*dim, int64_t Pads::*pad) {
    setSize(member.in.*dim, wanted, isOfY, family.filter.*dim,
            2 * family.pad.*pad + family.extraPad.*pad, family.stride.*dim,
            family.dilation.*dim);
  };
  set(&Spatial::d, &Pads::d);
  set(&Spatial::h, &Pads::h);
  set(&Spatial::w, &Pads::w);
  return member;
}

std::vector<ConvProblem> tessera::getOpenSamples(const Problem &family,
                                                 double most, bool hasSplits) {
  const Problem sample = family.getSample();
  const ConvProblem &conv = *family.getConv();
  std::vector<ConvProblem> samples = {*sample.getConv()};
  const auto edge = static_cast<double>(countSmallPixels(conv));
  std::vector<double> pixels;
  const bool isWeights = conv.direction == Direction::BackwardWeights;
  if (family.isSmall() && hasSplits && isWeights)
    pixels = {edge / 10, edge / 3, edge};
  else if (family.isSmall() && hasSplits)
    pixels = {edge / 48, edge / 24, edge / 12, edge / 6, edge / 2};
  else if (family.isSmall())
    pixels = {edge / 16, edge / 6, edge / 2};
  else if (hasSplits && isWeights)
    pixels = {0.75 * edge, 1.5 * edge, 3 * edge,
              6 * edge,    12 * edge,  48 * edge};
  else
    for (double p = 0.75 * edge; p <= most; p *= 4)
      pixels.push_back(p);
  // Partial results of planes take longer to add the more pixels there are.
  const bool hasPlanes =
      (conv.direction == Direction::Forward ? conv.yLayout : conv.xLayout) ==
      Layout::NCHW;
  if (family.isSmall() && hasSplits && !isWeights && hasPlanes)
    pixels.push_back(0.75 * edge);
  for (double p : pixels) {
    const Problem member(makeMember(conv, p));
    if (member.verify().isOk())
      samples.push_back(*member.getConv());
  }
  return samples;
}

std::vector<ConvProblem> tessera::getOpenImages(const Problem &family,
                                                double least, double most) {
  const Problem sample = family.getSample();
  const ConvProblem &conv = *family.getConv();
  const auto edge = static_cast<double>(countSmallPixels(conv));
  const bool isSmall = family.isSmall();
  std::vector<ConvProblem> samples = {*sample.getConv()};
  for (double side = 7; side <= 112; side *= 2)
    for (double pixels :
         {isSmall ? edge / 4 : least * edge, isSmall ? edge : most * edge}) {
      const auto images =
          static_cast<int64_t>(std::max(1.0, pixels / (side * side)));
      const double own = side * side * static_cast<double>(images);
      if (isSmall && own > edge)
        continue;
      const Problem member(makeMember(conv, own, images));
      if (member.verify().isOk())
        samples.push_back(*member.getConv());
    }
  return samples;
}

/// What `cost` takes over `best`, in logarithms: twice as much of it counts
/// where a tile has less than 0.6 of the best one's speed.
static double getLoss(double cost, double best) {
  constexpr double kFar = 0.51; // -log(0.6)
  const double loss = std::log(cost / best);
  return loss + std::max(0.0, loss - kFar);
}

std::vector<Candidate> tessera::rankAtSamples(
    llvm::ArrayRef<ConvProblem> samples,
    llvm::function_ref<std::vector<Candidate>(const ConvProblem &)> find) {
  // A tile that a sample does not know takes a multiple of its best one.
  constexpr double kUnfit = 4;
  std::vector<Candidate> candidates = find(samples.front());
  std::vector<double> losses(candidates.size());
  double own = 0;
  for (const ConvProblem &sample : samples) {
    std::map<std::string, double> costs;
    for (const Candidate &candidate : find(sample))
      costs.emplace(candidate.tile.toText(), candidate.cost);
    if (costs.empty())
      continue;
    double best = costs.begin()->second;
    for (const auto &[tile, cost] : costs)
      best = std::min(best, cost);
    own = own > 0 ? own : best;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto found = costs.find(candidates[i].tile.toText());
      losses[i] +=
          getLoss(found == costs.end() ? kUnfit * best : found->second, best);
    }
  }
  for (size_t i = 0; i < candidates.size(); ++i)
    candidates[i].cost =
        own * std::exp(losses[i] / static_cast<double>(samples.size()));
  return candidates;
}

static double getLeastCost(llvm::ArrayRef<Candidate> candidates) {
  double least = std::numeric_limits<double>::max();
  for (const Candidate &candidate : candidates)
    least = std::min(least, candidate.cost);
  return least;
}

std::vector<Candidate> tessera::scaleCosts(std::vector<Candidate> candidates,
                                           llvm::ArrayRef<Candidate> others) {
  if (candidates.empty() || others.empty())
    return candidates;
  const double scale = getLeastCost(others) / getLeastCost(candidates);
  for (Candidate &candidate : candidates)
    candidate.cost *= scale;
  return candidates;
}

int tessera::countUsedSplits(const ConvProblem &member, const GemmTile &tile) {
  if (member.direction != Direction::BackwardWeights)
    return tile.splits;
  const TensorLengths y = member.getOutputLengths();
  const auto [few, ofEach] = tile.getSplitRule();
  return static_cast<int>(std::min<int64_t>(
      tile.splits,
      few + llvm::divideCeilSigned(y.n * y.d * y.h * y.w, ofEach)));
}
