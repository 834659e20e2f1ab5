//===- Findings.cpp - What went wrong, for people -------------------------===//

#include "tools/dnn-emu/Findings.h"

#include <algorithm>
#include <cstdio>

using namespace tessera;
using namespace tessera::emu;
using namespace tessera::emulator;

/// The number of instructions that are shown before and after the faulty one.
static constexpr size_t kContext = 3;
/// The number of dwords of an operand that are shown: a matrix operand has up
/// to 32.
static constexpr size_t kShownDwords = 4;

static const char *getTitle(FaultKind kind) {
  switch (kind) {
  case FaultKind::None:
    return "nothing";
  case FaultKind::IllegalAddress:
    return "illegal address";
  case FaultKind::Misaligned:
    return "misaligned access";
  case FaultKind::UnknownInstruction:
    return "unknown instruction";
  case FaultKind::IllegalState:
    return "illegal state";
  case FaultKind::Watchdog:
    return "watchdog";
  case FaultKind::DivergentBarrier:
    return "divergent barrier";
  case FaultKind::MissingWait:
    return "missing wait";
  case FaultKind::Uninitialized:
    return "uninitialized value";
  case FaultKind::Race:
    return "race";
  }
  return "fault";
}

static void printLocation(const Program &program,
                          const Fault::Finding &finding) {
  const FaultSite &site = finding.site;
  if (site.wave < 0)
    return;
  std::string line;
  if (finding.instruction < program.size())
    line = program.getSourceLine(program.getBegin()[finding.instruction]);
  std::printf("  workgroup (%u, %u, %u), wave %d", site.group[0], site.group[1],
              site.group[2], site.wave);
  if (site.lane >= 0)
    std::printf(", lane %d", site.lane);
  std::printf("%s%s\n", line.empty() ? "" : ", at ", line.c_str());
}

static void printCode(const Program &program, uint32_t index) {
  // The last instruction marks the end of the code.
  if (index >= program.size())
    return;
  size_t first = index > kContext ? index - kContext : 0;
  size_t last = std::min<size_t>(index + kContext, program.size() - 1);
  for (size_t i = first; i <= last; ++i) {
    const Instruction &instruction = program.getBegin()[i];
    std::printf("  %s 0x%04llx  %s\n", i == index ? ">" : " ",
                static_cast<unsigned long long>(program.getOffset(instruction)),
                program.getText(instruction).c_str());
  }
}

static void printRegisters(const FaultSite &site) {
  std::vector<std::string> seen;
  for (const FaultSite::Register &entry : site.registers) {
    if (std::ranges::find(seen, entry.name) != seen.end())
      continue;
    seen.push_back(entry.name);
    std::printf("    %s =", entry.name.c_str());
    for (size_t i = 0; i < std::min(entry.values.size(), kShownDwords); ++i)
      std::printf(" 0x%08x", entry.values[i]);
    std::printf("%s\n", entry.values.size() > kShownDwords ? " ..." : "");
  }
}

void tessera::emu::printFindings(const Launch &launch,
                                 const LaunchOutcome &outcome,
                                 const Arguments &arguments) {
  for (const Fault::Finding &finding : outcome.findings) {
    const FaultSite &site = finding.site;
    std::printf("%s in kernel '%s'\n", getTitle(finding.kind),
                launch.kernel.name.c_str());
    std::printf("  %s\n", site.what.empty() ? finding.message.c_str()
                                            : site.what.c_str());
    printLocation(launch.program, finding);
    if (site.address) {
      std::string argument = arguments.describe(site.address);
      std::printf("  address 0x%llx%s%s\n",
                  static_cast<unsigned long long>(site.address),
                  argument.empty() ? "" : ": ", argument.c_str());
    }
    printCode(launch.program, finding.instruction);
    printRegisters(site);
  }
  const LdsOverruns &overruns = outcome.ldsOverruns;
  if (overruns.loads || overruns.stores)
    std::printf("beyond the end of LDS %llu stores of lanes were dropped, and "
                "%llu loads gave 0\n",
                static_cast<unsigned long long>(overruns.stores),
                static_cast<unsigned long long>(overruns.loads));
  size_t count = outcome.findings.size();
  if (count)
    std::printf("%zu %s\n", count, count == 1 ? "finding" : "findings");
}
