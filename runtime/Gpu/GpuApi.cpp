//===- GpuApi.cpp - Questions to a HIP runtime ----------------------------===//

#include "runtime/Gpu/GpuApi.h"

#include "runtime/Base/Env.h"
#include "runtime/Gpu/GpuApiLoader.h"

#include <cstring>

using namespace tessera;

ErrorOr<const GpuApi *> GpuApi::get() {
  static const ErrorOr<GpuApi> chosen =
      GpuApiLoader().load(getEnvText("TESSERA_DEVICE").value_or(""));
  if (!chosen)
    return chosen.getStatus();
  return &*chosen;
}

Status GpuApi::check(hipError_t error, const char *what) const {
  if (error == hipSuccess)
    return Status::ok();
  std::string message = std::string(what) + ": " + hipGetErrorString(error) +
                        " (HIP error " +
                        std::to_string(static_cast<int>(error)) + ")";
  switch (error) {
  case hipErrorOutOfMemory:
    return {StatusCode::ResourceExhausted, std::move(message)};
  case hipErrorInvalidValue:
    return invalidArgument(std::move(message));
  default:
    return unavailable(std::move(message));
  }
}

Status GpuApi::checkOwn(hipError_t error, const char *what) const {
  Status status = check(error, what);
  return status.getCode() == StatusCode::InvalidArgument
             ? unavailable(status.getMessage())
             : status;
}

std::optional<int> GpuApi::getMemoryType(const void *pointer) const {
  // Larger than the struct of any HIP so far, which always begins with the
  // type.
  alignas(hipPointerAttribute_t) char attributes[256] = {};
  if (!hipPointerGetAttributes)
    return std::nullopt;
  if (hipPointerGetAttributes(
          reinterpret_cast<hipPointerAttribute_t *>(attributes), pointer) !=
      hipSuccess) {
    (void)hipGetLastError(); // The error is not the client's.
    return std::nullopt;
  }
  int type;
  std::memcpy(&type, attributes, sizeof type);
  return type;
}

bool GpuApi::hasUnregisteredType() const {
  return architectureOffset != offsetof(hipDeviceProp_t, gcnArchName);
}

bool GpuApi::knowsMemory(const void *pointer) const {
  const std::optional<int> type = getMemoryType(pointer);
  // HIP 6 answers for any pointer: 0 then means "unregistered" and not "host".
  return type && (!hasUnregisteredType() || *type != 0);
}

bool GpuApi::isDeviceMemory(const void *pointer) const {
  // "unregistered" and "host" come before "device" in HIP 6.
  return getMemoryType(pointer) == (hasUnregisteredType() ? 2 : 1);
}

bool GpuApi::knowsStream(hipStream_t stream) const {
  unsigned flags = 0;
  if (!hipStreamGetFlags)
    return false;
  if (hipStreamGetFlags(stream, &flags) == hipSuccess)
    return true;
  (void)hipGetLastError(); // The error is not the client's.
  return false;
}

bool GpuApi::isCapturing(hipStream_t stream) const {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  if (!hipStreamIsCapturing)
    return false;
  if (hipStreamIsCapturing(stream, &status) == hipSuccess)
    return status == hipStreamCaptureStatusActive;
  (void)hipGetLastError(); // The error is not the client's.
  return false;
}

ErrorOr<std::string> GpuApi::readProperty(size_t offset) const {
  int device = 0;
  if (Status status = checkOwn(hipGetDevice(&device), "hipGetDevice");
      !status.isOk())
    return status;
  // Larger than the struct of any HIP so far (1472 bytes in HIP 6).
  alignas(hipDeviceProp_t) char properties[8192] = {};
  hipError_t error =
      getProperties(reinterpret_cast<hipDeviceProp_t *>(properties), device);
  if (Status status = checkOwn(error, "hipGetDeviceProperties"); !status.isOk())
    return status;
  const char *text = properties + offset;
  constexpr size_t maxLength = sizeof(hipDeviceProp_t::gcnArchName);
  return std::string(text, strnlen(text, maxLength));
}

ErrorOr<std::string> GpuApi::getArchitecture() const {
  return readProperty(architectureOffset);
}

ErrorOr<std::string> GpuApi::getDeviceName() const {
  // The name is the first field in every HIP.
  static_assert(offsetof(hipDeviceProp_t, name) == 0);
  ErrorOr<std::string> name = readProperty(0);
  return name && name->empty() ? getArchitecture() : name;
}

ErrorOr<uint32_t> GpuApi::getComputeUnits() const {
  int device = 0, units = 0;
  Status status = check(hipGetDevice(&device), "hipGetDevice");
  if (status.isOk())
    status = check(hipDeviceGetAttribute(
                       &units, hipDeviceAttributeMultiprocessorCount, device),
                   "hipDeviceGetAttribute");
  if (!status.isOk())
    return status;
  return static_cast<uint32_t>(units);
}

ErrorOr<const GpuTarget *> GpuApi::getTarget() const {
  ErrorOr<std::string> architecture = getArchitecture();
  if (!architecture)
    return architecture.getStatus();
  if (const GpuTarget *target = findTarget(*architecture))
    return target;
  return notSupported("no code can be made for the chip '" + *architecture +
                      "'; the known ones are " + std::string(getTargetNames()));
}
