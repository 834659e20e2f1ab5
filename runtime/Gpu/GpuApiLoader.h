//===- GpuApiLoader.h - Choose a HIP runtime -------------------*- C++ -*--===//
//
// The rules behind GpuApi::get(), with the paths to search as data, so that
// tests can choose among runtimes of their own.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_GPU_GPUAPILOADER_H
#define TESSERA_RUNTIME_GPU_GPUAPILOADER_H

#include "runtime/Gpu/GpuApi.h"

#include <vector>

namespace tessera {

/// A shared object that may be a HIP runtime.
struct HipCandidate {
  DeviceKind kind;
  /// Name for dlopen(); with a slash it is a path.
  std::string file;
  /// Whether to look beside our own binary before the system's directories.
  bool isOurs = false;
};

/// Finds a HIP runtime that has a device. Immutable.
///
/// A runtime of ours tells its kind by exporting
///   extern "C" const char *tesseraDeviceKind(); // "nvidia" or "emulated"
/// because its file may be named libamdhip64.so.5. A runtime without the
/// function is AMD's.
class GpuApiLoader {
public:
  /// The candidates of a product build.
  GpuApiLoader();
  explicit GpuApiLoader(std::vector<HipCandidate> candidates)
      : candidates(std::move(candidates)) {}

  /// `setting` is the value of TESSERA_DEVICE; if it is empty, the loader
  /// chooses.
  ErrorOr<GpuApi> load(std::string_view setting) const;

  /// The table of a runtime that the process has loaded from this file,
  /// whether or not it has a device.
  static ErrorOr<GpuApi> useLoadedFile(const std::string &path);

private:
  ErrorOr<GpuApi> loadKind(DeviceKind kind) const;
  ErrorOr<GpuApi> loadAny() const;
  ErrorOr<GpuApi> useLoaded() const;
  static ErrorOr<GpuApi> loadCandidate(const HipCandidate &candidate);
  static ErrorOr<GpuApi> resolve(void *library, std::string path);

  std::vector<HipCandidate> candidates;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_GPUAPILOADER_H
