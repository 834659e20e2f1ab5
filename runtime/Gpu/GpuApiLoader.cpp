//===- GpuApiLoader.cpp - Choose a HIP runtime ----------------------------===//

#include "runtime/Gpu/GpuApiLoader.h"

#include "runtime/Base/Log.h"
#include "runtime/Base/OwnFiles.h"
#include "runtime/Base/UnknownTarget.h"
#include "runtime/Gpu/OtherRuntime.h"

#include <dlfcn.h>

#include <algorithm>
#include <optional>

using namespace tessera;

/// The candidates are ordered from the newest: an application built for an
/// older runtime has loaded it already, and then that one is used.
GpuApiLoader::GpuApiLoader()
    : candidates({{DeviceKind::Amd, "libamdhip64.so.7"},
                  {DeviceKind::Amd, "libamdhip64.so.6"},
                  {DeviceKind::Amd, "libamdhip64.so.5"},
                  {DeviceKind::Amd, "libamdhip64.so"},
                  {DeviceKind::Nvidia, "libtessera-hip-on-cuda.so", true},
                  {DeviceKind::Emulated, "libtessera-emulator.so", true}}) {}

std::string_view tessera::getName(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Amd:
    return "amd";
  case DeviceKind::Nvidia:
    return "nvidia";
  case DeviceKind::Emulated:
    return "emulated";
  }
  __builtin_unreachable();
}

static std::optional<DeviceKind> findKind(std::string_view name) {
  for (DeviceKind kind :
       {DeviceKind::Amd, DeviceKind::Nvidia, DeviceKind::Emulated})
    if (getName(kind) == name)
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// One library
//===----------------------------------------------------------------------===//

/// Offset of gcnArchName in the struct of hipGetDevicePropertiesR0600 (HIP 6
/// and 7). The headers that we build with lack it; LLVM's offload profiling
/// runtime reads it there too.
static constexpr size_t kArchitectureOffsetR0600 = 1160;

/// A symbol of every HIP runtime, by which its file is found.
static constexpr const char *kAnySymbol = "hipModuleLoadData";

static DeviceKind getKindOf(void *library) {
  using GetKind = const char *();
  auto *getKind =
      reinterpret_cast<GetKind *>(dlsym(library, "tesseraDeviceKind"));
  if (!getKind)
    return DeviceKind::Amd;
  return findKind(getKind()).value_or(DeviceKind::Amd);
}

ErrorOr<GpuApi> GpuApiLoader::resolve(void *library, std::string path) {
  GpuApi api;
  std::string missing;
  auto getSymbol = [&](const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol && missing.empty())
      missing = name;
    return symbol;
  };
#define HIP_SYMBOL(name)                                                       \
  api.name = reinterpret_cast<decltype(api.name)>(getSymbol(#name));
#include "runtime/Gpu/HipSymbols.def"
  api.encodeTensorMap = reinterpret_cast<decltype(api.encodeTensorMap)>(
      dlsym(library, "tesseraEncodeTensorMap"));
  api.launchDependent = reinterpret_cast<decltype(api.launchDependent)>(
      dlsym(library, "tesseraLaunchDependent"));
  api.hipPointerGetAttributes =
      reinterpret_cast<decltype(api.hipPointerGetAttributes)>(
          dlsym(library, "hipPointerGetAttributes"));
  api.hipStreamGetFlags = reinterpret_cast<decltype(api.hipStreamGetFlags)>(
      dlsym(library, "hipStreamGetFlags"));
  api.hipStreamIsCapturing =
      reinterpret_cast<decltype(api.hipStreamIsCapturing)>(
          dlsym(library, "hipStreamIsCapturing"));
  api.hipThreadExchangeStreamCaptureMode =
      reinterpret_cast<decltype(api.hipThreadExchangeStreamCaptureMode)>(
          dlsym(library, "hipThreadExchangeStreamCaptureMode"));
  // HIP 6 keeps the old name, with the old struct, for programs of HIP 5.
  void *properties = dlsym(library, "hipGetDevicePropertiesR0600");
  api.architectureOffset = kArchitectureOffsetR0600;
  if (!properties) {
    properties = getSymbol("hipGetDeviceProperties");
    api.architectureOffset = offsetof(hipDeviceProp_t, gcnArchName);
  }
  api.getProperties = reinterpret_cast<decltype(api.getProperties)>(properties);
  if (!missing.empty())
    return unavailable(path + " has no function " + missing);
  api.kind = getKindOf(library);
  if (api.kind == DeviceKind::Emulated)
    api.takeIssueCycles = reinterpret_cast<decltype(api.takeIssueCycles)>(
        dlsym(library, "tesseraTakeIssueCycles"));
  api.path = std::move(path);
  return api;
}

/// The text of the last failure, which runtimes of ours have; AMD's has none.
static std::string getLastText(void *library) {
  using GetLastError = size_t(char *text, size_t size);
  auto *get = reinterpret_cast<GetLastError *>(
      dlsym(library, "tesseraDeviceGetLastError"));
  char text[512] = "";
  if (get)
    (void)get(text, sizeof text);
  return text;
}

/// Ok if the runtime counts at least one device.
static Status requireDevice(const GpuApi &api, void *library) {
  int count = 0;
  Status status = api.check(api.hipGetDeviceCount(&count), "hipGetDeviceCount");
  if (!status.isOk()) {
    std::string text = getLastText(library);
    return text.empty() ? status.withContext(api.getPath())
                        : unavailable(api.getPath() + ": " + text);
  }
  if (count < 1)
    return unavailable(api.getPath() + " has no device");
  return Status::ok();
}

/// The paths at which to look for `candidate`, in order.
static std::vector<std::string> getPaths(const HipCandidate &candidate) {
  std::vector<std::string> paths;
  if (candidate.isOurs)
    for (const std::string &folder : getOwnLibraryFolders())
      paths.push_back(folder + "/" + candidate.file);
  paths.push_back(candidate.file);
  return paths;
}

/// Opens `candidate` at the first path that has it; else returns the failure of
/// the last path.
static ErrorOr<void *> openLibrary(const HipCandidate &candidate) {
  std::string reason;
  for (const std::string &path : getPaths(candidate)) {
    const bool isNew = !dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      if (isNew)
        addTriedRuntime(getFileOf(dlsym(library, kAnySymbol)));
      return library;
    }
    reason = dlerror();
  }
  return unavailable(reason);
}

ErrorOr<GpuApi> GpuApiLoader::useLoadedFile(const std::string &path) {
  if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD))
    return resolve(library, path);
  return notFound(path + " is not loaded");
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The runtime that the application uses already. The caller's memory and
/// streams belong to it, so another runtime would be of no use.
ErrorOr<GpuApi> GpuApiLoader::useLoaded() const {
  if (void *symbol = dlsym(RTLD_DEFAULT, kAnySymbol)) {
    std::string path = getFileOf(symbol);
    // dlopen() cannot open an executable. If the symbol is in one, every symbol
    // is in the default scope.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    return resolve(library ? library : RTLD_DEFAULT, std::move(path));
  }
  // Python loads libraries into local scopes, which dlsym() does not search;
  // dlopen() still finds them by name.
  for (const HipCandidate &candidate : candidates)
    for (const std::string &path : getPaths(candidate))
      if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD))
        return resolve(library, getFileOf(dlsym(library, kAnySymbol)));
  return notFound("no HIP runtime is loaded");
}

ErrorOr<GpuApi> GpuApiLoader::loadCandidate(const HipCandidate &candidate) {
  ErrorOr<void *> library = openLibrary(candidate);
  if (!library)
    return library.getStatus();
  std::string path = getFileOf(dlsym(*library, kAnySymbol));
  ErrorOr<GpuApi> api =
      resolve(*library, path.empty() ? candidate.file : std::move(path));
  if (!api)
    return api;
  // One of our libraries may have AMD's file name.
  if (api->kind != candidate.kind)
    return unavailable(api->path + " is the runtime of '" +
                       std::string(getName(api->kind)) + "'");
  if (Status status = requireDevice(*api, *library); !status.isOk())
    return status;
  return api;
}

ErrorOr<GpuApi> GpuApiLoader::loadKind(DeviceKind kind) const {
  if (ErrorOr<GpuApi> loaded = useLoaded();
      loaded && loaded->kind == kind &&
      requireDevice(*loaded, RTLD_DEFAULT).isOk())
    return loaded;
  std::string reasons;
  for (const HipCandidate &candidate : candidates) {
    if (candidate.kind != kind)
      continue;
    ErrorOr<GpuApi> api = loadCandidate(candidate);
    if (api)
      return api;
    reasons += (reasons.empty() ? "" : "; ") + api.getStatus().getMessage();
  }
  return unavailable("no HIP runtime of kind '" + std::string(getName(kind)) +
                     "' has a device (" + reasons + ")");
}

ErrorOr<GpuApi> GpuApiLoader::loadAny() const {
  if (ErrorOr<GpuApi> loaded = useLoaded();
      loaded && requireDevice(*loaded, RTLD_DEFAULT).isOk())
    return loaded;
  std::string reasons;
  for (DeviceKind kind :
       {DeviceKind::Amd, DeviceKind::Nvidia, DeviceKind::Emulated}) {
    ErrorOr<GpuApi> api = loadKind(kind);
    if (!api) {
      reasons += (reasons.empty() ? "" : "; ") + api.getStatus().getMessage();
      continue;
    }
    if (kind == DeviceKind::Emulated)
      logMessage(LogLevel::Warning,
                 "no GPU was found; kernels run on the emulated device");
    return api;
  }
  return unavailable(reasons);
}

/// Whether the emulator has the chip: it has those of AMD that kernels are
/// tuned for.
static bool isEmulated(std::string_view chip) {
  chip = chip.substr(0, chip.find(':'));
  return std::ranges::count(getAllTargets(), chip, &GpuTarget::name) > 0;
}

ErrorOr<GpuApi> GpuApiLoader::load(std::string_view setting) const {
  if (setting.empty())
    return loadAny();
  // The text after the colon is for the emulator, which reads the variable too.
  size_t colon = setting.find(':');
  std::optional<DeviceKind> kind = findKind(setting.substr(0, colon));
  if (!kind || (colon != setting.npos && kind != DeviceKind::Emulated))
    return invalidArgument("TESSERA_DEVICE is '" + std::string(setting) +
                           "', but must be amd, nvidia, emulated or "
                           "emulated:<chip>");
  // This check comes before the device, which would report the name once more.
  if (colon != setting.npos && !isEmulated(setting.substr(colon + 1)))
    return refuseTarget(setting.substr(colon + 1), getAllTargets())
        .withContext("TESSERA_DEVICE is '" + std::string(setting) + "'");
  ErrorOr<GpuApi> api = loadKind(*kind);
  if (!api)
    return api.getStatus().withContext("TESSERA_DEVICE is '" +
                                       std::string(setting) + "'");
  return api;
}
