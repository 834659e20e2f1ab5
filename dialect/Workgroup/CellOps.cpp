//===- CellOps.cpp - Ops of programs of narrow groups ---------------------===//

#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tessera::wg;

/// A wave that left another number of iterations out would do another's rows,
/// and one that computed with its number would do what others do not.
LogicalResult WaveOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  auto waves = program ? program.getWaves() : std::nullopt;
  if (!waves || waves->size() != 2)
    return emitOpError("needs a program of waves");
  const int64_t count = (*waves)[getDim() == dnn::TileDim::M ? 0 : 1];
  for (OpOperand &use : getResult().getUses()) {
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    IntegerAttr step;
    if (!loop || &use != &loop.getLowerBoundMutable() ||
        !matchPattern(loop.getStep(), m_Constant(&step)) ||
        step.getInt() != count)
      return emitOpError() << "needs to be what loops with steps of " << count
                           << " begin with, as many as there are waves";
  }
  return success();
}

LogicalResult RotateOp::verify() {
  for (Value buffer : getBuffers()) {
    auto type = cast<BufferType>(buffer.getType());
    if (!buffer.getDefiningOp<AllocOp>() || !type.isOfCells() ||
        static_cast<int64_t>(getSteps()) < 1 ||
        static_cast<int64_t>(getSteps()) >= type.getSlots())
      return emitOpError() << "needs less than the " << type.getSlots()
                           << " slots of pixels that " << type << " has";
  }
  return getBuffers().empty() ? emitOpError("needs a buffer") : success();
}

LogicalResult ColumnsOp::verify() {
  FragmentType from = getFragment().getType(), to = getType();
  const auto first = static_cast<int64_t>(getFirst());
  if (first < 0 || first + to.getColumns() > from.getColumns() ||
      from.getRows() != to.getRows() ||
      from.getElementType() != to.getElementType() ||
      from.getIsSplit() != to.getIsSplit())
    return emitOpError() << "takes " << to << " from column " << first << " of "
                         << from << " on";
  return success();
}

LogicalResult ReduceOp::verify() {
  BufferType type = getBuffer().getType();
  if (!getBuffer().getDefiningOp<AllocOp>() ||
      type.getLayout() != Layout::Plain || !type.getElementType().isF32())
    return emitOpError("needs a plain buffer of f32");
  return success();
}

LogicalResult AllocOp::verify() {
  if (!getBase())
    return success();
  BufferType base = getBase().getType();
  const auto slot = static_cast<int64_t>(*getSlot());
  if (getType().getLayout() == Layout::Mixed) {
    if (getBase().getDefiningOp<AllocOp>() && isOfOperand(base.getLayout()) &&
        slot == 0)
      return success();
    return emitOpError() << "has results, which lie over slot 0 of an operand "
                            "of waves, or over nothing";
  }
  if (!getBase().getDefiningOp<AllocOp>() || !base.isOfCells() || slot < 0 ||
      slot >= base.getSlots())
    return emitOpError() << "lies over slot " << slot << " of " << base
                         << ", but needs one of a buffer of pixels";
  return success();
}

/// What taps see of pixels, or a whole filter.
LogicalResult LoadOp::verifyOfCells() {
  BufferType from = getBuffer().getType();
  FragmentType to = getType();
  ArrayRef<int64_t> at = *getAt();
  if (!getBuffer().getDefiningOp<AllocOp>() || at.size() != 2 || at[0] < 0 ||
      at[0] >= from.getSlots() || at[1] != 0 || getBehind() || getBox())
    return emitOpError() << "needs a slot of " << from << ", from column 0 on";
  if (to.getElementType() != from.getElementType() || to.getIsSplit())
    return emitOpError() << "loads " << to << " from " << from;
  if ((from.getLayout() == Layout::Diagonal) == static_cast<bool>(getPixel()))
    return emitOpError("needs a pixel, unless it is of a filter");
  auto tile = getImage() ? getImage().getDefiningOp<TileOp>() : TileOp();
  if (getImage() && (!tile || tile.getBuffer() != getBuffer()))
    return emitOpError("is within what wg.tile has located for its buffer");
  return success();
}
