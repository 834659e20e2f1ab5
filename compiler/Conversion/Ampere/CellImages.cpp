//===- CellImages.cpp - Narrow groups, forward and backward data ----------===//
//
// A workgroup has a block of pixels and 64 channels; each warp has 16 of the
// channels, whose filter it keeps in registers, and takes 16 pixels at a time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/CellFilter.h"
#include "compiler/Conversion/Ampere/CellKernel.h"
#include "compiler/Conversion/Ampere/WarpMatrix.h"
#include "compiler/Conversion/Epilogue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;
using namespace tessera;

namespace {
constexpr int64_t kFragment = 16;  ///< Pixels of one instruction.
constexpr int64_t kNeighbours = 4; ///< Channels that a lane stores together.

/// Everything that is known before the kernel is written.
struct Plan {
  ImageTile image;
  CellTile cells;
  CellFilter filter;
  int64_t warpsM; ///< That share the pixels.

  int64_t getThreads() const {
    return warpsM * (kBlockChannels / kWarpChannels) * kWarpSize;
  }
  int64_t getSharedBytes() const {
    return image.getBytes() + filter.getBytes();
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
  using Sums = SmallVector<SmallVector<Value>>; ///< Of each cell.

  void emitFragment(Value fragment);
  SmallVector<Value> readPieces(Value pixel, int64_t cell, int64_t piece);
  Sums multiply(Value pixel);
  SmallVector<Value> joinCells(const Sums &sums, int64_t half);
  void store(const Sums &sums, Value fragment);

  CellKernel &k;
  Emitter &e;
  const Plan &plan;
  Value warpN;
  SmallVector<SmallVector<Value>> filter; ///< [cell][piece]
  IRMapping scalars;
};
} // namespace

/// A of mma.sync: pieces `piece` and, if there is one, the next, of 16 pixels;
/// `pixel` is where the lane's lies. A piece alone is the first half.
SmallVector<Value> ImagesWriter::readPieces(Value pixel, int64_t cell,
                                            int64_t piece) {
  const CellTile &cells = plan.cells;
  const bool isPair = piece + 1 < cells.countPieces();
  const int64_t bytes = cells.getPieceBytes(piece, plan.image);
  const int64_t step =
      isPair ? cells.getPieceBytes(piece + 1, plan.image) - bytes : 0;
  Value second = e.mul(e.divu(k.place.lane, kFragment), step);
  Value chunk =
      e.mul(cells.emitFirstChunk(e, warpN, cell), ImageTile::kChunkBytes);
  Value place = e.add(e.add(e.add(pixel, chunk), second), bytes);
  SmallVector<Value> a = readMatrices(e, k.getShared(place), false);
  if (!isPair)
    a.truncate(2);
  return a;
}

ImagesWriter::Sums ImagesWriter::multiply(Value pixel) {
  constexpr int64_t kSums = 4;
  const CellTile &cells = plan.cells;
  Type element = k.program.loadM.getType().getElementType();
  Value zero = e.constant(cast<TypedAttr>(e.b.getF32FloatAttr(0)));
  Sums sums(kCells, SmallVector<Value>(kSums, zero));
  for (int64_t piece = 0; piece < cells.countPieces(); piece += 2) {
    SmallVector<Value> a;
    for (int64_t cell = 0; cell < kCells; ++cell) {
      if (a.empty() || cells.hasOwnPieces())
        a = readPieces(pixel, cell, piece);
      ArrayRef<Value> b = filter[cell];
      b = b.slice(piece, std::min<size_t>(2, b.size() - piece));
      sums[cell] = multiplyMatrices(e, element, a, b, sums[cell]);
    }
  }
  return sums;
}

/// Two sums of each cell, of a pixel, become four neighbours of one cell: lanes
/// with an even number take the first cell, their neighbours the second.
SmallVector<Value> ImagesWriter::joinCells(const Sums &sums, int64_t half) {
  Value isOdd = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                      e.andi(k.place.lane, 1), e.constant(0));
  SmallVector<Value> own, other;
  for (int64_t i = 0; i < 2; ++i) {
    Value first = sums[0][2 * half + i], second = sums[1][2 * half + i];
    own.push_back(e.select(isOdd, second, first));
    other.push_back(exchangeLanes(e, e.select(isOdd, first, second), 1));
  }
  SmallVector<Value> joined;
  for (int64_t i = 0; i < 2; ++i)
    joined.push_back(e.select(isOdd, other[i], own[i]));
  for (int64_t i = 0; i < 2; ++i)
    joined.push_back(e.select(isOdd, own[i], other[i]));
  return joined;
}

void ImagesWriter::store(const Sums &sums, Value fragment) {
  dnn::TileStoreOp store = k.program.store;
  auto type = VectorType::get(kNeighbours, e.b.getF32Type());
  Value lane = e.remu(k.place.lane, 4);
  Value column = e.add(e.mul(warpN, kWarpChannels),
                       e.add(e.mul(e.remu(lane, 2), kCellChannels),
                             e.mul(e.divu(lane, 2), kNeighbours)));
  Value row = e.add(e.mul(fragment, kFragment), k.place.row);
  StoreView result = k.viewStored(store.getView(), column, row);
  std::vector<StoreView> extras;
  for (Value extra : store.getExtras())
    extras.push_back(k.viewStored(extra, column, row));
  for (int64_t half = 0; half < 2; ++half) {
    const int64_t offset = half * kFragment / 2;
    // Pixels behind the block's last would be another's first.
    Value valid;
    if (plan.image.countResults() % kFragment != 0)
      valid = e.ult(e.add(row, offset), plan.image.countResults());
    SmallVector<Value> values = {vector::FromElementsOp::create(
        e.b, e.loc, type, joinCells(sums, half))};
    for (const StoreView &extra : extras)
      values.push_back(loadNeighbours(e, extra, offset, kNeighbours));
    Value value = applyEpilogue(e, store.getEpilogue(), values, scalars);
    storeNeighbours(e, result, value, offset, valid);
  }
}

void ImagesWriter::emitFragment(Value fragment) {
  Value pixel =
      e.add(e.mul(fragment, kFragment), e.remu(k.place.lane, kFragment));
  if (plan.image.countResults() % kFragment != 0)
    pixel = arith::MinUIOp::create(e.b, e.loc, pixel,
                                   e.constant(plan.image.countResults() - 1));
  store(multiply(plan.image.emitResultBytes(e, pixel)), fragment);
}

void ImagesWriter::emit() {
  constexpr int64_t kWarpsN = kBlockChannels / kWarpChannels;
  warpN = e.remu(k.warp, kWarpsN);
  Value warpM = e.divu(k.warp, kWarpsN);
  Value view = k.program.loadM.getView(), w = k.program.loadN.getView();
  plan.filter.copy(e, k.copyTo(w, plan.image.getBytes()), k.group);
  copyImageTile(e, plan.image, k.copyTo(view, 0), k.group,
                e.divu(k.row0, plan.image.countResults()));
  k.waitForCopies();
  filter = plan.filter.read(e, k.place, warpN,
                            k.getShared(e.constant(plan.image.getBytes())));
  scalars =
      mapEpilogueScalars(e, k.program.store.getEpilogue(),
                         VectorType::get(kNeighbours, e.b.getF32Type()),
                         [&](Value scalar) { return k.getScalar(scalar); });
  auto loop =
      scf::ForOp::create(e.b, e.loc, warpM, e.constant(plan.countFragments()),
                         e.constant(plan.warpsM));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  emitFragment(loop.getInductionVar());
}

/// Channels of the reduction are the last dimension of it.
static FailureOr<Plan> makePlan(TileProgram &program, const GpuTarget &target) {
  constexpr int64_t kWarpsN = kBlockChannels / kWarpChannels;
  auto pipeline = program.pipeline;
  FailureOr<ImageTile> image =
      matchImageTile(program.loadM, /*pixels=*/1, /*hasTaps=*/true);
  if (failed(image))
    return failure();
  FailureOr<CellTile> cells =
      matchCells(pipeline, pipeline.getReduce().back(), image->countTaps());
  if (failed(cells))
    return failure();
  FailureOr<CellFilter> filter = CellFilter::match(program.loadN, *cells);
  if (failed(filter))
    return failure();
  ArrayRef<int64_t> waves = program.mma.getWaves();
  ArrayRef<int64_t> tile = program.tiles.getTile();
  if (tile[0] != image->countResults() || tile[1] != kBlockChannels ||
      program.tiles.getCounts()[2] != 1 || waves[1] != kWarpsN ||
      waves[0] > 8 || pipeline.getBuffers() != 1 ||
      static_cast<int64_t>(pipeline.getStep()) !=
          image->countTaps() * kBlockChannels)
    return pipeline.emitOpError()
           << "has copy cp_async, which needs one buffer for the whole "
              "reduction, tiles of a block of pixels by "
           << kBlockChannels << " channels, and at most 8 by " << kWarpsN
           << " waves";
  if (failed(checkReach(program.store, program.store.getView(), tile[0])))
    return failure();
  for (Value extra : program.store.getExtras())
    if (failed(checkReach(program.store, extra, tile[0])))
      return failure();
  Plan plan{*image, *cells, std::move(*filter), waves[0]};
  if (failed(checkShared(program, plan.getSharedBytes(), target)))
    return failure();
  return plan;
}

LogicalResult tessera::lowerCellImages(TileProgram &program,
                                       const DeviceOps &device) {
  FailureOr<Plan> plan = makePlan(program, device.getTarget());
  if (failed(plan))
    return failure();
  gpu::GPUFuncOp function =
      createCellKernel(program, plan->getThreads(), plan->getSharedBytes());
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  CellKernel kernel(b, program, function, plan->getThreads(), device);
  ImagesWriter(kernel, *plan).emit();
  gpu::ReturnOp::create(b, function.getLoc());
  return success();
}
