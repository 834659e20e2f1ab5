//===- RowWiseReference.cpp - Row-wise operations: reduce and map ---------===//

#include "dialect/Reference/RowWiseReference.h"
#include "dialect/Reference/Compare.h"
#include "dialect/Reference/Parallel.h"
#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

#include <cassert>
#include <cstdio>
#include <cstring>

using namespace tessera::reference;

//===----------------------------------------------------------------------===//
// The space
//===----------------------------------------------------------------------===//

int64_t RowOperand::getOffset(const RowDims &at) const {
  int64_t offset = 0;
  for (int dim = 0; dim < kMaxRowRank; ++dim)
    offset += at[dim] * strides[dim];
  return offset;
}

int64_t RowShape::getRowCount() const {
  int64_t count = 1;
  for (int dim = 0; dim < rank; ++dim)
    count *= isReduced(dim) ? 1 : lengths[dim];
  return count;
}

int64_t RowShape::getRowLength() const {
  int64_t length = 1;
  for (int dim = 0; dim < rank; ++dim)
    length *= isReduced(dim) ? lengths[dim] : 1;
  return length;
}

RowDims RowShape::getCoords(int64_t row, int64_t element) const {
  RowDims at{};
  for (int dim = rank - 1; dim >= 0; --dim) {
    int64_t &number = isReduced(dim) ? element : row;
    at[dim] = number % lengths[dim];
    number /= lengths[dim];
  }
  return at;
}

double RowShape::getUnitRoundoff() const {
  for (const RowOperand &tensor : tensors)
    if (tensor.type == ElementType::F64)
      return tessera::reference::getUnitRoundoff(ElementType::F64);
  return tessera::reference::getUnitRoundoff(ElementType::F32);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

double Row::getCarried(const CarriedTensors &carried, RowDims at) const {
  constexpr int kTime = 0, kUnit = 2, kElement = 3;
  // Tensor 0 is the state, of which all units take all elements.
  const int64_t units = shape.lengths[kUnit];
  const int64_t position = carried.input == 0 ? at[kElement] : at[kUnit];
  const RowOperand &operand = shape.tensors[carried.outputs[position / units]];
  if (operand.strides[kTime] == 0)
    return std::nan("");
  at[kTime] += shape.mode & kDescendingBit ? 1 : -1;
  at[kUnit] = position % units;
  at[kElement] = 0;
  return loadElement(operand.type, operand.data, operand.getOffset(at));
}

double Row::get(int tensor, int64_t element) const {
  const RowOperand &operand = shape.tensors[tensor];
  assert(operand.role == RowRole::Input && "outputs have no values yet");
  const RowDims at = shape.getCoords(number, element);
  const int64_t first = shape.mode & kDescendingBit ? shape.lengths[0] - 1 : 0;
  for (const CarriedTensors &carried : findCarried(shape.operation, shape.mode))
    if (carried.input == tensor && at[0] != first)
      return getCarried(carried, at);
  return loadElement(operand.type, operand.data,
                     operand.getOffset(shape.getCoords(number, element)));
}

/// The relative error of a number that is stored.
static double getRounding(ElementType type) {
  return type == ElementType::F16    ? 0x1p-11
         : type == ElementType::BF16 ? 0x1p-8
                                     : 0x1p-24;
}

/// The row output of the step before, rounded to its type.
Approx Row::getBefore(int output) const {
  const int64_t perStep = shape.getRowCount() / shape.lengths[0];
  Row before(shape,
             number + (shape.mode & kDescendingBit ? perStep : -perStep));
  for (const RowOperand &operand : shape.tensors)
    before.outputs.emplace_back(operand.role == RowRole::Input ? 0 : 1);
  findRowEvaluator(shape.operation)(before);
  const Approx value = before.outputs[output].front();
  const double rounding = getRounding(shape.tensors[output].type);
  return {value.value, value.error + value.getMagnitude() * rounding /
                                         shape.getUnitRoundoff()};
}

Approx Row::getState(int tensor) const {
  const int64_t first = shape.mode & kDescendingBit ? shape.lengths[0] - 1 : 0;
  for (const CarriedTensors &carried : findCarried(shape.operation, shape.mode))
    if (carried.input == tensor && shape.getCoords(number, 0)[0] != first &&
        shape.tensors[carried.outputs.front()].strides[0] == 0)
      return getBefore(carried.outputs.front());
  return get(tensor);
}

int64_t Row::getElementNumber(int64_t element) const {
  const RowDims at = shape.getCoords(number, element);
  int64_t result = 0;
  for (int dim = 0; dim < shape.rank; ++dim)
    result = result * shape.lengths[dim] + at[dim];
  return result;
}

void Row::set(int tensor, int64_t element, Approx value) {
  assert(shape.tensors[tensor].role != RowRole::Input && "inputs are read");
  outputs[tensor][element] = value;
}

RowWiseEvaluator
tessera::reference::findRowEvaluator(std::string_view operation) {
#define TESSERA_ROW_EVALUATOR(word, function)                                  \
  if (operation == word)                                                       \
    return function;
#include "dialect/Reference/RowWise/RowWiseEvaluators.def"
  return nullptr;
}

/// Marks what no operation has computed. No result equals it.
static const Approx kUnset(std::nan(""), -1);

/// The number of elements of one row of an output.
static int64_t getRowElements(const RowShape &shape,
                              const RowOperand &operand) {
  return operand.role == RowRole::Output ? shape.getRowLength() : 1;
}

std::vector<RowExpected>
tessera::reference::evaluateRows(const RowShape &shape,
                                 const std::vector<int64_t> &rows) {
  const RowWiseEvaluator evaluate = findRowEvaluator(shape.operation);
  assert(evaluate && "the operation is not in RowWiseEvaluators.def");
  const auto count =
      rows.empty() ? shape.getRowCount() : static_cast<int64_t>(rows.size());
  std::vector<RowExpected> results;
  for (size_t i = 0; i < shape.tensors.size(); ++i)
    if (shape.tensors[i].role != RowRole::Input)
      results.push_back(
          {static_cast<int>(i),
           std::vector<Approx>(count * getRowElements(shape, shape.tensors[i]),
                               kUnset)});

  // A chunk has many rows, because a row may have a single element.
  constexpr int64_t kChunk = 64;
  parallelFor((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
    const int64_t end = std::min(count, (chunk + 1) * kChunk);
    for (int64_t i = chunk * kChunk; i < end; ++i) {
      Row row(shape, rows.empty() ? i : rows[i]);
      row.outputs.resize(shape.tensors.size());
      for (const RowExpected &result : results)
        row.outputs[result.tensor].assign(
            getRowElements(shape, shape.tensors[result.tensor]), kUnset);
      evaluate(row);
      for (RowExpected &result : results) {
        const std::vector<Approx> &output = row.outputs[result.tensor];
        std::copy(output.begin(), output.end(),
                  result.values.begin() +
                      i * static_cast<int64_t>(output.size()));
      }
    }
  });
  return results;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {
/// What is wrong with one output.
struct Faults {
  int64_t compared = 0;
  int64_t failed = 0;
  RowDims at{}; ///< The worst element; the fields below are about it.
  double expected = 0, found = 0, least = 0, most = 0;
  double badness = -1;
};
} // namespace

/// Whether an element of an output is what another step writes there later.
static bool isOverwritten(const RowShape &shape, const RowOperand &operand,
                          const RowDims &at) {
  if (operand.strides[0] != 0 ||
      findCarried(shape.operation, shape.mode).empty())
    return false;
  return at[0] != (shape.mode & kDescendingBit ? 0 : shape.lengths[0] - 1);
}

/// Whether all bits are set. No arithmetic produces this NaN, so the element
/// was not written.
static bool isPoison(const RowOperand &operand, int64_t offset) {
  const int64_t bytes = getByteSize(operand.type);
  constexpr uint64_t kPoison = ~0ull;
  return std::memcmp(static_cast<const char *>(operand.data) + offset * bytes,
                     &kPoison, bytes) == 0;
}

static void compareElement(Faults &faults, const RowOperand &operand,
                           const RowDims &coords, Approx expected,
                           double unitRoundoff) {
  // Chips may flush subnormal numbers to zero.
  const double leastNormal = unitRoundoff < 0x1p-24 ? 0x1p-1022 : 0x1p-126;
  const double tolerance =
      expected.error > 0 ? expected.error * unitRoundoff + leastNormal : 0;
  const double least = roundTo(operand.type, expected.value - tolerance);
  const double most = roundTo(operand.type, expected.value + tolerance);
  const int64_t offset = operand.getOffset(coords);
  const double found = loadElement(operand.type, operand.data, offset);
  const bool passed = expected.error != kUnset.error &&
                      (std::isnan(expected.value)
                           ? std::isnan(found) && !isPoison(operand, offset)
                           : least <= found && found <= most);
  ++faults.compared;
  if (passed)
    return;
  ++faults.failed;
  double badness =
      std::fabs(found - expected.value) / std::max(most - least, leastNormal);
  if (!std::isfinite(badness))
    badness = INFINITY;
  if (badness <= faults.badness)
    return;
  faults = {faults.compared, faults.failed, coords, expected.value,
            found,           least,         most,   badness};
}

static std::string toText(const RowShape &shape, int tensor,
                          const Faults &faults) {
  std::string coords;
  for (int dim = 0; dim < shape.rank; ++dim)
    coords += (dim ? "," : "") + std::to_string(faults.at[dim]);
  char text[320];
  std::snprintf(text, sizeof(text),
                "%lld of %lld elements of tensor %d are wrong; worst at [%s]: "
                "expected %.9g, allowed from %.9g to %.9g, found %.9g",
                static_cast<long long>(faults.failed),
                static_cast<long long>(faults.compared), tensor, coords.c_str(),
                faults.expected, faults.least, faults.most, faults.found);
  return text;
}

std::string
tessera::reference::compareRows(const RowShape &shape,
                                const std::vector<RowExpected> &expected,
                                const std::vector<int64_t> &rows) {
  const double unitRoundoff = shape.getUnitRoundoff();
  for (const RowExpected &output : expected) {
    const RowOperand &operand = shape.tensors[output.tensor];
    const int64_t elements = getRowElements(shape, operand);
    Faults faults;
    for (size_t i = 0; i < output.values.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / elements;
      const RowDims at = shape.getCoords(rows.empty() ? row : rows[row],
                                         static_cast<int64_t>(i) % elements);
      if (!isOverwritten(shape, operand, at))
        compareElement(faults, operand, at, output.values[i], unitRoundoff);
    }
    if (faults.compared == 0)
      return "no element was compared";
    if (faults.failed)
      return toText(shape, output.tensor, faults);
  }
  return expected.empty() ? "nothing was compared" : std::string();
}
