//===- GemmSize.cpp - The GEMM that a convolution is, in numbers ----------===//

#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Algorithms/Common/StrideClasses.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace tessera;

int64_t tessera::getVolume(const Spatial &sizes) {
  return sizes.d * sizes.h * sizes.w;
}

static bool isPointwise(const ConvProblem &p) {
  return p.filter == Spatial() && p.pad == Pads() && p.stride == Spatial() &&
         p.in == p.getOutput();
}

/// The elements of a chunk, which is the widest load.
static int64_t getChunkElements(const ConvProblem &p) {
  constexpr int64_t kChunkBytes = 16;
  return kChunkBytes / getByteSize(p.dataType);
}

/// Elements after which the alignment of a step makes no difference.
static constexpr int64_t kLineElements = 64;

/// The layout of an operand of which runs of `length` elements are contiguous.
static OperandLayout makeLayout(const ConvProblem &p, int64_t length,
                                bool isTransposed) {
  int64_t chunk = getChunkElements(p);
  int64_t width = std::gcd(length, chunk);
  if (isTransposed || width < chunk)
    return {width, isTransposed, isTransposed ? width : chunk};
  return {width, isTransposed, chunk, length, std::gcd(length, kLineElements)};
}

/// The layout of an operand whose elements are loaded one by one.
static OperandLayout makeNarrowLayout(int64_t laneDistance) {
  return {/*loadElements=*/1, /*isTransposed=*/false, laneDistance};
}

/// Whether the pixels of NCHW under the taps of a filter are loaded in pairs
/// (BlockCopy.h): `width` rows of the product are neighbours in memory.
static bool copiesPairs(const ConvProblem &p, int64_t channels, int64_t width,
                        int step, const GpuTarget &target) {
  return target.vendor == Vendor::Amd && getByteSize(p.dataType) == 2 &&
         channels % step == 0 && width % 2 == 0;
}

/// The layout of pairs of pixels.
static constexpr OperandLayout kPairs = {/*loadElements=*/2,
                                         /*isTransposed=*/true,
                                         /*laneDistance=*/2};

/// The layout of x or y with `channels` a group. In NCHW pixels are contiguous,
/// but are checked for padding one by one unless the filter is pointwise; then
/// neighbouring rows are `rowDistance` apart.
static OperandLayout getImageLayout(const ConvProblem &p, Layout layout,
                                    int64_t channels, bool areChannelsReduced,
                                    int64_t rowDistance) {
  if (layout == Layout::NHWC)
    return makeLayout(p, channels, !areChannelsReduced);
  if (isPointwise(p))
    return makeLayout(p, getVolume(p.in), areChannelsReduced);
  return makeNarrowLayout(rowDistance);
}

static GemmSize getForwardSize(const ConvProblem &p, int step,
                               const GpuTarget &target) {
  int64_t channels = p.inChannels / p.groups, taps = getVolume(p.filter);
  bool isNested = channels % (2 * step) == 0;
  // NCHW filters are read in their own order where the walk is not nested.
  bool isFilterOrder = !isNested && p.xLayout != Layout::NHWC &&
                       p.wLayout != Layout::NHWC && taps > 1;
  bool areChannelsTogether = p.wLayout == Layout::NHWC || taps == 1;
  bool hasPairs = p.xLayout == Layout::NCHW && !isPointwise(p) &&
                  !isFilterOrder && p.stride.w == 1 &&
                  copiesPairs(p, channels, p.getOutput().w, step, target);
  return {static_cast<double>(p.groups),
          p.batch * getVolume(p.getOutput()),
          p.outChannels / p.groups,
          static_cast<double>(channels * taps),
          isFilterOrder ? 1 : channels,
          hasPairs ? kPairs
                   : getImageLayout(p, p.xLayout, channels, true, p.stride.w),
          areChannelsTogether ? makeLayout(p, channels, false)
          : isNested          ? makeNarrowLayout(getChunkElements(p) * taps)
                              : makeLayout(p, channels * taps, false),
          /*splittable=*/isFilterOrder ? 1 : channels,
          /*splitsInner=*/true};
}

static llvm::SmallVector<ConvDim, 3> getDims(const ConvProblem &p) {
  const Spatial out = p.getOutput();
  llvm::SmallVector<ConvDim, 3> dims;
  auto add = [&](int64_t Spatial::*size, int64_t Pads::*pad) {
    dims.push_back({p.in.*size, p.filter.*size, out.*size, p.pad.*pad,
                    p.stride.*size, p.dilation.*size});
  };
  if (p.hasDepth())
    add(&Spatial::d, &Pads::d);
  add(&Spatial::h, &Pads::h);
  add(&Spatial::w, &Pads::w);
  return dims;
}

static GemmSize getBackwardDataSize(const ConvProblem &p, int step,
                                    const GpuTarget &target) {
  int64_t channels = p.outChannels / p.groups;
  int64_t inChannels = p.inChannels / p.groups, taps = getVolume(p.filter);
  auto classes = static_cast<double>(getVolume(p.stride));
  Spatial rows = {llvm::divideCeilSigned(p.in.h, p.stride.h),
                  llvm::divideCeilSigned(p.in.w, p.stride.w),
                  llvm::divideCeilSigned(p.in.d, p.stride.d)};
  bool areFiltersTogether = p.wLayout == Layout::NHWC || taps == 1;
  bool areOutputsTogether =
      p.wLayout == Layout::Strided && p.wStrides.n == 1 && channels > 1;
  bool hasPairs = p.yLayout == Layout::NCHW && !isPointwise(p) &&
                  copiesPairs(p, channels, rows.w, step, target);
  GemmSize size = {static_cast<double>(p.groups) * classes,
                   p.batch * getVolume(rows),
                   inChannels,
                   static_cast<double>(channels * taps) / classes,
                   channels,
                   hasPairs ? kPairs
                            : getImageLayout(p, p.yLayout, channels, true,
                                             /*rowDistance=*/1),
                   areOutputsTogether   ? makeLayout(p, channels, false)
                   : areFiltersTogether ? makeLayout(p, inChannels, true)
                                        : makeNarrowLayout(taps),
                   /*splittable=*/channels,
                   /*splitsInner=*/true};
  if (classes > 1)
    for (int64_t ofClass : countClassTaps(getDims(p)))
      size.classes.push_back(static_cast<double>(channels * ofClass));
  return size;
}

/// The spatial dimensions of planes that backward weights walks, or none
/// (GemmViews.h): without padding, only those that are no whole steps.
static llvm::SmallVector<ConvDim, 3> getPlanes(const ConvProblem &p, int step,
                                               int columns,
                                               const GpuTarget &target) {
  const Spatial out = p.getOutput();
  llvm::SmallVector<ConvDim, 3> dims = getDims(p);
  const bool needsPlanes = isPointwise(p)
                               ? getVolume(out) % step != 0
                               : p.inChannels / p.groups % columns == 0;
  if (target.vendor != Vendor::Amd || getByteSize(p.dataType) != 2 ||
      p.xLayout != Layout::NCHW || p.yLayout != Layout::NCHW || !needsPlanes ||
      !walksPlanes(dims, step))
    dims.clear();
  return dims;
}

/// What a walk by planes changes. Instructions were counted for gfx942: a chunk
/// has an offset and, of x, four byte permutes, of y two masks if planes are no
/// whole chunks; and both have their share of what each step computes.
static void setPlanes(GemmSize &size, const ConvProblem &p,
                      llvm::ArrayRef<ConvDim> dims, int step) {
  constexpr int64_t kChunk = 8, kChunkBytes = 16, kOfStep = 144;
  constexpr int64_t kPermutes = 4, kMasks = 2;
  int64_t pixels = 1;
  for (const ConvDim &dim : dims)
    pixels *= dim.out;
  const int64_t chunks = llvm::divideCeilSigned(pixels, kChunk);
  size.reduction = static_cast<double>(p.batch * chunks * kChunk);
  size.inner = int64_t(step) * 2;
  size.splitsInner = false;
  size.splittable = p.batch;
  const int64_t moves = 1 + kOfStep / step;
  const int64_t masks = pixels % kChunk == 0 ? 0 : kMasks;
  size.rowOperand = {kChunk,
                     /*isTransposed=*/false,
                     kChunk,
                     pixels,
                     std::gcd(pixels, kLineElements),
                     moves + masks};
  size.columnOperand = size.rowOperand;
  size.hasPlanes = true;
  // An odd plane ends within a word, in both operands (PlaneCopy.h).
  const int64_t tables = pixels % 2 != 0 ? 2 : isPointwise(p) ? 0 : 1;
  size.tableBytes = tables * (chunks + 1) * kChunkBytes;
  if (isPointwise(p))
    return;
  size.alsoSplittable = splitsPlanes(dims) ? dims.front().out : 1;
  size.columnOperand.moves = moves + kPermutes;
  size.columnOperand.alignment = 1;
}

static GemmSize getBackwardWeightsSize(const ConvProblem &p, int step,
                                       int columns, const GpuTarget &target) {
  Spatial out = p.getOutput();
  int64_t pixels = getVolume(out);
  int64_t outChannels = p.outChannels / p.groups;
  int64_t inChannels = p.inChannels / p.groups;
  int64_t taps = getVolume(p.filter);
  // The rows of x are the taps of a channel, then those of the next.
  int64_t xDistance = std::max<int64_t>(1, getVolume(p.in) / taps);
  GemmSize size = {static_cast<double>(p.groups),
                   outChannels,
                   inChannels * taps,
                   static_cast<double>(p.batch * pixels),
                   p.batch,
                   getImageLayout(p, p.yLayout, outChannels, false, pixels),
                   getImageLayout(p, p.xLayout, inChannels, false, xDistance),
                   p.batch};
  if (const auto planes = getPlanes(p, step, columns, target);
      !planes.empty()) {
    setPlanes(size, p, planes, step);
  } else if (isPointwise(p)) {
    bool areNhwc = p.xLayout == Layout::NHWC && p.yLayout == Layout::NHWC;
    bool areNchw = p.xLayout == Layout::NCHW && p.yLayout == Layout::NCHW;
    size.inner = areNhwc ? p.batch * pixels : areNchw ? pixels : 1;
    size.splitsInner = areNhwc;
  } else if (p.batch % step == 0) {
    // Images are innermost, so the first spatial dimension is split.
    size.splittable = p.hasDepth() ? out.d : out.h;
  }
  return size;
}

GemmSize tessera::getGemmSize(const ConvProblem &problem, int step,
                              const GpuTarget &target, int columns) {
  switch (problem.direction) {
  case Direction::Forward:
    return getForwardSize(problem, step, target);
  case Direction::BackwardData:
    return getBackwardDataSize(problem, step, target);
  case Direction::BackwardWeights:
    return getBackwardWeightsSize(problem, step, columns, target);
  }
  return {};
}
