//===- CellKernel.cpp - What the kernels of cells have in common ----------===//

#include "compiler/Conversion/Ampere/CellKernel.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

using namespace mlir;
using namespace tessera;

CellKernel::CellKernel(OpBuilder &b, TileProgram &program,
                       gpu::GPUFuncOp function, int64_t threads,
                       const DeviceOps &device)
    : e(b, function.getLoc(), &function.getBody().front(), device),
      program(program), function(function), threads(threads) {
  shared =
      emitSharedBase(e, function->getParentOfType<gpu::GPUModuleOp>()).pointer;
  thread = device.emitThreadId(e, threads);
  warp = e.divu(thread, kWarpSize);
  place = LanePlace::make(e, e.remu(thread, kWarpSize));
}

Value CellKernel::getFirstElement(Value view) {
  const int64_t bytes = ViewAccess(TileProgram::getView(view)).getFirstBytes();
  Value pointer = getPointer(view);
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getI8Type(),
                             pointer, e.constant(e.b.getI64IntegerAttr(bytes)));
}

void CellKernel::waitForCopies(int64_t groups) {
  e.device.endDirectGroup(e);
  e.device.waitForDirectGroups(e, groups, /*loads=*/0);
  e.device.emitLdsBarrier(e);
}

StoreView CellKernel::viewStored(Value view, Value column, Value row) {
  ViewAccess access(TileProgram::getView(view));
  ArrayRef<int64_t> extents = program.store.getView().getType().getShape();
  ArrayRef<int64_t> tile = program.tiles.getTile();
  GlobalBuffer buffer = makeBuffer(e, access, getPointer(view), group, row0);
  return StoreView(e, std::move(access), std::move(buffer),
                   StoreSide{2, extents[2], tile[1], column, e.constant(0)},
                   StoreSide{1, extents[1], tile[0], row, row0});
}

/// Fails after an error unless a workgroup of `target` has so much memory.
static LogicalResult checkShared(TileProgram &program, int64_t bytes,
                                 const GpuTarget &target) {
  const int64_t limit = target.getMaxSharedBytes();
  if (bytes <= limit)
    return success();
  return program.pipeline.emitOpError()
         << "needs " << bytes << " bytes of LDS, but " << target.name << " has "
         << limit;
}

LogicalResult
tessera::emitCellKernel(TileProgram &program, const DeviceOps &device,
                        const CellLaunch &launch,
                        function_ref<void(CellKernel &)> emitBody) {
  const int64_t sharedBytes = launch.sharedBytes + kSharedAlignment;
  if (failed(checkShared(program, sharedBytes, device.getTarget())))
    return failure();
  gpu::GPUFuncOp function =
      createKernel(program.function, {}, launch.threads, launch.workgroups);
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  function->setAttr(dnn::kSharedBytesAttrName,
                    b.getI64IntegerAttr(sharedBytes));
  CellKernel kernel(b, program, function, launch.threads, device);
  emitBody(kernel);
  gpu::ReturnOp::create(b, function.getLoc());
  return success();
}
