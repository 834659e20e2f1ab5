//===- Lds.cpp - LDS loads, stores and lane permutations ------------------===//
//
// The hardware returns 0 out of range and drops low address bits. Both are
// errors here, because compilers never do this on purpose; whoever runs
// handwritten code that does can let the former pass.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/MemoryFormat.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Exec/RowCopy.h"
#include "runtime/Emulator/Exec/Segments.h"

#include <utility>

using namespace tessera::emulator;

/// 64-bit accesses need an alignment of 4 bytes, 96 and 128 bits need 8 (LLVM
/// emits the wide forms only under that assumption).
template <unsigned Bytes>
static constexpr unsigned kAlignment = Bytes <= 4   ? 1
                                       : Bytes == 8 ? 4
                                                    : 8;

/// Returns the LDS bytes of a lane at register value + offset, or null after a
/// fault. The sum wraps at 32 bits: LLVM 22 compiles tile[63 - lane] to -4 *
/// lane with offset:252.
template <unsigned Bytes>
static uint8_t *locate(Wave &wave, const Instruction &in, unsigned lane,
                       uint32_t base, uint32_t offset, AccessKind kind) {
  uint32_t address = base + offset;
  if (address % kAlignment<Bytes>) [[unlikely]] {
    wave.fail(FaultKind::Misaligned, in, static_cast<int>(lane), address,
              "LDS access of " + std::to_string(Bytes) +
                  " bytes is not aligned to " +
                  std::to_string(kAlignment<Bytes>));
    return nullptr;
  }
  return accessLds(wave, in, lane, address, Bytes, kind);
}

/// True if every lane is active and in bounds at its base + offset, and there
/// are no observers: then lanes need not be checked one by one.
template <unsigned Bytes>
static bool isSimple(const Wave &wave, const uint32_t *base, uint32_t offset) {
  const GroupContext &group = *wave.group;
  return wave.execFull && !group.observers && Bytes % 4 == 0 &&
         isRowInBounds(wave, base, offset, Bytes, group.ldsBytes,
                       kAlignment<Bytes>);
}

/// Returns a copy of the address row, because the destination may overwrite it.
static const uint32_t *copyAddresses(Wave &wave, unsigned row) {
  return static_cast<uint32_t *>(
      std::memcpy(wave.operandScratch[0], wave.vector[row], sizeof(LaneRow)));
}

template <MemoryFormat F>
static void load(Wave &wave, const Instruction &in) {
  const uint32_t *base = copyAddresses(wave, in.op[1].reg);
  auto offset = static_cast<uint32_t>(in.offset);
  if (isSimple<F.bytes>(wave, base, offset)) [[likely]] {
    const uint8_t *lds = wave.group->lds + offset;
    loadRows<F.getDwords()>(wave, in.op[0].reg,
                            [=](unsigned lane) { return lds + base[lane]; });
    return;
  }
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    const uint8_t *lds =
        locate<F.bytes>(wave, in, lane, base[lane], offset, AccessKind::Load);
    if (!lds)
      return;
    putLoaded<F>(wave, in.op[0].reg, lane, lds);
  }
}

template <MemoryFormat F>
static void store(Wave &wave, const Instruction &in) {
  const uint32_t *base = wave.vector[in.op[0].reg];
  auto offset = static_cast<uint32_t>(in.offset);
  if (isSimple<F.bytes>(wave, base, offset)) [[likely]] {
    uint8_t *lds = wave.group->lds + offset;
    storeRows<F.getDwords()>(wave, in.op[1].reg,
                             [=](unsigned lane) { return lds + base[lane]; });
    return;
  }
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint8_t *lds =
        locate<F.bytes>(wave, in, lane, base[lane], offset, AccessKind::Store);
    if (!lds)
      return;
    getStored<F>(wave, in.op[1].reg, lane, lds);
  }
}

/// Loads two elements of Bytes at offset0 and offset1, both in units of Unit
/// bytes.
template <unsigned Bytes, unsigned Unit>
static void load2(Wave &wave, const Instruction &in) {
  static constexpr MemoryFormat F = kLoadFormats[Bytes == 4 ? 0 : 1];
  const uint32_t *base = copyAddresses(wave, in.op[1].reg);
  const uint32_t offsets[] = {static_cast<uint32_t>(in.offset) * Unit,
                              static_cast<uint32_t>(in.offset1) * Unit};
  for (unsigned part = 0; part < 2; ++part) {
    if (isSimple<Bytes>(wave, base, offsets[part])) [[likely]] {
      const uint8_t *lds = wave.group->lds + offsets[part];
      loadRows<Bytes / 4>(wave, in.op[0].reg + part * (Bytes / 4),
                          [=](unsigned lane) { return lds + base[lane]; });
      continue;
    }
    for (uint64_t left = wave.exec; left; left &= left - 1) {
      auto lane = static_cast<unsigned>(std::countr_zero(left));
      const uint8_t *lds = locate<Bytes>(wave, in, lane, base[lane],
                                         offsets[part], AccessKind::Load);
      if (!lds)
        return;
      putLoaded<F>(wave, in.op[0].reg + part * (Bytes / 4), lane, lds);
    }
  }
}

template <unsigned Bytes, unsigned Unit>
static void store2(Wave &wave, const Instruction &in) {
  static constexpr MemoryFormat F = kStoreFormats[Bytes == 4 ? 0 : 1];
  const uint32_t *base = wave.vector[in.op[0].reg];
  const uint32_t offsets[] = {static_cast<uint32_t>(in.offset) * Unit,
                              static_cast<uint32_t>(in.offset1) * Unit};
  for (unsigned part = 0; part < 2; ++part) {
    if (isSimple<Bytes>(wave, base, offsets[part])) [[likely]] {
      uint8_t *lds = wave.group->lds + offsets[part];
      storeRows<Bytes / 4>(wave, in.op[1 + part].reg,
                           [=](unsigned lane) { return lds + base[lane]; });
      continue;
    }
    for (uint64_t left = wave.exec; left; left &= left - 1) {
      auto lane = static_cast<unsigned>(std::countr_zero(left));
      uint8_t *lds = locate<Bytes>(wave, in, lane, base[lane], offsets[part],
                                   AccessKind::Store);
      if (!lds)
        return;
      getStored<F>(wave, in.op[1 + part].reg, lane, lds);
    }
  }
}

/// The lane that an address selects: any lane of the wave, but gfx10 and gfx11
/// treat a wave of 64 as two halves (RDNA2 and RDNA3 ISA guides, DS_PERMUTE_B32
/// and DS_BPERMUTE_B32: modulo 32). RDNA4's pseudocode takes the number modulo
/// 64 in a wave of 64.
static unsigned getNamedLane(const Wave &wave, unsigned lane,
                             uint32_t address) {
  unsigned generation = wave.group->chip->generation;
  if (generation == 10 || generation == 11)
    return lane / 32 * 32 + address / 4 % 32;
  return address / 4 % wave.lanes;
}

/// Each lane reads the value of the lane that it selects. Inactive source lanes
/// give 0, unless `FetchInactive`.
template <bool FetchInactive>
static void backwardPermute(Wave &wave, const Instruction &in) {
  const uint32_t *address = wave.vector[in.op[1].reg];
  const uint32_t *data = wave.vector[in.op[2].reg];
  unsigned lanes = wave.lanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned from = getNamedLane(
        wave, lane, address[lane] + static_cast<uint32_t>(in.offset));
    bool isRead = FetchInactive || (wave.exec >> from & 1);
    wave.result[0][lane] = isRead ? data[from] : 0;
  }
  wave.writeRow(in.op[0].reg, wave.result[0]);
}

/// Each lane sends its value to the lane that it selects; the highest sender
/// wins.
static void forwardPermute(Wave &wave, const Instruction &in) {
  const uint32_t *address = wave.vector[in.op[1].reg];
  const uint32_t *data = wave.vector[in.op[2].reg];
  unsigned lanes = wave.lanes;
  std::memset(wave.result[0], 0, sizeof(LaneRow));
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (wave.exec >> lane & 1)
      wave.result[0][getNamedLane(
          wave, lane, address[lane] + static_cast<uint32_t>(in.offset))] =
          data[lane];
  wave.writeRow(in.op[0].reg, wave.result[0]);
}

/// Returns the source lane of ds_swizzle (amd-isa section "Cross-lane").
static unsigned getSwizzleSource(uint32_t pattern, unsigned lane) {
  unsigned inHalf = lane % 32, half = lane - inHalf;
  if (pattern >= 0xc000 && pattern < 0xe000) {
    unsigned count = pattern >> 5 & 31;
    bool toRight = pattern >> 10 & 1;
    return half + (inHalf + (toRight ? 32 - count : count)) % 32;
  }
  if (pattern & 0x8000)
    return lane / 4 * 4 + (pattern >> (2 * (lane % 4)) & 3);
  return half + (((inHalf & (pattern & 31)) | (pattern >> 5 & 31)) ^
                 (pattern >> 10 & 31));
}

static void swizzle(Wave &wave, const Instruction &in) {
  auto pattern = static_cast<uint32_t>(in.offset);
  if (pattern >= 0xe000) {
    wave.fail(FaultKind::UnknownInstruction, in, -1, 0,
              "the FFT mode of ds_swizzle is not emulated");
    return;
  }
  const uint32_t *data = wave.vector[in.op[1].reg];
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    unsigned from = getSwizzleSource(pattern, lane);
    wave.result[0][lane] = wave.exec >> from & 1 ? data[from] : 0;
  }
  wave.writeRow(in.op[0].reg, wave.result[0]);
}

/// Returns the LDS bytes at M0[15:0] + offset + 4 * lane, or null after a
/// fault.
static uint8_t *locateByThread(Wave &wave, const Instruction &in, unsigned lane,
                               AccessKind kind) {
  uint32_t base = (wave.readScalar(kM0) & 0xffff) + 4 * lane;
  return locate<4>(wave, in, lane, base, static_cast<uint32_t>(in.offset),
                   kind);
}

static void loadByThread(Wave &wave, const Instruction &in) {
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    const uint8_t *lds = locateByThread(wave, in, lane, AccessKind::Load);
    if (!lds)
      return;
    std::memcpy(&wave.vector[in.op[0].reg][lane], lds, 4);
  }
}

static void storeByThread(Wave &wave, const Instruction &in) {
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint8_t *lds = locateByThread(wave, in, lane, AccessKind::Store);
    if (!lds)
      return;
    std::memcpy(lds, &wave.vector[in.op[0].reg][lane], 4);
  }
}

static void addAccess(OpcodeTable &table, InstructionClass kind,
                      Handler handler,
                      std::initializer_list<const char *> names) {
  for (const char *name : names)
    table.add(name,
              {handler, kind, 0, std::vector<ValueType>(4, ValueType::U32)});
}

static void addLoads(OpcodeTable &table) {
  constexpr auto kKind = InstructionClass::LdsRead;
  const auto add = [&](Handler handler,
                       std::initializer_list<const char *> names) {
    addAccess(table, kKind, handler, names);
  };
  add(load<kLoadFormats[0]>, {"ds_read_b32", "ds_load_b32"});
  add(load<kLoadFormats[1]>, {"ds_read_b64", "ds_load_b64"});
  add(load<kLoadFormats[2]>, {"ds_read_b96", "ds_load_b96"});
  add(load<kLoadFormats[3]>, {"ds_read_b128", "ds_load_b128"});
  add(load<kLoadFormats[4]>, {"ds_read_u8", "ds_load_u8"});
  add(load<kLoadFormats[5]>, {"ds_read_i8", "ds_load_i8"});
  add(load<kLoadFormats[6]>, {"ds_read_u16", "ds_load_u16"});
  add(load<kLoadFormats[7]>, {"ds_read_i16", "ds_load_i16"});
  add(load<kLoadFormats[8]>, {"ds_read_u8_d16", "ds_load_u8_d16"});
  add(load<kLoadFormats[9]>, {"ds_read_u8_d16_hi", "ds_load_u8_d16_hi"});
  add(load<kLoadFormats[10]>, {"ds_read_i8_d16", "ds_load_i8_d16"});
  add(load<kLoadFormats[11]>, {"ds_read_i8_d16_hi", "ds_load_i8_d16_hi"});
  add(load<kLoadFormats[12]>, {"ds_read_u16_d16", "ds_load_u16_d16"});
  add(load<kLoadFormats[13]>, {"ds_read_u16_d16_hi", "ds_load_u16_d16_hi"});
  add(load2<4, 4>, {"ds_read2_b32", "ds_load_2addr_b32"});
  add(load2<8, 8>, {"ds_read2_b64", "ds_load_2addr_b64"});
  add(load2<4, 256>, {"ds_read2st64_b32", "ds_load_2addr_stride64_b32"});
  add(load2<8, 512>, {"ds_read2st64_b64", "ds_load_2addr_stride64_b64"});
}

static void addStores(OpcodeTable &table) {
  constexpr auto kKind = InstructionClass::LdsWrite;
  const auto add = [&](Handler handler,
                       std::initializer_list<const char *> names) {
    addAccess(table, kKind, handler, names);
  };
  add(store<kStoreFormats[0]>, {"ds_write_b32", "ds_store_b32"});
  add(store<kStoreFormats[1]>, {"ds_write_b64", "ds_store_b64"});
  add(store<kStoreFormats[2]>, {"ds_write_b96", "ds_store_b96"});
  add(store<kStoreFormats[3]>, {"ds_write_b128", "ds_store_b128"});
  add(store<kStoreFormats[4]>, {"ds_write_b8", "ds_store_b8"});
  add(store<kStoreFormats[5]>, {"ds_write_b16", "ds_store_b16"});
  add(store<kStoreFormats[6]>, {"ds_write_b8_d16_hi", "ds_store_b8_d16_hi"});
  add(store<kStoreFormats[7]>, {"ds_write_b16_d16_hi", "ds_store_b16_d16_hi"});
  add(store2<4, 4>, {"ds_write2_b32", "ds_store_2addr_b32"});
  add(store2<8, 8>, {"ds_write2_b64", "ds_store_2addr_b64"});
  add(store2<4, 256>, {"ds_write2st64_b32", "ds_store_2addr_stride64_b32"});
  add(store2<8, 512>, {"ds_write2st64_b64", "ds_store_2addr_stride64_b64"});
}

void tessera::emulator::addLds(OpcodeTable &table) {
  addLoads(table);
  addStores(table);
  addAccess(table, InstructionClass::LdsRead, backwardPermute<false>,
            {"ds_bpermute_b32"});
  addAccess(table, InstructionClass::LdsRead, backwardPermute<true>,
            {"ds_bpermute_fi_b32"});
  addAccess(table, InstructionClass::LdsRead, loadByThread,
            {"ds_read_addtid_b32", "ds_load_addtid_b32"});
  addAccess(table, InstructionClass::LdsWrite, storeByThread,
            {"ds_write_addtid_b32", "ds_store_addtid_b32"});
  addAccess(table, InstructionClass::LdsRead, forwardPermute,
            {"ds_permute_b32"});
  addAccess(table, InstructionClass::LdsRead, swizzle, {"ds_swizzle_b32"});
  table.add(
      "ds_nop",
      {[](Wave &, const Instruction &) {}, InstructionClass::Other, 0, {}});
}
