//===- Check.h - A pass through the network, layer by layer ----*- C++ -*--===//

#ifndef TESSERA_TOOLS_RESNET50_CHECK_H
#define TESSERA_TOOLS_RESNET50_CHECK_H

#include "tools/resnet50/DeviceNetwork.h"

namespace tessera::resnet {

/// The results for one kind of layer in one direction.
struct Findings {
  int compared = 0; ///< Number of tensors.
  int failed = 0;
  int skipped = 0;  ///< Layers that the library does not implement.
  double worst = 0; ///< Greatest error, by getError().
  std::string worstTensor;
};

/// The largest allowed error, by getError()'s measure: sums of up to 10^5
/// products in f32 lose this much and no more.
inline constexpr double kTolerance = 1e-4;

/// The greatest |actual - expected| / (|expected| + the root mean square of all
/// expected values). Infinite if a value is NaN.
double getError(const Values &actual, const Values &expected);

/// Runs forward and backward, and compares every tensor that a layer computes
/// with the reference on what that layer has read. Where the library does not
/// implement a layer, the reference's values replace its result. `seed` is the
/// gradient of the output. The keys of the table are "forward conv" and so on.
ErrorOr<std::map<std::string, Findings>>
checkNetwork(DeviceNetwork &device, const Network &network, const Values &seed);

/// Prints the table; false if something failed or nothing was compared.
bool printFindings(const std::map<std::string, Findings> &findings);

} // namespace tessera::resnet

#endif // TESSERA_TOOLS_RESNET50_CHECK_H
