//===- StepGeometry.cpp - Sizes of a launch of all steps ------------------===//

#include "compiler/Algorithms/Recurrent/StepGeometry.h"
#include "runtime/Base/TextScanner.h"

using namespace tessera;

TileConfig StepTile::toConfig() const {
  return {"steps", "b" + std::to_string(blocks)};
}

ErrorOr<StepTile> tessera::parseStepTile(const TileConfig &config) {
  StepTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("b").number(tile.blocks);
  if (!scanner.isDone() ||
      (tile.blocks != 1 && tile.blocks != 2 && tile.blocks != 4))
    return invalidArgument("'" + config.toText() +
                           "' is not a tile for steps, which are 'steps-b1', "
                           "'steps-b2' and 'steps-b4'");
  return tile;
}

/// Sequences begin so that the lanes of an access are in different banks.
int64_t StepGeometry::getPitch() const {
  constexpr int64_t kLine = 64; // Elements of all banks.
  const int64_t wanted =
      shape.isMma() ? 16 : std::min<int64_t>(8, shape.getKPerLane());
  const int64_t pitch = getParts() * getPartPitch();
  return pitch + (wanted - pitch % kLine + kLine) % kLine;
}

/// Registers of a lane if a workgroup of `waves` is alone on its compute unit.
static int64_t getMostRegisters(const GpuTarget &target, int64_t waves) {
  if (target.vendor == Vendor::Nvidia)
    return std::min<int64_t>(255, llvm::alignDown(65536 / (waves * 32), 8));
  const int64_t perSimd = llvm::divideCeil(waves, target.simdsPerCu);
  switch (target.matrixUnit) {
  case MatrixUnit::MfmaCdna1: // Half of them are only for sums.
    return std::min<int64_t>(256, 256 / perSimd);
  case MatrixUnit::WmmaGfx11:
  case MatrixUnit::WmmaGfx12:
    return std::min<int64_t>(256, 1024 / perSimd);
  default:
    return std::min<int64_t>(512, 512 / perSimd);
  }
}

Status StepGeometry::checkFit(const GpuTarget &target, int64_t others) const {
  constexpr int64_t kOwn = 40; // Addresses, and what the gates need.
  const int64_t threads = getWaves() * target.waveSize;
  if (threads > 1024)
    return notSupported("a workgroup has too few threads for all units");
  const int64_t sums =
      tile.blocks * shape.getLaneUnits() * shape.getLaneSequences();
  const int64_t registers =
      getWeightRegisters() + sums * weights + sums * others + kOwn;
  const int64_t most = getMostRegisters(target, getWaves());
  if (registers > most)
    return notSupported("the weights of a layer and direction are too large "
                        "for the registers of a workgroup (" +
                        std::to_string(registers) + " of " +
                        std::to_string(most) + " for a lane)");
  if (getSharedBytes() > target.ldsBytes)
    return notSupported("the states of a step are too large for the memory of "
                        "a workgroup");
  return Status::ok();
}
