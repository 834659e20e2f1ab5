//===- LowerTiles.cpp - Turn tile programs into GPU functions -------------===//
//
// Puts the parts together: the workgroup's tile, the two copies, the wave's
// product, the main loop and the epilogue, each in a file of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/LowerAmpere.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Cooperative/HaloTiles.h"
#include "compiler/Conversion/Cooperative/MainLoop.h"
#include "compiler/Conversion/Cooperative/PlaneHaloLoop.h"
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

namespace {
/// The copies of both factors for the tile that a frame has entered.
struct Copies {
  std::unique_ptr<TileCopy> m, n;

  Copies(TileFrame &f, const TileFactor &factorM, const TileFactor &factorN)
      : m(createCopy(f, factorM, f.row0)),
        n(createCopy(f, factorN, f.column0)) {}
};
} // namespace

/// Where the split of this workgroup begins, in bytes of the walk; null if it
/// has all of the reduction. Splits are runs of groups.
static Value emitFirstPosition(TileFrame &f) {
  const std::optional<uint64_t> splits = f.program.pipeline.getSplits();
  if (!splits)
    return {};
  const int64_t groups = f.program.tiles.getCounts()[0] / int64_t(*splits);
  return f.e.mul(f.e.divu(f.group, groups),
                 f.program.walk.inner * f.accessM.getElementBytes());
}

static MainLoop makeLoop(TileFrame &f, Copies &copies, TileMma &mma) {
  LdsBuffers buffers;
  dnn::PipelineOp pipeline = f.program.pipeline;
  for (uint64_t i = 0; i < pipeline.getBuffers(); ++i) {
    buffers.m.push_back(f.lds[2 * i]);
    buffers.n.push_back(f.lds[2 * i + 1]);
  }
  return MainLoop(f.e, *copies.m, *copies.n, mma, f.program.walk,
                  pipeline.getStep() * f.accessM.getElementBytes(),
                  std::move(buffers),
                  pipeline.getSchedule() == dnn::ScheduleKind::Pinned,
                  emitFirstPosition(f));
}

/// The tiles of a workgroup one after the other, the next one's first turn
/// brought while the last one of a tile is multiplied. Behind the last tile
/// that is its own again.
static void emitTilesInTurn(TileFrame &f, const TileFactor &m,
                            const TileFactor &n, TileMma &mma) {
  Emitter &e = f.e;
  Value count = e.constant(f.program.countTiles());
  Value workgroups = e.constant(f.program.getWorkgroups());
  f.enterTile(f.block);
  Copies first(f, m, n);
  MainLoop::Values fragments = makeLoop(f, first, mma).emitFirstTurn();
  auto loop =
      scf::ForOp::create(e.b, e.loc, f.block, count, workgroups, fragments);
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    fragments.assign(loop.getRegionIterArgs().begin(),
                     loop.getRegionIterArgs().end());
    Value tile = loop.getInductionVar();
    f.enterTile(tile);
    Copies copies(f, m, n);
    std::optional<Copies> next;
    auto makeNext = [&] {
      f.enterTile(f.emitNextTile(tile));
      return makeLoop(f, next.emplace(f, m, n), mma);
    };
    MainLoop::Values sums =
        makeLoop(f, copies, mma).emitTile(fragments, makeNext);
    f.enterTile(tile);
    f.emitDealtStore(mma, sums);
    scf::YieldOp::create(e.b, e.loc, fragments);
  }
  e.device.waitForDirectGroups(e, 0, 0);
}

/// The main loop of a pipeline.
static void emitPipelined(TileFrame &f) {
  TileProgram &program = f.program;
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  TileFactor m = chooseFactor(f, f.accessM, acc[0]);
  TileFactor n = chooseFactor(f, f.accessN, acc[1]);
  if (program.hasHalo())
    return emitHaloTiles(f, m, n);
  if (program.hasPlaneHalo())
    return emitPlaneHaloTile(f, m, n);
  auto makeMma = [&] {
    bool isPAlongN = program.mma.getLanes() == dnn::TileDim::N;
    return f.makeMma(m.lds, n.lds, makeSource(f, m, !isPAlongN),
                     makeSource(f, n, isPAlongN));
  };
  if (program.tiles.getPersistent()) {
    TileMma mma = makeMma();
    return emitTilesInTurn(f, m, n, mma);
  }
  Copies copies(f, m, n);
  if (program.walk.plane > 0)
    f.e.device.emitLdsBarrier(f.e); // Their tables are complete behind it.
  TileMma mma = makeMma();
  f.emitDealtStore(mma, makeLoop(f, copies, mma).emit());
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
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  auto getLds = [&](int64_t rows) {
    return LdsTile{rows, program.resident.step, program.resident.elementBytes,
                   f.target.ldsBanks};
  };
  TileMma mma = f.makeMma(
      getLds(acc[0]), getLds(acc[1]),
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
  if (program.isWhole())
    emitWhole(frame);
  else
    emitPipelined(frame);
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
    gpu::GPUFuncOp kernel = createTileFunction(program, device);
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
