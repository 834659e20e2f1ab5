//===- DriverLrn.cpp - "MIOpenDriver lrn" ---------------------------------===//
//
// Flags and defaults are those of MIOpenDriver (ROCm/MIOpen,
// driver/lrn_driver.hpp). A local response normalisation has several launches
// and therefore is no problem: only dnn-driver runs such a command.
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverRows.h"

using namespace tessera;

static constexpr DriverFlag kFlags[] = {
    {'F', "forw", "0", "1: only forward; 0: the gradient, too"},
    {'n', "batchsize", "100", "batch"},
    {'c', "in_channels", "3", "channels"},
    {'H', "in_h", "32", "height"},
    {'W', "in_w", "32", "width"},
    {'m', "mode", "within", "window: within a channel, or cross channels"},
    {'N', "lrnN", "5", "length of the window"},
    {'A', "alpha", "0.001", "factor of the mean of the window's squares"},
    {'B', "beta", "0.75", "exponent"},
    {'K', "lrnK", "1", "what is added to the mean"},
    {'i', "iter", "10", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernels"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
    {'P', "printconv", "1", "read, but of no meaning"},
};

std::span<const DriverFlag> tessera::getLrnDriverFlags() { return kFlags; }

ErrorOr<DriverOptions> tessera::toLrnOptions(FlagReader &, DataType type) {
  if (Status status = checkRowType("lrn", type); !status.isOk())
    return status;
  return notSupported("the operation 'lrn' is not supported here: it is "
                      "several problems, which only dnn-driver runs");
}
