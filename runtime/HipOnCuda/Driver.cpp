//===- Driver.cpp - NVIDIA's driver, found at run time --------------------===//

#include "runtime/HipOnCuda/Driver.h"

#include <dlfcn.h>

#include <optional>

using namespace tessera::cuda;

/// CUDA 12.0 is the first version with everything in CudaSymbols.def.
static constexpr int kOldestDriver = 12000;

namespace tessera::cuda {
/// Fills a table, or explains why it cannot.
class DriverLoader {
public:
  const Driver *load() {
    if (!open() || !checkVersion() || !resolve() || !initialize())
      return nullptr;
    return &driver;
  }
  hipError_t getError() const { return error; }
  const std::string &getReason() const { return reason; }

private:
  bool fail(hipError_t code, std::string text) {
    error = code;
    reason = std::move(text);
    return false;
  }

  bool open() {
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    // The text of dlerror() begins with the file's name.
    return library || fail(hipErrorNoDevice,
                           std::string("no NVIDIA driver: ") + dlerror());
  }

  // The version is checked first, because an old driver lacks symbols that we
  // need.
  bool checkVersion() {
    auto *get = reinterpret_cast<decltype(driver.cuDriverGetVersion)>(
        dlsym(library, "cuDriverGetVersion"));
    if (!get || get(&driver.version) != CudaError::Success)
      return fail(hipErrorInsufficientDriver,
                  "libcuda.so.1 does not tell its version");
    if (driver.version >= kOldestDriver)
      return true;
    return fail(hipErrorInsufficientDriver,
                "the NVIDIA driver is too old: it is of CUDA " +
                    getText(driver.version) + ", and " +
                    getText(kOldestDriver) + " is needed");
  }
  static std::string getText(int version) {
    return std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10);
  }

  bool resolve() {
    std::string missing;
    auto find = [&](const char *name) {
      void *symbol = dlsym(library, name);
      if (!symbol && missing.empty())
        missing = name;
      return symbol;
    };
#define CUDA_SYMBOL(name, exported, parameters)                                \
  driver.name = reinterpret_cast<decltype(driver.name)>(find(#exported));
#include "runtime/HipOnCuda/CudaSymbols.def"
    return missing.empty() || fail(hipErrorInsufficientDriver,
                                   "libcuda.so.1 has no function " + missing);
  }

  bool initialize() {
    CudaError answer = driver.cuInit(0);
    if (answer == CudaError::Success)
      answer = driver.cuDeviceGetCount(&driver.deviceCount);
    if (answer != CudaError::Success)
      return fail(toHipError(answer),
                  std::string("the NVIDIA driver finds no GPU: ") +
                      getErrorText(answer));
    return driver.deviceCount > 0 ||
           fail(hipErrorNoDevice, "the NVIDIA driver finds no GPU");
  }
  const char *getErrorText(CudaError code) const {
    const char *text = nullptr;
    (void)driver.cuGetErrorString(code, &text);
    return text ? text : "an unknown error";
  }

  Driver driver;
  void *library = nullptr;
  hipError_t error = hipSuccess;
  std::string reason;
};
} // namespace tessera::cuda

const Driver *Driver::get() {
  // The loader is never destroyed: static destructors of the application may
  // still call.
  static auto *const loader = new DriverLoader;
  static const Driver *const driver = loader->load();
  if (!driver)
    (void)setError(loader->getError(), loader->getReason());
  return driver;
}

const char *tessera::hip::getDeviceKind() { return "nvidia"; }

// Errors are not printed, because the search for a device calls these functions
// too, and a machine without an NVIDIA GPU is no error.
bool tessera::hip::areErrorsPrinted() { return false; }
