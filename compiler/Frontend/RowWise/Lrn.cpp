//===- Lrn.cpp - Local response normalisation -----------------------------===//
//
// A row is a window. The window is a dimension of its own, with the stride of
// the dimension along which it moves, so that the elements of neighbouring
// windows overlap in memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Bits of the mode.
enum : uint32_t {
  kHasSums = 1, ///< The input has partial sums of the window.
  kSaves = 2,   ///< lrn_fwd: writes the scale.
};

using Values = SmallVector<Value>;
} // namespace

/// Sums the window of tensor 0: squares of its elements, or its partial sums.
static RowReduction addSquares(bool hasSums) {
  return {{dnn::ReduceKind::Sum}, [=](RowRegion &r) -> Values {
            Value x = r.get(0);
            return {hasSums ? x : r.mul(x, x)};
          }};
}

/// Sums dy y / scale, or the partial sums of tensor 0.
static RowReduction addRatios(bool hasSums) {
  return {{dnn::ReduceKind::Sum}, [=](RowRegion &r) -> Values {
            if (hasSums)
              return {r.get(0)};
            return {r.div(r.mul(r.get(0), r.get(1)), r.get(2))};
          }};
}

/// Returns scale^-exponent.
static Value raise(RowRegion &r, Value scale, Value exponent) {
  Value negative = r.sub(r.constant(0), exponent);
  return r.exp2(r.mul(negative, r.log2(scale)));
}

/// Makes the formulas of an operation with one reduction, after checking that
/// its tensors have these roles.
static ErrorOr<RowWiseFormulas> make(const RowWiseProblem &problem,
                                     std::string_view roles, int scalars,
                                     RowReduction reduction,
                                     RegionFormula row) {
  if (Status status = expectTensors(problem, roles); !status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.scalarCount = scalars;
  formulas.reductions.push_back(std::move(reduction));
  formulas.row = std::move(row);
  return formulas;
}

static ErrorOr<RowWiseFormulas>
getForwardFormulas(const RowWiseProblem &problem) {
  if (Status status = expectMode(problem, 4); !status.isOk())
    return status;
  const bool saves = problem.mode & kSaves;
  return make(problem, saves ? "iirr" : "iir", 3,
              addSquares(problem.mode & kHasSums), [=](RowRegion &r) -> Values {
                Value scale =
                    r.add(r.scalar(2), r.mul(r.scalar(0), r.result(0)));
                Value y = r.mul(r.get(1), raise(r, scale, r.scalar(1)));
                return saves ? Values{scale, y} : Values{y};
              });
}

static ErrorOr<RowWiseFormulas>
getBackwardFormulas(const RowWiseProblem &problem) {
  if (Status status = expectMode(problem, 2); !status.isOk())
    return status;
  const bool hasSums = problem.mode & kHasSums;
  const int first = hasSums ? 1 : 3;
  return make(problem, hasSums ? "iiiir" : "iiiiiir", 2, addRatios(hasSums),
              [=](RowRegion &r) -> Values {
                Value direct = r.mul(r.get(first),
                                     raise(r, r.get(first + 2), r.scalar(1)));
                Value shared =
                    r.mul(r.mul(r.scalar(0), r.get(first + 1)), r.result(0));
                return {r.sub(direct, shared)};
              });
}

ErrorOr<RowWiseFormulas>
tessera::getLrnFormulas(const RowWiseProblem &problem) {
  auto yieldSum = [](RowRegion &r) -> Values { return {r.result(0)}; };
  switch (problem.op) {
  case RowWiseKind::LrnSum:
    return make(problem, "ir", 0, addSquares(false), yieldSum);
  case RowWiseKind::LrnForward:
    return getForwardFormulas(problem);
  case RowWiseKind::LrnBackwardSum:
    return make(problem, "iiir", 0, addRatios(false), yieldSum);
  default:
    return getBackwardFormulas(problem);
  }
}
