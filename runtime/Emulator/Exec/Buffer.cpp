//===- Buffer.cpp - Accesses through a buffer descriptor ------------------===//
//
// Out of range is not an error but part of the instruction's definition: loads
// give 0 and stores do nothing, dword by dword. Convolutions rely on it for
// padding. An access that is in the descriptor's range but outside of every
// allocation is an error.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/Atomics.h"
#include "runtime/Emulator/Exec/MemoryFormat.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Exec/RowCopy.h"
#include "runtime/Emulator/Exec/Segments.h"

#include <optional>
#include <string>
#include <utility>

using namespace tessera::emulator;

namespace {
/// The 128 bits of a descriptor, unpacked for one instruction.
struct BufferAccess {
  uint64_t base;
  uint32_t stride, records, soffset;
  uint32_t indexStride;
  uint32_t element = 4; ///< Size of an element of a swizzled buffer.
  bool swizzle, addTid;
  bool checksEnd; ///< gfx11+: all bytes must be in range, not only the first.
  uint8_t outOfBoundsSelect; ///< 4 is gfx9's rule.
  bool isIndexed;
  const uint32_t *index = nullptr;
  const uint32_t *offset = nullptr;
  uint32_t immediate;

  /// The sum of the two offsets wraps at 32 bits before it is checked. LLVM 22
  /// relies on it: for chips before gfx1250 it folds `add x, constant` into the
  /// immediate without knowing that the sum does not wrap, for gfx1250 only
  /// with `nuw`.
  uint64_t getOffset(unsigned lane) const {
    return (offset ? offset[lane] : 0) + immediate;
  }
  uint64_t getIndex(unsigned lane) const {
    return (index ? index[lane] : 0) + (addTid ? uint64_t(lane) : 0);
  }
  bool isInRange(uint64_t index, uint64_t offset, unsigned payload) const;
  /// The limit of the byte offset if that alone decides what is in range. Empty
  /// when the number of records or a swizzle matters, too.
  std::optional<uint32_t> getByteLimit() const;
  uint64_t getAddress(uint64_t index, uint64_t offset) const;
};
} // namespace

bool BufferAccess::isInRange(uint64_t indexOfLane, uint64_t byte,
                             unsigned payload) const {
  uint64_t rawLimit = records > soffset ? records - soffset : 0;
  if (checksEnd)
    byte += payload - 1;
  switch (outOfBoundsSelect) {
  case 0:
    return indexOfLane < records && byte < stride;
  case 1:
    return indexOfLane < records;
  case 2:
    return records != 0;
  case 3:
    if (checksEnd && swizzle && stride)
      return indexOfLane < records && byte < stride;
    return byte < rawLimit;
  default:
    // The thread number that a scratch descriptor adds is not an index.
    if (stride == 0 || !isIndexed)
      return byte < rawLimit;
    return indexOfLane < records && byte < stride;
  }
}

std::optional<uint32_t> BufferAccess::getByteLimit() const {
  bool isRaw = outOfBoundsSelect == 3 ||
               (outOfBoundsSelect == 4 && (stride == 0 || !isIndexed));
  if (!isRaw || swizzle || index || (addTid && stride))
    return std::nullopt;
  return records > soffset ? records - soffset : 0;
}

uint64_t BufferAccess::getAddress(uint64_t indexOfLane, uint64_t byte) const {
  if (!swizzle)
    return base + soffset + stride * indexOfLane + byte;
  return base + soffset +
         (indexOfLane / indexStride * stride + byte / element * element) *
             indexStride +
         indexOfLane % indexStride * element + byte % element;
}

/// Unpacks the descriptor; `first` is the index of the first of the operands
/// vaddr, srsrc and soffset.
static BufferAccess unpack(const Wave &wave, const Instruction &in,
                           unsigned first) {
  unsigned v = in.op[first + 1].reg;
  uint32_t word1 = wave.readScalar(v + 1), word3 = wave.readScalar(v + 3);
  bool isGfx9 = wave.group->chip->isGfx9();
  BufferAccess access;
  access.base = wave.readScalar64(v) & 0xffffffffffff;
  access.stride = word1 >> 16 & 0x3fff;
  access.records = wave.readScalar(v + 2);
  access.soffset = wave.scalar32(in.op[first + 2]);
  access.indexStride = 8u << (word3 >> 21 & 3);
  // Up to gfx10 bit 63 enables the swizzle. From gfx11 on bits 63:62 are 0
  // (linear) or the size of an element: 1 is 4 bytes, 2 is 8, 3 is 16.
  access.checksEnd = wave.group->chip->generation >= 11;
  access.swizzle = access.checksEnd ? word1 >> 30 : word1 >> 31;
  if (access.checksEnd && access.swizzle)
    access.element = 2u << (word1 >> 30);
  access.addTid = word3 >> 23 & 1;
  access.outOfBoundsSelect = isGfx9 ? 4 : word3 >> 28 & 3;
  // Up to gfx9 a descriptor with the data format 0 is of no buffer. Code that
  // is written by hand switches accesses off with it. With the thread number
  // the bits are a part of the stride.
  if (isGfx9 && !access.addTid && !(word3 >> 15 & 0xf))
    access.records = 0;
  access.isIndexed = in.has(kIdxen);
  access.immediate = static_cast<uint32_t>(in.offset);
  const Operand &vaddr = in.op[first];
  if (vaddr.kind == OperandKind::Vector) {
    unsigned row = vaddr.reg;
    if (in.has(kIdxen))
      access.index = wave.vector[row++];
    if (in.has(kOffen))
      access.offset = wave.vector[row];
  }
  return access;
}

/// Reads one lane's value into `data`; bytes out of range become 0.
template <unsigned Bytes>
static bool fetch(Wave &wave, const Instruction &in, const BufferAccess &access,
                  unsigned lane, uint8_t *data) {
  constexpr unsigned kStep = Bytes < 4 ? Bytes : 4;
  uint64_t index = access.getIndex(lane), offset = access.getOffset(lane);
  // Most accesses are linear and entirely in range.
  if (!access.swizzle && access.isInRange(index, offset + Bytes - kStep, kStep))
      [[likely]] {
    const uint8_t *memory = wave.access(
        in, lane, access.getAddress(index, offset), Bytes, AccessKind::Load);
    if (memory)
      std::memcpy(data, memory, Bytes);
    return memory;
  }
  std::memset(data, 0, Bytes);
  for (unsigned done = 0; done < Bytes; done += kStep) {
    if (!access.isInRange(index, offset + done, kStep))
      continue;
    const uint8_t *memory =
        wave.access(in, lane, access.getAddress(index, offset + done), kStep,
                    AccessKind::Load);
    if (!memory)
      return false;
    std::memcpy(data + done, memory, kStep);
  }
  return true;
}

/// The fast path for the loads of hot loops: dwords at byte offsets, every lane
/// active, the descriptor's range inside of one allocation, each lane's value
/// either entirely in range or entirely out of it. Returns false and does
/// nothing if one of these does not hold.
template <unsigned Bytes>
static bool loadWholeRow(Wave &wave, const Instruction &in,
                         const BufferAccess &access) {
  if constexpr (Bytes % 4 != 0)
    return false;
  GroupContext &group = *wave.group;
  std::optional<uint32_t> limit = access.getByteLimit();
  if (!wave.execFull || group.observers || !access.offset || !limit ||
      *limit < Bytes)
    return false;
  const uint64_t base = access.base + access.soffset;
  if (!group.lastAllocation.contains(base, *limit)) {
    const Allocation *found = group.memory->findLocked(base);
    if (!found || !found->contains(base, *limit))
      return false;
    group.lastAllocation = *found;
  }
  alignas(64) uint32_t offsets[kMaxLanes];
  const unsigned lanes = wave.lanes;
  const uint32_t last = *limit - Bytes, immediate = access.immediate;
  uint32_t straddles = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    offsets[lane] = access.offset[lane] + immediate;
    straddles |= (offsets[lane] > last) & (offsets[lane] < *limit);
  }
  if (straddles)
    return false;
  alignas(16) static constexpr uint8_t kZeros[16] = {};
  const auto *memory = reinterpret_cast<const uint8_t *>(base);
  loadRows<Bytes / 4>(wave, in.op[0].reg, [&](unsigned lane) {
    return offsets[lane] <= last ? memory + offsets[lane] : kZeros;
  });
  return true;
}

template <size_t Format>
static void load(Wave &wave, const Instruction &in) {
  static constexpr MemoryFormat F = kLoadFormats[Format];
  bool toLds = in.has(kToLds);
  BufferAccess access = unpack(wave, in, toLds ? 0 : 1);
  if (!toLds && loadWholeRow<F.bytes>(wave, in, access)) [[likely]]
    return;
  // Copy the address register, because it may be among the destinations.
  LaneRow offsets, indices;
  if (access.offset)
    access.offset = static_cast<uint32_t *>(
        std::memcpy(offsets, access.offset, sizeof offsets));
  if (access.index)
    access.index = static_cast<uint32_t *>(
        std::memcpy(indices, access.index, sizeof indices));
  uint64_t ldsBase = (wave.readScalar(kM0) & 0x3ffff) + access.immediate;
  constexpr unsigned kLdsStep = F.bytes < 4 ? 4 : F.bytes;
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint8_t data[16] = {};
    if (!fetch<F.bytes>(wave, in, access, lane, data))
      return;
    if (!toLds) {
      putLoaded<F>(wave, in.op[0].reg, lane, data);
      continue;
    }
    uint8_t *lds = accessLds(wave, in, lane, ldsBase + kLdsStep * lane,
                             kLdsStep, AccessKind::Store, true);
    if (!lds)
      return;
    std::memcpy(lds, data, kLdsStep);
  }
}

template <size_t Format>
static void store(Wave &wave, const Instruction &in) {
  static constexpr MemoryFormat F = kStoreFormats[Format];
  constexpr unsigned kStep = F.bytes < 4 ? F.bytes : 4;
  BufferAccess access = unpack(wave, in, 1);
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint8_t data[16];
    getStored<F>(wave, in.op[0].reg, lane, data);
    uint64_t index = access.getIndex(lane), offset = access.getOffset(lane);
    for (unsigned done = 0; done < F.bytes; done += kStep) {
      if (!access.isInRange(index, offset + done, kStep))
        continue;
      uint8_t *memory =
          wave.access(in, lane, access.getAddress(index, offset + done), kStep,
                      AccessKind::Store);
      if (!memory)
        return;
      std::memcpy(memory, data + done, kStep);
    }
  }
}

/// vdata is the data and, if the old value is returned, also the destination.
/// Out of range nothing changes and 0 is returned.
template <typename T, auto Fn>
static void atomic(Wave &wave, const Instruction &in) {
  constexpr AtomicFunction<T> kFunction = Fn;
  BufferAccess access = unpack(wave, in, 1);
  unsigned data = in.op[0].reg;
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint64_t index = access.getIndex(lane), offset = access.getOffset(lane);
    T old = 0;
    if (access.isInRange(index, offset, sizeof(T))) {
      uint64_t address = access.getAddress(index, offset);
      if (address % sizeof(T)) {
        wave.fail(FaultKind::Misaligned, in, static_cast<int>(lane), address,
                  "an atomic must be naturally aligned");
        return;
      }
      uint8_t *memory =
          wave.access(in, lane, address, sizeof(T), AccessKind::Atomic);
      if (!memory)
        return;
      T compare = comparesAndSwaps<T>(kFunction)
                      ? getElement<T>(wave, data + sizeof(T) / 4, lane)
                      : T(0);
      old = updateAtomically<T>(memory, getElement<T>(wave, data, lane),
                                compare, kFunction);
    }
    if (in.has(kReturnsOld))
      putElement<T>(wave, data, lane, old);
  }
}

void tessera::emulator::addBufferAtomics(OpcodeTable &table) {
  forEachMemoryAtomic(
      [&]<typename T, auto Fn>(std::initializer_list<const char *> names) {
        for (const char *name : names)
          table.add(std::string("buffer_atomic_") + name,
                    {atomic<T, Fn>, InstructionClass::VmemStore, 0,
                     std::vector<ValueType>(4, ValueType::U32)});
      });
}

void tessera::emulator::addBuffer(OpcodeTable &table) {
  const std::vector<ValueType> types(4, ValueType::U32);
  [&]<size_t... I>(std::index_sequence<I...>) {
    for (auto name : {&FormatName::oldName, &FormatName::newName})
      (..., table.add(std::string("buffer_load_") + kLoadNames[I].*name,
                      {load<I>, InstructionClass::VmemLoad, 0, types}));
  }(std::make_index_sequence<kLoadFormatCount>());
  [&]<size_t... I>(std::index_sequence<I...>) {
    for (auto name : {&FormatName::oldName, &FormatName::newName})
      (..., table.add(std::string("buffer_store_") + kStoreNames[I].*name,
                      {store<I>, InstructionClass::VmemStore, 0, types}));
  }(std::make_index_sequence<kStoreFormatCount>());
}
