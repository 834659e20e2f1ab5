//===- WaveCopies.cpp - Copies of a program of waves ----------------------===//
//
// Where tiles and their taps lie, and the instructions of each copy: emitted at
// once, or later by a step.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WaveLowering.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Tiles and taps
//===----------------------------------------------------------------------===//

/// Where copies of shared rows begin is computed with their position in the
/// walk, and not between the products of a step.
void WaveLowering::locateBlock(Value position) {
  for (Operation *user : position.getUsers())
    if (isa<wg::FetchOp, wg::FillOp>(user))
      if (auto copy = copies.find(wg::findTile(user->getOperand(0)));
          copy != copies.end() && user->getOperand(1) == position)
        copy->second->locate(get(position));
}

/// Of rows that taps share: what reads them, and what copies them, if anything
/// does.
void WaveLowering::lowerSharedTile(wg::TileOp tile) {
  TileProgram &parts = plan.parts;
  frame.group = get(tile.getGroup());
  Value row = get(tile.getRow());
  GlobalBuffer buffer = frame.getBuffer(frame.accessM, row);
  auto users = tile->getUsers();
  auto findRows = [&] {
    if (llvm::any_of(users, llvm::IsaPred<wg::LoadOp>))
      rows[tile] = source->findRows(buffer);
  };
  if (mma)
    findRows();
  else
    findProducts(findRows);
  if (!llvm::any_of(users, llvm::IsaPred<wg::FetchOp, wg::FillOp>))
    return;
  std::unique_ptr<TileCopy> &copy = copies[tile];
  if (parts.isDirect)
    copy = std::make_unique<HaloCopy>(e, frame.accessM, parts.halo, m.lds,
                                      parts.walk, buffer, parts.threads,
                                      frame.thread);
  else
    copy = std::make_unique<PlaneHaloCopy>(e, frame.accessM, parts.planeHalo,
                                           m.lds, parts.walk, buffer,
                                           parts.threads, frame.thread);
  for (Operation *user : users)
    if (isa<wg::FetchOp, wg::FillOp>(user) &&
        values.contains(user->getOperand(1)))
      copy->locate(get(user->getOperand(1)));
  copyM = copy.get();
  taps[tile] = tile;
}

/// If all taps of a tile that goes through registers are constants and none is
/// outside of the tensor, they are so many bytes from the first one in memory.
void WaveLowering::findTapBytes(wg::TileOp tile) {
  TileCopy &copy = *copies[tile];
  ViewAccess access(tile.getView().getDefiningOp<dnn::ViewOp>());
  AccessSpace space = access.getSpace(2, 0, tile.getTaps().value_or(0));
  auto isConstant = [&](Operation *user) {
    IntegerAttr tap;
    return isa<wg::TapOp>(user) &&
           matchPattern(user->getOperand(1), m_Constant(&tap)) &&
           tap.getInt() >= 0 && space.getExtent() > tap.getInt();
  };
  if (!plan.isShared() || plan.parts.isDirect ||
      !llvm::all_of(tile->getUsers(), isConstant))
    return;
  SmallVector<int64_t> &bytes = tapBytes[tile];
  for (int64_t tap = 0; tap < space.getExtent(); ++tap)
    bytes.push_back(space.getForm(0, tap));
  auto first = llvm::min_element(bytes);
  copy.setTap(e.constant(first - bytes.begin()));
  const int64_t least = *first;
  for (int64_t &distance : bytes)
    distance -= least;
}

/// The copy of windows, or of a filter that stays.
std::unique_ptr<TileCopy> WaveLowering::createWholeCopy(bool isM, Value row) {
  const TileProgram &parts = plan.parts;
  if (isM)
    return std::make_unique<WindowCopy>(
        e, frame.accessM, parts.window, m.lds, parts.walk,
        WindowCopy::Place{frame.getArgument(frame.accessM.getSource()),
                          frame.group, row},
        parts.threads, frame.thread);
  const int64_t waveSize = frame.target.waveSize;
  return std::make_unique<ResidentCopy>(
      e, frame.accessN, parts.resident, n.lds, parts.walk,
      frame.getBuffer(frame.accessN, row),
      ThreadPlace{parts.threads / waveSize, waveSize, frame.wave, frame.lane});
}

void WaveLowering::lowerTile(wg::TileOp tile) {
  findThreads();
  const bool isM = isOfM(tile.getBuffer());
  if (isM && plan.isShared())
    return lowerSharedTile(tile);
  TileFactor factor = isM ? m : n;
  if (Value table = tile.getTable())
    factor.table = frame.lds[2 * plan.parts.buffers +
                             (llvm::find(plan.tables, table.getDefiningOp()) -
                              plan.tables.begin())];
  frame.group = get(tile.getGroup());
  std::unique_ptr<TileCopy> &copy = copies[tile];
  Value row = get(tile.getRow());
  copy = plan.hasWindows() ? createWholeCopy(isM, row)
                           : createCopy(frame, factor, row);
  (isM ? copyM : copyN) = copy.get();
  taps[tile] = tile;
  findTapBytes(tile);
}

/// A tap in a step is located with the first copy of it.
void WaveLowering::enterTap(Value box, Operation *user) {
  auto tap = box.getDefiningOp<wg::TapOp>();
  if (tap && tap->getBlock() == user->getBlock() &&
      taps[wg::findTile(box)] != box)
    lowerTap(tap);
}

void WaveLowering::lowerTap(wg::TapOp tap) {
  wg::TileOp tile = wg::findTile(tap);
  taps[tile] = tap;
  IntegerAttr number;
  auto bytes = tapBytes.find(tile);
  if (bytes == tapBytes.end() ||
      !matchPattern(tap.getTap(), m_Constant(&number)))
    return copies[tile]->setTap(get(tap.getTap()));
  copies[tile]->moveTap(bytes->second[number.getInt()]);
}

LogicalResult WaveLowering::checkTap(Operation *op, Value box) {
  const bool isHere = op->getParentOfType<wg::StepOp>() &&
                      box.getParentBlock() == op->getBlock();
  if (isHere || taps[wg::findTile(box)] == box)
    return success();
  return op->emitOpError("copies a tap which its tile has left for another "
                         "one");
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Which of `count` the i-th n-th are.
static std::pair<int64_t, int64_t>
takePart(int64_t count, std::optional<ArrayRef<int64_t>> part) {
  if (!part)
    return {0, count};
  const int64_t i = (*part)[0], n = (*part)[1];
  return {count * i / n, count * (i + 1) / n};
}

/// Begins with what the parts before have brought, and calls `add` for each
/// load.
void WaveLowering::forEachLoad(wg::FetchOp fetch, Add add) {
  TileCopy &copy = *copies[wg::findTile(fetch.getBox())];
  Lists begin(copy.getPasses());
  if (fetch.getBefore())
    begin = getLists(fetch.getBefore());
  values[fetch] = std::move(begin);
  const int64_t parts = copy.getLoadParts();
  auto [first, last] = takePart(copy.getPasses() * parts, fetch.getPart());
  for (int64_t load = first; load < last; ++load)
    add([=, this, &copy]() mutable {
      enterTap(fetch.getBox(), fetch);
      const int64_t pass = load / parts;
      copy.load(pass, load % parts, get(fetch.getAt()), Value(),
                values[fetch][pass]);
    });
}

/// Of the passes that are complete with the part, each write.
void WaveLowering::forEachWrite(wg::PutOp put, Add add) {
  TileCopy &copy = isOfM(put.getBuffer()) ? *copyM : *copyN;
  const int64_t parts = copy.getLoadParts();
  auto [first, last] = takePart(copy.getPasses() * parts, put.getPart());
  for (unsigned pass = 0; pass < copy.getPasses(); ++pass) {
    const int64_t end = (pass + 1) * parts;
    for (unsigned part = 0;
         end > first && end <= last && part < copy.getWriteParts(); ++part)
      add([=, this, &copy]() mutable {
        copy.write(pass, part, getLists(put.getPieces())[pass],
                   getSlot(put.getBuffer(), put.getSlot()));
      });
  }
}

void WaveLowering::forEachFill(wg::FillOp fill, Add add) {
  TileCopy &copy = *copies[wg::findTile(fill.getBox())];
  auto [first, last] = takePart(copy.getPasses(), fill.getPart());
  for (int64_t pass = first; pass < last; ++pass)
    add([=, this, &copy]() mutable {
      enterTap(fill.getBox(), fill);
      copy.setSlot(getSharedSlot(fill.getSlot(), fill.getBehind()));
      Values none;
      copy.load(pass, 0, get(fill.getAt()),
                getSlot(fill.getBuffer(), fill.getSlot()), none);
    });
}

LogicalResult WaveLowering::lowerCopy(Operation *op) {
  auto now = [](const std::function<void()> &emit) { emit(); };
  if (auto put = dyn_cast<wg::PutOp>(op)) {
    forEachWrite(put, now);
    return success();
  }
  if (failed(checkTap(op, op->getOperand(0))))
    return failure();
  if (auto fetch = dyn_cast<wg::FetchOp>(op))
    forEachLoad(fetch, now);
  else
    forEachFill(cast<wg::FillOp>(op), now);
  return success();
}
