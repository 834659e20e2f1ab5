//===- WaveTester.cpp - Run instructions on one wave ----------------------===//

#include "test/unit/runtime/Emulator/WaveTester.h"

#include "test/unit/runtime/Emulator/Assembler.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

WaveTester::WaveTester(const std::string &chipName, unsigned seed)
    : lds(65536), random(seed), chip(*findChip(chipName)), wave(new Wave) {
  wave->lanes = chip.isGfx9() ? 64 : 32;
  wave->group = &context;
  wave->scc = false;
  wave->indexInGroup = 0;
  wave->dppWriteMask = ~uint64_t(0);
  wave->setMode(0xf0);
  for (LaneRow &row : wave->vector)
    for (uint32_t &word : row)
      word = static_cast<uint32_t>(random());
  for (uint32_t &word : wave->scalar)
    word = static_cast<uint32_t>(random());
  wave->scalar[kNull] = 0;
  wave->setExec(wave->getLaneMask());
}

void WaveTester::run(const std::string &text) {
  code = assemble(chip.name.data(), text);
  Decoder decoder(chip, wave->lanes);
  program = std::make_unique<Program>(decoder, code,
                                      reinterpret_cast<uint64_t>(code.data()));
  fault = std::make_unique<Fault>();
  context.chip = &chip;
  context.program = program.get();
  context.memory = &memory;
  context.kernelName = "test";
  context.lds = lds.data();
  context.ldsBytes = static_cast<uint32_t>(lds.size());
  context.fault = fault.get();
  context.lastAllocation = {};
  wave->stop = StopReason::None;
  wave->pc = program->getBegin();
  const Instruction *end = program->getBegin() + program->size() - 1;
  while (wave->pc != end && wave->stop != StopReason::Fault) {
    const Instruction &instruction = *wave->pc++;
    instruction.execute(*wave, instruction);
  }
}

void WaveTester::runWell(const std::string &text) {
  run(text);
  EXPECT_EQ(getFault(), FaultKind::None) << getMessage();
}

void WaveTester::fillSpecial(unsigned reg) {
  static constexpr uint32_t kSpecial[] = {
      0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
      0x7fc00000, 0x00000001, 0x807fffff, 0x7f7fffff, 0x4b000001, 0x3f000000,
      0x3fc00000, 0x477fe000, 0x477ff000, 0x33000000, 0x00800000, 0xffffffff};
  for (unsigned lane = 0; lane < kMaxLanes; ++lane)
    v(reg, lane) = lane % 3 == 0 ? kSpecial[random() % std::size(kSpecial)]
                                 : static_cast<uint32_t>(random());
}

void WaveTester::fillHalves(unsigned reg) {
  auto half = [&] { return (random() % 0x7800) | (random() % 2) << 15; };
  for (unsigned lane = 0; lane < kMaxLanes; ++lane)
    v(reg, lane) = static_cast<uint32_t>(half() | half() << 16);
}
