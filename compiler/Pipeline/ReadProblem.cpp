//===- ReadProblem.cpp - The problem that a dnn module states -------------===//

#include "compiler/Pipeline/ReadProblem.h"
#include "dialect/IR/Dnn.h"

#include "mlir/IR/BuiltinOps.h"

using namespace tessera;

static std::optional<DataType> getDataType(mlir::Type type) {
  if (type.isF16())
    return DataType::F16;
  if (type.isBF16())
    return DataType::BF16;
  if (type.isF32())
    return DataType::F32;
  return std::nullopt;
}

static Layout getLayout(dnn::Layout layout) {
  return layout == dnn::Layout::NCHW ? Layout::NCHW : Layout::NHWC;
}

ErrorOr<Problem> tessera::readProblem(mlir::ModuleOp module) {
  llvm::SmallVector<dnn::ConvOp> convs;
  module.walk([&](dnn::ConvOp conv) { convs.push_back(conv); });
  if (convs.size() != 1)
    return notSupported("a module has one dnn.conv, not " +
                        std::to_string(convs.size()));
  dnn::ConvOp conv = convs.front();
  std::optional<DataType> dataType = getDataType(conv.getElementType());
  if (!dataType)
    return notSupported("no data type corresponds to the convolution's");

  // The verifier admits the direction `forward` alone.
  dnn::ConvDims dims = conv.getDims();
  ConvProblem problem;
  problem.dataType = *dataType;
  problem.xLayout = getLayout(conv.getXLayout());
  problem.wLayout = getLayout(conv.getWLayout());
  problem.yLayout = getLayout(conv.getYLayout());
  problem.batch = dims.n;
  problem.inChannels = dims.c;
  problem.outChannels = dims.k;
  problem.groups = dims.groups;
  problem.in = {dims.h, dims.w};
  problem.filter = {dims.y, dims.x};
  problem.pad = {dims.padH, dims.padW};
  problem.stride = {dims.strideH, dims.strideW};
  problem.dilation = {dims.dilationH, dims.dilationW};
  return Problem(problem);
}
