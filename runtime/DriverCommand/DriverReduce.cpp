//===- DriverReduce.cpp - "MIOpenDriver softmax" and "reduce" -------------===//
//
// Flags and defaults are those of MIOpenDriver (ROCm/MIOpen,
// driver/softmax_driver.hpp, driver/reduce_driver.hpp). Its tensors are packed;
// other problems are named by their network config.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/RowWiseKind.h"
#include "runtime/DriverCommand/DriverFlags.h"

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

/// Bits of a reduction's mode: see docs/spec/row-wise.md.
enum : uint32_t { kOpMask = 7, kKeepsNan = 8, kHasIndices = 16, kOthers = 96 };

//===----------------------------------------------------------------------===//
// Flags to problems
//===----------------------------------------------------------------------===//

static DriverOptions readWithFactors(FlagValues &flags) {
  DriverOptions options = readRun(flags);
  options.scalars = {flags.getReal("alpha"), flags.getReal("beta")};
  return options;
}

/// Adds a packed tensor; a row output has no stride where rows are reduced.
static void addTensor(RowWiseProblem &p, DataType type, RowRole role,
                      bool isOfRows) {
  RowTensor &tensor = p.tensors[p.tensorCount++];
  tensor = {type, role, {}};
  int64_t next = 1;
  for (int dim = p.rank; dim-- > 0;) {
    const bool isOne = isOfRows && p.isReduced(dim);
    tensor.strides[dim] = isOne ? 0 : next;
    next *= isOne ? 1 : p.lengths[dim];
  }
}

ErrorOr<DriverOptions> tessera::toSoftmaxOptions(FlagValues &flags,
                                                 DataType type) {
  DriverOptions options = readWithFactors(flags);
  const int64_t forw = flags.getNumber("forw");
  RowWiseProblem p;
  p.rank = 4;
  p.lengths = {flags.getNumber("batchsize"), flags.getNumber("in_channels"),
               flags.getNumber("in_h"), flags.getNumber("in_w"), 1};
  p.mode = static_cast<uint32_t>(flags.getNumber("algorithm"));
  p.reduced = flags.getBool("mode") ? 2 : 14;
  Status status = checkRowType("softmax", type);
  if (status.isOk())
    status = flags.getStatus();
  for (auto [flag, most] :
       {std::pair("forw", 3), std::pair("algorithm", 2), std::pair("mode", 1)})
    if (status.isOk())
      status = flags.checkRange(flag, most);
  for (int direction : {kDriverForward, kDriverBackwardData}) {
    if (!status.isOk() || (forw != 0 && !(forw & direction)))
      continue;
    const bool isForward = direction == kDriverForward;
    p.op =
        isForward ? RowWiseKind::SoftmaxForward : RowWiseKind::SoftmaxBackward;
    p.tensorCount = 0;
    const int inputs = (isForward ? 1 : 2) + (options.scalars[1] != 0);
    for (int i = 0; i < inputs; ++i)
      addTensor(p, type, RowRole::Input, false);
    addTensor(p, type, RowRole::Output, false);
    status = addRowWiseProblem(p, options);
  }
  if (!status.isOk())
    return status;
  return options;
}

/// Reads the space and its reduced dimensions.
static Status readSpace(FlagValues &flags, RowWiseProblem &p) {
  std::vector<int64_t> lengths, reduced;
  const std::string_view text = flags.getText("DimLengths");
  if (!parseNumbers(text, ',', lengths) || lengths.empty() ||
      lengths.size() > kMaxRowRank)
    return invalidArgument("flag '--DimLengths' needs 1 to 5 lengths with "
                           "commas between, not " +
                           quote(text));
  p.rank = static_cast<int>(lengths.size());
  std::ranges::copy(lengths, p.lengths.begin());
  const std::string_view dims = flags.getText("DimsToReduce");
  if (!parseNumbers(dims, ',', reduced) || reduced.empty() ||
      std::ranges::any_of(
          reduced, [&](int64_t dim) { return dim < 0 || dim >= p.rank; }))
    return invalidArgument("flag '--DimsToReduce' needs dimensions below " +
                           std::to_string(p.rank) +
                           " with commas between, not " + quote(dims));
  for (int64_t dim : reduced)
    p.reduced |= 1u << dim;
  return Status::ok();
}

ErrorOr<DriverOptions> tessera::toReduceOptions(FlagValues &flags,
                                                DataType type) {
  DriverOptions options = readWithFactors(flags);
  RowWiseProblem p;
  p.op = RowWiseKind::Reduce;
  Status status = checkRowType("reduce", type);
  if (status.isOk())
    status = flags.requireDefaults({"dump_output"});
  if (status.isOk())
    status = readSpace(flags, p);
  for (auto [flag, most] :
       {std::pair("ReduceOp", 7), std::pair("NanPropagation", 1),
        std::pair("IndicesUsed", 1)})
    if (status.isOk())
      status = flags.checkRange(flag, most);
  const int64_t op = flags.getNumber("ReduceOp");
  const bool isExtreme = op >= 2 && op <= 4;
  const bool hasIndices = isExtreme && flags.getBool("IndicesUsed");
  if (status.isOk())
    status = flags.getStatus();
  if (!status.isOk())
    return status;
  p.mode = static_cast<uint32_t>(op) |
           (isExtreme && flags.getBool("NanPropagation") ? kKeepsNan : 0) |
           (hasIndices ? kHasIndices : 0);
  addTensor(p, type, RowRole::Input, false);
  if (options.scalars[1] != 0)
    addTensor(p, type, RowRole::Input, true);
  addTensor(p, type, RowRole::RowOutput, true);
  if (hasIndices)
    addTensor(p, DataType::I32, RowRole::RowOutput, true);
  if (Status bad = addRowWiseProblem(p, options); !bad.isOk())
    return bad;
  return options;
}

//===----------------------------------------------------------------------===//
// A problem to a line
//===----------------------------------------------------------------------===//

/// Whether the tensors are those that addTensor() would make for the space.
static bool isPacked(const RowWiseProblem &p) {
  RowWiseProblem packed = p;
  packed.tensorCount = 0;
  for (int i = 0; i < p.tensorCount; ++i) {
    const bool isOfRows = p.op == RowWiseKind::Reduce && i > 0;
    addTensor(packed, p.tensors[i].type, p.tensors[i].role, isOfRows);
  }
  const DataType type = p.tensors[0].type;
  for (int i = 0; i < p.tensorCount; ++i) {
    const bool isIndex = i > 0 && i == p.tensorCount - 1 &&
                         p.op == RowWiseKind::Reduce && (p.mode & kHasIndices);
    if (p.tensors[i].type != (isIndex ? DataType::I32 : type))
      return false;
  }
  return hasRowWord(type) && packed.canonicalize() == p;
}

static std::string toSoftmaxLine(const RowWiseProblem &p) {
  // The lengths before the reduced dimension, of it, and after it.
  int64_t lengths[3] = {1, 1, 1};
  int part = 0;
  for (int dim = 0; dim < p.rank; ++dim) {
    if (p.isReduced(dim))
      part = 1;
    lengths[part] *= p.lengths[dim];
    if (p.isReduced(dim))
      part = 2;
  }
  if (std::popcount(p.reduced) != 1)
    return "";
  const bool isForward = p.op == RowWiseKind::SoftmaxForward;
  const bool hasOld = p.tensorCount == (isForward ? 3 : 4);
  return getRowWord("softmax", p.tensors[0].type) + " -n " +
         std::to_string(lengths[0]) + " -c " + std::to_string(lengths[1]) +
         " -H 1 -W " + std::to_string(lengths[2]) + " -a " +
         std::to_string(p.mode) + " -m 1" + (hasOld ? " -B 1" : "") + " -F " +
         std::to_string(isForward ? kDriverForward : kDriverBackwardData) +
         " -t 1";
}

std::string tessera::toReduceLine(const RowWiseProblem &p) {
  if (!isPacked(p))
    return "";
  if (p.op == RowWiseKind::SoftmaxForward ||
      p.op == RowWiseKind::SoftmaxBackward)
    return toSoftmaxLine(p);
  if (p.op != RowWiseKind::Reduce || (p.mode & kOthers))
    return "";
  std::string lengths, reduced;
  for (int dim = 0; dim < p.rank; ++dim) {
    lengths += (dim ? "," : "") + std::to_string(p.lengths[dim]);
    if (p.isReduced(dim))
      reduced += (reduced.empty() ? "" : ",") + std::to_string(dim);
  }
  const bool hasOld = p.tensors[1].role == RowRole::Input;
  return getRowWord("reduce", p.tensors[0].type) + " -D " + lengths + " -R " +
         reduced + " -O " + std::to_string(p.mode & kOpMask) +
         (p.mode & kKeepsNan ? " -N 1" : "") +
         (p.mode & kHasIndices ? " -I 1" : "") + (hasOld ? " -B 1" : "") +
         " -t 1";
}
