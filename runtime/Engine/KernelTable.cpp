//===- KernelTable.cpp - Kernels that are loaded --------------------------===//

#include "runtime/Engine/KernelTable.h"

using namespace tessera;

size_t KernelTable::Hash::operator()(const Key &key) const {
  const Problem &p = key.problem;
  // The small fields share one word.
  uint64_t hash = static_cast<uint64_t>(key.device);
  for (int field : {static_cast<int>(p.direction), static_cast<int>(p.dataType),
                    static_cast<int>(p.xLayout), static_cast<int>(p.wLayout),
                    static_cast<int>(p.yLayout)})
    hash = hash << 4 | static_cast<uint64_t>(field);
  for (int64_t length : {p.batch, p.inChannels, p.outChannels, p.groups, p.in.h,
                         p.in.w, p.filter.h, p.filter.w, p.pad.h, p.pad.w,
                         p.stride.h, p.stride.w, p.dilation.h, p.dilation.w}) {
    // Multiplying moves low bits up, the shift moves high bits down; the
    // constant is 2^64 over the golden ratio.
    hash = (hash ^ static_cast<uint64_t>(length)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
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
