//===- Trace.h - Every instruction, what it changed and touched -*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_EMU_TRACE_H
#define TESSERA_TOOLS_DNN_EMU_TRACE_H

#include "runtime/Emulator/Wave.h"

#include <cstdio>
#include <memory>
#include <optional>

namespace tessera::emu {

struct TraceOptions {
  std::FILE *file = stdout;         ///< Not owned.
  /// The workgroups of the launch, by which they are numbered.
  std::array<uint32_t, 3> groups{};
  /// Workgroup and wave; if empty, all of them.
  std::optional<std::array<uint32_t, 2>> wave;
  uint64_t limit = 10000;
};

/// Copies the registers before an instruction and prints those that differ
/// after it. Only for a launch on one host thread.
class Trace : public emulator::Observer {
public:
  explicit Trace(const TraceOptions &options);
  ~Trace() override;
  void beforeInstruction(emulator::Wave &wave,
                         const emulator::Instruction &instruction) override;
  void onAccesses(emulator::Wave &wave,
                  const emulator::Instruction &instruction,
                  std::span<const emulator::MemoryAccess> accesses) override;
  void afterInstruction(emulator::Wave &wave,
                        const emulator::Instruction &instruction) override;

private:
  struct Registers;
  bool isWanted(const emulator::Wave &wave) const;
  void printVectors(const emulator::Wave &wave);
  void printScalars(const emulator::Wave &wave);

  TraceOptions options;
  uint64_t printed = 0;
  std::unique_ptr<Registers> before;
};

} // namespace tessera::emu

#endif // TESSERA_TOOLS_DNN_EMU_TRACE_H
