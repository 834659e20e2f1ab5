//===- LowerTiles.cpp - Turn tile programs into GPU functions -------------===//
//
// Puts the parts together: the workgroup's tile, the two copies, the wave's
// product, the main loop and the epilogue, each in a file of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/LowerAmpere.h"
#include "compiler/Conversion/DirectCopy.h"
#include "compiler/Conversion/Epilogue.h"
#include "compiler/Conversion/GlobalBuffer.h"
#include "compiler/Conversion/HaloLoop.h"
#include "compiler/Conversion/Hopper/LowerHopper.h"
#include "compiler/Conversion/KernelFunction.h"
#include "compiler/Conversion/MainLoop.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/TileProgram.h"
#include "compiler/Conversion/TransposedCopy.h"
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

/// The LDS buffers: those of m and n in turn; the halo, those of n and, maybe,
/// results on their way; or the
/// two of a program that loads its reduction at once.
static SmallVector<Type> getLdsTypes(TileProgram &program) {
  auto space = gpu::AddressSpaceAttr::get(program.function.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto getType = [&](int64_t elements) -> Type {
    return MemRefType::get({elements}, program.loadM.getType().getElementType(),
                           MemRefLayoutAttrInterface(), space);
  };
  if (program.isWhole())
    return {getType(program.window.getElements()),
            getType(program.resident.getElements())};
  SmallVector<Type> types;
  int64_t elementBytes = getByteSize(program.loadM.getType().getElementType());
  if (program.hasHalo())
    types.push_back(getType(program.halo.getBytes() / elementBytes));
  for (uint64_t buffer = 0; buffer < program.pipeline.getBuffers(); ++buffer)
    for (dnn::TileLoadOp load : {program.loadM, program.loadN}) {
      if (program.hasHalo() && load == program.loadM)
        continue;
      ArrayRef<int64_t> shape = load.getType().getShape();
      types.push_back(getType(shape[0] * shape[1]));
    }
  if (program.staged)
    types.push_back(getType(program.staged->getBytes() / elementBytes));
  return types;
}

static int64_t countBytes(Type buffer) {
  auto type = cast<MemRefType>(buffer);
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// What the launch is asked for, since code may not declare so much; or 0.
static int64_t getLaunchLdsBytes(ArrayRef<Type> lds, const GpuTarget &target) {
  int64_t bytes = 0;
  for (Type buffer : lds)
    bytes += countBytes(buffer);
  return bytes > target.ldsBytes ? bytes : 0;
}

/// The kernel's frame, with the LDS that it declares.
static gpu::GPUFuncOp createFunction(TileProgram &program,
                                     const DeviceOps &device) {
  SmallVector<Type> lds = getLdsTypes(program);
  int64_t ofLaunch = getLaunchLdsBytes(lds, device.getTarget());
  if (ofLaunch > 0)
    lds.clear();
  gpu::GPUFuncOp kernel = createKernel(program.function, lds, program.threads,
                                       program.getWorkgroups());
  // Chunks are moved as one, which not every vendor's linker knows to align.
  Builder b(kernel.getContext());
  for (unsigned i = 0; i < lds.size(); ++i)
    kernel.setWorkgroupAttributionAttr(
        i, b.getStringAttr(LLVM::LLVMDialect::getAlignAttrName()),
        b.getI64IntegerAttr(kChunkBytes));
  if (ofLaunch > 0)
    kernel->setAttr(dnn::kSharedBytesAttrName, b.getI64IntegerAttr(ofLaunch));
  std::optional<int64_t> perUnit;
  if (program.isWhole() && program.tiles.getPersistent())
    perUnit = llvm::divideCeil(*program.tiles.getPersistent(),
                               device.getTarget().computeUnits);
  device.setKernelAttributes(kernel, program.getAccumulatorRegisters(),
                             perUnit);
  return kernel;
}

/// The LDS buffers of a kernel: what it declares, or pieces of what the launch
/// asks for.
static SmallVector<Value> emitLdsBuffers(Emitter &e, TileProgram &program,
                                         gpu::GPUFuncOp kernel) {
  SmallVector<Type> types = getLdsTypes(program);
  if (getLaunchLdsBytes(types, e.device.getTarget()) == 0)
    return llvm::to_vector_of<Value>(kernel.getWorkgroupAttributions());
  auto bytes = MemRefType::get(
      {ShapedType::kDynamic}, e.b.getI8Type(), MemRefLayoutAttrInterface(),
      cast<MemRefType>(types.front()).getMemorySpace());
  Value all = gpu::DynamicSharedMemoryOp::create(e.b, e.loc, bytes);
  SmallVector<Value> buffers;
  int64_t begin = 0;
  for (Type type : types) {
    buffers.push_back(memref::ViewOp::create(
        e.b, e.loc, type, all, e.indexConstant(begin), ValueRange()));
    begin += countBytes(type);
  }
  return buffers;
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
  Value thread, lane, wave, block;
  Value group, row0, column0;
  SmallVector<Value> lds;
  ViewAccess accessM, accessN;

  Frame(OpBuilder &b, TileProgram &program, gpu::GPUFuncOp function,
        const DeviceOps &device);

  /// From here on, the position is that of tile `id`.
  void enterTile(Value id) {
    std::array<Value, 3> position = emitTilePosition(e, program.tiles, id);
    group = position[0];
    row0 = position[1];
    column0 = position[2];
  }

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
                  const SourceFactory &sourceN = nullptr) {
    return makeMma(program.instruction, ldsM, ldsN, sourceM, sourceN);
  }
  TileMma makeMma(const MatrixInstruction &instruction, LdsTile ldsM,
                  LdsTile ldsN, const SourceFactory &sourceM = nullptr,
                  const SourceFactory &sourceN = nullptr);
  void emitStore(const TileMma &mma, ArrayRef<Value> accumulators,
                 function_ref<void(Value, int64_t, int64_t)> put = {});
  void emitDealtStore(const TileMma &mma, ArrayRef<Value> accumulators);
};
} // namespace

Frame::Frame(OpBuilder &b, TileProgram &program, gpu::GPUFuncOp function,
             const DeviceOps &device)
    : e(b, function.getLoc(), &function.getBody().front(), device),
      program(program), function(function), target(device.getTarget()),
      accessM(getAccess(program.loadM.getView())),
      accessN(getAccess(program.loadN.getView())) {
  thread = device.emitThreadId(e, program.threads);
  block = device.emitBlockId(e);
  if (!program.tiles.getPersistent())
    enterTile(block);
  lane = e.andi(thread, target.waveSize - 1);
  wave = device.emitUniform(e, e.shru(thread, llvm::Log2_32(target.waveSize)));
  lds = emitLdsBuffers(e, program, function);
}

TileMma Frame::makeMma(const MatrixInstruction &instruction, LdsTile ldsM,
                       LdsTile ldsN, const SourceFactory &sourceM,
                       const SourceFactory &sourceN) {
  ArrayRef<int64_t> waves = program.mma.getWaves();
  return TileMma(e, instruction, ldsM, ldsN, waves[0], waves[1],
                 program.mma.getLanes() == dnn::TileDim::N, lane,
                 e.divu(wave, waves[1]), e.remu(wave, waves[1]),
                 accessM.getElementType(), sourceM, sourceN);
}

void Frame::emitStore(const TileMma &mma, ArrayRef<Value> accumulators,
                      function_ref<void(Value, int64_t, int64_t)> put) {
  emitEpilogue(
      e, program.store, mma,
      {accumulators, row0, column0,
       [&](const ViewAccess &access) { return getBuffer(access, row0); },
       [&](Value scalar) { return emitScalar(e, scalar, function); }, put});
}

/// The store of a pipeline. Where P was transposed, a lane's sums are pairs: of
/// two bytes each they are too short to be stored so.
void Frame::emitDealtStore(const TileMma &mma, ArrayRef<Value> accumulators) {
  StringRef named = program.mma.getInstruction();
  Type element = program.store.getView().getType().getElementType();
  if (std::string_view(named) == program.instruction.name ||
      element.getIntOrFloatBitWidth() != 16)
    return emitStore(mma, accumulators);
  FactorType type =
      accessM.getElementType().isBF16() ? FactorType::BF16 : FactorType::F16;
  TileMma dealt = makeMma(*findMatrixInstruction(target, named, type),
                          mma.getM().lds, mma.getN().lds);
  emitStore(dealt, llvm::map_to_vector(accumulators, [&](Value sums) {
              return dealSums(e, sums, lane);
            }));
}

namespace {
/// One factor of a pipeline: how it comes to LDS and lies there.
struct Factor {
  const ViewAccess &access;
  LdsTile lds;
  bool isTransposed; ///< TransposedCopy.h.
};
} // namespace

static Factor chooseFactor(Frame &f, const ViewAccess &access, int64_t rows) {
  TileProgram &program = f.program;
  LdsTile lds = chooseLdsTile(access, rows, program.pipeline.getStep(),
                              program.threads, f.target, program.instruction);
  return {access, lds,
          program.isDirect() &&
              TransposedCopy::isFor(access, program.instruction)};
}

static std::unique_ptr<TileCopy> createCopy(Frame &f, const Factor &factor,
                                            Value first) {
  auto [access, lds, isTransposed] = factor;
  TileProgram &program = f.program;
  if (!program.isDirect())
    return createTileCopy(f.e, access, lds, program.walk,
                          f.getBuffer(access, first), program.threads,
                          f.thread);
  GlobalBuffer buffer =
      f.getBuffer(access, first, DirectCopy::getHeadroom(f.target));
  if (isTransposed)
    return std::make_unique<TransposedCopy>(f.e, access, lds, program.walk,
                                            std::move(buffer), program.threads,
                                            f.thread);
  return std::make_unique<DirectCopy>(f.e, access, lds, program.walk,
                                      std::move(buffer), program.threads,
                                      f.thread);
}

/// What reads a factor's fragments; null if TileMma knows how.
static SourceFactory makeSource(Frame &f, const Factor &factor, bool isP) {
  if (!factor.isTransposed)
    return nullptr;
  return [&f, isP, rows = factor.lds.rows](const FragmentPlace &place) {
    return readTransposed(f.e, rows, place, isP, f.lane);
  };
}

namespace {
/// The copies of both factors for the tile that a frame has entered.
struct Copies {
  std::unique_ptr<TileCopy> m, n;

  Copies(Frame &f, const Factor &factorM, const Factor &factorN)
      : m(createCopy(f, factorM, f.row0)),
        n(createCopy(f, factorN, f.column0)) {}
};
} // namespace

static MainLoop makeLoop(Frame &f, Copies &copies, TileMma &mma) {
  LdsBuffers buffers;
  for (auto [i, buffer] : llvm::enumerate(f.lds))
    (i % 2 == 0 ? buffers.m : buffers.n).push_back(buffer);
  dnn::PipelineOp pipeline = f.program.pipeline;
  return MainLoop(f.e, *copies.m, *copies.n, mma, f.program.walk,
                  pipeline.getStep() * f.accessM.getElementBytes(),
                  std::move(buffers),
                  pipeline.getSchedule() == dnn::ScheduleKind::Pinned);
}

/// The tiles of a workgroup one after the other, the next one's first turn
/// brought while the last one of a tile is multiplied. Behind the last tile
/// that is its own again.
static void emitTilesInTurn(Frame &f, const Factor &m, const Factor &n,
                            TileMma &mma) {
  Emitter &e = f.e;
  ArrayRef<int64_t> counts = f.program.tiles.getCounts();
  Value count = e.constant(counts[0] * counts[1] * counts[2]);
  Value workgroups = e.constant(*f.program.tiles.getPersistent());
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
      Value id = e.add(tile, workgroups);
      Value exists = arith::CmpIOp::create(
          e.b, e.loc, arith::CmpIPredicate::ult, id, count);
      f.enterTile(e.select(exists, id, tile));
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

namespace {
/// A pipeline whose taps share pixels: the loop, and what reads them.
struct HaloParts {
  Frame &f;
  Factor filter;
  HaloSource *source = nullptr; ///< Owned by `mma`.
  TileMma mma;

  HaloParts(Frame &f, const Factor &m, const Factor &n)
      : f(f), filter(n), mma(f.makeMma(
                             m.lds, n.lds,
                             [&](const FragmentPlace &place) {
                               auto made = std::make_unique<HaloSource>(
                                   f.e, f.accessM, f.program.halo, place);
                               source = made.get();
                               return made;
                             },
                             makeSource(f, n, /*isP=*/true))) {}

  /// Block `block` of channels of tile `tile`.
  HaloBlock makeBlock(Value tile, Value block) {
    f.enterTile(tile);
    HaloCopy pixels(f.e, f.accessM, f.program.halo,
                    f.getBuffer(f.accessM, f.row0), f.program.threads, f.thread,
                    block);
    int64_t stepBytes = f.program.halo.lineBytes;
    return {pixels, createCopy(f, filter, f.column0),
            f.e.mul(block, stepBytes)};
  }
};
} // namespace

namespace {
/// Results of such a pipeline on their way through LDS, if they go that way.
struct StagedResults {
  Frame &f;
  ViewAccess access;
  std::optional<StagedStore> store;
  int64_t pieces = 0, perBlock = 0;

  StagedResults(Frame &f, int64_t blocks)
      : f(f), access(getAccess(f.program.store.getView())) {
    if (!f.program.staged)
      return;
    store.emplace(f.e, *f.program.staged, access, f.lds.back(), f.thread);
    pieces = f.program.staged->countPieces();
    perBlock = llvm::divideCeil(pieces, blocks);
  }

  Value getPiece(Value block, int64_t piece) {
    return f.e.add(f.e.mul(block, perBlock), piece);
  }
  /// Stores a piece of tile `tile`, if that `exists`.
  void storePiece(Value words, Value tile, Value exists, Value piece) {
    f.enterTile(tile);
    store->store(
        words, {f.getBuffer(access, f.row0), f.row0, f.column0, exists}, piece);
  }
  /// Puts the sums of the frame's tile into LDS, or stores them.
  void take(TileMma &mma, ArrayRef<Value> sums) {
    if (!store)
      return f.emitDealtStore(mma, sums);
    f.emitStore(mma, sums, [&](Value words, int64_t p, int64_t q) {
      store->put(mma, words, p, q);
    });
  }
  /// Stores all of tile `tile`.
  void flush(Value tile) {
    if (!store)
      return;
    f.e.device.emitLdsBarrier(f.e);
    for (int64_t piece = 0; piece < pieces; ++piece) {
      Value at = f.e.constant(piece);
      storePiece(store->read(at), tile, Value(), at);
    }
  }
};
} // namespace

/// The tiles of a workgroup, one after the other, whose taps share pixels.
/// Behind the last tile its own first block is brought again.
static void emitHaloTiles(Frame &f, const Factor &m, const Factor &n) {
  Emitter &e = f.e;
  TileProgram &program = f.program;
  HaloParts parts(f, m, n);
  auto makeBlock = [&](Value tile, Value block) {
    return parts.makeBlock(tile, block);
  };
  dnn::PipelineOp pipeline = program.pipeline;
  ArrayRef<Value> buffers = ArrayRef(f.lds).slice(1, pipeline.getBuffers());
  HaloLoop halo(e, program.halo, *parts.source, parts.mma,
                program.walk.inner / static_cast<int64_t>(pipeline.getStep()),
                f.lds.front(), MainLoop::Values(buffers),
                pipeline.getSchedule() == dnn::ScheduleKind::Pinned, makeBlock);
  StagedResults results(f, halo.countBlocks());
  halo.emitFirst(f.block, f.thread);
  Value count = e.constant(program.countTiles());
  Value workgroups = e.constant(program.getWorkgroups());
  // Of LDS, where the tile's first pixels are; and the tile before.
  auto loop = scf::ForOp::create(e.b, e.loc, f.block, count, workgroups,
                                 {e.constant(0), f.block});
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value tile = loop.getInductionVar(), buffer = loop.getRegionIterArg(0);
    Value before = loop.getRegionIterArg(1);
    auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
      return arith::CmpIOp::create(e.b, e.loc, predicate, lhs, rhs);
    };
    Value next = e.add(tile, workgroups);
    Value hasNext = compare(arith::CmpIPredicate::ult, next, count);
    Value hasBefore = compare(arith::CmpIPredicate::ne, before, tile);
    auto read = [&](Value block, int64_t piece) {
      return results.store->read(results.getPiece(block, piece));
    };
    auto store = [&](Value words, Value block, int64_t piece) {
      results.storePiece(words, before, hasBefore,
                         results.getPiece(block, piece));
    };
    f.enterTile(tile);
    parts.source->enterTile(f.getBuffer(f.accessM, f.row0));
    MainLoop::Values sums =
        halo.emitTile(tile, e.select(hasNext, next, tile), buffer,
                      {results.perBlock, read, store});
    f.enterTile(tile);
    results.take(parts.mma, sums);
    scf::YieldOp::create(e.b, e.loc, {buffer, tile});
  }
  results.flush(loop.getResult(1));
  e.device.waitForDirectGroups(e, 0, 0);
}

/// The main loop of a pipeline.
static void emitPipelined(Frame &f) {
  TileProgram &program = f.program;
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  Factor m = chooseFactor(f, f.accessM, acc[0]);
  Factor n = chooseFactor(f, f.accessN, acc[1]);
  if (program.hasHalo())
    return emitHaloTiles(f, m, n);
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
  TileMma mma = makeMma();
  f.emitDealtStore(mma, makeLoop(f, copies, mma).emit());
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
static void emitWhole(Frame &f) {
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
    if (program.isTma() || program.isAmpere()) {
      if (failed(program.isTma() ? lowerHopper(program, device)
                                 : lowerAmpere(program, device)))
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
