//===- TileProgram.cpp - A kernel function, found and checked -------------===//

#include "compiler/Conversion/TileProgram.h"
#include "compiler/Conversion/DirectCopy.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Finding the ops
//===----------------------------------------------------------------------===//

/// The only op of type OpT in `block`, or null.
template <typename OpT>
static OpT findOnly(Block &block) {
  auto ops = block.getOps<OpT>();
  return llvm::hasSingleElement(ops) ? *ops.begin() : OpT();
}

static LogicalResult findOps(func::FuncOp function, TileProgram &program) {
  program.function = function;
  if (function.isDeclaration() || !function.getBody().hasOneBlock())
    return function.emitOpError("needs a body of one block to be a kernel");
  program.tiles = findOnly<dnn::ForEachTileOp>(function.getBody().front());
  if (!program.tiles)
    return function.emitOpError("needs one dnn.for_each_tile");
  Block &body = program.tiles.getBody().front();
  program.pipeline = findOnly<dnn::PipelineOp>(body);
  program.store = findOnly<dnn::TileStoreOp>(body);
  if (!program.pipeline || !program.store || body.getOperations().size() != 2)
    return program.tiles.emitOpError("needs one pipeline and one store");
  Operation *loaded = program.pipeline.getLoad().front().getTerminator();
  Block &compute = program.pipeline.getCompute().front();
  program.mma = findOnly<dnn::TileMmaOp>(compute);
  if (!program.mma || compute.getOperations().size() != 2 ||
      loaded->getNumOperands() != 2)
    return program.pipeline.emitOpError(
        "needs two loaded tiles and one dnn.tile_mma");
  program.loadM = loaded->getOperand(0).getDefiningOp<dnn::TileLoadOp>();
  program.loadN = loaded->getOperand(1).getDefiningOp<dnn::TileLoadOp>();
  if (!program.loadM || !program.loadN)
    return program.pipeline.emitOpError("needs tiles that dnn.tile_load made");
  return success();
}

//===----------------------------------------------------------------------===//
// Do they fit together
//===----------------------------------------------------------------------===//

/// Kernels take tensors and scalars (as doubles from a launch), and return
/// nothing.
static LogicalResult checkSignature(func::FuncOp function) {
  if (function.getNumResults() != 0)
    return function.emitOpError("returns a value, but a kernel cannot");
  for (Type type : function.getArgumentTypes())
    if (!isa<MemRefType>(type) && !type.isF32() && !type.isF64())
      return function.emitOpError()
             << "takes " << type
             << ", but a kernel takes memrefs and f32 or f64 scalars";
  return success();
}

static LogicalResult checkView(TileProgram &program, Operation *user,
                               Value view) {
  dnn::ViewOp op = TileProgram::getView(view);
  auto argument = op ? dyn_cast<BlockArgument>(op.getSource()) : nullptr;
  if (!argument || argument.getOwner() != &program.function.getBody().front())
    return user->emitOpError(
        "needs a dnn.view of an argument of the kernel function");
  return success();
}

/// The uses of values: loads and store at the tile's place, the product of the
/// two loaded tiles in their order, its result to the store.
static LogicalResult checkUses(TileProgram &program) {
  Block &tile = program.tiles.getBody().front();
  Value position[] = {tile.getArgument(0), tile.getArgument(1),
                      tile.getArgument(2)};
  Value k = program.pipeline.getLoad().front().getArgument(0);
  auto isAt = [](auto op, Value group, Value row, Value column) {
    return op.getGroup() == group && op.getRow() == row &&
           op.getColumn() == column;
  };
  if (!isAt(program.loadM, position[0], position[1], k))
    return program.loadM.emitOpError("needs the position [group, m, k]");
  if (!isAt(program.loadN, position[0], position[2], k))
    return program.loadN.emitOpError("needs the position [group, n, k]");
  if (!isAt(program.store, position[0], position[1], position[2]) ||
      program.store.getValue() != program.pipeline.getResult())
    return program.store.emitOpError(
        "needs the pipeline's result and the position [group, m, n]");
  Block &compute = program.pipeline.getCompute().front();
  if (program.mma.getA() != compute.getArgument(0) ||
      program.mma.getB() != compute.getArgument(1) ||
      program.mma.getAcc() != compute.getArgument(2) ||
      compute.getTerminator()->getOperand(0) != program.mma.getResult())
    return program.mma.emitOpError(
        "needs the loaded tiles and the accumulator in their order, and its "
        "result to be yielded");
  return success();
}

/// Whether the kernel has `value` as an f32 scalar: an argument, or an f64
/// argument that is truncated.
static bool isScalarArgument(TileProgram &program, Value value) {
  Block *entry = &program.function.getBody().front();
  if (!value.getType().isF32())
    return false;
  if (auto truncation = value.getDefiningOp<arith::TruncFOp>())
    value = truncation.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == entry &&
         (argument.getType().isF32() || argument.getType().isF64());
}

/// Epilogues compute from their arguments and from scalars of the kernel.
static LogicalResult checkEpilogue(TileProgram &program) {
  dnn::TileStoreOp store = program.store;
  auto isInside = [&](Value operand) {
    return operand.getParentRegion() == &store.getEpilogue();
  };
  auto areAvailable = [&](Operation *op) {
    return (op->getNumResults() == 1 &&
            isScalarArgument(program, op->getResult(0))) ||
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return isInside(operand) || isScalarArgument(program, operand);
           });
  };
  WalkResult result = store.getEpilogue().walk([&](Operation *op) {
    bool isScalar = op->hasTrait<OpTrait::Elementwise>() ||
                    op->hasTrait<OpTrait::ConstantLike>() ||
                    op->hasTrait<OpTrait::IsTerminator>();
    return isScalar && areAvailable(op) ? WalkResult::advance()
                                        : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return store.emitOpError("needs an epilogue of elementwise ops on its "
                             "arguments and on scalar arguments of the "
                             "kernel");
  for (Value extra : store.getExtras()) {
    Type element = cast<dnn::ViewType>(extra.getType()).getElementType();
    if (!element.isF16() && !element.isBF16() && !element.isF32())
      return store.emitOpError()
             << "needs further tensors of f16, bf16 or f32, but has "
             << element;
  }
  return success();
}

/// The sizes of everything agree.
static LogicalResult checkSizes(TileProgram &program) {
  auto pipeline = program.pipeline;
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  for (dnn::TileLoadOp load : {program.loadM, program.loadN}) {
    dnn::CoordsAttr coords = TileProgram::getView(load.getView()).getCoords();
    if (coords.getSpace(2) != pipeline.getReduce())
      return load.emitOpError(
          "needs a view whose columns are the pipeline's reduction");
    if (load.getType().getShape()[1] !=
        static_cast<int64_t>(pipeline.getStep()))
      return load.emitOpError()
             << "needs tiles as wide as the step, " << pipeline.getStep();
  }
  ArrayRef<int64_t> extents = program.store.getView().getType().getShape();
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  ArrayRef<int64_t> m = program.loadM.getView().getType().getShape();
  ArrayRef<int64_t> n = program.loadN.getView().getType().getShape();
  const int64_t parts = pipeline.getParts().value_or(1);
  if (counts[0] % parts != 0)
    return pipeline.emitOpError()
           << "needs groups for " << parts << " parts, but has " << counts[0];
  if (program.tiles.getTile() != acc || counts[0] != extents[0] ||
      counts[1] != llvm::divideCeilSigned(extents[1], acc[0]) ||
      counts[2] != llvm::divideCeilSigned(extents[2], acc[1]))
    return program.tiles.emitOpError(
        "needs counts and tiles that cover the stored view");
  if (m[0] != extents[0] || n[0] != extents[0] || m[1] != extents[1] ||
      n[1] != extents[2])
    return program.store.emitOpError(
        "needs a view of the rows of both factors");
  return success();
}

//===----------------------------------------------------------------------===//
// Can this target and this lowering do it
//===----------------------------------------------------------------------===//

/// What this lowering cannot do yet is refused here, by name.
static LogicalResult checkPipeline(dnn::PipelineOp pipeline,
                                   dnn::ForEachTileOp tiles,
                                   const GpuTarget &target) {
  bool isDirect = pipeline.getCopy() == dnn::CopyKind::DirectToLds;
  if (isDirect && target.directLdsBytes < kChunkBytes)
    return pipeline.emitOpError()
           << "has copy direct_to_lds, but " << target.name
           << " loads no 16 bytes a lane to LDS";
  if (!isDirect && pipeline.getCopy() != dnn::CopyKind::Registers)
    return pipeline.emitOpError()
           << "has copy " << stringifyEnum(pipeline.getCopy())
           << ", but this target copies through registers or directly to LDS";
  if (!isDirect && pipeline.getBuffers() > 2)
    return pipeline.emitOpError()
           << "needs 2 buffers, or 1 that holds the whole reduction, but has "
           << pipeline.getBuffers();
  if (isDirect && pipeline.getBuffers() < 2)
    return pipeline.emitOpError("needs at least 2 buffers");
  if (pipeline.getParts())
    return pipeline.emitOpError("has parts, but only copies by tma share a "
                                "reduction out by steps");
  const bool isWhole = pipeline.getBuffers() == 1;
  if (tiles.getPersistent() && (!isWhole || tiles.getCounts()[2] != 1))
    return tiles.emitOpError("is persistent, but this target runs one tile a "
                             "workgroup, unless that has all columns and loads "
                             "the reduction at once");
  return success();
}

static LogicalResult checkStore(dnn::TileStoreOp store,
                                const GpuTarget &target) {
  if (store.getAtomic() && !target.hasFloatAtomics)
    return store.emitOpError() << "adds atomically, but " << target.name
                               << " has no instruction that adds an f32 to "
                                  "memory";
  return success();
}

static std::optional<FactorType> getFactorType(Type element) {
  if (element.isF16())
    return FactorType::F16;
  if (element.isBF16())
    return FactorType::BF16;
  if (element.isF32())
    return FactorType::F32;
  if (element.isF64())
    return FactorType::F64;
  if (element.isSignlessInteger(8))
    return FactorType::I8;
  return std::nullopt;
}

/// Sums of bytes are i32 and may be stored as such or as f32; sums of doubles
/// are doubles; all others are f32, stored as such or as the factors are.
static bool isSumOf(Type element, Type sum, Type result) {
  if (element.isInteger())
    return sum.isSignlessInteger(32) && (result == sum || result.isF32());
  if (element.isF64())
    return sum == element && result == element;
  return sum.isF32() && (result == sum || result == element);
}

static LogicalResult chooseInstruction(TileProgram &program,
                                       const GpuTarget &target) {
  dnn::TileMmaOp mma = program.mma;
  Type element = mma.getA().getType().getElementType();
  auto type = getFactorType(element);
  if (!type || !isSumOf(element, mma.getAcc().getType().getElementType(),
                        program.store.getView().getType().getElementType()))
    return mma.emitOpError(
        "needs factors of f16, bf16 or f32 with a sum of f32, of f64 with one "
        "of f64, or of i8 with one of i32, and a result of the factors' or the "
        "sum's type");
  auto instruction = findMatrixInstruction(target, mma.getInstruction(), *type);
  if (!instruction)
    return mma.emitOpError()
           << "names '" << mma.getInstruction() << "', but " << target.name
           << " has no such matrix instruction for " << element;
  program.instruction = *instruction;

  ArrayRef<int64_t> waves = mma.getWaves();
  ArrayRef<int64_t> acc = mma.getAcc().getType().getShape();
  int64_t rowsM = instruction->columns, rowsN = instruction->rows;
  if (mma.getLanes() == dnn::TileDim::M)
    std::swap(rowsM, rowsN);
  if (acc[0] % (waves[0] * rowsM) != 0 || acc[1] % (waves[1] * rowsN) != 0)
    return mma.emitOpError()
           << "needs a tile of whole instructions for each wave, " << rowsM
           << "x" << rowsN;
  return success();
}

/// The threads of a workgroup.
static LogicalResult countThreads(TileProgram &program,
                                  const GpuTarget &target) {
  constexpr int64_t kMaxThreads = 1024;
  ArrayRef<int64_t> waves = program.mma.getWaves();
  program.threads = waves[0] * waves[1] * target.waveSize;
  if (program.threads > kMaxThreads)
    return program.mma.emitOpError()
           << "has " << program.threads << " threads, but a workgroup has at "
           << "most " << kMaxThreads;
  return success();
}

/// Chunks and LDS of a pipeline.
static LogicalResult checkResources(TileProgram &program,
                                    const GpuTarget &target) {
  auto pipeline = program.pipeline;
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  Type element = program.mma.getA().getType().getElementType();
  int64_t rowBytes = pipeline.getStep() * element.getIntOrFloatBitWidth() / 8;
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  int64_t chunks = rowBytes / kChunkBytes;
  int64_t laneBytes = program.instruction.kPerLane * elementBytes;
  int64_t laneChunks = program.instruction.getLaneChunks() *
                       std::max<int64_t>(1, laneBytes / kChunkBytes);
  if (rowBytes % kChunkBytes != 0 || !llvm::isPowerOf2_64(chunks) ||
      chunks % laneChunks != 0)
    return pipeline.emitOpError() << "needs a step of a power of two 16-byte "
                                     "chunks, at least "
                                  << laneChunks;
  for (int64_t rows : acc) {
    if (rows * chunks % program.threads != 0)
      return program.mma.emitOpError()
             << "has " << program.threads << " threads, which do not divide a "
             << rows << "x" << pipeline.getStep() << " tile into chunks";
  }
  int64_t buffers = pipeline.getBuffers();
  int64_t ldsBytes = buffers * (acc[0] + acc[1]) * rowBytes;
  if (ldsBytes > target.ldsBytes)
    return pipeline.emitOpError()
           << "needs " << ldsBytes << " bytes of LDS, but " << target.name
           << " has " << target.ldsBytes;
  return success();
}

LogicalResult tessera::checkReach(Operation *op, Value view, int64_t rows) {
  ViewAccess access(TileProgram::getView(view));
  int64_t bytes = getWindowBytes(access, rows);
  if (bytes > kOutOfRange)
    return op->emitOpError()
           << "spans " << bytes
           << " bytes of its tensor, but a buffer descriptor reaches "
           << kOutOfRange;
  if (!access.fitsInt32())
    return op->emitOpError("has coordinates beyond 32 bits");
  return success();
}

static LogicalResult checkLimits(TileProgram &program) {
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  if (failed(checkReach(program.loadM, program.loadM.getView(), acc[0])) ||
      failed(checkReach(program.loadN, program.loadN.getView(), acc[1])) ||
      failed(checkReach(program.store, program.store.getView(), acc[0])))
    return failure();
  for (Value extra : program.store.getExtras())
    if (failed(checkReach(program.store, extra, acc[0])))
      return failure();
  // HIP counts work-items, and the lowering positions, in 32 bits.
  double items = program.threads;
  for (int64_t count : program.tiles.getCounts())
    items *= static_cast<double>(count);
  if (items > std::numeric_limits<uint32_t>::max())
    return program.tiles.emitOpError("has more than 2^32 work-items");
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Whether stepping along the last `count` reduction dimensions is stepping
/// along one, and moves nothing but the offset: no padding check depends on it.
static bool isLinearAlong(dnn::TileLoadOp load, unsigned count) {
  ViewAccess access(TileProgram::getView(load.getView()));
  return access.getSpace(2, access.getNumColumnDims() - count, count)
      .isLinear();
}

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// Nested if a turn of the loop, a step for each buffer, divides the innermost
/// dimensions (the channels; with nothing to tell them apart, the taps too) and
/// the padding is the same all along them. As many as possible: the outer loop
/// costs. Stepped if a step divides them.
static LogicalResult chooseWalk(TileProgram &program) {
  auto pipeline = program.pipeline;
  ArrayRef<int64_t> reduce = pipeline.getReduce();
  int64_t total = getProduct(reduce);
  int64_t turn = pipeline.getBuffers() * pipeline.getStep();
  int64_t padded = (total + turn - 1) / turn * turn;
  using Kind = ReductionWalk::Kind;
  program.walk = {Kind::Flat, static_cast<unsigned>(reduce.size()), 1, padded,
                  total};
  int64_t step = pipeline.getStep();
  for (unsigned count = 1;
       count <= reduce.size() && isLinearAlong(program.loadM, count) &&
       isLinearAlong(program.loadN, count);
       ++count) {
    int64_t inner = getProduct(reduce.take_back(count));
    if (inner % turn == 0)
      program.walk = {Kind::Nested, count, total / inner, inner, total};
    else if (inner % step == 0 && total >= 2 * turn &&
             program.walk.kind != Kind::Nested)
      program.walk = {Kind::Stepped, count, total / inner, inner, total};
  }
  // A loop that LLVM sees run once becomes a straight line, in which it moves
  // every fused multiply-add behind the last barrier, and spills by the
  // hundred. Two turns keep it a loop.
  if (program.walk.kind == Kind::Flat && program.instruction.isFma())
    program.walk.inner = std::max(padded, 2 * turn);
  constexpr int64_t kMaxPosition = std::numeric_limits<int32_t>::max();
  int64_t reach =
      program.walk.kind == Kind::Stepped ? total : program.walk.inner;
  if ((reach + turn) * 4 > kMaxPosition)
    return pipeline.emitOpError("has a reduction beyond the reach of a 32-bit "
                                "loop");
  return success();
}

/// Direct copies bring whole chunks, and know no division.
static LogicalResult checkDirectCopy(TileProgram &program,
                                     const GpuTarget &target) {
  if (!program.isDirect())
    return success();
  auto pipeline = program.pipeline;
  if (!program.walk.hasTaps())
    return pipeline.emitOpError()
           << "has copy direct_to_lds, which needs a reduction of two turns or "
              "more whose innermost dimension "
           << pipeline.getStep() << " divides";
  constexpr int64_t kMaxLoadsInFlight = 63;
  int64_t loads = 0;
  for (dnn::TileLoadOp load : {program.loadM, program.loadN}) {
    ViewAccess access(TileProgram::getView(load.getView()));
    int64_t chunk = kChunkBytes / access.getElementBytes();
    if (access.getVectorWidth(/*index=*/2, chunk) != chunk)
      return load.emitOpError("has rows without whole 16-byte chunks, but is "
                              "copied directly to LDS");
    if (access.getTensorBytes() + DirectCopy::getHeadroom(target) > kOutOfRange)
      return load.emitOpError("has a tensor of about 2 GiB or more, but is "
                              "copied directly to LDS");
    loads += load.getType().getShape()[0] * pipeline.getStep() / chunk /
             program.threads;
  }
  if (loads * static_cast<int64_t>(pipeline.getBuffers() - 1) >
      kMaxLoadsInFlight)
    return pipeline.emitOpError() << "has more than " << kMaxLoadsInFlight
                                  << " loads of a lane in flight";
  return success();
}

//===----------------------------------------------------------------------===//
// A reduction that is loaded at once
//===----------------------------------------------------------------------===//

/// The step, and what of the product is written out.
static LogicalResult checkWholeStep(TileProgram &program) {
  auto pipeline = program.pipeline;
  Type element = program.mma.getA().getType().getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (!isa<FloatType>(element) || bytes > 4)
    return pipeline.emitOpError()
           << "has 1 buffer, which needs elements of f16, bf16 or f32, but has "
           << element;
  const MatrixInstruction &row = program.instruction;
  int64_t chunk = kChunkBytes / bytes;
  int64_t atOnce = row.getLaneChunks() * std::max<int64_t>(chunk, row.kPerLane);
  int64_t step = pipeline.getStep(), total = getProduct(pipeline.getReduce());
  if (step < total || step % atOnce != 0)
    return pipeline.emitOpError()
           << "has 1 buffer, which needs a step of at least the whole "
              "reduction, "
           << total << ", and of a multiple of " << atOnce;
  constexpr int64_t kMaxMultiplies = 1024;
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  ArrayRef<int64_t> waves = program.mma.getWaves();
  int64_t multiplies = acc[0] / waves[0] * (acc[1] / waves[1]) /
                       (row.rows * row.columns) * (step / row.k);
  if (multiplies > kMaxMultiplies && !row.isFma())
    return pipeline.emitOpError()
           << "writes out " << multiplies << " matrix instructions, more than "
           << kMaxMultiplies;
  program.resident = {acc[1], step, total, bytes};
  return success();
}

/// Both factors in LDS, each in reach of one descriptor.
static LogicalResult checkWhole(TileProgram &program, const GpuTarget &target) {
  if (failed(checkWholeStep(program)))
    return failure();
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  ArrayRef<int64_t> waves = program.mma.getWaves();
  if (failed(matchWindow(program.loadM, program.loadN, acc[0], program.window)))
    return failure();
  ViewAccess filter(TileProgram::getView(program.loadN.getView()));
  for (const auto &form : llvm::drop_begin(filter.getSpace(1).coefs))
    if (llvm::any_of(form, [](int64_t factor) { return factor != 0; }))
      return program.loadN.emitOpError(
          "is loaded as a whole, which needs rows that cannot leave the "
          "tensor");
  if (acc[1] % (waves[0] * waves[1]) != 0)
    return program.loadN.emitOpError()
           << "has " << acc[1] << " rows, which the waves do not divide";
  if (std::max(program.window.tensorBytes, filter.getTensorBytes()) >
      kOutOfRange)
    return program.pipeline.emitOpError(
        "has 1 buffer, which needs tensors of at most 2 GiB");
  int64_t ldsBytes =
      (program.window.getElements() + program.resident.getElements()) *
      program.resident.elementBytes;
  if (ldsBytes > target.ldsBytes)
    return program.pipeline.emitOpError()
           << "needs " << ldsBytes << " bytes of LDS, but " << target.name
           << " has " << target.ldsBytes;
  return success();
}

int64_t TileProgram::getAccumulatorRegisters() {
  dnn::TileType sums = mma.getAcc().getType();
  ArrayRef<int64_t> waves = mma.getWaves();
  int64_t perWave = sums.getShape()[0] * sums.getShape()[1] / waves[0] /
                    waves[1] / (instruction.rows * instruction.columns);
  return perWave * instruction.accRegs *
         sums.getElementType().getIntOrFloatBitWidth() / 32;
}

LogicalResult tessera::matchTileProgram(func::FuncOp function,
                                        const GpuTarget &target,
                                        TileProgram &program) {
  if (failed(findOps(function, program)))
    return failure();
  if ((!program.isTma() &&
       failed(checkPipeline(program.pipeline, program.tiles, target))) ||
      failed(checkSignature(function)))
    return failure();
  for (auto [op, view] :
       {std::pair<Operation *, Value>{program.loadM, program.loadM.getView()},
        {program.loadN, program.loadN.getView()},
        {program.store, program.store.getView()}})
    if (failed(checkView(program, op, view)))
      return failure();
  for (Value extra : program.store.getExtras())
    if (failed(checkView(program, program.store, extra)))
      return failure();
  if (failed(checkUses(program)) || failed(checkEpilogue(program)) ||
      failed(checkSizes(program)))
    return failure();
  // What TMA and wgmma need is checked where they are lowered (Hopper).
  if (program.isTma())
    return success();
  if (failed(checkStore(program.store, target)) ||
      failed(chooseInstruction(program, target)) ||
      failed(countThreads(program, target)))
    return failure();
  if (program.isWhole())
    return success(succeeded(checkWhole(program, target)) &&
                   succeeded(checkLimits(program)));
  return success(succeeded(checkResources(program, target)) &&
                 succeeded(checkLimits(program)) &&
                 succeeded(chooseWalk(program)) &&
                 succeeded(checkDirectCopy(program, target)));
}
