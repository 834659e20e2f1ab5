//===- Summary.cpp - The measurements of one launch -----------------------===//

#include "runtime/Emulator/Measure/Summary.h"

#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Measure/JsonObject.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

using namespace tessera::emulator;

static uint64_t divideUp(uint64_t value, uint64_t by) {
  return (value + by - 1) / by;
}

static bool isLds(CostClass kind) {
  return kind >= CostClass::LdsRead && kind <= CostClass::LdsAtomic;
}
static bool isVmem(CostClass kind) {
  return kind >= CostClass::VmemLoad && kind <= CostClass::VmemAtomic;
}
static bool isScalar(CostClass kind) {
  return kind == CostClass::Salu || kind == CostClass::Smem ||
         kind == CostClass::Branch;
}
/// Whether EXEC applies. Matrix instructions ignore it.
static bool isVector(CostClass kind) {
  return (kind >= CostClass::Dot && kind <= CostClass::Valu) || isLds(kind) ||
         isVmem(kind);
}

PipeClocks tessera::emulator::getPipeClocks(const ChipCosts &chip,
                                            const InstructionCost &cost,
                                            const ExecutionCount &count,
                                            const MemoryCount *memory) {
  PipeClocks clocks;
  clocks.matrix = cost.matrixClocks * count.times;
  clocks.valu = cost.valuClocks * count.times;
  clocks.wave = cost.issueClocks * count.times;
  if (isScalar(cost.kind))
    clocks.scalar = cost.issueClocks * count.times;
  uint64_t laneBytes = cost.laneBytes * count.lanes;
  if (isLds(cost.kind))
    clocks.lds = divideUp(laneBytes, chip.ldsClockBytes);
  if (isVmem(cost.kind))
    clocks.vmem = divideUp(laneBytes, chip.memoryClockBytes);
  if (!memory)
    return clocks;
  clocks.lds += memory->ldsReadConflictCycles + memory->ldsWriteConflictCycles;
  // Direct-to-LDS loads also write LDS.
  if (isVmem(cost.kind))
    clocks.lds += divideUp(memory->ldsBytesWritten, chip.ldsClockBytes);
  // L1 looks up one line in a clock, behind the addresser of each compute unit.
  // Of a line that is longer than what L1 gives in a clock only what lanes ask
  // for takes time: kernels with scattered loads that AMD has timed on gfx942
  // are faster than whole lines would let them be.
  uint64_t lines = memory->segmentsLoaded + memory->segmentsStored;
  const uint64_t lineBytes = std::min(chip.segmentBytes, chip.memoryClockBytes);
  if (isVmem(cost.kind))
    clocks.vmem = std::max(
        {clocks.vmem, divideUp(lines * lineBytes, chip.memoryClockBytes),
         divideUp(memory->addressClocks, chip.getComputeUnits())});
  return clocks;
}

static void addPipes(PipeClocks &to, const PipeClocks &from) {
  to.matrix += from.matrix;
  to.valu += from.valu;
  to.scalar += from.scalar;
  to.wave += from.wave;
  to.lds += from.lds;
  to.vmem += from.vmem;
}

static size_t getVmemIndex(CostClass kind) {
  return static_cast<size_t>(kind) - static_cast<size_t>(CostClass::VmemLoad);
}

static void addVmem(VmemTotals &to, uint64_t times, const MemoryCount &from) {
  to.times += times;
  to.bytes += from.bytesLoaded + from.bytesStored;
  to.lines += from.segmentsLoaded + from.segmentsStored;
  to.addressClocks += from.addressClocks;
}

LaunchTotals tessera::emulator::sumUp(const LaunchSummary &summary,
                                      const Program &program,
                                      const LaunchStats &stats) {
  LaunchTotals totals;
  const ChipCosts &chip = getChipCosts(summary.chip);
  for (size_t i = 0; i < stats.executed.size(); ++i) {
    const ExecutionCount &count = stats.executed[i];
    if (!count.times)
      continue;
    InstructionCost cost = getInstructionCost(
        chip, summary.resources.lanes, program.getText(program.getBegin()[i]));
    const MemoryCount *memory =
        stats.memory.empty() ? nullptr : &stats.memory[i];
    totals.instructions[static_cast<unsigned>(cost.kind)] += count.times;
    totals.macs += cost.macs * count.times + cost.macsPerLane * count.lanes;
    if (isVector(cost.kind)) {
      totals.vectorInstructions += count.times;
      totals.vectorLanes += count.lanes;
    }
    addPipes(totals.pipes, getPipeClocks(chip, cost, count, memory));
    if (!memory)
      continue;
    if (cost.kind == CostClass::Smem)
      totals.scalarBytesLoaded += memory->bytesLoaded;
    else
      totals.memory += *memory;
    if (isVmem(cost.kind))
      addVmem(totals.vmem[getVmemIndex(cost.kind)], count.times, *memory);
  }
  return totals;
}

// The work of a launch is spread evenly: the busiest unit runs the rounded-up
// share of the groups, and the busiest of its SIMDs the rounded-up share of
// their waves. Waves that are resident at the same time fill each other's gaps.
// Waves that run one after the other take at least the issue slots of each.
IssueEstimate tessera::emulator::estimateIssue(const LaunchSummary &summary,
                                               const LaunchTotals &totals) {
  IssueEstimate result;
  const ChipCosts &chip = getChipCosts(summary.chip);
  uint64_t groups = summary.getGroupCount();
  uint64_t wavesPerGroup = summary.resources.wavesPerGroup;
  if (!groups || !wavesPerGroup)
    return result;
  uint64_t units = std::max(1u, summary.computeUnits / chip.getComputeUnits());
  uint64_t groupsOfUnit = divideUp(groups, units);
  uint64_t wavesOfSimd = divideUp(groupsOfUnit * wavesPerGroup, chip.simds);
  Occupancy occupancy = getOccupancy(chip, summary.resources);
  auto resident =
      std::max<uint64_t>(1, static_cast<uint64_t>(occupancy.wavesPerSimd));
  auto ofSimd = [&](uint64_t clocks, uint64_t waves) {
    return divideUp(clocks * waves, groups * wavesPerGroup);
  };
  auto ofUnit = [&](uint64_t clocks) {
    return divideUp(clocks * groupsOfUnit, groups);
  };
  PipeClocks &busiest = result.busiest;
  busiest.matrix = ofSimd(totals.pipes.matrix, wavesOfSimd);
  busiest.valu = ofSimd(totals.pipes.valu, wavesOfSimd);
  busiest.scalar = ofSimd(totals.pipes.scalar, wavesOfSimd);
  busiest.wave = ofSimd(totals.pipes.wave, divideUp(wavesOfSimd, resident));
  busiest.lds = ofUnit(totals.pipes.lds);
  busiest.vmem = ofUnit(totals.pipes.vmem);
  for (auto [name, clocks] :
       {std::pair("matrix", busiest.matrix), std::pair("valu", busiest.valu),
        std::pair("lds", busiest.lds), std::pair("vmem", busiest.vmem),
        std::pair("scalar", busiest.scalar), std::pair("wave", busiest.wave)})
    if (clocks > result.clocks) {
      result.clocks = clocks;
      result.limit = name;
    }
  return result;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static std::string formatClasses(const LaunchTotals &totals) {
  JsonObject classes;
  for (unsigned i = 0; i < kCostClasses; ++i)
    classes.addInteger(getName(static_cast<CostClass>(i)),
                       totals.instructions[i]);
  return classes.finish();
}

static std::string formatVmem(const VmemTotals &totals, const ChipCosts &chip) {
  auto divide = [](uint64_t value, uint64_t by) {
    return by ? double(value) / double(by) : 0;
  };
  JsonObject line;
  line.addInteger("address_clocks", totals.addressClocks);
  line.addNumber("lines_per_wave", divide(totals.lines, totals.times));
  line.addNumber("line_use",
                 divide(totals.bytes, totals.lines * chip.segmentBytes));
  return line.finish();
}

/// One object for each class of which an instruction was executed.
static void addVmemClasses(JsonObject &line, const ChipCosts &chip,
                           const LaunchTotals &totals) {
  for (CostClass kind :
       {CostClass::VmemLoad, CostClass::VmemStore, CostClass::VmemAtomic})
    if (const VmemTotals &vmem = totals.vmem[getVmemIndex(kind)]; vmem.times)
      line.addRaw(std::string(getName(kind)) + "_access",
                  formatVmem(vmem, chip));
}

static void addMemory(JsonObject &line, const ChipCosts &chip,
                      const LaunchTotals &totals) {
  const MemoryCount &memory = totals.memory;
  line.addInteger("bytes_loaded", memory.bytesLoaded);
  line.addInteger("bytes_stored", memory.bytesStored);
  line.addInteger("scalar_bytes_loaded", totals.scalarBytesLoaded);
  line.addInteger("scratch_bytes_loaded", memory.scratchBytesLoaded);
  line.addInteger("scratch_bytes_stored", memory.scratchBytesStored);
  line.addInteger("segment_bytes", chip.segmentBytes);
  line.addInteger("segments_loaded", memory.segmentsLoaded);
  line.addInteger("segments_stored", memory.segmentsStored);
  addVmemClasses(line, chip, totals);
  line.addInteger("lds_bytes_read", memory.ldsBytesRead);
  line.addInteger("lds_bytes_written", memory.ldsBytesWritten);
  line.addInteger("lds_read_conflict_cycles", memory.ldsReadConflictCycles);
  line.addInteger("lds_write_conflict_cycles", memory.ldsWriteConflictCycles);
}

static void addResources(JsonObject &line, const ChipCosts &chip,
                         const KernelResources &resources) {
  Occupancy occupancy = getOccupancy(chip, resources);
  line.addInteger("lds_bytes", resources.ldsBytes);
  line.addInteger("vgprs", resources.vgprs);
  line.addInteger("agprs", resources.agprs);
  line.addInteger("sgprs", resources.sgprs);
  line.addInteger("scratch_bytes", resources.scratchBytes);
  line.addInteger("waves_per_group", resources.wavesPerGroup);
  line.addNumber("waves_per_simd", occupancy.wavesPerSimd);
  line.addText("occupancy_limit", occupancy.limit);
}

static void addEstimate(JsonObject &line, const LaunchSummary &summary,
                        const LaunchTotals &totals) {
  IssueEstimate estimate = estimateIssue(summary, totals);
  line.addInteger("estimated_issue_cycles", estimate.clocks);
  line.addText("estimate_limit", estimate.limit);
  JsonObject busiest;
  busiest.addInteger("matrix", estimate.busiest.matrix);
  busiest.addInteger("valu", estimate.busiest.valu);
  busiest.addInteger("lds", estimate.busiest.lds);
  busiest.addInteger("vmem", estimate.busiest.vmem);
  busiest.addInteger("scalar", estimate.busiest.scalar);
  busiest.addInteger("wave", estimate.busiest.wave);
  line.addRaw("estimate_parts", busiest.finish());
}

std::string tessera::emulator::formatSummary(const LaunchSummary &summary,
                                             const LaunchTotals &totals,
                                             bool hasAddresses) {
  const ChipCosts &chip = getChipCosts(summary.chip);
  JsonObject line;
  line.addText("kernel", summary.kernel);
  line.addText("chip", summary.chip);
  line.addTriple("grid", summary.groups);
  line.addTriple("block", summary.groupSize);
  addResources(line, chip, summary.resources);
  line.addNumber("host_ms", summary.timeMs);
  line.addRaw("instructions", formatClasses(totals));
  line.addNumber("active_lanes", totals.vectorInstructions
                                     ? double(totals.vectorLanes) /
                                           double(totals.vectorInstructions)
                                     : 0.0);
  line.addInteger("macs", totals.macs);
  if (summary.usefulMacs)
    line.addInteger("useful_macs", *summary.usefulMacs);
  if (hasAddresses)
    addMemory(line, chip, totals);
  addEstimate(line, summary, totals);
  return line.finish();
}

tessera::Status tessera::emulator::appendStats(const std::string &path,
                                               const std::string &line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  auto fail = [&](int reason) {
    return unavailable("cannot write statistics to " + path + ": " +
                       std::strerror(reason));
  };
  const int file =
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    return fail(errno);
  struct stat before = {};
  (void)fstat(file, &before);
  const std::string text = line + "\n";
  errno = ENOSPC; // This is what an incomplete write means.
  const bool isWritten = write(file, text.data(), text.size()) ==
                         static_cast<ssize_t>(text.size());
  const int reason = errno;
  // Remove an incomplete line, because readers of the file expect whole lines.
  if (!isWritten && S_ISREG(before.st_mode))
    (void)!(before.st_size == 0 ? unlink(path.c_str())
                                : ftruncate(file, before.st_size));
  close(file);
  return isWritten ? Status::ok() : fail(reason);
}
