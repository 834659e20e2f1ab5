//===- ProblemFamily.cpp - Problems that differ in sizes only -------------===//
//
// One kernel may serve all problems of a family, with the sizes as arguments
// (docs/design/0038-sizes-as-arguments.md). The family's problem has unknown
// sizes where its members differ: the batch size, the spatial sizes and the
// number of rows.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/ProblemFamily.h"
#include "runtime/Base/Problem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Which sizes are unknown
//===----------------------------------------------------------------------===//

/// Visits the sizes that may be unknown. The order is batch, depth, height,
/// width; a row-wise problem has one.
template <typename Windowed, typename Visitor>
static void visitOpenSizes(Windowed &problem, Visitor visit) {
  visit(problem.batch);
  visit(problem.in.d);
  visit(problem.in.h);
  visit(problem.in.w);
}
template <typename Visitor>
static void visitOpenSizes(RowWiseProblem &problem, Visitor visit) {
  visit(problem.lengths[0]);
}
template <typename Visitor>
static void visitOpenSizes(const RowWiseProblem &problem, Visitor visit) {
  visit(problem.lengths[0]);
}

bool Problem::hasUnknownSizes() const {
  bool isFound = false;
  std::visit(
      [&](const auto &problem) {
        visitOpenSizes(problem,
                       [&](int64_t size) { isFound |= size == kUnknownSize; });
      },
      value);
  return isFound;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

int64_t tessera::countSmallPixels(const ConvProblem &p) {
  // A short reduction is not worth the launch that adds splits of backward
  // weights. Others have few pixels where tiles of 64 by 64 are less than a
  // large chip. Of narrow groups each thread has some pixels of its own.
  constexpr int64_t kShort = 512, kTileEdge = 64, kFewTiles = 256;
  constexpr int64_t kFewOfGroups = 8191;
  if (p.direction == Direction::BackwardWeights)
    return kShort;
  const int64_t columns =
      (p.direction == Direction::Forward ? p.outChannels : p.inChannels) /
      p.groups;
  if (p.groups > 1 && columns < kTileEdge)
    return kFewOfGroups;
  const int64_t tilesOfRow = p.groups * ((columns + kTileEdge - 1) / kTileEdge);
  return std::max<int64_t>(1, kFewTiles / tilesOfRow) * kTileEdge;
}

namespace {
/// Sizes in place of unknown ones. Every size is a prime, so that a tile that
/// is chosen for them divides no unknown size.
struct SampleSizes {
  int64_t batch = 7, depth = 13, side = 61, line = 4099;
};
} // namespace

/// The largest prime that has no more than `most`, of those that samples have.
static int64_t getPrime(double most) {
  constexpr int64_t kPrimes[] = {5,  7,   11,  13,  17,  23,  31,  43,  61,
                                 89, 127, 179, 251, 359, 509, 719, 1021};
  int64_t prime = kPrimes[0];
  for (int64_t next : kPrimes)
    if (static_cast<double>(next) <= most)
      prime = next;
  return prime;
}

/// The most that a window sees of a dimension, without its padding.
static int64_t getReach(const ConvProblem &p) {
  auto count = [](int64_t filter, int64_t dilation, int64_t pads) {
    return (filter - 1) * dilation + 1 - pads;
  };
  return std::max(
      {count(p.filter.d, p.dilation.d, 2 * p.pad.d + p.extraPad.d),
       count(p.filter.h, p.dilation.h, 2 * p.pad.h + p.extraPad.h),
       count(p.filter.w, p.dilation.w, 2 * p.pad.w + p.extraPad.w)});
}

/// About a third of the pixels that the class has, and no window that is larger
/// than the image.
static SampleSizes getSmallSample(const ConvProblem &p) {
  constexpr double kMostPixels = 1849, kShare = 0.3;
  const double pixels =
      std::min(kShare * static_cast<double>(countSmallPixels(p)), kMostPixels);
  const bool hasDepth = p.in.d == kUnknownSize;
  SampleSizes sizes{
      .batch = 1,
      .depth = getPrime(std::cbrt(pixels)),
      .side = getPrime(hasDepth ? std::cbrt(pixels) : std::sqrt(pixels)),
      .line = getPrime(pixels)};
  constexpr SampleSizes kLarge = {
      .batch = 1, .depth = 5, .side = 43, .line = 1021};
  return std::min(sizes.side, sizes.depth) < getReach(p) ? kLarge : sizes;
}
static SampleSizes getSmallSample(const auto &) { return {}; }

Problem Problem::getSample() const {
  const SampleSizes sizes =
      small ? std::visit([](const auto &p) { return getSmallSample(p); }, value)
            : SampleSizes();
  Problem sample = *this;
  sample.small = false;
  const auto set = [](int64_t &size, int64_t known) {
    if (size == kUnknownSize)
      size = known;
  };
  std::visit(
      [&](auto &problem) {
        if constexpr (requires { problem.batch; }) {
          // A line has as many pixels as an image.
          const bool isLine = problem.in.h == 1 || problem.in.w == 1;
          const int64_t pixels = isLine ? sizes.line : sizes.side;
          set(problem.batch, sizes.batch);
          set(problem.in.d, sizes.depth);
          set(problem.in.h, pixels);
          set(problem.in.w, pixels);
        } else {
          set(problem.lengths[0], sizes.line);
        }
      },
      sample.value);
  return sample;
}

/// The rules of a problem with unknown sizes.
static Status verifyOpenSizes(const ConvProblem &p) {
  if (p.xLayout == Layout::Strided || p.yLayout == Layout::Strided)
    return invalidArgument(
        "a convolution of unknown sizes needs packed images");
  if (p.epilogue.hasChannelResults())
    return invalidArgument("a convolution of unknown sizes has no statistics, "
                           "nor the sums of a normalisation's gradient");
  return Status::ok();
}
static Status verifyOpenSizes(const PoolProblem &p) {
  if (p.xLayout == Layout::Strided || p.yLayout == Layout::Strided)
    return invalidArgument("a pooling of unknown sizes needs packed images");
  return Status::ok();
}
static Status verifyOpenSizes(const RowWiseProblem &p) {
  if (p.isReduced(0) || numbersElements(p))
    return invalidArgument("only the outermost dimension of rows may have an "
                           "unknown size, in operations that do not number "
                           "their elements");
  return Status::ok();
}

Status Problem::verify() const {
  if (small && (!getConv() || !hasUnknownSizes()))
    return invalidArgument("only convolutions of unknown sizes are small");
  if (hasUnknownSizes()) {
    const Status status = std::visit(
        [](const auto &problem) { return verifyOpenSizes(problem); }, value);
    return status.isOk() ? getSample().verify() : status;
  }
  return std::visit([](const auto &problem) { return problem.verify(); },
                    value);
}

//===----------------------------------------------------------------------===//
// The sizes of a member
//===----------------------------------------------------------------------===//

/// Dimension `dim` of the memref of a tensor of `lengths`.
static std::optional<int64_t> getSizeOf(const TensorLengths &lengths,
                                        Layout layout, bool hasDepth,
                                        int64_t dim) {
  std::array<int64_t, 5> sizes{lengths.n};
  size_t count = 1;
  if (layout != Layout::NHWC)
    sizes[count++] = lengths.c;
  if (hasDepth)
    sizes[count++] = lengths.d;
  sizes[count++] = lengths.h;
  sizes[count++] = lengths.w;
  if (layout == Layout::NHWC)
    sizes[count++] = lengths.c;
  return dim < static_cast<int64_t>(count) ? std::optional(sizes[dim])
                                           : std::nullopt;
}

static std::optional<int64_t> getSizeOf(const ConvProblem &p, KernelArg tensor,
                                        int64_t dim) {
  const bool isResidual = tensor == KernelArg::Residual;
  const bool hasDepth = p.hasDepth();
  if (tensor == KernelArg::X ||
      (isResidual && p.direction == Direction::BackwardData))
    return getSizeOf(p.getInputLengths(), p.xLayout, hasDepth, dim);
  if (tensor == KernelArg::Y ||
      (isResidual && p.direction == Direction::Forward))
    return getSizeOf(p.getOutputLengths(), p.yLayout, hasDepth, dim);
  return std::nullopt;
}

static std::optional<int64_t> getSizeOf(const PoolProblem &p, KernelArg tensor,
                                        int64_t dim) {
  if (tensor == KernelArg::X)
    return getSizeOf(p.getInputLengths(), p.xLayout, p.hasDepth(), dim);
  if (tensor == KernelArg::Y || tensor == KernelArg::Indices)
    return getSizeOf(p.getOutputLengths(), p.yLayout, p.hasDepth(), dim);
  return std::nullopt;
}

static std::optional<int64_t> getSizeOf(const RowWiseProblem &p,
                                        KernelArg tensor, int64_t dim) {
  const int number = getOffset(tensor, KernelArg::Tensor0);
  if (!isRowTensor(tensor) || number >= p.tensorCount || dim >= p.rank)
    return std::nullopt;
  return p.tensors[number].strides[dim] == 0 ? 1 : p.lengths[dim];
}

std::optional<int64_t> Problem::getTensorSize(KernelArg tensor,
                                              int64_t dim) const {
  return std::visit(
      [&](const auto &problem) { return getSizeOf(problem, tensor, dim); },
      value);
}

//===----------------------------------------------------------------------===//
// From a problem to its family
//===----------------------------------------------------------------------===//

/// Kernels for unknown sizes compute offsets in bytes with 31 bits and
/// coordinates with 29.
static constexpr int64_t kMostBytes = INT32_MAX;
static constexpr double kMostCoordinate = 1 << 29;

static bool isSmall(const TensorLengths &t, int64_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int64_t length : {t.n, t.c, t.d, t.h, t.w})
    if (__builtin_mul_overflow(bytes, length, &bytes))
      return false;
  return bytes <= kMostBytes;
}

/// Whether no coordinate of a window, inside the image or out, is too large.
static bool isNear(int64_t in, int64_t out, int64_t reach, int64_t pad,
                   int64_t stride) {
  return static_cast<double>(out) * static_cast<double>(stride) +
             static_cast<double>(reach) + static_cast<double>(pad) +
             static_cast<double>(in) <
         kMostCoordinate;
}

/// Makes a spatial size unknown, unless the dimension means nothing: one pixel
/// under a window of one pixel.
static void openSize(int64_t &in, int64_t window, int64_t pad,
                     int64_t extraPad) {
  if (in != 1 || window != 1 || pad != 0 || extraPad != 0)
    in = kUnknownSize;
}

/// Whether a row and its padding have a whole window, as the halo of a kernel
/// for unknown sizes supposes. Where they have none there is one result a row
/// for all that.
static bool hasWholeWindow(const ConvProblem &p) {
  return p.stride.w > 1 ||
         p.in.w + 2 * p.pad.w + p.extraPad.w > (p.filter.w - 1) * p.dilation.w;
}

static std::optional<Family> findFamily(const ConvProblem &p) {
  const Spatial out = p.getOutput();
  const int64_t bytes =
      std::max(getByteSize(p.dataType), getByteSize(p.getResultType()));
  const bool isCovered =
      !p.epilogue.hasChannelResults() && p.xLayout != Layout::Strided &&
      p.yLayout != Layout::Strided && hasWholeWindow(p) &&
      isSmall(p.getInputLengths(), bytes) &&
      isSmall(p.getOutputLengths(), bytes) &&
      isNear(p.in.d, out.d, p.filter.d * p.dilation.d, p.pad.d, p.stride.d) &&
      isNear(p.in.h, out.h, p.filter.h * p.dilation.h, p.pad.h, p.stride.h) &&
      isNear(p.in.w, out.w, p.filter.w * p.dilation.w, p.pad.w, p.stride.w);
  if (!isCovered)
    return std::nullopt;
  ConvProblem open = p;
  open.batch = kUnknownSize;
  openSize(open.in.d, p.filter.d, p.pad.d, p.extraPad.d);
  openSize(open.in.h, p.filter.h, p.pad.h, p.extraPad.h);
  openSize(open.in.w, p.filter.w, p.pad.w, p.extraPad.w);
  return Family{open, p};
}

static std::optional<Family> findFamily(const PoolProblem &p) {
  const Spatial out = p.getOutput();
  const int64_t bytes =
      std::max(getByteSize(p.dataType), getByteSize(p.indexType));
  const bool isCovered =
      p.xLayout != Layout::Strided && p.yLayout != Layout::Strided &&
      isSmall(p.getInputLengths(), bytes) &&
      isSmall(p.getOutputLengths(), bytes) &&
      isNear(p.in.d, out.d, p.window.d, p.pad.d, p.stride.d) &&
      isNear(p.in.h, out.h, p.window.h, p.pad.h, p.stride.h) &&
      isNear(p.in.w, out.w, p.window.w, p.pad.w, p.stride.w);
  if (!isCovered)
    return std::nullopt;
  PoolProblem open = p;
  open.batch = kUnknownSize;
  openSize(open.in.d, p.window.d, p.pad.d, p.extraPad.d);
  openSize(open.in.h, p.window.h, p.pad.h, p.extraPad.h);
  openSize(open.in.w, p.window.w, p.pad.w, p.extraPad.w);
  return Family{open, p};
}

/// A space of one dimension as rows of up to eight elements, so that the number
/// of rows may be unknown while blocks are as wide as an access.
static RowWiseProblem splitLine(RowWiseProblem p) {
  constexpr int64_t kMostElements = 8;
  const int64_t block = std::min(p.lengths[0] & -p.lengths[0], kMostElements);
  if (block == 1)
    return p;
  p.rank = 2;
  p.lengths[1] = block;
  p.lengths[0] /= block;
  for (int tensor = 0; tensor < p.tensorCount; ++tensor) {
    p.tensors[tensor].strides[1] = p.tensors[tensor].strides[0];
    p.tensors[tensor].strides[0] *= block;
  }
  return p;
}

/// Images with channels last are rows of pixels, of whatever batch.
static std::optional<Family> findFamily(const RowWiseProblem &given) {
  const RowWiseProblem p = given.canonicalize();
  if (p.isReduced(0) || numbersElements(p))
    return std::nullopt;
  for (int tensor = 0; tensor < p.tensorCount; ++tensor)
    if (p.getSpan(tensor) > kMostBytes / getByteSize(p.tensors[tensor].type))
      return std::nullopt;
  const RowWiseProblem member = p.rank == 1 ? splitLine(p) : p;
  RowWiseProblem open = member;
  open.lengths[0] = kUnknownSize;
  return Family{open, member};
}

/// Whether the product of a convolution has few rows, which are the pixels of
/// its result, or, of backward weights, a short reduction, and its tiles depend
/// on that (ImplicitGemm).
static bool isSmallProduct(const ConvProblem &p) {
  const bool isWeights = p.direction == Direction::BackwardWeights;
  const TensorLengths lengths =
      isWeights ? p.getOutputLengths() : p.getResultLengths();
  return p.wLayout != Layout::Strided &&
         lengths.n * lengths.d * lengths.h * lengths.w <= countSmallPixels(p);
}

std::optional<Family> Problem::findFamily() const {
  std::optional<Family> family = std::visit(
      [](const auto &problem) { return ::findFamily(problem); }, value);
  if (family)
    for (Problem *problem : {&family->problem, &family->member}) {
      problem->unaligned = unaligned;
      problem->withoutWorkspace = withoutWorkspace;
    }
  if (const ConvProblem *conv = getConv(); family && conv)
    family->problem.small = isSmallProduct(*conv);
  return family;
}
