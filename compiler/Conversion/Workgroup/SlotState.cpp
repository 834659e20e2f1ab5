//===- SlotState.cpp - What has been done to slots of LDS -----------------===//

#include "compiler/Conversion/Workgroup/SlotState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

KnownNumber KnownNumber::of(Value value) {
  IntegerAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return {Value(), 0, number.getInt()};
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::AddIOp, arith::MulIOp>(op) &&
      matchPattern(op->getOperand(1), m_Constant(&number))) {
    KnownNumber known = of(op->getOperand(0));
    if (isa<arith::AddIOp>(op)) {
      known.more += number.getInt();
    } else {
      known.scale *= number.getInt();
      known.more *= number.getInt();
    }
    return known;
  }
  return {value, 1, 0};
}

bool SlotState::isUnderWay(Slot slot) const {
  return copied.count(slot) ||
         llvm::any_of(groups, [&](const std::set<Slot> &group) {
           return group.count(slot) > 0;
         });
}

/// What both know alike.
template <typename T>
static void keepCommon(std::map<Slot, T> &own, const std::map<Slot, T> &other) {
  std::erase_if(own, [&](const auto &entry) {
    auto found = other.find(entry.first);
    return found == other.end() || !(found->second == entry.second);
  });
}

void SlotState::join(const SlotState &other) {
  std::erase_if(full, [&](Slot slot) { return !other.full.count(slot); });
  written.insert(other.written.begin(), other.written.end());
  read.insert(other.read.begin(), other.read.end());
  tables.insert(other.tables.begin(), other.tables.end());
  keepCommon(taps, other.taps);
  keepCommon(blocks, other.blocks);
  for (const auto &[slot, when] : other.awaited) {
    auto [found, isNew] = awaited.insert({slot, when});
    if (!isNew)
      found->second.iterations =
          std::max(found->second.iterations, when.iterations);
  }
  isSwapped |= other.isSwapped;
}

void SlotState::rename(llvm::function_ref<Slot(Slot)> getName) {
  auto renameAll = [&](std::set<Slot> &slots) {
    std::set<Slot> renamed;
    for (Slot slot : slots)
      renamed.insert(getName(slot));
    slots = std::move(renamed);
  };
  auto renameKeys = [&](auto &slots) {
    std::remove_reference_t<decltype(slots)> renamed;
    for (auto &[slot, value] : slots)
      renamed.insert({getName(slot), value});
    slots = std::move(renamed);
  };
  for (std::set<Slot> *slots : {&full, &written, &read, &copied})
    renameAll(*slots);
  llvm::for_each(groups, renameAll);
  renameKeys(begun);
  renameKeys(taps);
  renameKeys(blocks);
  renameKeys(awaited);
  isSwapped = true;
}

/// Groups that have come are older than those that have not.
bool SlotState::weaken(const SlotState &after) {
  if (groups.size() < after.groups.size())
    groups.insert(groups.begin(), after.groups.size() - groups.size(), {});
  if (groups.size() != after.groups.size())
    return false;
  for (auto [own, other] : llvm::zip_equal(groups, after.groups)) {
    for (Slot slot : own)
      if (!other.count(slot) && !after.full.count(slot))
        return false;
    for (Slot slot : other)
      if (own.insert(slot).second && full.erase(slot) == 0)
        return false;
  }
  return true;
}

bool SlotState::differs(const SlotState &after) const {
  return llvm::any_of(blocks, [&](const auto &entry) {
    auto found = after.blocks.find(entry.first);
    return found != after.blocks.end() && found->second != entry.second;
  });
}

void SlotState::enter(scf::ForOp loop, int64_t scale) {
  const KnownNumber from = KnownNumber::of(loop.getLowerBound());
  for (auto &[slot, block] : blocks) {
    const bool isConstant = !from.base && scale != 0;
    if (block.base != from.base || block.scale != from.scale ||
        (!from.base && !isConstant))
      continue;
    if (isConstant)
      block = {loop.getInductionVar(), scale, block.more - scale * from.more};
    else
      block = {loop.getInductionVar(), 1, block.more - from.more};
  }
}

void SlotState::beginIteration(scf::ForOp loop) {
  for (auto &[slot, when] : awaited)
    if (when.loop == loop)
      --when.iterations;
  std::erase_if(awaited,
                [](const auto &entry) { return entry.second.iterations == 0; });
}

void SlotState::endIteration(scf::ForOp loop) {
  IntegerAttr step;
  const bool isKnown = matchPattern(loop.getStep(), m_Constant(&step));
  for (auto entry = blocks.begin(); entry != blocks.end();) {
    KnownNumber &block = entry->second;
    const bool isOwn = block.base == loop.getInductionVar();
    if (isOwn && isKnown)
      block.more -= block.scale * step.getInt();
    entry = isOwn && !isKnown ? blocks.erase(entry) : std::next(entry);
  }
}

/// What is filled only if another iteration comes has not been filled.
void SlotState::leave(scf::ForOp loop) {
  for (auto entry = awaited.begin(); entry != awaited.end();) {
    if (entry->second.loop != loop) {
      ++entry;
      continue;
    }
    copied.erase(entry->first);
    for (std::set<Slot> &group : groups)
      group.erase(entry->first);
    entry = awaited.erase(entry);
  }
  std::erase_if(blocks, [&](const auto &entry) {
    return entry.second.base == loop.getInductionVar();
  });
}
