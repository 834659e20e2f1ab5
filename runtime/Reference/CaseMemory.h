//===- CaseMemory.h - How much memory a problem's data take ----*- C++ -*-===//
//
// Known from the problem alone, so that one that is too large is refused
// before anything of it is allocated.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_CASEMEMORY_H
#define TESSERA_RUNTIME_REFERENCE_CASEMEMORY_H

#include "runtime/Base/HostMemory.h"
#include "runtime/Base/Problem.h"

namespace tessera {

/// What is done with a case (ConvCase, PoolCase, RowCase).
struct CaseUse {
  enum class Purpose {
    Run,    ///< A kernel runs on its tensors.
    Verify, ///< The result is compared with the reference as well.
    Tune,   ///< Many results are.
  };
  Purpose purpose = Purpose::Run;
  /// The device is emulated: its copies of the tensors are the host's memory.
  bool isOnHost = false;
};

/// Bytes of the host's memory that `problem`, which must be valid, takes at
/// least; UINT64_MAX if they are more than that.
uint64_t getCaseBytes(const Problem &problem, CaseUse use);

/// What `work` gives, unless the host lacks the memory; see withMemory().
template <typename Work>
auto withCaseMemory(const Problem &problem, CaseUse use, Work work)
    -> decltype(work()) {
  return withMemory(getCaseBytes(problem, use), work);
}

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_CASEMEMORY_H
