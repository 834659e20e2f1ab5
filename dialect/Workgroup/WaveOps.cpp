//===- WaveOps.cpp - Copies and steps that all waves share ----------------===//

#include "dialect/Workgroup/Workgroup.h"

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

/// The op that located a box, which taps are of.
TileOp tessera::wg::findTile(Value box) {
  if (auto tap = box.getDefiningOp<TapOp>())
    box = tap.getBox();
  return box.getDefiningOp<TileOp>();
}

LogicalResult TileOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (!getBuffer().getDefiningOp<AllocOp>() || buffer.isOfTma() ||
      buffer.getLayout() == Layout::Plain || !fits(getType(), buffer) ||
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
  if (getPixels() && getTaps() != 1)
    return emitOpError("has planes of pixels, which are what is walked of one "
                       "dimension of taps");
  if (getTable() && (!getPixels() || !getTable().getDefiningOp<AllocOp>() ||
                     getTable().getType().getLayout() != Layout::Plain))
    return emitOpError("has a table, which is plain memory for pixels");
  return success();
}

LogicalResult TapOp::verify() {
  auto tile = getBox().getDefiningOp<TileOp>();
  return tile && tile.getTaps() ? success()
                                : emitOpError("needs a wg.tile with taps");
}

/// The tile of a box that is copied, with its tap if it has any; null after an
/// error.
static TileOp findCopied(Operation *op, Value box) {
  TileOp tile = findTile(box);
  if (tile && tile.getTaps().has_value() ==
                  static_cast<bool>(box.getDefiningOp<TapOp>()))
    return tile;
  op->emitOpError("needs what wg.tile made, or wg.tap of one with taps");
  return {};
}

LogicalResult FetchOp::verify() {
  TileOp tile = findCopied(*this, getBox());
  if (!tile)
    return failure();
  return fits(getType(), tile.getBuffer().getType())
             ? success()
             : emitOpError()
                   << "loads " << getType() << " of " << tile.getType();
}

LogicalResult PutOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (!getBuffer().getDefiningOp<AllocOp>() ||
      !fits(getPieces().getType(), buffer) ||
      !hasSlot(buffer, static_cast<int64_t>(getSlot())))
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
      !hasSlot(buffer, static_cast<int64_t>(getSlot())))
    return emitOpError() << "copies " << getBox().getType() << " to slot "
                         << getSlot() << " of " << buffer
                         << ", for which it has not been located";
  return success();
}

LogicalResult LoadOp::verifyOfWaves() {
  BufferType from = getBuffer().getType();
  FragmentType to = getType();
  ArrayRef<int64_t> at = *getAt();
  if (!getBuffer().getDefiningOp<AllocOp>() || from.isOfTma() ||
      from.getLayout() == Layout::Plain)
    return emitOpError("needs a buffer in a layout of threads");
  if (at.size() != 2 || !hasSlot(from, at[0]) || at[1] < 0 ||
      at[1] % to.getColumns() != 0 ||
      at[1] + to.getColumns() > from.getColumns())
    return emitOpError() << "needs a slot of " << from
                         << " and a column that fragments of "
                         << to.getColumns() << " columns begin with";
  if (to.getIsSplit() || to.getElementType() != from.getElementType() ||
      from.getRows() % to.getRows() != 0)
    return emitOpError() << "loads " << to << " from " << from;
  return success();
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
  if (!waves || acc.getRows() != a.getRows() * (*waves)[0] ||
      acc.getColumns() != b.getRows() * (*waves)[1])
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
    if (!isa<LoadOp, PutOp, FetchOp, FillOp, CommitOp, BarrierOp, MmaOp>(op))
      return op.emitOpError("is no part of a step, which has copies, loads, "
                            "products and a barrier");
  return success();
}
