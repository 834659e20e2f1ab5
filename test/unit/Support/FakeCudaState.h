//===- FakeCudaState.h - State that the fake's sources share ---*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_FAKECUDASTATE_H
#define TESSERA_TEST_UNIT_SUPPORT_FAKECUDASTATE_H

#include "test/unit/Support/FakeCuda.h"

namespace tessera::test {

/// Counts the call and returns the failure that a test has asked for, or
/// success.
cuda::CudaError recordCall(const char *function);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_FAKECUDASTATE_H
