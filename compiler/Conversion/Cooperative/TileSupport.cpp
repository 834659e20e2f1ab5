//===- TileSupport.cpp - What the lowering does on a chip -----------------===//

#include "compiler/Conversion/Cooperative/TileSupport.h"
#include "compiler/Conversion/Cooperative/DirectCopy.h"
#include "compiler/Conversion/Cooperative/PlaneCopy.h"
#include "compiler/Conversion/Cooperative/TransposedCopy.h"
#include "compiler/Target/ElementType.h"
#include "compiler/Target/LaunchLds.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <limits>

using namespace mlir;
using namespace tessera;

/// What this lowering cannot do yet is refused here, by name.
LogicalResult tessera::checkPipelineSupport(TileProgram &program,
                                            const GpuTarget &target) {
  dnn::PipelineOp pipeline = program.pipeline;
  dnn::ForEachTileOp tiles = program.tiles;
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
  if (pipeline.getSplits() && !ShapedType::isDynamicShape(pipeline.getReduce()))
    return pipeline.emitOpError("has splits, but only copies by tma share a "
                                "reduction of known length out by steps");
  const bool holdsFilter =
      pipeline.getBuffers() == 1 && tiles.getCounts()[2] == 1;
  if (tiles.getPersistent() && !holdsFilter &&
      !(isDirect && target.vendor == Vendor::Nvidia))
    return tiles.emitOpError("is persistent, but this target runs one tile a "
                             "workgroup, unless that has all columns and loads "
                             "the reduction at once");
  return success();
}

/// Of unknown sizes the runtime checks what follows from them, and each
/// workgroup has one tile, but for copies by TMA or cp.async.
LogicalResult tessera::checkUnknownSizes(TileProgram &program) {
  dnn::PipelineOp pipeline = program.pipeline;
  if (!program.hasUnknownSizes())
    return success();
  if (program.isTma()) {
    const bool isWhole = !pipeline.getSplits() ||
                         ShapedType::isDynamicShape(pipeline.getReduce());
    if (isWhole && !pipeline.getCluster() && !pipeline.getMulticast() &&
        !program.store.getStatistics())
      return success();
    return pipeline.emitOpError(
        "has tensors of unknown sizes, which copies by tma take without "
        "clusters, statistics and splits of a known length");
  }
  if (program.isAmpere())
    return success();
  if (pipeline.getCopy() != dnn::CopyKind::Registers ||
      pipeline.getBuffers() > 2 || pipeline.getHalo() ||
      program.tiles.getPersistent() || program.tiles.getRun())
    return pipeline.emitOpError(
        "has tensors of unknown sizes, which needs one or two buffers, copies "
        "through registers, no halo, and one tile a workgroup");
  return success();
}

static LogicalResult checkStore(TileProgram &program, const GpuTarget &target) {
  if (program.isAtomic && !target.hasFloatAtomics)
    return program.opStore->emitOpError()
           << "adds atomically, but " << target.name
           << " has no instruction that adds an f32 to "
              "memory";
  return success();
}

/// Sums of bytes are i32 and may be stored as such, as f32 or as bytes; sums of
/// doubles are doubles; all others are f32, stored as such or as the factors
/// are, and those of floats of 8 and 16 bits as any of these, too.
static bool isSumOf(Type element, Type sum, Type result) {
  if (element.isInteger())
    return sum.isSignlessInteger(32) &&
           (result == sum || result.isF32() || result == element);
  if (element.isF64())
    return sum == element && result == element;
  return sum.isF32() && (result == sum || result == element ||
                         (!element.isF32() && hasF32Sums(result)));
}

/// Whether a factor goes directly to LDS and is transposed behind it.
static bool isTransposed(TileProgram &program, dnn::ViewOp view,
                         const MatrixInstruction &instruction) {
  return program.isDirect &&
         TransposedCopy::isFor(ViewAccess(view), instruction);
}

/// Where P is transposed, its rows are in their order.
static std::optional<MatrixInstruction>
findInstruction(TileProgram &program, DataType type, const GpuTarget &target) {
  std::string name = program.instructionName.str();
  auto row = findMatrixInstruction(target, name, type);
  dnn::ViewOp p = program.lanesAlongN ? program.viewN : program.viewM;
  if (row && isTransposed(program, p, *row))
    return findMatrixInstruction(target, name + "t", type);
  return row;
}

static LogicalResult chooseInstruction(TileProgram &program,
                                       const GpuTarget &target) {
  Operation *mma = program.opMma;
  Type element = ViewAccess(program.viewM).getElementType();
  auto type = findDataType(element);
  if (!type || !isSumOf(element, program.sumType,
                        ViewAccess(program.viewD).getElementType()))
    return mma->emitOpError(
        "needs operands of f16, bf16, f32 or 8-bit floats with accumulators of "
        "f32, of f64 with some of f64, or of i8 with some of i32, and a result "
        "of the operands' or the accumulators' type");
  auto instruction = findInstruction(program, *type, target);
  if (!instruction)
    return mma->emitOpError()
           << "names '" << program.instructionName << "', but " << target.name
           << " has no such matrix instruction for " << element;
  program.instruction = *instruction;

  int64_t rowsM = instruction->columns, rowsN = instruction->rows;
  if (!program.lanesAlongN)
    std::swap(rowsM, rowsN);
  if (program.rowsM % (program.waves[0] * rowsM) != 0 ||
      program.rowsN % (program.waves[1] * rowsN) != 0)
    return mma->emitOpError()
           << "needs a tile of whole instructions for each wave, " << rowsM
           << "x" << rowsN;
  return success();
}

/// The threads of a workgroup.
static LogicalResult countThreads(TileProgram &program,
                                  const GpuTarget &target) {
  constexpr int64_t kMaxThreads = 1024;
  program.threads = program.waves[0] * program.waves[1] * target.waveSize;
  if (program.threads > kMaxThreads)
    return program.opMma->emitOpError()
           << "has " << program.threads << " threads, but a workgroup has at "
           << "most " << kMaxThreads;
  return success();
}

static LogicalResult checkHaloChip(TileProgram &program,
                                   const GpuTarget &target) {
  if (!program.isDirect && target.vendor != Vendor::Amd)
    return program.opLoop->emitOpError()
           << "has a halo that is copied through registers, which is for AMD's "
              "chips, but "
           << target.name << " copies directly to LDS";
  if (program.isDirect && target.vendor != Vendor::Nvidia)
    return program.opLoop->emitOpError()
           << "has a halo, but lanes of " << target.name
           << " have no say in where a copy to LDS goes";
  return success();
}

LogicalResult tessera::findHalo(TileProgram &program, const GpuTarget &target) {
  const MatrixInstruction &row = program.instruction;
  const SharedTile tile{program.rowsM, program.step, program.threads};
  if (failed(checkHaloChip(program, target)))
    return failure();
  if (program.isDirect) {
    if (!row.readsMatrices() || !program.lanesAlongN ||
        isTransposed(program, program.viewM, row))
      return program.opMma->emitOpError(
          "has a halo, which needs pixels that ldmatrix reads as they lie, and "
          "lanes along n");
    if (failed(matchHaloLines(program.opM, program.viewM, tile, program.halo)))
      return failure();
  } else {
    if (row.isFma())
      return program.opMma->emitOpError(
          "has a halo, which needs a matrix instruction");
    if (failed(matchPlaneHalo(program.opM, program.viewM, tile,
                              program.planeHalo)))
      return failure();
  }
  const size_t taps = program.findHalo()->taps.size();
  if (taps < 2)
    return program.opLoop->emitOpError("has a halo, which needs several taps");
  if (taps > HaloLines::kMaxTaps)
    return program.opLoop->emitOpError()
           << "has a halo, which takes " << HaloLines::kMaxTaps
           << " taps, but has " << taps;
  return success();
}

LogicalResult tessera::checkHaloFilter(TileProgram &program) {
  ViewAccess filter(program.viewN);
  if (filter.getSpace(2, filter.getNumColumnDims() - 1, 1).isLinear() &&
      (program.isDirect || filter.getNumForms() == 1))
    return success();
  return program.opN->emitOpError(
      "has a halo, which needs channels that no padding depends on");
}

/// What the loop of a halo needs, which is written out over the taps; of
/// planes, for both slots.
static LogicalResult checkHaloLoop(TileProgram &program) {
  auto pipeline = program.pipeline;
  constexpr int64_t kMaxMultiplies = 512;
  const MatrixInstruction &row = program.instruction;
  if (pipeline.getHalo() != HaloLines::kBuffers)
    return pipeline.emitOpError()
           << "has a halo of " << *pipeline.getHalo() << " buffers, but needs "
           << HaloLines::kBuffers;
  const int64_t taps = program.findHalo()->taps.size();
  const int64_t blocks = program.isDirect ? 1 : HaloLines::kBuffers;
  int64_t multiplies = program.rowsM / program.waves[0] * program.rowsN /
                       program.waves[1] / (row.rows * row.columns) *
                       (program.step / row.k) * taps * blocks;
  if (multiplies > kMaxMultiplies)
    return pipeline.emitOpError()
           << "writes out " << multiplies << " matrix instructions, more than "
           << kMaxMultiplies;
  if (program.isDirect && taps % program.buffers != 0)
    return pipeline.emitOpError() << "has a halo, which needs buffers that "
                                     "divide the taps, but has "
                                  << program.buffers << " for " << taps;
  return success();
}

/// Results of workgroups that take tiles in turn wait in LDS, if so many bytes
/// of it are enough.
static void stageResults(TileProgram &program, int64_t bytes) {
  const StagedTile staged{program.rowsM, program.rowsN,
                          ViewAccess(program.viewD).getElementBytes(),
                          program.threads};
  if (program.tiles.getPersistent() && !program.isAtomic &&
      staged.isFor(program.viewD) && staged.getBytes() <= bytes)
    program.staged = staged;
}

/// Chunks and LDS of a main loop.
LogicalResult tessera::checkMainLoop(TileProgram &program) {
  int64_t elementBytes = ViewAccess(program.viewM).getElementBytes();
  int64_t rowBytes = program.step * elementBytes;
  int64_t chunks = rowBytes / kChunkBytes;
  int64_t laneBytes = program.instruction.kPerLane * elementBytes;
  int64_t laneChunks = program.instruction.getLaneChunks() *
                       std::max<int64_t>(1, laneBytes / kChunkBytes);
  if (rowBytes % kChunkBytes != 0 || !llvm::isPowerOf2_64(chunks) ||
      chunks % laneChunks != 0)
    return program.opLoop->emitOpError()
           << "needs a step of a power of two 16-byte chunks, at least "
           << laneChunks;
  for (int64_t rows : {program.rowsM, program.rowsN}) {
    if (rows * chunks % program.threads != 0)
      return program.opMma->emitOpError()
             << "has " << program.threads << " threads, which do not divide a "
             << rows << "x" << program.step << " tile into chunks";
  }
  return success();
}

/// The halo of a program that has one, and whether results wait in LDS.
static LogicalResult checkShared(TileProgram &program,
                                 const GpuTarget &target) {
  if (!program.pipeline.getHalo())
    return success();
  if (failed(findHalo(program, target)) || failed(checkHaloLoop(program)))
    return failure();
  const int64_t filter = program.buffers * program.rowsN * program.step *
                         ViewAccess(program.viewN).getElementBytes();
  if (program.isDirect)
    stageResults(program,
                 getMaxLdsBytes(target) - program.halo.getBytes() - filter);
  return success();
}

LogicalResult tessera::checkReach(Operation *op, Value view, int64_t rows) {
  ViewAccess access(TileProgram::getView(view));
  if (access.isOpen())
    return success(); // The runtime knows (ProblemFamily.cpp).
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

LogicalResult tessera::checkStoreReach(TileProgram &program, int64_t rows) {
  if (failed(checkReach(program.opStore, program.viewD, rows)))
    return failure();
  for (dnn::ViewOp extra : program.extras)
    if (failed(checkReach(program.opStore, extra, rows)))
      return failure();
  return success();
}

LogicalResult tessera::checkAllReach(TileProgram &program) {
  return success(
      succeeded(checkReach(program.opM, program.viewM, program.rowsM)) &&
      succeeded(checkReach(program.opN, program.viewN, program.rowsN)) &&
      succeeded(checkStoreReach(program, program.rowsM)));
}

/// HIP counts work-items, and programs number tiles, in 32 bits.
static LogicalResult checkLimits(TileProgram &program) {
  double items = program.threads;
  for (int64_t count : program.tiles.getCounts())
    items *= static_cast<double>(ShapedType::isDynamic(count) ? 1 : count);
  if (items > std::numeric_limits<uint32_t>::max())
    return program.tiles.emitOpError("has more than 2^32 work-items");
  return success();
}

//===----------------------------------------------------------------------===//
// Direct copies
//===----------------------------------------------------------------------===//

LogicalResult tessera::checkDirectCopy(TileProgram &program,
                                       const GpuTarget &target) {
  if (!program.isDirect)
    return success();
  if (!program.walk.hasTaps())
    return program.opLoop->emitOpError()
           << "has copy direct_to_lds, which needs a reduction of two "
              "iterations or more whose innermost dimension "
           << program.step << " divides";
  constexpr int64_t kMaxLoadsInFlight = 63;
  int64_t loads = 0;
  for (auto [op, view, rows] :
       {std::tuple(program.opM, program.viewM, program.rowsM),
        std::tuple(program.opN, program.viewN, program.rowsN)}) {
    ViewAccess access(view);
    int64_t chunk = kChunkBytes / access.getElementBytes();
    int64_t step = program.step;
    bool isTransposed = TransposedCopy::isFor(access, program.instruction);
    if (isTransposed && !TransposedCopy::divides(rows, step, program.threads))
      return op->emitOpError()
             << "is transposed from LDS, but " << program.threads
             << " threads do not divide the lines of its " << rows << "x"
             << step << " tile";
    if (!isTransposed && access.getVectorWidth(/*index=*/2, chunk) != chunk)
      return op->emitOpError("has rows without whole 16-byte chunks, but is "
                             "copied directly to LDS");
    if (access.getTensorBytes() + DirectCopy::getHeadroom(target) > kOutOfRange)
      return op->emitOpError("has a tensor of about 2 GiB or more, but is "
                             "copied directly to LDS");
    loads += rows * step / chunk / program.threads;
  }
  if (loads * (program.buffers - 1) > kMaxLoadsInFlight)
    return program.opLoop->emitOpError()
           << "has more than " << kMaxLoadsInFlight
           << " loads of a lane in flight";
  return success();
}

//===----------------------------------------------------------------------===//
// A reduction that is loaded at once
//===----------------------------------------------------------------------===//

/// The step, and what of the product is written out.
static LogicalResult checkWholeStep(TileProgram &program) {
  ViewAccess access(program.viewM);
  Type element = access.getElementType();
  int64_t bytes = access.getElementBytes();
  if (!isa<FloatType>(element) || bytes > 4 ||
      ViewAccess(program.viewN).isOpen())
    return program.opLoop->emitOpError()
           << "loads its reduction as a whole, which needs elements of f16, "
              "bf16 or f32 and a filter of known sizes, but has "
           << element;
  const MatrixInstruction &row = program.instruction;
  int64_t chunk = kChunkBytes / bytes;
  int64_t atOnce = row.getLaneChunks() * std::max<int64_t>(chunk, row.kPerLane);
  ArrayRef<int64_t> reduce = program.viewM.getCoords().getSpace(2);
  int64_t step = program.step, total = computeProduct(reduce);
  if (program.viewN.getCoords().getSpace(2) != reduce || step < total ||
      step % atOnce != 0)
    return program.opLoop->emitOpError()
           << "loads its reduction as a whole, which needs operands with the "
              "same one and a step of at least its "
           << total << " elements, a multiple of " << atOnce;
  constexpr int64_t kMaxMultiplies = 1024;
  int64_t multiplies = program.rowsM / program.waves[0] *
                       (program.rowsN / program.waves[1]) /
                       (row.rows * row.columns) * (step / row.k);
  if (multiplies > kMaxMultiplies && !row.isFma())
    return program.opLoop->emitOpError()
           << "writes out " << multiplies << " matrix instructions, more than "
           << kMaxMultiplies;
  program.resident = {program.rowsN, step, total, bytes};
  return success();
}

LogicalResult tessera::findWindows(TileProgram &program) {
  if (failed(checkWholeStep(program)) ||
      failed(matchWindow(program.opM, program.viewM, program.viewN,
                         program.rowsM, program.window)))
    return failure();
  ViewAccess filter(program.viewN);
  for (const auto &form : llvm::drop_begin(filter.getSpace(1).coefs))
    if (llvm::any_of(form, [](int64_t factor) { return factor != 0; }))
      return program.opN->emitOpError(
          "is loaded as a whole, which needs rows that cannot leave the "
          "tensor");
  if (program.rowsN % (program.waves[0] * program.waves[1]) != 0)
    return program.opN->emitOpError()
           << "has " << program.rowsN << " rows, which the waves do not divide";
  // Of unknown sizes the runtime knows (ProblemFamily.cpp).
  const OpenNumber &image = program.window.tensorBytes;
  if (std::max<int64_t>(image.isKnown() ? int64_t(image) : 0,
                        filter.getTensorBytes()) > kOutOfRange)
    return program.opLoop->emitOpError(
        "loads its reduction as a whole, which needs tensors of at most 2 GiB");
  return success();
}

LogicalResult tessera::checkProducts(TileProgram &program,
                                     const GpuTarget &target) {
  return success(succeeded(checkStore(program, target)) &&
                 succeeded(chooseInstruction(program, target)) &&
                 succeeded(countThreads(program, target)));
}

LogicalResult tessera::checkTileSupport(TileProgram &program,
                                        const GpuTarget &target) {
  if (failed(checkProducts(program, target)) || failed(checkLimits(program)))
    return failure();
  if (program.isWhole())
    return findWindows(program);
  return success(succeeded(checkMainLoop(program)) &&
                 succeeded(checkShared(program, target)) &&
                 succeeded(chooseWalk(program, target)) &&
                 succeeded(checkDirectCopy(program, target)) &&
                 succeeded(checkTurns(program)));
}
