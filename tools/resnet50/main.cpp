//===- main.cpp - resnet50: a whole network through the C API -------------===//
//
// One training step of ResNet-50, forward and backward, through the calls that
// frameworks make. The reference judges it layer by layer, or it is written to
// files for compare_pytorch.py. docs/clients.md has results.
//
//===----------------------------------------------------------------------===//

#include "tools/resnet50/Check.h"

#include "dialect/Reference/Random.h"
#include "tools/support/Files.h"
#include "tools/support/Tool.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>

using namespace tessera;
using namespace tessera::resnet;

static constexpr const char *kUsage =
    "resnet50 [option...]: one training step of ResNet-50 through MIOpen's "
    "API\n"
    "  --batch N         images, 1\n"
    "  --size N          their height and width, 224; a multiple of 32, from "
    "64\n"
    "  --blocks A,B,C,D  blocks of each stage, 3,4,6,3\n"
    "  --classes N       1000\n"
    "  --seed N          of weights and images, 1\n"
    "  --write FOLDER    compare nothing; write inputs and results for\n"
    "                    compare_pytorch.py\n"
    "  --repeat N        with --write: time so many further steps\n";

namespace {
struct Arguments {
  Options network;
  uint64_t seed = 1;
  std::string folder;
  int repeat = 0;
};
} // namespace

static bool readNumber(const char *text, int least, int &number) {
  char *end = nullptr;
  long value = std::strtol(text, &end, 10);
  if (end == text || *end || value < least || value > 1 << 20)
    return false;
  number = static_cast<int>(value);
  return true;
}

static bool readBlocks(const char *text, std::array<int, 4> &blocks) {
  char rest;
  return std::sscanf(text, "%d,%d,%d,%d%c", &blocks[0], &blocks[1], &blocks[2],
                     &blocks[3], &rest) == 4 &&
         *std::min_element(blocks.begin(), blocks.end()) >= 1 &&
         *std::max_element(blocks.begin(), blocks.end()) <= 100;
}

/// Parses the arguments; false if one is unknown.
static bool parse(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; i += 2) {
    std::string_view option = argv[i];
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    int seed = 0;
    bool known =
        option == "--batch"  ? readNumber(value, 1, arguments.network.batch)
        : option == "--size" ? readNumber(value, 64, arguments.network.size) &&
                                   arguments.network.size % 32 == 0
        : option == "--classes"
            ? readNumber(value, 2, arguments.network.classes)
        : option == "--blocks" ? readBlocks(value, arguments.network.blocks)
        : option == "--repeat" ? readNumber(value, 0, arguments.repeat)
        : option == "--seed"   ? readNumber(value, 0, seed)
        : option == "--write"  ? *(arguments.folder = value).c_str() != 0
                               : false;
    if (!known) {
      std::fprintf(stderr, "resnet50: '%s %s' means nothing\n%s", argv[i],
                   value, kUsage);
      return false;
    }
    if (option == "--seed")
      arguments.seed = static_cast<uint64_t>(seed);
  }
  return true;
}

/// A normally distributed number of mean 0 and deviation 1 (Box and Muller).
static double getNormal(uint64_t seed, uint64_t index) {
  auto uniform = [&](uint64_t which) {
    return (static_cast<double>(
                reference::getRandomBits(seed, 2 * index + which) >> 11) +
            0.5) *
           0x1p-53;
  };
  return std::sqrt(-2 * std::log(uniform(0))) *
         std::cos(2 * std::numbers::pi * uniform(1));
}

/// Images are noise, filters keep the magnitude of their input, and scales are
/// about 1. Running averages begin with the usual values.
static Values makeNumbers(const Network &network, int tensor, uint64_t seed) {
  const Tensor &of = network.tensors[tensor];
  auto endsWith = [&](std::string_view end) { return of.name.ends_with(end); };
  double mean = 0, deviation = 1;
  if (of.role == Role::Statistic) {
    mean = endsWith(".running_variance") ? 1 : 0;
    deviation = 0;
  } else if (endsWith(".bias")) {
    deviation = 0.1;
  } else if (of.role == Role::Parameter && of.dims.n == 1) {
    mean = 1;
    deviation = 0.1;
  } else if (of.role == Role::Parameter) {
    deviation = std::sqrt(2.0 / of.dims.c / of.dims.h / of.dims.w);
  }
  Values values(of.dims.getCount());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = mean + deviation * getNormal(seed + 1000 * tensor, i);
  return values;
}

static int getLabel(const Dims &output, int image) {
  return (image * 37 + 11) % output.c;
}

/// The gradient of the mean of -log(probability of the label).
static Values getSeed(const Dims &output) {
  Values gradient(output.getCount());
  for (int n = 0; n < output.n; ++n)
    gradient[int64_t(n) * output.c + getLabel(output, n)] = -1.0 / output.n;
  return gradient;
}

static Status initialize(DeviceNetwork &device, const Network &network,
                         uint64_t seed) {
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    int tensor = static_cast<int>(i);
    if (network.tensors[i].role == Role::Activation && tensor != network.input)
      continue;
    Values numbers = makeNumbers(network, tensor, seed);
    if (Status status = device.writeValue(tensor, numbers); !status.isOk())
      return status;
  }
  return Status::ok();
}

static Status runStep(DeviceNetwork &device, const Network &network,
                      const Values &seed) {
  for (const Layer &layer : network.layers)
    if (Status status = device.forward(layer); !status.isOk())
      return status;
  device.forgetGradients();
  if (Status status = device.writeGradient(network.output, seed);
      !status.isOk())
    return status;
  for (size_t i = network.layers.size(); i-- > 0;)
    if (Status status = device.backward(network.layers[i]); !status.isOk())
      return status;
  return device.synchronize();
}

static Status writeFile(const std::string &path,
                        const ErrorOr<Values> &values) {
  if (!values)
    return values.getStatus();
  std::vector<float> floats(values->begin(), values->end());
  return writeOutput(path, {reinterpret_cast<const char *>(floats.data()),
                            floats.size() * sizeof(float)});
}

/// Writes the inputs of a step: the image and the parameters, before they
/// change.
static Status writeInputs(const DeviceNetwork &device, const Network &network,
                          const std::string &folder) {
  if (Status status = writeOutput(folder + "/network.json", toJson(network));
      !status.isOk())
    return status;
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    int tensor = static_cast<int>(i);
    if (network.tensors[i].role != Role::Parameter && tensor != network.input)
      continue;
    if (Status status = writeFile(folder + "/" + std::to_string(i) + ".value",
                                  device.readValue(tensor));
        !status.isOk())
      return status;
  }
  return Status::ok();
}

/// Writes the results: the output, statistics, and gradients of parameters.
static Status writeResults(const DeviceNetwork &device, const Network &network,
                           const std::string &folder) {
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    int tensor = static_cast<int>(i);
    Role role = network.tensors[i].role;
    std::string path = folder + "/" + std::to_string(i);
    Status status = Status::ok();
    if (role == Role::Parameter)
      status = writeFile(path + ".gradient", device.readGradient(tensor));
    else if (role == Role::Statistic || tensor == network.output)
      status = writeFile(path + ".value", device.readValue(tensor));
    if (!status.isOk())
      return status;
  }
  return Status::ok();
}

static Status time(DeviceNetwork &device, const Network &network,
                   const Values &seed, int repeat) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; ++i)
    if (Status status = runStep(device, network, seed); !status.isOk())
      return status;
  std::chrono::duration<double, std::milli> spent =
      std::chrono::steady_clock::now() - begin;
  if (repeat)
    std::printf("a step takes %.3f ms\n", spent.count() / repeat);
  return Status::ok();
}

/// Creates one directory for the files that are written, but not its parent.
static Status makeFolder(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  return error ? unavailable("cannot make the directory '" + folder +
                             "': " + error.message())
               : Status::ok();
}

static ErrorOr<bool> run(const Arguments &arguments) {
  if (!arguments.folder.empty())
    if (Status status = makeFolder(arguments.folder); !status.isOk())
      return status;
  Network network = makeResNet(arguments.network);
  Dims output = network.tensors[network.output].dims;
  Values seed = getSeed(output);
  ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (!gpu)
    return gpu.getStatus();
  auto device = DeviceNetwork::create(**gpu, network);
  if (!device)
    return device.getStatus();
  Status status = initialize(**device, network, arguments.seed);
  bool isRight = true;
  if (status.isOk() && arguments.folder.empty()) {
    auto findings = checkNetwork(**device, network, seed);
    if (!findings)
      return findings.getStatus();
    isRight = printFindings(*findings);
  } else if (status.isOk()) {
    status = writeInputs(**device, network, arguments.folder);
    if (status.isOk())
      status = runStep(**device, network, seed);
    if (status.isOk())
      status = writeResults(**device, network, arguments.folder);
    if (status.isOk())
      status = time(**device, network, seed, arguments.repeat);
  }
  if (!status.isOk())
    return status;
  ErrorOr<Values> logs = (*device)->readValue(network.output);
  if (!logs)
    return logs.getStatus();
  double loss = 0;
  for (int n = 0; n < output.n; ++n)
    loss -= (*logs)[int64_t(n) * output.c + getLabel(output, n)] / output.n;
  std::printf("loss %.6f\n", loss);
  return isRight && std::isfinite(loss);
}

static int runResNet(int argc, char **argv) {
  if (std::any_of(argv + 1, argv + argc,
                  [](std::string_view word) { return word == "--help"; })) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  Arguments arguments;
  if (!parse(argc, argv, arguments))
    return 2;
  ErrorOr<bool> isRight = run(arguments);
  if (!isRight)
    std::fprintf(stderr, "resnet50: %s\n",
                 isRight.getStatus().getMessage().c_str());
  return isRight && *isRight ? 0 : 1;
}

int main(int argc, char **argv) {
  return runTool("resnet50", argc, argv, runResNet);
}
