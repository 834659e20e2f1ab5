//===- Problem.cpp - Any problem ------------------------------------------===//

#include "runtime/Base/Problem.h"

using namespace tessera;

Problem Problem::canonicalize() const {
  if (hasUnknownSizes())
    return *this;
  Problem canonical = std::visit(
      [](const auto &problem) { return Problem(problem.canonicalize()); },
      value);
  canonical.unaligned = unaligned;
  canonical.withoutWorkspace = withoutWorkspace;
  return canonical;
}

std::string Problem::toNetworkConfig() const {
  std::string text = std::visit(
      [](const auto &problem) { return problem.toNetworkConfig(); }, value);
  if (small)
    text += kSmallSuffix;
  if (withoutWorkspace)
    text += kNoWorkspaceSuffix;
  if (unaligned)
    text += kUnalignedSuffix;
  return text;
}

namespace {
/// Mixes plain numbers into a hash. Fnv1a takes eight steps a number, which
/// would show in the cost of every launch.
struct Mixer {
  uint64_t hash = 0;

  void add(std::initializer_list<int64_t> numbers) {
    for (int64_t number : numbers) {
      // Multiplying moves low bits up, the shift moves high bits down; the
      // constant is 2^64 over the golden ratio.
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
  }
  template <int64_t neutral>
  void add(const Lengths<neutral> &lengths) {
    add({lengths.h, lengths.w, lengths.d});
  }
  void add(Layout layout, const Strides &s) {
    if (layout == Layout::Strided)
      add({s.n, s.c, s.d, s.h, s.w});
  }
  /// Packs small fields into one word.
  template <typename... Small>
  void addSmall(Small... fields) {
    uint64_t word = 0;
    ((word = word << 4 | static_cast<uint64_t>(fields)), ...);
    add({static_cast<int64_t>(word)});
  }
};
} // namespace

static void mix(Mixer &mixer, const ConvProblem &p) {
  const Epilogue &e = p.epilogue;
  mixer.addSmall(p.direction, p.dataType, p.byteResult, p.xLayout, p.wLayout,
                 p.yLayout, p.mathType, e.alpha, e.beta, e.bias, e.residual,
                 e.statistics, e.normGradient, e.activation, p.forbidsWinograd);
  mixer.add({p.batch, p.inChannels, p.outChannels, p.groups});
  mixer.add(p.in);
  mixer.add(p.filter);
  mixer.add(p.pad);
  if (p.hasUnequalPads())
    mixer.add(p.extraPad);
  mixer.add(p.stride);
  mixer.add(p.dilation);
  mixer.add(p.xLayout, p.xStrides);
  mixer.add(p.wLayout, p.wStrides);
  mixer.add(p.yLayout, p.yStrides);
}

static void mix(Mixer &mixer, const PoolProblem &p) {
  mixer.addSmall(p.direction, p.mode, p.dataType, p.xLayout, p.yLayout,
                 p.indexType, p.indexMode);
  mixer.add({p.batch, p.channels});
  mixer.add(p.in);
  mixer.add(p.window);
  mixer.add(p.pad);
  if (p.hasUnequalPads())
    mixer.add(p.extraPad);
  mixer.add(p.stride);
  mixer.add(p.xLayout, p.xStrides);
  mixer.add(p.yLayout, p.yStrides);
}

static void mix(Mixer &mixer, const RowWiseProblem &p) {
  mixer.addSmall(p.rank, p.reduced, p.tensorCount);
  mixer.add({static_cast<int64_t>(p.op), static_cast<int64_t>(p.mode)});
  for (int dim = 0; dim < p.rank; ++dim)
    mixer.add({p.lengths[dim]});
  for (const RowTensor &tensor : p.getTensors()) {
    mixer.addSmall(tensor.type, tensor.role);
    for (int dim = 0; dim < p.rank; ++dim)
      mixer.add({tensor.strides[dim]});
  }
}

uint64_t Problem::getHash() const {
  Mixer mixer;
  mixer.addSmall(value.index(), unaligned, withoutWorkspace, small);
  std::visit([&](const auto &problem) { mix(mixer, problem); }, value);
  return mixer.hash;
}
