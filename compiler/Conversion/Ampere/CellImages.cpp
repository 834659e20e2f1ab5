//===- CellImages.cpp - Narrow groups, forward and backward data ----------===//
//
// A workgroup has a block of pixels and 64 channels; each warp has 16 of the
// channels, whose filter it keeps in registers, and takes 16 pixels at a time.
// A persistent workgroup keeps its channels and takes blocks of pixels in turn:
// the next is copied while one is multiplied.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Ampere/CellStore.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Everything that is known before the kernel is written.
struct Plan {
  ImageTile image;
  CellTile cells;
  CellFilter filter;
  int64_t warpsM;     ///< That share the pixels.
  int64_t workgroups; ///< Fewer than tiles if they are persistent.
  int64_t tiles;

  bool isPersistent() const { return workgroups < tiles; }
  int64_t countChannelBlocks() const { return image.groupSpace.sizes.back(); }
  int64_t getThreads() const { return warpsM * kBlockWarps * kWarpSize; }
  /// The filter is in registers before a second block is copied over it.
  int64_t getSharedBytes() const {
    return image.getBytes() +
           std::max(isPersistent() ? image.getBytes() : 0, filter.getBytes());
  }
  int64_t countFragments() const {
    return llvm::divideCeilSigned(image.countResults(), kFragment);
  }
};

/// Emits the body of one kernel.
class ImagesWriter {
public:
  ImagesWriter(CellKernel &kernel, const Plan &plan)
      : k(kernel), e(kernel.e), plan(plan) {}
  void emit();

private:
  void locateTile(Value tile);
  void copyTile(Value buffer);
  void emitTile(Value buffer);
  void emitTiles(Value first);
  void emitFragment(Value fragment, Value buffer);
  SmallVector<Value> readPieces(Value pixel, int64_t cell, int64_t piece,
                                int64_t pieces);
  CellSums multiply(Value pixel);
  void store(const CellSums &sums, Value fragment);

  CellKernel &k;
  Emitter &e;
  const Plan &plan;
  Value warpN;
  SmallVector<SmallVector<Value>> filter; ///< [cell][piece]
  IRMapping scalars;
};
} // namespace

/// A of mma.sync: `pieces` pieces from `piece` on, of 16 pixels; `pixel` is
/// where the lane's lies.
SmallVector<Value> ImagesWriter::readPieces(Value pixel, int64_t cell,
                                            int64_t piece, int64_t pieces) {
  const CellTile &cells = plan.cells;
  Value chunk =
      e.mul(cells.emitFirstChunk(e, warpN, cell), plan.image.getPieceBytes());
  SmallVector<Value> a = readFragment(e, cells, plan.image, k.place,
                                      k.getShared(e.add(pixel, chunk)), piece,
                                      pieces, /*other=*/0);
  if (pieces == 1 && !cells.isF32)
    a.truncate(2);
  return a;
}

CellSums ImagesWriter::multiply(Value pixel) {
  const CellTile &cells = plan.cells;
  Type element = k.program.loadM.getType().getElementType();
  CellSums sums = makeZeroSums(e);
  const int64_t atOnce = cells.countAtOnce();
  for (int64_t piece = 0; piece < cells.countPieces(); piece += atOnce) {
    const int64_t pieces = std::min(atOnce, cells.countPieces() - piece);
    SmallVector<Value> a;
    for (int64_t cell = 0; cell < kCells; ++cell) {
      if (a.empty() || cells.hasOwnPieces())
        a = readPieces(pixel, cell, piece, pieces);
      sums[cell] = cells.multiply(e, element, a,
                                  cells.joinFilter(filter[cell], piece, pieces),
                                  sums[cell]);
    }
  }
  return sums;
}

void ImagesWriter::store(const CellSums &sums, Value fragment) {
  Value row = e.add(e.mul(fragment, kFragment), k.place.row);
  // Pixels behind the block's last would be another's first.
  SmallVector<Value> valid(2);
  if (plan.image.countResults() % kFragment != 0)
    valid = {e.ult(row, plan.image.countResults()),
             e.ult(e.add(row, kFragment / 2), plan.image.countResults())};
  CellStore(k, scalars, warpN, row).store(sums, /*offset=*/0, valid);
}

void ImagesWriter::emitFragment(Value fragment, Value buffer) {
  Value pixel =
      e.add(e.mul(fragment, kFragment), e.remu(k.place.lane, kFragment));
  if (plan.image.countResults() % kFragment != 0)
    pixel = arith::MinUIOp::create(e.b, e.loc, pixel,
                                   e.constant(plan.image.countResults() - 1));
  Value place = e.add(plan.image.emitResultBytes(e, pixel), buffer);
  store(multiply(place), fragment);
}

/// Blocks of channels fastest: what runs together reads whole pixels, and a
/// persistent workgroup keeps its block.
void ImagesWriter::locateTile(Value tile) {
  const int64_t rows = k.program.tiles.getCounts()[1];
  const int64_t blocks = plan.countChannelBlocks();
  Value block = e.divu(tile, blocks);
  k.group = e.add(e.mul(e.divu(block, rows), blocks), e.remu(tile, blocks));
  k.row0 = e.mul(e.remu(block, rows), plan.image.countResults());
}

/// Begins to copy the pixels of the tile to `buffer`.
void ImagesWriter::copyTile(Value buffer) {
  copyImageTile(e, plan.image, k.copyTo(k.program.loadM.getView(), buffer),
                k.group, e.divu(k.row0, plan.image.countResults()));
}

void ImagesWriter::emitTile(Value buffer) {
  Value warpM = e.divu(k.warp, kBlockWarps);
  auto loop =
      scf::ForOp::create(e.b, e.loc, warpM, e.constant(plan.countFragments()),
                         e.constant(plan.warpsM));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  emitFragment(loop.getInductionVar(), buffer);
}

/// Tile `first`, which is in the first buffer, and every workgroups-th behind.
void ImagesWriter::emitTiles(Value first) {
  auto loop = scf::ForOp::create(e.b, e.loc, first, e.constant(plan.tiles),
                                 e.constant(plan.workgroups),
                                 ValueRange{e.constant(0)});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value buffer = loop.getRegionIterArg(0);
  Value other = arith::SubIOp::create(
      e.b, e.loc, e.constant(plan.image.getBytes()), buffer);
  Value next = e.add(loop.getInductionVar(), plan.workgroups);
  // All are done with the other buffer, or with the filter in its place.
  e.device.emitBareBarrier(e);
  emitIf(e, e.ult(next, plan.tiles), [&] {
    locateTile(next);
    copyTile(other);
  });
  k.waitForCopies(/*groups=*/1);
  locateTile(loop.getInductionVar());
  emitTile(buffer);
  scf::YieldOp::create(e.b, e.loc, other);
}

void ImagesWriter::emit() {
  warpN = e.remu(k.warp, kBlockWarps);
  Value first = e.device.emitBlockId(e, plan.workgroups);
  locateTile(first);
  Value filterPlace = e.constant(plan.image.getBytes());
  plan.filter.copy(e, k.copyTo(k.program.loadN.getView(), filterPlace),
                   k.group);
  copyTile(e.constant(0));
  k.waitForCopies(/*groups=*/0);
  filter = plan.filter.read(e, k.place, warpN, k.getShared(filterPlace));
  scalars = CellStore::mapScalars(k);
  if (plan.isPersistent())
    emitTiles(first);
  else
    emitTile(e.constant(0));
}

static FailureOr<Plan> makePlan(TileProgram &program) {
  auto pipeline = program.pipeline;
  FailureOr<CellOperands> operands = CellOperands::match(program);
  if (failed(operands))
    return failure();
  const ImageTile &image = operands->image;
  std::optional<uint64_t> persistent = program.tiles.getPersistent();
  if (!operands->fitTiles(program) ||
      pipeline.getBuffers() != (persistent ? 2 : 1) ||
      (persistent && *persistent % image.groupSpace.sizes.back() != 0))
    return pipeline.emitOpError()
           << "has copy cp_async, which needs one buffer for the whole "
              "reduction, or two of persistent workgroups, a multiple of the "
              "blocks of channels; tiles of a block of pixels by "
           << kBlockChannels << " channels, and at most "
           << CellOperands::kMostPixelWarps << " by " << kBlockWarps
           << " waves";
  if (failed(checkStoreReach(program, image.countResults())))
    return failure();
  const int64_t tiles =
      program.tiles.getCounts()[0] * program.tiles.getCounts()[1];
  const int64_t workgroups =
      std::min<int64_t>(tiles, persistent.value_or(tiles));
  return Plan{image,
              operands->cells,
              std::move(operands->filter),
              program.mma.getWaves()[0],
              workgroups,
              tiles};
}

LogicalResult tessera::lowerCellImages(TileProgram &program,
                                       const DeviceOps &device) {
  FailureOr<Plan> plan = makePlan(program);
  if (failed(plan))
    return failure();
  return emitCellKernel(
      program, device,
      {plan->workgroups, plan->getThreads(), plan->getSharedBytes()},
      [&](CellKernel &kernel) { ImagesWriter(kernel, *plan).emit(); });
}
