//===- PoolProblemText.cpp - A pooling's network config -------------------===//

#include "runtime/Base/ProblemText.h"

using namespace tessera;

static constexpr PoolMode kModes[] = {PoolMode::Max, PoolMode::Average,
                                      PoolMode::AverageInclusive,
                                      PoolMode::MaxNan};
static constexpr IndexMode kIndexModes[] = {IndexMode::Mask, IndexMode::Image};

std::string_view tessera::getName(PoolMode mode) {
  switch (mode) {
  case PoolMode::Max:
    return "max";
  case PoolMode::Average:
    return "avg";
  case PoolMode::AverageInclusive:
    return "avgin";
  case PoolMode::MaxNan:
    return "maxnan";
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(IndexType type) {
  switch (type) {
  case IndexType::None:
    return "none";
  case IndexType::U8:
    return "u8";
  case IndexType::U16:
    return "u16";
  case IndexType::U32:
    return "u32";
  case IndexType::U64:
    return "u64";
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(IndexMode mode) {
  return mode == IndexMode::Mask ? "mask" : "image";
}

/// The fields of a pooling; a reader knows beforehand whether it has depth.
template <typename Text, typename ProblemT>
static void describe(Text &text, ProblemT &p, bool hasDepth) {
  text.name(p.direction, kDirections).literal("-");
  text.name(p.mode, kModes).literal("-").name(p.dataType, kDataTypes);
  describeLayout(text.literal("-"), p.xLayout, p.xStrides, hasDepth);
  describeLayout(text.literal(","), p.yLayout, p.yStrides, hasDepth);
  describeImages(text, p.batch, p.channels, p.in, hasDepth);
  describeWindow(text.literal("-"), p.window, hasDepth);
  describePads(text.literal("-p"), p.pad, p.extraPad, hasDepth);
  describeLengths(text.literal("-s"), p.stride, hasDepth);
  text.literal("-i");
  for (IndexType type : {IndexType::None, IndexType::U8, IndexType::U16,
                         IndexType::U32, IndexType::U64})
    if (text.choice("", getName(type), p.indexType, type))
      break;
  if (p.indexType != IndexType::None)
    text.name(p.indexMode, kIndexModes);
}

std::string PoolProblem::toNetworkConfig() const {
  TextWriter writer;
  describe(writer.literal("pool-"), *this, hasDepth());
  return writer.text;
}

PoolProblem tessera::scanPoolProblem(TextScanner &scanner, bool hasDepth) {
  PoolProblem problem;
  TextReader reader(scanner);
  describe(reader, problem, hasDepth);
  return problem;
}

void tessera::mix(FieldMixer &mixer, const PoolProblem &problem) {
  describe(mixer, problem, problem.hasDepth());
}
