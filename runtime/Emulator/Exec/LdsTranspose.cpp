//===- LdsTranspose.cpp - Transposing LDS loads of gfx950 -----------------===//
//
// In each group of 16 lanes every lane fetches its own 8 (or 12) bytes, and the
// elements are redistributed so that each lane ends up with a column of the
// tile that the group has fetched. The tile has as many rows as a lane gets
// elements, and 16 columns; 16 / (elements of a fetch) consecutive lanes fetch
// a row. [The shapes of b16 and b8 are from published descriptions of the
// instructions; b6 and b4 are assumed to be alike.] Inactive lanes fetch
// nothing and contribute zeros.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Exec/Segments.h"

using namespace tessera::emulator;

static constexpr unsigned kGroup = 16;

static uint32_t getBits(const uint32_t *words, unsigned first, unsigned count) {
  uint64_t bits = words[first / 32];
  if (first % 32 + count > 32)
    bits |= uint64_t(words[first / 32 + 1]) << 32;
  return static_cast<uint32_t>(bits >> first % 32) & ((1u << count) - 1);
}

static void putBits(uint32_t *words, unsigned first, unsigned count,
                    uint32_t value) {
  words[first / 32] |= value << first % 32;
  if (first % 32 + count > 32)
    words[first / 32 + 1] |= value >> (32 - first % 32);
}

template <unsigned Bits, unsigned Bytes>
static void loadTransposed(Wave &wave, const Instruction &in) {
  constexpr unsigned kDwords = Bytes / 4;
  constexpr unsigned kElements = 8 * Bytes / Bits;
  constexpr unsigned kLanesOfRow = kGroup / kElements;
  uint32_t fetched[kMaxLanes][kDwords] = {};
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint64_t address = uint64_t(wave.vector[in.op[1].reg][lane]) +
                       static_cast<uint32_t>(in.offset);
    if (address % 4) {
      wave.fail(FaultKind::Misaligned, in, static_cast<int>(lane), address,
                "transposing LDS load is not aligned to 4");
      return;
    }
    const uint8_t *lds =
        accessLds(wave, in, lane, address, Bytes, AccessKind::Load);
    if (!lds)
      return;
    std::memcpy(fetched[lane], lds, Bytes);
  }
  for (uint64_t left = wave.exec; left; left &= left - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(left));
    unsigned group = lane / kGroup * kGroup, column = lane % kGroup;
    uint32_t out[kDwords] = {};
    for (unsigned row = 0; row < kElements; ++row) {
      unsigned from = group + row * kLanesOfRow + column / kElements;
      putBits(out, row * Bits, Bits,
              getBits(fetched[from], column % kElements * Bits, Bits));
    }
    for (unsigned dword = 0; dword < kDwords; ++dword)
      wave.vector[in.op[0].reg + dword][lane] = out[dword];
  }
}

void tessera::emulator::addLdsTransposes(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler) {
    table.add(name, {handler, InstructionClass::LdsRead, 0,
                     std::vector<ValueType>(2, ValueType::U32)});
  };
  add("ds_read_b64_tr_b16", loadTransposed<16, 8>);
  add("ds_read_b64_tr_b8", loadTransposed<8, 8>);
  add("ds_read_b64_tr_b4", loadTransposed<4, 8>);
  add("ds_read_b96_tr_b6", loadTransposed<6, 12>);
}
