//===- DppControl.cpp - Lane permutations of DPP --------------------------===//

#include "runtime/Emulator/Decode/DppControl.h"

using namespace tessera::emulator;

static constexpr int kRow = 16;

bool tessera::emulator::isDppModifier(std::string_view name) {
  for (std::string_view known :
       {"quad_perm", "row_shl", "row_shr", "row_ror", "wave_shl", "wave_rol",
        "wave_shr", "wave_ror", "row_mirror", "row_half_mirror", "row_bcast",
        "row_newbcast", "row_share", "row_xmask", "dpp8", "row_mask",
        "bank_mask", "bound_ctrl", "fi"})
    if (name == known)
      return true;
  return false;
}

/// Returns the lane that `lane` reads under the permutation `name`: -1 if there
/// is none, -2 if `name` is not a permutation.
static int permute(std::string_view name, std::string_view value, int lane,
                   int lanes) {
  int n = static_cast<int>(parseInteger(value).value_or(0));
  int inRow = lane % kRow;
  int row = lane - inRow;
  auto withinRow = [&](int index) {
    return index >= 0 && index < kRow ? row + index : -1;
  };
  auto withinWave = [&](int index) {
    return index >= 0 && index < lanes ? index : -1;
  };
  if (name == "quad_perm")
    return lane / 4 * 4 + static_cast<int>(parseIntegerList(value)[lane % 4]);
  if (name == "dpp8")
    return lane / 8 * 8 + static_cast<int>(parseIntegerList(value)[lane % 8]);
  if (name == "row_shl")
    return withinRow(inRow + n);
  if (name == "row_shr")
    return withinRow(inRow - n);
  if (name == "row_ror")
    return row + (inRow + kRow - n) % kRow;
  if (name == "row_mirror")
    return row + kRow - 1 - inRow;
  if (name == "row_half_mirror")
    return lane / 8 * 8 + 7 - lane % 8;
  if (name == "row_newbcast" || name == "row_share")
    return row + n;
  if (name == "row_xmask")
    return row + (inRow ^ n);
  if (name == "row_bcast" && n == 15)
    return row ? row - 1 : -1;
  if (name == "row_bcast" && n == 31)
    return lane >= 32 ? 31 : -1;
  if (name == "wave_shl")
    return withinWave(lane + n);
  if (name == "wave_shr")
    return withinWave(lane - n);
  if (name == "wave_rol")
    return (lane + n) % lanes;
  if (name == "wave_ror")
    return (lane + lanes - n) % lanes;
  return -2;
}

bool tessera::emulator::parseDpp(const InstructionText &text, const Chip &chip,
                                 DppControl &control) {
  int lanes = chip.isGfx9() ? 64 : 32;
  uint32_t rowMask = 0xf, bankMask = 0xf;
  bool known = false;
  for (auto [name, value] : text.modifiers) {
    auto number = static_cast<uint32_t>(parseInteger(value).value_or(0));
    if (name == "row_mask")
      rowMask = number;
    else if (name == "bank_mask")
      bankMask = number;
    else if (name == "bound_ctrl")
      control.boundControl = true;
    else if (name == "fi")
      control.fetchInactive = number != 0;
    else if (isDppModifier(name)) {
      size_t listed = name == "quad_perm" ? 4 : name == "dpp8" ? 8 : 0;
      if (listed && parseIntegerList(value).size() != listed)
        return false;
      known = true;
      // DPP8 has no write masks: a missing source reads 0.
      control.boundControl |= name == "dpp8";
      for (int lane = 0; lane < 64; ++lane) {
        int source = permute(name, value, lane, lanes);
        if (source == -2)
          return false;
        control.source[static_cast<size_t>(lane)] =
            source < 0 ? DppControl::kNoLane : static_cast<uint8_t>(source);
      }
    }
  }
  for (unsigned lane = 0; lane < 64; ++lane)
    if (rowMask >> (lane / kRow) & 1 && bankMask >> (lane % kRow / 4) & 1)
      control.writeMask |= uint64_t(1) << lane;
  return known;
}
