//===- Waits.cpp - Uses of registers that a load still owes ---------------===//

#include "runtime/Emulator/Check/Waits.h"

#include "runtime/Emulator/Check/RegisterName.h"
#include "runtime/Emulator/Check/WaitModel.h"
#include "runtime/Emulator/Wave.h"

#include <array>
#include <memory>

using namespace tessera::emulator;

/// Halves of registers: those of the vector rows, then those of the scalar
/// slots and SCC.
static constexpr unsigned kHalves = 2 * (kVectorRows + 256);
/// Slots of the circular buffer of loads: more than all counters of a wave can
/// count.
static constexpr uint64_t kMaxLoads = 512;

namespace {
/// A load whose destination may not have been written yet.
struct PendingLoad {
  WaitTicket ticket;
  const Instruction *instruction = nullptr;
};

/// The pending loads of one wave.
struct WaveWaits {
  explicit WaveWaits(const Chip &chip) : model(chip) {}

  /// Returns the load that has yet to write `half`, or nullptr.
  const PendingLoad *findPending(unsigned half) {
    if (!isOwned(half, 1))
      return nullptr;
    uint64_t number = owner[half];
    const PendingLoad &load = loads[number % kMaxLoads];
    if (number + kMaxLoads > loadCount && !model.isComplete(load.ticket))
      return &load;
    disown(half);
    return nullptr;
  }

  /// Whether a load owns one of these halves, of which there are 64 at most.
  bool isOwned(unsigned half, unsigned count) const {
    unsigned word = half / 64, bit = half % 64;
    uint64_t bits = owned[word] >> bit;
    if (bit)
      bits |= owned[word + 1] << (64 - bit);
    return count == 64 ? bits : bits & ((uint64_t(1) << count) - 1);
  }
  void own(unsigned half, uint64_t number) {
    owner[half] = number;
    owned[half / 64] |= uint64_t(1) << half % 64;
  }
  void disown(unsigned half) {
    owned[half / 64] &= ~(uint64_t(1) << half % 64);
  }

  WaitModel model;
  std::array<PendingLoad, kMaxLoads>
      loads;              ///< Load n is in slot n % kMaxLoads.
  uint64_t loadCount = 0; ///< Loads are numbered from 1.
  /// The number of the last load whose destination includes this half of a
  /// register, where `owned` has its bit.
  std::array<uint64_t, kHalves> owner;
  std::array<uint64_t, kHalves / 64 + 2> owned{};
};

class WaitsCheck final : public Observer {
public:
  WaitsCheck(const Chip &chip, const Program &program)
      : chip(chip), program(program), table(chip, program),
        effects(program.size()) {}

  void onGroupStart(GroupContext &, std::span<Wave *const> group) override {
    waves.clear();
    for (size_t i = 0; i < group.size(); ++i)
      waves.push_back(std::make_unique<WaveWaits>(chip));
  }
  void beforeInstruction(Wave &wave, const Instruction &in) override;

private:
  const Effects &getEffects(const Instruction &in) {
    const Effects *&known = effects[in.index];
    if (!known)
      known = &program.getEffects(in);
    return *known;
  }
  void checkUses(Wave &wave, WaveWaits &waits, const Instruction &in,
                 const WaitTraits &traits);
  void noteDestinations(WaveWaits &waits, const Instruction &in,
                        const WaitTicket &ticket);
  void report(Wave &wave, const WaveWaits &waits, const Instruction &in,
              const PendingLoad &load, const RegisterUse &use, unsigned dword);

  const Chip &chip;
  const Program &program;
  WaitTable table;
  std::vector<const Effects *> effects; ///< by Instruction::index
  std::vector<std::unique_ptr<WaveWaits>> waves;
};
} // namespace

/// Calls `visit(half, dword)` for each register half of `use`.
template <typename Visitor>
static void forEachHalf(const RegisterUse &use, Visitor visit) {
  unsigned base = use.isScalar ? kVectorRows : 0;
  for (unsigned dword = 0; dword < use.dwords; ++dword) {
    unsigned half = 2 * (base + use.first + dword);
    if (use.part != RegisterUse::High)
      visit(half, dword);
    if (use.part != RegisterUse::Low)
      visit(half + 1, dword);
  }
}

/// Before gfx12 loads of the same kind write their registers in order, so the
/// destination of a pending load may also be that of a later one (LLVM's
/// feature vmem-write-vgpr-in-order).
static bool overwritesInOrder(const Chip &chip, const WaitTraits &traits,
                              const WaitTicket &pending) {
  constexpr uint8_t kLoadOnly = 1u << unsigned(WaitQueue::Load);
  return chip.generation < 12 && traits.queues == kLoadOnly &&
         pending.queues == kLoadOnly;
}

void WaitsCheck::report(Wave &wave, const WaveWaits &waits,
                        const Instruction &in, const PendingLoad &load,
                        const RegisterUse &use, unsigned dword) {
  wave.report(
      FaultKind::MissingWait, in, -1, 0,
      nameRegister(use.isScalar, use.first + dword) + " is " +
          (use.isWrite ? "written" : "read") + " before the load into it at " +
          program.describe(*load.instruction) +
          " has surely ended: " + waits.model.describeMissing(load.ticket));
}

void WaitsCheck::checkUses(Wave &wave, WaveWaits &waits, const Instruction &in,
                           const WaitTraits &traits) {
  for (const RegisterUse &use : getEffects(in)) {
    unsigned base = use.isScalar ? kVectorRows : 0;
    if (use.dwords <= 32 &&
        !waits.isOwned(2 * (base + use.first), 2 * use.dwords))
      continue;
    forEachHalf(use, [&](unsigned half, unsigned dword) {
      const PendingLoad *load = waits.findPending(half);
      if (!load ||
          (use.isWrite && overwritesInOrder(chip, traits, load->ticket)))
        return;
      report(wave, waits, in, *load, use, dword);
      waits.disown(half); // It is reported only once.
    });
  }
}

void WaitsCheck::noteDestinations(WaveWaits &waits, const Instruction &in,
                                  const WaitTicket &ticket) {
  uint64_t number = waits.loadCount + 1;
  for (const RegisterUse &use : getEffects(in))
    if (use.isWrite) {
      waits.loadCount = number;
      forEachHalf(use,
                  [&](unsigned half, unsigned) { waits.own(half, number); });
    }
  if (waits.loadCount == number)
    waits.loads[number % kMaxLoads] = {ticket, &in};
}

void WaitsCheck::beforeInstruction(Wave &wave, const Instruction &in) {
  WaveWaits &waits = *waves[wave.indexInGroup];
  const WaitTraits &traits = table.get(in);
  if (waits.loadCount)
    checkUses(wave, waits, in, traits);
  WaitTicket ticket = waits.model.step(traits);
  if (ticket.queues)
    noteDestinations(waits, in, ticket);
}

std::unique_ptr<Observer>
tessera::emulator::makeWaitsCheck(const Chip &chip, const Program &program) {
  return std::make_unique<WaitsCheck>(chip, program);
}
