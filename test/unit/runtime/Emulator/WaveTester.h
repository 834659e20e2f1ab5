//===- WaveTester.h - Run instructions on one wave -------------*- C++ -*--===//
//
// Uses the real assembler, decoder and binder, so that a test covers what a
// compiled kernel needs: only the launch is left out.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_RUNTIME_EMULATOR_WAVETESTER_H
#define TESSERA_TEST_UNIT_RUNTIME_EMULATOR_WAVETESTER_H

#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Measure/Stats.h"
#include "runtime/Emulator/Wave.h"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tessera::emulator {

class WaveTester {
public:
  /// Makes a wave of the chip's size with all lanes active, 64 KiB of LDS, and
  /// registers filled with random bits (seeded with `seed`).
  explicit WaveTester(const std::string &chip, unsigned seed = 1);

  /// Runs instructions, one a line, until the last one or a fault.
  void run(const std::string &text);
  /// The same, but fails the test if there is a fault.
  void runWell(const std::string &text);

  Wave &operator*() { return *wave; }
  Wave *operator->() { return wave.get(); }
  uint32_t &v(unsigned reg, unsigned lane) { return wave->vector[reg][lane]; }
  uint32_t &a(unsigned reg, unsigned lane) {
    return wave->vector[kAccumulationRow + reg][lane];
  }
  float f(unsigned reg, unsigned lane) {
    return std::bit_cast<float>(v(reg, lane));
  }
  uint32_t &s(unsigned reg) { return wave->scalar[reg]; }
  void setPair(unsigned reg, uint64_t value) {
    wave->writeScalar64(reg, value);
  }
  uint64_t getPair(unsigned reg) { return wave->readScalar64(reg); }

  /// Fills a register with random bits and a special float value every few
  /// lanes.
  void fillSpecial(unsigned reg);
  /// Fills a register with random f16 pairs without NaN and infinity.
  void fillHalves(unsigned reg);

  FaultKind getFault() const { return fault->getKind(); }
  const std::string &getMessage() const { return fault->getMessage(); }

  MemoryMap memory;
  std::vector<uint8_t> lds;
  GroupContext context;
  std::mt19937 random;

private:
  const Chip &chip;
  std::unique_ptr<Wave> wave;
  std::unique_ptr<Fault> fault;
  std::vector<uint8_t> code;
  std::unique_ptr<Program> program;
};

} // namespace tessera::emulator

#endif // TESSERA_TEST_UNIT_RUNTIME_EMULATOR_WAVETESTER_H
