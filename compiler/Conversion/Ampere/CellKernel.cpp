//===- CellKernel.cpp - What the kernels of cells have in common ----------===//

#include "compiler/Conversion/Ampere/CellKernel.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

using namespace mlir;
using namespace tessera;

CellKernel::CellKernel(OpBuilder &b, TileProgram &program,
                       gpu::GPUFuncOp function, int64_t threads,
                       const DeviceOps &device)
    : sizes(program.function),
      e(b, function.getLoc(), &function.getBody().front(), device),
      program(program), function(function), threads(threads) {
  sizes.setKernel(function);
  e.sizes = &sizes;
  shared =
      emitSharedBase(e, function->getParentOfType<gpu::GPUModuleOp>()).pointer;
  thread = device.emitThreadId(e, threads);
  warp = e.divu(thread, kWarpSize);
  place = LanePlace::make(e, e.remu(thread, kWarpSize));
}

Value CellKernel::getFirstElement(dnn::ViewOp view) {
  const int64_t bytes = ViewAccess(view).getFirstBytes();
  Value pointer = getArgument(view.getSource());
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                             pointer, e.constant(e.b.getI64IntegerAttr(bytes)));
}

StoreView CellKernel::viewStored(dnn::ViewOp view, Value column, Value row) {
  ViewAccess access(view);
  const ViewAccess stored(program.viewD);
  GlobalBuffer buffer =
      makeBuffer(e, access, getArgument(view.getSource()), group, row0);
  return StoreView(
      e, std::move(access), std::move(buffer),
      StoreSide{2, stored.getSpace(2).getExtent(), program.rowsN, column,
                e.constant(0)},
      StoreSide{1, stored.getSpace(1).getExtent(), program.rowsM, row, row0});
}

/// Fails after an error unless a workgroup of `target` has so much memory.
static LogicalResult checkShared(TileProgram &program, int64_t bytes,
                                 const GpuTarget &target) {
  const int64_t limit = target.getMaxSharedBytes();
  if (bytes <= limit)
    return success();
  return program.opLoop->emitOpError()
         << "needs " << bytes << " bytes of LDS, but " << target.name << " has "
         << limit;
}

LogicalResult
tessera::emitCellKernel(TileProgram &program, const DeviceOps &device,
                        const CellLaunch &launch,
                        function_ref<LogicalResult(CellKernel &)> emitBody) {
  const int64_t sharedBytes = launch.sharedBytes + kSharedAlignment;
  if (failed(checkShared(program, sharedBytes, device.getTarget())))
    return failure();
  gpu::GPUFuncOp function =
      createKernel(program.function, {}, launch.threads,
                   launch.openWorkgroups ? 0 : launch.workgroups);
  if (launch.openWorkgroups)
    function->setAttr(dnn::kWorkgroupsAttrName,
                      StringAttr::get(function.getContext(),
                                      launch.openWorkgroups->toText()));
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  function->setAttr(dnn::kSharedBytesAttrName,
                    b.getI64IntegerAttr(sharedBytes));
  CellKernel kernel(b, program, function, launch.threads, device);
  if (failed(emitBody(kernel)))
    return failure();
  gpu::ReturnOp::create(b, function.getLoc());
  return success();
}
