//===- DeviceOps.cpp - Where the vendors' instructions differ -------------===//

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Common/Emitter.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera;

int64_t tessera::getByteSize(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return (vector ? vector.getNumElements() : 1) *
         getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

std::unique_ptr<DeviceOps> tessera::createDeviceOps(const GpuTarget &target) {
  switch (target.vendor) {
  case Vendor::Amd:
    return createAmdDeviceOps(target);
  case Vendor::Nvidia:
    return createNvidiaDeviceOps(target);
  }
  llvm_unreachable("every vendor has device ops");
}

void tessera::registerDeviceDialects(DialectRegistry &registry) {
  registry
      .insert<amdgpu::AMDGPUDialect, NVVM::NVVMDialect, ROCDL::ROCDLDialect>();
}

Value tessera::callIntrinsic(Emitter &e, StringRef name, Type type,
                             ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(e.b, e.loc, type,
                                       e.b.getStringAttr(name), operands)
      .getResult(0);
}
