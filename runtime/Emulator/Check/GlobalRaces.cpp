//===- GlobalRaces.cpp - Races between the groups of a launch -------------===//

#include "runtime/Emulator/Check/GlobalRaces.h"

#include "runtime/Emulator/Decode/Program.h"

#include <cstdio>

using namespace tessera::emulator;

GlobalRaceChecker::GlobalRaceChecker(GlobalRaceState &state, const Chip &chip,
                                     const Program &program)
    : state(state), program(program),
      showsAtomicStores(chip.generation >= 12 ||
                        (chip.isGfx9() && chip.architectedFlatScratch)),
      coherence(program.size()), reading(state.effects, std::defer_lock),
      writing(state.effects, std::defer_lock) {}

void GlobalRaceChecker::onGroupStart(GroupContext &context,
                                     std::span<Wave *const>) {
  const std::array<uint32_t, 3> &id = context.groupId;
  uint64_t number = id[0] + uint64_t(state.groups[0]) *
                                (id[1] + uint64_t(state.groups[1]) * id[2]);
  // Groups beyond the largest number share that number and cannot be told from
  // each other.
  group = static_cast<uint32_t>(std::min(number, Record::kMaxActor));
  time = 1;
  knowledge.emplace(state.order, group);
}

/// Whether a load or store bypasses the caches that other groups do not share.
/// The atomic loads of HIP and OpenCL of agent and system scope consist of such
/// loads (LLVM 22's memory model for AMDGPU, and what clang-22 emits): glc up
/// to gfx11, sc1 on gfx942 and gfx950, a scope on gfx12. Together with slc, glc
/// is only a hint that data is used once.
bool GlobalRaceChecker::isCoherent(const Instruction &instruction) {
  Coherence &known = coherence[instruction.index];
  if (known == Coherence::Unknown) {
    const std::string &text = program.getText(instruction);
    const auto has = [&](const char *word) {
      return text.find(word) != std::string::npos;
    };
    bool coherent = has(" sc1") || (has(" glc") && !has(" slc")) ||
                    has("scope:SCOPE_DEV") || has("scope:SCOPE_SYS");
    known = coherent ? Coherence::Yes : Coherence::No;
  }
  return known == Coherence::Yes;
}

void GlobalRaceChecker::beforeInstruction(Wave &,
                                          const Instruction &instruction) {
  bool writes = instruction.kind == InstructionClass::VmemStore;
  bool reads = instruction.kind == InstructionClass::VmemLoad ||
               instruction.kind == InstructionClass::Smem;
  if (!writes && !reads)
    return;
  std::lock_guard turnstile(state.turnstile);
  if (writes)
    writing.lock();
  else
    reading.lock();
}

void GlobalRaceChecker::afterInstruction(Wave &, const Instruction &) {
  if (writing)
    writing.unlock();
  if (reading)
    reading.unlock();
}

/// Returns null for code and arguments, which nobody can write. A page never
/// spans two allocations (MemoryMap.h).
GlobalShadow::Page *GlobalRaceChecker::getPage(const Wave &wave,
                                               uint64_t address) {
  uint64_t number = address / GlobalShadow::kPageBytes;
  KnownPage &known = knownPages[number % knownPages.size()];
  if (known.number != number) {
    const Allocation *allocation = wave.group->memory->findLocked(address);
    bool canRace = allocation && allocation->isWritable();
    known = {number, canRace ? state.shadow.getPage(address) : nullptr};
  }
  return known.page;
}

void GlobalRaceChecker::onAccesses(Wave &wave, const Instruction &instruction,
                                   std::span<const MemoryAccess> accesses) {
  isCoherentNow = isCoherent(instruction);
  bool writes = false;
  GlobalShadow::Page *page = nullptr;
  uint64_t pageNumber = ~uint64_t(0);
  std::unique_lock<std::mutex> lock;
  for (const MemoryAccess &access : accesses) {
    if (access.space != MemorySpace::Global)
      continue;
    writes |= access.kind != AccessKind::Load;
    uint64_t end = access.address + access.bytes;
    for (uint64_t at = access.address; at < end;) {
      uint64_t dword = at & ~uint64_t(3), next = std::min(end, dword + 4);
      if (at / GlobalShadow::kPageBytes != pageNumber) {
        pageNumber = at / GlobalShadow::kPageBytes;
        if (lock)
          lock.unlock();
        page = getPage(wave, at);
        if (page)
          lock = std::unique_lock(page->mutex);
      }
      auto bytes = static_cast<uint8_t>(((1u << (next - at)) - 1) << (at % 4));
      if (page)
        checkDword(wave, instruction, access,
                   page->cells[dword % GlobalShadow::kPageBytes / 4], dword,
                   bytes);
      at = next;
    }
  }
  if (writes) {
    knowledge->publish(time);
    time = std::min(time + 1, Record::kMaxTime);
  }
}

/// Expands a mask with one bit per byte to a mask of all bits of these bytes.
static uint32_t expandBytes(uint8_t bytes) {
  uint32_t mask = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (bytes >> i & 1)
      mask |= 0xffu << (8 * i);
  return mask;
}

void GlobalRaceChecker::checkDword(Wave &wave, const Instruction &instruction,
                                   const MemoryAccess &access, Cell &cell,
                                   uint64_t dwordAddress, uint8_t bytes) {
  bool writes = access.kind != AccessKind::Load;
  bool isAtomic = access.kind == AccessKind::Atomic || isCoherentNow;
  auto flags = static_cast<uint8_t>(bytes | (isAtomic ? kShadowAtomic : 0));
  if (access.kind == AccessKind::Atomic &&
      program.getText(instruction).find("_cmp") != std::string::npos)
    flags |= kShadowCompareSwap;
  Record mine(group, time, instruction.index);
  if (!writes && !isAtomic && !cell.wasWritten()) { // Most are of inputs.
    cell.addRead(mine, flags);
    return;
  }
  if (isAtomic && access.kind != AccessKind::Store)
    for (unsigned i = 0; i < 2; ++i)
      if ((cell.writerFlags[i] & bytes) && cell.writer[i].getActor() != group)
        knowledge->acquire(cell.writer[i].getActor(), cell.writer[i].getTime());
  uint32_t value = 0;
  if (writes)
    std::memcpy(&value, reinterpret_cast<const void *>(dwordAddress), 4);
  cell.findConflicts(
      mine, flags, writes,
      [&](const Record &other, uint8_t otherFlags, bool otherWrites) {
        bool mayBeAtomic = access.kind == AccessKind::Store &&
                           !showsAtomicStores && otherWrites &&
                           (otherFlags & kShadowAtomic);
        if (mayBeAtomic || other.getTime() == Record::kMaxTime ||
            knowledge->knows(other.getActor(), other.getTime()))
          return;
        bool isSame = writes && otherWrites &&
                      !((value ^ cell.value) & expandBytes(otherFlags & bytes));
        if (!isSame)
          reportRace(wave, instruction, access, other, otherFlags, otherWrites);
      });
  if (writes) {
    cell.value = value;
    cell.addWrite(mine, flags);
  } else if (!isAtomic) {
    cell.addRead(mine, flags);
  }
}

void GlobalRaceChecker::reportRace(Wave &wave, const Instruction &instruction,
                                   const MemoryAccess &access,
                                   const Record &other, uint8_t otherFlags,
                                   bool otherWrites) {
  if (!reported.insert(instruction.index).second)
    return;
  const auto name = [](bool isWrite, bool isAtomic) {
    return isAtomic ? "atomic" : isWrite ? "store" : "load";
  };
  uint32_t x = other.getActor() % state.groups[0];
  uint32_t rest = other.getActor() / state.groups[0];
  char theirs[64];
  std::snprintf(theirs, sizeof theirs, "%s of workgroup (%u, %u, %u) at ",
                name(otherWrites, otherFlags & kShadowAtomic), x,
                rest % state.groups[1], rest / state.groups[1]);
  wave.report(
      FaultKind::Race, instruction, access.lane, access.address,
      std::string("race on ") + std::to_string(access.bytes) + " bytes " +
          wave.group->memory->describeLocked(access.address) + ": this " +
          name(access.kind != AccessKind::Load,
               access.kind == AccessKind::Atomic) +
          " and the " + theirs +
          program.describe(program.getBegin()[other.getInstruction()]) +
          " are not ordered");
}
