//===- MiopenKey.cpp - MIOpen's names of convolutions ---------------------===//
//
// A key of the text databases (ROCm/MIOpen, ProblemDescription::Serialize), in
// two and in three dimensions:
//   C-H-W-YxX-K-H-W-N-PxP-SxS-DxD-BIAS-LAYOUT-TYPE-DIRECTION[_gGROUPS]
//   C-D-H-W-ZxYxX-K-D-H-W-N-PxPxP-SxSxS-DxDxD-BIAS-...
// with three layouts (in, filter, out) unless all are NCHW.
//
//===----------------------------------------------------------------------===//

#include "tools/problems/MiopenKey.h"
#include "runtime/Base/ProblemChecks.h"
#include "runtime/Base/TextScanner.h"

#include <string>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

bool tessera::isMiopenRecord(std::string_view line) {
  const std::string_view key = line.substr(0, line.find('='));
  if (key.size() == line.size() || key.empty() || key[0] < '0' || key[0] > '9')
    return false;
  if (key.find(' ') != key.npos)
    return false;
  // The key is numbers with dashes between them, and at least one group with an
  // x.
  const size_t cross = key.find_first_not_of("0123456789-");
  return cross != key.npos && key[cross] == 'x' &&
         key.substr(0, cross).find('-') != key.npos;
}

/// Reads one number for each dimension.
static void scanThree(TextScanner &scanner, std::string_view separator,
                      bool hasDepth, MiopenKey::Three &three) {
  if (hasDepth)
    scanner.number(three[0]).expect(separator);
  scanner.number(three[1]).expect(separator).number(three[2]);
}

/// Reads the options after the direction: "_g32_ciFP8".
static Status scanOptions(TextScanner &scanner, MiopenKey &key) {
  while (scanner.consume("_")) {
    if (scanner.consume("g")) {
      scanner.number(key.groups);
      continue;
    }
    std::string_view word;
    scanner.word(word, "_");
    if (word.starts_with("c"))
      return notSupported("tensors that are cast to other types are not "
                          "supported");
    scanner.fail();
  }
  return Status::ok();
}

/// Reads layouts and the type: one layout if all are the usual one, else three.
static void scanWords(TextScanner &scanner, MiopenKey &key) {
  auto word = [&](std::string_view &value) {
    scanner.expect("-").word(value, "-_=");
  };
  word(key.inLayout);
  key.filterLayout = key.outLayout = key.inLayout;
  word(key.dataType);
  if (key.dataType.starts_with("N") || key.dataType.starts_with("C")) {
    key.filterLayout = key.dataType;
    word(key.outLayout);
    word(key.dataType);
  }
  word(key.direction);
}

ErrorOr<Problem> tessera::parseMiopenRecord(std::string_view line) {
  line = line.substr(0, line.find('='));
  MiopenKey key;
  // Three numbers precede the filter in two dimensions, four in three.
  const std::string_view head = line.substr(0, line.find('x'));
  key.hasDepth = std::ranges::count(head, '-') == 4;
  TextScanner scanner(line);
  key.out.emplace(MiopenKey::Three{1, 1, 1});
  scanner.number(key.inChannels).expect("-");
  scanThree(scanner, "-", key.hasDepth, key.in);
  scanThree(scanner.expect("-"), "x", key.hasDepth, key.filter);
  scanner.expect("-").number(key.outChannels).expect("-");
  scanThree(scanner, "-", key.hasDepth, *key.out);
  scanner.expect("-").number(key.batch);
  scanThree(scanner.expect("-"), "x", key.hasDepth, key.pad);
  scanThree(scanner.expect("-"), "x", key.hasDepth, key.stride);
  scanThree(scanner.expect("-"), "x", key.hasDepth, key.dilation);
  scanner.expect("-").number(key.bias);
  scanWords(scanner, key);
  if (Status status = scanOptions(scanner, key); !status.isOk())
    return status;
  if (!scanner.isDone())
    return invalidArgument("a record whose key is none of MIOpen's "
                           "convolutions");
  return toProblem(key);
}

//===----------------------------------------------------------------------===//
// Key to problem
//===----------------------------------------------------------------------===//

static Status setTypes(std::string_view name, ConvProblem &problem) {
  if (name == "FP32")
    problem.dataType = DataType::F32;
  else if (name == "FP16")
    problem.dataType = DataType::F16;
  else if (name == "BF16")
    problem.dataType = DataType::BF16;
  else if (name == "FP64")
    problem.dataType = DataType::F64;
  else if (name == "INT8" || name == "INT8INT8INT32" || name == "INT8INT8FP32")
    problem.dataType = DataType::I8;
  else
    return notSupported("the data type " + std::string(name) +
                        " is not supported");
  if (name == "INT8INT8FP32")
    problem.byteResult = DataType::F32;
  return Status::ok();
}

static Status setLayout(std::string_view name, bool hasDepth, Layout &layout) {
  if (name == (hasDepth ? "NCDHW" : "NCHW"))
    layout = Layout::NCHW;
  else if (name == (hasDepth ? "NDHWC" : "NHWC"))
    layout = Layout::NHWC;
  else
    return notSupported("the layout " + std::string(name) +
                        " is not supported");
  return Status::ok();
}

static Status setDirection(std::string_view name, ConvProblem &problem) {
  if (name == "F")
    problem.direction = Direction::Forward;
  else if (name == "B")
    problem.direction = Direction::BackwardData;
  else if (name == "W")
    problem.direction = Direction::BackwardWeights;
  else
    return invalidArgument("the direction " + std::string(name) +
                           " is none of F, B and W");
  return Status::ok();
}

static Status setWords(const MiopenKey &key, ConvProblem &problem) {
  const bool isForward = key.direction == "F";
  Status status = setDirection(key.direction, problem);
  if (status.isOk())
    status = setTypes(key.dataType, problem);
  if (status.isOk())
    status = setLayout(isForward ? key.inLayout : key.outLayout, key.hasDepth,
                       problem.xLayout);
  if (status.isOk())
    status = setLayout(key.filterLayout, key.hasDepth, problem.wLayout);
  if (status.isOk())
    status = setLayout(isForward ? key.outLayout : key.inLayout, key.hasDepth,
                       problem.yLayout);
  return status;
}

template <int64_t neutral>
static Lengths<neutral> toLengths(const MiopenKey::Three &three,
                                  bool hasDepth) {
  return {three[1], three[2], hasDepth ? three[0] : neutral};
}

/// A length of x whose convolution gives `out`; see toProblem().
static int64_t guessInput(int64_t out, int64_t filter, int64_t pad,
                          int64_t stride, int64_t dilation) {
  const int64_t least =
      (out - 1) * stride + 1 + dilation * (filter - 1) - 2 * pad;
  const int64_t whole = out * stride;
  return whole >= least && whole < least + stride ? whole
                                                  : std::max<int64_t>(least, 1);
}

static Spatial guessInput(const ConvProblem &problem, const Spatial &out) {
  auto guess = [&](int64_t Spatial::*length, int64_t Pads::*pad) {
    return guessInput(out.*length, problem.filter.*length, problem.pad.*pad,
                      problem.stride.*length, problem.dilation.*length);
  };
  return {guess(&Spatial::h, &Pads::h), guess(&Spatial::w, &Pads::w),
          guess(&Spatial::d, &Pads::d)};
}

/// Checks that a problem may have each number, so that arithmetic on them
/// cannot overflow.
static Status checkNumbers(const MiopenKey &key) {
  constexpr int64_t kMax = INT32_MAX;
  bool isFine = true;
  auto check = [&](int64_t least, int64_t value) {
    isFine &= value >= least && value <= kMax;
  };
  for (int64_t value : {key.inChannels, key.outChannels, key.batch, key.groups})
    check(1, value);
  for (int i = 0; i < 3; ++i) {
    check(1, key.in[i]);
    check(1, key.out ? (*key.out)[i] : 1);
    check(1, key.filter[i]);
    check(0, key.pad[i]);
    // SQLite files have stride and dilation 0 for a dimension that does not
    // exist.
    check(i == 0 && !key.hasDepth ? 0 : 1, key.stride[i]);
    check(i == 0 && !key.hasDepth ? 0 : 1, key.dilation[i]);
  }
  return isFine ? Status::ok()
                : invalidArgument("a key with a number out of range");
}

ErrorOr<Problem> tessera::toProblem(const MiopenKey &key) {
  ConvProblem problem;
  if (Status status = checkNumbers(key); !status.isOk())
    return status;
  if (Status status = setWords(key, problem); !status.isOk())
    return status;
  if (key.bias != 0)
    return notSupported("fused convolutions are not supported: their keys do "
                        "not name the activation");
  const bool isForward = problem.direction == Direction::Forward;
  problem.batch = key.batch;
  problem.groups = key.groups;
  problem.inChannels = isForward ? key.inChannels : key.outChannels;
  problem.outChannels = isForward ? key.outChannels : key.inChannels;
  problem.filter = toLengths<1>(key.filter, key.hasDepth);
  problem.pad = toLengths<0>(key.pad, key.hasDepth);
  problem.stride = toLengths<1>(key.stride, key.hasDepth);
  problem.dilation = toLengths<1>(key.dilation, key.hasDepth);
  const Spatial in = toLengths<1>(key.in, key.hasDepth);
  if (!key.out) {
    problem.in = isForward ? in : guessInput(problem, in);
    return Problem(problem);
  }
  const Spatial out = toLengths<1>(*key.out, key.hasDepth);
  problem.in = isForward ? in : out;
  // Padding of mode "same" may differ between the ends, which keys do not say.
  if (problem.getOutput() != (isForward ? out : in))
    return notSupported("a key whose output is not that of its padding");
  return Problem(problem);
}
