//===- RuntimeCompiler.h - Somebody else's compiler ------------*- C++ -*--===//
//
// Compiles HIP C++ at run time with what the machine has: hiprtc, NVRTC, or a
// clang in PATH. The device reference, which judges and measures our kernels,
// is compiled this way, because it must not come out of our own compiler.
// Nothing is linked: a machine with none of them lacks only this.
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

  /// Returns what Module::load() accepts. Takes about a second. `architecture`
  /// is a name from GpuApi::getArchitecture(); `options` are those that all
  /// compilers share ("-DNAME"). InvalidArgument with the compiler's log if the
  /// source is not accepted.
  ///
  /// Sources should include nothing: the compilers have different headers.
  /// Clang and hiprtc have the builtins of clang, and NVRTC defines
  /// __CUDACC_RTC__.
  virtual ErrorOr<std::vector<char>>
  compile(const std::string &source, const std::string &architecture,
          const std::vector<std::string> &options = {}) const = 0;

  /// The library or the program, for messages.
  const std::string &getName() const { return name; }

protected:
  explicit RuntimeCompiler(std::string name) : name(std::move(name)) {}

private:
  std::string name;
};

using RuntimeCompilerPtr = std::unique_ptr<RuntimeCompiler>;

/// Opens the newest hiprtc of HIP 5, 6 or 7.
ErrorOr<RuntimeCompilerPtr> openHipRtc();
/// Opens the newest NVRTC of CUDA 12 or 13.
ErrorOr<RuntimeCompilerPtr> openNvRtc();
/// Finds a clang in PATH, which must have been built for AMD's chips.
ErrorOr<RuntimeCompilerPtr> findClang();

/// The best compiler for devices of `kind`. For an emulated device that is
/// always clang: its chip may be newer than a hiprtc, and that of HIP 5.2
/// aborts the process when it meets a chip that it does not know.
ErrorOr<RuntimeCompilerPtr> findRuntimeCompiler(DeviceKind kind);

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_RUNTIMECOMPILER_H
