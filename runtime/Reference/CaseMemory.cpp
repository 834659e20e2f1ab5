//===- CaseMemory.cpp - How much memory a problem's data take -------------===//

#include "runtime/Reference/CaseMemory.h"

#include "runtime/Reference/ReferenceShape.h"

using namespace tessera;
using Purpose = CaseUse::Purpose;

/// The size of each tensor fits 63 bits, but the sum of several may not.
using Bytes = unsigned __int128;

/// Bytes for a value that the reference expects and its tolerance.
static constexpr Bytes kExpectedBytes = 2 * sizeof(double);

namespace {
/// Bytes of the host's memory, by purpose.
struct Footprint {
  Bytes tensors = 0; ///< the arguments of a kernel
  Bytes results = 0; ///< those of them that the kernel writes
  Bytes copies = 0;  ///< copies of some of them that the case keeps
  Bytes expected = 0;
};
} // namespace

static Bytes getBytes(DataType type, const Strides &strides,
                      const TensorLengths &lengths) {
  return Bytes(getSpan(strides, lengths)) * getByteSize(type);
}

static Footprint getFootprint(const ConvProblem &p, Purpose purpose) {
  const DataType resultType = p.getResultType();
  const TensorLengths result = p.getResultLengths();
  Footprint footprint;
  footprint.results = getBytes(resultType, getResultStrides(p), result);
  footprint.tensors = getBytes(getTypeOf(p, Direction::BackwardData),
                               p.getInputStrides(), p.getInputLengths()) +
                      getBytes(getTypeOf(p, Direction::BackwardWeights),
                               p.getFilterStrides(), p.getFilterLengths()) +
                      getBytes(getTypeOf(p, Direction::Forward),
                               p.getOutputStrides(), p.getOutputLengths());
  if (p.epilogue.bias)
    footprint.tensors += Bytes(result.c) * getByteSize(p.getBiasType());
  if (p.epilogue.residual)
    footprint.tensors += footprint.results;
  if (p.epilogue.statistics)
    footprint.tensors += 2 * Bytes(result.c) * getByteSize(DataType::F32);
  if (p.epilogue.normGradient != NormGradient::None)
    footprint.tensors += 2 * footprint.results +
                         6 * Bytes(result.c) * getByteSize(DataType::F32);
  // The case keeps the result's content before the kernel.
  footprint.copies = footprint.results;
  // A tuner has an interval for each element, and a kernel's result.
  if (purpose == Purpose::Tune)
    footprint.copies += 3 * footprint.results;
  footprint.expected = kExpectedBytes * result.getElements();
  return footprint;
}

static Footprint getFootprint(const PoolProblem &p, Purpose purpose) {
  const bool isForward = p.direction == Direction::Forward;
  const Bytes x = getBytes(p.dataType, p.getInputStrides(),
                           p.getInputLengths()),
              y = getBytes(p.dataType, p.getOutputStrides(),
                           p.getOutputLengths()),
              indices = Bytes(p.getOutputLengths().getElements()) *
                        getByteSize(p.indexType);
  Footprint footprint;
  footprint.tensors = x + y + indices;
  footprint.results = isForward ? y + indices : x;
  // A tuner has a second case with a kernel's results, and compares only a
  // sample.
  if (purpose == Purpose::Tune)
    footprint.copies = footprint.tensors + footprint.results;
  else
    footprint.expected =
        kExpectedBytes *
        (isForward ? p.getOutputLengths() : p.getInputLengths()).getElements();
  return footprint;
}

/// Nothing is counted for expected values, because only a sample is compared.
static Footprint getFootprint(const RowWiseProblem &p, Purpose purpose) {
  Footprint footprint;
  for (int i = 0; i < p.tensorCount; ++i) {
    const Bytes bytes = Bytes(p.getSpan(i)) * getByteSize(p.tensors[i].type);
    footprint.tensors += bytes;
    if (p.tensors[i].role != RowRole::Input)
      footprint.results += bytes;
  }
  if (purpose == Purpose::Tune)
    footprint.copies = footprint.tensors + footprint.results;
  return footprint;
}

static Footprint getFootprint(const Problem &problem, Purpose purpose) {
  if (const ConvProblem *conv = problem.getConv())
    return getFootprint(*conv, purpose);
  if (const PoolProblem *pool = problem.getPool())
    return getFootprint(*pool, purpose);
  return getFootprint(*problem.getRows(), purpose);
}

uint64_t tessera::getCaseBytes(const Problem &problem, CaseUse use) {
  const Footprint footprint = getFootprint(problem, use.purpose);
  Bytes bytes = footprint.tensors + footprint.copies;
  if (use.isOnHost)
    bytes += footprint.tensors;
  if (use.purpose != Purpose::Run)
    bytes += footprint.expected;
  return bytes < UINT64_MAX ? static_cast<uint64_t>(bytes) : UINT64_MAX;
}
