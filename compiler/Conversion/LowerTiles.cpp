//===- LowerTiles.cpp - Turn tile programs into GPU functions -------------===//
//
// Puts the parts together: the workgroup's tile, the two copies, the wave's
// product, the main loop and the epilogue, each in a file of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Epilogue.h"
#include "compiler/Conversion/GlobalBuffer.h"
#include "compiler/Conversion/MainLoop.h"
#include "compiler/Conversion/Passes.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

namespace tessera {
#define GEN_PASS_DEF_LOWERTILES
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {
/// The ops of one tile program, found and checked.
struct TileProgram {
  func::FuncOp function;
  dnn::ForEachTileOp tiles;
  dnn::PipelineOp pipeline;
  dnn::TileLoadOp loadM;
  dnn::TileLoadOp loadN;
  dnn::TileMmaOp mma;
  dnn::TileStoreOp store;
  MatrixInstruction instruction;
  ReductionWalk walk;
  int64_t threads;
};
} // namespace

/// The only op of type OpT in `block`, or null.
template <typename OpT>
static OpT findOnly(Block &block) {
  auto ops = block.getOps<OpT>();
  return llvm::hasSingleElement(ops) ? *ops.begin() : OpT();
}

static LogicalResult findOps(func::FuncOp function, TileProgram &program) {
  program.function = function;
  program.tiles = findOnly<dnn::ForEachTileOp>(function.getBody().front());
  if (!program.tiles)
    return function.emitOpError("needs one dnn.for_each_tile");
  Block &body = program.tiles.getBody().front();
  program.pipeline = findOnly<dnn::PipelineOp>(body);
  program.store = findOnly<dnn::TileStoreOp>(body);
  if (!program.pipeline || !program.store)
    return program.tiles.emitOpError("needs one pipeline and one store");
  Operation *loaded = program.pipeline.getLoad().front().getTerminator();
  program.mma = findOnly<dnn::TileMmaOp>(program.pipeline.getCompute().front());
  if (!program.mma || loaded->getNumOperands() != 2)
    return program.pipeline.emitOpError(
        "needs two loaded tiles and one dnn.tile_mma");
  program.loadM = loaded->getOperand(0).getDefiningOp<dnn::TileLoadOp>();
  program.loadN = loaded->getOperand(1).getDefiningOp<dnn::TileLoadOp>();
  if (!program.loadM || !program.loadN)
    return program.pipeline.emitOpError("needs tiles that dnn.tile_load made");
  return success();
}

/// What this lowering cannot do yet is refused here, by name.
static LogicalResult checkPipeline(dnn::PipelineOp pipeline,
                                   dnn::ForEachTileOp tiles) {
  if (pipeline.getCopy() != dnn::CopyKind::Registers)
    return pipeline.emitOpError()
           << "has copy " << stringifyEnum(pipeline.getCopy())
           << ", but this target copies through registers";
  if (pipeline.getBuffers() != 2)
    return pipeline.emitOpError()
           << "needs 2 buffers, but has " << pipeline.getBuffers();
  if (tiles.getPersistent())
    return tiles.emitOpError("is persistent, but this target runs one tile a "
                             "workgroup");
  return success();
}

static LogicalResult checkShapes(TileProgram &program,
                                 const GpuTarget &target) {
  auto pipeline = program.pipeline;
  Type element = program.mma.getA().getType().getElementType();
  FactorType type = element.isF16()    ? FactorType::F16
                    : element.isBF16() ? FactorType::BF16
                                       : FactorType::F32;
  auto instruction =
      findMatrixInstruction(target, program.mma.getInstruction(), type);
  if (!instruction)
    return program.mma.emitOpError()
           << "names '" << program.mma.getInstruction() << "', but "
           << target.name << " has no such matrix instruction for " << element;
  program.instruction = *instruction;

  ArrayRef<int64_t> waves = program.mma.getWaves();
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  int64_t rowsM = instruction->columns, rowsN = instruction->rows;
  if (program.mma.getLanes() == dnn::TileDim::M)
    std::swap(rowsM, rowsN);
  if (acc[0] % (waves[0] * rowsM) != 0 || acc[1] % (waves[1] * rowsN) != 0)
    return program.mma.emitOpError()
           << "needs a tile of whole instructions for each wave, " << rowsM
           << "x" << rowsN;

  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  int64_t chunks = pipeline.getStep() * bytes / kChunkBytes;
  program.threads = waves[0] * waves[1] * target.waveSize;
  int64_t laneChunks = instruction->getLaneChunks(target.waveSize);
  if (pipeline.getStep() * bytes % kChunkBytes != 0 ||
      !llvm::isPowerOf2_64(chunks) || chunks % laneChunks != 0)
    return pipeline.emitOpError() << "needs a step of a power of two 16-byte "
                                     "chunks, at least "
                                  << laneChunks;
  for (int64_t rows : acc)
    if (rows * chunks % program.threads != 0)
      return program.mma.emitOpError()
             << "has " << program.threads << " threads, which do not divide a "
             << rows << "x" << pipeline.getStep() << " tile into chunks";
  int64_t ldsBytes = 2 * (acc[0] + acc[1]) * pipeline.getStep() * bytes;
  if (ldsBytes > target.ldsBytes)
    return pipeline.emitOpError()
           << "needs " << ldsBytes << " bytes of LDS, but " << target.name
           << " has " << target.ldsBytes;
  return success();
}

/// Every address of a tile must fit the offsets of one descriptor.
static LogicalResult checkWindows(TileProgram &program) {
  auto check = [](Operation *op, Value view, int64_t rows) -> LogicalResult {
    auto viewOp = view.getDefiningOp<dnn::ViewOp>();
    int64_t bytes = getWindowBytes(ViewAccess(viewOp), rows);
    if (bytes > kOutOfRange)
      return op->emitOpError() << "spans " << bytes
                               << " bytes of its tensor, but a buffer "
                                  "descriptor reaches "
                               << kOutOfRange;
    return success();
  };
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  return success(
      succeeded(check(program.loadM, program.loadM.getView(), acc[0])) &&
      succeeded(check(program.loadN, program.loadN.getView(), acc[1])) &&
      succeeded(check(program.store, program.store.getView(), acc[0])));
}

/// Taps outside, channels inside, if two steps divide the channels.
static ReductionWalk makeWalk(dnn::PipelineOp pipeline,
                              const MatrixInstruction &instruction) {
  ArrayRef<int64_t> reduce = pipeline.getReduce();
  int64_t total = std::accumulate(reduce.begin(), reduce.end(), int64_t(1),
                                  std::multiplies<>());
  int64_t twoSteps = 2 * pipeline.getStep();
  if (reduce.back() % twoSteps == 0)
    return {true, total / reduce.back(), reduce.back(), total};
  int64_t padded = (total + twoSteps - 1) / twoSteps * twoSteps;
  // A loop that LLVM sees run once becomes a straight line, in which it moves
  // every fused multiply-add behind the last barrier, and spills by the
  // hundred. Two turns keep it a loop.
  if (instruction.isFma)
    padded = std::max(padded, 2 * twoSteps);
  return {false, 1, padded, total};
}

/// The kernel's frame: module, function, LDS attributions.
static gpu::GPUFuncOp createFunction(OpBuilder &b, TileProgram &program) {
  MLIRContext *context = b.getContext();
  Location loc = program.function.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context, 1);
  SmallVector<Type> inputs(program.function.getNumArguments(), pointer);
  auto space =
      gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  SmallVector<Type> lds;
  for (int buffer = 0; buffer < 2; ++buffer)
    for (dnn::TileType tile :
         {program.loadM.getType(), program.loadN.getType()})
      lds.push_back(MemRefType::get({tile.getShape()[0] * tile.getShape()[1]},
                                    tile.getElementType(),
                                    MemRefLayoutAttrInterface(), space));
  auto function = gpu::GPUFuncOp::create(b, loc, program.function.getName(),
                                         b.getFunctionType(inputs, {}), lds);
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  auto toInt32 = [](int64_t value) { return static_cast<int32_t>(value); };
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  function.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({toInt32(program.threads), 1, 1}));
  function.setKnownGridSizeAttr(b.getDenseI32ArrayAttr(
      {toInt32(counts[0] * counts[1] * counts[2]), 1, 1}));
  for (unsigned i = 0; i < inputs.size(); ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
  return function;
}

/// Group, first row and first column of this workgroup's tile; n fastest.
static std::array<Value, 3> emitTilePosition(Emitter &e,
                                             dnn::ForEachTileOp tiles) {
  ArrayRef<int64_t> counts = tiles.getCounts();
  Value id = ROCDL::BlockIdXOp::create(e.b, e.loc, e.b.getI32Type());
  Value n = e.remu(id, counts[2]);
  Value rest = e.divu(id, counts[2]);
  Value m = e.remu(rest, counts[1]);
  Value group = counts[0] == 1 ? e.constant(0) : e.divu(rest, counts[1]);
  return {group, e.mul(m, tiles.getTile()[0]), e.mul(n, tiles.getTile()[1])};
}

static ViewAccess getAccess(Value view) {
  return ViewAccess(view.getDefiningOp<dnn::ViewOp>());
}

static void emitBody(OpBuilder &b, TileProgram &program,
                     gpu::GPUFuncOp function, const GpuTarget &target) {
  Emitter e(b, function.getLoc(), &function.getBody().front());
  ViewAccess accessM = getAccess(program.loadM.getView());
  ViewAccess accessN = getAccess(program.loadN.getView());
  ViewAccess accessD = getAccess(program.store.getView());
  auto range = LLVM::ConstantRangeAttr::get(b.getContext(), APInt(32, 0),
                                            APInt(32, program.threads));
  Value thread = ROCDL::ThreadIdXOp::create(b, e.loc, b.getI32Type(), range);
  auto position = emitTilePosition(e, program.tiles);
  Value group = position[0], row0 = position[1], column0 = position[2];
  auto getBuffer = [&](const ViewAccess &access, Value first) {
    auto argument = cast<BlockArgument>(access.getSource());
    return makeBuffer(e, access, function.getArgument(argument.getArgNumber()),
                      group, first, target);
  };
  // The wave number is uniform, which only a readfirstlane tells LLVM.
  Value lane = e.andi(thread, target.waveSize - 1);
  Value wave = ROCDL::ReadfirstlaneOp::create(
      b, e.loc, b.getI32Type(), e.shru(thread, llvm::Log2_32(target.waveSize)));

  int64_t step = program.pipeline.getStep();
  int64_t bytes = accessM.getElementBytes();
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  ArrayRef<int64_t> waves = program.mma.getWaves();
  LdsTile ldsM{acc[0], step, bytes}, ldsN{acc[1], step, bytes};
  TileCopy copyM(e, accessM, ldsM, program.walk, getBuffer(accessM, row0),
                 program.threads, thread);
  TileCopy copyN(e, accessN, ldsN, program.walk, getBuffer(accessN, column0),
                 program.threads, thread);
  TileMma mma(e, program.instruction, target.waveSize, ldsM, ldsN, waves[0],
              waves[1], program.mma.getLanes() == dnn::TileDim::N, lane,
              e.divu(wave, waves[1]), e.remu(wave, waves[1]),
              accessM.getElementType());
  auto lds = function.getWorkgroupAttributions();
  bool pinned = program.pipeline.getSchedule() == dnn::ScheduleKind::Pinned;
  MainLoop loop(e, copyM, copyN, mma, program.walk, step * bytes,
                LdsBuffers{{lds[0], lds[2]}, {lds[1], lds[3]}}, pinned);
  SmallVector<Value> accumulators = loop.emit();
  emitEpilogue(e, program.store, accessD, mma, accumulators,
               getBuffer(accessD, row0), lane, row0, column0);
  gpu::ReturnOp::create(b, e.loc);
}

namespace {
struct LowerTiles : tessera::impl::LowerTilesBase<LowerTiles> {
  using Base::Base;

  LogicalResult lower(func::FuncOp function, const GpuTarget &target,
                      gpu::GPUModuleOp kernels) {
    TileProgram program;
    if (failed(findOps(function, program)) ||
        failed(checkPipeline(program.pipeline, program.tiles)) ||
        failed(checkShapes(program, target)) || failed(checkWindows(program)))
      return failure();
    program.walk = makeWalk(program.pipeline, program.instruction);
    OpBuilder b = OpBuilder::atBlockEnd(kernels.getBody());
    gpu::GPUFuncOp kernel = createFunction(b, program);
    b.setInsertionPointToStart(&kernel.getBody().front());
    emitBody(b, program, kernel, target);
    function.erase();
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto name = module->getAttrOfType<StringAttr>(dnn::kTargetAttrName);
    const GpuTarget *target = name ? findTarget(name.getValue()) : nullptr;
    if (!target) {
      module.emitOpError() << "needs the attribute '" << dnn::kTargetAttrName
                           << "' naming one of " << getTargetNames();
      return signalPassFailure();
    }
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto kernels = gpu::GPUModuleOp::create(b, module.getLoc(), "kernels");
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function->hasAttr(dnn::kKernelAttrName) &&
          failed(lower(function, *target, kernels)))
        return signalPassFailure();
  }
};
} // namespace
