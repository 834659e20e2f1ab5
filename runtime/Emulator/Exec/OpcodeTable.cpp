//===- OpcodeTable.cpp - From mnemonic to handler -------------------------===//

#include "runtime/Emulator/Exec/OpcodeTable.h"

using namespace tessera::emulator;

const OpcodeTable &OpcodeTable::get() {
  static const OpcodeTable table = [] {
    OpcodeTable built;
    addScalarAlu(built);
    addScalarFloat(built);
    addScalarCompare(built);
    addControl(built);
    addBarriers(built);
    addHardwareState(built);
    addScalarMemory(built);
    addRegisterIndex(built);
    addVectorInteger(built);
    addVectorCarry(built);
    addVectorFloat(built);
    addVectorHalf(built);
    addVectorDouble(built);
    addVectorGfx950(built);
    addConversions(built);
    addFloat8Conversions(built);
    addCompares(built);
    addPacked(built);
    addDots(built);
    addLaneMoves(built);
    addMatrix(built);
    addMatrixDouble(built);
    addMatrixScaled(built);
    addMatrixSparse(built);
    addWmma(built);
    addGlobal(built);
    addGlobalAtomics(built);
    addBuffer(built);
    addBufferAtomics(built);
    addLds(built);
    addLdsTransposes(built);
    addLdsAtomics(built);
    return built;
  }();
  return table;
}
