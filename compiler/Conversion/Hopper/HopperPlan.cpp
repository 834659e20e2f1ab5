//===- HopperPlan.cpp - What is known before a kernel is written ----------===//

#include "compiler/Conversion/Hopper/HopperPlan.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Conversion/Hopper/ColumnStore.h"
#include "compiler/Conversion/Hopper/PixelOperands.h"
#include "compiler/Conversion/Hopper/StoreExtra.h"
#include "compiler/Conversion/Hopper/StreamedReads.h"
#include "compiler/Conversion/Hopper/TileOrder.h"
#include "compiler/Conversion/Hopper/Wgmma.h"
#include "dialect/IR/PlanKnobs.h"
#include "dialect/IR/StatisticsParts.h"

using namespace mlir;
using namespace tessera;

/// The tensor behind a view, whose address the launch fills in.
static FailureOr<KernelArg> getTensor(TileProgram &program, Value view) {
  auto argument = cast<BlockArgument>(TileProgram::getView(view).getSource());
  return getMappedTensor(program.function, argument);
}

/// What is moved row by row, or loaded a channel at a time: all extra tensors,
/// and the result if it is no map.
static LogicalResult checkRowTensors(TileProgram &program, bool storesRows) {
  dnn::TileStoreOp store = program.store;
  SmallVector<Value> views(store.getExtras());
  if (storesRows)
    views.push_back(store.getView());
  const Type result = store.getView().getType().getElementType();
  for (Value view : views) {
    Type element = cast<dnn::ViewType>(view.getType()).getElementType();
    if (element != result)
      return store.emitOpError()
             << "needs tensors of the result's type, " << result
             << ", to move their rows, but has " << element;
    if (failed(checkReach(store, view,
                          program.mma.getAcc().getType().getShape().front())))
      return failure();
  }
  return success();
}

static TmaWalk getWalk(TileProgram &program) {
  return TmaOperand::chooseWalk(program.loadM, program.loadN);
}

/// A, if all taps share its pixels.
static FailureOr<std::optional<HaloOperand>> matchHalo(TileProgram &program) {
  if (!program.pipeline.getHalo() || getWalk(program) == TmaWalk::Pixels)
    return std::optional<HaloOperand>();
  FailureOr<KernelArg> name = getTensor(program, program.loadM.getView());
  if (failed(name))
    return failure();
  FailureOr<HaloOperand> halo = HaloOperand::match(
      program.loadM, TileProgram::getView(program.store.getView()), *name);
  if (failed(halo))
    return failure();
  return std::optional<HaloOperand>(std::move(*halo));
}

/// Whether B is what slides: its taps move the pixels that the reduction walks.
static bool slidesB(TileProgram &program) {
  dnn::CoordsAttr coords =
      TileProgram::getView(program.loadN.getView()).getCoords();
  const unsigned rows = coords.getFirstDim(1), columns = coords.getFirstDim(2),
                 end = coords.getSizes().size();
  return llvm::any_of(coords.getMap().getResults(), [&](AffineExpr expr) {
    const LinearExpr linear = getLinearExpr(expr, end);
    auto moves = [&](unsigned from, unsigned to) {
      return llvm::any_of(llvm::seq(from, to), [&](unsigned d) {
        return linear.factors[d] != 0 && coords.getSizes()[d] != 1;
      });
    };
    return moves(rows, columns) && moves(columns, end);
  });
}

/// A or B, if all taps share its pixels.
static FailureOr<std::optional<SlidingHalo>>
matchSliding(TileProgram &program) {
  if (!program.pipeline.getHalo() || getWalk(program) != TmaWalk::Pixels)
    return std::optional<SlidingHalo>();
  dnn::TileLoadOp load = program.loadM, other = program.loadN;
  if (slidesB(program))
    std::swap(load, other);
  FailureOr<KernelArg> name = getTensor(program, load.getView());
  if (failed(name))
    return failure();
  const int64_t consumers = program.mma.getWaves()[1];
  FailureOr<SlidingHalo> halo =
      slidesB(program) ? SlidingHalo::matchRows(load, other, *name, consumers)
                       : SlidingHalo::matchLines(load, other, *name);
  if (failed(halo))
    return failure();
  return std::optional<SlidingHalo>(std::move(*halo));
}

/// The buffers for it. A halo is given back when the next one is read.
static FailureOr<HaloShape>
getHaloShape(TileProgram &program, const std::optional<HaloOperand> &halo,
             const std::optional<SlidingHalo> &sliding) {
  if (!halo && !sliding)
    return HaloShape();
  if (program.mma.getInstruction() != kWgmma)
    return program.mma.emitOpError(
        "multiplies f32, whose taps share no pixels in a halo");
  dnn::RolesAttr roles = program.pipeline.getRolesAttr();
  if (sliding && roles && roles.getOrder() == dnn::ConsumerOrder::PingPong)
    return program.pipeline.emitOpError(
        "has a halo that slides, whose consumers share each tile, and so are "
        "not in ping-pong");
  if (halo && program.pipeline.getSplits())
    return program.pipeline.emitOpError(
        "has splits, but a halo of rows is for whole reductions");
  const auto buffers = static_cast<int64_t>(*program.pipeline.getHalo());
  const int64_t least = sliding                   ? sliding->countAhead() + 2
                        : halo->countBlocks() > 1 ? 2
                                                  : 1;
  if (buffers < least || program.pipeline.getBuffers() < 2)
    return program.pipeline.emitOpError()
           << "needs 2 buffers and a halo of at least " << least << ", but has "
           << program.pipeline.getBuffers() << " and " << buffers;
  constexpr int64_t kChunkRows = 64;
  return HaloShape{.buffers = buffers,
                   .rows = sliding ? kChunkRows : halo->getRows(),
                   .slides = sliding.has_value(),
                   .isOfB = sliding && slidesB(program),
                   .rowBytes =
                       sliding ? sliding->getBlockRowBytes() : kRowBytes};
}

/// Whether the reduction walks the outermost dimension of a tensor last of all,
/// so that steps behind the last one read nothing but zeros.
static bool endsWithTensor(dnn::TileLoadOp load) {
  auto view = load.getView().getDefiningOp<dnn::ViewOp>();
  dnn::CoordsAttr coords = view.getCoords();
  ArrayRef<int64_t> sizes = coords.getSizes();
  const unsigned first = coords.getFirstDim(2);
  const LinearExpr outermost =
      getLinearExpr(coords.getMap().getResult(0), sizes.size());
  for (auto [d, factor] : llvm::enumerate(outermost.factors))
    if (sizes[d] > 1 && factor != (d == first ? 1 : 0))
      return false;
  auto type = cast<MemRefType>(view.getSource().getType());
  return sizes[first] > 1 && outermost.constant == 0 &&
         type.getDimSize(0) == sizes[first];
}

/// A step behind the last one would multiply pixels by the zeros behind the
/// filter, which are no zeros where a pixel is infinite. Those of pixels are
/// zeros on both sides.
static LogicalResult checkSplits(TileProgram &program, int64_t splits,
                                 const OpenNumber &steps,
                                 const StepWalk &walk) {
  if (splits == 1 || getWalk(program) == TmaWalk::Pixels ||
      (endsWithTensor(program.loadM) && endsWithTensor(program.loadN)))
    return success();
  if (walk.hasLimits())
    return program.pipeline.emitOpError(
        "has splits, but groups that differ in their taps");
  if (steps % splits != 0)
    return program.pipeline.emitOpError()
           << "has " << splits << " splits, which do not divide its "
           << int64_t(steps) << " steps";
  return success();
}

/// Each workgroup of a cluster has steps of its own, and one tile.
static LogicalResult checkCluster(TileProgram &program, int64_t cluster,
                                  const OpenNumber &steps, int64_t workgroups,
                                  int64_t resident, const StepWalk &walk) {
  if (cluster == 1)
    return success();
  if (walk.hasLimits())
    return program.pipeline.emitOpError(
        "has a cluster, but groups that differ in their taps");
  if (steps < cluster)
    return program.pipeline.emitOpError()
           << "has a cluster of " << cluster << ", but " << int64_t(steps)
           << " steps";
  if (workgroups > resident)
    return program.pipeline.emitOpError()
           << "has " << workgroups << " workgroups in clusters, each with one "
           << "tile, but " << resident << " are resident at once";
  return success();
}

/// Pairs of tiles leave none over. The half of an operand that each workgroup
/// copies.
static LogicalResult shareOperand(TileProgram &program,
                                  const HopperShape &shape, TmaOperand &a,
                                  TmaOperand &b) {
  if (!shape.multicast)
    return success();
  const int64_t count = program.tiles.getCounts()[shape.getPairDim()];
  const bool isB = *shape.multicast == dnn::TileDim::N;
  if (count % shape.countSharers() != 0)
    return program.pipeline.emitOpError()
           << "has multicast, which needs an even number of tiles along "
           << (isB ? "rows" : "columns") << ", but has " << count;
  return isB ? b.share(program.loadN) : a.share(program.loadM);
}

/// Whether the last tile along dimension `dim` of the result may begin early
/// enough to end with it. Elements in two tiles have the same value in both;
/// but none may be read that might have been stored already. What taps or
/// groups share out among rows begins where their blocks do.
static bool canOverlap(TileProgram &program, dnn::TileDim dim,
                       const HopperShape &shape, TmaWalk walk) {
  constexpr int64_t kUnit = 8; // Elements of 16 bytes.
  const bool isColumns = dim == dnn::TileDim::N;
  dnn::CoordsAttr coords =
      TileProgram::getView(program.store.getView()).getCoords();
  const unsigned index = isColumns ? 2 : 1;
  const int64_t extent = coords.getExtent(index);
  const int64_t tile = isColumns ? shape.tileN : shape.tileM;
  const bool hasOneDim = llvm::count_if(coords.getSpace(index),
                                        [](int64_t n) { return n > 1; }) <= 1;
  return extent > tile && extent % tile != 0 && extent % kUnit == 0 &&
         !shape.halo.slides && !shape.preparesB && hasOneDim &&
         (isColumns || walk == TmaWalk::Pixels) &&
         llvm::none_of(program.store.getExtras(), [](Value extra) {
           return isOfElements(TileProgram::getView(extra));
         });
}

/// Along which sides the last tile ends with the result: where it can, unless
/// the knob says otherwise. Copies of what is beyond an operand's end take TMA
/// about twice as long as others.
static FailureOr<int64_t>
chooseOverlap(TileProgram &program, const HopperShape &shape, TmaWalk walk) {
  const int64_t most =
      (canOverlap(program, dnn::TileDim::M, shape, walk) ? kOverlapsRows : 0) |
      (canOverlap(program, dnn::TileDim::N, shape, walk) ? kOverlapsColumns
                                                         : 0);
  const int64_t overlap = dnn::PlanKnobs(program.pipeline.getKnobs())
                              .get(dnn::Knob::Overlap)
                              .value_or(most);
  if ((overlap & ~most) == 0)
    return overlap;
  return program.pipeline.emitOpError()
         << "has overlap " << dnn::getKnobRow(dnn::Knob::Overlap).print(overlap)
         << ", but its last tiles can end with the result along "
         << dnn::getKnobRow(dnn::Knob::Overlap).print(most);
}

/// The word of the knob; the other one is columns first.
static constexpr int64_t kRowsFirst = 1;

/// A workgroup's statistics are of the same columns in all of its tiles.
static bool keepsColumns(TileProgram &program) {
  return program.store.getStatistics() && !dnn::hasPartOfTile(program.store);
}

/// Tiles that run together are to share the larger operand, and read it at
/// about the same time: images of more pixels by channels than the filter has
/// elements took up to 2.4 times as long on an H100 where tiles side by side
/// shared the filter instead. Of backward weights both are images, which more
/// or fewer tiles read.
static bool hasRowsFirst(TileProgram &program, TmaWalk walk) {
  if (std::optional<int64_t> order =
          dnn::PlanKnobs(program.pipeline.getKnobs()).get(dnn::Knob::Order))
    return *order == kRowsFirst;
  // Of unknown sizes the images are the larger operand.
  if ((program.hasUnknownSizes() && walk != TmaWalk::Pixels) ||
      keepsColumns(program))
    return false;
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  if (walk == TmaWalk::Pixels)
    return counts[2] > counts[1];
  return getReadBytes(program, program.loadN.getView()) >
         getReadBytes(program, program.loadM.getView());
}

/// What a knob asks for that a program cannot have.
static LogicalResult checkOrder(TileProgram &program) {
  const dnn::PlanKnobs knobs(program.pipeline.getKnobs());
  if (knobs.get(dnn::Knob::Order) == kRowsFirst &&
      (keepsColumns(program) || program.hasUnknownSizes()))
    return program.pipeline.emitOpError(
        "has order m, which is for tiles of known sizes without statistics");
  return success();
}

/// The instructions that a tap's last step needs, if channels end within it and
/// the step before it has the others: where a copy reaches beyond the last
/// channel, TMA takes four times as long for each row. Of a single tap,
/// channels that are read twice cost more than that if most of a step are.
/// Producers and consumers count the steps of whole reductions so.
static int64_t countLastShares(TileProgram &program, const HopperShape &shape,
                               const StepWalk &walk, TmaWalk order) {
  const int64_t step = program.loadM.getType().getShape()[1];
  const int64_t channels = program.pipeline.getReduce().back();
  const int64_t rest = channels % step;
  const int64_t bytes = rest * shape.rowBytes / step;
  const bool hasTaps = llvm::any_of(program.pipeline.getReduce().drop_back(),
                                    [](int64_t size) { return size > 1; });
  if (order == TmaWalk::Pixels || shape.splitsF32 || shape.promote > 0 ||
      shape.halo.slides || shape.cluster > 1 || program.pipeline.getSplits() ||
      walk.hasLimits() || channels < step ||
      bytes % Wgmma::kReductionBytes != 0 || (!hasTaps && 2 * rest < step))
    return 0;
  return bytes / Wgmma::kReductionBytes;
}

/// The same, unless the knob says that the last step is to be whole.
static FailureOr<int64_t> chooseLastShares(TileProgram &program,
                                           const HopperShape &shape,
                                           const StepWalk &walk,
                                           TmaWalk order) {
  const int64_t shares = countLastShares(program, shape, walk, order);
  const auto rest =
      dnn::PlanKnobs(program.pipeline.getKnobs()).get(dnn::Knob::Rest);
  if (rest == 0)
    return 0;
  if (rest && shares == 0)
    return program.pipeline.emitOpError(
        "has rest inside, but no last step that can end with the last channel");
  return shares;
}

/// A stage is given back when the next one's products have been issued.
static LogicalResult checkStages(TileProgram &program, const HopperShape &shape,
                                 const OpenNumber &steps) {
  if (shape.stages > 1 || shape.preparesB ||
      (steps.isKnown() && steps <= shape.cluster))
    return success();
  return program.pipeline.emitOpError()
         << "has one buffer, but "
         << (steps.isKnown() ? std::to_string(int64_t(steps)) : "any number of")
         << " steps, which need two";
}

/// The shape, and the rows that taps share, if they do.
static FailureOr<HopperShape> matchShape(TileProgram &program,
                                         const GpuTarget &target,
                                         std::optional<HaloOperand> &halo,
                                         std::optional<SlidingHalo> &sliding) {
  FailureOr<std::optional<HaloOperand>> foundHalo = matchHalo(program);
  if (failed(foundHalo))
    return failure();
  halo = std::move(*foundHalo);
  FailureOr<std::optional<SlidingHalo>> foundSliding = matchSliding(program);
  if (failed(foundSliding))
    return failure();
  sliding = std::move(*foundSliding);
  FailureOr<HaloShape> shape = getHaloShape(program, halo, sliding);
  if (failed(shape))
    return failure();
  return getHopperShape(program, target, *shape);
}

/// What the multiplication takes of operands that lie so, and who copies them.
static LogicalResult checkOperands(TileProgram &program, HopperShape &shape,
                                   TmaWalk order, TmaOperand &a,
                                   TmaOperand &b) {
  if (program.mma.getInstruction() == kWgmmaTf32 && order != TmaWalk::Pixels &&
      (a.isTransposed() || b.isTransposed()))
    return program.mma.emitOpError(
        "multiplies tf32, of which wgmma reads no transposed operands");
  if (shape.splitsF32 && b.isTransposed() && shape.tileN % kPixelBlock != 0)
    return program.mma.emitOpError()
           << "splits f32 whose columns lie together, in blocks of "
           << kPixelBlock << ", but has " << shape.tileN;
  if (failed(shareOperand(program, shape, a, b)))
    return failure();
  a.setRounded(!shape.splitsF32);
  b.setRounded(!shape.splitsF32);
  return success();
}

/// The tensor map of the result; none if it does not leave by TMA, which takes
/// 0.2 us more than stores of threads where nothing hides it.
static FailureOr<std::optional<ResultMap>> matchResult(TileProgram &program,
                                                       HopperShape &shape) {
  FailureOr<KernelArg> name = getTensor(program, program.store.getView());
  if (failed(name))
    return failure();
  dnn::ViewOp view = TileProgram::getView(program.store.getView());
  std::optional<ResultMap> map;
  if (!shape.copiesFirst)
    map = shape.isColumnMajor
              ? makeColumnMajorMap(view, *name, shape.storeRowBytes,
                                   shape.getStagedRowStep())
              : makeResultMap(view, *name, shape.storeRowBytes);
  if (failed(checkRowTensors(program, /*storesRows=*/!map)))
    return failure();
  return map;
}

static OpenNumber countTiles(TileProgram &program) {
  return program.countTilesM() * program.countGroups() *
         program.tiles.getCounts()[2];
}

/// The steps of a part of the reduction.
static OpenNumber divideSteps(const OpenNumber &steps,
                              const OpenNumber &splits) {
  return steps.isKnown() && splits.isKnown()
             ? OpenNumber(
                   llvm::divideCeilSigned(int64_t(steps), int64_t(splits)))
             : OpenNumber(ceilDiv(steps.toExpr(), splits.toExpr()));
}

/// Whether each workgroup has a multiprocessor and one tile, whose steps all
/// have a stage, so that nobody waits for stages to be empty.
static bool canCopyFirst(TileProgram &program, const HopperShape &shape,
                         const OpenNumber &steps, const StepWalk &walk) {
  const OpenNumber tiles = countTiles(program);
  const int64_t units = *program.tiles.getPersistent();
  return tiles.isKnown() && steps.isKnown() && !shape.preparesB &&
         shape.promote == 0 && !shape.multicast && !shape.isColumnMajor &&
         shape.halo.buffers == 0 && !program.store.getStatistics() &&
         !walk.hasLimits() && tiles * shape.cluster <= units &&
         steps % shape.cluster == 0 && steps <= shape.stages * shape.cluster;
}

/// A consumer's thread makes all copies before anything else is done where that
/// can be, unless the knob says otherwise. Of two consumers in ping-pong one
/// would have nothing to do.
static LogicalResult chooseCopies(TileProgram &program, HopperShape &shape,
                                  const OpenNumber &steps,
                                  const StepWalk &walk) {
  const bool can = canCopyFirst(program, shape, steps, walk);
  const int64_t copies = dnn::PlanKnobs(program.pipeline.getKnobs())
                             .get(dnn::Knob::Copies)
                             .value_or(can ? 1 : 0);
  if (copies == 0)
    return success();
  if (!can)
    return program.pipeline.emitOpError(
        "has copies first, which is for workgroups of one tile, whose steps "
        "all have a stage");
  if (shape.producerRegisters || shape.consumerRegisters)
    return program.pipeline.emitOpError(
        "has registers of roles, but a thread of a consumer makes all copies "
        "before the products, so that no role gives any away");
  shape.copiesFirst = true;
  shape.stages = steps / shape.cluster;
  if (shape.isPingPong)
    shape.consumers = 1;
  shape.isPingPong = false;
  return success();
}

FailureOr<HopperPlan> tessera::makeHopperPlan(TileProgram &program,
                                              const GpuTarget &target) {
  std::optional<HaloOperand> halo;
  std::optional<SlidingHalo> sliding;
  FailureOr<HopperShape> shape = matchShape(program, target, halo, sliding);
  if (failed(shape))
    return failure();
  if (program.store.getAtomic())
    return program.store.emitOpError(
        "adds atomically, but tiles stored by tma are splits of their own");
  FailureOr<KernelArg> nameA = getTensor(program, program.loadM.getView());
  FailureOr<KernelArg> nameB = getTensor(program, program.loadN.getView());
  if (failed(nameA) || failed(nameB))
    return failure();
  const TmaWalk order = getWalk(program);
  FailureOr<TmaOperand> a = TmaOperand::match(program.loadM, *nameA, order);
  if (failed(a))
    return failure();
  FailureOr<TmaOperand> b = TmaOperand::match(program.loadN, *nameB, order);
  if (failed(b) || failed(checkOperands(program, *shape, order, *a, *b)))
    return failure();
  const int64_t splits = program.pipeline.getSplits().value_or(1);
  const OpenNumber allSteps = a->getSteps();
  const OpenNumber steps = divideSteps(allSteps, program.countSplits());
  StepWalk walk(program.loadM, program.loadN, steps);
  if (failed(chooseCopies(program, *shape, steps, walk)))
    return failure();
  FailureOr<std::optional<ResultMap>> result = matchResult(program, *shape);
  if (failed(result))
    return failure();
  const StreamedReads streamed = chooseStreamedReads(program, order);
  a->setStreamed(streamed.a);
  b->setStreamed(streamed.b);
  if (halo)
    halo->setStreamed(streamed.a);
  if (sliding)
    sliding->setStreamed(slidesB(program) ? streamed.b : streamed.a);
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  const OpenNumber tiles = countTiles(program);
  const int64_t resident = *program.tiles.getPersistent() * shape->blocksPerSm;
  const int64_t cluster = shape->cluster;
  const int64_t workgroups =
      tiles.isKnown() ? int64_t(tiles) * cluster : resident;
  const FailureOr<int64_t> lastShares =
      chooseLastShares(program, *shape, walk, order);
  if (failed(lastShares))
    return failure();
  if (*lastShares > 0) {
    using Last = TmaOperand::LastSteps;
    const Last last = halo ? Last::InPlace : Last::Behind;
    a->setLastSteps(last);
    b->setLastSteps(last);
    if (halo)
      halo->setLastSteps(last);
  }
  if (failed(checkOrder(program)) ||
      failed(checkStages(program, *shape, steps)) ||
      failed(checkSplits(program, splits, allSteps, walk)) ||
      failed(checkCluster(program, cluster, steps, workgroups, resident, walk)))
    return failure();
  const FailureOr<int64_t> overlap = chooseOverlap(program, *shape, order);
  if (failed(overlap))
    return failure();
  HopperPlan plan{
      *shape,
      std::move(*a),
      std::move(*b),
      std::move(halo),
      std::move(sliding),
      *result,
      counts[0],
      steps,
      splits,
      *lastShares,
      std::move(walk),
      shape->multicast ? OpenNumber(tiles / shape->countSharers()) : tiles,
      std::min(workgroups, resident - resident % shape->countSharers()),
      counts[0] == 1 && counts[2] == 1,
      hasRowsFirst(program, order),
      *overlap};
  const FailureOr<bool> both = chooseBothWays(program, plan);
  if (failed(both))
    return failure();
  plan.walksBothWays = *both;
  return plan;
}
