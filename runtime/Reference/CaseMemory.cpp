//===- CaseMemory.cpp - How much memory a problem's data take -------------===//

#include "runtime/Reference/CaseMemory.h"

#include "runtime/Reference/ReferenceShape.h"

using namespace tessera;
using Purpose = CaseUse::Purpose;

/// Each tensor's bytes fit 63 bits, but not so a sum of several.
using Bytes = unsigned __int128;

/// Of a value that the reference expects, and of its tolerance.
static constexpr Bytes kExpectedBytes = 2 * sizeof(double);

namespace {
/// What takes memory of the host.
struct Parts {
  Bytes tensors = 0; ///< That a kernel is given.
  Bytes results = 0; ///< Of these, what it writes.
  Bytes copies = 0;  ///< That the case keeps of some of them.
  Bytes expected = 0;
};
} // namespace

static Bytes getBytes(DataType type, const Strides &strides,
                      const TensorLengths &lengths) {
  return Bytes(getSpan(strides, lengths)) * getByteSize(type);
}

static Parts getParts(const ConvProblem &p, Purpose purpose) {
  const DataType resultType = p.getResultType();
  const TensorLengths result = p.getResultLengths();
  Parts parts;
  parts.results = getBytes(resultType, getResultStrides(p), result);
  const bool isForward = p.direction == Direction::Forward;
  parts.tensors =
      getBytes(p.dataType, p.getInputStrides(), p.getInputLengths()) +
      getBytes(p.dataType, p.getFilterStrides(), p.getFilterLengths()) +
      getBytes(isForward ? resultType : p.dataType, p.getOutputStrides(),
               p.getOutputLengths());
  if (p.epilogue.bias)
    parts.tensors += Bytes(result.c) * getByteSize(resultType);
  if (p.epilogue.residual)
    parts.tensors += parts.results;
  // The result before the kernel.
  parts.copies = parts.results;
  // A tuner has an interval for each element, and a kernel's result.
  if (purpose == Purpose::Tune)
    parts.copies += 3 * parts.results;
  parts.expected = kExpectedBytes * result.getElements();
  return parts;
}

static Parts getParts(const PoolProblem &p, Purpose purpose) {
  const bool isForward = p.direction == Direction::Forward;
  const Bytes x = getBytes(p.dataType, p.getInputStrides(),
                           p.getInputLengths()),
              y = getBytes(p.dataType, p.getOutputStrides(),
                           p.getOutputLengths()),
              indices = Bytes(p.getOutputLengths().getElements()) *
                        getByteSize(p.indexType);
  Parts parts;
  parts.tensors = x + y + indices;
  parts.results = isForward ? y + indices : x;
  // A tuner has a case with a kernel's results besides, and judges a sample.
  if (purpose == Purpose::Tune)
    parts.copies = parts.tensors + parts.results;
  else
    parts.expected =
        kExpectedBytes *
        (isForward ? p.getOutputLengths() : p.getInputLengths()).getElements();
  return parts;
}

/// The judge looks at a sample.
static Parts getParts(const RowProblem &p, Purpose purpose) {
  Parts parts;
  for (int i = 0; i < p.tensorCount; ++i) {
    const Bytes bytes = Bytes(p.getSpan(i)) * getByteSize(p.tensors[i].type);
    parts.tensors += bytes;
    if (p.tensors[i].role != RowRole::Input)
      parts.results += bytes;
  }
  if (purpose == Purpose::Tune)
    parts.copies = parts.tensors + parts.results;
  return parts;
}

static Parts getParts(const Problem &problem, Purpose purpose) {
  if (const ConvProblem *conv = problem.getConv())
    return getParts(*conv, purpose);
  if (const PoolProblem *pool = problem.getPool())
    return getParts(*pool, purpose);
  return getParts(*problem.getRows(), purpose);
}

uint64_t tessera::getCaseBytes(const Problem &problem, CaseUse use) {
  const Parts parts = getParts(problem, use.purpose);
  Bytes bytes = parts.tensors + parts.copies;
  if (use.isOnHost)
    bytes += parts.tensors;
  if (use.purpose != Purpose::Run)
    bytes += parts.expected;
  return bytes < UINT64_MAX ? static_cast<uint64_t>(bytes) : UINT64_MAX;
}
