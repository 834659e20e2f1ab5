//===- KernelTable.cpp - Kernels that are loaded --------------------------===//

#include "runtime/Engine/KernelTable.h"

using namespace tessera;

size_t KernelTable::Hash::operator()(const Key &key) const {
  return key.problem.getHash() ^ static_cast<size_t>(key.device) << 48;
}

const LoadedKernelImpl *KernelTable::find(int device,
                                          const Problem &problem) const {
  std::shared_lock lock(mutex);
  auto found = entries.find({device, problem});
  return found == entries.end()
             ? nullptr
             : found->second->kernel.load(std::memory_order_acquire);
}

KernelTable::Entry &KernelTable::getEntry(const Key &key) {
  std::lock_guard lock(mutex);
  std::unique_ptr<Entry> &entry = entries[key];
  if (!entry)
    entry = std::make_unique<Entry>();
  return *entry;
}

static bool isFinal(const Status &failure) {
  return failure.getCode() == StatusCode::NotSupported ||
         failure.getCode() == StatusCode::InvalidArgument;
}

ErrorOr<const LoadedKernelImpl *>
KernelTable::findOrMake(int device, const Problem &problem, const Maker &make) {
  Entry &entry = getEntry({device, problem});
  uint64_t attemptsBefore = entry.attempts;
  std::lock_guard lock(entry.making);
  if (entry.owner)
    return entry.owner.get();
  bool hasWaited = entry.attempts != attemptsBefore;
  if (!entry.failure.isOk() && (hasWaited || isFinal(entry.failure)))
    return entry.failure;
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> made = make();
  ++entry.attempts;
  entry.failure = made.getStatus();
  if (!made)
    return entry.failure;
  entry.owner = std::move(*made);
  entry.kernel.store(entry.owner.get(), std::memory_order_release);
  return entry.owner.get();
}
