//===- Judge.cpp - Which reference verifies -------------------------------===//

#include "tools/dnn-driver/Judge.h"

#include <algorithm>
#include <cstdio>
#include <thread>

using namespace tessera;
using namespace tessera::driver;

/// What one processor of a host with AVX-512 was measured to add up in a
/// second: products of a convolution, whose panels fit its registers, and
/// positions of a pooling's window, which are visited one by one.
static constexpr double kHostProducts = 3e9;
static constexpr double kHostPositions = 1e7;
/// How long the host's reference may take before the device's is used.
static constexpr double kPatienceSeconds = 2;

ErrorOr<ReferenceChoice> driver::parseReferenceChoice(const std::string &word) {
  if (word == "auto")
    return ReferenceChoice::Auto;
  if (word == "cpu")
    return ReferenceChoice::Host;
  if (word == "gpu")
    return ReferenceChoice::Device;
  return invalidArgument("flag '--reference' is '" + word +
                         "', but must be auto, cpu or gpu");
}

DeviceReference *Judge::chooseDevice(double terms, double termsPerSecond) {
  usedDevice = false;
  const double processors = std::max(1u, std::thread::hardware_concurrency());
  const bool isLong = terms > kPatienceSeconds * termsPerSecond * processors;
  if (choice == ReferenceChoice::Host ||
      (choice == ReferenceChoice::Auto &&
       (!isLong || gpu.getKind() == DeviceKind::Emulated)))
    return nullptr;
  if (!device) {
    ErrorOr<DeviceReference> created = DeviceReference::create(gpu);
    if (!created) {
      std::printf("Reference: the CPU's, because there is none for the GPU: "
                  "%s\n",
                  created.getStatus().getMessage().c_str());
      choice = ReferenceChoice::Host;
      return nullptr;
    }
    device.emplace(std::move(*created));
    std::printf("Reference: the GPU's, compiled by %s\n",
                device->getCompiler().getName().c_str());
  }
  usedDevice = true;
  return &*device;
}

ErrorOr<Verification> Judge::verify(const ConvProblem &problem,
                                    const ConvCase &data) {
  DeviceReference *reference =
      chooseDevice(problem.getFlops() / 2, kHostProducts);
  if (!reference)
    return judge(problem, data, data.getExpected());
  ErrorOr<ReferenceSums> sums =
      reference->evaluate(problem, data.x, data.w, data.y);
  if (!sums)
    return sums.getStatus().withContext("the GPU's reference");
  return judge(
      problem, data,
      data.getExpected(std::move(sums->values), std::move(sums->magnitudes)));
}

static double countPositions(const PoolProblem &problem) {
  return static_cast<double>(problem.getOutputLengths().getElements()) *
         static_cast<double>(problem.window.d * problem.window.h *
                             problem.window.w);
}

ErrorOr<std::string> Judge::verify(const PoolProblem &problem,
                                   const PoolCase &data) {
  DeviceReference *reference =
      chooseDevice(countPositions(problem), kHostPositions);
  if (!reference)
    return data.check(0, 0);
  ErrorOr<ReferenceSums> sums =
      reference->evaluate(problem, data.x, data.y, data.indices);
  if (!sums)
    return sums.getStatus().withContext("the GPU's reference");
  return data.check(std::move(sums->values), std::move(sums->magnitudes),
                    std::move(sums->indices));
}
