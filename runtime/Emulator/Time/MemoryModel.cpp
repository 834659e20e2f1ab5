//===- MemoryModel.cpp - Caches and memory as one compute unit sees them --===//

#include "runtime/Emulator/Time/MemoryModel.h"

#include <algorithm>

using namespace tessera::emulator;

/// Of the scalar cache, whose sets are not published.
static constexpr size_t kScalarWays = 16;

MemoryModel::Cache::Cache(double bytes, uint32_t lineBytes, size_t setWays)
    : setWays(setWays), ways(std::max<size_t>(1, static_cast<size_t>(bytes) /
                                                     lineBytes / setWays) *
                             setWays) {}

/// The parts of a name above those of the line in its region do not matter, so
/// that copies of a group use the sets of the group.
MemoryModel::Way &MemoryModel::Cache::find(uint64_t line) {
  const size_t sets = ways.size() / setWays;
  Way *set = ways.data() + line % sets * setWays;
  Way *oldest = set;
  ++clock;
  for (Way *way = set; way < set + setWays; ++way) {
    if (way->line == line) {
      way->used = clock;
      return *way;
    }
    if (way->used < oldest->used)
      oldest = way;
  }
  oldest->used = clock;
  return *oldest;
}

bool MemoryModel::Level::use(uint64_t line, double weight) {
  bool isNew = false;
  double &last = lastFilled.get(line, &isNew);
  const bool isThere =
      isNew ? isWarm : filled - last <= capacity && capacity > 0;
  if (!isThere)
    filled += weight;
  last = filled;
  return isThere;
}

/// GB/s of the whole chip as bytes a clock of one unit.
static double share(const MemorySystem &system, double gigabytes) {
  return gigabytes / system.clockGhz / system.units;
}

MemoryModel::Rates MemoryModel::getRates(const MemorySystem &system, double l2,
                                         double memory) {
  const double most = system.times.unitL2Bytes;
  return {std::min(most, share(system, l2)),
          std::min(most, share(system, system.times.farRate)),
          std::min(most, share(system, memory))};
}

MemoryModel::MemoryModel(const MemorySystem &system,
                         const SharingTable &sharing)
    : system(system), sharing(sharing),
      l1(system.times.l1Bytes, system.lineBytes,
         static_cast<size_t>(system.times.l1Ways)),
      scalar(system.times.scalarBytes, system.lineBytes, kScalarWays),
      reads(getRates(system, system.times.l2Rate, system.times.memoryRate)),
      writes(getRates(system, system.times.l2WriteRate,
                      system.times.memoryWriteRate)) {
  const ChipTimes &times = system.times;
  l2.capacity = times.l2Bytes / system.lineBytes;
  l2.isWarm = times.l2KeepsLines != 0 && system.footprintBytes <= times.l2Bytes;
  far.capacity = times.farBytes / system.lineBytes;
  far.isWarm =
      times.farKeepsLines != 0 && system.footprintBytes <= times.farBytes;
}

LineSharing MemoryModel::getSharing(uint32_t line) const {
  const LineSharing *shared = sharing.find(line);
  return shared ? *shared : LineSharing{true};
}

/// Lines that both groups of the unit touch are the same for all its groups;
/// every other copy has its own.
uint64_t MemoryModel::getKey(uint32_t line, unsigned copy) const {
  if (copy < 2)
    return line;
  const LineSharing shared = getSharing(line);
  return shared.isFirsts && shared.isSeconds ? line
                                             : line | uint64_t(copy / 2) << 32;
}

double MemoryModel::requestFar(double now, uint32_t line, uint64_t key,
                               const Rates &rates) {
  const LineSharing shared = getSharing(line);
  // A line that units share comes from memory once for all of them.
  const double unitsOfDie =
      std::min<double>(shared.unitsOfDie, system.unitsOfDie);
  const double units = std::min<double>(shared.dies * unitsOfDie, system.units);
  const double bytes = system.lineBytes;
  farFree = std::max(farFree, now) + bytes / unitsOfDie / rates.far;
  traffic.far += bytes / unitsOfDie * system.units;
  const ChipTimes &times = system.times;
  if (far.use(key, system.units / units))
    return farFree + times.farLatency;
  const double clocks = bytes / units / rates.memory;
  memoryFree = std::max(memoryFree, now) + clocks;
  memoryClocks += clocks;
  traffic.memory += bytes / units * system.units;
  return std::max(farFree, memoryFree) +
         (times.farBytes > 0 ? times.memoryLatency : times.farLatency);
}

double MemoryModel::request(double now, uint32_t line, unsigned copy,
                            const Rates &rates) {
  const uint64_t key = getKey(line, copy);
  const double clocks = system.lineBytes / rates.l2;
  l2Free = std::max(l2Free, now) + clocks;
  l2Clocks += clocks;
  traffic.l2 += system.lineBytes * system.units;
  const double weight =
      std::max(1.0, system.unitsOfDie / getSharing(line).unitsOfDie);
  const double base =
      l2.use(key, weight) ? l2Free : requestFar(l2Free, line, key, rates);
  return base + system.times.l2Latency;
}

double MemoryModel::load(double now, std::span<const uint32_t> lines,
                         unsigned copy) {
  double ready = now + system.times.l1Latency;
  double start = now;
  for (uint32_t line : lines) {
    const uint64_t key = getKey(line, copy);
    Way &way = l1.find(key);
    if (way.line != key) {
      way.line = key;
      way.ready = request(start, line, copy, reads);
    }
    ready = std::max({ready, way.ready, start + system.times.l1Latency});
    start += system.times.lineClocks;
  }
  traffic.l1 += double(lines.size()) * system.lineBytes * system.units;
  return ready;
}

double MemoryModel::loadScalar(double now, std::span<const uint32_t> lines,
                               unsigned copy) {
  double ready = now + system.times.scalarLatency;
  for (uint32_t line : lines) {
    const uint64_t key = getKey(line, copy);
    Way &way = scalar.find(key);
    if (way.line != key) {
      way.line = key;
      const double extra =
          request(now, line, copy, reads) - now - system.times.l2Latency;
      way.ready = now + system.times.scalarLatency +
                  system.times.scalarMissLatency + extra;
    }
    ready = std::max(ready, way.ready);
  }
  return ready;
}

double MemoryModel::store(double now, std::span<const uint32_t> lines,
                          unsigned copy, bool isAtomic) {
  double ready = now;
  for (uint32_t line : lines)
    ready = std::max(ready, request(now, line, copy, writes));
  // Atomics of a chip with several dies are done beyond their caches.
  if (isAtomic && system.times.dies > 1) {
    memoryFree = std::max(memoryFree, now) +
                 double(lines.size()) * system.lineBytes / writes.memory;
    ready = std::max(ready, memoryFree + system.times.memoryLatency);
  }
  traffic.l1 += double(lines.size()) * system.lineBytes * system.units;
  return ready;
}
