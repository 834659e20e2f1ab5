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
    uint64_t number = owner[half];
    if (number == 0)
      return nullptr;
    const PendingLoad &load = loads[number % kMaxLoads];
    if (number + kMaxLoads > loadCount && !model.isComplete(load.ticket))
      return &load;
    owner[half] = 0;
    return nullptr;
  }

  WaitModel model;
  std::array<PendingLoad, kMaxLoads>
      loads;              ///< Load n is in slot n % kMaxLoads.
  uint64_t loadCount = 0; ///< Loads are numbered from 1.
  /// The number of the last load whose destination includes this half of a
  /// register.
  std::array<uint64_t, kHalves> owner{};
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
  for (const RegisterUse &use : getEffects(in))
    forEachHalf(use, [&](unsigned half, unsigned dword) {
      const PendingLoad *load = waits.findPending(half);
      if (!load ||
          (use.isWrite && overwritesInOrder(chip, traits, load->ticket)))
        return;
      report(wave, waits, in, *load, use, dword);
      // Forget the load, so that it is reported only once.
      waits.owner[half] = 0;
    });
}

void WaitsCheck::noteDestinations(WaveWaits &waits, const Instruction &in,
                                  const WaitTicket &ticket) {
  uint64_t number = waits.loadCount + 1;
  for (const RegisterUse &use : getEffects(in))
    if (use.isWrite) {
      waits.loadCount = number;
      forEachHalf(use,
                  [&](unsigned half, unsigned) { waits.owner[half] = number; });
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
