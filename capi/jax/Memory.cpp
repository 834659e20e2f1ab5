//===- Memory.cpp - Device memory for the host's buffers ------------------===//

#include "capi/jax/Memory.h"

#include <algorithm>

using namespace tessera::jax;

/// hipMemcpyKind.
static constexpr int32_t kToDevice = 1, kToHost = 2;

static size_t getBytes(const xla::Buffer &buffer) {
  size_t bytes =
      buffer.type == xla::Type::U8                                      ? 1
      : buffer.type == xla::Type::F64                                   ? 8
      : buffer.type == xla::Type::F16 || buffer.type == xla::Type::BF16 ? 2
                                                                        : 4;
  for (int64_t i = 0; i < buffer.rank; ++i)
    bytes *= buffer.lengths[i];
  return bytes;
}

Memory::Memory(const Settings &settings, const xla::Buffer &buffer)
    : settings(settings), buffer(buffer), address(buffer.data) {
  if (!settings.isGpu &&
      settings.allocate(&address, std::max<size_t>(getBytes(buffer), 1)))
    address = nullptr;
}

Memory::~Memory() {
  if (address && !settings.isGpu)
    settings.free(address);
}

bool Memory::bring() const {
  return settings.isGpu ||
         !settings.copy(address, buffer.data, getBytes(buffer), kToDevice);
}

bool Memory::fetch() const {
  return settings.isGpu ||
         !settings.copy(buffer.data, address, getBytes(buffer), kToHost);
}
