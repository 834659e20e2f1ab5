//===- RuntimeCompiler.h - Somebody else's compiler ------------*- C++ -*-===//
//
// Compiles HIP C++ while the program runs, by what the machine has: hiprtc,
// NVRTC, or a clang in PATH. For judges and yardsticks (the device reference),
// which must not come out of our own compiler. Nothing is linked: a machine
// without any of them only lacks this.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_GPU_RUNTIMECOMPILER_H
#define TESSERA_RUNTIME_GPU_RUNTIMECOMPILER_H

#include "runtime/Gpu/GpuApi.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// A compiler that was found. Immutable; compile() may be called from several
/// threads.
class RuntimeCompiler {
public:
  virtual ~RuntimeCompiler() = default;

  /// What Module::load() takes. Takes a second or so. `architecture` is as
  /// GpuApi::getArchitecture() gives it; `options` are those that all compilers
  /// share ("-DNAME"). InvalidArgument with the compiler's log if the source is
  /// not accepted.
  ///
  /// Sources should include nothing: which headers there are differs. Clang and
  /// hiprtc have the builtins of clang, and NVRTC defines __CUDACC_RTC__.
  virtual ErrorOr<std::vector<char>>
  compile(const std::string &source, const std::string &architecture,
          const std::vector<std::string> &options = {}) const = 0;

  /// For messages: the library or the program.
  const std::string &getName() const { return name; }

protected:
  explicit RuntimeCompiler(std::string name) : name(std::move(name)) {}

private:
  std::string name;
};

using RuntimeCompilerPtr = std::unique_ptr<RuntimeCompiler>;

/// hiprtc of HIP 5, 6 or 7, the newest.
ErrorOr<RuntimeCompilerPtr> openHipRtc();
/// NVRTC of CUDA 12 or 13, the newest.
ErrorOr<RuntimeCompilerPtr> openNvRtc();
/// A clang in PATH, which must have been built for AMD's chips.
ErrorOr<RuntimeCompilerPtr> findClang();

/// The best one for devices of `kind`. For an emulated one that is clang alone:
/// its chip may be newer than a hiprtc, and that of HIP 5.2 aborts the process
/// when it meets one that it does not know.
ErrorOr<RuntimeCompilerPtr> findRuntimeCompiler(DeviceKind kind);

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_RUNTIMECOMPILER_H
