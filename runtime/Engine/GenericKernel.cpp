//===- GenericKernel.cpp - Kernels for unknown sizes ----------------------===//

#include "runtime/Engine/GenericKernel.h"

#include <algorithm>
#include <atomic>

using namespace tessera;

/// Puts the sizes into the addresses in the workspace, and makes that as large
/// as the launch needs it. Kernels count bytes of it in 32 bits.
static Status bindWorkspace(LaunchRecipe &launch, uint64_t &workspaceBytes,
                            const SizeExpr::Lookup &lookup) {
  for (LaunchArg &arg : launch.args) {
    if (isOfSizes(arg.kind) || arg.size.getNumber())
      continue;
    const ErrorOr<int64_t> offset = arg.size.evaluate(lookup);
    if (!offset)
      return offset.getStatus();
    arg.size = *offset;
  }
  const ErrorOr<int64_t> bytes = launch.workspace.evaluate(lookup);
  if (!bytes)
    return bytes.getStatus();
  if (*bytes > int64_t(UINT32_MAX))
    return notSupported("a kernel for unknown sizes does not take a workspace "
                        "of " +
                        std::to_string(*bytes) + " bytes");
  workspaceBytes = std::max(workspaceBytes, static_cast<uint64_t>(*bytes));
  launch.workspace = {};
  return Status::ok();
}

/// Puts the sizes into one launch. Kernels number their points in 31 bits.
static Status bindLaunch(LaunchRecipe &launch, const SizeExpr::Lookup &lookup) {
  constexpr int64_t kMostPoints = INT32_MAX;
  for (TensorMap &map : launch.maps) {
    ErrorOr<TensorMap> bound = map.bind(lookup);
    if (!bound)
      return bound.getStatus();
    map = std::move(*bound);
  }
  for (LaunchArg &arg : launch.args) {
    if (!isOfSizes(arg.kind))
      continue;
    const ErrorOr<int64_t> value = arg.size.evaluate(lookup);
    if (!value)
      return value.getStatus();
    const bool isDivisor = arg.kind == KernelArg::Divisor;
    if (*value > (isDivisor ? kMostPoints : int64_t(UINT32_MAX)) ||
        (isDivisor && *value < 1))
      return notSupported(
          "a kernel for unknown sizes does not take the number " +
          std::to_string(*value));
    arg =
        LaunchArg(KernelArg::Size,
                  SizeExpr(isDivisor ? static_cast<int64_t>(makeDivisor(*value))
                                     : *value));
  }
  if (launch.workgroups == SizeExpr())
    return Status::ok();
  const ErrorOr<int64_t> workgroups = launch.workgroups.evaluate(lookup);
  if (!workgroups)
    return workgroups.getStatus();
  if (*workgroups < 1 || *workgroups > kMostPoints / launch.block[0])
    return notSupported("a kernel for unknown sizes does not take " +
                        std::to_string(*workgroups) + " workgroups");
  launch.grid[0] = static_cast<uint32_t>(*workgroups);
  launch.workgroups = {};
  return Status::ok();
}

ErrorOr<Kernel> tessera::bindSizes(const Kernel &kernel,
                                   const Problem &member) {
  const auto lookup = [&](KernelArg tensor, int64_t dim) {
    return member.getTensorSize(tensor, dim);
  };
  // A process may meet any number of sizes.
  Kernel bound{.codeObject = {},
               .launches = kernel.launches,
               .workspaceBytes = kernel.workspaceBytes,
               .resources = kernel.resources,
               .tile = kernel.tile,
               .stageTimes = kernel.stageTimes};
  for (LaunchRecipe &launch : bound.launches) {
    Status status = bindWorkspace(launch, bound.workspaceBytes, lookup);
    if (status.isOk())
      status = bindLaunch(launch, lookup);
    if (!status.isOk())
      return status;
  }
  return bound;
}

bool tessera::isServedGenerically(const Problem &problem,
                                  std::string_view tile) {
  // The general kernel uses no matrix unit: by issue clocks it does some 10^12
  // operations a second. A compilation takes 50 ms.
  constexpr double kMostFlops = 4e9;
  const ConvProblem *conv = problem.getConv();
  return !conv || !tile.starts_with("general-") ||
         conv->getFlops() <= kMostFlops;
}

static std::atomic<bool> newSizesExpected = false;

void tessera::expectNewSizes(bool areExpected) {
  newSizesExpected.store(areExpected, std::memory_order_relaxed);
}

bool tessera::areNewSizesExpected() {
  return newSizesExpected.load(std::memory_order_relaxed);
}

uint32_t FamilyCounts::add(const Problem &family) {
  const std::lock_guard lock(mutex);
  return ++counts[family];
}
