//===- RowCall.cpp - One call of a primitive on rows ----------------------===//

#include "capi/lib/RowCall.h"

#include "runtime/Base/Log.h"

#include <string>

using namespace tessera;
using namespace tessera::capi;

ErrorOr<DataType> capi::getRowType(miopenDataType_t type) {
  switch (type) {
  case miopenHalf:
    return DataType::F16;
  case miopenBFloat16:
    return DataType::BF16;
  case miopenFloat:
    return DataType::F32;
  case miopenDouble:
    return DataType::F64;
  case miopenInt8:
    return DataType::I8;
  case miopenInt32:
    return DataType::I32;
  case miopenInt64:
    return DataType::I64;
  default:
    return notSupported("data type " + std::to_string(type) +
                        " is not implemented here");
  }
}

RowCall::RowCall(RowOp op, uint32_t mode, std::span<const int64_t> lengths,
                 uint32_t reduced) {
  problem.op = op;
  problem.mode = mode;
  problem.reduced = reduced;
  if (lengths.empty() || lengths.size() > kMaxRowRank) {
    fail(invalidArgument("a tensor has " + std::to_string(lengths.size()) +
                         " dimensions, but must have between 1 and " +
                         std::to_string(kMaxRowRank)));
    return;
  }
  problem.rank = static_cast<int>(lengths.size());
  std::copy(lengths.begin(), lengths.end(), problem.lengths.begin());
}

void RowCall::fail(Status next) {
  if (status.isOk())
    status = std::move(next);
}

void RowCall::addInput(const miopenTensorDescriptor &tensor,
                       const void *memory) {
  add(RowRole::Input, tensor, memory);
}

void RowCall::addRowOutput(const miopenTensorDescriptor &tensor, void *memory) {
  add(RowRole::RowOutput, tensor, memory);
}

void RowCall::addOutput(const miopenTensorDescriptor &tensor, void *memory) {
  add(RowRole::Output, tensor, memory);
}

void RowCall::add(RowRole role, const miopenTensorDescriptor &tensor,
                  const void *memory) {
  if (!status.isOk())
    return;
  const std::string name = "tensor " + std::to_string(problem.tensorCount);
  if (tensor.getRank() != problem.rank)
    return fail(invalidArgument(
        name + " has " + std::to_string(tensor.getRank()) +
        " dimensions, but the first has " + std::to_string(problem.rank)));
  Strides strides{};
  for (int dim = 0; dim < problem.rank; ++dim) {
    const bool hasOne = role == RowRole::Output      ? false
                        : role == RowRole::RowOutput ? problem.isReduced(dim)
                                                     : tensor.lengths[dim] == 1;
    const int64_t expected = hasOne ? 1 : problem.lengths[dim];
    if (tensor.lengths[dim] != expected)
      return fail(invalidArgument("length " + std::to_string(dim) + " of " +
                                  name + " is " +
                                  std::to_string(tensor.lengths[dim]) +
                                  ", but must be " + std::to_string(expected)));
    strides[dim] =
        hasOne || problem.lengths[dim] == 1 ? 0 : tensor.strides[dim];
  }
  add(role, tensor.dataType, strides, memory);
}

void RowCall::add(RowRole role, miopenDataType_t type, const Strides &strides,
                  const void *memory) {
  const ErrorOr<DataType> kernelType = getRowType(type);
  if (!kernelType)
    return fail(kernelType.getStatus());
  args.tensors[problem.tensorCount] = memory;
  problem.tensors[problem.tensorCount++] = {*kernelType, role, strides};
}

void RowCall::addScalar(double value) { args.scalars[scalarCount++] = value; }

ApiResult RowCall::run(miopenHandle &handle) {
  if (!status.isOk())
    return status;
  const RowProblem canonical = problem.canonicalize();
  if (Status valid = canonical.verify(); !valid.isOk())
    return valid;
  logCommand(canonical);
  const ErrorOr<const LoadedKernel *> kernel = handle.engine.prepare(canonical);
  if (!kernel)
    return kernel.getStatus();
  const ErrorOr<void *> scratch =
      handle.getScratch((*kernel)->getKernel().workspaceBytes);
  if (!scratch)
    return scratch.getStatus();
  args.workspace = *scratch;
  return handle.launch(**kernel, args);
}
