//===- RowWiseProblemText.cpp - A row problem's network config ------------===//

#include "runtime/Base/ProblemText.h"
#include "runtime/Base/RowWiseKind.h"

using namespace tessera;

static constexpr RowWiseKind kOps[] = {
#define TESSERA_ROW_OP(name, text) RowWiseKind::name,
#include "runtime/Base/RowWiseKind.def"
};
static constexpr RowRole kRoles[] = {RowRole::Input, RowRole::RowOutput,
                                     RowRole::Output};
/// The numbers of dimensions.
static constexpr std::string_view kDims[] = {"0", "1", "2", "3", "4"};
static_assert(std::size(kDims) >= kMaxRowRank);

std::string_view tessera::getName(RowWiseKind op) {
  switch (op) {
#define TESSERA_ROW_OP(name, text)                                             \
  case RowWiseKind::name:                                                      \
    return text;
#include "runtime/Base/RowWiseKind.def"
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(RowRole role) {
  switch (role) {
  case RowRole::Input:
    return "i";
  case RowRole::RowOutput:
    return "r";
  case RowRole::Output:
    return "o";
  }
  __builtin_unreachable();
}

/// The space, and which of its dimensions are reduced.
template <typename Text, typename ProblemT>
static void describeSpace(Text &text, ProblemT &p) {
  for (int dim = 0; dim < kMaxRowRank; ++dim) {
    bool has = dim < p.rank;
    if (dim > 0 && !text.option("", "x", has))
      break;
    text.assign(p.rank, dim + 1);
    text.size(p.lengths[dim]);
  }
  text.literal("-r");
  std::string_view separator;
  for (int dim = 0; dim < p.rank; ++dim) {
    bool isReduced = p.isReduced(dim);
    if (!text.option(separator, kDims[dim], isReduced))
      continue;
    text.assign(p.reduced, p.reduced | 1u << dim);
    separator = ",";
  }
}

template <typename Text, typename ProblemT>
static void describe(Text &text, ProblemT &p) {
  text.name(p.op, kOps).literal("-m").number(p.mode).literal("-");
  describeSpace(text, p);
  for (int i = 0; i < kMaxTensors; ++i) {
    bool has = i < p.tensorCount;
    if (!text.option("", "-", has))
      break;
    text.assign(p.tensorCount, i + 1);
    auto &tensor = p.tensors[i];
    text.name(tensor.role, kRoles, ":").literal(":");
    text.name(tensor.type, kDataTypes, ":");
    for (int dim = 0; dim < p.rank; ++dim)
      text.literal(":").number(tensor.strides[dim]);
  }
}

std::string RowWiseProblem::toNetworkConfig() const {
  TextWriter writer;
  describe(writer.literal("rowwise-"), *this);
  return writer.text;
}

RowWiseProblem tessera::scanRowWiseProblem(TextScanner &scanner) {
  RowWiseProblem problem;
  TextReader reader(scanner);
  describe(reader, problem);
  return problem;
}

void tessera::mix(FieldMixer &mixer, const RowWiseProblem &problem) {
  describe(mixer, problem);
}
