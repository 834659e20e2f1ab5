//===- Effects.h - Registers that an instruction reads and writes -*- C++ -*-=//
//
// From LLVM's instruction descriptions, explicit and implicit operands alike,
// so that checks need no table of their own.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_EFFECTS_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_EFFECTS_H

#include <cstdint>
#include <vector>

namespace tessera::emulator {

struct RegisterUse {
  enum Part : uint8_t { Whole, Low, High };
  /// The first vector row (AGPR n is 256 + n) or the first scalar slot.
  uint16_t first = 0;
  uint8_t dwords = 1;
  bool isScalar = false;
  bool isWrite = false;
  /// For a single dword: true16 instructions name one half of a register.
  Part part = Whole;
};

/// What an instruction reads and writes. A tied operand, such as the addend of
/// v_fmac, is listed twice, as read and as written. Two things are missing:
/// MODE, and a destination that keeps some of its bits without LLVM saying so
/// (s_cmov, SDWA with UNUSED_PRESERVE). RDNA calls slot 102 s102.
using Effects = std::vector<RegisterUse>;

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_EFFECTS_H
