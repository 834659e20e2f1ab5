//===- DriverReduce.cpp - "MIOpenDriver softmax" and "reduce" -------------===//
//
// Flags and defaults are those of MIOpenDriver (ROCm/MIOpen,
// driver/softmax_driver.hpp, driver/reduce_driver.hpp). Its tensors are packed;
// other problems are named by their network config.
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverRows.h"

#include <algorithm>
#include <bit>

using namespace tessera;

static constexpr DriverFlag kSoftmaxFlags[] = {
    {'F', "forw", "0", "1 forward, 2 backward, 0 both"},
    {'n', "batchsize", "100", "batch"},
    {'c', "in_channels", "3", "channels"},
    {'H', "in_h", "32", "height"},
    {'W', "in_w", "32", "width"},
    {'A', "alpha", "1", "factor of the result"},
    {'B', "beta", "0", "factor of the old result"},
    {'a', "algorithm", "1", "0 fast, 1 accurate, 2 logarithm"},
    {'m', "mode", "1", "over 0 an image, 1 the channels of a pixel"},
    {'i', "iter", "10", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
};

static constexpr DriverFlag kReduceFlags[] = {
    {'F', "forw", "1", "read, but of no meaning"},
    {'D', "DimLengths", "100,60,16,240", "lengths of the input"},
    {'R', "DimsToReduce", "0,2", "dimensions that are reduced"},
    {'O', "ReduceOp", "0",
     "0 sum, 1 product, 2 min, 3 max, 4 largest magnitude, 5 mean, 6 sum of "
     "magnitudes, 7 root of the sum of squares"},
    {'C', "CompType", "1", "type of the arithmetic: read, but f32 always"},
    {'N', "NanPropagation", "0", "1: a NaN is the extreme of its row"},
    {'I', "IndicesUsed", "0", "1: extremes come with their indices"},
    {'A', "alpha", "1", "factor of the result"},
    {'B', "beta", "0", "factor of the old result"},
    {'i', "iter", "1", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
    {'o', "dump_output", "0", "write the result; only 0"},
};

std::span<const DriverFlag> tessera::getSoftmaxDriverFlags() {
  return kSoftmaxFlags;
}
std::span<const DriverFlag> tessera::getReduceDriverFlags() {
  return kReduceFlags;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

namespace {
struct Softmax {
  std::array<int64_t, 4> images;
  int64_t algorithm = 0;
  bool isOfPixels = false;
  bool hasOld = false;
  int64_t forw = 0;
};
} // namespace

template <typename Flags, typename CommandT>
static void describeSoftmax(Flags &flags, CommandT &&command) {
  describeImages(flags, command.images);
  flags.upTo(2, "-a", command.algorithm);
  flags.boolean("-m", command.isOfPixels);
  if (flags.needs(command.hasOld))
    flags.factor("-B", command.hasOld);
  flags.upTo(3, "-F", command.forw);
}

static DriverOptions readWithFactors(FlagReader &flags) {
  DriverOptions options = readRun(flags);
  options.scalars = {flags.getReal("alpha"), flags.getReal("beta")};
  return options;
}

ErrorOr<DriverOptions> tessera::toSoftmaxOptions(FlagReader &flags,
                                                 DataType type) {
  DriverOptions options = readWithFactors(flags);
  Softmax command;
  describeSoftmax(flags, command);
  flags.check(checkRowType("softmax", type));
  auto add = [&](int direction, RowWiseKind op, int inputs) {
    if (command.forw != 0 && !(command.forw & direction))
      return;
    PackedRows rows(op, command.images);
    rows.problem.mode = static_cast<uint32_t>(command.algorithm);
    rows.problem.reduced = command.isOfPixels ? 2 : 14;
    rows.add(inputs + command.hasOld, type, RowRole::Input);
    rows.add(1, type, RowRole::Output);
    addProblem(flags, rows.problem, options);
  };
  add(kDriverForward, RowWiseKind::SoftmaxForward, 1);
  add(kDriverBackwardData, RowWiseKind::SoftmaxBackward, 2);
  return finish(flags, std::move(options));
}

static std::string guessSoftmaxLine(const RowWiseProblem &p) {
  const bool isForward = p.op == RowWiseKind::SoftmaxForward;
  // What lies before the reduced dimension, it, and what lies behind.
  const int dim = std::countr_zero(p.reduced);
  if (dim >= p.rank)
    return "";
  FlagWriter writer("softmax", p.tensors[0].type);
  describeSoftmax(writer,
                  Softmax{{countElements(p, 0, dim), p.lengths[dim], 1,
                           countElements(p, dim + 1, p.rank)},
                          p.mode,
                          true,
                          p.tensorCount == (isForward ? 3 : 4),
                          isForward ? kDriverForward : kDriverBackwardData});
  return writer.finish();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Bits of a reduction's mode: see docs/spec/row-wise.md.
enum : uint32_t { kOpMask = 7, kKeepsNan = 8, kHasIndices = 16 };

namespace {
struct Reduction {
  std::vector<int64_t> lengths, reduced;
  int64_t op = 0;
  bool keepsNan = false, hasIndices = false, hasOld = false;
};
} // namespace

template <typename Flags, typename CommandT>
static void describeReduction(Flags &flags, CommandT &&command) {
  flags.numbers("-D", ',', 1, kMaxRowRank, command.lengths);
  flags.numbers("-R", ',', 1, kMaxRowRank, command.reduced);
  flags.upTo(7, "-O", command.op);
  if (flags.needs(command.keepsNan))
    flags.boolean("-N", command.keepsNan);
  if (flags.needs(command.hasIndices))
    flags.boolean("-I", command.hasIndices);
  if (flags.needs(command.hasOld))
    flags.factor("-B", command.hasOld);
}

ErrorOr<DriverOptions> tessera::toReduceOptions(FlagReader &flags,
                                                DataType type) {
  DriverOptions options = readWithFactors(flags);
  Reduction command;
  describeReduction(flags, command);
  flags.requireDefaults({"dump_output"});
  flags.check(checkRowType("reduce", type));
  const auto rank = static_cast<int64_t>(command.lengths.size());
  if (std::ranges::any_of(command.reduced,
                          [&](int64_t dim) { return dim < 0 || dim >= rank; }))
    flags.check(invalidArgument(
        "flag '--DimsToReduce' needs dimensions below " + std::to_string(rank) +
        ", not " + quote(flags.getText("DimsToReduce"))));
  if (!flags.isOk())
    return flags.getStatus();
  PackedRows rows(RowWiseKind::Reduce, command.lengths);
  RowWiseProblem &p = rows.problem;
  for (int64_t dim : command.reduced)
    p.reduced |= 1u << dim;
  const bool isExtreme = command.op >= 2 && command.op <= 4;
  const bool hasIndices = isExtreme && command.hasIndices;
  p.mode = static_cast<uint32_t>(command.op) |
           (isExtreme && command.keepsNan ? kKeepsNan : 0) |
           (hasIndices ? kHasIndices : 0);
  rows.add(1, type, RowRole::Input);
  rows.add(command.hasOld, type, RowRole::Input, p.reduced);
  rows.add(1, type, RowRole::RowOutput, p.reduced);
  rows.add(hasIndices, DataType::I32, RowRole::RowOutput, p.reduced);
  addProblem(flags, p, options);
  return finish(flags, std::move(options));
}

std::string tessera::guessReduceLine(const RowWiseProblem &p) {
  if (p.op == RowWiseKind::SoftmaxForward ||
      p.op == RowWiseKind::SoftmaxBackward)
    return guessSoftmaxLine(p);
  if (p.op != RowWiseKind::Reduce)
    return "";
  Reduction command{{p.lengths.begin(), p.lengths.begin() + p.rank},
                    {},
                    p.mode & kOpMask,
                    (p.mode & kKeepsNan) != 0,
                    (p.mode & kHasIndices) != 0,
                    p.tensors[1].role == RowRole::Input};
  for (int dim = 0; dim < p.rank; ++dim)
    if (p.isReduced(dim))
      command.reduced.push_back(dim);
  FlagWriter writer("reduce", p.tensors[0].type);
  describeReduction(writer, command);
  return writer.finish();
}
