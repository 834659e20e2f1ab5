//===- LaunchLds.cpp - LDS that a launch may request ----------------------===//

#include "compiler/Target/LaunchLds.h"

using namespace tessera;

namespace {
struct Row {
  std::string_view target;
  int64_t bytes;
};
} // namespace

// The numbers are from the CUDA programming guide's table of compute
// capabilities: the shared memory of a multiprocessor without the 1 KiB that
// the system reserves for each workgroup.
static constexpr int64_t kShared64 = 65536, kShared100 = 101376,
                         kShared164 = 166912, kShared228 = 232448;
static constexpr Row kRows[] = {
    {"sm_75", kShared64},   {"sm_80", kShared164},  {"sm_86", kShared100},
    {"sm_87", kShared164},  {"sm_89", kShared100},  {"sm_90", kShared228},
    {"sm_100", kShared228}, {"sm_103", kShared228}, {"sm_110", kShared228},
    {"sm_120", kShared100}, {"sm_121", kShared100},
};

int64_t tessera::getMaxLdsBytes(const GpuTarget &target) {
  for (const Row &row : kRows)
    if (row.target == target.name)
      return row.bytes;
  return target.ldsBytes;
}
