//===- Fault.h - Why a kernel was stopped ----------------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_FAULT_H
#define TESSERA_RUNTIME_EMULATOR_FAULT_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace tessera::emulator {

/// By what the HIP error code will be.
enum class FaultKind : uint8_t {
  None,
  IllegalAddress, ///< Global, scratch or LDS access out of bounds.
  Misaligned,
  UnknownInstruction, ///< The emulator has no handler for it.
  IllegalState,       ///< What the hardware leaves undefined, or s_trap.
  Watchdog,           ///< Too many instructions: probably an endless loop.
};

/// The first fault of a launch. Threads race to set it; the winner's text is
/// kept and the others stop soon after, because they poll `isSet`.
class Fault {
public:
  bool isSet() const { return set.load(std::memory_order_relaxed); }
  /// True for the first caller only.
  bool record(FaultKind newKind, std::string newMessage) {
    std::lock_guard lock(mutex);
    if (set.load())
      return false;
    kind = newKind;
    message = std::move(newMessage);
    set.store(true);
    return true;
  }
  // To be read when no wave runs any more.
  FaultKind getKind() const { return kind; }
  const std::string &getMessage() const { return message; }

private:
  std::atomic<bool> set{false};
  std::mutex mutex;
  FaultKind kind = FaultKind::None;
  std::string message;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_FAULT_H
