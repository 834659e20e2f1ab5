//===- XlaFfi.h - As much of XLA's FFI as we use ---------------*- C++ -*--===//
//
// How XLA calls a function of somebody else's: by a C ABI, which XLA keeps and
// in which each struct says its own size, so that one library serves its
// releases. jaxlib's xla/ffi/api/c_api.h declares it with the same fields in
// the same order; test/python/test_jax.py compares the two.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_JAX_XLAFFI_H
#define TESSERA_CAPI_JAX_XLAFFI_H

#include <cstddef>
#include <cstdint>

namespace tessera::jax::xla {

/// XLA's objects. An error belongs to whom it is returned to.
using Error = struct XlaError;
using Context = struct XlaContext; ///< Of one execution of a call.

/// Further data behind a struct.
struct Extension {
  size_t size;
  int32_t kind; ///< kMetadata
  Extension *next;
};
inline constexpr int32_t kMetadata = 1;

struct ApiVersion {
  size_t size;
  Extension *extension = nullptr;
  int32_t major;
  int32_t minor;
};
/// Changes when fields move.
inline constexpr int32_t kMajorVersion = 0;
/// Of the releases that ask for ours without an Api, which has theirs.
inline constexpr int32_t kEarlyMinorVersion = 1;

/// What XLA asks before the first call. Later releases have more behind it.
struct Metadata {
  size_t size;
  ApiVersion version;
  uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

struct String {
  const char *data;
  size_t size;
};

enum class Type : int32_t {
  U8 = 6,
  U32 = 8,
  F16 = 10,
  F32 = 11,
  F64 = 12,
  BF16 = 16
};

struct Buffer {
  size_t size;
  Extension *extension = nullptr;
  Type type;
  void *data;
  int64_t rank;
  int64_t *lengths;
};

/// The arguments of a call, or its results: all are buffers.
struct Buffers {
  size_t size;
  Extension *extension = nullptr;
  int64_t count;
  int32_t *kinds;
  Buffer **buffers;
};

/// Constants of a call, sorted by their names.
struct Attributes {
  size_t size;
  Extension *extension = nullptr;
  int64_t count;
  int32_t *kinds;
  String **names;
  void **values; ///< A String, if the kind is kString.
};
inline constexpr int32_t kString = 4;

/// The argument of a function in Api: in and out.
struct CreateError {
  size_t size;
  Extension *extension = nullptr;
  const char *message;
  int32_t code;
};
inline constexpr int32_t kInternal = 13;

struct GetStream {
  size_t size;
  Extension *extension = nullptr;
  Context *context = nullptr;
  void *stream;
};
struct GetDevice {
  size_t size;
  Extension *extension = nullptr;
  Context *context = nullptr;
  int32_t device;
};

/// XLA's functions. Those that we do not call have no type here.
struct Api {
  size_t size;
  Extension *extension = nullptr;
  ApiVersion version;
  void *internal = nullptr;
  Error *(*createError)(CreateError *);
  void *getMessage = nullptr, *destroyError = nullptr;
  void *registerHandler = nullptr;
  Error *(*getStream)(GetStream *);
  void *others[12] = {};
  Error *(*getDevice)(GetDevice *); ///< Not in early releases.
};

struct CallFrame {
  size_t size;
  Extension *extension = nullptr;
  const Api *api;
  Context *context = nullptr;
  int32_t stage = 0;
  Buffers arguments = {};
  Buffers results = {};
  Attributes attributes = {};
};

} // namespace tessera::jax::xla

#endif // TESSERA_CAPI_JAX_XLAFFI_H
