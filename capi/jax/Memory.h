//===- Memory.h - Device memory for the host's buffers ---------*- C++ -*--===//

#ifndef TESSERA_CAPI_JAX_MEMORY_H
#define TESSERA_CAPI_JAX_MEMORY_H

#include "capi/jax/Handler.h"

#include <utility>

namespace tessera::jax {

/// A buffer as a kernel sees it: itself, or a copy in device memory.
class Memory {
public:
  Memory(const Settings &settings, const xla::Buffer &buffer);
  Memory(Memory &&other)
      : settings(other.settings), buffer(other.buffer),
        address(std::exchange(other.address, nullptr)) {}
  ~Memory();

  /// Null if there is no memory.
  void *getAddress() const { return address; }

  /// Copies the buffer to the device. Returns whether that has worked, as do
  /// the others.
  bool bring() const;
  /// Waits, and copies the result back.
  bool fetch() const;

private:
  const Settings &settings;
  const xla::Buffer &buffer;
  void *address;
};

} // namespace tessera::jax

#endif // TESSERA_CAPI_JAX_MEMORY_H
