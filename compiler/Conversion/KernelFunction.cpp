//===- KernelFunction.cpp - The frame of a GPU kernel ---------------------===//

#include "compiler/Conversion/KernelFunction.h"
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
  kernel.setKnownGridSizeAttr(toAttr(workgroups));
  return kernel;
}

gpu::GPUFuncOp tessera::createKernel(func::FuncOp function, ArrayRef<Type> lds,
                                     int64_t threads, int64_t workgroups) {
  Builder b(function.getContext());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 1);
  SmallVector<Type> inputs;
  for (Type type : function.getArgumentTypes())
    inputs.push_back(isa<MemRefType>(type) ? pointer : type);
  gpu::GPUFuncOp kernel =
      createKernelFrame(function, inputs, lds, threads, workgroups);
  for (unsigned i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == pointer)
      kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
    for (StringRef name : {dnn::kArgAttrName, dnn::kBytesAttrName})
      if (Attribute attr = function.getArgAttr(i, name))
        kernel.setArgAttr(i, name, attr);
  }
  return kernel;
}
