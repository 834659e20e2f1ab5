//===- GpuResource.h - Own one handle of HIP -------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_GPU_GPURESOURCE_H
#define TESSERA_RUNTIME_GPU_GPURESOURCE_H

#include "runtime/Gpu/GpuApi.h"

#include <utility>

namespace tessera {

/// Owns a handle and destroys it through `destroy`, an entry of the table.
/// Movable; not for several threads at once. Borrows the table.
template <typename Handle, auto destroy>
class GpuResource {
public:
  GpuResource(const GpuApi &gpu, Handle handle) : gpu(&gpu), handle(handle) {}
  GpuResource(GpuResource &&other) noexcept
      : gpu(other.gpu), handle(std::exchange(other.handle, Handle())) {}
  GpuResource &operator=(GpuResource &&other) noexcept {
    std::swap(gpu, other.gpu);
    std::swap(handle, other.handle);
    return *this;
  }
  ~GpuResource() {
    // A destructor could do nothing about a failure.
    if (handle)
      (void)(gpu->*destroy)(handle);
  }

  Handle get() const { return handle; }
  const GpuApi &getGpu() const { return *gpu; }

private:
  const GpuApi *gpu;
  Handle handle;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_GPURESOURCE_H
