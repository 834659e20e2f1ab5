//===- WaitModel.cpp - Which memory operations have surely ended ----------===//
//
// The rules are those by which LLVM 22 inserts waits (SIInsertWaitcnts): what
// each counter counts, and what completes in order. Where the ISA guides are
// ambiguous, a wait proves more rather than less, so that correct code is never
// reported.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Check/WaitModel.h"

#include <string_view>

using namespace tessera::emulator;

static constexpr uint8_t bit(WaitQueue queue) {
  return static_cast<uint8_t>(1u << unsigned(queue));
}

static bool startsWithAny(std::string_view text,
                          std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(
      prefixes, [&](auto prefix) { return text.starts_with(prefix); });
}

static void setLimit(WaitTraits &traits,
                     std::initializer_list<WaitQueue> queues, unsigned limit) {
  for (WaitQueue queue : queues)
    traits.limit[unsigned(queue)] = static_cast<uint8_t>(limit);
}

/// A field that is all ones waits for nothing.
static void setVmLimit(WaitTraits &traits, unsigned limit) {
  if (limit < 63)
    setLimit(traits, {WaitQueue::Load, WaitQueue::FlatLoad}, limit);
}
static void setLgkmLimit(WaitTraits &traits, unsigned limit, unsigned none) {
  if (limit < none)
    setLimit(traits, {WaitQueue::Lds, WaitQueue::Scalar, WaitQueue::FlatLds},
             limit);
}

/// Sets the limits from the fields of s_waitcnt (llvm/lib/Target/AMDGPU/Utils:
/// AMDGPUBaseInfo; amd-isa section "Wait counters").
static void setWaitcnt(WaitTraits &traits, unsigned bits, unsigned generation) {
  if (generation >= 11) {
    setVmLimit(traits, bits >> 10 & 63);
    setLgkmLimit(traits, bits >> 4 & 63, 63);
    return;
  }
  setVmLimit(traits, (bits & 15) | (bits >> 14 & 3) << 4);
  if (generation == 9)
    setLgkmLimit(traits, bits >> 8 & 15, 15);
  else
    setLgkmLimit(traits, bits >> 8 & 63, 63);
}

/// s_waitcnt_vscnt and its kin may add a register to the immediate. Compilers
/// use only null. The value of any other register is not known here, so it
/// counts as a wait for everything.
static unsigned getRegisterLimit(std::string_view text, unsigned bits) {
  return text.find("null") != std::string_view::npos ? bits : 0;
}

/// Sets the limits of a wait. Waits that order no data have none
/// (s_waitcnt_depctr, s_wait_alu, expcnt, samplecnt, bvhcnt).
static void classifyWait(WaitTraits &traits, std::string_view text,
                         std::string_view name, unsigned bits,
                         unsigned generation) {
  unsigned low = bits & 63, high = bits >> 8 & 63;
  if (name == "s_waitcnt")
    setWaitcnt(traits, bits, generation);
  else if (name == "s_waitcnt_vscnt")
    setLimit(traits, {WaitQueue::Store}, getRegisterLimit(text, low));
  else if (name == "s_waitcnt_vmcnt")
    setVmLimit(traits, getRegisterLimit(text, low));
  else if (name == "s_waitcnt_lgkmcnt")
    setLgkmLimit(traits, getRegisterLimit(text, low), 63);
  else if (name == "s_wait_loadcnt")
    setLimit(traits, {WaitQueue::Load}, low);
  else if (name == "s_wait_storecnt")
    setLimit(traits, {WaitQueue::Store}, low);
  else if (name == "s_wait_dscnt")
    setLimit(traits, {WaitQueue::Lds}, low);
  else if (name == "s_wait_kmcnt")
    setLimit(traits, {WaitQueue::Scalar}, bits & 31);
  else if (name == "s_wait_idle")
    traits.limit.fill(0);
  if (name == "s_wait_loadcnt_dscnt" || name == "s_wait_storecnt_dscnt") {
    setLimit(traits, {WaitQueue::Lds}, low);
    setLimit(
        traits,
        {name == "s_wait_loadcnt_dscnt" ? WaitQueue::Load : WaitQueue::Store},
        high);
  }
}

/// An atomic that returns the old value counts as a load.
static bool isStore(std::string_view text, std::string_view name,
                    const Instruction &instruction) {
  // "_wb" is in buffer_wbl2, global_wb and global_wbinv.
  if (name.find("_store") != std::string_view::npos ||
      name.find("_wb") != std::string_view::npos)
    return true;
  return name.find("_atomic") != std::string_view::npos &&
         !instruction.has(kReturnsOld) &&
         text.find("TH_ATOMIC_RETURN") == std::string_view::npos;
}

static WaitTraits classify(std::string_view text,
                           const Instruction &instruction,
                           unsigned generation) {
  WaitTraits traits;
  std::string_view name = text.substr(0, text.find(' '));
  if (name.starts_with("s_wait")) {
    classifyWait(traits, text, name, instruction.raw[0] & 0xffff, generation);
  } else if (startsWithAny(name,
                           {"s_load_", "s_buffer_", "s_scratch_", "s_memtime",
                            "s_memrealtime", "s_dcache_", "s_store_",
                            "s_atomic_", "s_sendmsg", "s_get_barrier"})) {
    traits.queues = bit(WaitQueue::Scalar);
  } else if (name.starts_with("ds_") && name != "ds_nop") {
    traits.queues = bit(WaitQueue::Lds);
  } else if (startsWithAny(name, {"buffer_", "tbuffer_", "global_", "scratch_",
                                  "flat_"})) {
    WaitQueue queue = generation > 9 && isStore(text, name, instruction)
                          ? WaitQueue::Store
                          : WaitQueue::Load;
    traits.queues = bit(queue);
    if (name.starts_with("flat_"))
      traits.queues = generation > 9
                          ? bit(queue) | bit(WaitQueue::Lds)
                          : bit(WaitQueue::FlatLoad) | bit(WaitQueue::FlatLds);
    traits.isLdsDma = queue == WaitQueue::Load &&
                      (instruction.has(kToLds) ||
                       name.find("_load_lds_") != std::string_view::npos);
  }
  return traits;
}

WaitTable::WaitTable(const Chip &chip, const Program &program)
    : chip(chip), program(program), traits(program.size()),
      isKnown(program.size()) {}

const WaitTraits &WaitTable::get(const Instruction &instruction) {
  WaitTraits &result = traits[instruction.index];
  if (!isKnown[instruction.index]) {
    result =
        classify(program.getText(instruction), instruction, chip.generation);
    isKnown[instruction.index] = true;
  }
  return result;
}

bool WaitModel::isInOrder(unsigned queue) const {
  return queue <= unsigned(WaitQueue::Lds);
}

void WaitModel::wait(unsigned index, unsigned limit) {
  Queue &queue = queues[index];
  if (!isInOrder(index) && limit > 0)
    return;
  if (queue.issued > limit)
    queue.completed = std::max(queue.completed, queue.issued - limit);
}

WaitTicket WaitModel::step(const WaitTraits &traits) {
  WaitTicket ticket;
  for (unsigned i = 0; i < kWaitQueues; ++i)
    if (traits.limit[i] != WaitTraits::kNoLimit) {
      wait(i, traits.limit[i]);
      queues[i].lastLimit = traits.limit[i];
    }
  if (!traits.queues)
    return ticket;
  ticket.queues = traits.queues;
  for (unsigned i = 0; i < kWaitQueues; ++i) {
    if (!(traits.queues >> i & 1))
      continue;
    // An instruction is not issued while its counter is at its maximum.
    bool isShort = i == unsigned(WaitQueue::Lds) && chip->generation == 9;
    if (isInOrder(i))
      wait(i, isShort ? 14 : 62);
    ticket.number[i] = queues[i].issued++;
  }
  if (traits.enters(WaitQueue::Lds))
    ldsBefore[ticket.number[unsigned(WaitQueue::Lds)] % kSlots] = issuedLds;
  if (traits.enters(WaitQueue::Load))
    dmaBefore[ticket.number[unsigned(WaitQueue::Load)] % kSlots] = issuedDma;
  const Queue &flat = queues[unsigned(WaitQueue::FlatLds)];
  if (traits.enters(WaitQueue::FlatLds) && flat.completed + 1 == flat.issued)
    ldsBeforeFlat = issuedLds;
  issuedLds += traits.isLds();
  issuedDma += traits.isLdsDma;
  return ticket;
}

uint64_t WaitModel::getCompletedLdsSequence() const {
  const Queue &lds = queues[unsigned(WaitQueue::Lds)];
  const Queue &flat = queues[unsigned(WaitQueue::FlatLds)];
  uint64_t done = issuedLds;
  if (lds.completed < lds.issued)
    done = ldsBefore[lds.completed % kSlots];
  if (flat.completed < flat.issued)
    done = std::min(done, ldsBeforeFlat);
  return done;
}

uint64_t WaitModel::getCompletedDmaSequence() const {
  const Queue &load = queues[unsigned(WaitQueue::Load)];
  return load.completed < load.issued ? dmaBefore[load.completed % kSlots]
                                      : issuedDma;
}

uint8_t WaitModel::getMissing(const WaitTicket &ticket) const {
  uint8_t missing = 0;
  for (unsigned i = 0; i < kWaitQueues; ++i)
    if (ticket.queues >> i & 1 && ticket.number[i] >= queues[i].completed)
      missing |= static_cast<uint8_t>(1u << i);
  return missing;
}

static const char *getCounterName(unsigned queue, unsigned generation) {
  bool isNew = generation >= 12;
  switch (static_cast<WaitQueue>(queue)) {
  case WaitQueue::Load:
  case WaitQueue::FlatLoad:
    return isNew ? "loadcnt" : "vmcnt";
  case WaitQueue::Store:
    return isNew ? "storecnt" : "vscnt";
  case WaitQueue::Scalar:
    return isNew ? "kmcnt" : "lgkmcnt";
  default:
    return isNew ? "dscnt" : "lgkmcnt";
  }
}

std::string WaitModel::describeMissing(const WaitTicket &ticket) const {
  std::string text;
  uint8_t missing = getMissing(ticket);
  for (unsigned i = 0; i < kWaitQueues; ++i) {
    if (!(missing >> i & 1))
      continue;
    const Queue &queue = queues[i];
    uint64_t younger = isInOrder(i) ? queue.issued - 1 - ticket.number[i] : 0;
    std::string name = getCounterName(i, chip->generation);
    text += (text.empty() ? "needs " : " and ") + name + "(" +
            std::to_string(younger) + ")" + (younger ? " or less" : "");
    text += queue.lastLimit == WaitTraits::kNoLimit
                ? ", and nothing has waited for " + name
                : ", but the last wait was " + name + "(" +
                      std::to_string(queue.lastLimit) + ")";
  }
  return text;
}
