//===- LowerTiles.cpp - Turn tile programs into GPU functions -------------===//
//
// Puts the parts together: the workgroup's tile, the two copies, the wave's
// product, the main loop and the epilogue, each in a file of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/LowerAmpere.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Cooperative/TileFrame.h"
#include "compiler/Conversion/Cooperative/WindowLoop.h"
#include "compiler/Conversion/Passes.h"

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

/// The LDS of both operands.
static SmallVector<Type> getLdsTypes(TileProgram &program) {
  return {getLdsType(program, program.window.getElements()),
          getLdsType(program, program.resident.getElements())};
}

/// Loads this thread's share of the windows of the frame's tile.
static SmallVector<Value> loadWindow(TileFrame &f) {
  return loadWindow(f.e, f.program.window, f.getArgument(f.accessM.getSource()),
                    f.group, f.row0, {f.program.threads, f.thread});
}

/// The filter is there. A workgroup takes tiles in turn, and loads the windows
/// of the next while it multiplies those of one.
static void emitTurns(TileFrame &f, TileMma &mma, Value bufferM,
                      Value bufferN) {
  TileProgram &program = f.program;
  HeldFragments held = holdFragments(mma, bufferN);
  auto loop = scf::ForOp::create(
      f.e.b, f.e.loc, f.block, f.e.constant(program.countTiles()),
      f.e.constant(program.getWorkgroups()), loadWindow(f));
  OpBuilder::InsertionGuard guard(f.e.b);
  f.e.b.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  stageWindow(f.e, program.window, loop.getRegionIterArgs(),
              {program.threads, f.thread}, bufferM);
  f.e.device.emitLdsBarrier(f.e);
  // Behind the last tile there are no images, and nothing is loaded.
  f.enterTile(f.e.add(tile, program.getWorkgroups()));
  SmallVector<Value> next = loadWindow(f);
  f.enterTile(tile);
  SmallVector<Value> sums = emitWholeProduct(f.e, mma, bufferM, bufferN, held);
  f.e.device.emitLdsBarrier(f.e);
  f.emitStore(mma, sums);
  scf::YieldOp::create(f.e.b, f.e.loc, next);
}

/// Both factors to LDS, and their product.
static void emitWhole(TileFrame &f) {
  TileProgram &program = f.program;
  Value bufferM = f.lds[0], bufferN = f.lds[1];
  ThreadPlace place{program.threads / f.target.waveSize, f.target.waveSize,
                    f.wave, f.lane};
  const bool isPersistent = program.tiles.getPersistent().has_value();
  if (isPersistent)
    f.enterTile(f.block);
  else
    stageWindow(f.e, program.window, loadWindow(f), {program.threads, f.thread},
                bufferM);
  stageResident(f.e, f.accessN, program.resident,
                f.getBuffer(f.accessN, f.column0), place, bufferN);
  f.e.device.emitLdsBarrier(f.e);
  auto getLds = [&](int64_t rows) {
    return LdsTile{rows, program.resident.step, program.resident.elementBytes,
                   f.target.ldsBanks};
  };
  TileMma mma = f.makeMma(
      getLds(program.rowsM), getLds(program.rowsN),
      [&](const FragmentPlace &place) {
        return readWindow(f.e, program.window, place);
      },
      [&](const FragmentPlace &place) {
        return readResident(f.e, program.resident, place);
      });
  if (isPersistent)
    return emitTurns(f, mma, bufferM, bufferN);
  f.emitStore(mma, emitWholeProduct(f.e, mma, bufferM, bufferN));
}

static void emitBody(OpBuilder &b, TileProgram &program,
                     gpu::GPUFuncOp function, const DeviceOps &device) {
  TileFrame frame(b, program, function, device);
  if (!program.tiles.getPersistent())
    frame.enterTile(frame.block);
  frame.findThreads(getLdsTypes(program));
  emitWhole(frame);
  gpu::ReturnOp::create(b, function.getLoc());
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
    if (program.isTma() && !device.getTarget().hasTma)
      return program.pipeline.emitOpError()
             << "has copy tma, but " << device.getTarget().name
             << " has no wgmma to feed";
    if (program.isTma())
      return program.pipeline.emitOpError(
          "has copy tma, which dnn-expand-pipeline lowers");
    if (program.isAmpere()) {
      if (failed(lowerAmpere(program, device)))
        return failure();
      function.erase();
      return success();
    }
    if (!program.isWhole())
      return program.pipeline.emitOpError(
          "is a main loop, which dnn-expand-pipeline lowers");
    TileLaunch launch{program.getWorkgroups(), {}, {}};
    if (program.tiles.getPersistent())
      launch.perUnit = llvm::divideCeil(*program.tiles.getPersistent(),
                                        device.getTarget().computeUnits);
    gpu::GPUFuncOp kernel =
        createTileFunction(program, getLdsTypes(program), launch, device);
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
