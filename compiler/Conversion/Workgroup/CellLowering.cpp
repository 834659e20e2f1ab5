//===- CellLowering.cpp - The threads of a program of narrow groups -------===//
//
// Loops, branches and arithmetic stay as they are; the other ops are calls of
// the emitters of compiler/Conversion/Ampere. Which slot is the first one is a
// number of bytes that loops carry. Of backward weights, where a loop over
// blocks goes on by one of two slots with each, it is that of the block's
// number.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/CellStore.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"
#include "compiler/Conversion/Workgroup/CellPlan.h"
#include "compiler/Conversion/Workgroup/CellProgram.h"
#include "compiler/Conversion/Workgroup/ProgramLowering.h"
#include "compiler/Conversion/Workgroup/WaveProgram.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

namespace {
class CellLowering : ProgramLowering {
public:
  CellLowering(CellPlan &plan, CellKernel &kernel);
  LogicalResult emit();

private:
  using ProgramLowering::lower;
  Emitter &getEmitter() override { return e; }
  LogicalResult lower(Operation *op) override;
  void forget(scf::ForOp) override {}
  LogicalResult lowerBranch(scf::IfOp branch);
  LogicalResult lowerRotation(scf::ForOp loop);

  Value getTurn();
  Value findSlot(int64_t slot);
  Value findPlace(Value buffer, int64_t slot);
  ImageCopy copyTo(wg::TileOp tile, Value place);
  Value findBlock(wg::TileOp tile, Value at);
  void locateLines(wg::TileOp tile);
  const ImageTile &getImage(wg::TileOp tile);
  void lowerFill(wg::FillOp fill);
  void lowerFetch(wg::FetchOp fetch);
  void lowerPut(wg::PutOp put);
  void lowerFilter(wg::LoadOp load);
  LogicalResult lowerStep(wg::StepOp step);
  Value findColumn(Value pixel);
  Value findPixel(wg::LoadOp load);
  void multiplyRead(const CellRead &read, wg::MmaOp mma, ArrayRef<Value> a,
                    Lists &sums);
  LogicalResult multiply(wg::StepOp step);
  LogicalResult multiplyGradient(wg::StepOp step);
  void lowerResult(wg::ResultOp result);
  void lowerStore(wg::StoreOp store);

  /// What a result needs of its rows: where they are stored, and which of them
  /// are some.
  struct Stored {
    std::unique_ptr<CellStore> store;
    SmallVector<Value> valid;
  };

  CellPlan &plan;
  CellKernel &k;
  Emitter &e;
  Value warpM, warpN; ///< The first may not be known yet.
  std::optional<GradientProduct> gradient;
  /// Where slot 0 begins, in bytes; of a gradient whose slots follow the blocks
  /// of `turns`, null.
  Value first;
  scf::ForOp turns;
  bool isInTurns = false;
  llvm::DenseMap<Operation *, std::unique_ptr<LineCopy>> lines;
  llvm::DenseMap<Operation *, Value> places; ///< Of lines in a branch.
  std::pair<Value, Value> column; ///< Of a pixel, where the lane's is.
  llvm::DenseMap<Operation *, Stored> results;
  llvm::DenseMap<Operation *, IRMapping> scalars; ///< Of stores.
};
} // namespace

/// The loop whose iterations go on by one slot with each block, if it is all
/// that moves slots of a gradient.
static scf::ForOp findTurns(CellPlan &plan) {
  SmallVector<wg::RotateOp> rotations;
  plan.program.walk([&](wg::RotateOp op) { rotations.push_back(op); });
  if (!plan.isGradient() || rotations.size() != 1 ||
      rotations[0]->getNextNode() != rotations[0]->getBlock()->getTerminator())
    return {};
  auto loop = dyn_cast<scf::ForOp>(rotations[0]->getParentOp());
  const bool isOuter = loop && loop->getParentOp() == plan.program;
  return isOuter && isConstantIntValue(loop.getStep(), 1) ? loop : scf::ForOp();
}

CellLowering::CellLowering(CellPlan &plan, CellKernel &kernel)
    : plan(plan), k(kernel), e(kernel.e), turns(findTurns(plan)) {
  if (plan.isCircular()) // For all blocks of a run.
    warpM = e.divu(k.warp, kBlockWarps);
  if (plan.isGradient())
    gradient.emplace(k, plan.gradient);
  else
    warpN = e.remu(k.warp, kBlockWarps);
  if (!turns)
    first = e.constant(0);
  if (std::optional<int64_t> resident = plan.program.getResident())
    e.device.setKernelAttributes(k.function, /*accumulatorRegisters=*/0,
                                 *resident);
  Block &body = plan.program.getBody().front();
  map(body.getArgument(0),
      plan.program.getWorkgroups() > 0
          ? e.device.emitBlockId(e, plan.program.getWorkgroups())
          : e.device.emitBlockId(e));
  map(body.getArgument(1), e.constant(0));
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// The number of the block that slot 0 has.
Value CellLowering::getTurn() {
  return get(isInTurns ? turns.getInductionVar() : turns.getLowerBound());
}

/// Where a slot begins; of backward weights, its blocks of both operands. What
/// a loop carries is known from its begin on.
Value CellLowering::findSlot(int64_t slot) {
  const int64_t step = plan.getSlotStep();
  if (plan.isCircular())
    return plan.ring.wrap(e, e.add(first, slot * step));
  if (turns)
    return e.mul(e.remu(e.add(getTurn(), slot), plan.parts.buffers), step);
  if (slot == 0)
    return first;
  OpBuilder::InsertionGuard guard(e.b);
  if (auto carried = dyn_cast<BlockArgument>(first))
    e.b.setInsertionPointToStart(carried.getOwner());
  return arith::SubIOp::create(e.b, e.loc, e.constant(step), first);
}

/// A slot of a buffer.
Value CellLowering::findPlace(Value buffer, int64_t slot) {
  auto alloc = buffer.getDefiningOp<wg::AllocOp>();
  const int64_t begin = plan.getBegin(alloc);
  if (alloc.getType().getLayout() == wg::Layout::Diagonal)
    return e.constant(begin);
  return e.add(findSlot(slot), begin);
}

/// A loop in which slots move carries where they begin.
LogicalResult CellLowering::lowerRotation(scf::ForOp loop) {
  if (loop == turns) {
    isInTurns = true;
    LogicalResult result = lowerLoop(loop);
    isInTurns = false;
    return result;
  }
  const bool moves =
      loop->walk([](wg::RotateOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (!moves || turns)
    return lowerLoop(loop);
  return lowerLoop(loop, &first);
}

/// Where lines go does not depend on which they are, and is known first.
LogicalResult CellLowering::lowerBranch(scf::IfOp branch) {
  LogicalResult result = success();
  Block &body = branch.getThenRegion().front();
  emitIf(e, get(branch.getCondition()), [&] {
    for (wg::FillOp fill : body.getOps<wg::FillOp>())
      if (fill.getLines())
        places[fill] = findSlot(static_cast<int64_t>(fill.getSlot()));
    result = lower(body);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

const ImageTile &CellLowering::getImage(wg::TileOp tile) {
  if (plan.operands)
    return plan.operands->image;
  return tile.getBuffer() == plan.bufferM.getResult() ? plan.gradient.output
                                                      : plan.gradient.input;
}

ImageCopy CellLowering::copyTo(wg::TileOp tile, Value place) {
  return k.copyTo(tile.getView().getDefiningOp<dnn::ViewOp>(), place);
}

/// Rows are those of a block; of backward weights what is walked is.
Value CellLowering::findBlock(wg::TileOp tile, Value at) {
  const int64_t rows = plan.isGradient() ? 1 : plan.parts.rowsM;
  return e.add(e.divu(get(tile.getRow()), rows), get(at));
}

/// The lines of a block, which is often known by its number.
void CellLowering::locateLines(wg::TileOp tile) {
  auto row = tile.getRow().getDefiningOp<arith::MulIOp>();
  Value block = row && isConstantIntValue(row.getRhs(), plan.parts.rowsM)
                    ? get(row.getLhs())
                    : e.divu(get(tile.getRow()), plan.parts.rowsM);
  lines[tile] = std::make_unique<LineCopy>(
      e, plan.ring, copyTo(tile, e.constant(0)), get(tile.getGroup()), block);
}

void CellLowering::lowerFill(wg::FillOp fill) {
  wg::TileOp tile = wg::findTile(fill.getBox());
  Value place = places.lookup(fill);
  if (!place)
    place = findPlace(fill.getBuffer(), static_cast<int64_t>(fill.getSlot()));
  if (auto found = lines.find(tile); found != lines.end())
    return found->second->emit(get(fill.getAt()), place,
                               static_cast<int64_t>(*fill.getLines()));
  if (fill.getBuffer().getType().getLayout() == wg::Layout::Diagonal)
    return plan.operands->filter.copy(e, copyTo(tile, place),
                                      get(tile.getGroup()));
  copyImageTile(e, getImage(tile), copyTo(tile, place), get(tile.getGroup()),
                findBlock(tile, fill.getAt()));
}

void CellLowering::lowerFetch(wg::FetchOp fetch) {
  wg::TileOp tile = wg::findTile(fetch.getBox());
  Value exists = fetch.getExists() ? get(fetch.getExists()) : Value();
  values[fetch] = {fetchImageTile(
      e, getImage(tile), copyTo(tile, e.constant(0)), get(tile.getGroup()),
      findBlock(tile, fetch.getAt()), exists)};
}

void CellLowering::lowerPut(wg::PutOp put) {
  auto fetch = put.getPieces().getDefiningOp<wg::FetchOp>();
  wg::TileOp tile = wg::findTile(fetch.getBox());
  putImageTile(e, getImage(tile),
               copyTo(tile, findPlace(put.getBuffer(),
                                      static_cast<int64_t>(put.getSlot()))),
               values[fetch].front());
}

/// All of it, to the registers of each lane.
void CellLowering::lowerFilter(wg::LoadOp load) {
  Lists &filter = values[load];
  for (SmallVector<Value> &cell : plan.operands->filter.read(
           e, k.place, warpN,
           k.getShared(e.constant(plan.getBegin(plan.bufferN)))))
    filter.push_back(std::move(cell));
  plan.program.walk([&](wg::StoreOp store) {
    scalars[store] = CellStore::mapScalars(k, store.getEpilogue());
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// In a line of results, where the lane's pixel of those from `pixel` on is.
Value CellLowering::findColumn(Value pixel) {
  const ImageTile &image = plan.ring.image;
  if (column.first == pixel)
    return column.second;
  Value own = e.add(pixel, e.remu(k.place.lane, kFragment));
  if (image.width % kFragment != 0)
    own = arith::MinUIOp::create(e.b, e.loc, own, e.constant(image.width - 1));
  column = {pixel, e.mul(own, image.columnStep * image.getPixelBytes())};
  return column.second;
}

/// Where the first tap of the lane's pixel lies.
Value CellLowering::findPixel(wg::LoadOp load) {
  const int64_t slot = (*load.getAt())[0];
  Value pixel = get(load.getPixel());
  if (plan.isCircular()) {
    Value columnBytes = findColumn(pixel);
    return e.add(findSlot(slot), columnBytes);
  }
  const ImageTile &image = plan.operands->image;
  pixel = e.add(pixel, e.remu(k.place.lane, kFragment));
  if (image.countResults() % kFragment != 0)
    pixel = arith::MinUIOp::create(e.b, e.loc, pixel,
                                   e.constant(image.countResults() - 1));
  return e.add(image.emitResultBytes(e, pixel),
               findPlace(load.getBuffer(), slot));
}

/// Adds what `read` contributes to a product.
void CellLowering::multiplyRead(const CellRead &read, wg::MmaOp mma,
                                ArrayRef<Value> a, Lists &sums) {
  const CellTile &cells = plan.getCells();
  const Lists &filter = values[mma.getB()];
  Type element = plan.bufferM.getType().getElementType();
  for (int64_t cell = 0; cell < kCells; ++cell) {
    if (read.cell.value_or(cell) != cell)
      continue;
    sums[cell] = cells.multiply(
        e, element, read.isShared ? a.slice(2 * cell, 2) : a,
        cells.joinFilter(filter[cell], read.piece, read.pieces), sums[cell]);
  }
}

/// What is read at once meets all products before the next is read.
LogicalResult CellLowering::multiply(wg::StepOp step) {
  Block &body = step.getBody().front();
  auto loads = llvm::to_vector(body.getOps<wg::LoadOp>());
  auto products = llvm::to_vector(body.getOps<wg::MmaOp>());
  const bool areOfIt =
      loads.size() == 1 && llvm::all_of(products, [&](wg::MmaOp mma) {
        return mma.getA() == loads[0].getResult() &&
               mma.getAcc().getParentBlock() != &body;
      });
  if (!areOfIt)
    return step.emitOpError("needs one load of pixels, and products of it that "
                            "do not add to each other");
  const CellTile &cells = plan.getCells();
  const ImageTile &image = plan.operands->image;
  Value place = findPixel(loads[0]);
  const int64_t pieces =
      loads[0].getType().getColumns() / kBlockChannels * cells.countChunks();
  for (wg::MmaOp mma : products)
    values[mma] = Lists(values[mma.getAcc()]);
  for (const CellRead &read : listReads(cells, pieces, plan.isCircular())) {
    Value chunk = e.mul(cells.emitFirstChunk(e, warpN, read.cell.value_or(0)),
                        image.getPieceBytes());
    SmallVector<Value> a = readFragment(e, cells, image, k.place,
                                        k.getShared(e.add(place, chunk)), read);
    for (wg::MmaOp mma : products)
      multiplyRead(read, mma, a, values[mma]);
  }
  return success();
}

LogicalResult CellLowering::multiplyGradient(wg::StepOp step) {
  Block &body = step.getBody().front();
  auto products = llvm::to_vector(body.getOps<wg::MmaOp>());
  auto a = products.empty() ? wg::LoadOp()
                            : products[0].getA().getDefiningOp<wg::LoadOp>();
  auto b = products.empty() ? wg::LoadOp()
                            : products[0].getB().getDefiningOp<wg::LoadOp>();
  if (products.size() != 1 || !a || !b || a->getBlock() != &body ||
      b->getBlock() != &body || *a.getAt() != *b.getAt() ||
      a.getPixel() != b.getPixel() || a.getBlock() != b.getBlock())
    return step.emitOpError("needs one product, of the same pixels of the same "
                            "block of both operands");
  if (a.getImage())
    k.group = get(wg::findTile(a.getImage()).getGroup());
  Value pixel = get(a.getPixel());
  Value block = a.getImage() ? get(a.getBlock()) : Value();
  Values sums = values[products[0].getAcc()].front();
  values[products[0]] = {gradient->multiply(
      pixel, [&] { return findSlot((*a.getAt())[0]); }, block, sums)};
  return success();
}

LogicalResult CellLowering::lowerStep(wg::StepOp step) {
  if (failed(plan.isGradient() ? multiplyGradient(step) : multiply(step)))
    return failure();
  Operation *yield = step.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip_equal(step.getResults(), yield->getOperands()))
    values[result] = Lists(values[value]);
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Pixels behind a block's last, or a line's, would be another's first.
void CellLowering::lowerResult(wg::ResultOp result) {
  k.group = get(result.getGroup());
  k.row0 = get(result.getRow());
  if (plan.isGradient())
    return;
  Value from = result.getFrom() ? get(result.getFrom()) : e.constant(0);
  const ImageTile &image = plan.operands->image;
  const int64_t rows = plan.isCircular() ? image.width : image.countResults();
  if (plan.isCircular())
    findColumn(from);
  Value row = e.add(from, k.place.row);
  Stored &stored = results[result];
  stored.valid.resize(2);
  auto checkRows = [&] {
    if (rows % kFragment != 0)
      stored.valid = {e.ult(row, rows), e.ult(e.add(row, kFragment / 2), rows)};
  };
  if (!plan.isCircular())
    checkRows();
  stored.store = std::make_unique<CellStore>(k, warpN, row);
  if (plan.isCircular())
    checkRows();
}

void CellLowering::lowerStore(wg::StoreOp store) {
  if (plan.isGradient()) {
    const Values &sums = values[store.getAcc()].front();
    return store.getAcc().getDefiningOp<wg::ReduceOp>()
               ? gradient->storeAll(sums)
               : gradient->store(sums);
  }
  const Stored &stored = results[store.getResult().getDefiningOp()];
  stored.store->store(values[store.getAcc()],
                      static_cast<int64_t>(store.getBehind().value_or(0)),
                      stored.valid, store.getEpilogue(), scalars[store]);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult CellLowering::lower(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerRotation(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerBranch(branch);
  if (auto step = dyn_cast<wg::StepOp>(op))
    return lowerStep(step);
  if (auto wave = dyn_cast<wg::WaveOp>(op)) {
    map(wave, gradient ? gradient->getShare()
              : warpM  ? warpM
                       : e.divu(k.warp, kBlockWarps));
  } else if (auto tile = dyn_cast<wg::TileOp>(op)) {
    if (plan.isCircular() && tile.getBuffer() == plan.bufferM.getResult())
      locateLines(tile);
  } else if (auto fill = dyn_cast<wg::FillOp>(op)) {
    lowerFill(fill);
  } else if (auto fetch = dyn_cast<wg::FetchOp>(op)) {
    lowerFetch(fetch);
  } else if (auto put = dyn_cast<wg::PutOp>(op)) {
    lowerPut(put);
  } else if (isa<wg::CommitOp>(op)) {
    e.device.endDirectGroup(e);
  } else if (auto barrier = dyn_cast<wg::BarrierOp>(op)) {
    if (barrier.getAhead())
      e.device.waitForDirectGroups(e, static_cast<int64_t>(*barrier.getAhead()),
                                   /*loads=*/0);
    e.device.emitLdsBarrier(e);
  } else if (auto load = dyn_cast<wg::LoadOp>(op)) {
    lowerFilter(load);
  } else if (auto columns = dyn_cast<wg::ColumnsOp>(op)) {
    const CellTile &cells = plan.getCells();
    const int64_t unit = kBlockChannels / cells.countChunks();
    const int64_t each = cells.countFilterRegisters();
    Lists parts;
    for (ArrayRef<Value> cell : values[columns.getFragment()])
      parts.emplace_back(
          cell.slice(static_cast<int64_t>(columns.getFirst()) / unit * each,
                     columns.getType().getColumns() / unit * each));
    values[columns] = std::move(parts);
  } else if (auto zero = dyn_cast<wg::ZeroOp>(op)) {
    Value none = e.constant(cast<TypedAttr>(e.b.getF32FloatAttr(0)));
    values[zero] = gradient ? Lists{Values(plan.gradient.countSums(), none)}
                            : makeZeroSums(e);
  } else if (auto rotate = dyn_cast<wg::RotateOp>(op)) {
    if (!turns)
      first = findSlot(static_cast<int64_t>(rotate.getSteps()));
  } else if (auto reduce = dyn_cast<wg::ReduceOp>(op)) {
    gradient->sendShares(values[reduce.getAcc()].front());
    values[reduce] = Lists(values[reduce.getAcc()]);
  } else if (auto result = dyn_cast<wg::ResultOp>(op)) {
    lowerResult(result);
  } else if (auto store = dyn_cast<wg::StoreOp>(op)) {
    lowerStore(store);
  } else if (isa<arith::ArithDialect>(op->getDialect())) {
    clone(op);
  }
  return success();
}

LogicalResult CellLowering::emit() {
  return lower(plan.program.getBody().front());
}

bool tessera::isCellProgram(wg::ProgramOp program) {
  auto buffers = program.getBody().getOps<wg::AllocOp>();
  return !buffers.empty() && (*buffers.begin()).getType().isOfCells();
}

LogicalResult tessera::lowerCellProgram(func::FuncOp function,
                                        wg::ProgramOp program,
                                        const DeviceOps &device) {
  FailureOr<CellPlan> plan =
      readCellPlan(function, program, device.getTarget());
  if (failed(plan) || failed(checkSlots(program)))
    return failure();
  CellLaunch launch{static_cast<int64_t>(program.getWorkgroups()),
                    plan->parts.threads, plan->getSharedBytes(), std::nullopt};
  if (std::optional<StringRef> tiles = program.getTiles()) {
    launch.openWorkgroups = *parseSizeExpr(*tiles);
    if (launch.workgroups > 0)
      launch.openWorkgroups =
          minimum(*launch.openWorkgroups, SizeExpr(launch.workgroups));
  }
  if (failed(
          emitCellKernel(plan->parts, device, launch, [&](CellKernel &kernel) {
            return CellLowering(*plan, kernel).emit();
          })))
    return failure();
  function.erase();
  return success();
}
