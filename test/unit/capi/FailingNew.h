//===- FailingNew.h - Memory that runs out --------------------*- C++ -*-===//

#ifndef TESSERA_TEST_UNIT_CAPI_FAILINGNEW_H
#define TESSERA_TEST_UNIT_CAPI_FAILINGNEW_H

namespace tessera::test {

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
