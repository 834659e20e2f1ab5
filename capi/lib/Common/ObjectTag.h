//===- ObjectTag.h - The type tag of a client's object ---------*- C++ -*--===//
//
// The C API hands out pointers, and a C program can pass the wrong one: a
// pointer to another type, or to an object that it has destroyed. Therefore
// every object begins with a tag, a magic number plus the number of its type,
// and guard() compares it for each argument. This costs a load of memory that
// the call is about to read, and a comparison.
//
// Reading the tag of a destroyed object must be defined, too. A registry of
// live objects would cost a lookup for each argument of each call. Instead, the
// memory of a type's objects is used for objects of this type only: a destroyed
// object leaves a tag that says so, and the oldest such block becomes the next
// object once there are more than kLeastFree of them. A stale pointer to a
// block that holds an object again is not detected.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_COMMON_OBJECTTAG_H
#define TESSERA_CAPI_LIB_COMMON_OBJECTTAG_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#define TESSERA_OBJECT(type, words) struct type;
#include "capi/lib/Common/Objects.def"

namespace tessera::capi {

/// The tags of live and of destroyed objects, to which the number of the type
/// is added. The numbers were chosen so that text, pointers and usual floats do
/// not look like them.
inline constexpr uint64_t kLiveTag = 0x9d3c'71e5'a64f'b200;
inline constexpr uint64_t kGoneTag = 0xe2b8'054d'93f6'1700;
inline constexpr uint64_t kTypeMask = 0x7f;

namespace detail {
enum class ObjectType : uint8_t {
#define TESSERA_OBJECT(type, words) type,
#include "capi/lib/Common/Objects.def"
};
} // namespace detail

/// The tag of live objects of type T; 0 if T is not in Objects.def.
template <typename T>
inline constexpr uint64_t kTagOf = 0;
#define TESSERA_OBJECT(type, words)                                            \
  template <>                                                                  \
  inline constexpr uint64_t kTagOf<::type> =                                   \
      kLiveTag + static_cast<uint64_t>(detail::ObjectType::type);
#include "capi/lib/Common/Objects.def"

/// The first member of every type in Objects.def. A copy that another object
/// holds as a member is not an object that a client may pass: copying leaves
/// the tag 0, and assignment keeps the tag of its target.
class ObjectTag {
public:
  ObjectTag() = default;
  ObjectTag(const ObjectTag &) noexcept {}
  ObjectTag &operator=(const ObjectTag &) noexcept { return *this; }

private:
  [[maybe_unused]] uint64_t value = 0;
};

/// Reads the first eight bytes at a client's pointer.
inline uint64_t readTag(const void *object) {
  uint64_t tag;
  std::memcpy(&tag, object, sizeof tag);
  return tag;
}

/// Memory of the objects of one type. Any thread may use it. It is never
/// destroyed, because a client may destroy its objects when the process ends.
class ObjectPool {
public:
  /// Throws std::bad_alloc.
  void *take(size_t bytes);
  /// Takes the block of an object of the type with this live tag back, after
  /// its destructor has run. The block stays readable, because a later call may
  /// read its tag through a stale pointer.
  void giveBack(void *block, size_t bytes, uint64_t liveTag) noexcept;

private:
  /// The content of a block without an object.
  struct Free {
    uint64_t tag;
    Free *next;
  };
  /// Number of free blocks before the oldest one is used again. It delays reuse
  /// because a client that destroys an object twice mostly does so soon.
  static constexpr size_t kLeastFree = 64;

  std::mutex mutex;
  Free *oldest = nullptr;
  Free *newest = nullptr;
  size_t freeCount = 0;
};

template <typename Object>
inline constinit ObjectPool objectPool{};

/// Makes an object for a client. Throws what its constructor throws.
template <typename Object, typename... Args>
Object *makeObject(Args &&...args) {
  ObjectPool &pool = objectPool<Object>;
  void *block = pool.take(sizeof(Object));
  Object *object;
  try {
    object = new (block) Object{std::forward<Args>(args)...};
  } catch (...) {
    pool.giveBack(block, sizeof(Object), kTagOf<Object>);
    throw;
  }
  constexpr uint64_t tag = kTagOf<Object>;
  static_assert(tag != 0 && sizeof(Object) >= 2 * sizeof(uint64_t) &&
                alignof(Object) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  std::memcpy(block, &tag, sizeof tag);
  return object;
}

/// Destroys an object that makeObject() made.
struct DestroyObject {
  template <typename Object>
  void operator()(Object *object) const noexcept {
    object->~Object();
    objectPool<Object>.giveBack(object, sizeof(Object), kTagOf<Object>);
  }
};

/// Owns an object that a client may hold.
template <typename Object>
using ObjectPtr = std::unique_ptr<Object, DestroyObject>;

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_COMMON_OBJECTTAG_H
