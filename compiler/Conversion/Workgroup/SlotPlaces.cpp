//===- SlotPlaces.cpp - Which slot a number of bytes begins ---------------===//

#include "compiler/Conversion/Workgroup/SlotPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

SlotPlaces::SlotPlaces(wg::ProgramOp program, Value bufferA)
    : type(cast<wg::BufferType>(bufferA.getType())) {
  program.walk([&](Operation *op) {
    if (auto fill = dyn_cast<wg::FillOp>(op))
      collect(fill.getBehind());
    else if (auto load = dyn_cast<wg::LoadOp>(op))
      collect(load.getBehind());
  });
}

/// Of loops, what they begin with and what they carry on.
void SlotPlaces::collect(Value bytes) {
  if (!bytes || !areBegins.insert(bytes).second)
    return;
  if (auto difference = bytes.getDefiningOp<arith::SubIOp>())
    return collect(difference.getRhs());
  auto argument = dyn_cast<BlockArgument>(bytes);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : bytes.getDefiningOp<scf::ForOp>();
  if (!loop || (argument && argument.getArgNumber() == 0))
    return;
  const unsigned at = argument ? argument.getArgNumber() - 1
                               : cast<OpResult>(bytes).getResultNumber();
  collect(loop.getInitArgs()[at]);
  collect(loop.getRegionIterArg(at));
  collect(loop.getBody()->getTerminator()->getOperand(at));
}

std::optional<int64_t> SlotPlaces::find(Value bytes, bool isSwapped) const {
  const int64_t last = type.getSlots() - 1;
  IntegerAttr number;
  if (matchPattern(bytes, m_Constant(&number))) {
    const int64_t slot = number.getInt() / type.getSlotBytes();
    const bool isBegin = number.getInt() % type.getSlotBytes() == 0;
    return isBegin && slot >= 0 && slot <= last && !isSwapped
               ? std::optional(slot)
               : std::nullopt;
  }
  if (auto found = places.find(bytes); found != places.end())
    return found->second;
  auto difference = bytes.getDefiningOp<arith::SubIOp>();
  if (!difference || !matchPattern(difference.getLhs(), m_Constant(&number)) ||
      number.getInt() != last * type.getSlotBytes())
    return std::nullopt;
  std::optional<int64_t> other = find(difference.getRhs(), isSwapped);
  return other ? std::optional(last - *other) : std::nullopt;
}

SmallVector<int64_t> SlotPlaces::findCarried(scf::ForOp loop,
                                             bool isSwapped) const {
  SmallVector<int64_t> carried;
  for (auto [arg, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) {
    std::optional<int64_t> place;
    if (areBegins.contains(arg))
      place = find(init, isSwapped);
    carried.push_back(place.value_or(-1));
  }
  return carried;
}

void SlotPlaces::name(ValueRange values, ArrayRef<int64_t> slots) {
  for (auto [value, slot] : llvm::zip_equal(values, slots))
    if (slot >= 0)
      places[value] = slot;
}
