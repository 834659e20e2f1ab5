//===- RowWiseCall.cpp - From descriptors to a row-wise launch ------------===//

#include "capi/lib/RowWise/RowWiseCall.h"
#include "runtime/Base/Log.h"
#include "runtime/DriverCommand/LogCommand.h"

#include <algorithm>
#include <cstring>

using namespace tessera;
using namespace tessera::capi;

ErrorOr<DataType> capi::getRowType(miopenDataType_t type) {
  const std::optional<DataType> known = findDataType(type);
  if (known && !isFloat8(*known))
    return *known;
  return notSupported("tensors of data type " + std::to_string(type) +
                      " are not implemented here");
}

double capi::readFactor(miopenDataType_t dataType, const void *factor) {
  return dataType == miopenDouble ? *static_cast<const double *>(factor)
                                  : *static_cast<const float *>(factor);
}

template <typename T>
static T read(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

double capi::readElement(DataType type, const void *element) {
  switch (type) {
  case DataType::F16:
    return static_cast<double>(read<_Float16>(element));
  case DataType::BF16:
    return __builtin_bit_cast(float, uint32_t(read<uint16_t>(element)) << 16);
  case DataType::F32:
    return read<float>(element);
  case DataType::F64:
    return read<double>(element);
  case DataType::I8:
    return read<int8_t>(element);
  case DataType::I32:
    return read<int32_t>(element);
  case DataType::I64:
    return static_cast<double>(read<int64_t>(element));
  default: // No row-wise operation has floats of 8 bits.
    __builtin_unreachable();
  }
}

Status capi::checkFloat(const miopenTensorDescriptor &desc) {
  switch (desc.dataType) {
  case miopenHalf:
  case miopenBFloat16:
  case miopenFloat:
  case miopenDouble:
    return Status::ok();
  default:
    return notSupported("data type " + std::to_string(desc.dataType) +
                        " is not implemented here; half, bfloat16, float and "
                        "double are");
  }
}

ApiResult capi::checkFactors(miopenDataType_t dataType, const void *alpha,
                             const void *beta) {
  if (readFactor(dataType, alpha) != 1 || readFactor(dataType, beta) != 0)
    return {miopenStatusUnknownError,
            "only alpha = 1 and beta = 0 are supported"};
  return Status::ok();
}

Status capi::checkSameLengths(const char *name,
                              const miopenTensorDescriptor &desc,
                              const char *otherName,
                              const miopenTensorDescriptor &other) {
  if (desc.lengths == other.lengths)
    return Status::ok();
  return invalidArgument(std::string(name) + " and " + otherName +
                         " have different lengths");
}

Status capi::checkSameType(const char *name, const miopenTensorDescriptor &desc,
                           const char *otherName,
                           const miopenTensorDescriptor &other) {
  if (desc.dataType == other.dataType)
    return Status::ok();
  return invalidArgument(std::string(name) + " and " + otherName +
                         " have different data types");
}

//===----------------------------------------------------------------------===//
// RowWiseCall
//===----------------------------------------------------------------------===//

/// Whether the tensors of a client may be integers.
static bool takesIntegers(RowWiseKind op) {
  switch (op) {
  case RowWiseKind::ActivationForward:
  case RowWiseKind::ActivationBackward:
  case RowWiseKind::OpTensor:
  case RowWiseKind::SetTensor:
  case RowWiseKind::ScaleTensor:
  case RowWiseKind::TransformTensor:
    return true;
  default:
    return false;
  }
}

RowWiseCall::RowWiseCall(miopenHandle &handle, RowWiseKind op, uint32_t mode,
                         std::span<const int64_t> lengths)
    : handle(handle), op(op), mode(mode),
      lengths(lengths.begin(), lengths.end()), reduced(lengths.size()) {
  if (lengths.empty())
    fail(invalidArgument("a tensor descriptor was never set"));
}

void RowWiseCall::fail(Status failure) {
  if (status.isOk())
    status = std::move(failure);
}

RowWiseCall &RowWiseCall::reduce(int dim) {
  reduced[dim] = true;
  return *this;
}

RowWiseCall &RowWiseCall::add(RowRole role, const char *name,
                              const miopenTensorDescriptor &desc,
                              const void *data) {
  const ErrorOr<DataType> type = getRowType(desc.dataType);
  if (!type) {
    fail(type.getStatus().withContext(name));
    return *this;
  }
  // Elements of an array of tensors, which guard() does not see.
  if (desc.hasVectors()) {
    fail(notSupported(std::string(name) +
                      " has a layout with blocks of channels, which is not "
                      "implemented here"));
    return *this;
  }
  if (!takesIntegers(op) && unsupported.isOk())
    if (Status isFloat = checkFloat(desc); !isFloat.isOk())
      unsupported = isFloat.withContext(name);
  if (desc.lengths.size() != lengths.size()) {
    fail(invalidArgument(
        std::string(name) + " has " + std::to_string(desc.lengths.size()) +
        " dimensions, but must have " + std::to_string(lengths.size())));
    return *this;
  }
  std::vector<int64_t> strides = desc.strides;
  for (size_t dim = 0; dim < lengths.size(); ++dim) {
    const bool isOne = role == RowRole::RowOutput && reduced[dim];
    const int64_t expected = isOne ? 1 : lengths[dim];
    if (desc.lengths[dim] == 1)
      strides[dim] = 0;
    if (desc.lengths[dim] != expected &&
        !(role == RowRole::Input && desc.lengths[dim] == 1))
      fail(invalidArgument("length " + std::to_string(dim) + " of " + name +
                           " is " + std::to_string(desc.lengths[dim]) +
                           ", but must be " + std::to_string(expected)));
  }
  return add(role, name, *type, strides, data);
}

RowWiseCall &RowWiseCall::add(RowRole role, const char *name, DataType type,
                              std::span<const int64_t> strides,
                              const void *data) {
  tensors.push_back({name, role, type, {strides.begin(), strides.end()}, data});
  return *this;
}

RowWiseCall &RowWiseCall::scalar(double value) {
  scalars.push_back(value);
  return *this;
}

RowWiseCall &RowWiseCall::integer(int64_t value) {
  constexpr int kBits = 22;
  constexpr int64_t kMask = (1 << kBits) - 1;
  return scalar(static_cast<double>(value >> 2 * kBits))
      .scalar(static_cast<double>(value >> kBits & kMask))
      .scalar(static_cast<double>(value & kMask));
}

bool RowWiseCall::canMerge(size_t dim) const {
  if (reduced[dim] != reduced[dim + 1])
    return false;
  return lengths[dim] == 1 ||
         std::ranges::all_of(tensors, [&](const Tensor &tensor) {
           int64_t behind;
           return !__builtin_mul_overflow(tensor.strides[dim + 1],
                                          lengths[dim + 1], &behind) &&
                  tensor.strides[dim] == behind;
         });
}

RowWiseCall RowWiseCall::fold() const {
  RowWiseCall folded = *this;
  auto erase = [](auto &values, size_t dim) {
    values.erase(values.begin() + static_cast<ptrdiff_t>(dim));
  };
  for (size_t dim = lengths.size(); dim-- > 0;) {
    const bool isMerged =
        dim + 1 < folded.lengths.size() && folded.canMerge(dim);
    if (isMerged)
      folded.lengths[dim + 1] *= folded.lengths[dim];
    else if (folded.lengths[dim] != 1 || folded.reduced[dim])
      continue;
    erase(folded.lengths, dim);
    erase(folded.reduced, dim);
    for (Tensor &tensor : folded.tensors)
      erase(tensor.strides, dim);
  }
  return folded;
}

ErrorOr<RowWiseProblem> RowWiseCall::getProblem() const {
  if (!status.isOk())
    return status;
  if (lengths.size() > kMaxRowRank) {
    const RowWiseCall folded = fold();
    if (folded.lengths.size() <= kMaxRowRank)
      return folded.getProblem();
    return notSupported("tensors of more than " + std::to_string(kMaxRowRank) +
                        " dimensions that cannot be merged are not "
                        "implemented");
  }
  RowWiseProblem problem;
  problem.op = op;
  problem.mode = mode;
  problem.rank = std::max(static_cast<int>(lengths.size()), 1);
  problem.tensorCount = static_cast<int>(tensors.size());
  std::ranges::copy(lengths, problem.lengths.begin());
  for (size_t dim = 0; dim < lengths.size(); ++dim)
    problem.reduced |= uint32_t(reduced[dim]) << dim;
  for (size_t i = 0; i < tensors.size(); ++i) {
    problem.tensors[i].type = tensors[i].type;
    problem.tensors[i].role = tensors[i].role;
    std::ranges::copy(tensors[i].strides, problem.tensors[i].strides.begin());
  }
  if (Status bad = problem.verify(); !bad.isOk())
    return bad;
  if (!unsupported.isOk())
    return unsupported;
  return problem.canonicalize();
}

/// InvalidArgument if a result is the memory of another tensor, unless that is
/// an input with the same type and strides: then each element is read before it
/// is overwritten.
Status RowWiseCall::checkAliases() const {
  for (const Tensor &written : tensors)
    for (const Tensor &other : tensors) {
      if (written.role == RowRole::Input || &written == &other ||
          written.data != other.data)
        continue;
      if (other.role != RowRole::Input || other.type != written.type ||
          other.strides != written.strides)
        return invalidArgument(std::string(written.name) + " and " +
                               other.name +
                               " are the same memory, but only an input and a "
                               "result of the same data type and strides may "
                               "be");
    }
  return Status::ok();
}

ErrorOr<const LoadedKernel *> RowWiseCall::prepare() const {
  const ErrorOr<RowWiseProblem> problem = getProblem();
  if (!problem)
    return problem.getStatus();
  if (Status bad = checkAliases(); !bad.isOk())
    return bad;
  logCommand(*problem);
  return handle.engine.prepare(*problem);
}

LaunchArgs RowWiseCall::getArgs(void *workspace) const {
  LaunchArgs args;
  args.workspace = workspace;
  for (size_t i = 0; i < tensors.size(); ++i)
    args.tensors[i] = tensors[i].data;
  std::ranges::copy(scalars, args.scalars.begin());
  return args;
}

ErrorOr<size_t> RowWiseCall::getWorkspaceBytes() const {
  const ErrorOr<const LoadedKernel *> kernel = prepare();
  if (!kernel)
    return kernel.getStatus();
  return static_cast<size_t>((*kernel)->getKernel().workspaceBytes);
}

ApiResult RowWiseCall::run(void *workspace) const {
  const ErrorOr<const LoadedKernel *> kernel = prepare();
  if (!kernel)
    return kernel.getStatus();
  return handle.launch(**kernel, getArgs(workspace));
}

ApiResult RowWiseCall::run() const {
  const ErrorOr<const LoadedKernel *> kernel = prepare();
  if (!kernel)
    return kernel.getStatus();
  const ErrorOr<void *> scratch =
      handle.getScratch((*kernel)->getKernel().workspaceBytes);
  if (!scratch)
    return scratch.getStatus();
  return handle.launch(**kernel, getArgs(*scratch));
}
