//===- LrnRun.cpp - One local response normalisation on the device --------===//

#include "tools/dnn-driver/LrnRun.h"

#include "dialect/Reference/TestData.h"
#include "runtime/Reference/ReferenceShape.h"

#include <algorithm>
#include <cmath>

using namespace tessera;
using namespace tessera::driver;

using Values = std::vector<double>;

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

ErrorOr<LrnRun> LrnRun::create(const GpuApi &gpu, const LrnCommand &command,
                               uint64_t seed) {
  LrnRun run(gpu, command);
  Status status = run.upload(seed);
  if (status.isOk())
    status = run.setDescriptors();
  if (!status.isOk())
    return status;
  return run;
}

uint64_t LrnRun::getBytes(const LrnCommand &command, const GpuApi &gpu) {
  // The number of elements may exceed 64 bits, so it is a double.
  double elements = 1;
  for (int64_t length : command.lengths)
    elements *= static_cast<double>(length);
  const auto tensor = elements * static_cast<double>(getByteSize(command.type));
  double bytes = tensor; // Tensors are uploaded one after another.
  // verifyForward() and verifyBackward() hold this many vectors at once.
  const double vectors = command.isForwardOnly ? 4 : 7;
  if (command.options.verify)
    bytes = std::max(bytes, vectors * sizeof(double) * elements);
  if (gpu.getKind() == DeviceKind::Emulated)
    bytes += 5 * tensor;
  return bytes < 0x1p63 ? static_cast<uint64_t>(bytes) : UINT64_MAX;
}

Status LrnRun::upload(uint64_t seed) {
  const reference::ElementType type = getReferenceType(command.type);
  const int64_t count = command.countElements();
  for (Name name : {X, Y, Scale, Dy, Dx}) {
    const bool isInput = name == X || name == Dy;
    ErrorOr<DeviceBuffer> buffer = driver::upload(
        gpu, isInput ? makeData(type, count, reference::DataKind::Uniform,
                                seed + name)
                     : makePoison(type, count));
    if (!buffer)
      return buffer.getStatus();
    buffers.emplace(name, std::move(*buffer));
  }
  return Status::ok();
}

Status LrnRun::setDescriptors() {
  const auto &[n, c, h, w] = command.lengths;
  auto newHandle = driver::create<Handle>(miopenCreate);
  auto newLrn = driver::create<LrnDesc>(miopenCreateLRNDescriptor);
  auto newDesc = makeTensor(command.type, Layout::NCHW, {},
                            {.n = n, .c = c, .h = h, .w = w},
                            /*hasDepth=*/false);
  for (const Status &status :
       {newHandle.getStatus(), newLrn.getStatus(), newDesc.getStatus()})
    if (!status.isOk())
      return status;
  handle = std::move(*newHandle);
  lrn = std::move(*newLrn);
  desc = std::move(*newDesc);
  if (Status status = check(miopenSetLRNDescriptor(
          lrn.get(), command.mode, static_cast<unsigned>(command.window),
          command.alpha, command.beta, command.k));
      !status.isOk())
    return status;
  return check(miopenEnableProfiling(handle.get(), command.options.time));
}

/// The API's scales of a result and of its old value, which it ignores.
static constexpr float kAlpha = 1, kBeta = 0;

ErrorOr<Times> LrnRun::runForward() {
  const bool keeps = !command.isForwardOnly;
  return measure(
      gpu, handle.get(), command.options.iterations,
      [] { return Status::ok(); },
      [&] {
        return check(miopenLRNForward(
            handle.get(), lrn.get(), &kAlpha, desc.get(), buffers.at(X).get(),
            &kBeta, desc.get(), buffers.at(Y).get(), keeps,
            keeps ? buffers.at(Scale).get() : nullptr));
      });
}

ErrorOr<Times> LrnRun::runBackward() {
  return measure(
      gpu, handle.get(), command.options.iterations,
      [] { return Status::ok(); },
      [&] {
        return check(miopenLRNBackward(
            handle.get(), lrn.get(), &kAlpha, desc.get(), buffers.at(Y).get(),
            desc.get(), buffers.at(Dy).get(), desc.get(), buffers.at(X).get(),
            &kBeta, desc.get(), buffers.at(Dx).get(), buffers.at(Scale).get()));
      });
}

ErrorOr<Values> LrnRun::read(Name name) const {
  const DeviceBuffer &buffer = buffers.at(name);
  std::vector<char> bytes(buffer.getByteSize());
  if (Status status = buffer.copyToHost(bytes.data(), bytes.size());
      !status.isOk())
    return status;
  Values values(command.countElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = reference::loadElement(getReferenceType(command.type),
                                       bytes.data(), static_cast<int64_t>(i));
  return values;
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

/// For each element the sum of its neighbours along a dimension, from `before`
/// elements before it to `after` elements after it.
static Values addAlong(const Values &terms,
                       const std::array<int64_t, 4> &lengths, int dim,
                       int64_t before, int64_t after) {
  int64_t step = 1;
  for (int inner = dim + 1; inner < 4; ++inner)
    step *= lengths[inner];
  Values sums(terms.size());
  for (int64_t i = 0; i < static_cast<int64_t>(terms.size()); ++i) {
    const int64_t at = i / step % lengths[dim];
    const int64_t end = std::min(at + after + 1, lengths[dim]);
    for (int64_t near = std::max<int64_t>(at - before, 0); near < end; ++near)
      sums[i] += terms[i + (near - at) * step];
  }
  return sums;
}

/// For each element the sum over its window, or over the elements whose windows
/// it is in.
static Values addWindows(const LrnCommand &command, const Values &terms,
                         bool isBackward) {
  int64_t before = (command.window - 1) / 2;
  int64_t after = command.window - 1 - before;
  if (isBackward)
    std::swap(before, after);
  constexpr int kChannel = 1, kRow = 2, kColumn = 3;
  if (!command.isWithinChannel())
    return addAlong(terms, command.lengths, kChannel, before, after);
  const Values sums = addAlong(terms, command.lengths, kColumn, before, after);
  return addAlong(sums, command.lengths, kRow, before, after);
}

/// The factor of a sum, which is the same where the window is partly outside.
static double getFactor(const LrnCommand &command) {
  const auto window = static_cast<double>(command.window);
  return command.alpha / (command.isWithinChannel() ? window * window : window);
}

std::string LrnRun::compare(const Values &wanted, const Values &found) const {
  // f16 keeps 11 bits and bf16 8, both of the scale and of the result; f32
  // passes through logarithms and exponentials.
  const double tolerance = command.type == DataType::F32   ? 0x1p-16
                           : command.type == DataType::F16 ? 0x1p-9
                                                           : 0x1p-6;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!(std::fabs(wanted[i] - found[i]) <=
          tolerance * (1 + std::fabs(wanted[i]))))
      return "element " + std::to_string(i) + " is " +
             std::to_string(found[i]) + ", not " + std::to_string(wanted[i]);
  return {};
}

ErrorOr<std::string> LrnRun::verifyForward() const {
  const ErrorOr<Values> x = read(X), y = read(Y);
  if (!x || !y)
    return x ? y.getStatus() : x.getStatus();
  Values terms(x->size());
  std::ranges::transform(*x, terms.begin(), [](double v) { return v * v; });
  Values wanted = addWindows(command, terms, /*isBackward=*/false);
  for (size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = (*x)[i] * std::pow(command.k + getFactor(command) * wanted[i],
                                   -command.beta);
  return compare(wanted, *y);
}

ErrorOr<std::string> LrnRun::verifyBackward() const {
  const ErrorOr<Values> x = read(X), y = read(Y), scale = read(Scale),
                        dy = read(Dy), dx = read(Dx);
  for (const ErrorOr<Values> *values : {&x, &y, &scale, &dy, &dx})
    if (!*values)
      return values->getStatus();
  Values terms(x->size());
  for (size_t i = 0; i < terms.size(); ++i)
    terms[i] = (*dy)[i] * (*y)[i] / (*scale)[i];
  Values wanted = addWindows(command, terms, /*isBackward=*/true);
  const double factor = 2 * command.beta * getFactor(command);
  for (size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = (*dy)[i] * std::pow((*scale)[i], -command.beta) -
                factor * (*x)[i] * wanted[i];
  return compare(wanted, *dx);
}
