//===- OtherRuntime.cpp - Two HIP runtimes in one process -----------------===//

#include "runtime/Gpu/OtherRuntime.h"

#include "runtime/Base/Log.h"
#include "runtime/Gpu/GpuApiLoader.h"

#include <link.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

using namespace tessera;

static std::mutex triedMutex;
/// The list is never destroyed: the process may end while threads launch.
static std::vector<std::string> &getTried() {
  static auto &tried = *new std::vector<std::string>;
  return tried;
}

void tessera::addTriedRuntime(const std::string &path) {
  const std::lock_guard lock(triedMutex);
  getTried().push_back(path);
}

static bool isTried(const std::string &path) {
  const std::lock_guard lock(triedMutex);
  return std::ranges::count(getTried(), path) != 0;
}

/// Files of the HIP runtimes that the process has loaded, except that of `gpu`.
static std::vector<std::string> getOthers(const GpuApi &gpu) {
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *data) {
        const std::string_view path = object->dlpi_name;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        if (name.starts_with("libamdhip64"))
          static_cast<std::vector<std::string> *>(data)->emplace_back(path);
        return 0;
      },
      &files);
  std::erase(files, gpu.getPath());
  return files;
}

static std::atomic<bool> isTold{false};

static void warn(const GpuApi &gpu, const std::string &other,
                 const std::string &what) {
  if (isTold.exchange(true))
    return;
  const std::string &own = gpu.getPath();
  logMessage(LogLevel::Warning,
             what + " " + other + ", but kernels run on " + own +
                 "; start the program with LD_PRELOAD=" + own +
                 ", or with its folder at the front of LD_LIBRARY_PATH if it "
                 "goes by the other's name, so that it is the only one");
}

/// Warns with `what` about the first other runtime for which `isOwner` is true.
template <typename IsOwner>
static void warnOfOwner(const GpuApi &gpu, const std::string &what,
                        IsOwner isOwner) {
  if (isTold.load(std::memory_order_relaxed))
    return;
  for (const std::string &file : getOthers(gpu))
    if (const ErrorOr<GpuApi> other = GpuApiLoader::useLoadedFile(file);
        other && isOwner(*other))
      return warn(gpu, file, what);
}

void tessera::warnOfOtherRuntime(const GpuApi &gpu) {
  if (isTold.load(std::memory_order_relaxed))
    return;
  for (const std::string &file : getOthers(gpu))
    if (!isTried(file))
      return warn(gpu, file, "the process has loaded the HIP runtime");
}

void tessera::warnOfForeignStream(const GpuApi &gpu, hipStream_t stream) {
  // Every runtime has the null stream. Our runtime is not asked: a driver may
  // accept any pointer as a stream, and the other runtime has just claimed this
  // one.
  if (stream)
    warnOfOwner(gpu, "a handle's stream belongs to the HIP runtime",
                [&](const GpuApi &other) { return other.knowsStream(stream); });
}

void tessera::warnOfForeignMemory(const GpuApi &gpu,
                                  std::span<const void *const> pointers) {
  warnOfOwner(gpu, "memory of a call belongs to the HIP runtime",
              [&](const GpuApi &other) {
                return std::ranges::any_of(pointers, [&](const void *pointer) {
                  return pointer && !gpu.knowsMemory(pointer) &&
                         other.knowsMemory(pointer);
                });
              });
}
