//===- TileOrder.h - In which order a launch walks its tiles ---*- C++ -*--===//
//
// A launch that reads what the one in front of it has written finds in L2 what
// was written last. If it begins there, it reads that much less from memory.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_TILEORDER_H
#define TESSERA_RUNTIME_BASE_TILEORDER_H

#include "runtime/Base/Kernel.h"

#include <algorithm>

namespace tessera {

/// The scalar of convolutions and poolings that is not 0 if the launch begins
/// with the last tile. Kernels that have no such argument walk one way.
inline constexpr KernelArg kFromEndArg = getScalarArg(kMaxScalars - 1);

/// Whether a launch of `kernel`, which is none of a RowWiseProblem, has it.
inline bool walksBothWays(const Kernel &kernel) {
  return std::ranges::any_of(kernel.launches, [](const LaunchRecipe &launch) {
    return std::ranges::any_of(launch.args, [](const LaunchArg &arg) {
      return arg.kind == kFromEndArg;
    });
  });
}

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_TILEORDER_H
