//===- Listing.cpp - Kernels and their instructions as text ---------------===//

#include "tools/dnn-emu/Listing.h"

#include <algorithm>
#include <cstdio>
#include <optional>

using namespace tessera;
using namespace tessera::emu;
using namespace tessera::emulator;

void tessera::emu::printKernel(const KernelImage &kernel) {
  const KernelDescriptor &descriptor = kernel.descriptor;
  std::printf("%s\n", kernel.name.c_str());
  std::printf("  %u VGPRs (%u of them AGPRs), %u SGPRs, %u bytes of LDS, %u of "
              "scratch a lane,\n  up to %u work-items a workgroup, %llu bytes "
              "of code\n",
              kernel.vgprCount, kernel.agprCount, kernel.sgprCount,
              descriptor.ldsBytes, descriptor.scratchBytes,
              kernel.maxWorkgroupSize,
              static_cast<unsigned long long>(kernel.codeBytes));
  if (const auto &size = kernel.requiredGroupSize; size[0])
    std::printf("  made for workgroups of %u,%u,%u\n", size[0], size[1],
                size[2]);
  unsigned number = 0, hidden = 0;
  for (const KernelArgument &argument : kernel.arguments) {
    if (argument.isHidden()) {
      ++hidden;
      continue;
    }
    std::printf("  argument %u: %s, %u bytes at offset %u\n", number++,
                argument.kind.c_str(), argument.bytes, argument.offset);
  }
  if (hidden)
    std::printf("  and %u hidden arguments\n", hidden);
}

namespace {
/// Indices of instructions, both inclusive.
struct Range {
  uint32_t first, last;
};

/// One line of the profile.
struct Line {
  const Instruction *instruction;
  ExecutionCount count;
  MemoryCount memory;
  PipeClocks pipes;

  /// The clocks of the unit that it occupies longest.
  uint64_t getClocks() const {
    return std::max(
        {pipes.matrix, pipes.valu, pipes.wave, pipes.lds, pipes.vmem});
  }
};
} // namespace

/// The instructions of the kernel's function, without functions that it calls.
static std::optional<Range> getRange(const KernelImage &kernel,
                                     const Program &program) {
  const Instruction *first = program.find(kernel.entry);
  if (!first)
    return std::nullopt;
  Range range{first->index, static_cast<uint32_t>(program.size()) - 2};
  for (uint32_t i = first->index; i + 1 < program.size(); ++i)
    if (kernel.codeBytes && program.getAddress(program.getBegin()[i]) >=
                                kernel.entry + kernel.codeBytes) {
      range.last = i - 1;
      break;
    }
  return range;
}

void tessera::emu::printDisassembly(const KernelImage &kernel,
                                    const Program &program) {
  std::optional<Range> range = getRange(kernel, program);
  std::printf("%s:\n", kernel.name.c_str());
  for (uint32_t i = range ? range->first : 0; range && i <= range->last; ++i) {
    const Instruction &instruction = program.getBegin()[i];
    std::printf("  0x%04llx  %s\n",
                static_cast<unsigned long long>(program.getOffset(instruction)),
                program.getText(instruction).c_str());
  }
}

//===----------------------------------------------------------------------===//
// Profile
//===----------------------------------------------------------------------===//

static std::vector<Line> makeLines(const Launch &launch,
                                   const LaunchStats &stats) {
  const ChipCosts &chip = getChipCosts(launch.chip.name);
  std::vector<Line> lines;
  for (size_t i = 0; i < stats.executed.size(); ++i) {
    const Instruction &instruction = launch.program.getBegin()[i];
    const MemoryCount *memory =
        stats.memory.empty() ? nullptr : &stats.memory[i];
    InstructionCost cost = getInstructionCost(
        chip, launch.getLanes(), launch.program.getText(instruction));
    lines.push_back({&instruction, stats.executed[i],
                     memory ? *memory : MemoryCount(),
                     getPipeClocks(chip, cost, stats.executed[i], memory)});
  }
  return lines;
}

/// The target of a relative backward branch, if it is one.
static std::optional<uint32_t> getLoopStart(const Program &program,
                                            const Instruction &instruction) {
  const std::string &text = program.getText(instruction);
  if (!text.starts_with("s_branch") && !text.starts_with("s_cbranch"))
    return std::nullopt;
  uint64_t target = program.getNextAddress(instruction) +
                    static_cast<uint64_t>(int64_t(instruction.getSimm16()) * 4);
  const Instruction *to = program.find(target);
  if (!to || to->index > instruction.index)
    return std::nullopt;
  return to->index;
}

static uint64_t sumClocks(const std::vector<Line> &lines, Range range) {
  uint64_t sum = 0;
  for (uint32_t i = range.first; i <= range.last; ++i)
    sum += lines[i].getClocks();
  return sum;
}

/// The innermost loop that took most clocks.
static std::optional<Range> findHottestLoop(const Program &program,
                                            const std::vector<Line> &lines) {
  std::vector<Range> loops;
  for (const Line &line : lines)
    if (line.count.times)
      if (std::optional<uint32_t> first =
              getLoopStart(program, *line.instruction))
        loops.push_back({*first, line.instruction->index});
  auto isInnermost = [&](const Range &loop) {
    return std::ranges::none_of(loops, [&](const Range &other) {
      return loop.first <= other.first && other.last <= loop.last &&
             (loop.first != other.first || loop.last != other.last);
    });
  };
  std::optional<Range> hottest;
  for (const Range &loop : loops)
    if (isInnermost(loop) &&
        (!hottest || sumClocks(lines, loop) > sumClocks(lines, *hottest)))
      hottest = loop;
  return hottest;
}

static void printLines(const Program &program, const std::vector<Line> &lines,
                       Range range, uint64_t total) {
  std::printf("%10s %6s %12s %6s %10s %10s %10s  %s\n", "times", "lanes",
              "clocks", "%", "segments", "address", "conflicts", "instruction");
  for (uint32_t i = range.first; i <= range.last; ++i) {
    const Line &line = lines[i];
    uint64_t conflicts =
        line.memory.ldsReadConflictCycles + line.memory.ldsWriteConflictCycles;
    uint64_t segments = line.memory.segmentsLoaded + line.memory.segmentsStored;
    double lanes = line.count.times
                       ? double(line.count.lanes) / double(line.count.times)
                       : 0;
    double share = total ? 100.0 * double(line.getClocks()) / double(total) : 0;
    std::printf(
        "%10llu %6.1f %12llu %6.1f %10llu %10llu %10llu  0x%04llx  %s\n",
        static_cast<unsigned long long>(line.count.times), lanes,
        static_cast<unsigned long long>(line.getClocks()), share,
        static_cast<unsigned long long>(segments),
        static_cast<unsigned long long>(line.memory.addressClocks),
        static_cast<unsigned long long>(conflicts),
        static_cast<unsigned long long>(program.getOffset(*line.instruction)),
        program.getText(*line.instruction).c_str());
  }
}

void tessera::emu::printProfile(const Launch &launch,
                                const LaunchStats &stats) {
  std::vector<Line> lines = makeLines(launch, stats);
  std::optional<Range> range = getRange(launch.kernel, launch.program);
  if (!range || lines.size() <= range->last)
    return;
  uint64_t total =
      sumClocks(lines, {0, static_cast<uint32_t>(launch.program.size()) - 2});
  if (std::optional<Range> hottest = findHottestLoop(launch.program, lines)) {
    std::printf(
        "hottest loop: %.1f %% of all clocks\n",
        total ? 100.0 * double(sumClocks(lines, *hottest)) / double(total) : 0);
    printLines(launch.program, lines, *hottest, total);
  }
  std::printf("whole kernel\n");
  printLines(launch.program, lines, *range, total);
}
