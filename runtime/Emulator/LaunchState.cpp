//===- LaunchState.cpp - How a kernel finds the machine -------------------===//

#include "runtime/Emulator/LaunchState.h"

#include <algorithm>

using namespace tessera::emulator;

static constexpr uint32_t kScalarPoison = 0xfdfdfdfd;

/// Bit numbers in KernelDescriptor::properties.
enum Property : unsigned {
  kPrivateSegmentBuffer,
  kDispatchPtr,
  kQueuePtr,
  kKernargPtr,
  kDispatchId,
  kFlatScratchInit,
  kPrivateSegmentSize,
};

template <typename T>
static void put(std::span<uint8_t> bytes, uint64_t offset, T value) {
  if (offset + sizeof value <= bytes.size())
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// Returns 1 for "hidden_block_count_y".
static unsigned getDimension(const std::string &kind) {
  return static_cast<unsigned>(kind.back() - 'x');
}

static uint64_t getHiddenValue(const Launch &launch, const std::string &kind) {
  unsigned d = getDimension(kind);
  if (kind.starts_with("hidden_block_count_"))
    return launch.items[d] / launch.groupSize[d];
  if (kind.starts_with("hidden_group_size_"))
    return launch.groupSize[d];
  if (kind.starts_with("hidden_remainder_"))
    return launch.items[d] % launch.groupSize[d];
  if (kind == "hidden_grid_dims")
    return launch.items[2] > 1 ? 3 : launch.items[1] > 1 ? 2 : 1;
  if (kind == "hidden_dynamic_lds_size")
    return launch.dynamicLdsBytes;
  if (kind == "hidden_private_base")
    return kPrivateAperture;
  if (kind == "hidden_shared_base")
    return kSharedAperture;
  // Global offsets are 0, and there is no host call buffer, heap or queue.
  return 0;
}

std::vector<uint8_t> tessera::emulator::makeKernarg(const Launch &launch) {
  // Scalar loads read up to 64 bytes, aligned to as many, of which LLVM may use
  // a part: a runtime allocates segments in such units.
  constexpr size_t kLoadBytes = 64;
  std::vector<uint8_t> bytes(
      (launch.kernel.descriptor.kernargBytes + kLoadBytes - 1) / kLoadBytes *
      kLoadBytes);
  std::copy_n(launch.arguments.begin(),
              std::min(bytes.size(), launch.arguments.size()), bytes.begin());
  for (const KernelArgument &argument : launch.kernel.arguments) {
    if (!argument.isHidden() ||
        uint64_t(argument.offset) + argument.bytes > bytes.size())
      continue;
    uint64_t value = getHiddenValue(launch, argument.kind);
    std::memcpy(bytes.data() + argument.offset, &value,
                std::min<size_t>(argument.bytes, sizeof value));
  }
  return bytes;
}

std::array<uint8_t, 64>
tessera::emulator::makeDispatchPacket(const Launch &launch,
                                      const LaunchMemory &memory) {
  std::array<uint8_t, 64> packet{};
  put<uint16_t>(packet, 2, 3);
  for (unsigned d = 0; d < 3; ++d) {
    put(packet, 4 + 2 * d, static_cast<uint16_t>(launch.groupSize[d]));
    put(packet, 12 + 4 * d, launch.items[d]);
  }
  put(packet, 24, launch.kernel.descriptor.scratchBytes);
  put(packet, 28, launch.getLdsBytes());
  put(packet, 40, memory.kernarg);
  return packet;
}

/// The buffer descriptor through which gfx906 to gfx90a and gfx1030 access
/// private memory: dwords are interleaved by the lane number, which the
/// hardware adds.
static std::array<uint32_t, 4>
makeScratchDescriptor(const Launch &launch, const LaunchMemory &memory) {
  constexpr uint32_t kSwizzle = 1u << 31, kAddTid = 1u << 23;
  uint32_t indexStride = launch.getLanes() == 64 ? 3 : 2;
  return {static_cast<uint32_t>(memory.scratch),
          (static_cast<uint32_t>(memory.scratch >> 32) & 0xffff) | kSwizzle,
          0xffffffff,
          (launch.chip.isGfx9() ? 0x00027000u : 0x31004000u) |
              indexStride << 21 | kAddTid};
}

static unsigned setUserRegisters(Wave &wave, const Launch &launch,
                                 const LaunchMemory &memory) {
  const KernelDescriptor &descriptor = launch.kernel.descriptor;
  unsigned next = 0;
  auto put64 = [&](uint64_t value) {
    wave.scalar[next++] = static_cast<uint32_t>(value);
    wave.scalar[next++] = static_cast<uint32_t>(value >> 32);
  };
  if (descriptor.hasProperty(kPrivateSegmentBuffer))
    for (uint32_t word : makeScratchDescriptor(launch, memory))
      wave.scalar[next++] = word;
  if (descriptor.hasProperty(kDispatchPtr))
    put64(memory.dispatchPacket);
  if (descriptor.hasProperty(kQueuePtr))
    put64(memory.queue);
  if (descriptor.hasProperty(kKernargPtr))
    put64(memory.kernarg);
  if (descriptor.hasProperty(kDispatchId))
    put64(0);
  if (descriptor.hasProperty(kFlatScratchInit))
    put64(memory.scratch);
  if (descriptor.hasProperty(kPrivateSegmentSize))
    wave.scalar[next++] = static_cast<uint32_t>(memory.scratchBytesPerLane);
  // Kernel arguments are not preloaded: execution starts at the prologue that
  // loads them for hardware that cannot preload.
  return descriptor.getUserSgprCount();
}

static void setSystemRegisters(Wave &wave, const Launch &launch,
                               const LaunchMemory &memory,
                               const WavePosition &position, unsigned next) {
  const KernelDescriptor &descriptor = launch.kernel.descriptor;
  if (launch.chip.workgroupIdsInTtmp) {
    wave.scalar[kTtmp0 + 9] = position.group[0];
    wave.scalar[kTtmp0 + 7] = position.group[1] | position.group[2] << 16;
    return;
  }
  for (unsigned d = 0; d < 3; ++d)
    if (descriptor.rsrc2 >> (7 + d) & 1)
      wave.scalar[next++] = position.group[d];
  if (descriptor.rsrc2 >> 10 & 1)
    wave.scalar[next++] = 0;
  if (descriptor.hasScratch() && !launch.chip.architectedFlatScratch)
    wave.scalar[next++] = static_cast<uint32_t>(position.scratchSlot *
                                                memory.scratchBytesPerWave);
}

static void setWorkitemIds(Wave &wave, const Launch &launch,
                           const WavePosition &position) {
  uint32_t sizeX = position.groupSize[0], sizeY = position.groupSize[1];
  unsigned dimensions = (launch.kernel.descriptor.rsrc2 >> 11 & 3) + 1;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    uint32_t flat = position.wave * wave.lanes + lane;
    uint32_t x = flat % sizeX, y = flat / sizeX % sizeY;
    uint32_t z = flat / sizeX / sizeY;
    if (launch.chip.packedWorkitemIds) {
      wave.vector[0][lane] = x | y << 10 | z << 20;
      continue;
    }
    wave.vector[0][lane] = x;
    if (dimensions > 1)
      wave.vector[1][lane] = y;
    if (dimensions > 2)
      wave.vector[2][lane] = z;
  }
}

/// Fills the registers of the kernel with a NaN pattern.
static void poisonVectors(Wave &wave, const Launch &launch) {
  const KernelDescriptor &descriptor = launch.kernel.descriptor;
  unsigned granted =
      ((descriptor.rsrc1 & 63) + 1) * launch.chip.getVgprGranule(wave.lanes);
  unsigned architected = granted, accumulation = 0;
  switch (launch.chip.accumulation) {
  case AccumulationFile::None:
    break;
  case AccumulationFile::Separate:
    accumulation = granted;
    break;
  case AccumulationFile::Unified:
    architected = std::min(granted, ((descriptor.rsrc3 & 63) + 1) * 4);
    accumulation = granted - architected;
    break;
  }
  std::memset(wave.vector, 0xff,
              sizeof(LaneRow) * std::min(architected, kAccumulationRow));
  std::memset(wave.vector[kAccumulationRow], 0xff,
              sizeof(LaneRow) * std::min(accumulation, 256u));
}

void tessera::emulator::initializeWave(Wave &wave, const Launch &launch,
                                       const LaunchMemory &memory,
                                       const WavePosition &position) {
  const KernelDescriptor &descriptor = launch.kernel.descriptor;
  wave.lanes = launch.getLanes();
  wave.indexInGroup = position.wave;
  wave.scratchBase =
      memory.scratch + position.scratchSlot * memory.scratchBytesPerWave;
  wave.scratchBytesPerLane = static_cast<uint32_t>(memory.scratchBytesPerLane);
  wave.scc = false;
  wave.stop = StopReason::None;
  wave.instructionCount = 0;
  wave.barriersSeen = 0;
  wave.dppWriteMask = ~uint64_t(0);
  for (uint32_t &slot : wave.scalar)
    slot = kScalarPoison;
  wave.scalar[kNull] = 0; // This register is never written.
  // Bits 19:12 of rsrc1 are MODE[7:0]; DX10_CLAMP and IEEE follow in MODE, and
  // FP16_OVFL is bit 23 of MODE (LLVM 22, SIDefines.h).
  uint32_t mode = descriptor.rsrc1 >> 12 & 0xff;
  wave.setMode(mode | (descriptor.rsrc1 >> 21 & 1) << 8 |
               (descriptor.rsrc1 >> 23 & 1) << 9 |
               (descriptor.rsrc1 >> 26 & 1) << 23);
  uint32_t total =
      position.groupSize[0] * position.groupSize[1] * position.groupSize[2];
  uint32_t here = std::min(wave.lanes, total - position.wave * wave.lanes);
  // A wave32 uses half of EXEC as its mask, and the other half is 0: LLVM 22
  // compiles __popcll(__ballot(1)) there to s_bcnt1_i32_b64 of all of EXEC.
  wave.scalar[kExecHi] = 0;
  wave.setExec(here == 64 ? ~uint64_t(0) : (uint64_t(1) << here) - 1);
  poisonVectors(wave, launch);
  setWorkitemIds(wave, launch, position);
  unsigned next = setUserRegisters(wave, launch, memory);
  setSystemRegisters(wave, launch, memory, position, next);
  wave.pc = launch.program.find(launch.kernel.entry);
}

/// Initialises two waves with different patterns: the registers that agree are
/// the ones with a value.
PresetRegisters tessera::emulator::getPresetRegisters(const Launch &launch) {
  PresetRegisters preset;
  auto wave = std::make_unique<Wave>();
  std::array<uint32_t, kScalarSlots> first;
  for (uint32_t pattern : {kScalarPoison, ~kScalarPoison}) {
    for (uint32_t &slot : wave->scalar)
      slot = pattern;
    unsigned next = setUserRegisters(*wave, launch, {});
    setSystemRegisters(*wave, launch, {}, {}, next);
    if (pattern == kScalarPoison)
      std::copy_n(wave->scalar, kScalarSlots, first.begin());
  }
  for (unsigned slot = 0; slot < kScalarSlots; ++slot)
    preset.scalars[slot] = wave->scalar[slot] == first[slot];
  for (unsigned slot : {kExecLo, kExecHi})
    preset.scalars.set(slot);
  for (unsigned i = 0; i < 16; ++i)
    preset.scalars.set(kTtmp0 + i);
  // FLAT_SCRATCH and XNACK_MASK are scalar registers on gfx9 only.
  if (launch.chip.isGfx9())
    for (unsigned slot = kFlatScratchLo; slot < kVccLo; ++slot)
      preset.scalars.set(slot);
  unsigned dimensions = (launch.kernel.descriptor.rsrc2 >> 11 & 3) + 1;
  preset.vectors = launch.chip.packedWorkitemIds ? 1 : dimensions;
  return preset;
}
