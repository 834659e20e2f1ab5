//===- FakeTorchCuda.cpp - PyTorch's streams ------------------------------===//

#include "test/unit/Support/FakeTorch.h"

extern "C" __attribute__((visibility("default"))) int32_t
aoti_torch_get_current_cuda_stream(int32_t, void **stream) {
  *stream = tessera::FakeTorch::get().stream;
  return 0;
}
