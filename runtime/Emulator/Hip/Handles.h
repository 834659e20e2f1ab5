//===- Handles.h - Handles that the application holds ----------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_HANDLES_H
#define TESSERA_RUNTIME_EMULATOR_HIP_HANDLES_H

#include "runtime/Emulator/Hip/Device.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace tessera::emulator {

/// Owns the objects behind handles, so that a stale or made-up handle gives an
/// error code and not a crash. Thread-safe.
template <typename T>
class HandleSet {
public:
  T *add(T *object) {
    std::lock_guard lock(mutex);
    objects.emplace(object, std::unique_ptr<T>(object));
    return object;
  }
  bool has(const T *object) const {
    std::lock_guard lock(mutex);
    return objects.contains(const_cast<T *>(object));
  }
  bool remove(T *object) {
    std::lock_guard lock(mutex);
    return objects.erase(object) != 0;
  }

private:
  mutable std::mutex mutex;
  std::unordered_map<T *, std::unique_ptr<T>> objects;
};

hipError_t checkStream(hipStream_t stream);
bool isEvent(hipEvent_t event);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_HANDLES_H
