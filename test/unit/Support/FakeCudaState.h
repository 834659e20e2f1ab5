//===- FakeCudaState.h - What the parts of the fake share ------*- C++ -*-===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_FAKECUDASTATE_H
#define TESSERA_TEST_UNIT_SUPPORT_FAKECUDASTATE_H

#include "test/unit/Support/FakeCuda.h"

namespace tessera::test {

/// Counts the call, and answers the failure that a test asked for.
cuda::CudaError recordCall(const char *function);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_FAKECUDASTATE_H
