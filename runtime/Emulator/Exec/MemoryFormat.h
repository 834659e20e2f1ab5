//===- MemoryFormat.h - What one lane loads or stores ----------*- C++ -*--===//
//
// buffer_*, global_*, flat_*, scratch_* and ds_* share their data formats;
// chips up to gfx10 and from gfx11 on spell them differently.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_MEMORYFORMAT_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_MEMORYFORMAT_H

#include "runtime/Emulator/Wave.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace tessera::emulator {

/// Which bits of the register a format shorter than a dword fills.
enum class Part : uint8_t { Whole, LowHalf, HighHalf };

struct MemoryFormat {
  uint8_t bytes;
  bool isSigned;
  Part part;

  constexpr unsigned getDwords() const { return bytes < 4 ? 1 : bytes / 4; }
};

struct FormatName {
  const char *oldName; ///< up to gfx10
  const char *newName; ///< from gfx11 on
};

inline constexpr MemoryFormat kLoadFormats[] = {
    {4, false, Part::Whole},   {8, false, Part::Whole},
    {12, false, Part::Whole},  {16, false, Part::Whole},
    {1, false, Part::Whole},   {1, true, Part::Whole},
    {2, false, Part::Whole},   {2, true, Part::Whole},
    {1, false, Part::LowHalf}, {1, false, Part::HighHalf},
    {1, true, Part::LowHalf},  {1, true, Part::HighHalf},
    {2, false, Part::LowHalf}, {2, false, Part::HighHalf},
};
/// The names of kLoadFormats, in the same order.
inline constexpr FormatName kLoadNames[] = {
    {"dword", "b32"},         {"dwordx2", "b64"},
    {"dwordx3", "b96"},       {"dwordx4", "b128"},
    {"ubyte", "u8"},          {"sbyte", "i8"},
    {"ushort", "u16"},        {"sshort", "i16"},
    {"ubyte_d16", "d16_u8"},  {"ubyte_d16_hi", "d16_hi_u8"},
    {"sbyte_d16", "d16_i8"},  {"sbyte_d16_hi", "d16_hi_i8"},
    {"short_d16", "d16_b16"}, {"short_d16_hi", "d16_hi_b16"},
};
inline constexpr size_t kLoadFormatCount = std::size(kLoadFormats);
static_assert(std::size(kLoadNames) == kLoadFormatCount);

inline constexpr MemoryFormat kStoreFormats[] = {
    {4, false, Part::Whole},    {8, false, Part::Whole},
    {12, false, Part::Whole},   {16, false, Part::Whole},
    {1, false, Part::Whole},    {2, false, Part::Whole},
    {1, false, Part::HighHalf}, {2, false, Part::HighHalf},
};
/// The names of kStoreFormats, in the same order.
inline constexpr FormatName kStoreNames[] = {
    {"dword", "b32"},
    {"dwordx2", "b64"},
    {"dwordx3", "b96"},
    {"dwordx4", "b128"},
    {"byte", "b8"},
    {"short", "b16"},
    {"byte_d16_hi", "d16_hi_b8"},
    {"short_d16_hi", "d16_hi_b16"},
};
inline constexpr size_t kStoreFormatCount = std::size(kStoreFormats);
static_assert(std::size(kStoreNames) == kStoreFormatCount);

/// Stores what was read from memory into the registers of one lane.
template <MemoryFormat F>
inline void putLoaded(Wave &wave, unsigned row, unsigned lane,
                      const uint8_t *bytes) {
  if constexpr (F.bytes >= 4) {
    for (unsigned dword = 0; dword < F.getDwords(); ++dword)
      std::memcpy(&wave.vector[row + dword][lane], bytes + 4 * dword, 4);
  } else {
    uint32_t value = 0;
    std::memcpy(&value, bytes, F.bytes);
    if constexpr (F.isSigned) {
      constexpr unsigned kShift = 32 - 8 * F.bytes;
      value = static_cast<uint32_t>(static_cast<int32_t>(value << kShift) >>
                                    kShift);
    }
    uint32_t &to = wave.vector[row][lane];
    if constexpr (F.part == Part::Whole)
      to = value;
    else if constexpr (F.part == Part::LowHalf)
      to = (to & 0xffff0000) | (value & 0xffff);
    else
      to = (to & 0xffff) | value << 16;
  }
}

/// Returns the bytes that one lane stores.
template <MemoryFormat F>
inline void getStored(const Wave &wave, unsigned row, unsigned lane,
                      uint8_t *bytes) {
  if constexpr (F.bytes >= 4) {
    for (unsigned dword = 0; dword < F.getDwords(); ++dword)
      std::memcpy(bytes + 4 * dword, &wave.vector[row + dword][lane], 4);
  } else {
    uint32_t value = wave.vector[row][lane];
    if constexpr (F.part == Part::HighHalf)
      value >>= 16;
    std::memcpy(bytes, &value, F.bytes);
  }
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_MEMORYFORMAT_H
