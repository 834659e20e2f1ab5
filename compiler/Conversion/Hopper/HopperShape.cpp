//===- HopperShape.cpp - Warpgroups and shared memory of a tile -----------===//

#include "compiler/Conversion/Hopper/HopperShape.h"
#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Conversion/Hopper/TmaOperand.h"
#include "compiler/Target/ElementType.h"
#include "dialect/IR/PlanKnobs.h"

using namespace mlir;
using namespace tessera;

/// Of a thread if a multiprocessor shares all it has out to so many.
static int64_t getEvenRegisters(const HopperShape &shape) {
  constexpr int64_t kRegisters = 65536, kMost = 248, kUnit = 8;
  return std::min<int64_t>(
      kMost, llvm::alignDown(
                 kRegisters / (shape.getThreads() * shape.blocksPerSm), kUnit));
}

int64_t HopperShape::getProducerRegisters() const {
  if (producerRegisters)
    return *producerRegisters;
  if (copiesFirst)
    return getEvenRegisters(*this);
  if (preparesB)
    return consumers == 3 ? 56 : consumers == 2 ? 88 : 72;
  return consumers == 3 || consumers == 4 ? 32 : 40;
}

int64_t HopperShape::getConsumerRegisters() const {
  if (consumerRegisters)
    return *consumerRegisters;
  if (copiesFirst)
    return getEvenRegisters(*this);
  if (preparesB)
    return consumers == 3 ? 152 : consumers == 2 ? 208 : 184;
  switch (consumers) {
  case 5:
    return 88;
  case 4:
    return 112;
  case 3:
    return 160;
  default:
    return blocksPerSm > 1 ? 216 : 232;
  }
}

static bool walksPixels(TileProgram &program) {
  return TmaOperand::chooseWalk(program.loadM, program.loadN) ==
         TmaWalk::Pixels;
}

/// Results are staged in pieces of 16 columns or more. Pixels come in blocks
/// of 64 channels.
static LogicalResult checkColumns(TileProgram &program,
                                  const HopperShape &shape) {
  constexpr int64_t kUnit = 16, kBlock = 64;
  const int64_t least = walksPixels(program) ? kBlock : kUnit;
  if (shape.tileN < least || shape.tileN % kUnit != 0)
    return program.mma.emitOpError()
           << "needs " << least << " columns or more, in multiples of " << kUnit
           << ", but has " << shape.tileN;
  return success();
}

/// Bytes of a staged row: what the tile has, up to 128. The last piece may
/// overlap the one before it, unless further tensors are read between.
static int64_t chooseStoreRow(int64_t bytes, bool hasExtras) {
  const auto piece =
      static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(bytes)));
  return std::min(kRowBytes, hasExtras ? bytes & -bytes : piece);
}

static bool preparesOperand(TileProgram &program) {
  const StringRef instruction = program.mma.getInstruction();
  return instruction == kWgmmaSplit ||
         (instruction == kWgmmaTf32 && walksPixels(program));
}

bool tessera::isColumnMajor(dnn::ViewOp result) {
  const ViewAccess access(result);
  const AccessSpace rows = access.getSpace(1);
  return rows.getExtent() != 1 &&
         access.getSpace(2).getInnermostStep() > rows.getInnermostStep();
}

/// Whether a tensor of the epilogue has values of its own along the rows.
static bool movesAlongRows(Value extra) {
  const AccessSpace rows = ViewAccess(TileProgram::getView(extra)).getSpace(1);
  return llvm::any_of(rows.coefs, [](const auto &form) {
    return llvm::any_of(form,
                        [](const OpenNumber &factor) { return factor != 0; });
  });
}

/// Tensors of the shape of a column-major result come as sums of swapped
/// operands are staged: into rows of the warp itself, and none twice.
static LogicalResult checkColumnExtras(TileProgram &program,
                                       const HopperShape &shape) {
  if (!shape.isColumnMajor ||
      !llvm::any_of(program.store.getExtras(), movesAlongRows))
    return success();
  if (!shape.isSwapped)
    return program.store.emitOpError(
        "has a column-major result, whose epilogue reads tensors of its shape "
        "with lanes along m");
  if (shape.getRows() % shape.getStoreRows() != 0)
    return program.store.emitOpError()
           << "reads tensors of its shape, and needs multiples of "
           << shape.getStoreRows() << " rows for each consumer, but has "
           << shape.getRows();
  return success();
}

/// What leaves exchanged sums can do: transpose 16-bit results of whole blocks
/// of 64 by 64 (SumStore).
static LogicalResult checkExchanged(TileProgram &program,
                                    const HopperShape &shape) {
  if (!shape.isSwapped)
    return success();
  constexpr int64_t kResultBytes = 2;
  if ((shape.stagesTransposed() && shape.resultBytes != kResultBytes) ||
      shape.wavesN > 1 || shape.preparesB ||
      (!shape.isColumnMajor && !program.store.getExtras().empty()))
    return program.mma.emitOpError(
        "has lanes along m, which wgmma has for results of 16 bits without "
        "further tensors, and consumers that share rows");
  constexpr int64_t kUnit = 8; // Columns of wgmma, rows of the swizzle.
  if (shape.getRows() < kWgmmaRows || shape.getRows() % kUnit != 0)
    return program.mma.emitOpError()
           << "has lanes along m, and needs " << kWgmmaRows
           << " rows or more for each consumer, in multiples of " << kUnit
           << ", but has " << shape.getRows();
  return success();
}

/// What a cluster can add: whole tiles of rows whose columns it can share out.
static LogicalResult checkCluster(TileProgram &program,
                                  const HopperShape &shape) {
  if (shape.cluster == 1)
    return success();
  if (shape.isPingPong || shape.isSwapped || shape.isColumnMajor ||
      walksPixels(program))
    return program.pipeline.emitOpError(
        "has a cluster, which is for reductions over channels, a row-major "
        "result, lanes along n and consumers that share rows");
  constexpr int64_t kUnit = 16;
  if (shape.getShareColumns() % kUnit != 0 ||
      shape.tileN % shape.getShareColumns() != 0)
    return program.pipeline.emitOpError()
           << "has a cluster of " << shape.cluster << ", which does not divide "
           << shape.tileN << " columns into multiples of " << kUnit;
  return success();
}

static LogicalResult checkTypes(TileProgram &program) {
  dnn::TileMmaOp mma = program.mma;
  Type element = mma.getA().getType().getElementType();
  Type result = program.store.getView().getType().getElementType();
  const bool isF8 = isa<Float8E4M3FNType, Float8E5M2Type>(element);
  const bool isShort = element.isF16() || element.isBF16() || isF8;
  const bool hasOperands =
      mma.getInstruction() == kWgmma ? isShort : element.isF32();
  const bool hasResult =
      isShort ? hasF32Sums(result) : result == element || result.isF32();
  if (!hasOperands || !hasResult ||
      !mma.getAcc().getType().getElementType().isF32())
    return mma.emitOpError(
        "needs operands of f16, bf16, f8E4M3FN or f8E5M2 with a result of f32 "
        "or shorter floats, or of f32 for tf32 and bf16x6 with one of f32, and "
        "accumulators of f32, for wgmma");
  return success();
}

/// Results of 8 bits are staged two at a time, into rows of 32 bytes or more.
static LogicalResult checkShortResult(TileProgram &program,
                                      const HopperShape &shape) {
  constexpr int64_t kLeastRow = 32;
  if (shape.resultBytes > 1)
    return success();
  if (shape.isColumnMajor || shape.isSwapped || shape.storeRowBytes < kLeastRow)
    return program.store.emitOpError()
           << "has a result of 8 bits, which is stored row by row, with lanes "
              "along n, in multiples of "
           << kLeastRow << " columns";
  return success();
}

/// wgmma takes 8 to 256 columns.
static LogicalResult checkTile(TileProgram &program, const HopperShape &shape) {
  constexpr int64_t kMaxColumns = 256;
  dnn::TileMmaOp mma = program.mma;
  // Rows of pixels are one copy, those of channels are copied 64 at a time.
  const bool isOneCopy = !walksPixels(program);
  const int64_t rows =
      shape.isSwapped ? shape.tileN : shape.tileM / mma.getWaves()[0];
  if (shape.blocks * kWgmmaRows != rows || shape.blocks == 0 ||
      shape.tileM % mma.getWaves()[0] != 0 ||
      shape.getProductColumns() > kMaxColumns ||
      (isOneCopy && shape.tileM > kMaxColumns))
    return mma.emitOpError()
           << "needs a tile of whole wgmmas for each consumer, at most "
           << kMaxColumns << "x" << kMaxColumns << ", but has " << shape.tileM
           << "x" << shape.tileN;
  return success();
}

/// setmaxnreg takes registers from the producer's warps and gives them to the
/// consumers': a launch begins with as many for all. What the plan gives by
/// itself is known to fit.
static LogicalResult checkSetRegisters(TileProgram &program,
                                       const HopperShape &shape,
                                       int64_t atFirst) {
  if (!shape.producerRegisters && !shape.consumerRegisters)
    return success();
  HopperShape own = shape;
  own.consumerRegisters.reset();
  const int64_t least = std::min(atFirst, own.getConsumerRegisters());
  const int64_t producer = shape.getProducerRegisters(),
                consumer = shape.getConsumerRegisters();
  if (producer <= atFirst && consumer >= least &&
      producer + shape.consumers * consumer <= (shape.consumers + 1) * atFirst)
    return success();
  return program.pipeline.emitOpError()
         << "has " << producer << " registers for a thread of the producer and "
         << consumer << " for one of " << shape.consumers
         << " consumers, of the " << atFirst << " that each of "
         << shape.getThreads() << " threads begins with";
}

static LogicalResult checkRegisters(TileProgram &program,
                                    const HopperShape &shape) {
  dnn::TileMmaOp mma = program.mma;
  // ptxas wants space for one product in what a thread has before setmaxnreg.
  constexpr int64_t kRegisters = 65536, kUnit = 8, kAddresses = 26;
  const int64_t atFirst =
      kRegisters / (shape.getThreads() * shape.blocksPerSm) / kUnit * kUnit;
  if (shape.getProductColumns() / 2 + kAddresses > atFirst)
    return mma.emitOpError() << "has products of " << shape.getProductColumns()
                             << " columns, too many for the " << atFirst
                             << " registers that each of " << shape.getThreads()
                             << " threads begins with";
  // The sums and what is around them must fit the registers of a thread.
  const int64_t sums = shape.blocks * shape.getProductColumns() / 2 *
                       (shape.promote > 0 ? 2 : 1);
  constexpr int64_t kOthers = 24;
  if (sums + shape.countFragments() + kOthers > shape.getConsumerRegisters())
    return mma.emitOpError()
           << "has " << sums
           << " accumulators a thread, more than its registers hold";
  return checkSetRegisters(program, shape, atFirst);
}

/// Of a row of a step.
static int64_t getStepBytes(TileProgram &program) {
  Type element = program.loadM.getType().getElementType();
  return element.getIntOrFloatBitWidth() / 8 *
         static_cast<int64_t>(program.pipeline.getStep());
}

/// Who copies, who multiplies, and how much of the reduction at once.
static LogicalResult checkRoles(TileProgram &program, const GpuTarget &target,
                                const HaloShape &halo) {
  dnn::PipelineOp pipeline = program.pipeline;
  dnn::RolesAttr roles = pipeline.getRolesAttr();
  if (!target.hasWgmma)
    return pipeline.emitOpError()
           << "has copy tma, but " << target.name << " has no wgmma to feed";
  if (!roles || roles.getProducers() != 1 || !program.tiles.getPersistent())
    return pipeline.emitOpError("needs persistent workgroups with one producer "
                                "to copy by tma");
  ArrayRef<int64_t> waves = program.mma.getWaves();
  const bool isPingPong = roles.getOrder() == dnn::ConsumerOrder::PingPong;
  const int64_t consumers = roles.getConsumers();
  const StringRef instruction = program.mma.getInstruction();
  constexpr int64_t kMost = 3, kMostSliding = 5;
  // Of a halo that slides they lie side by side.
  const bool isBeside = halo.isOfB && !isPingPong;
  if ((instruction != kWgmma && instruction != kWgmmaTf32 &&
       instruction != kWgmmaSplit) ||
      waves[1] != (isBeside ? consumers : 1) ||
      waves[0] != (isPingPong || isBeside ? 1 : consumers) ||
      (isPingPong ? consumers != 2
                  : consumers > (halo.slides ? kMostSliding : kMost)))
    return program.mma.emitOpError(
        "needs wgmma, and waves for the consumers: up to three that share a "
        "tile's rows (five of a halo that slides), or two in ping-pong");
  // The swizzle has 128, 64 or 32 bytes.
  constexpr int64_t kLeastBytes = 32;
  const int64_t bytes = getStepBytes(program);
  const bool isNarrow = bytes == kLeastBytes || bytes == 2 * kLeastBytes;
  if (bytes != kRowBytes && (!isNarrow || walksPixels(program)))
    return pipeline.emitOpError()
           << "needs steps of " << kRowBytes << " bytes to copy by tma, or, of "
           << "channels, of 64 or 32, but has " << bytes;
  return success();
}

/// Whether a tile has so many pieces that its staging buffers take turns.
static bool takesStagers(const HopperShape &shape) {
  return shape.countRowPieces() *
             shape.getStored().countPieces(shape.getStoreColumns()) %
             shape.stagers ==
         0;
}

/// As many staging buffers and workgroups as the shared memory of `target` has
/// space for, unless knobs say how many.
static void chooseStaging(HopperShape &shape, const GpuTarget &target,
                          const dnn::PlanKnobs &knobs) {
  const auto staging = knobs.get(dnn::Knob::Staging);
  const auto resident = knobs.get(dnn::Knob::Resident);
  shape.stagers = staging.value_or(shape.stagers);
  shape.blocksPerSm = resident.value_or(shape.blocksPerSm);
  if (!staging && (!takesStagers(shape) ||
                   shape.getSharedBytes() > target.getMaxSharedBytes()))
    shape.stagers = 1;
  constexpr int64_t kHalfSm = 115712; // Bytes for each of two workgroups.
  if (shape.consumers > 1 || resident)
    return;
  HopperShape small = shape;
  small.stagers = 1;
  if (!staging && shape.getSharedBytes() > kHalfSm &&
      small.getSharedBytes() <= kHalfSm)
    shape = small;
  if (shape.getSharedBytes() <= kHalfSm)
    shape.blocksPerSm = 2;
}

/// What knobs ask for, of the pieces of a tile, and of what workgroups share.
static LogicalResult checkKnobs(TileProgram &program, const HopperShape &shape,
                                const GpuTarget &target) {
  dnn::PipelineOp pipeline = program.pipeline;
  if (!takesStagers(shape))
    return pipeline.emitOpError()
           << "has " << shape.stagers << " staging buffers, which do not share "
           << "out the pieces of a tile";
  constexpr int64_t kReserved = 1024;
  const int64_t bytes = shape.getSharedBytes(),
                most = target.getMaxSharedBytes();
  if (shape.blocksPerSm > 1 &&
      shape.blocksPerSm * (bytes + kReserved) > most + kReserved)
    return pipeline.emitOpError()
           << "needs " << bytes << " bytes of shared memory, "
           << shape.blocksPerSm << " times on a multiprocessor, but "
           << target.name << " has " << most;
  return success();
}

/// What checkRoles() has passed.
static HopperShape makeShape(TileProgram &program, const GpuTarget &target,
                             const HaloShape &halo) {
  dnn::RolesAttr roles = program.pipeline.getRolesAttr();
  const dnn::PlanKnobs knobs(program.pipeline.getKnobs());
  ArrayRef<int64_t> acc = program.mma.getAcc().getType().getShape();
  ArrayRef<int64_t> waves = program.mma.getWaves();
  Type result = program.store.getView().getType().getElementType();
  const StringRef instruction = program.mma.getInstruction();
  HopperShape shape{
      .tileM = acc[0],
      .tileN = acc[1],
      .stages = static_cast<int64_t>(program.pipeline.getBuffers()),
      .consumers = roles.getConsumers(),
      .isPingPong = roles.getOrder() == dnn::ConsumerOrder::PingPong,
      .blocks = acc[0] / (kWgmmaRows * waves[0]),
      .stagers = 2,
      .blocksPerSm = 1,
      .resultBytes = result.getIntOrFloatBitWidth() / 8,
      .rowBytes = getStepBytes(program),
      .preparesB = preparesOperand(program),
      .splitsF32 = instruction == kWgmmaSplit,
      .wavesN = waves[1],
      .halo = halo,
      .isSwapped = program.mma.getLanes() == dnn::TileDim::M,
      .isColumnMajor =
          isColumnMajor(TileProgram::getView(program.store.getView())),
      .promote =
          static_cast<int64_t>(program.pipeline.getPromote().value_or(0)),
      .cluster =
          static_cast<int64_t>(program.pipeline.getCluster().value_or(1)),
      .multicast = program.pipeline.getMulticast()};
  if (shape.isSwapped)
    shape.blocks = shape.tileN / kWgmmaRows;
  if (!shape.isColumnMajor)
    shape.storeRowBytes =
        chooseStoreRow(shape.getStored().countTogether() * shape.resultBytes,
                       /*hasExtras=*/!program.store.getExtras().empty());
  chooseStaging(shape, target, knobs);
  shape.producerRegisters = knobs.get(dnn::Knob::Producer);
  shape.consumerRegisters = knobs.get(dnn::Knob::Consumer);
  return shape;
}

FailureOr<HopperShape> tessera::getHopperShape(TileProgram &program,
                                               const GpuTarget &target,
                                               const HaloShape &halo) {
  if (failed(checkRoles(program, target, halo)))
    return failure();
  const HopperShape shape = makeShape(program, target, halo);
  if (shape.preparesB && shape.isPingPong)
    return program.mma.emitOpError(
        "multiplies f32 through registers, which consumers in ping-pong do "
        "not");
  if (shape.preparesB && shape.multicast)
    return program.pipeline.emitOpError(
        "has multicast, which is for operands that are multiplied as they are "
        "copied");
  if (shape.splitsF32 && shape.rowBytes != kRowBytes)
    return program.pipeline.emitOpError()
           << "splits f32, and needs steps of " << kRowBytes
           << " bytes, but has " << shape.rowBytes;
  if (failed(checkTypes(program)) || failed(checkShortResult(program, shape)) ||
      failed(checkTile(program, shape)) ||
      failed(checkColumns(program, shape)) ||
      failed(checkColumnExtras(program, shape)) ||
      failed(checkExchanged(program, shape)) ||
      failed(checkCluster(program, shape)) ||
      failed(checkRegisters(program, shape)))
    return failure();
  if (shape.getSharedBytes() > target.getMaxSharedBytes())
    return program.pipeline.emitOpError()
           << "needs " << shape.getSharedBytes()
           << " bytes of shared memory, but " << target.name << " has "
           << target.getMaxSharedBytes();
  if (failed(checkKnobs(program, shape, target)))
    return failure();
  return shape;
}
