//===- ReadLaunches.cpp - How the kernels of a module are launched --------===//

#include "compiler/Pipeline/ReadLaunches.h"
#include "dialect/IR/Dnn.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <algorithm>

using namespace tessera;

/// The alignment in bytes that the kernel requires of an argument's address. It
/// defaults to that of the vendor's widest access.
static uint32_t readAlignment(mlir::gpu::GPUFuncOp kernel, unsigned argument,
                              KernelArg kind, const GpuTarget &target) {
  constexpr uint32_t kWidestOfNvidia = 16, kWidestOfAmd = 4;
  if (isScalar(kind))
    return 1;
  if (auto known = kernel.getArgAttrOfType<mlir::IntegerAttr>(
          argument, dnn::kAlignmentAttrName))
    return static_cast<uint32_t>(known.getInt());
  return target.vendor == Vendor::Nvidia ? kWidestOfNvidia : kWidestOfAmd;
}

/// Reads "size=EXPRESSION" or "divisor=EXPRESSION"; nothing if it is neither.
static std::optional<LaunchArg> readArgOfSizes(llvm::StringRef name) {
  const auto [word, text] = name.split('=');
  const std::optional<KernelArg> kind = parseKernelArg(word);
  const ErrorOr<SizeExpr> size = parseSizeExpr(text);
  if (!kind || !isOfSizes(*kind) || !size)
    return std::nullopt;
  return LaunchArg(*kind, *size);
}

/// The expression in an argument's attribute; 0 if it has none.
static SizeExpr readSize(mlir::gpu::GPUFuncOp kernel, unsigned index,
                         llvm::StringRef name) {
  auto text = kernel.getArgAttrOfType<mlir::StringAttr>(index, name);
  const ErrorOr<SizeExpr> size =
      parseSizeExpr(text ? text.getValue() : llvm::StringRef("0"));
  return size ? *size : SizeExpr();
}

/// Reads an argument, if it has a name, and the workspace that it asks for.
static void readArg(mlir::gpu::GPUFuncOp kernel, unsigned index,
                    const GpuTarget &target, LaunchRecipe &launch) {
  auto attribute =
      kernel.getArgAttrOfType<mlir::StringAttr>(index, dnn::kArgAttrName);
  const llvm::StringRef name = attribute ? attribute.getValue() : "";
  if (std::optional<LaunchArg> arg = readArgOfSizes(name)) {
    launch.args.push_back(std::move(*arg));
  } else if (std::optional<KernelArg> arg = parseKernelArg(name)) {
    launch.args.emplace_back(*arg, readAlignment(kernel, index, *arg, target));
    launch.args.back().size = readSize(kernel, index, dnn::kOffsetAttrName);
  }
  launch.workspace =
      maximum(launch.workspace, readSize(kernel, index, dnn::kBytesAttrName));
}

static LaunchRecipe readLaunch(mlir::gpu::GPUFuncOp kernel,
                               const GpuTarget &target) {
  LaunchRecipe launch;
  launch.symbol = kernel.getName().str();
  launch.grid[0] = 0;
  if (auto grid = kernel.getKnownGridSize())
    llvm::copy(*grid, launch.grid.begin());
  llvm::copy(*kernel.getKnownBlockSize(), launch.block.begin());
  if (auto size =
          kernel->getAttrOfType<mlir::StringAttr>(dnn::kWorkgroupsAttrName))
    if (ErrorOr<SizeExpr> parsed = parseSizeExpr(size.getValue()))
      launch.workgroups = *parsed;
  if (auto maps =
          kernel->getAttrOfType<mlir::ArrayAttr>(dnn::kTensorMapsAttrName))
    for (auto text : maps.getAsValueRange<mlir::StringAttr>())
      if (ErrorOr<TensorMap> map = parseTensorMap(text))
        launch.maps.push_back(*map);
  if (auto bytes =
          kernel->getAttrOfType<mlir::IntegerAttr>(dnn::kSharedBytesAttrName))
    launch.dynamicLdsBytes = bytes.getValue().getZExtValue();
  launch.isDependent = kernel->hasAttr(dnn::kDependentAttrName);
  for (unsigned i = 0; i != kernel.getNumArguments(); ++i)
    readArg(kernel, i, target, launch);
  return launch;
}

void tessera::readLaunches(mlir::ModuleOp module, const GpuTarget &target,
                           PipelineResult &result) {
  result.launches.clear();
  module.walk([&](mlir::gpu::GPUFuncOp kernel) {
    if (!kernel.isKernel())
      return;
    result.launches.push_back(readLaunch(kernel, target));
    for (unsigned i = 0; i != kernel.getNumArguments(); ++i)
      if (auto bytes = kernel.getArgAttrOfType<mlir::IntegerAttr>(
              i, dnn::kBytesAttrName))
        result.workspaceBytes = std::max<uint64_t>(
            result.workspaceBytes, bytes.getValue().getZExtValue());
  });
}
