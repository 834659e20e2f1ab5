//===- KernelFunction.cpp - The frame of a GPU kernel ---------------------===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tessera;

const GpuTarget *tessera::getModuleTarget(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(dnn::kTargetAttrName);
  const GpuTarget *target = name ? findTarget(name.getValue()) : nullptr;
  if (!target)
    module.emitOpError() << "needs the attribute '" << dnn::kTargetAttrName
                         << "' naming one of " << getTargetNames();
  return target;
}

gpu::GPUModuleOp tessera::getKernelModule(ModuleOp module) {
  auto found = module.getOps<gpu::GPUModuleOp>();
  if (!found.empty())
    return *found.begin();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto kernels = gpu::GPUModuleOp::create(b, module.getLoc(), "kernels");
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function->hasAttr(dnn::kKernelAttrName))
      function->moveBefore(kernels.getBody(), kernels.getBody()->end());
  return kernels;
}

gpu::GPUFuncOp tessera::createKernelFrame(func::FuncOp function,
                                          ArrayRef<Type> inputs,
                                          ArrayRef<Type> lds, int64_t threads,
                                          int64_t workgroups) {
  OpBuilder b(function);
  auto kernel = gpu::GPUFuncOp::create(b, function.getLoc(), function.getName(),
                                       b.getFunctionType(inputs, {}), lds);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  auto toAttr = [&](int64_t size) {
    return b.getDenseI32ArrayAttr({static_cast<int32_t>(size), 1, 1});
  };
  kernel.setKnownBlockSizeAttr(toAttr(threads));
  if (workgroups > 0)
    kernel.setKnownGridSizeAttr(toAttr(workgroups));
  return kernel;
}

gpu::GPUFuncOp tessera::createKernel(func::FuncOp function, ArrayRef<Type> lds,
                                     int64_t threads, int64_t workgroups,
                                     ArrayRef<TensorMap> maps) {
  Builder b(function.getContext());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 1);
  SmallVector<Type> inputs(maps.size(),
                           LLVM::LLVMPointerType::get(b.getContext()));
  for (Type type : function.getArgumentTypes())
    inputs.push_back(isa<MemRefType>(type) ? pointer : type);
  gpu::GPUFuncOp kernel =
      createKernelFrame(function, inputs, lds, threads, workgroups);
  if (!maps.empty())
    setTensorMaps(kernel, maps);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const unsigned index = maps.size() + i;
    if (inputs[index] == pointer)
      kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
    for (StringRef name :
         {dnn::kArgAttrName, dnn::kBytesAttrName, dnn::kOffsetAttrName})
      if (Attribute attr = function.getArgAttr(i, name))
        kernel.setArgAttr(index, name, attr);
  }
  return kernel;
}

void tessera::setTensorMaps(gpu::GPUFuncOp kernel, ArrayRef<TensorMap> maps) {
  Builder b(kernel.getContext());
  SmallVector<std::string> texts;
  for (const TensorMap &map : maps)
    texts.push_back(map.toText());
  kernel->setAttr(
      dnn::kTensorMapsAttrName,
      b.getStrArrayAttr(SmallVector<StringRef>(texts.begin(), texts.end())));
  // For the backend, which passes them by value.
  Attribute count = b.getStrArrayAttr(
      {dnn::kTensorMapsAttrName, std::to_string(maps.size())});
  kernel->setAttr("passthrough", b.getArrayAttr(count));
}

std::optional<SizeExpr> tessera::getOpenOffset(Value tensor) {
  auto argument = cast<BlockArgument>(tensor);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto text = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    dnn::kOffsetAttrName);
  const ErrorOr<SizeExpr> offset =
      parseSizeExpr(text ? text.getValue() : StringRef());
  return offset ? std::optional(*offset) : std::nullopt;
}

void tessera::setOpenOffset(TensorMap &map, Value tensor) {
  const std::optional<SizeExpr> offset = getOpenOffset(tensor);
  if (!offset)
    return;
  if (const std::optional<int64_t> known = offset->getNumber())
    map.offset += *known;
  else
    map.open.push_back({TensorMap::List::Offset, 0, *offset, SizeExpr()});
}

FailureOr<KernelArg> tessera::getMappedTensor(func::FuncOp function,
                                              BlockArgument argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    dnn::kArgAttrName);
  std::optional<KernelArg> arg = parseKernelArg(name ? name.getValue() : "");
  if (!arg)
    return function.emitOpError()
           << "needs '" << dnn::kArgAttrName << "' on argument "
           << argument.getArgNumber() << " to describe it by a tensor map";
  return *arg;
}
