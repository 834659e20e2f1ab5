//===- HostMemory.h - What the host can still give -------------*- C++ -*--===//
//
// Linux grants more memory than it has and kills the process that touches it,
// or it refuses and std::vector throws. Code that allocates as much as a user's
// numbers ask for calls checkMemory() first; an allocation that fails
// nevertheless becomes a Status like every other failure.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_HOSTMEMORY_H
#define TESSERA_RUNTIME_BASE_HOSTMEMORY_H

#include "runtime/Base/Status.h"

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tessera {

/// Bytes that this process can still get: the least of what the system has,
/// what its control groups leave and what RLIMIT_AS (ulimit -v) leaves.
/// UINT64_MAX where nothing of that can be read.
uint64_t getAvailableMemory();

/// The bytes that the memory limits of the control group `group` and of its
/// parents leave; UINT64_MAX without a limit. `mount` is where the hierarchy is
/// mounted, of version 2 or the memory controller's of version 1. Files that
/// the system can drop from its cache count as free.
uint64_t getControlGroupMemory(const std::string &mount,
                               const std::string &group);

/// A failure that says that `bytes` were needed and how many are available.
Status describeShortage(uint64_t bytes);

/// Fails with describeShortage() unless `bytes` are available.
Status checkMemory(uint64_t bytes);

/// Returns the result of `work`, a Status or an ErrorOr, or describeShortage()
/// if it runs out of memory. `bytes` is the least that it needs.
template <typename Work>
auto guardMemory(uint64_t bytes, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
  } catch (const std::length_error &) { // More than a vector can ever hold.
  } catch (const std::system_error &error) {
    // A thread that cannot be started mostly lacks memory for its stack.
    if (error.code() != std::errc::resource_unavailable_try_again)
      throw;
  }
  return describeShortage(bytes);
}

/// Calls `work` under guardMemory() if checkMemory() finds enough memory.
template <typename Work>
auto withMemory(uint64_t bytes, Work work) -> decltype(work()) {
  if (Status status = checkMemory(bytes); !status.isOk())
    return status;
  return guardMemory(bytes, work);
}

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_HOSTMEMORY_H
