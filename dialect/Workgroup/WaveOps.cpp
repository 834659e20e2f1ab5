//===- WaveOps.cpp - Copies and steps that all waves share ----------------===//

#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tessera::wg;

/// Whether `rows` are those of a slot.
template <typename TypeT>
static bool fits(TypeT rows, BufferType buffer) {
  return rows.getRows() == buffer.getRows() &&
         rows.getColumns() == buffer.getColumns() &&
         rows.getElementType() == buffer.getElementType();
}

static bool hasSlot(BufferType buffer, int64_t slot) {
  return slot >= 0 && slot < buffer.getSlots();
}

/// Whether a slot is a tile of an operand that threads copy.
static bool hasTiles(BufferType buffer) {
  return !buffer.isOfTma() && isOfOperand(buffer.getLayout());
}

/// Shared memory in a layout of threads; of rows that taps share, the slot may
/// be one that a value says.
static bool isSlotOf(Value buffer, int64_t slot, Value behind) {
  auto type = cast<BufferType>(buffer.getType());
  return buffer.getDefiningOp<AllocOp>() && hasTiles(type) &&
         hasSlot(type, slot) && (!behind || (type.isShared() && slot == 0));
}

/// The i-th n-th of what goes to `buffer`, of rows that taps share or whole
/// ones.
static bool isPart(ArrayRef<int64_t> part, BufferType buffer) {
  return (buffer.isShared() || buffer.isWhole()) && part.size() == 2 &&
         part[0] >= 0 && part[0] < part[1];
}

/// The op that located a box, which taps are of.
TileOp tessera::wg::findTile(Value box) {
  if (auto tap = box.getDefiningOp<TapOp>())
    box = tap.getBox();
  return box.getDefiningOp<TileOp>();
}

LogicalResult TileOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (!isSlotOf(getBuffer(), 0, {}) || !fits(getType(), buffer) ||
      getType().getElementType() != getView().getType().getElementType())
    return emitOpError() << "locates " << getType() << " for " << buffer
                         << ", but needs slots of such tiles in a layout of "
                            "threads";
  auto dims = getView().getDefiningOp<dnn::ViewOp>();
  if (!dims)
    return emitOpError("needs a dnn.view");
  const auto columns =
      static_cast<int64_t>(dims.getCoords().getSpace(2).size());
  const auto taps = static_cast<int64_t>(getTaps().value_or(0));
  if (taps < 0 || taps >= columns)
    return emitOpError() << "has " << taps << " dimensions of taps, of "
                         << columns << " that the reduction has";
  if (buffer.isShared() && (taps == 0 || getPixels()))
    return emitOpError("is for rows that taps share, and so needs taps");
  if ((buffer.isWhole() || buffer.isOfCells()) && getTaps())
    return emitOpError("is for a whole reduction, and so needs no taps");
  if (getPixels() && getTaps() != 1)
    return emitOpError("has planes of pixels, which are what is walked of one "
                       "dimension of taps");
  if (getTable() && (!getPixels() || !getTable().getDefiningOp<AllocOp>() ||
                     getTable().getType().getLayout() != Layout::Plain))
    return emitOpError("has a table, which is plain memory for pixels");
  return success();
}

int64_t TileOp::countTaps() {
  auto view = getView().getDefiningOp<dnn::ViewOp>();
  int64_t taps = 1;
  for (int64_t size :
       ArrayRef(view.getCoords().getSpace(2)).take_front(getTaps().value_or(0)))
    taps *= size;
  return taps;
}

LogicalResult TapOp::verify() {
  auto tile = getBox().getDefiningOp<TileOp>();
  return tile && tile.getTaps() && !tile.getBuffer().getType().isShared()
             ? success()
             : emitOpError("needs a wg.tile with taps, which share nothing");
}

/// The tile of a box that is copied, with its tap if it has any of its own;
/// null after an error.
static TileOp findCopied(Operation *op, Value box) {
  TileOp tile = findTile(box);
  if (tile && (tile.getTaps() && !tile.getBuffer().getType().isShared()) ==
                  static_cast<bool>(box.getDefiningOp<TapOp>()))
    return tile;
  op->emitOpError("needs what wg.tile made, or wg.tap of one with taps");
  return {};
}

LogicalResult FetchOp::verify() {
  TileOp tile = findCopied(*this, getBox());
  if (!tile)
    return failure();
  BufferType buffer = tile.getBuffer().getType();
  if (!fits(getType(), buffer))
    return emitOpError() << "loads " << getType() << " of " << tile.getType();
  const bool hasOthers = getPart() && (*getPart())[0] > 0;
  if (getExists() && !buffer.isOfCells())
    return emitOpError("has a condition, and so needs a tile of pixels");
  if ((getPart() && !isPart(*getPart(), buffer)) ||
      hasOthers != static_cast<bool>(getBefore()))
    return emitOpError("needs [i, n] for a part of rows that taps share or of "
                       "a whole reduction, with those before it");
  return success();
}

LogicalResult PutOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (!isSlotOf(getBuffer(), static_cast<int64_t>(getSlot()), {}) ||
      !fits(getPieces().getType(), buffer) ||
      (getPart() && !isPart(*getPart(), buffer)))
    return emitOpError() << "writes " << getPieces().getType() << " to slot "
                         << getSlot() << " of " << buffer;
  return success();
}

LogicalResult FillOp::verify() {
  TileOp tile = findCopied(*this, getBox());
  if (!tile)
    return failure();
  BufferType buffer = getBuffer().getType();
  if (tile.getBuffer() != getBuffer() ||
      !isSlotOf(getBuffer(), static_cast<int64_t>(getSlot()), getBehind()) ||
      (getPart() && !isPart(*getPart(), buffer)))
    return emitOpError() << "copies " << getBox().getType() << " to slot "
                         << getSlot() << " of " << buffer
                         << ", for which it has not been located";
  const auto lines = static_cast<int64_t>(getLines().value_or(0));
  if ((buffer.getLayout() == Layout::Circular) != getLines().has_value() ||
      (getLines() && (lines < 1 || lines > buffer.getSlots())))
    return emitOpError() << "needs lines of a circular buffer, at most "
                         << buffer.getSlots();
  return success();
}

LogicalResult LoadOp::verifyOfWaves() {
  BufferType from = getBuffer().getType();
  FragmentType to = getType();
  ArrayRef<int64_t> at = *getAt();
  if (from.isOfCells())
    return verifyOfCells();
  if (getPixel() || getImage())
    return emitOpError("has a pixel, and so needs a buffer of pixels");
  if (at.size() != 2 || !isSlotOf(getBuffer(), at[0], getBehind()) ||
      at[1] < 0 || at[1] % to.getColumns() != 0 ||
      at[1] + to.getColumns() > from.getColumns())
    return emitOpError() << "needs a slot of " << from
                         << " and a column that fragments of "
                         << to.getColumns() << " columns begin with";
  if (to.getIsSplit() || to.getElementType() != from.getElementType() ||
      from.getRows() % to.getRows() != 0)
    return emitOpError() << "loads " << to << " from " << from;
  if (from.isShared() != static_cast<bool>(getBox()))
    return emitOpError("needs a tap of a tile if taps share its rows");
  if (!getBox())
    return success();
  auto tile = getBox().getDefiningOp<TileOp>();
  if (!tile || tile.getBuffer() != getBuffer() ||
      static_cast<int64_t>(*getTap()) >= tile.countTaps())
    return emitOpError("needs a tap of a wg.tile for its buffer");
  return success();
}

/// Whether `op` is in a loop whose iterations waves share out.
static bool isInSharedLoop(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (loop.getLowerBound().getDefiningOp<WaveOp>())
      return true;
  return false;
}

LogicalResult MmaOp::verifyOfWaves() {
  auto a = dyn_cast<FragmentType>(getA().getType());
  auto b = dyn_cast<FragmentType>(getB().getType());
  if (!a || !b || a.getElementType() != b.getElementType() ||
      a.getColumns() != b.getColumns() || getShares())
    return emitOpError("multiplies fragments of as many columns of one type");
  AccType acc = getType();
  if (!getAcc() || getAcc().getType() != acc)
    return emitOpError("needs accumulators of its own type to add to");
  auto program = (*this)->getParentOfType<ProgramOp>();
  auto waves = program ? program.getWaves() : std::nullopt;
  // Waves that share a loop have the rows of an iteration for themselves.
  auto areOf = [&](int64_t all, FragmentType own, int64_t index) {
    return all == own.getRows() * (*waves)[index] ||
           (isInSharedLoop(*this) && all == own.getRows());
  };
  if (!waves || !areOf(acc.getRows(), a, 0) || !areOf(acc.getColumns(), b, 1))
    return emitOpError() << "has accumulators of " << acc
                         << ", but waves with fragments of " << a.getRows()
                         << " and " << b.getRows() << " rows each";
  return success();
}

LogicalResult StepOp::verify() {
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || body.getNumArguments() != 0 ||
      yield.getOperandTypes() != getResultTypes())
    return emitOpError("needs a body that yields its results");
  for (Operation &op : body.without_terminator())
    if (!isa<LoadOp, PutOp, FetchOp, FillOp, TapOp, CommitOp, BarrierOp, MmaOp,
             FlushOp>(op))
      return op.emitOpError("is no part of a step, which has copies, loads, "
                            "products and a barrier");
  return success();
}

LogicalResult FlushOp::verify() {
  auto isStaged = [&] {
    auto result = getResult().getDefiningOp<ResultOp>();
    return result && result.getStaging() &&
           result.getStaging().getType().getLayout() == Layout::Mixed;
  };
  if (getResult() && !isStaged())
    return emitOpError("stores what wg.result stages in mixed chunks");
  if (!getShare())
    return getBlock() || getExists() ? emitOpError("needs a share") : success();
  ArrayRef<int64_t> share = *getShare();
  if (!getResult() || !getBlock() || !getExists() || share.size() != 3 ||
      share[0] < 0 || share[0] >= share[1] || share[2] < 1)
    return emitOpError("has a share, and so needs a result, [i, n, blocks], a "
                       "block, and whether there is such a result");
  return success();
}
