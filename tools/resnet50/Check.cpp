//===- Check.cpp - A pass through the network, layer by layer -------------===//

#include "tools/resnet50/Check.h"

#include <cmath>
#include <cstdio>
#include <limits>

using namespace tessera;
using namespace tessera::resnet;

double resnet::getError(const Values &actual, const Values &expected) {
  double squares = 0, worst = 0;
  for (double value : expected)
    squares += value * value;
  double root = std::sqrt(squares / static_cast<double>(expected.size()));
  if (actual.size() != expected.size() || !std::isfinite(root))
    return std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < expected.size(); ++i) {
    double difference = std::abs(actual[i] - expected[i]);
    if (std::isnan(difference))
      return std::numeric_limits<double>::infinity();
    if (difference > 0)
      worst = std::max(worst, difference / (std::abs(expected[i]) + root));
  }
  return worst;
}

namespace {
/// One layer: its inputs are read when they are first used, which must be
/// before it runs, and remembered.
class LayerCheck {
public:
  LayerCheck(DeviceNetwork &device, const Network &network, const Layer &layer)
      : device(device), network(network), layer(layer) {}

  Status forward(Findings &findings);
  Status backward(Findings &findings);

private:
  Reader readWith(std::map<int, Values> &known,
                  ErrorOr<Values> (DeviceNetwork::*read)(int) const);
  void judge(int tensor, const ErrorOr<Values> &actual, const Values &expected,
             Findings &findings) const;

  DeviceNetwork &device;
  const Network &network;
  const Layer &layer;
  std::map<int, Values> values, gradients;
  Status failure = Status::ok();
};
} // namespace

Reader LayerCheck::readWith(std::map<int, Values> &known,
                            ErrorOr<Values> (DeviceNetwork::*read)(int) const) {
  return [this, &known, read](int tensor) -> const Values & {
    auto found = known.find(tensor);
    if (found != known.end())
      return found->second;
    ErrorOr<Values> numbers = (device.*read)(tensor);
    if (!numbers)
      failure = numbers.getStatus();
    return known[tensor] =
               numbers ? std::move(*numbers)
                       : Values(network.tensors[tensor].dims.getCount());
  };
}

void LayerCheck::judge(int tensor, const ErrorOr<Values> &actual,
                       const Values &expected, Findings &findings) const {
  double error = actual ? getError(*actual, expected)
                        : std::numeric_limits<double>::infinity();
  ++findings.compared;
  if (!(error <= kTolerance)) {
    ++findings.failed;
    std::printf("%s: '%s' is off by %.3g\n", layer.name.c_str(),
                network.tensors[tensor].name.c_str(), error);
  }
  if (!(error < findings.worst)) {
    findings.worst = error;
    findings.worstTensor = network.tensors[tensor].name;
  }
}

Status LayerCheck::forward(Findings &findings) {
  std::map<int, Values> expected = evaluateForward(
      network, layer, readWith(values, &DeviceNetwork::readValue));
  if (!failure.isOk())
    return failure;
  Status status = device.forward(layer);
  bool isMissing = status.getCode() == StatusCode::NotSupported;
  if (!status.isOk() && !isMissing)
    return status;
  findings.skipped += isMissing;
  for (const auto &[tensor, numbers] : expected)
    if (!isMissing)
      judge(tensor, device.readValue(tensor), numbers, findings);
    else if (Status wrote = device.writeValue(tensor, numbers); !wrote.isOk())
      return wrote;
  return Status::ok();
}

Status LayerCheck::backward(Findings &findings) {
  std::map<int, Values> expected = evaluateBackward(
      network, layer, readWith(values, &DeviceNetwork::readValue),
      readWith(gradients, &DeviceNetwork::readGradient));
  for (auto &[tensor, numbers] : expected) {
    if (!device.hasGradient(tensor))
      continue;
    ErrorOr<Values> before = device.readGradient(tensor);
    if (!before)
      return before.getStatus();
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] += (*before)[i];
  }
  if (!failure.isOk())
    return failure;
  Status status = device.backward(layer);
  bool isMissing = status.getCode() == StatusCode::NotSupported;
  if (!status.isOk() && !isMissing)
    return status;
  findings.skipped += isMissing;
  for (const auto &[tensor, numbers] : expected)
    if (!isMissing)
      judge(tensor, device.readGradient(tensor), numbers, findings);
    else if (Status wrote = device.writeGradient(tensor, numbers);
             !wrote.isOk())
      return wrote;
  return Status::ok();
}

ErrorOr<std::map<std::string, Findings>>
resnet::checkNetwork(DeviceNetwork &device, const Network &network,
                     const Values &seed) {
  std::map<std::string, Findings> table;
  for (const Layer &layer : network.layers) {
    Findings &findings = table["forward  " + std::string(getName(layer.kind))];
    if (Status status = LayerCheck(device, network, layer).forward(findings);
        !status.isOk())
      return status;
  }
  device.forgetGradients();
  if (Status status = device.writeGradient(network.output, seed);
      !status.isOk())
    return status;
  for (size_t i = network.layers.size(); i-- > 0;) {
    const Layer &layer = network.layers[i];
    Findings &findings = table["backward " + std::string(getName(layer.kind))];
    if (Status status = LayerCheck(device, network, layer).backward(findings);
        !status.isOk())
      return status;
  }
  return table;
}

bool resnet::printFindings(const std::map<std::string, Findings> &findings) {
  int compared = 0, failed = 0, skipped = 0;
  std::printf("%-22s %8s %6s %8s  %s\n", "", "compared", "wrong", "missing",
              "worst error");
  for (const auto &[name, of] : findings) {
    std::printf("%-22s %8d %6d %8d", name.c_str(), of.compared, of.failed,
                of.skipped);
    if (of.compared)
      std::printf("  %.2g, %s", of.worst, of.worstTensor.c_str());
    std::printf("\n");
    compared += of.compared;
    failed += of.failed;
    skipped += of.skipped;
  }
  std::printf("%d tensors compared, %d wrong; %d layers not implemented\n",
              compared, failed, skipped);
  return compared > 0 && failed == 0;
}
