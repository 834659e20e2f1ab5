//===- Assemble.cpp - Machine code of PTX ---------------------------------===//
//
// Not HIP: the engine finds it by its name. The driver's compiler needs 60 to
// 330 ms for one of our kernels, so a kernel that is kept is kept as machine
// code of the chip it was first loaded on.
//
//===----------------------------------------------------------------------===//

#include "runtime/HipOnCuda/Driver.h"

#include <cstring>

using namespace tessera::cuda;

namespace {
/// A link that is under way.
class Link {
public:
  explicit Link(const Driver &driver) : driver(driver) {}
  ~Link() {
    if (state)
      (void)driver.cuLinkDestroy(state);
  }
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  CudaError create() { return driver.cuLinkCreate(2, options, values, &state); }
  CudaError add(const char *text, size_t bytes) {
    return driver.cuLinkAddData(state, kJitInputPtx, const_cast<char *>(text),
                                bytes, "kernel", 0, nullptr, nullptr);
  }
  /// The code is the link's.
  CudaError complete(void **code, size_t *bytes) {
    return driver.cuLinkComplete(state, code, bytes);
  }
  const char *getLog() const { return log; }

private:
  const Driver &driver;
  CudaLink *state = nullptr;
  char log[4096] = "";
  int options[2] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[2] = {log, reinterpret_cast<void *>(sizeof log - 1)};
};
} // namespace

/// Machine code, or a container of it, is what a driver loads as it is.
static bool isText(const char *image) {
  constexpr unsigned kFatBinary = 0xba55ed50;
  unsigned first;
  std::memcpy(&first, image, sizeof first);
  return std::strncmp(image, "\177ELF", 4) != 0 && first != kFatBinary;
}

/// Assembles PTX, `image` of `bytes` with the zero that ends it, for the
/// current device and gives `take` the machine code; what is no PTX is left
/// alone: then `take` is not called.
TESSERA_HIP hipError_t tesseraAssemble(
    const char *image, size_t bytes,
    void (*take)(void *user, const char *code, size_t codeBytes), void *user) {
  if (!image || !take || bytes < sizeof(unsigned))
    return setError(hipErrorInvalidValue);
  if (!isText(image))
    return hipSuccess;
  const Driver *driver;
  if (hipError_t error = enter(driver))
    return error;
  Link link(*driver);
  void *code = nullptr;
  size_t codeBytes = 0;
  CudaError error = link.create();
  if (error == CudaError::Success)
    error = link.add(image, bytes);
  if (error == CudaError::Success)
    error = link.complete(&code, &codeBytes);
  if (error != CudaError::Success) {
    std::string what = "assembling PTX";
    if (link.getLog()[0])
      what += std::string(": ") + link.getLog();
    return report(*driver, error, what.c_str());
  }
  take(user, static_cast<const char *>(code), codeBytes);
  return hipSuccess;
}
