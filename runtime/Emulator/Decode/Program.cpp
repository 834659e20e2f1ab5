//===- Program.cpp - The predecoded code of a code object -----------------===//

#include "runtime/Emulator/Decode/Program.h"

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Decode/Binder.h"
#include "runtime/Emulator/Exec/RegisterIndex.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace tessera::emulator;

Program::Program(Decoder &decoder, std::span<const uint8_t> code,
                 uint64_t loadAddress)
    : chip(decoder.getChip()), waveSize(decoder.getWaveSize()),
      codeBegin(reinterpret_cast<uint64_t>(code.data())),
      loadAddress(loadAddress), indexOfWord(code.size() / 4, kNone) {
  InstructionBinder binder(*this, decoder.getChip());
  instructions.reserve(code.size() / 4 + 1);
  std::string text;
  bool isIndexed = false;
  for (size_t offset = 0; offset + 4 <= code.size();) {
    Instruction instruction;
    std::memcpy(instruction.raw.data(), code.data() + offset,
                std::min<size_t>(8, code.size() - offset));
    instruction.index = static_cast<uint32_t>(instructions.size());
    unsigned size =
        decoder.decode(code.subspan(offset), codeBegin + offset, text);
    instruction.bytes = static_cast<uint8_t>(size ? size : 4);
    if (size)
      binder.bind(text, instruction);
    else
      InstructionBinder::bindUndecodable(instruction);
    isIndexed = text.starts_with(kBeginIndexing) ||
                (isIndexed && !text.starts_with(kEndIndexing));
    if (isIndexed && instruction.kind == InstructionClass::Valu)
      instruction.unindexed =
          std::exchange(instruction.execute, executeIndexed);
    indexOfWord[offset / 4] = instruction.index;
    offsets.push_back(static_cast<uint32_t>(offset));
    texts.push_back(size ? text : "(not an instruction)");
    instructions.push_back(instruction);
    offset += instruction.bytes;
  }
  // A wave that runs off the end executes one more instruction, which stops it.
  Instruction end;
  InstructionBinder::bindUndecodable(end);
  end.index = static_cast<uint32_t>(instructions.size());
  offsets.push_back(static_cast<uint32_t>(code.size()));
  texts.push_back("(end of the code)");
  instructions.push_back(end);
}

const Instruction *Program::find(uint64_t address) const {
  uint64_t offset = address - codeBegin;
  if (offset % 4 || offset / 4 >= indexOfWord.size() ||
      indexOfWord[offset / 4] == kNone)
    return nullptr;
  return &instructions[indexOfWord[offset / 4]];
}

const Effects &Program::getEffects(const Instruction &instruction) const {
  std::lock_guard lock(effects->mutex);
  if (!effects->decoder) {
    effects->decoder = std::make_unique<Decoder>(chip, waveSize);
    effects->ofInstruction.resize(instructions.size());
  }
  std::unique_ptr<Effects> &known = effects->ofInstruction[instruction.index];
  if (!known) {
    known = std::make_unique<Effects>();
    // The last instruction marks the end of the code and has no bytes.
    if (instruction.index + 1 < instructions.size())
      *known = effects->decoder->readEffects(
          {reinterpret_cast<const uint8_t *>(getAddress(instruction)),
           instruction.bytes});
  }
  return *known;
}

std::string Program::describe(const Instruction &instruction) const {
  char pc[32];
  std::snprintf(pc, sizeof pc, "pc 0x%llx",
                static_cast<unsigned long long>(getOffset(instruction)));
  return pc + (" (" + getText(instruction)) + ")";
}

const uint32_t *Program::getConstantRow(uint32_t value) {
  auto [it, isNew] = rowOfConstant.try_emplace(value, nullptr);
  if (isNew) {
    constantRows.emplace_back().fill(value);
    it->second = constantRows.back().data();
  }
  return it->second;
}

const DppControl *Program::keepDpp(const DppControl &control) {
  dppControls.push_back(control);
  return &dppControls.back();
}

const Instruction *
Program::keepHalves(const std::array<Instruction, 2> &halves) {
  dualHalves.push_back(halves);
  return dualHalves.back().data();
}
