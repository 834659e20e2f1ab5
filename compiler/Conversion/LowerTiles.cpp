//===- LowerTiles.cpp - Turn tile programs into GPU functions -------------===//
//
// Puts the parts together: the workgroup's tile, the two copies, the wave's
// product, the main loop and the epilogue, each in a file of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/DirectCopy.h"
#include "compiler/Conversion/Epilogue.h"
#include "compiler/Conversion/GlobalBuffer.h"
#include "compiler/Conversion/KernelFunction.h"
#include "compiler/Conversion/MainLoop.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/TileProgram.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERTILES
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

/// The kernel's frame, with the LDS buffers of each factor.
static gpu::GPUFuncOp createFunction(TileProgram &program,
                                     const DeviceOps &device) {
  auto space = gpu::AddressSpaceAttr::get(program.function.getContext(),
                                          gpu::AddressSpace::Workgroup);
  SmallVector<Type> lds;
  for (uint64_t buffer = 0; buffer < program.pipeline.getBuffers(); ++buffer)
    for (dnn::TileType tile :
         {program.loadM.getType(), program.loadN.getType()})
      lds.push_back(MemRefType::get({tile.getShape()[0] * tile.getShape()[1]},
                                    tile.getElementType(),
                                    MemRefLayoutAttrInterface(), space));
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  gpu::GPUFuncOp kernel = createKernel(program.function, lds, program.threads,
                                       counts[0] * counts[1] * counts[2]);
  // Chunks are moved as one, which not every vendor's linker knows to align.
  for (unsigned i = 0; i < lds.size(); ++i)
    kernel.setWorkgroupAttributionAttr(
        i,
        StringAttr::get(kernel.getContext(),
                        LLVM::LLVMDialect::getAlignAttrName()),
        IntegerAttr::get(IntegerType::get(kernel.getContext(), 64),
                         kChunkBytes));
  device.setKernelAttributes(kernel, program.getAccumulatorRegisters());
  return kernel;
}

/// Group, first row and first column of this workgroup's tile; n fastest.
static std::array<Value, 3> emitTilePosition(Emitter &e,
                                             dnn::ForEachTileOp tiles) {
  ArrayRef<int64_t> counts = tiles.getCounts();
  Value id = e.device.emitBlockId(e);
  Value n = e.remu(id, counts[2]);
  Value rest = e.divu(id, counts[2]);
  Value m = e.remu(rest, counts[1]);
  Value group = counts[0] == 1 ? e.constant(0) : e.divu(rest, counts[1]);
  return {group, e.mul(m, tiles.getTile()[0]), e.mul(n, tiles.getTile()[1])};
}

static ViewAccess getAccess(Value view) {
  return ViewAccess(TileProgram::getView(view));
}

/// A scalar that TileProgram found: an argument, or one that is truncated.
static Value emitScalar(Emitter &e, Value scalar, gpu::GPUFuncOp function) {
  auto truncation = scalar.getDefiningOp<arith::TruncFOp>();
  auto argument = cast<BlockArgument>(truncation ? truncation.getIn() : scalar);
  Value value = function.getArgument(argument.getArgNumber());
  if (value.getType() == scalar.getType())
    return value;
  return arith::TruncFOp::create(e.b, e.loc, scalar.getType(), value);
}

static void emitBody(OpBuilder &b, TileProgram &program,
                     gpu::GPUFuncOp function, const DeviceOps &device) {
  const GpuTarget &target = device.getTarget();
  Emitter e(b, function.getLoc(), &function.getBody().front(), device);
  ViewAccess accessM = getAccess(program.loadM.getView());
  ViewAccess accessN = getAccess(program.loadN.getView());
  Value thread = device.emitThreadId(e, program.threads);
  auto position = emitTilePosition(e, program.tiles);
  Value group = position[0], row0 = position[1], column0 = position[2];
  auto getBuffer = [&](const ViewAccess &access, Value first,
                       int64_t headroom = 0) {
    auto argument = cast<BlockArgument>(access.getSource());
    return makeBuffer(e, access, function.getArgument(argument.getArgNumber()),
                      group, first, headroom);
  };
  Value lane = e.andi(thread, target.waveSize - 1);
  Value wave =
      device.emitUniform(e, e.shru(thread, llvm::Log2_32(target.waveSize)));

  int64_t step = program.pipeline.getStep();
  int64_t bytes = accessM.getElementBytes();
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  ArrayRef<int64_t> waves = program.mma.getWaves();
  LdsTile ldsM = chooseLdsTile(accessM, acc[0], step, program.threads, target);
  LdsTile ldsN = chooseLdsTile(accessN, acc[1], step, program.threads, target);
  auto createCopy = [&](const ViewAccess &access, const LdsTile &lds,
                        Value first) -> std::unique_ptr<TileCopy> {
    if (program.isDirect())
      return std::make_unique<DirectCopy>(
          e, access, lds, program.walk,
          getBuffer(access, first, DirectCopy::kHeadroom), program.threads,
          thread);
    return createTileCopy(e, access, lds, program.walk,
                          getBuffer(access, first), program.threads, thread);
  };
  auto copyM = createCopy(accessM, ldsM, row0);
  auto copyN = createCopy(accessN, ldsN, column0);
  TileMma mma(e, program.instruction, ldsM, ldsN, waves[0], waves[1],
              program.mma.getLanes() == dnn::TileDim::N, lane,
              e.divu(wave, waves[1]), e.remu(wave, waves[1]),
              accessM.getElementType());
  LdsBuffers buffers;
  for (auto [i, buffer] : llvm::enumerate(function.getWorkgroupAttributions()))
    (i % 2 == 0 ? buffers.m : buffers.n).push_back(buffer);
  bool pinned = program.pipeline.getSchedule() == dnn::ScheduleKind::Pinned;
  MainLoop loop(e, *copyM, *copyN, mma, program.walk, step * bytes,
                std::move(buffers), pinned);
  SmallVector<Value> accumulators = loop.emit();
  emitEpilogue(
      e, program.store, mma,
      {accumulators, lane, row0, column0,
       [&](const ViewAccess &access) { return getBuffer(access, row0); },
       [&](Value scalar) { return emitScalar(e, scalar, function); }});
  gpu::ReturnOp::create(b, e.loc);
}

namespace {
struct LowerTiles : tessera::impl::LowerTilesBase<LowerTiles> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerDeviceDialects(registry);
  }

  LogicalResult lower(func::FuncOp function, const DeviceOps &device) {
    TileProgram program;
    if (failed(matchTileProgram(function, device.getTarget(), program)))
      return failure();
    gpu::GPUFuncOp kernel = createFunction(program, device);
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    emitBody(b, program, kernel, device);
    function.erase();
    return success();
  }

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    std::unique_ptr<DeviceOps> device = createDeviceOps(*target);
    gpu::GPUModuleOp kernels = getKernelModule(getOperation());
    for (auto function :
         llvm::make_early_inc_range(kernels.getOps<func::FuncOp>()))
      if (failed(lower(function, *device)))
        return signalPassFailure();
  }
};
} // namespace
