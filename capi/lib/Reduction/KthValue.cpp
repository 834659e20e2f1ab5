//===- KthValue.cpp - The k-th smallest element along a dimension ---------===//
//
// A radix search: one launch for each bit of the key of an element, from the
// highest one on, and one that finds the element.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/tensor_operations.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/RowWise/RowWiseCall.h"

#include <algorithm>
#include <optional>
#include <string>

using namespace tessera;
using namespace tessera::capi;

namespace {
using RowStrides = std::vector<int64_t>;

/// A search along one dimension. Refers to the client's objects.
struct KthCall {
  miopenHandle &handle;
  const miopenTensorDescriptor &input, &output, &indices;
  const void *data;
  void *values;
  size_t *found;
  size_t k;
  int dim;
  bool keepsDim;
};

/// The key that is searched for and how many elements it is behind, for each
/// row.
struct State {
  void *key;
  void *k;
};
} // namespace

/// The strides of a result in the dimensions of the input, 0 along `dim`.
static ErrorOr<RowStrides>
getResultStrides(const KthCall &call, const char *name,
                 const miopenTensorDescriptor &desc) {
  std::vector<int64_t> lengths = call.input.lengths;
  lengths[call.dim] = 1;
  RowStrides strides = desc.strides;
  const bool isVector = lengths.size() == 1;
  if (!call.keepsDim && !isVector) {
    lengths.erase(lengths.begin() + call.dim);
    if (desc.lengths == lengths)
      strides.insert(strides.begin() + call.dim, 0);
  }
  if (desc.lengths != lengths)
    return invalidArgument("the lengths of " + std::string(name) +
                           " are not those of the input without dimension " +
                           std::to_string(call.dim));
  for (size_t i = 0; i < strides.size(); ++i)
    if (call.input.lengths[i] == 1 || static_cast<int>(i) == call.dim)
      strides[i] = 0;
  return strides;
}

static Status check(const KthCall &call) {
  const int64_t length = call.input.lengths[call.dim];
  if (call.k < 1 || call.k > static_cast<uint64_t>(length))
    return invalidArgument("k is " + std::to_string(call.k) + ", not 1 to " +
                           std::to_string(length));
  Status status = checkSameType("output", call.output, "input", call.input);
  if (status.isOk() && call.indices.dataType != miopenInt64)
    status = invalidArgument("the indices must be of miopenInt64");
  return status;
}

namespace {
/// The launches of a search.
class KthSearch {
public:
  KthSearch(const KthCall &call, RowStrides values, RowStrides indices)
      : call(call), values(std::move(values)), indices(std::move(indices)),
        rows(call.input.lengths.size()) {
    for (size_t i = rows.size(); i-- > 0;) {
      if (static_cast<int>(i) == call.dim)
        continue;
      rows[i] = call.input.lengths[i] == 1 ? 0 : count;
      count *= call.input.lengths[i];
    }
  }

  ApiResult run();

private:
  static constexpr int kBits = 32;

  RowWiseCall makeStep(int bit, const State &from, const State &to) const {
    RowWiseCall rowCall(call.handle, RowWiseKind::KthStep, 0,
                        call.input.lengths);
    return rowCall.reduce(call.dim)
        .add(RowRole::Input, "input", call.input, call.data)
        .add(RowRole::Input, "key", DataType::I32, rows, from.key)
        .add(RowRole::Input, "k", DataType::I32, rows, from.k)
        .add(RowRole::RowOutput, "key", DataType::I32, rows, to.key)
        .add(RowRole::RowOutput, "k", DataType::I32, rows, to.k)
        .scalar(bit);
  }
  RowWiseCall makeFind(const State &state) const {
    RowWiseCall rowCall(call.handle, RowWiseKind::KthFind, 0,
                        call.input.lengths);
    return rowCall.reduce(call.dim)
        .add(RowRole::Input, "input", call.input, call.data)
        .add(RowRole::Input, "key", DataType::I32, rows, state.key)
        .add(RowRole::RowOutput, "output", *getRowType(call.output.dataType),
             values, call.values)
        .add(RowRole::RowOutput, "indices", DataType::I64, indices, call.found);
  }
  ApiResult set(void *words, size_t value) const {
    const int64_t lengths[] = {count};
    return RowWiseCall(call.handle, RowWiseKind::SetTensor, 0, lengths)
        .add(RowRole::Output, "state", DataType::I32, RowStrides{1}, words)
        .integer(static_cast<int64_t>(value))
        .run(nullptr);
  }

  const KthCall &call;
  RowStrides values, indices;
  RowStrides rows;   ///< Of a state, packed.
  int64_t count = 1; ///< Rows.
};
} // namespace

ApiResult KthSearch::run() {
  constexpr int64_t kAlignment = 256;
  const int64_t bytes = (count * 4 + kAlignment - 1) / kAlignment * kAlignment;
  // The kernels are asked for their workspace before their memory exists.
  char address[4];
  const State none{&address[0], &address[1]}, other{&address[2], &address[3]};
  const ErrorOr<size_t> step = makeStep(0, none, other).getWorkspaceBytes();
  const ErrorOr<size_t> find = makeFind(none).getWorkspaceBytes();
  if (!step || !find)
    return step ? find.getStatus() : step.getStatus();
  const ErrorOr<void *> scratch = call.handle.getScratch(
      static_cast<size_t>(4 * bytes) + std::max(*step, *find));
  if (!scratch)
    return scratch.getStatus();
  char *memory = static_cast<char *>(*scratch);
  void *workspace = memory + 4 * bytes;
  State from{memory, memory + bytes};
  State to{memory + 2 * bytes, memory + 3 * bytes};
  const KernelTimeSum sum(call.handle);
  ApiResult result = set(from.key, 0);
  if (result.getStatus() == miopenStatusSuccess)
    result = set(from.k, call.k);
  for (int bit = kBits;
       bit-- > 0 && result.getStatus() == miopenStatusSuccess;) {
    result = makeStep(bit, from, to).run(workspace);
    std::swap(from, to);
  }
  if (result.getStatus() != miopenStatusSuccess)
    return result;
  return makeFind(from).run(workspace);
}

static ApiResult runKthValue(const KthCall &call) {
  if (Status status = check(call); !status.isOk())
    return status;
  ErrorOr<RowStrides> values = getResultStrides(call, "output", call.output);
  ErrorOr<RowStrides> indices = getResultStrides(call, "indices", call.indices);
  if (!values || !indices)
    return values ? indices.getStatus() : values.getStatus();
  if (Status status = checkFloat(call.input); !status.isOk())
    return status;
  return KthSearch(call, std::move(*values), std::move(*indices)).run();
}

extern "C" {

miopenStatus_t
miopenKthvalueForward(miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
                      const void *input, miopenTensorDescriptor_t outputDesc,
                      void *output, miopenTensorDescriptor_t indicesDesc,
                      size_t *indices, size_t k, int32_t dim, bool keepDim) {
  return guard(__func__,
               REQUIRED(handle, inputDesc, input, outputDesc, output,
                        indicesDesc, indices),
               [&]() -> ApiResult {
                 const int rank = inputDesc->getRank();
                 if (dim < -rank || dim >= rank)
                   return invalidArgument("the input has no dimension " +
                                          std::to_string(dim));
                 return runKthValue({*handle, *inputDesc, *outputDesc,
                                     *indicesDesc, input, output, indices, k,
                                     dim < 0 ? dim + rank : dim, keepDim});
               });
}

} // extern "C"
