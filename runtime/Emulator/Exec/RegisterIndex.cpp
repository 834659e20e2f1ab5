//===- RegisterIndex.cpp - Register numbers relative to M0 on gfx9 --------===//
//
// Between s_set_gpr_idx_on and s_set_gpr_idx_off, M0[7:0] is added to the
// register numbers of those vector operands that M0[15:12] selects (AMD's Vega
// ISA guide, VGPR indexing). LLVM uses this to index arrays in registers, and
// it always emits the region as straight-line code, so the instructions in it
// are known when they are decoded and all others pay nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/RegisterIndex.h"

#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

using namespace tessera::emulator;

static void setLow(Wave &wave, uint32_t mask, uint32_t value) {
  uint32_t m0 = wave.readScalar(kM0);
  wave.writeScalar(kM0, (m0 & ~mask) | (value & mask));
}

/// Reads the first source of a scalar instruction from its encoding, because
/// the other operand is printed as words.
static uint32_t readEncodedSource(const Wave &wave, const Instruction &in) {
  uint32_t code = in.raw[0] & 0xff;
  return code < kScalarSlots ? wave.readScalar(code) : code - 128;
}

static void turnOn(Wave &wave, const Instruction &in) {
  uint32_t mode = in.raw[0] >> 8 & 15;
  setLow(wave, 0xf0ff, (readEncodedSource(wave, in) & 0xff) | mode << 12);
}
static void setMode(Wave &wave, const Instruction &in) {
  setLow(wave, 0xf000, in.raw[0] << 12);
}
static void setIndex(Wave &wave, const Instruction &in) {
  setLow(wave, 0xff, readEncodedSource(wave, in));
}

void tessera::emulator::executeIndexed(Wave &wave, const Instruction &in) {
  uint32_t m0 = wave.readScalar(kM0), index = m0 & 0xff;
  Instruction moved = in;
  // M0[12], [13] and [14] select the sources, [15] the destination.
  for (unsigned bit = 0; bit < 4; ++bit) {
    unsigned number = bit == 3 ? 0 : bit + 1;
    Operand &operand = moved.op[number];
    if (!(m0 >> (12 + bit) & 1) || number >= in.operandCount ||
        operand.kind != OperandKind::Vector)
      continue;
    if (operand.reg + index + operand.dwords > kAccumulationRow) {
      wave.fail(FaultKind::IllegalState, in, -1, 0,
                "a register number relative to M0 is out of range");
      return;
    }
    operand.reg = static_cast<uint16_t>(operand.reg + index);
  }
  in.unindexed(wave, moved);
}

void tessera::emulator::addRegisterIndex(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler) {
    table.add(name, {handler, InstructionClass::Salu, 0, {}});
  };
  add(kBeginIndexing, turnOn);
  add(kEndIndexing, [](Wave &, const Instruction &) {});
  add("s_set_gpr_idx_mode", setMode);
  add("s_set_gpr_idx_idx", setIndex);
}
