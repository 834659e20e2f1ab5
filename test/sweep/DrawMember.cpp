//===- DrawMember.cpp - Another problem of a family -----------------------===//

#include "test/sweep/DrawMember.h"
#include "tools/problems/ProblemCost.h"

#include <random>

using namespace tessera;
using namespace tessera::sweep;

/// One of 2^k - 1, 2^k and 2^k + 1, or any number up to 2^`bits`.
static int64_t drawSize(std::mt19937_64 &random, int bits) {
  if (random() % 2)
    return 1 + static_cast<int64_t>(random() % (uint64_t(1) << bits));
  const int64_t power = int64_t(1) << (random() % (bits + 1));
  return std::max<int64_t>(1, power + static_cast<int64_t>(random() % 3) - 1);
}

/// A problem of one kind with other sizes where those of `family` are unknown.
template <typename Windowed>
static Windowed resize(Windowed problem, const Windowed &family,
                       std::mt19937_64 &random) {
  constexpr int kBatchBits = 4, kImageBits = 6, kLineBits = 13;
  const bool isLine = problem.in.h == 1 || problem.in.w == 1;
  const auto set = [&](int64_t &size, int64_t known, int bits) {
    if (known == kUnknownSize)
      size = drawSize(random, bits);
  };
  set(problem.batch, family.batch, kBatchBits);
  set(problem.in.d, family.in.d, kBatchBits);
  set(problem.in.h, family.in.h, isLine ? kLineBits : kImageBits);
  set(problem.in.w, family.in.w, isLine ? kLineBits : kImageBits);
  return problem;
}
static RowWiseProblem resize(RowWiseProblem problem, const RowWiseProblem &,
                             std::mt19937_64 &random) {
  constexpr int kRowBits = 13;
  problem.lengths[0] = drawSize(random, kRowBits);
  return problem;
}

static Problem resize(const Problem &problem, const Problem &family,
                      std::mt19937_64 &random) {
  if (const ConvProblem *conv = problem.getConv())
    return resize(*conv, *family.getConv(), random);
  if (const PoolProblem *pool = problem.getPool())
    return resize(*pool, *family.getPool(), random);
  return resize(*problem.getRows(), *family.getRows(), random);
}

Problem tessera::sweep::drawMember(const Problem &problem, uint64_t seed,
                                   double most) {
  constexpr int kTries = 40;
  const std::optional<Family> family = problem.findFamily();
  std::mt19937_64 random(seed);
  for (int i = 0; family && i < kTries; ++i) {
    const Problem member = resize(problem, family->problem, random);
    const bool isValid = member.verify().isOk() && member.findFamily();
    if (isValid && countOperations(member) <= most)
      return member;
  }
  return problem;
}
