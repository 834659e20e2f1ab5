//===- KernelTable.cpp - Kernels that are loaded --------------------------===//

#include "runtime/Engine/KernelTable.h"

#include <algorithm>

using namespace tessera;

/// See LoadedKernelImpl::alignedTensors.
static std::vector<LaunchArg> findAlignedTensors(const Kernel &kernel) {
  // The alignment that cuTensorMapEncode* require.
  constexpr uint32_t kMapAlignment = 16;
  std::vector<LaunchArg> found;
  auto add = [&](const LaunchArg &arg) {
    if (arg.alignment <= 1)
      return;
    auto same = std::ranges::find(found, arg.kind, &LaunchArg::kind);
    if (same == found.end())
      found.push_back(arg);
    else
      same->alignment = std::max(same->alignment, arg.alignment);
  };
  for (const LaunchRecipe &launch : kernel.launches) {
    std::ranges::for_each(launch.args, add);
    for (const TensorMap &map : launch.maps)
      add({map.tensor, kMapAlignment});
  }
  return found;
}

LoadedKernelImpl::LoadedKernelImpl(Kernel made,
                                   std::shared_ptr<const Module> module,
                                   std::vector<hipFunction_t> functions,
                                   Origin origin, const Problem *problem)
    : kernel(std::move(made)), module(std::move(module)),
      functions(std::move(functions)),
      alignedTensors(findAlignedTensors(kernel)), origin(origin) {
  if (problem)
    this->problem = *problem;
}

static uint64_t getHash(int device, const Problem &problem) {
  return problem.getHash() ^ static_cast<uint64_t>(device) << 48;
}

KernelTable::KernelTable() {
  constexpr size_t kFirstSize = 256;
  slots.push_back(std::make_unique<Slots>(kFirstSize));
  current = slots.back().get();
}

std::pair<KernelTable::Entry *, size_t>
KernelTable::Slots::find(int device, const Problem &problem,
                         uint64_t hash) const {
  const size_t mask = entries.size() - 1;
  // The table is never full, so the loop ends.
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    Entry *entry = entries[slot].load(std::memory_order_acquire);
    if (!entry || (entry->hash == hash && entry->device == device &&
                   entry->problem == problem))
      return {entry, slot};
  }
}

const LoadedKernelImpl *KernelTable::find(int device,
                                          const Problem &problem) const {
  const Slots &table = *current.load(std::memory_order_acquire);
  const Entry *entry =
      table.find(device, problem, getHash(device, problem)).first;
  return entry ? entry->kernel.load(std::memory_order_acquire) : nullptr;
}

void KernelTable::grow() {
  auto larger = std::make_unique<Slots>(slots.back()->entries.size() * 2);
  for (const std::unique_ptr<Entry> &entry : entries) {
    const size_t slot =
        larger->find(entry->device, entry->problem, entry->hash).second;
    larger->entries[slot].store(entry.get(), std::memory_order_relaxed);
  }
  slots.push_back(std::move(larger));
  current.store(slots.back().get(), std::memory_order_release);
}

KernelTable::Entry &KernelTable::getEntry(int device, const Problem &problem) {
  const uint64_t hash = getHash(device, problem);
  const std::lock_guard lock(mutex);
  if (Entry *known = slots.back()->find(device, problem, hash).first)
    return *known;
  if ((entries.size() + 1) * 2 > slots.back()->entries.size())
    grow();
  entries.push_back(std::make_unique<Entry>(device, problem, hash));
  const size_t slot = slots.back()->find(device, problem, hash).second;
  slots.back()->entries[slot].store(entries.back().get(),
                                    std::memory_order_release);
  return *entries.back();
}

static bool isFinal(const Status &failure) {
  return failure.getCode() == StatusCode::NotSupported ||
         failure.getCode() == StatusCode::InvalidArgument;
}

ErrorOr<const LoadedKernelImpl *>
KernelTable::findOrMake(int device, const Problem &problem, const Maker &make) {
  Entry &entry = getEntry(device, problem);
  uint64_t attemptsBefore = entry.attempts;
  std::lock_guard lock(entry.making);
  if (!entry.owners.empty())
    return entry.owners.back().get();
  bool hasWaited = entry.attempts != attemptsBefore;
  if (!entry.failure.isOk() && (hasWaited || isFinal(entry.failure)))
    return entry.failure;
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> made = make();
  ++entry.attempts;
  entry.failure = made.getStatus();
  if (!made)
    return entry.failure;
  entry.owners.push_back(std::move(*made));
  entry.kernel.store(entry.owners.back().get(), std::memory_order_release);
  return entry.owners.back().get();
}

void KernelTable::replace(int device, const Problem &problem,
                          std::unique_ptr<LoadedKernelImpl> kernel) {
  Entry &entry = getEntry(device, problem);
  const std::lock_guard lock(entry.making);
  entry.failure = Status::ok();
  entry.owners.push_back(std::move(kernel));
  entry.kernel.store(entry.owners.back().get(), std::memory_order_release);
}
