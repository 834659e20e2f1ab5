//===- GenericKernel.h - Kernels for unknown sizes -------------*- C++ -*--===//
//
// A kernel for unknown sizes serves every problem of a family: its launches
// become those of one problem when the sizes are put in
// (docs/design/0038-sizes-as-arguments.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_ENGINE_GENERICKERNEL_H
#define TESSERA_RUNTIME_ENGINE_GENERICKERNEL_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/Kernel.h"
#include "runtime/Base/Problem.h"

#include <mutex>
#include <string_view>
#include <unordered_map>

namespace tessera {

/// The kernel for `member`, in the form of the family (Family::member), of one
/// for the family: no argument depends on sizes any more. It has no code
/// object, which the family shares. NotSupported if the problem is too large
/// for it.
ErrorOr<Kernel> bindSizes(const Kernel &kernel, const Problem &member);

/// Whether the problem is better off with a kernel for unknown sizes that has
/// `tile` than with a compilation: that of the general convolution is many
/// times as slow as the problem's own.
bool isServedGenerically(const Problem &problem, std::string_view tile);

/// Says for all engines of the process whether sizes will not repeat from now
/// on: convolutions, too, then get kernels for unknown sizes, and the first
/// problem of a family does. GenericUse::Never is stronger. Any thread may call
/// both.
void expectNewSizes(bool areExpected);
bool areNewSizesExpected();

/// How many problems of each family have been seen. Every method may be called
/// from several threads at once.
class FamilyCounts {
public:
  /// Counts one more problem of `family`; returns the number.
  uint32_t add(const Problem &family);

private:
  struct Hash {
    size_t operator()(const Problem &problem) const {
      return problem.getHash();
    }
  };
  std::mutex mutex; ///< Guards what follows.
  std::unordered_map<Problem, uint32_t, Hash> counts;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_GENERICKERNEL_H
