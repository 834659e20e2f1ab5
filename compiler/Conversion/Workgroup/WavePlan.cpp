//===- WavePlan.cpp - A program of waves, found and checked ---------------===//

#include "compiler/Conversion/Cooperative/PlaneCopy.h"
#include "compiler/Conversion/Cooperative/TileSupport.h"
#include "compiler/Conversion/Workgroup/WaveLowering.h"
#include "compiler/Target/LaunchLds.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace tessera;

std::pair<wg::Layout, int64_t> tessera::getLayout(const TileFactor &factor) {
  const LdsTile &lds = factor.lds;
  if (factor.isTransposed)
    return {wg::Layout::Lines, 0};
  if (lds.hasPairs)
    return {wg::Layout::Pairs, 0};
  if (lds.isBlocked())
    return {wg::Layout::Blocks, lds.blockRows};
  if (lds.readsMatrices)
    return {wg::Layout::Matrices, 0};
  return {wg::Layout::Chunks, lds.banks};
}

/// Of shared rows that go directly to LDS all slots are one memory, with a line
/// of zeros behind them; else slots of M and of N alternate, unless taps share
/// those of M.
SmallVector<Type> WavePlan::getLdsTypes() {
  SmallVector<std::pair<size_t, int64_t>> sizes;
  const bool isOne = bufferM.getType().getLayout() == wg::Layout::Halo;
  int64_t elementBytes = ViewAccess(parts.viewM).getElementBytes();
  auto add = [&](wg::AllocOp buffer) {
    wg::BufferType type = buffer.getType();
    for (int64_t slot = 0; slot < type.getSlots(); ++slot)
      sizes.emplace_back(getPlace(buffer, slot),
                         type.getSlotBytes() / elementBytes);
  };
  if (isOne)
    sizes.emplace_back(0, bufferM.getType().getBytes() / elementBytes);
  else
    add(bufferM);
  add(bufferN);
  llvm::sort(sizes);
  for (wg::AllocOp table : tables)
    sizes.emplace_back(sizes.size(), table.getType().getColumns());
  if (staging)
    sizes.emplace_back(sizes.size(),
                       staging.getType().getBytes() / elementBytes);
  return llvm::map_to_vector(sizes, [&](const auto &size) -> Type {
    return getLdsType(parts, size.second);
  });
}

size_t WavePlan::getPlace(Value buffer, int64_t slot) {
  const bool isM = buffer == bufferM.getResult();
  switch (bufferM.getType().getLayout()) {
  case wg::Layout::Halo:
    return isM ? 0 : 1 + slot;
  case wg::Layout::Planes:
  case wg::Layout::Windows:
    return isM ? slot : bufferM.getType().getSlots() + slot;
  default:
    return 2 * slot + (isM ? 0 : 1);
  }
}

//===----------------------------------------------------------------------===//
// Finding the ops
//===----------------------------------------------------------------------===//

/// Beside the ops of waves a program has loops and arithmetic.
static LogicalResult checkOps(wg::ProgramOp program) {
  if (failed(checkSizes(program)))
    return failure();
  WalkResult result = program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) -> WalkResult {
        const bool isOfWaves =
            isa<wg::SizeOp, wg::AllocOp, wg::TileOp, wg::TapOp, wg::HasTapOp,
                wg::FetchOp, wg::PutOp, wg::FillOp, wg::CommitOp, wg::BarrierOp,
                wg::LoadOp, wg::MmaOp, wg::ZeroOp, wg::StepOp, wg::ResultOp,
                wg::StoreOp, wg::FlushOp, wg::YieldOp, scf::ForOp,
                scf::YieldOp>(op);
        if (!isOfWaves && !isa<arith::ArithDialect>(op->getDialect()))
          return op->emitOpError("is no op of a program of waves");
        auto flush = dyn_cast<wg::FlushOp>(op);
        if ((isa<wg::MmaOp>(op) || (flush && flush.getShare())) &&
            !op->getParentOfType<wg::StepOp>())
          return op->emitOpError("needs to be in a wg.step");
        return isa<wg::StoreOp>(op) ? WalkResult::skip()
                                    : WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

/// A's tiles, of which taps may share the rows, then B's, and then tables and
/// what results go through.
static LogicalResult findBuffers(WavePlan &plan) {
  auto all = llvm::to_vector(plan.program.getBody().getOps<wg::AllocOp>());
  if (all.size() < 2)
    return plan.program.emitOpError("needs buffers of two operands");
  plan.bufferM = all[0];
  plan.bufferN = all[1];
  wg::BufferType a = all[0].getType(), b = all[1].getType();
  const bool areTiles = !a.isOfTma() && !b.isOfTma() && !b.isShared() &&
                        wg::isOfOperand(a.getLayout()) &&
                        wg::isOfOperand(b.getLayout());
  if (!areTiles || a.getColumns() != b.getColumns() ||
      a.getElementType() != b.getElementType() ||
      (!plan.hasWindows() &&
       (b.getSlots() < 2 || (!a.isShared() && a.getSlots() != b.getSlots()))))
    return all[1].emitOpError() << "needs as many slots as " << a
                                << ", two or more, with as many columns";
  if (a.isShared() && a.getSlots() != HaloLds::kBuffers)
    return all[0].emitOpError() << "has rows that taps share, and so needs "
                                << HaloLds::kBuffers << " slots";
  for (wg::AllocOp other : ArrayRef(all).drop_front(2)) {
    const wg::Layout layout = other.getType().getLayout();
    const bool isStaging = layout == wg::Layout::Mixed && !plan.staging;
    if ((!isStaging && layout != wg::Layout::Plain) ||
        (other.getBase() && other.getBase() != all[0].getResult()) ||
        other.getType().getElementType() != a.getElementType())
      return other.emitOpError(
          "needs to be one of two operands, or a table, or "
          "the one that results go through");
    if (isStaging)
      plan.staging = other;
    else
      plan.tables.push_back(other);
  }
  TileProgram &parts = plan.parts;
  parts.rowsM = a.getRows();
  parts.rowsN = b.getRows();
  parts.step = a.getColumns();
  parts.buffers = b.getSlots();
  return success();
}

/// The product, which all steps have alike, and the store.
static LogicalResult findProducts(WavePlan &plan) {
  TileProgram &parts = plan.parts;
  wg::MmaOp first;
  bool isMixed = false;
  plan.program.walk([&](wg::MmaOp mma) {
    if (!first)
      first = mma;
    isMixed |= mma.getInstruction() != first.getInstruction() ||
               mma.getType() != first.getType() ||
               mma.getA().getType() != first.getA().getType() ||
               mma.getB().getType() != first.getB().getType();
  });
  auto stores = llvm::SmallVector<wg::StoreOp>();
  plan.program.walk([&](wg::StoreOp store) { stores.push_back(store); });
  if (!first || isMixed || stores.size() != 1)
    return plan.program.emitOpError(
        "needs products of one kind, and one wg.store");
  wg::AccType acc = first.getType();
  if (acc.getRows() != parts.rowsM || acc.getColumns() != parts.rowsN)
    return first.emitOpError()
           << "has accumulators of " << acc << ", but tiles of " << parts.rowsM
           << " and " << parts.rowsN << " rows";
  parts.opMma = first;
  parts.instructionName = *first.getInstruction();
  parts.lanesAlongN = !acc.getIsSwapped();
  Type element = plan.bufferM.getType().getElementType();
  Builder b(element.getContext());
  parts.sumType = element.isInteger() ? Type(b.getI32Type())
                  : element.isF64()   ? element
                                      : b.getF32Type();
  wg::StoreOp store = stores.front();
  auto result = store.getResult().getDefiningOp<wg::ResultOp>();
  const Value staging = plan.staging ? plan.staging.getResult() : Value();
  if (result.getStaging() != staging || store.getStatistics())
    return store.emitOpError("is of waves, which write no statistics and have "
                             "one buffer that results go through, or none");
  WalkResult walked = plan.program.walk([&](wg::ResultOp other) {
    return other.getView() == result.getView() && other.getStaging() == staging
               ? WalkResult::advance()
               : other.emitOpError(
                     "goes elsewhere than the result that is stored");
  });
  if (walked.wasInterrupted())
    return failure();
  parts.opStore = store;
  parts.epilogue = &store.getEpilogue();
  parts.isAtomic = result.getAtomic();
  parts.viewD = result.getView().getDefiningOp<dnn::ViewOp>();
  for (Value extra : result.getExtras())
    parts.extras.push_back(extra.getDefiningOp<dnn::ViewOp>());
  return success();
}

/// All tiles of an operand are of one view, and both operands are walked alike.
static LogicalResult findTiles(WavePlan &plan) {
  TileProgram &parts = plan.parts;
  wg::TileOp first;
  auto add = [&](wg::TileOp tile) -> LogicalResult {
    const bool isM = tile.getBuffer() == plan.bufferM.getResult();
    if (!isM && tile.getBuffer() != plan.bufferN.getResult())
      return tile.emitOpError("is of no operand");
    if (!first)
      first = tile;
    dnn::ViewOp &view = isM ? parts.viewM : parts.viewN;
    auto own = tile.getView().getDefiningOp<dnn::ViewOp>();
    if ((view && view != own) || tile.getTaps() != first.getTaps() ||
        tile.getPixels() != first.getPixels())
      return tile.emitOpError("needs the view of its operand's other tiles, "
                              "and taps as all of them have");
    view = own;
    (isM ? parts.opM : parts.opN) = tile;
    return success();
  };
  WalkResult result =
      plan.program.walk([&](wg::TileOp tile) { return WalkResult(add(tile)); });
  if (result.wasInterrupted())
    return failure();
  if (!parts.viewM || !parts.viewN)
    return plan.program.emitOpError("needs a wg.tile of each operand");
  SmallVector<dnn::ViewOp> views(parts.extras);
  views.append({parts.viewM, parts.viewN, parts.viewD});
  for (dnn::ViewOp view : views)
    if (!view || !isa<BlockArgument>(view.getSource()))
      return plan.program.emitOpError("needs views of arguments of the kernel");
  return success();
}

/// Copies go through registers or directly, and steps are pinned or not.
static LogicalResult findCopies(WavePlan &plan) {
  bool anyPut = false, anyFill = false, anyNatural = false;
  plan.program.walk([&](Operation *op) {
    anyPut |= isa<wg::PutOp, wg::FetchOp>(op);
    anyFill |= isa<wg::FillOp>(op);
    auto step = dyn_cast<wg::StepOp>(op);
    plan.isPinned |= step && step.getPinned();
    anyNatural |= step && !step.getPinned();
  });
  plan.parts.isDirect = anyFill;
  if (anyPut == anyFill || plan.isPinned == anyNatural)
    return plan.program.emitOpError(
        "needs copies that all go through registers, or all go directly, and "
        "steps that are all pinned, or all not");
  return success();
}

//===----------------------------------------------------------------------===//
// What follows from them
//===----------------------------------------------------------------------===//

/// The walk that the tiles name.
static LogicalResult findWalk(WavePlan &plan) {
  TileProgram &parts = plan.parts;
  auto tile = cast<wg::TileOp>(parts.opM);
  ViewAccess access(parts.viewM), other(parts.viewN);
  const unsigned dims = access.getNumColumnDims();
  const OpenNumber elements = access.getSpace(2).getExtent();
  const OpenNumber others = other.getSpace(2).getExtent();
  // Unknown sizes of both are other ones, of which the runtime knows.
  if (other.getNumColumnDims() != dims ||
      (elements.isKnown() && others.isKnown() && !(elements == others)))
    return parts.opN->emitOpError("walks another reduction than A");
  using Kind = ReductionWalk::Kind;
  ReductionWalk &walk = parts.walk;
  const unsigned taps = static_cast<unsigned>(tile.getTaps().value_or(0));
  walk.kind = tile.getTaps() ? Kind::Nested : Kind::Flat;
  walk.innerDims = dims - taps;
  walk.elements = elements;
  walk.outer = 1;
  walk.inner = access.getSpace(2, taps, dims - taps).getExtent();
  if (taps > 0)
    walk.outer = access.getSpace(2, 0, taps).getExtent();
  if (plan.isShared())
    return checkHaloFilter(parts);
  if (!tile.getPixels()) {
    for (auto [op, view] :
         {std::pair(parts.opM, parts.viewM), std::pair(parts.opN, parts.viewN)})
      if (walk.hasTaps() &&
          !ViewAccess(view).getSpace(2, taps, dims - taps).isLinear())
        return op->emitOpError("walks dimensions of which more than an offset "
                               "depends; they need to be taps");
    return success();
  }
  constexpr int64_t kChunk = kChunkBytes / PlaneCopy::kElementBytes;
  walk.kind = Kind::Stepped;
  walk.plane = walk.inner;
  walk.inner = llvm::divideCeilSigned(walk.plane, kChunk) * kChunk;
  for (auto [op, view, rows] :
       {std::tuple(parts.opM, parts.viewM, parts.rowsM),
        std::tuple(parts.opN, parts.viewN, parts.rowsN)}) {
    ViewAccess planes(view);
    if (parts.isDirect || !PlaneCopy::isFor(planes, rows, parts.step))
      return op->emitOpError("walks planes of pixels, which it has not in "
                             "rows of 16 bits that threads copy");
    wg::BufferType table;
    if (Value memory = cast<wg::TileOp>(op).getTable())
      table = cast<wg::BufferType>(memory.getType());
    if ((table ? table.getBytes() : 0) !=
        PlaneCopy::countTableBytes(planes, walk))
      return op->emitOpError()
             << "needs a table of " << PlaneCopy::countTableBytes(planes, walk)
             << " bytes";
  }
  return success();
}

/// Fails after an error unless a buffer lies as its copies write it.
static LogicalResult checkLayout(wg::AllocOp buffer, wg::Layout layout,
                                 int64_t number) {
  wg::BufferType type = buffer.getType();
  if (type.getLayout() == layout && type.getSwizzle() == number)
    return success();
  InFlightDiagnostic error =
      buffer.emitOpError()
      << "has a layout that its copies do not write; they need "
      << wg::getName(layout);
  if (wg::hasNumber(layout))
    error << " " << number;
  return error;
}

/// Lanes that read the same chunk of neighbouring rows at a time, of the tiles
/// that chips read so, and meet in a bank.
static int64_t countConflicts(const LdsTile &lds, int64_t banks) {
  constexpr int64_t kBankBytes = 4, kAligned = 32;
  const int64_t lanes = banks * kBankBytes / kChunkBytes;
  int64_t worst = 1;
  for (int64_t first = 0; first < kAligned; first += lanes)
    for (int64_t chunk = 0; chunk < lds.getChunks(); ++chunk) {
      llvm::DenseMap<int64_t, int64_t> perBank;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t bytes =
            lds.getOffset(first + lane, chunk) * lds.elementBytes;
        worst = std::max(worst,
                         ++perBank[bytes % (banks * kBankBytes) / kChunkBytes]);
      }
    }
  return worst;
}

/// The same of mma.sync of f64: eight lanes, two quads, read four neighbouring
/// chunks of two neighbouring rows.
static int64_t countQuadConflicts(const LdsTile &lds) {
  constexpr int64_t kBankBytes = 128, kQuad = 4;
  int64_t worst = 1;
  for (int64_t row = 0; row < lds.getPeriod(); row += 2)
    for (int64_t chunk = 0; chunk < lds.getChunks(); chunk += kQuad) {
      llvm::DenseMap<int64_t, int64_t> perBank;
      for (int64_t lane = 0; lane < 2 * kQuad; ++lane) {
        const int64_t bytes =
            lds.getOffset(row + lane / kQuad, chunk + lane % kQuad) *
            lds.elementBytes;
        worst = std::max(worst, ++perBank[bytes % kBankBytes / kChunkBytes]);
      }
    }
  return worst;
}

/// What taps share, what is there as a whole, and what results go through.
static LogicalResult checkShared(WavePlan &plan, const GpuTarget &target) {
  TileProgram &parts = plan.parts;
  if (plan.isShared() &&
      (failed(findHalo(parts, target)) ||
       failed(checkLayout(
           plan.bufferM, parts.isDirect ? wg::Layout::Halo : wg::Layout::Planes,
           parts.findHalo()->lines))))
    return failure();
  if (plan.hasWindows()) {
    if (parts.isDirect)
      return plan.bufferM.emitOpError(
          "has windows, which go through registers");
    if (failed(findWindows(parts)) ||
        failed(checkLayout(plan.bufferM, wg::Layout::Windows,
                           parts.window.getElements())) ||
        failed(checkLayout(plan.bufferN, wg::Layout::Padded, 0)))
      return failure();
  }
  if (!plan.staging)
    return success();
  wg::BufferType type = plan.staging.getType();
  const StagedTile staged = makeStagedTile(
      parts.rowsM, parts.rowsN, parts.viewD, parts.threads, parts.lanesAlongN);
  const bool isOfWords =
      target.vendor == Vendor::Amd && staged.isForWords(parts.viewD) &&
      parts.viewD.getType().getElementType() == type.getElementType();
  if (parts.isAtomic || (!staged.isFor(parts.viewD) && !isOfWords) ||
      type.getSlots() != 1 || type.getRows() != staged.rows ||
      type.getColumns() != staged.columns)
    return plan.staging.emitOpError()
           << "needs a slot of " << staged.rows << "x" << staged.columns
           << " results of 16 bits, or on AMD's chips of 32, that leave in "
              "whole chunks";
  parts.staged = staged;
  parts.isStagedOver = plan.staging.getBase() != Value();
  return success();
}

/// Tiles lie as their copies write them, and in different banks where they are
/// read together.
static LogicalResult checkLayouts(WavePlan &plan, const GpuTarget &target) {
  TileProgram &parts = plan.parts;
  for (auto [buffer, view, rows] :
       {std::tuple(plan.bufferM, parts.viewM, parts.rowsM),
        std::tuple(plan.bufferN, parts.viewN, parts.rowsN)}) {
    if (plan.hasWindows() || wg::AllocOp(buffer).getType().isShared())
      continue;
    ViewAccess access(view);
    TileFactor factor = chooseFactor(parts, target, access, rows);
    const auto [layout, number] = getLayout(factor);
    wg::BufferType type = wg::AllocOp(buffer).getType();
    if (type.getLayout() == wg::Layout::Chunks &&
        layout == wg::Layout::Chunks) {
      factor.lds.banks = type.getSwizzle();
      const int64_t lanes = countConflicts(factor.lds, target.ldsBanks);
      if (lanes > 1)
        return wg::AllocOp(buffer).emitOpError()
               << "lies so that " << lanes << " lanes that read together meet "
               << "in a bank of " << target.name << "; it needs chunks "
               << target.ldsBanks;
    }
    if (failed(checkLayout(buffer, layout, number)))
      return failure();
    if (const int64_t lanes = countQuadConflicts(factor.lds);
        parts.instruction.isDouble && lanes > 1)
      return wg::AllocOp(buffer).emitOpError()
             << "has rows of " << type.getColumns() << " columns, of which "
             << lanes << " lanes that read f64 together meet in a bank";
  }
  return success();
}

/// Fragments are what lanes read at once.
static LogicalResult checkFragments(WavePlan &plan, const GpuTarget &target) {
  TileProgram &parts = plan.parts;
  ViewAccess access(parts.viewM);
  const LdsTile lds = chooseFactor(parts, target, access, parts.rowsM).lds;
  const int64_t columns =
      parts.step / TileMma::countChunkReads(parts.instruction, lds);
  auto type =
      cast<wg::FragmentType>(cast<wg::MmaOp>(parts.opMma).getA().getType());
  if (type.getColumns() == columns)
    return success();
  return parts.opMma->emitOpError()
         << "multiplies fragments of " << type.getColumns()
         << " columns, but lanes read " << columns << " at once";
}

static LogicalResult checkCapacity(WavePlan &plan, const GpuTarget &target) {
  int64_t bytes = 0, over = 0;
  for (wg::AllocOp buffer : plan.program.getBody().getOps<wg::AllocOp>())
    (buffer.getBase() ? over : bytes) += buffer.getType().getBytes();
  bytes = std::max(bytes, over);
  const int64_t most = getMaxLdsBytes(target);
  if (bytes > most)
    return plan.program.emitOpError()
           << "needs " << bytes << " bytes of LDS, "
           << "but " << target.name << " has " << most;
  // HIP counts work-items in 32 bits.
  const double items = static_cast<double>(plan.parts.threads) *
                       static_cast<double>(plan.program.getWorkgroups());
  if (items > std::numeric_limits<uint32_t>::max())
    return plan.program.emitOpError("has more than 2^32 work-items");
  return success();
}

FailureOr<WavePlan> tessera::readWavePlan(func::FuncOp function,
                                          wg::ProgramOp program,
                                          const GpuTarget &target) {
  WavePlan plan;
  plan.program = program;
  TileProgram &parts = plan.parts;
  parts.function = function;
  parts.opLoop = program;
  parts.waves.assign(program.getWaves()->begin(), program.getWaves()->end());
  if (failed(checkOps(program)) || failed(findBuffers(plan)) ||
      failed(findProducts(plan)) || failed(findTiles(plan)) ||
      failed(findCopies(plan)) || failed(checkProducts(parts, target)) ||
      failed(checkShared(plan, target)) || failed(findWalk(plan)) ||
      (!plan.hasWindows() && failed(checkMainLoop(parts))) ||
      failed(checkAllReach(parts)) || failed(checkDirectCopy(parts, target)) ||
      failed(checkLayouts(plan, target)) ||
      failed(checkFragments(plan, target)) ||
      failed(checkCapacity(plan, target)))
    return failure();
  if (parts.isDirect && target.directLdsBytes < kChunkBytes)
    return program.emitOpError()
           << "copies directly to LDS, but " << target.name
           << " loads no 16 bytes a lane there";
  return plan;
}
