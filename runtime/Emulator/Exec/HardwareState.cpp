//===- HardwareState.cpp - MODE, clocks and other state a wave can read ---===//
//
// s_getreg, s_setreg and their short forms, the clocks, and messages that have
// an answer. State of a real machine that has no counterpart here reads 0.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

#include <chrono>

using namespace tessera::emulator;

static uint64_t getNanoseconds() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
}
/// The clock of constant frequency, 100 MHz.
static uint64_t getRealTime() { return getNanoseconds() / 10; }

namespace {
/// Register numbers of s_getreg (LLVM: "hwreg" of the AMDGPU assembler).
enum HardwareId : unsigned {
  kMode = 1,
  kStatus = 2,
  kMemoryBases = 15,      ///< gfx9 and gfx10
  kShaderCycles = 29,     ///< gfx11: 20 bits; gfx12: the low word
  kShaderCyclesHigh = 30, ///< gfx12
};

/// A field of a register: simm16 = id[5:0] | offset << 6 | (size - 1) << 11.
struct HardwareField {
  unsigned id, offset;
  uint32_t mask; ///< As wide as the field, not shifted.
  explicit HardwareField(const Instruction &in)
      : id(in.raw[0] & 63), offset(in.raw[0] >> 6 & 31),
        mask(~0u >> (31 - (in.raw[0] >> 11 & 31))) {}
};
} // namespace

// SOP1 and SOPK have the scalar register in bits 22:16; the printed text has
// further words. gfx11 swapped the numbers of M0 and NULL (RDNA3 ISA guide,
// "Scalar operands").
static unsigned getEncodedRegister(const Wave &wave, const Instruction &in) {
  unsigned number = in.raw[0] >> 16 & 0x7f;
  if (wave.group->chip->generation < 11)
    return number;
  return number == 124   ? unsigned(kNull)
         : number == 125 ? unsigned(kM0)
                         : number;
}

static uint32_t readHardware(const Wave &wave, unsigned id) {
  bool isGfx12 = wave.group->chip->generation >= 12;
  switch (id) {
  case kMode:
    return wave.mode;
  case kStatus:
    return uint32_t(wave.scc) | uint32_t(wave.exec == 0) << 9 |
           uint32_t(wave.readMask(kVccLo) == 0) << 10;
  case kMemoryBases:
    return wave.group->chip->generation < 11
               ? (kPrivateAperture >> 16) | kSharedAperture
               : 0;
  case kShaderCycles:
    return static_cast<uint32_t>(getNanoseconds()) & (isGfx12 ? ~0u : 0xfffffu);
  case kShaderCyclesHigh:
    return isGfx12 ? static_cast<uint32_t>(getNanoseconds() >> 32) : 0;
  default:
    return 0;
  }
}

static void getHardwareRegister(Wave &wave, const Instruction &in) {
  HardwareField field(in);
  wave.writeScalar(getEncodedRegister(wave, in),
                   readHardware(wave, field.id) >> field.offset & field.mask);
}

static void setHardware(Wave &wave, const Instruction &in, uint32_t value) {
  HardwareField field(in);
  // Writes to registers that are not emulated are ignored. Kernels set
  // FLAT_SCRATCH on RDNA2, but only to what the wave already has.
  if (field.id != kMode)
    return;
  uint32_t mask = field.mask << field.offset;
  wave.setMode((wave.mode & ~mask) | (value << field.offset & mask));
}
static void setHardwareRegister(Wave &wave, const Instruction &in) {
  setHardware(wave, in, wave.readScalar(getEncodedRegister(wave, in)));
}
static void setHardwareConstant(Wave &wave, const Instruction &in) {
  setHardware(wave, in, in.raw[1]);
}
static void setDenormMode(Wave &wave, const Instruction &in) {
  wave.setMode((wave.mode & ~0xf0u) | (in.raw[0] & 0xf) << 4);
}
static void setRoundMode(Wave &wave, const Instruction &in) {
  wave.setMode((wave.mode & ~kRoundingModes) | (in.raw[0] & kRoundingModes));
}

static void readClock(Wave &wave, const Instruction &in) {
  wave.writeScalar64(in.op[0].reg, getRealTime());
}

/// s_sendmsg_rtn: the message is the number of the source. Doorbell, trap
/// handler and state save area have no counterpart here.
template <bool Is64>
static void sendMessage(Wave &wave, const Instruction &in) {
  constexpr unsigned kGetRealTime = 0x83;
  uint64_t answer = (in.raw[0] & 0xff) == kGetRealTime ? getRealTime() : 0;
  unsigned to = getEncodedRegister(wave, in);
  if (Is64)
    wave.writeScalar64(to, answer);
  else
    wave.writeScalar(to, static_cast<uint32_t>(answer));
}

void tessera::emulator::addHardwareState(OpcodeTable &table) {
  auto addRow = [&](const char *name, Handler handler,
                    std::vector<ValueType> types = {}) {
    table.add(name, {handler, InstructionClass::Salu, 0, std::move(types)});
  };
  addRow("s_getreg_b32", getHardwareRegister);
  addRow("s_setreg_b32", setHardwareRegister);
  addRow("s_setreg_imm32_b32", setHardwareConstant);
  addRow("s_denorm_mode", setDenormMode);
  addRow("s_round_mode", setRoundMode);
  addRow("s_memtime", readClock, {ValueType::U64});
  addRow("s_memrealtime", readClock, {ValueType::U64});
  addRow("s_sendmsg_rtn_b32", sendMessage<false>);
  addRow("s_sendmsg_rtn_b64", sendMessage<true>);
}
