//===- Trace.cpp - Every instruction, what it changed and touched ---------===//

#include "tools/dnn-emu/Trace.h"

#include "runtime/Emulator/Decode/Program.h"

#include <algorithm>
#include <cstring>

using namespace tessera;
using namespace tessera::emu;
using namespace tessera::emulator;

/// The number of lanes of a register, and of accesses of an instruction, that
/// are shown.
static constexpr unsigned kShown = 4;

struct Trace::Registers {
  LaneRow vector[kVectorRows];
  uint32_t scalar[kScalarSlots];
  bool scc;
};

Trace::Trace(const TraceOptions &options)
    : options(options), before(std::make_unique<Registers>()) {}
Trace::~Trace() = default;

bool Trace::isWanted(const Wave &wave) const {
  if (printed >= options.limit)
    return false;
  if (!options.wave)
    return true;
  const std::array<uint32_t, 3> &id = wave.group->groupId;
  uint64_t group = id[0] + uint64_t(options.groups[0]) *
                               (id[1] + uint64_t(options.groups[1]) * id[2]);
  return group == (*options.wave)[0] && wave.indexInGroup == (*options.wave)[1];
}

void Trace::beforeInstruction(Wave &wave, const Instruction &instruction) {
  if (!isWanted(wave))
    return;
  std::memcpy(before->vector, wave.vector, sizeof before->vector);
  std::memcpy(before->scalar, wave.scalar, sizeof before->scalar);
  before->scc = wave.scc;
  const Program &program = *wave.group->program;
  const std::array<uint32_t, 3> &id = wave.group->groupId;
  std::fprintf(options.file, "(%u,%u,%u) wave %u  0x%04llx  exec %0*llx  %s\n",
               id[0], id[1], id[2], wave.indexInGroup,
               static_cast<unsigned long long>(program.getOffset(instruction)),
               wave.lanes / 4, static_cast<unsigned long long>(wave.exec),
               program.getText(instruction).c_str());
}

static const char *getName(MemorySpace space) {
  return space == MemorySpace::Global ? "global"
         : space == MemorySpace::Lds  ? "lds"
                                      : "scratch";
}
static const char *getName(AccessKind kind) {
  return kind == AccessKind::Load    ? "load"
         : kind == AccessKind::Store ? "store"
                                     : "atomic";
}

void Trace::onAccesses(Wave &wave, const Instruction &,
                       std::span<const MemoryAccess> accesses) {
  if (!isWanted(wave))
    return;
  for (size_t i = 0; i < std::min<size_t>(accesses.size(), kShown); ++i)
    std::fprintf(options.file, "    %s %s, lane %u: %u bytes at 0x%llx\n",
                 getName(accesses[i].space), getName(accesses[i].kind),
                 accesses[i].lane, accesses[i].bytes,
                 static_cast<unsigned long long>(accesses[i].address));
  if (accesses.size() > kShown)
    std::fprintf(options.file, "    and %zu more\n", accesses.size() - kShown);
}

void Trace::printVectors(const Wave &wave) {
  for (unsigned row = 0; row < kVectorRows; ++row) {
    const uint32_t *now = wave.vector[row];
    if (!std::memcmp(now, before->vector[row], 4 * wave.lanes))
      continue;
    unsigned changed = 0;
    std::fprintf(options.file, "    %c%u:", row < kAccumulationRow ? 'v' : 'a',
                 row % kAccumulationRow);
    for (unsigned lane = 0; lane < wave.lanes; ++lane)
      if (now[lane] != before->vector[row][lane] && changed++ < kShown)
        std::fprintf(options.file, " [%u] %08x", lane, now[lane]);
    if (changed > kShown)
      std::fprintf(options.file, " ... %u lanes", changed);
    std::fprintf(options.file, "\n");
  }
}

void Trace::printScalars(const Wave &wave) {
  for (unsigned slot = 0; slot < kScalarSlots; ++slot) {
    if (wave.scalar[slot] == before->scalar[slot])
      continue;
    static constexpr std::pair<unsigned, const char *> kNames[] = {
        {kVccLo, "vcc_lo"},
        {kVccHi, "vcc_hi"},
        {kM0, "m0"},
        {kExecLo, "exec_lo"},
        {kExecHi, "exec_hi"}};
    auto it = std::ranges::find(kNames, slot,
                                [](const auto &entry) { return entry.first; });
    std::string name =
        it != std::end(kNames) ? it->second : "s" + std::to_string(slot);
    std::fprintf(options.file, "    %s: %08x\n", name.c_str(),
                 wave.scalar[slot]);
  }
  if (wave.scc != before->scc)
    std::fprintf(options.file, "    scc: %d\n", wave.scc);
}

void Trace::afterInstruction(Wave &wave, const Instruction &) {
  if (!isWanted(wave))
    return;
  printVectors(wave);
  printScalars(wave);
  if (++printed == options.limit)
    std::fprintf(options.file, "(the trace ends here: --trace-limit %llu)\n",
                 static_cast<unsigned long long>(options.limit));
}
