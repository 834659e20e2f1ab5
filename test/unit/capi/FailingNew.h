//===- FailingNew.h - Counts allocations and makes them fail ---*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_CAPI_FAILINGNEW_H
#define TESSERA_TEST_UNIT_CAPI_FAILINGNEW_H

namespace tessera::test {

/// Whether this program replaces the allocation functions. Those of the thread
/// sanitizer cannot be replaced: with it nothing is counted and nothing fails.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kReplacesNew = false;
#else
inline constexpr bool kReplacesNew = true;
#endif

/// The number of allocations of this thread so far.
int countAllocations();

/// While it lives, the allocation of this thread that comes after `count`
/// others fails, and those after it succeed again.
class FailingNew {
public:
  explicit FailingNew(int count);
  ~FailingNew();
  FailingNew(const FailingNew &) = delete;
  FailingNew &operator=(const FailingNew &) = delete;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_FAILINGNEW_H
