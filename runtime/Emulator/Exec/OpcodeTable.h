//===- OpcodeTable.h - From mnemonic to handler ----------------*- C++ -*--===//
//
// Each file of this directory adds the instructions of its class. An
// instruction whose mnemonic is not in the table stops the kernel with an error
// when it is executed.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_OPCODETABLE_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_OPCODETABLE_H

#include "runtime/Emulator/Instruction.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::emulator {

/// What an opcode accepts and does besides running its handler.
enum OpcodeFlag : uint16_t {
  kReadsDst = 1,        ///< The destination is also the last source (fmac).
  kClampOk = 2,         ///< "clamp" has a meaning.
  kVop3p = 4,           ///< op_sel and its kin are per packed half.
  kPicksHalf = 8,       ///< op_sel selects the half of 16-bit operands.
  kRawModifiers = 16,   ///< The handler reads op_sel itself.
  kMixSources = 32,     ///< v_fma_mix: neg_hi means abs.
  kComparesToExec = 64, ///< v_cmpx: RDNA prints no destination.
};

struct Opcode {
  Handler handler = nullptr;
  InstructionClass kind = InstructionClass::Other;
  uint16_t flags = 0;
  /// Types in the order of the printed operands; U32 beyond the end.
  std::vector<ValueType> types;
  /// For integers: replaces `handler` when "clamp" asks for saturation.
  Handler saturating = nullptr;
  ValueType typeOf(unsigned operand) const {
    return operand < types.size() ? types[operand] : ValueType::U32;
  }
};

class OpcodeTable {
public:
  /// The table of all instructions. Immutable, shared by all threads.
  static const OpcodeTable &get();

  const Opcode *find(std::string_view mnemonic) const {
    auto it = opcodes.find(mnemonic);
    return it == opcodes.end() ? nullptr : &it->second;
  }
  void add(std::string mnemonic, Opcode opcode) {
    opcodes.insert_or_assign(std::move(mnemonic), std::move(opcode));
  }
  size_t size() const { return opcodes.size(); }

private:
  std::map<std::string, Opcode, std::less<>> opcodes;
};

// There is one function for each file of instructions. Each is called once.
void addScalarAlu(OpcodeTable &table);
void addScalarFloat(OpcodeTable &table);
void addScalarCompare(OpcodeTable &table);
void addControl(OpcodeTable &table);
void addBarriers(OpcodeTable &table);
void addHardwareState(OpcodeTable &table);
void addScalarMemory(OpcodeTable &table);
void addRegisterIndex(OpcodeTable &table);
void addVectorInteger(OpcodeTable &table);
void addVectorCarry(OpcodeTable &table);
void addVectorFloat(OpcodeTable &table);
void addVectorHalf(OpcodeTable &table);
void addVectorDouble(OpcodeTable &table);
void addVectorGfx950(OpcodeTable &table);
void addConversions(OpcodeTable &table);
void addFloat8Conversions(OpcodeTable &table);
void addCompares(OpcodeTable &table);
void addPacked(OpcodeTable &table);
void addDots(OpcodeTable &table);
void addLaneMoves(OpcodeTable &table);
void addMatrix(OpcodeTable &table);
void addMatrixDouble(OpcodeTable &table);
void addMatrixScaled(OpcodeTable &table);
void addMatrixSparse(OpcodeTable &table);
void addWmma(OpcodeTable &table);
void addGlobal(OpcodeTable &table);
void addGlobalAtomics(OpcodeTable &table);
void addBuffer(OpcodeTable &table);
void addBufferAtomics(OpcodeTable &table);
void addLds(OpcodeTable &table);
void addLdsTransposes(OpcodeTable &table);
void addLdsAtomics(OpcodeTable &table);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_OPCODETABLE_H
