//===- ConvertedTraffic.cpp - What launches that convert move -------------===//

#include "compiler/Algorithms/Converted/ConvertedTraffic.h"
#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"

using namespace tessera;

namespace {
struct ConversionRates {
#define CONVERSION_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Converted/ConversionRates.def"
};
} // namespace

/// With one channel or one pixel both layouts are the same memory.
static bool isTransposed(Layout layout, const TensorLengths &lengths) {
  const int64_t pixels = lengths.getElements() / (lengths.n * lengths.c);
  return layout != Layout::NHWC && lengths.c > 1 && pixels > 1;
}

/// The tensor that is computed, in the order x, w, y.
static size_t getResultIndex(Direction direction) {
  return direction == Direction::Forward        ? 2
         : direction == Direction::BackwardData ? 0
                                                : 1;
}

ConvertedTraffic::ConvertedTraffic(const ConvProblem &conv,
                                   DataType operandType)
    : result(getResultIndex(conv.direction)) {
  const Layout layouts[] = {conv.xLayout, conv.wLayout, conv.yLayout};
  const TensorLengths lengths[] = {
      conv.getInputLengths(), conv.getFilterLengths(), conv.getOutputLengths()};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const bool isResult = i == result;
    const DataType given = isResult ? conv.getResultType() : conv.dataType;
    const DataType copied = isResult ? given : operandType;
    const int64_t elements = lengths[i].getElements();
    if (given != copied || isTransposed(layouts[i], lengths[i]))
      tensors[i] = {elements * getByteSize(given),
                    elements * getByteSize(copied)};
  }
}

int64_t ConvertedTraffic::countWorkspace() const {
  int64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i)
    bytes += i == result ? tensors[i].read : tensors[i].written;
  return bytes;
}

double ConvertedTraffic::Copy::estimateClocks(const GpuTarget &target) const {
  constexpr ConversionRates kRates;
  const auto bytes = static_cast<double>(read + written);
  if (target.vendor == Vendor::Amd)
    return bytes / getMemoryBytesPerClock(target);
  const double rate =
      bytes <= kRates.mostCached ? kRates.cachedBytes : kRates.memoryBytes;
  return bytes / (rate * target.computeUnits);
}

static double getBegin(bool hasLaunch, const GpuTarget &target) {
  const GemmRates rates = getGemmRates(target);
  const double begin = rates.wait > 0 ? rates.sum : ConversionRates().begin;
  return hasLaunch ? begin : 0;
}

double ConvertedTraffic::estimateClocks(const GpuTarget &target) const {
  const Copy &copy = tensors[result];
  return estimateOperandClocks(target) + getBegin(copy.written > 0, target) +
         copy.estimateClocks(target);
}

double ConvertedTraffic::estimateOperandClocks(const GpuTarget &target) const {
  double clocks = 0;
  bool hasLaunch = false;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (i != result) {
      clocks += tensors[i].estimateClocks(target);
      hasLaunch |= tensors[i].written > 0;
    }
  return getBegin(hasLaunch, target) + clocks;
}

double ConvertedTraffic::estimateFilterClocks(const GpuTarget &target) const {
  const Copy &copy = tensors[1];
  return getBegin(copy.written > 0, target) + copy.estimateClocks(target);
}
