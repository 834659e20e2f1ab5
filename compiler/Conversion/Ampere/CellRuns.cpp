//===- CellRuns.cpp - Narrow groups, by runs of blocks --------------------===//
//
// Forward and backward data by workgroups that go down the image, as
// CellImages.cpp does it block by block: lines that the next block sees, too,
// stay (LineRing.h). 16 pixels of one line are a fragment, which meets all
// lines of results that see it: a line is read once, and not once for each line
// of taps.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Ampere/CellStore.h"
#include "compiler/Conversion/Ampere/LineRing.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

using namespace mlir;
using namespace tessera;

namespace {
/// Everything that is known before the kernel is written.
struct Plan {
  LineRing ring;
  CellTile cells;
  CellFilter filter;
  int64_t warpsM; ///< That share the fragments of a line.
  int64_t run;    ///< Blocks of a workgroup.
  int64_t workgroups;

  const ImageTile &getImage() const { return ring.image; }
  int64_t countChannelBlocks() const {
    return getImage().groupSpace.sizes.back();
  }
  int64_t getThreads() const { return warpsM * kBlockWarps * kWarpSize; }
  int64_t getSharedBytes() const { return ring.getBytes() + filter.getBytes(); }
  /// Of a line of results.
  int64_t countFragments() const {
    return llvm::divideCeilSigned(getImage().width, kFragment);
  }
  /// Pieces of one line of taps.
  int64_t countLinePieces() const {
    return getImage().tapColumns * cells.countChunks();
  }
};

/// Operand A of one instruction: `pieces` pieces of a line from `piece` on of
/// `cell`, or of both where they meet the same. Of 16 bits both cells may share
/// an ldmatrix, with a piece of each.
struct LineRead {
  int64_t piece, pieces;
  std::optional<int64_t> cell;
  bool isShared;
};

/// Emits the body of one kernel.
class RunsWriter {
public:
  RunsWriter(CellKernel &kernel, const Plan &plan)
      : k(kernel), e(kernel.e), plan(plan) {}
  void emit();

private:
  void locateRun();
  void copyBlock(const LineCopy &copy, Value block, Value slot);
  void emitBlocks(const LineCopy &copy);
  void emitBlock(Value slot);
  void emitFragment(Value fragment, Value slot);
  SmallVector<LineRead> listReads() const;
  SmallVector<Value> read(const LineRead &read, Value place);
  void multiply(const LineRead &read, int64_t tapLine, ValueRange a,
                CellSums &sums);

  CellKernel &k;
  Emitter &e;
  const Plan &plan;
  Value warpM, warpN;
  Value firstBlock;                       ///< Of the run, in the group.
  SmallVector<SmallVector<Value>> filter; ///< [cell][piece]
  IRMapping scalars;
};
} // namespace

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// An odd piece that is left of a cell's own goes with the other cell's.
SmallVector<LineRead> RunsWriter::listReads() const {
  const int64_t pieces = plan.countLinePieces();
  const int64_t atOnce = plan.cells.countAtOnce();
  SmallVector<LineRead> reads;
  for (int64_t piece = 0; piece < pieces; piece += atOnce) {
    const int64_t count = std::min(atOnce, pieces - piece);
    const bool isShared = count < atOnce && !plan.cells.isF32;
    if (isShared || !plan.cells.hasOwnPieces())
      reads.push_back({piece, count, std::nullopt, isShared});
    else
      for (int64_t cell = 0; cell < kCells; ++cell)
        reads.push_back({piece, count, cell, /*isShared=*/false});
  }
  return reads;
}

/// A of mma.sync, of 16 pixels; `place` is where the lane's first tap lies.
SmallVector<Value> RunsWriter::read(const LineRead &read, Value place) {
  const CellTile &cells = plan.cells;
  Value chunk = e.mul(cells.emitFirstChunk(e, warpN, read.cell.value_or(0)),
                      plan.getImage().getPieceBytes());
  return readFragment(e, cells, plan.getImage(), k.place,
                      k.getShared(e.add(place, chunk)), read.piece, read.pieces,
                      /*other=*/ImageTile::kChunkBytes);
}

/// Adds what `read` contributes to a line of results that meets it by line
/// `tapLine` of the taps.
void RunsWriter::multiply(const LineRead &read, int64_t tapLine, ValueRange a,
                          CellSums &sums) {
  Type element = k.program.loadM.getType().getElementType();
  const int64_t first = tapLine * plan.countLinePieces() + read.piece;
  for (int64_t cell = 0; cell < kCells; ++cell) {
    if (read.cell.value_or(cell) != cell)
      continue;
    ValueRange own = read.isShared ? a.slice(2 * cell, 2) : a;
    sums[cell] = plan.cells.multiply(
        e, element, own,
        plan.cells.joinFilter(filter[cell], first, read.pieces), sums[cell]);
  }
}

/// Lines of results that see line `line` of the block, and by which line of
/// taps.
static SmallVector<std::pair<int64_t, int64_t>>
listUsers(const ImageTile &image, int64_t line) {
  SmallVector<std::pair<int64_t, int64_t>> users;
  for (int64_t tap = 0; tap < image.tapLines; ++tap) {
    const int64_t steps = line - tap * image.tapLineStep;
    if (steps >= 0 && steps % image.lineStep == 0 &&
        steps / image.lineStep < image.height)
      users.push_back({steps / image.lineStep, tap});
  }
  return users;
}

/// Line by line of the image; a line of results is stored as soon as nothing is
/// left to add, so that only those that share a line of the image have sums.
void RunsWriter::emitFragment(Value fragment, Value slot) {
  const ImageTile &image = plan.getImage();
  const bool isFull = image.width % kFragment == 0;
  Value first = e.mul(fragment, kFragment);
  Value column = e.add(first, e.remu(k.place.lane, kFragment));
  if (!isFull)
    column =
        arith::MinUIOp::create(e.b, e.loc, column, e.constant(image.width - 1));
  Value columnBytes = e.mul(column, image.columnStep * image.getPixelBytes());
  Value row = e.add(first, k.place.row);
  CellStore store(k, scalars, warpN, row);
  SmallVector<Value> valid(2);
  if (!isFull)
    valid = {e.ult(row, image.width),
             e.ult(e.add(row, kFragment / 2), image.width)};

  const SmallVector<LineRead> reads = listReads();
  std::map<int64_t, CellSums> sums; // Of lines of results.
  for (int64_t line = 0; line < image.countLines(); ++line) {
    const auto users = listUsers(image, line);
    if (users.empty())
      continue;
    Value place =
        plan.ring.wrap(e, e.add(slot, line * plan.ring.getLineBytes()));
    place = e.add(place, columnBytes);
    for (const LineRead &lineRead : reads) {
      SmallVector<Value> a = read(lineRead, place);
      for (auto [result, tap] : users)
        multiply(lineRead, tap, a,
                 sums.try_emplace(result, makeZeroSums(e)).first->second);
    }
    for (auto [result, tap] : users)
      if (tap + 1 == image.tapLines)
        store.store(sums.at(result), result * image.width, valid);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Blocks of channels fastest: what runs together reads whole pixels.
void RunsWriter::locateRun() {
  const int64_t runs = k.program.tiles.getCounts()[1] / plan.run;
  const int64_t blocks = plan.countChannelBlocks();
  Value id = e.device.emitBlockId(e, plan.workgroups);
  Value run = e.divu(id, blocks);
  k.group = e.add(e.mul(e.divu(run, runs), blocks), e.remu(id, blocks));
  firstBlock = e.mul(e.remu(run, runs), plan.run);
}

/// Begins to copy what block `block` of the run, from 1 on, sees and the one
/// before it does not; `slot` is where the block before it begins.
void RunsWriter::copyBlock(const LineCopy &copy, Value block, Value slot) {
  const LineRing &ring = plan.ring;
  copy.emit(e.add(e.mul(block, ring.getAdvance()), ring.countShared()), slot,
            ring.getAdvance());
}

void RunsWriter::emitBlock(Value slot) {
  auto loop =
      scf::ForOp::create(e.b, e.loc, warpM, e.constant(plan.countFragments()),
                         e.constant(plan.warpsM));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  emitFragment(loop.getInductionVar(), slot);
}

/// The lines of a block that is to come take the place of those that only the
/// block before this one has seen: all warps are done with them.
void RunsWriter::emitBlocks(const LineCopy &copy) {
  const LineRing &ring = plan.ring;
  const int64_t step = ring.getAdvance() * ring.getLineBytes();
  auto loop =
      scf::ForOp::create(e.b, e.loc, e.constant(0), e.constant(plan.run),
                         e.constant(1), ValueRange{e.constant(0)});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value block = loop.getInductionVar(), slot = loop.getRegionIterArg(0);
  e.device.waitForDirectGroups(e, ring.ahead - 1, /*loads=*/0);
  e.device.emitLdsBarrier(e);
  Value next = e.add(block, ring.ahead);
  emitIf(e, e.ult(next, plan.run), [&] {
    copyBlock(copy, next, ring.wrap(e, e.add(slot, ring.getBytes() - step)));
  });
  e.device.endDirectGroup(e);
  k.row0 = e.mul(e.add(firstBlock, block), plan.getImage().countResults());
  emitBlock(slot);
  scf::YieldOp::create(e.b, e.loc, ring.wrap(e, e.add(slot, step)));
}

void RunsWriter::emit() {
  const LineRing &ring = plan.ring;
  warpM = e.divu(k.warp, kBlockWarps);
  warpN = e.remu(k.warp, kBlockWarps);
  locateRun();
  Value filterPlace = e.constant(ring.getBytes());
  plan.filter.copy(e, k.copyTo(k.program.loadN.getView(), filterPlace),
                   k.group);
  LineCopy copy(e, ring, k.copyTo(k.program.loadM.getView(), e.constant(0)),
                k.group, firstBlock);
  copy.emit(e.constant(0), e.constant(0), ring.image.countLines());
  e.device.endDirectGroup(e);
  for (int64_t block = 1; block < ring.ahead; ++block) {
    copy.emit(e.constant(block * ring.getAdvance() + ring.countShared()),
              e.constant((block * ring.getAdvance() + ring.countShared()) *
                         ring.getLineBytes()),
              ring.getAdvance());
    e.device.endDirectGroup(e);
  }
  e.device.waitForDirectGroups(e, ring.ahead - 1, /*loads=*/0);
  e.device.emitLdsBarrier(e);
  filter = plan.filter.read(e, k.place, warpN, k.getShared(filterPlace));
  scalars = CellStore::mapScalars(k);
  emitBlocks(copy);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Whether neighbouring tiles are neighbours down the image, in whole runs, and
/// a block sees something of every line that the ring goes on by.
static bool hasRuns(const LineRing &ring, int64_t run) {
  const AccessSpace &blocks = ring.image.blockSpace;
  if (blocks.sizes.empty() || blocks.sizes.back() % run != 0)
    return false;
  const int64_t advance = ring.getAdvance();
  return advance > 0 && advance <= ring.image.countLines() &&
         blocks.coefs[0].back() == advance * ring.image.lineBytes &&
         blocks.coefs[2].back() == 0;
}

static FailureOr<Plan> makePlan(TileProgram &program) {
  auto pipeline = program.pipeline;
  FailureOr<CellOperands> operands = CellOperands::match(program);
  if (failed(operands))
    return failure();
  const auto run = static_cast<int64_t>(*program.tiles.getRun());
  const auto buffers = static_cast<int64_t>(pipeline.getBuffers());
  const LineRing ring{operands->image, buffers - 1};
  if (!hasRuns(ring, run))
    return program.tiles.emitOpError()
           << "has runs of " << run
           << " tiles, which needs blocks of pixels that go down the image in "
              "whole runs, and taps that reach all lines between them";
  if (!operands->fitTiles(program) || buffers < 2 || buffers > 4)
    return pipeline.emitOpError()
           << "has copy cp_async and runs, which needs 2 to 4 buffers for the "
              "whole reduction, tiles of a block of pixels by "
           << kBlockChannels << " channels, and at most "
           << CellOperands::kMostPixelWarps << " by " << kBlockWarps
           << " waves";
  if (failed(checkStoreReach(program, ring.image.countResults())))
    return failure();
  const int64_t tiles =
      program.tiles.getCounts()[0] * program.tiles.getCounts()[1];
  return Plan{ring,
              operands->cells,
              std::move(operands->filter),
              program.mma.getWaves()[0],
              run,
              tiles / run};
}

LogicalResult tessera::lowerCellRuns(TileProgram &program,
                                     const DeviceOps &device) {
  FailureOr<Plan> plan = makePlan(program);
  if (failed(plan))
    return failure();
  return emitCellKernel(
      program, device,
      {plan->workgroups, plan->getThreads(), plan->getSharedBytes()},
      [&](CellKernel &kernel) { RunsWriter(kernel, *plan).emit(); });
}
