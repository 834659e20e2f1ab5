//===- KernelTester.h - Launch a kernel made of text -----------*- C++ -*--===//
//
// Assembles a complete kernel, loads it and launches it, for tests of launches
// rather than of single instructions.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_RUNTIME_EMULATOR_KERNELTESTER_H
#define TESSERA_TEST_UNIT_RUNTIME_EMULATOR_KERNELTESTER_H

#include "runtime/Emulator/Launch.h"
#include "test/unit/runtime/Emulator/Assembler.h"

#include <cstring>
#include <gtest/gtest.h>

namespace tessera::emulator {

/// Loads a kernel whose first argument is a buffer of `kBytes` of zeros.
class KernelTester {
public:
  static constexpr size_t kBytes = 4096;

  explicit KernelTester(const KernelSource &source)
      : KernelTester(source.chip, assembleKernel(source)) {}
  KernelTester(const std::string &chipName, std::vector<uint8_t> image)
      : chip(*findChip(chipName)), bytes(std::move(image)) {
    auto loaded = CodeObject::load(bytes.data(), bytes.size(), chip, memory);
    EXPECT_TRUE(loaded) << loaded.getStatus().getMessage();
    object = *loaded;
    Decoder decoder(chip, chip.isGfx9() ? 64 : 32);
    program = std::make_unique<Program>(decoder, object->getText(),
                                        object->getLoadAddress());
    program->setSourceLines(object->getSourceLines());
    output =
        static_cast<uint32_t *>(memory.allocate(kBytes, MemoryKind::Device));
    std::memset(output, 0, kBytes);
    settings.threads = 2;
  }
  Launch makeLaunch(std::array<uint32_t, 3> items,
                    std::array<uint32_t, 3> group) const {
    Launch request{object->getKernels()[0], *program, chip, items, group, 0,
                   std::vector<uint8_t>(8)};
    std::memcpy(request.arguments.data(), &output, 8);
    return request;
  }
  LaunchOutcome launch(std::array<uint32_t, 3> items,
                       std::array<uint32_t, 3> group,
                       const LaunchWatch &watch = {}) {
    return run(makeLaunch(items, group), memory, settings, watch);
  }
  void launchWell(std::array<uint32_t, 3> items, std::array<uint32_t, 3> group,
                  const LaunchWatch &watch = {}) {
    LaunchOutcome outcome = launch(items, group, watch);
    EXPECT_EQ(outcome.fault, FaultKind::None) << outcome.message;
  }

  const Chip &chip;
  MemoryMap memory;
  std::vector<uint8_t> bytes;
  std::shared_ptr<const CodeObject> object;
  std::unique_ptr<Program> program;
  uint32_t *output;
  Settings settings;
};

} // namespace tessera::emulator

#endif // TESSERA_TEST_UNIT_RUNTIME_EMULATOR_KERNELTESTER_H
