//===- RegisterName.cpp - Registers in messages ---------------------------===//

#include "runtime/Emulator/Check/RegisterName.h"

#include "runtime/Emulator/Wave.h"

using namespace tessera::emulator;

std::string tessera::emulator::nameRegister(bool isScalar, unsigned number) {
  if (!isScalar)
    return number < kAccumulationRow
               ? "v" + std::to_string(number)
               : "a" + std::to_string(number - kAccumulationRow);
  switch (number) {
  case kVccLo:
    return "vcc_lo";
  case kVccHi:
    return "vcc_hi";
  case kExecLo:
    return "exec_lo";
  case kExecHi:
    return "exec_hi";
  case kM0:
    return "m0";
  case kScc:
    return "scc";
  default:
    break;
  }
  if (number >= kTtmp0 && number < kM0)
    return "ttmp" + std::to_string(number - kTtmp0);
  return "s" + std::to_string(number);
}
