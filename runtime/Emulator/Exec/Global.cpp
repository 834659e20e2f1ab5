//===- Global.cpp - global, flat and scratch loads and stores -------------===//

#include "runtime/Emulator/Exec/MemoryFormat.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Exec/Segments.h"

#include <string>
#include <utility>

using namespace tessera::emulator;

namespace {
enum class Segment { Global, Flat, Scratch };

/// An address as a part that all lanes share and optional per-lane parts.
struct AddressBase {
  uint64_t base = 0;
  const uint32_t *lo = nullptr; ///< Null if there is no per-lane part.
  const uint32_t *hi = nullptr; ///< Null for a 32-bit offset.
  uint64_t get(unsigned lane) const {
    uint64_t address = base;
    if (lo)
      address += lo[lane];
    if (hi)
      address += uint64_t(hi[lane]) << 32;
    return address;
  }
};
} // namespace

/// `vaddr` and `saddr` are indices in the printed order of operands. Global and
/// scratch instructions have an SGPR operand after vaddr.
template <Segment S>
static AddressBase getAddress(const Wave &wave, const Instruction &in,
                              unsigned vaddr, unsigned saddr) {
  AddressBase result;
  result.base = static_cast<uint64_t>(int64_t(in.offset));
  const Operand &vector = in.op[vaddr];
  const Operand &scalar = in.op[saddr];
  bool hasScalar = S != Segment::Flat && scalar.kind == OperandKind::Scalar &&
                   scalar.reg != kNull;
  if (vector.kind == OperandKind::Vector)
    result.lo = wave.vector[vector.reg];
  if (S == Segment::Scratch) {
    if (scalar.kind == OperandKind::Scalar ||
        scalar.kind == OperandKind::Constant)
      result.base += wave.scalar32(scalar);
    return result;
  }
  if (hasScalar)
    result.base += wave.readScalar64(scalar.reg);
  else
    result.hi = wave.vector[vector.reg + 1];
  return result;
}

template <Segment S, size_t Format>
static void load(Wave &wave, const Instruction &in) {
  static constexpr MemoryFormat F = kLoadFormats[Format];
  AddressBase address = getAddress<S>(wave, in, 1, 2);
  // Compute the addresses first, because the destination may overwrite them.
  uint64_t lanes[kMaxLanes];
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    lanes[lane] = address.get(lane);
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    if constexpr (S == Segment::Global) {
      const uint8_t *memory =
          wave.access(in, lane, lanes[lane], F.bytes, AccessKind::Load);
      if (!memory)
        return;
      putLoaded<F>(wave, in.op[0].reg, lane, memory);
    } else {
      uint8_t data[16];
      bool ok =
          S == Segment::Scratch
              ? copyPrivate(wave, in, lane, static_cast<uint32_t>(lanes[lane]),
                            data, F.bytes, AccessKind::Load)
              : copyFlat(wave, in, lane, lanes[lane], data, F.bytes,
                         AccessKind::Load);
      if (!ok)
        return;
      putLoaded<F>(wave, in.op[0].reg, lane, data);
    }
  }
}

template <Segment S, size_t Format>
static void store(Wave &wave, const Instruction &in) {
  static constexpr MemoryFormat F = kStoreFormats[Format];
  AddressBase address = getAddress<S>(wave, in, 0, 2);
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint8_t data[16];
    getStored<F>(wave, in.op[1].reg, lane, data);
    if constexpr (S == Segment::Global) {
      uint8_t *memory =
          wave.access(in, lane, address.get(lane), F.bytes, AccessKind::Store);
      if (!memory)
        return;
      std::memcpy(memory, data, F.bytes);
    } else {
      bool ok = S == Segment::Scratch
                    ? copyPrivate(wave, in, lane,
                                  static_cast<uint32_t>(address.get(lane)),
                                  data, F.bytes, AccessKind::Store)
                    : copyFlat(wave, in, lane, address.get(lane), data, F.bytes,
                               AccessKind::Store);
      if (!ok)
        return;
    }
  }
}

/// The LDS address is M0 + offset + 4 * lane; the lanes' addresses do not
/// matter.
template <size_t Format>
static void loadToLds(Wave &wave, const Instruction &in) {
  static constexpr MemoryFormat F = kLoadFormats[Format];
  static constexpr unsigned kStep = F.bytes < 4 ? 4 : F.bytes;
  AddressBase address = getAddress<Segment::Global>(wave, in, 0, 1);
  uint64_t ldsBase = (wave.readScalar(kM0) & 0x3ffff) +
                     static_cast<uint64_t>(int64_t(in.offset));
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    const uint8_t *memory =
        wave.access(in, lane, address.get(lane), F.bytes, AccessKind::Load);
    uint8_t *lds = memory ? accessLds(wave, in, lane, ldsBase + kStep * lane,
                                      kStep, AccessKind::Store, true)
                          : nullptr;
    if (!lds)
      return;
    std::memset(lds, 0, kStep);
    std::memcpy(lds, memory, F.bytes);
  }
}

template <Segment S>
static void addSegment(OpcodeTable &table, const std::string &prefix) {
  const std::vector<ValueType> types(3, ValueType::U32);
  [&]<size_t... I>(std::index_sequence<I...>) {
    (..., (table.add(prefix + "load_" + kLoadNames[I].oldName,
                     {load<S, I>, InstructionClass::VmemLoad, 0, types}),
           table.add(prefix + "load_" + kLoadNames[I].newName,
                     {load<S, I>, InstructionClass::VmemLoad, 0, types})));
  }(std::make_index_sequence<kLoadFormatCount>());
  [&]<size_t... I>(std::index_sequence<I...>) {
    (..., (table.add(prefix + "store_" + kStoreNames[I].oldName,
                     {store<S, I>, InstructionClass::VmemStore, 0, types}),
           table.add(prefix + "store_" + kStoreNames[I].newName,
                     {store<S, I>, InstructionClass::VmemStore, 0, types})));
  }(std::make_index_sequence<kStoreFormatCount>());
}

void tessera::emulator::addGlobal(OpcodeTable &table) {
  addSegment<Segment::Global>(table, "global_");
  addSegment<Segment::Flat>(table, "flat_");
  addSegment<Segment::Scratch>(table, "scratch_");
  const std::vector<ValueType> types(3, ValueType::U32);
  table.add("global_load_lds_dword",
            {loadToLds<0>, InstructionClass::VmemLoad, 0, types});
  table.add("global_load_lds_dwordx3",
            {loadToLds<2>, InstructionClass::VmemLoad, 0, types});
  table.add("global_load_lds_dwordx4",
            {loadToLds<3>, InstructionClass::VmemLoad, 0, types});
  table.add("global_load_lds_ubyte",
            {loadToLds<4>, InstructionClass::VmemLoad, 0, types});
  table.add("global_load_lds_ushort",
            {loadToLds<6>, InstructionClass::VmemLoad, 0, types});
  // Memory operations take effect at once, so there is nothing to write back or
  // invalidate.
  for (const char *name :
       {"buffer_wbl2", "buffer_inv", "buffer_invl2", "buffer_wbinvl1",
        "buffer_wbinvl1_vol", "buffer_gl0_inv", "buffer_gl1_inv", "global_inv",
        "global_wb", "global_wbinv"})
    table.add(
        name,
        {[](Wave &, const Instruction &) {}, InstructionClass::Other, 0, {}});
}
