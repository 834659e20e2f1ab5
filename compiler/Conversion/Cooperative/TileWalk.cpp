//===- TileWalk.cpp - How a tile's loop goes through its reduction --------===//

#include "compiler/Conversion/Cooperative/PlaneCopy.h"
#include "compiler/Conversion/Cooperative/TileSupport.h"
#include "compiler/Target/LaunchLds.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <limits>

using namespace mlir;
using namespace tessera;

/// Whether stepping along the last `count` reduction dimensions is stepping
/// along one, and moves nothing but the offset: no padding check depends on it.
static bool isLinearAlong(dnn::TileLoadOp load, unsigned count) {
  ViewAccess access(TileProgram::getView(load.getView()));
  return access.getSpace(2, access.getNumColumnDims() - count, count)
      .isLinear();
}

/// The walk by chunks of planes, if both operands and LDS permit it.
static std::optional<ReductionWalk> matchPlanes(TileProgram &program,
                                                const GpuTarget &target) {
  auto pipeline = program.pipeline;
  ArrayRef<int64_t> reduce = pipeline.getReduce();
  const int64_t step = pipeline.getStep();
  if (target.vendor != Vendor::Amd || program.isDirect ||
      program.hasUnknownSizes())
    return std::nullopt;
  int64_t bytes = 0;
  for (dnn::TileLoadOp load : {program.loadM, program.loadN}) {
    int64_t rows = load.getType().getShape()[0];
    if (!PlaneCopy::isFor(ViewAccess(TileProgram::getView(load.getView())),
                          rows, step))
      return std::nullopt;
    bytes += rows * step * pipeline.getBuffers() * PlaneCopy::kElementBytes;
  }
  constexpr int64_t kChunk = kChunkBytes / PlaneCopy::kElementBytes;
  const int64_t plane = computeProduct(reduce.drop_front());
  ReductionWalk walk{ReductionWalk::Kind::Stepped,
                     static_cast<unsigned>(reduce.size() - 1),
                     reduce.front(),
                     llvm::divideCeilSigned(plane, kChunk) * kChunk,
                     computeProduct(reduce),
                     plane};
  for (dnn::TileLoadOp load : {program.loadM, program.loadN})
    bytes += PlaneCopy::countTableBytes(
        ViewAccess(TileProgram::getView(load.getView())), walk);
  if (bytes > getMaxLdsBytes(target))
    return std::nullopt;
  return walk;
}

/// Whether what lies behind the reduction's end lies behind the tensor's.
static bool endsTensor(dnn::TileLoadOp load) {
  ViewAccess access(TileProgram::getView(load.getView()));
  AccessSpace columns = access.getSpace(2);
  return columns.getInnermostStep() * columns.getExtent() ==
         access.getTensorBytes();
}

/// The walk of a reduction of unknown length, in whole turns: nested, with one
/// tap, if nothing but the offset depends on it and it ends with the tensors.
static void chooseOpenWalk(TileProgram &program, int64_t turn) {
  dnn::PipelineOp pipeline = program.pipeline;
  const auto dims = static_cast<unsigned>(pipeline.getReduce().size());
  const OpenNumber total =
      ViewAccess(TileProgram::getView(program.loadM.getView()))
          .getSpace(2)
          .getExtent();
  const OpenNumber each = program.countSplits() * turn;
  const bool isLinear =
      isLinearAlong(program.loadM, dims) && isLinearAlong(program.loadN, dims);
  const bool isNested =
      isLinear && endsTensor(program.loadM) && endsTensor(program.loadN);
  program.walk = {
      isNested ? ReductionWalk::Kind::Nested : ReductionWalk::Kind::Flat, dims,
      1, OpenNumber(ceilDiv(total.toExpr(), each.toExpr())) * turn, total};
}

/// Nested if a turn of the loop, a step for each buffer, divides the innermost
/// dimensions (the channels; with nothing to tell them apart, the taps too) and
/// the padding is the same all along them. As many as possible: the outer loop
/// costs. Stepped if a step divides them.
LogicalResult tessera::chooseWalk(TileProgram &program,
                                  const GpuTarget &target) {
  auto pipeline = program.pipeline;
  ArrayRef<int64_t> reduce = pipeline.getReduce();
  int64_t turn = pipeline.getBuffers() * pipeline.getStep();
  if (ShapedType::isDynamicShape(reduce)) {
    chooseOpenWalk(program, turn);
    return success();
  }
  int64_t total = computeProduct(reduce);
  int64_t padded = (total + turn - 1) / turn * turn;
  using Kind = ReductionWalk::Kind;
  program.walk = {Kind::Flat, static_cast<unsigned>(reduce.size()), 1, padded,
                  total};
  int64_t step = pipeline.getStep();
  if (pipeline.getHalo()) {
    program.walk = {Kind::Stepped, 1, total / reduce.back(), reduce.back(),
                    total};
    return checkHaloFilter(program);
  }
  for (unsigned count = 1;
       count <= reduce.size() && isLinearAlong(program.loadM, count) &&
       isLinearAlong(program.loadN, count);
       ++count) {
    int64_t inner = computeProduct(reduce.take_back(count));
    if (inner % turn == 0)
      program.walk = {Kind::Nested, count, total / inner, inner, total};
    else if (inner % step == 0 && total >= 2 * turn &&
             program.walk.kind != Kind::Nested)
      program.walk = {Kind::Stepped, count, total / inner, inner, total};
  }
  if (program.walk.kind == Kind::Flat && total >= 2 * turn)
    program.walk = matchPlanes(program, target).value_or(program.walk);
  // A loop that LLVM sees run once becomes a straight line, in which it moves
  // every fused multiply-add behind the last barrier, and spills by the
  // hundred. Two turns keep it a loop.
  if (program.walk.kind == Kind::Flat && program.instruction.isFma())
    program.walk.inner = std::max(padded, 2 * turn);
  constexpr int64_t kMaxPosition = std::numeric_limits<int32_t>::max();
  int64_t reach =
      program.walk.plane > 0 ? program.walk.outer * int64_t(program.walk.inner)
      : program.walk.kind == Kind::Stepped ? total
                                           : int64_t(program.walk.inner);
  if ((reach + turn) * 4 > kMaxPosition)
    return pipeline.emitOpError("has a reduction beyond the reach of a 32-bit "
                                "loop");
  return success();
}

/// A workgroup goes from one tile to the next behind whole turns, and each has
/// a first tile.
LogicalResult tessera::checkTurns(TileProgram &program) {
  std::optional<uint64_t> workgroups = program.tiles.getPersistent();
  if (!workgroups)
    return success();
  if (program.walk.kind != ReductionWalk::Kind::Nested && !program.findHalo())
    return program.tiles.emitOpError(
        "is persistent, which needs an innermost "
        "dimension that iterations of the loop divide");
  int64_t tiles = computeProduct(program.tiles.getCounts());
  if (static_cast<int64_t>(*workgroups) > tiles)
    return program.tiles.emitOpError()
           << "is persistent, but has " << tiles << " tiles for " << *workgroups
           << " workgroups";
  return success();
}
