//===- CellPlan.cpp - A program of narrow groups, found and checked -------===//

#include "compiler/Conversion/Workgroup/CellPlan.h"
#include "compiler/Conversion/Ampere/CellStore.h"
#include "compiler/Conversion/Workgroup/ProgramLowering.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tessera;

int64_t CellPlan::countFragments() {
  if (isGradient())
    return gradient.countFragments();
  const ImageTile &image = operands->image;
  return llvm::divideCeilSigned(
      isCircular() ? image.width : image.countResults(), kFragment);
}

/// Of backward weights a slot of B lies in front of one of A.
int64_t CellPlan::getSlotStep() {
  return isGradient() ? gradient.getBlockBytes()
                      : bufferM.getType().getSlotBytes();
}

int64_t CellPlan::getBegin(wg::AllocOp buffer) {
  if (Value base = buffer.getBase()) {
    return getBegin(base.getDefiningOp<wg::AllocOp>()) +
           static_cast<int64_t>(*buffer.getSlot()) * getSlotStep();
  }
  if (isGradient())
    return buffer == bufferM ? gradient.input.getBytes() : 0;
  return buffer == bufferM ? 0 : bufferM.getType().getBytes();
}

int64_t CellPlan::getSharedBytes() {
  if (isGradient())
    return std::max(bufferM.getType().getBytes() + bufferN.getType().getBytes(),
                    partial ? getBegin(partial) + partial.getType().getBytes()
                            : 0);
  return std::max(bufferM.getType().getBytes(),
                  getBegin(bufferN) + bufferN.getType().getBytes());
}

//===----------------------------------------------------------------------===//
// Finding the ops
//===----------------------------------------------------------------------===//

static LogicalResult checkOps(wg::ProgramOp program) {
  WalkResult result = program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) -> WalkResult {
        const bool isOfCells =
            isa<wg::AllocOp, wg::TileOp, wg::FetchOp, wg::PutOp, wg::FillOp,
                wg::CommitOp, wg::BarrierOp, wg::LoadOp, wg::ColumnsOp,
                wg::MmaOp, wg::ZeroOp, wg::StepOp, wg::RotateOp, wg::WaveOp,
                wg::ReduceOp, wg::ResultOp, wg::StoreOp, wg::YieldOp,
                wg::SizeOp, scf::ForOp, scf::IfOp, scf::YieldOp>(op);
        if (!isOfCells && !isa<arith::ArithDialect>(op->getDialect()))
          return op->emitOpError("is no op of a program of narrow groups");
        auto branch = dyn_cast<scf::IfOp>(op);
        if (branch &&
            (branch->getNumResults() != 0 || !branch.getElseRegion().empty()))
          return op->emitOpError(
              "is of a program of narrow groups, and so only copies something");
        return isa<wg::StoreOp>(op) ? WalkResult::skip()
                                    : WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

/// A's pixels, then the filter or B's pixels, and what sums go through.
static LogicalResult findBuffers(CellPlan &plan) {
  auto all = llvm::to_vector(plan.program.getBody().getOps<wg::AllocOp>());
  if (all.size() < 2 || all.size() > 3)
    return plan.program.emitOpError(
        "needs buffers of two operands, and at most one more");
  plan.bufferM = all[0];
  plan.bufferN = all[1];
  wg::BufferType a = all[0].getType(), b = all[1].getType();
  const bool isFilter = b.getLayout() == wg::Layout::Diagonal;
  const bool isPair = a.getLayout() == wg::Layout::Pixels &&
                      b.getLayout() == wg::Layout::Pixels &&
                      a.getSlots() == b.getSlots();
  if ((!isFilter && !isPair) || a.getLayout() == wg::Layout::Diagonal ||
      a.getColumns() != b.getColumns() ||
      a.getElementType() != b.getElementType() ||
      (isFilter && b.getSlots() > 1))
    return all[1].emitOpError()
           << "needs to be a filter beside pixels, or as many slots of pixels "
              "as "
           << a << ", with as many columns";
  if (a.getLayout() == wg::Layout::Pixels && a.getSlots() > 2)
    return all[0].emitOpError("has pixels, and so needs one or two slots");
  if (all.size() == 3) {
    plan.partial = all[2];
    if (!isPair || all[2].getType().getLayout() != wg::Layout::Plain ||
        !all[2].getBase())
      return all[2].emitOpError("needs to be what sums of backward weights go "
                                "through, over other memory");
  }
  TileProgram &parts = plan.parts;
  parts.rowsM = a.getRows();
  parts.rowsN = b.getRows();
  parts.step = a.getColumns();
  parts.buffers = a.getSlots();
  return success();
}

/// All products are alike, and all stores go to one result.
static LogicalResult findProducts(CellPlan &plan) {
  TileProgram &parts = plan.parts;
  wg::MmaOp first;
  wg::StoreOp store;
  wg::ResultOp result;
  auto visit = [&](Operation *op) -> WalkResult {
    if (auto mma = dyn_cast<wg::MmaOp>(op)) {
      if (!first)
        first = mma;
      if (mma.getInstruction() != first.getInstruction() ||
          mma.getType() != first.getType() || mma.getType().getIsSwapped())
        return mma.emitOpError("needs to be of the kind of all products, with "
                               "lanes along n");
      return mma->getParentOfType<wg::StepOp>()
                 ? WalkResult::advance()
                 : mma.emitOpError("needs to be in a wg.step");
    }
    if (auto other = dyn_cast<wg::ResultOp>(op)) {
      if (!result)
        result = other;
      if (other.getView() != result.getView() ||
          other.getExtras() != result.getExtras() || other.getStaging() ||
          !isConstantIntValue(other.getColumn(), 0))
        return other.emitOpError(
            "needs the view and the tensors of the other results, column 0, "
            "and no memory on its way");
    }
    if (auto other = dyn_cast<wg::StoreOp>(op)) {
      if (other.getStatistics() || !other.getNormTensors().empty())
        return other.emitOpError("is of waves, which write no statistics");
      store = other;
    }
    return WalkResult::advance();
  };
  if (plan.program.walk(visit).wasInterrupted())
    return failure();
  if (!first || !store)
    return plan.program.emitOpError("needs products, and a wg.store");
  parts.opMma = first;
  parts.instructionName = *first.getInstruction();
  parts.lanesAlongN = true;
  parts.opStore = store;
  parts.epilogue = &store.getEpilogue();
  parts.isAtomic = result.getAtomic();
  parts.viewD = result.getView().getDefiningOp<dnn::ViewOp>();
  for (Value extra : result.getExtras())
    parts.extras.push_back(extra.getDefiningOp<dnn::ViewOp>());
  return success();
}

/// All tiles of an operand are of one view, of an argument.
static LogicalResult findTiles(CellPlan &plan) {
  TileProgram &parts = plan.parts;
  WalkResult walked = plan.program.walk([&](wg::TileOp tile) -> WalkResult {
    const bool isM = tile.getBuffer() == plan.bufferM.getResult();
    dnn::ViewOp &view = isM ? parts.viewM : parts.viewN;
    auto own = tile.getView().getDefiningOp<dnn::ViewOp>();
    if ((!isM && tile.getBuffer() != plan.bufferN.getResult()) ||
        (view && view != own))
      return tile.emitOpError("needs the view of its operand's other tiles");
    view = own;
    (isM ? parts.opM : parts.opN) = tile;
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  SmallVector<dnn::ViewOp> views(parts.extras);
  views.append({parts.viewM, parts.viewN, parts.viewD});
  for (dnn::ViewOp view : views)
    if (!view || !isa<BlockArgument>(view.getSource()))
      return plan.program.emitOpError(
          "needs a wg.tile of each operand, and views of arguments");
  return success();
}

//===----------------------------------------------------------------------===//
// What they say
//===----------------------------------------------------------------------===//

/// Fails after an error unless a buffer has so many pixels in a slot, or such a
/// filter.
static LogicalResult checkNumber(wg::AllocOp buffer, int64_t number) {
  if (buffer.getType().getSwizzle() == number)
    return success();
  return buffer.emitOpError()
         << "has a layout that its copies do not write; they need "
         << wg::getName(buffer.getType().getLayout()) << " " << number;
}

static int64_t countPixels(const ImageTile &image) {
  return image.countLines() * image.countColumns();
}

static LogicalResult matchGradient(CellPlan &plan) {
  FailureOr<CellGradient> gradient = CellGradient::match(plan.parts);
  if (failed(gradient) ||
      failed(checkNumber(plan.bufferM, countPixels(gradient->output))) ||
      failed(checkNumber(plan.bufferN, countPixels(gradient->input))))
    return failure();
  plan.gradient = *gradient;
  if (!plan.partial)
    return success();
  const int64_t bytes = gradient->getPartialBytes();
  if (plan.partial.getType().getBytes() < bytes || bytes == 0)
    return plan.partial.emitOpError()
           << "needs the " << bytes
           << " bytes of sums of the waves that share pixels";
  plan.gradient.partialBegin = plan.getBegin(plan.partial);
  return success();
}

static LogicalResult matchOperands(CellPlan &plan) {
  FailureOr<CellOperands> operands = CellOperands::match(plan.parts);
  if (failed(operands))
    return failure();
  const ImageTile &image = operands->image;
  if (!operands->fitTiles(plan.parts))
    return plan.program.emitOpError()
           << "has narrow groups, which needs tiles of a block of pixels by "
           << kBlockChannels << " channels, all of the reduction, and at most "
           << CellOperands::kMostPixelWarps << " by " << kBlockWarps
           << " waves";
  if (failed(checkNumber(plan.bufferN, operands->cells.groupChannels)) ||
      failed(checkNumber(plan.bufferM, plan.isCircular() ? image.countColumns()
                                                         : countPixels(image))))
    return failure();
  if (plan.isCircular() && plan.parts.buffers < image.countLines())
    return plan.bufferM.emitOpError()
           << "has " << plan.parts.buffers << " lines, but a block sees "
           << image.countLines();
  plan.ring = {image, plan.parts.buffers};
  plan.operands = std::move(*operands);
  return checkStoreReach(plan.parts, image.countResults());
}

/// Loops that waves share have all fragments; and what they multiply is what
/// an instruction takes.
static LogicalResult checkLoops(CellPlan &plan) {
  const auto dim = plan.isGradient() ? dnn::TileDim::N : dnn::TileDim::M;
  auto visit = [&](Operation *op) -> WalkResult {
    if (auto wave = dyn_cast<wg::WaveOp>(op); wave && wave.getDim() != dim)
      return wave.emitOpError()
             << "needs to be along "
             << (plan.isGradient() ? "n, where waves share the reduction"
                                   : "m, where they share the rows");
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && loop.getLowerBound().getDefiningOp<wg::WaveOp>() &&
        !isConstantIntValue(loop.getUpperBound(), plan.countFragments()))
      return loop.emitOpError()
             << "is shared by waves, and needs to end at "
             << plan.countFragments() << ", as many fragments as there are";
    return WalkResult::advance();
  };
  return failure(plan.program.walk(visit).wasInterrupted());
}

/// Fragments are what an instruction, or a line of taps, takes of each operand.
static LogicalResult checkFragments(CellPlan &plan) {
  const TileProgram &parts = plan.parts;
  const int64_t lines = plan.isCircular() ? plan.ring.image.tapLines : 1;
  const int64_t columns = plan.isGradient() ? plan.gradient.cells.getReduction()
                                            : parts.step / lines;
  const std::pair<int64_t, int64_t> a = {
      plan.isGradient() ? kWarpChannels : kFragment, columns};
  const std::pair<int64_t, int64_t> b = {
      plan.isGradient() ? parts.rowsN : kWarpChannels, columns};
  WalkResult walked = plan.program.walk([&](wg::MmaOp mma) -> WalkResult {
    auto fits = [&](Value operand, std::pair<int64_t, int64_t> sizes) {
      auto type = cast<wg::FragmentType>(operand.getType());
      return std::pair(type.getRows(), type.getColumns()) == sizes;
    };
    if (fits(mma.getA(), a) && fits(mma.getB(), b))
      return WalkResult::advance();
    return mma.emitOpError()
           << "needs fragments of " << a.first << "x" << a.second << " and "
           << b.first << "x" << b.second;
  });
  return failure(walked.wasInterrupted());
}

/// What is stored of backward weights are the sums of all waves, without pixels
/// outside of the image.
static LogicalResult checkGradientSums(CellPlan &plan) {
  auto visit = [&](Operation *op) -> WalkResult {
    auto load = dyn_cast<wg::LoadOp>(op);
    if (load && !load.getImage() && !plan.gradient.isEven())
      return load.emitOpError(
          "brings pixels outside of the image, and so needs "
          "to be within a block of its tile");
    auto store = dyn_cast<wg::StoreOp>(op);
    if (store &&
        (plan.gradient.sharing > 1) !=
            static_cast<bool>(store.getAcc().getDefiningOp<wg::ReduceOp>()))
      return store.emitOpError(
          "needs what wg.reduce has added if waves share the reduction, and "
          "only then");
    if (isa<wg::ReduceOp>(op) && !plan.partial)
      return op->emitOpError("needs a buffer of its own");
    return WalkResult::advance();
  };
  return failure(plan.program.walk(visit).wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Lines of results
//===----------------------------------------------------------------------===//

/// The product that has made `sums`, in a step or not; null if it was none.
static wg::MmaOp findProduct(Value sums) {
  if (auto step = sums.getDefiningOp<wg::StepOp>())
    sums = step.getBody().front().getTerminator()->getOperand(
        cast<OpResult>(sums).getResultNumber());
  return sums.getDefiningOp<wg::MmaOp>();
}

/// A line of results is the sum over lines of taps, each of the line of the
/// image that it sees.
static LogicalResult checkLine(CellPlan &plan, wg::StoreOp store) {
  const ImageTile &image = plan.ring.image;
  const auto behind = static_cast<int64_t>(store.getBehind().value_or(0));
  if (behind % image.width != 0 || behind / image.width >= image.height)
    return store.emitOpError() << "needs to begin at a line of " << image.width
                               << " results of " << image.height;
  const int64_t columns = plan.parts.step / image.tapLines;
  llvm::SmallDenseSet<int64_t> taps;
  Value sums = store.getAcc();
  for (wg::MmaOp mma; (mma = findProduct(sums)); sums = mma.getAcc()) {
    auto load = mma.getA().getDefiningOp<wg::LoadOp>();
    auto part = mma.getB().getDefiningOp<wg::ColumnsOp>();
    if (!load || (!part && image.tapLines > 1))
      return mma.emitOpError(
          "needs a line that is loaded here, and columns of the filter");
    const int64_t first = part ? static_cast<int64_t>(part.getFirst()) : 0;
    const int64_t tap = first / columns;
    const int64_t line =
        behind / image.width * image.lineStep + tap * image.tapLineStep;
    if (first % columns != 0 || (*load.getAt())[0] != line)
      return mma.emitOpError()
             << "multiplies line " << (*load.getAt())[0]
             << " by the filter from column " << first
             << " on, but the results that are stored " << behind
             << " behind see line " << line << " there";
    if (!taps.insert(tap).second)
      return mma.emitOpError() << "adds line " << tap << " of taps again";
  }
  if (std::ssize(taps) != image.tapLines || !sums.getDefiningOp<wg::ZeroOp>())
    return store.emitOpError()
           << "stores sums of " << taps.size()
           << " lines of taps, of which there are " << image.tapLines;
  return success();
}

/// Each result has all its lines.
static LogicalResult checkLines(CellPlan &plan) {
  llvm::MapVector<Operation *, llvm::SmallDenseSet<int64_t>> lines;
  WalkResult walked = plan.program.walk([&](wg::StoreOp store) -> WalkResult {
    if (failed(checkLine(plan, store)))
      return WalkResult::interrupt();
    if (!lines[store.getResult().getDefiningOp()]
             .insert(store.getBehind().value_or(0))
             .second)
      return store.emitOpError("stores a line of results again");
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  for (auto &[result, stored] : lines)
    if (std::ssize(stored) != plan.ring.image.height)
      return result->emitOpError()
             << "gets " << stored.size() << " lines of results, of "
             << plan.ring.image.height;
  return success();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

FailureOr<CellPlan> tessera::readCellPlan(func::FuncOp function,
                                          wg::ProgramOp program,
                                          const GpuTarget &target) {
  CellPlan plan;
  plan.program = program;
  TileProgram &parts = plan.parts;
  parts.function = function;
  parts.opLoop = program;
  parts.waves.assign(program.getWaves()->begin(), program.getWaves()->end());
  if (failed(checkSizes(program)) || failed(checkOps(program)) ||
      failed(findBuffers(plan)) || failed(findProducts(plan)) ||
      failed(findTiles(plan)) || failed(checkCells(parts, target)))
    return failure();
  const bool isGradient =
      plan.bufferN.getType().getLayout() == wg::Layout::Pixels;
  if (failed(isGradient ? matchGradient(plan) : matchOperands(plan)) ||
      failed(checkLoops(plan)) || failed(checkFragments(plan)) ||
      (isGradient && failed(checkGradientSums(plan))) ||
      (plan.isCircular() && failed(checkLines(plan))))
    return failure();
  parts.threads = parts.waves[0] * parts.waves[1] * kWarpSize;
  return plan;
}
