//===- OpcodeTable.cpp - From mnemonic to handler -------------------------===//
//
// The handlers are compiled for two generations of hosts; this chooses one of
// the builds.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/OpcodeTable.h"

#include "runtime/Base/Env.h"

using namespace tessera::emulator;

extern "C" void tesseraAddOpcodesAvx2(OpcodeTable &table);
extern "C" void tesseraAddOpcodesAvx512(OpcodeTable &table);

/// Whether the host has what x86-64-v4 adds to v3.
static bool hostHasAvx512() {
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

const OpcodeTable &OpcodeTable::get() {
  // The table is never destroyed: a thread of the application, or the
  // background tuner, may still launch kernels while the process exits.
  static const OpcodeTable &table = *[] {
    auto *built = new OpcodeTable;
    bool isAllowed = tessera::getEnvBool("TESSERA_EMULATOR_AVX512",
                                         tessera::reportEnvOnStderr)
                         .value_or(true);
    if (isAllowed && hostHasAvx512())
      tesseraAddOpcodesAvx512(*built);
    else
      tesseraAddOpcodesAvx2(*built);
    return built;
  }();
  return table;
}
