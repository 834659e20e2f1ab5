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
    addVectorInteger(built);
    addVectorCarry(built);
    addVectorFloat(built);
    addVectorHalf(built);
    addVectorDouble(built);
    addConversions(built);
    addFloat8Conversions(built);
    addCompares(built);
    addPacked(built);
    addDots(built);
    addLaneMoves(built);
    addMatrix(built);
    addWmma(built);
    addGlobal(built);
    addGlobalAtomics(built);
    addBuffer(built);
    addBufferAtomics(built);
    addLds(built);
    addLdsAtomics(built);
    return built;
  }();
  return table;
}
