//===- CellProgram.cpp - Programs of narrow groups ------------------------===//
//
// What a tile program becomes that cp_async copies for, and that of blocks: a
// workgroup has a block of pixels, whose rows its waves share, and 64 channels,
// whose filter it keeps in registers. A persistent one takes blocks in turn:
// the next is copied while one is multiplied.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/CellProgram.h"
#include "compiler/Conversion/Ampere/CellStore.h"
#include "compiler/Conversion/Workgroup/CellWriter.h"
#include "compiler/Conversion/Workgroup/ProgramWriter.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value CellWriter::allocate(int64_t slots, int64_t rows, wg::Layout layout,
                           int64_t number, Value base, int64_t slot) {
  return wg::AllocOp::create(
      e.b, e.loc,
      wg::BufferType::get(e.b.getContext(), slots, rows, program.step,
                          program.viewM.getType().getElementType(), layout,
                          number, /*isSplit=*/false, /*isMirrored=*/false),
      base, base ? e.b.getI64IntegerAttr(slot) : IntegerAttr());
}

/// The filter is behind the pixels, or over their second slot.
void CellWriter::allocateOperands(const CellOperands &operands, int64_t slots,
                                  wg::Layout layout, int64_t pixels,
                                  bool isOver) {
  image = operands.image;
  acc = wg::AccType::get(e.b.getContext(), kFragment, program.rowsN,
                         /*isSwapped=*/false);
  bufferM = allocate(slots, program.rowsM, layout, pixels);
  bufferN = allocate(1, program.rowsN, wg::Layout::Diagonal,
                     operands.cells.groupChannels, isOver ? bufferM : Value(),
                     /*slot=*/1);
}

Value CellWriter::makeTile(bool isM, Value group, Value row) {
  Value buffer = isM ? bufferM : bufferN;
  return wg::TileOp::create(
      e.b, e.loc, cast<wg::BufferType>(buffer.getType()).getTile(),
      isM ? program.viewM : program.viewN, group, row, buffer, IntegerAttr(),
      /*pixels=*/false, Value());
}

void CellWriter::fill(Value tile, Value at, int64_t slot, int64_t lines) {
  wg::FillOp::create(e.b, e.loc, tile, at, wg::findTile(tile).getBuffer(),
                     e.b.getI64IntegerAttr(slot), Value(), DenseI64ArrayAttr(),
                     lines > 0 ? e.b.getI64IntegerAttr(lines) : IntegerAttr());
}

SmallVector<Value> CellWriter::loop(Value from, Value to, int64_t step,
                                    ValueRange begin, Body body) {
  auto loop = scf::ForOp::create(e.b, e.loc, from, to, e.constant(step), begin);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!begin.empty())
    scf::YieldOp::create(e.b, e.loc, next);
  return loop.getResults();
}

void CellWriter::emitWhere(Value condition, llvm::function_ref<void()> body) {
  auto where = scf::IfOp::create(e.b, e.loc, condition);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&where.getThenRegion().front());
  body();
}

Value CellWriter::zero() { return wg::ZeroOp::create(e.b, e.loc, acc); }

Value CellWriter::load(bool isM, int64_t slot, int64_t rows, int64_t columns,
                       Value pixel, Value image, Value block) {
  auto type = wg::FragmentType::get(e.b.getContext(), rows, columns,
                                    program.viewM.getType().getElementType(),
                                    /*isSplit=*/false);
  return wg::LoadOp::create(e.b, e.loc, type, isM ? bufferM : bufferN,
                            e.b.getDenseI64ArrayAttr({slot, 0}), Value(),
                            Value(), IntegerAttr(), pixel, image, block);
}

SmallVector<Value>
CellWriter::step(int64_t results,
                 llvm::function_ref<SmallVector<Value>()> body) {
  auto step = wg::StepOp::create(e.b, e.loc, SmallVector<Type>(results, acc),
                                 /*pinned=*/false);
  step.getBody().emplaceBlock();
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&step.getBody().front());
  wg::YieldOp::create(e.b, e.loc, body());
  return step.getResults();
}

Value CellWriter::makeResult(const Position &at, Value from) {
  SmallVector<Value> extras(program.extras.begin(), program.extras.end());
  return wg::ResultOp::create(e.b, e.loc, wg::ResultType::get(e.b.getContext()),
                              program.viewD, at.group, at.row, e.constant(0),
                              Value(), IntegerAttr(),
                              /*byRows=*/false, /*atomic=*/false, extras, from);
}

/// With the epilogue of the tile program, which several stores may have.
void CellWriter::store(Value sums, Value result, int64_t behind) {
  auto store = wg::StoreOp::create(
      e.b, e.loc, sums, result, Value(), ValueRange(), ValueRange(),
      behind > 0 ? e.b.getI64IntegerAttr(behind) : IntegerAttr());
  copyEpilogue(e, program.store, store);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Blocks of channels fastest: what runs together reads whole pixels, and a
/// persistent workgroup keeps its block. Images are groups, too, unless their
/// number is unknown.
CellWriter::Position CellWriter::locateNumber(Value number,
                                              const OpenNumber &perGroup,
                                              int64_t blocks) {
  Value rest = e.divu(number, blocks);
  if (!perGroup.isKnown() && program.tiles.getCounts()[0] == blocks)
    return {e.remu(number, blocks), rest};
  Value image = e.mul(e.divu(rest, perGroup), blocks);
  Value group = e.add(image, e.remu(number, blocks));
  return {group, e.remu(rest, perGroup)};
}

CellWriter::Position CellWriter::locateBlock(Value tile, int64_t blocks) {
  const Position at = locateNumber(tile, program.countTilesM(), blocks);
  return {at.group, e.mul(at.row, program.rowsM)};
}

void CellWriter::copyBlock(const Position &at, int64_t slot) {
  fill(makeTile(/*isM=*/true, at.group, at.row), e.constant(0), slot);
}

void CellWriter::multiplyBlock(const Position &at, Value filter) {
  const int64_t fragments =
      llvm::divideCeilSigned(image.countResults(), kFragment);
  loop(getWave(dnn::TileDim::M), e.constant(fragments), program.waves[0], {},
       [&](Value fragment, ValueRange) -> SmallVector<Value> {
         Value pixel = e.mul(fragment, kFragment);
         Value sums = zero();
         sums = step(1, [&]() -> SmallVector<Value> {
           Value a = load(/*isM=*/true, 0, kFragment, program.step, pixel);
           return {multiply(a, filter, sums)};
         })[0];
         store(sums, makeResult(at, pixel));
         return {};
       });
}

/// This workgroup's first tile, which is in the first slot, and every
/// workgroups-th behind.
void CellWriter::emitTiles(Value filter, int64_t workgroups, int64_t blocks) {
  Value tiles =
      e.constant(program.countTilesM() * program.tiles.getCounts()[0]);
  loop(id, tiles, workgroups, {},
       [&](Value tile, ValueRange) -> SmallVector<Value> {
         Value next = e.add(tile, workgroups);
         // All are done with the other slot, or with the filter in its place.
         meet(std::nullopt);
         emitWhere(e.ult(next, tiles),
                   [&] { copyBlock(locateBlock(next, blocks), /*slot=*/1); });
         commit();
         meet(/*ahead=*/1);
         multiplyBlock(locateBlock(tile, blocks), filter);
         wg::RotateOp::create(e.b, e.loc, bufferM, e.b.getI64IntegerAttr(1));
         return {};
       });
}

/// `persistent` workgroups, or one for each block.
void CellWriter::emitBlocks(const CellOperands &operands,
                            std::optional<int64_t> persistent) {
  const int64_t blocks = operands.image.groupSpace.sizes.back();
  allocateOperands(operands, persistent ? 2 : 1, wg::Layout::Pixels,
                   operands.image.countLines() * operands.image.countColumns(),
                   persistent.has_value());
  const Position first = locateBlock(id, blocks);
  fill(makeTile(/*isM=*/false, first.group, e.constant(0)), e.constant(0), 0);
  copyBlock(first, 0);
  commit();
  meet(/*ahead=*/0);
  Value filter =
      load(/*isM=*/false, 0, program.rowsN / program.waves[1], program.step);
  if (persistent)
    emitTiles(filter, *persistent, blocks);
  else
    multiplyBlock(first, filter);
}

//===----------------------------------------------------------------------===//
// The kinds
//===----------------------------------------------------------------------===//

namespace {
/// What is launched: a workgroup for each of `parts`, or no more than are
/// `persistent`.
struct Launch {
  OpenNumber parts;
  std::optional<int64_t> persistent;
  std::optional<int64_t> resident; ///< On a multiprocessor.
};
} // namespace

/// Of unknown sizes the parts are an expression, and the workgroups their
/// largest number, or 0.
static wg::ProgramOp makeFrame(TileProgram &program, const Launch &launch) {
  OpBuilder b(program.tiles);
  const Location loc = program.tiles.getLoc();
  const bool isOpen = !launch.parts.isKnown();
  const int64_t workgroups =
      launch.persistent.value_or(isOpen ? 0 : int64_t(launch.parts));
  auto frame = wg::ProgramOp::create(
      b, loc, b.getI64IntegerAttr(workgroups),
      isOpen ? b.getStringAttr(launch.parts.toExpr().toText()) : StringAttr(),
      launch.resident ? b.getI64IntegerAttr(*launch.resident) : IntegerAttr(),
      IntegerAttr(), b.getDenseI64ArrayAttr(program.waves));
  b.createBlock(&frame.getBody(), {}, {b.getI32Type(), b.getI32Type()},
                {loc, loc});
  return frame;
}

/// Writes the program with a writer, and takes the tile program away.
static void write(TileProgram &program, const DeviceOps &device,
                  const Launch &launch,
                  llvm::function_ref<void(CellWriter &)> emit) {
  wg::ProgramOp frame = makeFrame(program, launch);
  OpBuilder b = OpBuilder::atBlockBegin(&frame.getBody().front());
  CellWriter writer(program, b, frame, device);
  emit(writer);
  program.tiles.erase();
}

static LogicalResult writeBlocks(TileProgram &program,
                                 const DeviceOps &device) {
  auto pipeline = program.pipeline;
  FailureOr<CellOperands> operands = CellOperands::match(program);
  if (failed(operands))
    return failure();
  const ImageTile &image = operands->image;
  Launch launch{program.countTilesM() * program.tiles.getCounts()[0],
                program.tiles.getPersistent(), std::nullopt};
  const auto persistent = launch.persistent;
  if (!operands->fitTiles(program) || program.buffers != (persistent ? 2 : 1) ||
      (persistent && *persistent % image.groupSpace.sizes.back() != 0))
    return pipeline.emitOpError()
           << "has copy cp_async, which needs one buffer for the whole "
              "reduction, or two of persistent workgroups, a multiple of the "
              "blocks of channels; tiles of a block of pixels by "
           << kBlockChannels << " channels, and at most "
           << CellOperands::kMostPixelWarps << " by " << kBlockWarps
           << " waves";
  if (persistent && launch.parts.isKnown() && *persistent >= launch.parts)
    launch.persistent.reset();
  write(program, device, launch, [&](CellWriter &writer) {
    writer.emitBlocks(*operands, launch.persistent);
  });
  return success();
}

/// Whether neighbouring tiles are neighbours down the image, in whole runs, and
/// a block sees something of every line that the next one is further.
static bool hasRuns(const ImageTile &image, const CellRuns &runs) {
  const AccessSpace &blocks = image.blockSpace;
  if (blocks.sizes.empty() || blocks.sizes.back().getFactor() % runs.run != 0)
    return false;
  return runs.advance > 0 && runs.advance <= image.countLines() &&
         blocks.coefs[0].back() == runs.advance * image.lineBytes &&
         blocks.coefs[2].back() == 0;
}

static LogicalResult writeRuns(TileProgram &program, const DeviceOps &device) {
  auto pipeline = program.pipeline;
  FailureOr<CellOperands> operands = CellOperands::match(program);
  if (failed(operands))
    return failure();
  const AccessSpace &blocks = operands->image.blockSpace;
  const CellRuns runs{
      static_cast<int64_t>(*program.tiles.getRun()), program.buffers - 1,
      blocks.sizes.empty() ? 0 : int64_t(blocks.coefs[1].back())};
  if (!hasRuns(operands->image, runs))
    return program.tiles.emitOpError()
           << "has runs of " << runs.run
           << " tiles, which needs blocks of pixels that go down the image in "
              "whole runs, and taps that reach all lines between them";
  if (!operands->fitTiles(program) || program.buffers < 2 ||
      program.buffers > 4)
    return pipeline.emitOpError()
           << "has copy cp_async and runs, which needs 2 to 4 buffers for the "
              "whole reduction, tiles of a block of pixels by "
           << kBlockChannels << " channels, and at most "
           << CellOperands::kMostPixelWarps << " by " << kBlockWarps
           << " waves";
  write(program, device,
        {runs.count(program) * program.tiles.getCounts()[0], {}, {}},
        [&](CellWriter &writer) { writer.emitRuns(*operands, runs); });
  return success();
}

/// Whether a thread has registers for the next block, if `perUnit` workgroups
/// share a multiprocessor: beside its sums, and the rest.
static bool isStreamed(const CellGradient &plan, int64_t threads,
                       int64_t perUnit) {
  constexpr int64_t kRest = 48, kTerms = 80, kPerChunk = 4, kMost = 216,
                    kRegisters = 65536;
  const int64_t registers =
      kRest + (plan.cells.isSplit ? kTerms : 0) + plan.countSums() +
      kPerChunk * (countThreadChunks(plan.input, threads) +
                   countThreadChunks(plan.output, threads));
  return registers <= kMost && perUnit * threads * registers <= kRegisters;
}

static LogicalResult writeGradient(TileProgram &program,
                                   const DeviceOps &device) {
  FailureOr<CellGradient> plan = CellGradient::match(program);
  if (failed(plan))
    return failure();
  if (program.tiles.getPersistent())
    return program.tiles.emitOpError(
        "is persistent, but backward weights has splits instead");
  const int64_t workgroups = program.tiles.getCounts()[0];
  const int64_t threads = plan->sharing * kBlockWarps * kWarpSize;
  const int64_t perUnit =
      llvm::divideCeilSigned(workgroups, device.getTarget().computeUnits);
  const bool streams = isStreamed(*plan, threads, perUnit);
  write(program, device,
        {workgroups,
         {},
         streams && perUnit > 1 ? std::optional(perUnit) : std::nullopt},
        [&](CellWriter &writer) { writer.emitGradient(*plan, streams); });
  return success();
}

LogicalResult tessera::writeCellProgram(TileProgram &program,
                                        const DeviceOps &device) {
  if (failed(checkCells(program, device.getTarget())))
    return failure();
  if (program.pipeline.getSplits())
    return writeGradient(program, device);
  if (program.tiles.getRun())
    return writeRuns(program, device);
  return writeBlocks(program, device);
}
