//===- StepGeometry.cpp - Sizes of a launch of all steps ------------------===//

#include "compiler/Algorithms/Recurrent/StepGeometry.h"
#include "runtime/Base/TextScanner.h"

#include <cmath>

using namespace tessera;

TileConfig StepTile::toConfig() const {
  std::string text = "u" + std::to_string(units);
  if (cluster > 1)
    text += "c" + std::to_string(cluster);
  if (isFma())
    text += "l" + std::to_string(lanes) + "s" + std::to_string(tiles);
  if (isOneStep())
    text += "k" + std::to_string(splits) + "s" + std::to_string(tiles);
  return {"steps", text};
}

ErrorOr<StepTile> tessera::parseStepTile(const TileConfig &config) {
  StepTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("u").number(tile.units);
  if (scanner.consume("c"))
    scanner.number(tile.cluster);
  const bool isFma = scanner.consume("l");
  if (isFma)
    scanner.number(tile.lanes).expect("s").number(tile.tiles);
  const bool isOneStep = !isFma && scanner.consume("k");
  if (isOneStep)
    scanner.number(tile.splits).expect("s").number(tile.tiles);
  auto isPower = [](int number, int most) {
    return number >= 1 && number <= most && (number & (number - 1)) == 0;
  };
  if (!scanner.isDone() || !isPower(tile.units, 32) ||
      !isPower(tile.cluster, 8) ||
      (isFma && (!isPower(tile.lanes, 32) || !isPower(tile.tiles, 16))) ||
      (isOneStep && (!isPower(tile.splits, 16) || !isPower(tile.tiles, 8) ||
                     tile.cluster > 1)))
    return invalidArgument("'" + config.toText() +
                           "' is not a tile for steps, which looks like "
                           "'steps-u2', 'steps-u1c4', 'steps-u1l8s4' or "
                           "'steps-u1k8s2'");
  return tile;
}

/// Sequences begin so that the lanes of an access are in different banks.
int64_t StepGeometry::getPitch() const {
  constexpr int64_t kLine = 64; // Elements of all banks.
  const int64_t wanted =
      shape.isMma() ? 16 : std::min<int64_t>(8, shape.getKPerLane());
  const int64_t pitch = getSegments() * getSegmentPitch();
  return pitch + (wanted - pitch % kLine + kLine) % kLine;
}

/// Of a workgroup: RDNA's have those of two compute units.
static int64_t getSimds(const GpuTarget &target) {
  const bool isRdna = target.vendor == Vendor::Amd && target.waveSize == 32;
  return int64_t(target.simdsPerCu) * (isRdna ? 2 : 1);
}

/// Registers of a lane if a workgroup of `waves` is alone on its compute unit;
/// `isFma` without those that only matrix instructions reach.
static int64_t getMostRegisters(const GpuTarget &target, int64_t waves,
                                bool isFma) {
  if (target.vendor == Vendor::Nvidia)
    return std::min<int64_t>(255, llvm::alignDown(65536 / (waves * 32), 8));
  const int64_t perSimd = llvm::divideCeil(waves, target.simdsPerCu);
  if (isFma) {
    const bool hasBoth = target.matrixUnit != MatrixUnit::None &&
                         target.matrixUnit != MatrixUnit::MfmaCdna1;
    const int64_t all = target.waveSize == 32 ? 1024 : hasBoth ? 512 : 256;
    return std::min<int64_t>(
        256,
        llvm::alignDown(all / llvm::divideCeil(waves, getSimds(target)), 8));
  }
  switch (target.matrixUnit) {
  case MatrixUnit::MfmaCdna1: // Half of them are only for accumulators.
    return std::min<int64_t>(256, 256 / perSimd);
  case MatrixUnit::WmmaGfx11:
  case MatrixUnit::WmmaGfx12:
    return std::min<int64_t>(256, 1024 / perSimd);
  default:
    return std::min<int64_t>(512, 512 / perSimd);
  }
}

/// So that LLVM spills none: addresses, and what the gates need, are more where
/// a lane has eight accumulators of a gate.
int64_t StepGeometry::countRegisters(int64_t others) const {
  const int64_t units = tile.units * shape.getLaneSequences();
  if (shape.isFma()) {
    constexpr int64_t kOwn = 40, kChains = 2;
    const int64_t weights =
        getBlocks() * (getInstructions() - inMemory) * shape.getHeldElements();
    const int64_t products =
        tile.tiles * (kChains * getBlocks() + shape.getKPerLane());
    return weights + std::max(products, units * gates) + units * others + kOwn;
  }
  const int64_t own = shape.row.kind == MatrixKind::Wmma ? 72 : 40;
  const int64_t held = getBlocks() * (getInstructions() - inMemory) *
                       shape.getHeldElements() / 2;
  return held + units * (gates + others) + own;
}

int64_t StepGeometry::countSharedBytes(const GpuTarget &target) const {
  constexpr int64_t kBuffers = 2;
  return getElementBytes() * (kBuffers * shape.getSequences() * getPitch() +
                              getWaves() * getMemoryElements(target.waveSize));
}

/// Clocks between multiply-adds of a SIMD.
static double getInterval(const GpuTarget &target) {
  return target.waveSize == 64 ? 4 : 1;
}

/// Clocks of a step in one or two launches, of products without matrix units:
/// what an H100 took for LSTMs of 256 to 1024 units and 16 and 64 sequences, or
/// less.
double StepGeometry::estimateLaunches(const GpuTarget &target) const {
  constexpr double kLaunch = 3000;
  constexpr double kBytes = 25; // Of L2, in a clock of a compute unit.
  // Products take so many times as long as multiply-adds can, small ones, and
  // all but the first clocks of large ones.
  constexpr double kSmall = 6, kLarge = 1.7, kFirst = 9000;
  const auto weights = static_cast<double>(gates * elements * units);
  const double lanes = static_cast<double>(target.waveSize) /
                       getInterval(target) * target.simdsPerCu *
                       target.computeUnits;
  const double products = weights * static_cast<double>(sequences) / lanes;
  return kLaunch + weights * 4 / kBytes / target.computeUnits +
         std::min(kSmall * products, kFirst + kLarge * products);
}

Status StepGeometry::fit(const GpuTarget &target, int64_t others) {
  const int64_t rows = shape.getLaneRows();
  if (shape.isMma() ? gates * tile.units % rows != 0 : tile.units % rows != 0)
    return notSupported("a lane has no whole rows of instructions");
  if (tile.isOneStep())
    return fitOneStep(target, others);
  if (Status status = fitProduct(); !status.isOk())
    return status;
  if (tile.cluster > 1 && !target.hasTma)
    return notSupported("the chip has no clusters");
  if (getGroupUnits() * (tile.cluster - 1) >= units)
    return notSupported("a workgroup of a cluster has no units");
  // So many workgroups one after the other are slower than steps whose products
  // are large. Not every multiprocessor finds others for its cluster.
  const int64_t most =
      int64_t(target.computeUnits) * (tile.cluster == 1 ? 4 : 1);
  if (getGroups() > (tile.cluster == 1 ? most : most * 7 / 8))
    return notSupported("there are too many sequences");
  if (getWaves() * target.waveSize > 1024)
    return notSupported("a workgroup has too few threads for all units");
  const int64_t registers = getMostRegisters(target, getWaves(), shape.isFma());
  inMemory = 0;
  while (countRegisters(others) > registers && inMemory < getInstructions())
    ++inMemory;
  if (countRegisters(others) > registers ||
      countSharedBytes(target) > target.getMaxSharedBytes())
    return notSupported("the weights of a layer and direction are too large "
                        "for the registers and the memory of a workgroup");
  return Status::ok();
}

/// Whether the tile is for the kind of product that the chip has.
Status StepGeometry::fitProduct() const {
  if (tile.isFma() != shape.isFma())
    return notSupported(shape.isFma()
                            ? "the chip has no matrix unit for the type, so "
                              "that lanes must share out a reduction"
                            : "the chip has a matrix unit for the type");
  if (!shape.isFma())
    return Status::ok();
  if (tile.tiles > 1 && tile.tiles / 2 >= sequences)
    return notSupported("a workgroup has more sequences than there are");
  if ((tile.lanes - 1) * shape.getKPerLane() >= units)
    return notSupported("some lanes have nothing to reduce");
  if (tile.cluster > 1 && getGroupUnits() % shape.getKPerLane() != 0)
    return notSupported("a workgroup of a cluster has no whole 16 bytes");
  return Status::ok();
}

/// Weights and state are on their way as far ahead as registers hold them.
Status StepGeometry::fitOneStep(const GpuTarget &target, int64_t others) {
  constexpr int64_t kMostState = 48, kMostPasses = 4;
  if (shape.isFma())
    return notSupported("needs a matrix unit for the type");
  if (steps != 1)
    return notSupported("makes one step, but there may be more");
  if (units % shape.getK() != 0 || getInstructions() % tile.splits != 0)
    return notSupported("the state is no whole instructions for each wave");
  if (tile.tiles > tile.splits)
    return notSupported("there are fewer waves than tiles of sequences");
  if (tile.tiles > 1 && (tile.tiles / 2) * shape.getSequences() >= sequences)
    return notSupported("a wave has tiles without sequences");
  if (getGroups() > kMostPasses * target.computeUnits)
    return notSupported("there are too many sequences");
  if (getWaves() * target.waveSize > 1024)
    return notSupported("a workgroup has too many threads");
  const int64_t accumulators =
      tile.units * shape.getLaneSequences() * (gates * tile.tiles + others);
  const int64_t own = shape.row.kind == MatrixKind::Wmma ? 72 : 40;
  const int64_t free = getMostRegisters(target, getWaves(), /*isFma=*/false) -
                       accumulators - own;
  const int64_t most = getWaveInstructions() / getMerged();
  const int64_t ofState = tile.tiles * shape.getKPerLane() * getMerged() / 2;
  const int64_t ofWeights =
      getBlocks() * shape.getHeldElements() * getMerged() / 2;
  stateAhead = std::min(most, std::max<int64_t>(kMostState / ofState, 1));
  weightsAhead = std::min(most, (free - stateAhead * ofState) / ofWeights);
  if (weightsAhead < std::min<int64_t>(most, 2))
    return notSupported("the registers hold too few weights");
  if (getPartialBytes(target.waveSize) > target.getMaxSharedBytes())
    return notSupported(
        "the sums of all splits are too large for the memory of "
        "a workgroup");
  return Status::ok();
}

/// What a workgroup loads comes from L2; the first of it takes a while.
double StepGeometry::estimateOneStep(const GpuTarget &target) const {
  constexpr double kUnitBytes = 50, kAllBytes = 3300; // In a clock.
  constexpr double kBegin = 1500, kInstruction = 8, kWave = 20;
  const double bytes =
      2.0 * static_cast<double>(elements) *
      static_cast<double>(getWaveUnits() * gates + getGroupSequences());
  const auto groups = static_cast<double>(getGroups());
  const auto busy = std::min(groups, double(target.computeUnits));
  const double passes = std::ceil(groups / double(target.computeUnits));
  const double products =
      static_cast<double>(getWaveInstructions() * getBlocks() * tile.tiles) *
      kInstruction;
  return kBegin + passes * bytes / std::min(kUnitBytes, kAllBytes / busy) +
         products + kWave * tile.splits;
}

/// Clocks of a workgroup's products of a step by fused multiply-adds, with the
/// exchanges of its lanes and its reads of shared memory: those of 256 to 512
/// units take 0.8 to 1.2 times as long on an H100.
static double estimateFma(const StepGeometry &g, const GpuTarget &target) {
  constexpr double kExchange = 4;  // Of a wave, with others behind it.
  constexpr double kLatency = 30;  // Of one.
  constexpr double kDependent = 4; // Of a multiply-add that needs the last.
  constexpr double kRead = 4;      // Of 16 bytes of each of 32 lanes.
  constexpr double kBoth = 0.25;   // What does not overlap.
  const auto blocks = static_cast<double>(g.getBlocks());
  const auto sequences = static_cast<double>(g.tile.tiles);
  const auto instructions = static_cast<double>(g.getInstructions());
  const auto waves = static_cast<double>(g.getWaves());
  const double perLane =
      instructions * static_cast<double>(g.shape.getKPerLane());
  const double perSimd = std::ceil(waves / double(getSimds(target)));
  // One wave of a SIMD waits for what it reads, and for its last products.
  const double products = std::max((perSimd + 1) * blocks * perLane *
                                       sequences * getInterval(target),
                                   perLane / 2 * kDependent);
  // Lanes that read the same are served at once.
  const double reads = waves * (target.waveSize / 32.0) *
                       (static_cast<double>(g.inMemory) * blocks * kRead +
                        sequences * instructions *
                            std::min(kRead, static_cast<double>(g.tile.lanes)));
  const double rounds = std::log2(static_cast<double>(g.tile.lanes));
  const double exchanges =
      blocks * (sequences - 1 + std::max(rounds - std::log2(sequences), 0.0));
  return std::max(products, reads) + kBoth * std::min(products, reads) +
         rounds * kLatency + perSimd * exchanges * kExchange;
}

/// The same by matrix instructions.
static double estimateMatrix(const StepGeometry &g, const GpuTarget &target) {
  constexpr double kInstruction = 8;   // Of a wave, with others behind it.
  constexpr double kLatency = 33;      // Of an instruction that needs the last.
  constexpr double kMemoryBytes = 128; // Of shared memory, in a clock.
  const auto instructions = static_cast<double>(g.getInstructions());
  const auto waves = static_cast<double>(g.getWaves());
  const double products = std::max(std::ceil(waves / target.simdsPerCu) *
                                       static_cast<double>(g.getBlocks()) *
                                       instructions * kInstruction,
                                   instructions * kLatency);
  return std::max(
      products, 2 * waves *
                    static_cast<double>(g.getMemoryElements(target.waveSize)) /
                    kMemoryBytes);
}

/// What a step takes besides: the gates of a lane's units, and the barrier.
/// Matrix instructions leave a lane more of both.
double StepGeometry::estimateStep(const GpuTarget &target) const {
  constexpr double kWorkgroup = 20;
  const double kGates = shape.isFma() ? 40 : 85;
  const double kBarrier = shape.isFma() ? 500 : 200;
  const double kClusterBarrier = shape.isFma() ? 1300 : 1500;
  const double perSimd =
      std::ceil(static_cast<double>(getWaves()) / target.simdsPerCu);
  const double products = shape.isFma() ? estimateFma(*this, target)
                                        : estimateMatrix(*this, target);
  const double ofGates = perSimd * tile.units *
                         static_cast<double>(shape.getLaneSequences()) * kGates;
  const double passes = std::ceil(double(getGroups()) / target.computeUnits);
  return passes *
         (products + ofGates +
          (tile.cluster > 1 ? kClusterBarrier + kWorkgroup * tile.cluster
                            : kBarrier));
}

/// Of an H100, on which small LSTMs were timed.
double StepGeometry::estimate(const GpuTarget &target) const {
  if (tile.isOneStep())
    return estimateOneStep(target);
  constexpr double kBytes = 25; // Of the weights, once.
  const double passes = std::ceil(double(getGroups()) / target.computeUnits);
  const double weights =
      static_cast<double>(getElementBytes()) *
      static_cast<double>(elements * gates * getGroupUnits()) / kBytes;
  return passes * weights + static_cast<double>(steps) * estimateStep(target);
}
