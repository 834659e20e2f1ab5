//===- LdsChecker.cpp - Races and unwritten bytes in LDS ------------------===//

#include "runtime/Emulator/Check/LdsChecker.h"

#include "runtime/Emulator/Decode/Program.h"

#include <cstdio>

using namespace tessera::emulator;

LdsChecker::LdsChecker(const Chip &chip, const Program &program, bool findRaces,
                       bool findUnwritten)
    : chip(chip), waits(chip, program), isSignal(program.size()),
      findRaces(findRaces), findUnwritten(findUnwritten) {
  if (chip.generation < 12)
    return;
  for (size_t i = 0; i < program.size(); ++i)
    isSignal[i] =
        program.getText(program.getBegin()[i]).starts_with("s_barrier_signal");
}

void LdsChecker::onGroupStart(GroupContext &group,
                              std::span<Wave *const> waves) {
  size_t dwords = (group.ldsBytes + 3) / 4;
  if (findRaces)
    cells.assign(dwords, Cell());
  written.assign(dwords, 0);
  states.assign(waves.size(), WaveState(chip));
  for (WaveState &state : states)
    state.known.resize(waves.size());
  published.clear();
  unwritten.clear();
}

void LdsChecker::beforeInstruction(Wave &wave, const Instruction &instruction) {
  // These neither wait nor touch memory, and they are most of the instructions
  // that a wave executes.
  if (!findRaces || instruction.kind == InstructionClass::Mfma ||
      instruction.kind == InstructionClass::Valu ||
      instruction.kind == InstructionClass::Salu)
    return;
  WaveState &state = states[wave.indexInGroup];
  state.model.step(waits.get(instruction));
  if (isSignal[instruction.index])
    state.arrive();
}

void LdsChecker::onBarrier(GroupContext &, std::span<Wave *const> waves) {
  for (const Wave *wave : waves) {
    WaveState &state = states[wave->indexInGroup];
    if (!state.hasArrived)
      state.arrive();
    state.hasArrived = false;
    state.atBarrier = state.issuedAtArrival;
    for (WaveState &other : states)
      other.known[wave->indexInGroup].advanceTo(state.doneAtArrival);
  }
  reportUnwritten();
}

void LdsChecker::onGroupEnd(GroupContext &, std::span<Wave *const>) {
  reportUnwritten();
}

/// An atomic learns what the waves that performed earlier atomics on these
/// bytes knew.
void LdsChecker::acquire(WaveState &state, const MemoryAccess &access) {
  auto found = published.find(static_cast<uint32_t>(access.address / 4));
  if (found == published.end())
    return;
  for (size_t i = 0; i < state.known.size(); ++i)
    state.known[i].advanceTo(found->second[i]);
}

/// LDS executes the operations of one wave in order, so an atomic comes after
/// everything that its wave did before. Only direct-to-LDS loads have to be
/// waited for.
void LdsChecker::release(const Wave &wave, const MemoryAccess &access) {
  const WaveState &state = states[wave.indexInGroup];
  Knowledge &knowledge = published[static_cast<uint32_t>(access.address / 4)];
  knowledge.resize(states.size());
  for (size_t i = 0; i < states.size(); ++i)
    knowledge[i].advanceTo(state.known[i]);
  knowledge[wave.indexInGroup].advanceTo(
      {state.getIssued().lds, state.getComplete().dma});
}

/// Called for every dword that a kernel touches in LDS.
[[gnu::always_inline]] inline void
LdsChecker::checkDword(Wave &wave, const Instruction &instruction,
                       const MemoryAccess &access, const Record &mine,
                       uint32_t dword, uint8_t flags) {
  const bool reads = access.kind != AccessKind::Store;
  const bool writes = access.kind != AccessKind::Load;
  const uint8_t bytes = flags & kShadowBytes;
  if (findRaces && !writes && cells[dword].hasRead(mine, flags))
    return;
  if (reads && findUnwritten && (written[dword] & bytes) != bytes) [[unlikely]]
    checkWritten(wave, instruction, access, dword, bytes);
  if (writes)
    written[dword] |= bytes;
  if (!findRaces)
    return;
  const WaveState &state = states[wave.indexInGroup];
  Cell &cell = cells[dword];
  if ((cell.writerFlags[0] | cell.writerFlags[1]) & kShadowDma)
    checkArrived(wave, instruction, access, cell, bytes);
  cell.findConflicts(
      mine, flags, writes,
      [&](const Record &other, uint8_t otherFlags, bool otherWrites) {
        if (!state.known[other.getActor()].cover(other, otherFlags))
            [[unlikely]]
          reportRace(wave, instruction, access, other, otherFlags, otherWrites);
      });
  if (writes)
    cell.addWrite(mine, flags);
  else
    cell.addRead(mine, flags);
}

uint8_t LdsChecker::getFlags(const Wave &wave, const Instruction &instruction,
                             const MemoryAccess &access) const {
  uint8_t flags = access.isLdsDma ? kShadowDma : 0;
  if (access.kind != AccessKind::Atomic)
    return flags;
  const std::string &text = wave.group->program->getText(instruction);
  return flags | kShadowAtomic |
         (text.find("_cmp") == std::string::npos ? 0 : kShadowCompareSwap);
}

void LdsChecker::onAccesses(Wave &wave, const Instruction &instruction,
                            std::span<const MemoryAccess> accesses) {
  bool touches = false, hasAtomics = false;
  for (const MemoryAccess &access : accesses)
    if (access.space == MemorySpace::Lds) {
      touches = true;
      hasAtomics |= access.kind == AccessKind::Atomic;
    }
  if (!touches)
    return;
  WaveState &state = states[wave.indexInGroup];
  const auto isAtomic = [](const MemoryAccess &access) {
    return access.space == MemorySpace::Lds &&
           access.kind == AccessKind::Atomic;
  };
  if (hasAtomics)
    for (const MemoryAccess &access : accesses)
      if (isAtomic(access))
        acquire(state, access);
  for (const MemoryAccess &access : accesses) {
    if (access.space != MemorySpace::Lds)
      continue;
    const Times issued = state.getIssued();
    const Record mine(wave.indexInGroup,
                      (access.isLdsDma ? issued.dma : issued.lds) - 1,
                      instruction.index);
    const uint8_t flags = getFlags(wave, instruction, access);
    auto end = static_cast<uint32_t>(access.address + access.bytes);
    for (auto at = static_cast<uint32_t>(access.address); at < end;) {
      uint32_t dword = at / 4, next = std::min(end, (dword + 1) * 4);
      auto bytes = static_cast<uint8_t>(((1u << (next - at)) - 1) << (at % 4));
      checkDword(wave, instruction, access, mine, dword, flags | bytes);
      at = next;
    }
  }
  if (hasAtomics)
    for (const MemoryAccess &access : accesses)
      if (isAtomic(access))
        release(wave, access);
}

static std::string nameBytes(const MemoryAccess &access) {
  char text[64];
  std::snprintf(text, sizeof text, "LDS bytes [0x%llx, 0x%llx)",
                static_cast<unsigned long long>(access.address),
                static_cast<unsigned long long>(access.address + access.bytes));
  return text;
}

/// Even the wave that issued a direct-to-LDS load must wait for it before it
/// touches those bytes again.
void LdsChecker::checkArrived(Wave &wave, const Instruction &instruction,
                              const MemoryAccess &access, const Cell &cell,
                              uint8_t bytes) {
  for (unsigned i = 0; i < 2; ++i) {
    const Record &load = cell.writer[i];
    uint8_t flags = cell.writerFlags[i];
    if (!(flags & kShadowDma) || !(flags & bytes) ||
        load.getActor() != wave.indexInGroup ||
        load.getInstruction() == instruction.index ||
        states[wave.indexInGroup].getComplete().cover(load, flags) ||
        !isNew(FaultKind::MissingWait, instruction))
      continue;
    const Program &program = *wave.group->program;
    wave.report(
        FaultKind::MissingWait, instruction, access.lane, 0,
        "touches " + nameBytes(access) +
            " before the wave has waited for the direct-to-LDS load "
            "that writes there, at " +
            program.describe(program.getBegin()[load.getInstruction()]));
  }
}

/// Returns true only once for a kind of finding at an instruction: only the
/// first is kept, and the text of a finding is expensive to make.
bool LdsChecker::isNew(FaultKind kind, const Instruction &instruction) {
  return reported.insert(uint64_t(instruction.index) << 8 | uint64_t(kind))
      .second;
}

static const char *nameKind(bool isWrite, bool isAtomic) {
  return isAtomic ? "atomic" : isWrite ? "write" : "read";
}

void LdsChecker::reportRace(Wave &wave, const Instruction &instruction,
                            const MemoryAccess &access, const Record &other,
                            uint8_t otherFlags, bool otherWrites) {
  if (!isNew(FaultKind::Race, instruction))
    return;
  const WaveState &theirs = states[other.getActor()];
  const Program &program = *wave.group->program;
  std::string why =
      theirs.atBarrier.cover(other, otherFlags)
          ? "wave " + std::to_string(other.getActor()) +
                " came to the barrier between them before it had waited for "
                "its access (a wait is missing before the barrier)"
          : "no barrier is between them";
  wave.report(FaultKind::Race, instruction, access.lane, 0,
              "race on " + nameBytes(access) + ": this " +
                  nameKind(access.kind != AccessKind::Load,
                           access.kind == AccessKind::Atomic) +
                  " and the " +
                  nameKind(otherWrites, otherFlags & kShadowAtomic) +
                  " of wave " + std::to_string(other.getActor()) + " at " +
                  program.describe(program.getBegin()[other.getInstruction()]) +
                  " are not ordered: " + why);
}

void LdsChecker::checkWritten(Wave &wave, const Instruction &instruction,
                              const MemoryAccess &access, uint32_t dword,
                              uint8_t bytes) {
  if (!isNew(FaultKind::Uninitialized, instruction))
    return;
  auto missing = static_cast<uint8_t>(bytes & ~written[dword]);
  if (!wave.group->fault->isNew(FaultKind::Uninitialized, instruction.index))
    return;
  char text[96];
  std::snprintf(text, sizeof text,
                ", of which nobody in the group has written byte 0x%x",
                4 * dword + static_cast<unsigned>(std::countr_zero(missing)));
  unwritten.push_back({&wave, &instruction, access.kind == AccessKind::Atomic,
                       dword, missing,
                       wave.getSite(instruction, static_cast<int>(access.lane),
                                    0, "reads " + nameBytes(access) + text)});
}

/// Whether another wave wrote these bytes after the read, without an atomic.
bool LdsChecker::isWrittenByOthers(const Unwritten &read) const {
  const Cell &cell = cells[read.dword];
  for (unsigned i = 0; i < 2; ++i)
    if ((cell.writerFlags[i] & read.bytes) &&
        cell.writer[i].getActor() != read.wave->indexInGroup)
      return true;
  return false;
}

/// Reads that another wave wrote later are not reported here, because they have
/// been reported as races.
void LdsChecker::reportUnwritten() {
  for (Unwritten &read : unwritten)
    if (read.isAtomic || !findRaces || !isWrittenByOthers(read))
      read.wave->report(FaultKind::Uninitialized, *read.instruction,
                        std::move(read.site));
  unwritten.clear();
}
