//===- LowerTiles.cpp - Turn tile programs into GPU functions -------------===//
//
// Puts the parts together: the workgroup's tile, the two copies, the wave's
// product, the main loop and the epilogue, each in a file of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/DirectCopy.h"
#include "compiler/Conversion/Epilogue.h"
#include "compiler/Conversion/GlobalBuffer.h"
#include "compiler/Conversion/Hopper/LowerHopper.h"
#include "compiler/Conversion/KernelFunction.h"
#include "compiler/Conversion/MainLoop.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/TileProgram.h"
#include "compiler/Conversion/WindowLoop.h"
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
  auto add = [&](int64_t elements) {
    lds.push_back(MemRefType::get({elements},
                                  program.loadM.getType().getElementType(),
                                  MemRefLayoutAttrInterface(), space));
  };
  auto addTile = [&](dnn::TileLoadOp load) {
    add(load.getType().getShape()[0] * load.getType().getShape()[1]);
  };
  if (program.isWhole()) {
    add(program.window.getElements());
    add(program.resident.getElements());
  }
  for (uint64_t buffer = 0;
       buffer < program.pipeline.getBuffers() && !program.isWhole(); ++buffer) {
    addTile(program.loadM);
    addTile(program.loadN);
  }
  gpu::GPUFuncOp kernel = createKernel(program.function, lds, program.threads,
                                       program.getWorkgroups());
  // Chunks are moved as one, which not every vendor's linker knows to align.
  Builder b(kernel.getContext());
  for (unsigned i = 0; i < lds.size(); ++i)
    kernel.setWorkgroupAttributionAttr(
        i, b.getStringAttr(LLVM::LLVMDialect::getAlignAttrName()),
        b.getI64IntegerAttr(kChunkBytes));
  std::optional<int64_t> perUnit;
  if (auto persistent = program.tiles.getPersistent())
    perUnit = llvm::divideCeil(*persistent, device.getTarget().computeUnits);
  device.setKernelAttributes(kernel, program.getAccumulatorRegisters(),
                             perUnit);
  return kernel;
}

/// Group, first row and first column of tile `id`; n fastest.
static std::array<Value, 3>
emitTilePosition(Emitter &e, dnn::ForEachTileOp tiles, Value id) {
  ArrayRef<int64_t> counts = tiles.getCounts();
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

namespace {
/// What the lowering of a workgroup's tile has at hand.
struct Frame {
  Emitter e;
  TileProgram &program;
  gpu::GPUFuncOp function;
  const GpuTarget &target;
  Value thread, lane, wave;
  Value group, row0, column0;
  ViewAccess accessM, accessN;

  Frame(OpBuilder &b, TileProgram &program, gpu::GPUFuncOp function,
        const DeviceOps &device);

  Value getArgument(Value source) {
    return function.getArgument(cast<BlockArgument>(source).getArgNumber());
  }
  GlobalBuffer getBuffer(const ViewAccess &access, Value first,
                         int64_t headroom = 0) {
    return makeBuffer(e, access, getArgument(access.getSource()), group, first,
                      headroom);
  }
  TileMma makeMma(LdsTile ldsM, LdsTile ldsN,
                  const SourceFactory &sourceM = nullptr,
                  const SourceFactory &sourceN = nullptr);
  void emitStore(const TileMma &mma, ArrayRef<Value> accumulators);
  void moveTo(Value tile) {
    auto position = emitTilePosition(e, program.tiles, tile);
    group = position[0];
    row0 = position[1];
    column0 = position[2];
  }
};
} // namespace

Frame::Frame(OpBuilder &b, TileProgram &program, gpu::GPUFuncOp function,
             const DeviceOps &device)
    : e(b, function.getLoc(), &function.getBody().front(), device),
      program(program), function(function), target(device.getTarget()),
      accessM(getAccess(program.loadM.getView())),
      accessN(getAccess(program.loadN.getView())) {
  thread = device.emitThreadId(e, program.threads);
  moveTo(device.emitBlockId(e));
  lane = e.andi(thread, target.waveSize - 1);
  wave = device.emitUniform(e, e.shru(thread, llvm::Log2_32(target.waveSize)));
}

TileMma Frame::makeMma(LdsTile ldsM, LdsTile ldsN, const SourceFactory &sourceM,
                       const SourceFactory &sourceN) {
  ArrayRef<int64_t> waves = program.mma.getWaves();
  return TileMma(e, program.instruction, ldsM, ldsN, waves[0], waves[1],
                 program.mma.getLanes() == dnn::TileDim::N, lane,
                 e.divu(wave, waves[1]), e.remu(wave, waves[1]),
                 accessM.getElementType(), sourceM, sourceN);
}

void Frame::emitStore(const TileMma &mma, ArrayRef<Value> accumulators) {
  emitEpilogue(
      e, program.store, mma,
      {accumulators, row0, column0,
       [&](const ViewAccess &access) { return getBuffer(access, row0); },
       [&](Value scalar) { return emitScalar(e, scalar, function); }});
}

/// The main loop of a pipeline.
static void emitPipelined(Frame &f) {
  TileProgram &program = f.program;
  int64_t step = program.pipeline.getStep();
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  LdsTile ldsM = chooseLdsTile(f.accessM, acc[0], step, program.threads,
                               f.target, program.instruction);
  LdsTile ldsN = chooseLdsTile(f.accessN, acc[1], step, program.threads,
                               f.target, program.instruction);
  auto createCopy = [&](const ViewAccess &access, const LdsTile &lds,
                        Value first) -> std::unique_ptr<TileCopy> {
    if (program.isDirect())
      return std::make_unique<DirectCopy>(
          f.e, access, lds, program.walk,
          f.getBuffer(access, first, DirectCopy::getHeadroom(f.target)),
          program.threads, f.thread);
    return createTileCopy(f.e, access, lds, program.walk,
                          f.getBuffer(access, first), program.threads,
                          f.thread);
  };
  auto copyM = createCopy(f.accessM, ldsM, f.row0);
  auto copyN = createCopy(f.accessN, ldsN, f.column0);
  TileMma mma = f.makeMma(ldsM, ldsN);
  LdsBuffers buffers;
  for (auto [i, buffer] :
       llvm::enumerate(f.function.getWorkgroupAttributions()))
    (i % 2 == 0 ? buffers.m : buffers.n).push_back(buffer);
  bool pinned = program.pipeline.getSchedule() == dnn::ScheduleKind::Pinned;
  MainLoop loop(f.e, *copyM, *copyN, mma, program.walk,
                step * f.accessM.getElementBytes(), std::move(buffers), pinned);
  f.emitStore(mma, loop.emit());
}

/// Loads this thread's share of the windows of the frame's tile.
static SmallVector<Value> loadWindow(Frame &f) {
  return loadWindow(f.e, f.program.window, f.getArgument(f.accessM.getSource()),
                    f.group, f.row0, {f.program.threads, f.thread});
}

/// The filter is there. A workgroup takes tiles in turn, and loads the windows
/// of the next while it multiplies those of one.
static void emitTurns(Frame &f, TileMma &mma, Value bufferM, Value bufferN) {
  TileProgram &program = f.program;
  HeldFragments held = holdFragments(mma, bufferN);
  Value first = f.e.device.emitBlockId(f.e);
  auto loop = scf::ForOp::create(
      f.e.b, f.e.loc, first, f.e.constant(program.countTiles()),
      f.e.constant(program.getWorkgroups()), loadWindow(f));
  OpBuilder::InsertionGuard guard(f.e.b);
  f.e.b.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  stageWindow(f.e, program.window, loop.getRegionIterArgs(),
              {program.threads, f.thread}, bufferM);
  f.e.device.emitLdsBarrier(f.e);
  // Behind the last tile there are no images, and nothing is loaded.
  f.moveTo(f.e.add(tile, program.getWorkgroups()));
  SmallVector<Value> next = loadWindow(f);
  f.moveTo(tile);
  SmallVector<Value> sums = emitWholeProduct(f.e, mma, bufferM, bufferN, held);
  f.e.device.emitLdsBarrier(f.e);
  f.emitStore(mma, sums);
  scf::YieldOp::create(f.e.b, f.e.loc, next);
}

/// Both factors to LDS, and their product.
static void emitWhole(Frame &f) {
  TileProgram &program = f.program;
  Value bufferM = f.function.getWorkgroupAttributions()[0];
  Value bufferN = f.function.getWorkgroupAttributions()[1];
  ThreadPlace place{program.threads / f.target.waveSize, f.target.waveSize,
                    f.wave, f.lane};
  const bool isPersistent = program.tiles.getPersistent().has_value();
  if (!isPersistent)
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
  Frame frame(b, program, function, device);
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
    if (program.isTma()) {
      if (failed(lowerHopper(program, device)))
        return failure();
      function.erase();
      return success();
    }
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
