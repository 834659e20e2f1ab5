//===- AddOpcodes.cpp - All handlers of one build -------------------------===//
//
// This defines the only symbol of the lane loops that other code refers to:
// TESSERA_ADD_OPCODES is its name, which differs between the builds for the two
// generations of hosts (TesseraLanes.cmake).
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/OpcodeTable.h"

using namespace tessera::emulator;

extern "C" void TESSERA_ADD_OPCODES(OpcodeTable &table) {
  addScalarAlu(table);
  addScalarFloat(table);
  addScalarCompare(table);
  addControl(table);
  addBarriers(table);
  addHardwareState(table);
  addScalarMemory(table);
  addRegisterIndex(table);
  addVectorInteger(table);
  addVectorCarry(table);
  addVectorFloat(table);
  addVectorHalf(table);
  addVectorDouble(table);
  addVectorGfx950(table);
  addConversions(table);
  addFloat8Conversions(table);
  addCompares(table);
  addPacked(table);
  addDots(table);
  addLaneMoves(table);
  addMatrix(table);
  addMatrixDouble(table);
  addMatrixScaled(table);
  addMatrixSparse(table);
  addWmma(table);
  addGlobal(table);
  addGlobalAtomics(table);
  addBuffer(table);
  addBufferAtomics(table);
  addLds(table);
  addLdsTransposes(table);
  addLdsAtomics(table);
}
