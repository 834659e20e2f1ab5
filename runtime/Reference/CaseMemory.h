//===- CaseMemory.h - How much memory a problem's data take ----*- C++ -*--===//
//
// This is computed from the problem alone, so that a problem that is too large
// is refused before anything is allocated.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_CASEMEMORY_H
#define TESSERA_RUNTIME_REFERENCE_CASEMEMORY_H

#include "runtime/Base/HostMemory.h"
#include "runtime/Base/Problem.h"

namespace tessera {

/// What a case (ConvCase, PoolCase, RowWiseCase) is used for.
struct CaseUse {
  enum class Purpose {
    Run,    ///< Run a kernel on its tensors.
    Verify, ///< Also compare the result with the reference.
    Tune,   ///< Compare many results.
  };
  Purpose purpose = Purpose::Run;
  /// Whether the device is emulated, so that its copies of the tensors are in
  /// the host's memory.
  bool isOnHost = false;
};

/// The bytes of the host's memory that `problem`, which must be valid, needs at
/// least; UINT64_MAX if the number is too large.
uint64_t getCaseBytes(const Problem &problem, CaseUse use);

/// Returns what `work` returns, unless the host lacks the memory; see
/// withMemory().
template <typename Work>
auto withCaseMemory(const Problem &problem, CaseUse use, Work work)
    -> decltype(work()) {
  return withMemory(getCaseBytes(problem, use), work);
}

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_CASEMEMORY_H
