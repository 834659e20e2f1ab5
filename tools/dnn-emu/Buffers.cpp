//===- Buffers.cpp - The arguments of the kernel that is run --------------===//

#include "tools/dnn-emu/Buffers.h"
#include "tools/support/Files.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

using namespace tessera;
using namespace tessera::emu;
using namespace tessera::emulator;

/// An address within this distance of a buffer is reported with it.
static constexpr uint64_t kNear = 4096;

ErrorOr<std::vector<uint8_t>> tessera::emu::readFile(const std::string &path) {
  // A device file may be endless.
  std::error_code error;
  if (std::filesystem::is_character_file(path, error))
    return invalidArgument("cannot read '" + path + "': it is a device");
  ErrorOr<std::string> bytes = readInput(path);
  if (!bytes)
    return bytes.getStatus();
  return std::vector<uint8_t>(bytes->begin(), bytes->end());
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static void putElement(uint8_t *to, ElementType type, double value) {
  auto put = [to](auto bits) { std::memcpy(to, &bits, sizeof bits); };
  switch (type) {
  case ElementType::I8:
    return put(static_cast<int8_t>(static_cast<int64_t>(value)));
  case ElementType::I16:
    return put(static_cast<int16_t>(static_cast<int64_t>(value)));
  case ElementType::I32:
    return put(static_cast<int32_t>(static_cast<int64_t>(value)));
  case ElementType::I64:
    return put(static_cast<int64_t>(value));
  case ElementType::F16:
    return put(static_cast<_Float16>(value));
  case ElementType::BF16: {
    // Rounds to nearest even; no value here is a NaN.
    auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    return put(static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
  }
  case ElementType::F32:
    return put(static_cast<float>(value));
  case ElementType::F64:
    return put(value);
  }
}

template <typename T>
static T read(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

static double getElement(const uint8_t *from, ElementType type) {
  switch (type) {
  case ElementType::I8:
    return read<int8_t>(from);
  case ElementType::I16:
    return read<int16_t>(from);
  case ElementType::I32:
    return read<int32_t>(from);
  case ElementType::I64:
    return static_cast<double>(read<int64_t>(from));
  case ElementType::F16:
    return static_cast<double>(read<_Float16>(from));
  case ElementType::BF16:
    return std::bit_cast<float>(uint32_t(read<uint16_t>(from)) << 16);
  case ElementType::F32:
    return read<float>(from);
  case ElementType::F64:
    return read<double>(from);
  }
  return 0;
}

static void fillElements(const ArgumentSpec &spec, std::span<uint8_t> to) {
  std::mt19937_64 random(spec.seed);
  unsigned step = getElementBytes(spec.type);
  bool isInteger = spec.type <= ElementType::I64;
  for (size_t i = 0; (i + 1) * step <= to.size(); ++i) {
    double value = 1;
    if (spec.fill == ArgumentSpec::Fill::Iota)
      value = static_cast<double>(i);
    // Floats are in [-1, 1), integers in [-100, 100], so that sums stay small.
    if (spec.fill == ArgumentSpec::Fill::Random)
      value = isInteger ? static_cast<double>(random() % 201) - 100
                        : static_cast<double>(random() >> 11) * 0x1p-52 - 1;
    putElement(to.data() + i * step, spec.type, value);
  }
}

static Status fillBuffer(const ArgumentSpec &spec, std::span<uint8_t> to) {
  using enum ArgumentSpec::Fill;
  switch (spec.fill) {
  case Untouched:
    return Status::ok();
  case Zeros:
    std::ranges::fill(to, 0);
    return Status::ok();
  case File: {
    ErrorOr<std::vector<uint8_t>> file = readFile(spec.path);
    if (!file)
      return file.getStatus();
    if (file->size() != to.size())
      return invalidArgument("--arg " + spec.text + ": the file has " +
                             std::to_string(file->size()) + " bytes");
    std::ranges::copy(*file, to.begin());
    return Status::ok();
  }
  default:
    fillElements(spec, to);
    return Status::ok();
  }
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Arguments::~Arguments() {
  for (const Buffer &buffer : buffers)
    memory->free(buffer.bytes.data(), MemoryKind::Device);
}

Status Arguments::addBuffer(unsigned number, const ArgumentSpec &spec) {
  void *pointer = memory->allocate(spec.bufferBytes, MemoryKind::Device);
  if (!pointer)
    return invalidArgument("--arg " + spec.text + ": no memory for it");
  std::span<uint8_t> bytes(static_cast<uint8_t *>(pointer), spec.bufferBytes);
  buffers.push_back({number, spec.type, bytes});
  return fillBuffer(spec, bytes);
}

/// Prints "0 global_buffer of 8 bytes, 1 by_value of 4 bytes".
static std::string listArguments(const std::vector<KernelArgument> &list) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? ", " : "") + std::to_string(i) + " " + list[i].kind + " of " +
            std::to_string(list[i].bytes) + " bytes";
  return text.empty() ? "none" : text;
}

ErrorOr<Arguments> Arguments::create(const KernelImage &kernel,
                                     const std::vector<ArgumentSpec> &specs,
                                     MemoryMap &memory) {
  std::vector<KernelArgument> wanted;
  for (const KernelArgument &argument : kernel.arguments)
    if (!argument.isHidden())
      wanted.push_back(argument);
  if (wanted.size() != specs.size())
    return invalidArgument(
        "kernel '" + kernel.name + "' takes " + std::to_string(wanted.size()) +
        " arguments, but there are " + std::to_string(specs.size()) +
        "; it takes " + listArguments(wanted));
  Arguments result(memory);
  result.bytes.resize(kernel.descriptor.kernargBytes);
  for (unsigned i = 0; i < specs.size(); ++i) {
    std::vector<uint8_t> value = specs[i].bytes;
    if (specs[i].isBuffer) {
      if (Status status = result.addBuffer(i, specs[i]); !status.isOk())
        return status;
      auto address =
          reinterpret_cast<uint64_t>(result.buffers.back().bytes.data());
      value.resize(8);
      std::memcpy(value.data(), &address, 8);
    }
    if (value.size() != wanted[i].bytes ||
        uint64_t(wanted[i].offset) + value.size() > result.bytes.size())
      return invalidArgument("argument " + std::to_string(i) + " of kernel '" +
                             kernel.name + "' is a " + wanted[i].kind + " of " +
                             std::to_string(wanted[i].bytes) +
                             " bytes, but --arg " + specs[i].text + " has " +
                             std::to_string(value.size()));
    std::ranges::copy(value, result.bytes.begin() + wanted[i].offset);
  }
  return result;
}

uint64_t Arguments::getBufferBytes() const {
  uint64_t sum = 0;
  for (const Buffer &buffer : buffers)
    sum += buffer.bytes.size();
  return sum;
}

ErrorOr<Arguments::Buffer> Arguments::find(const char *option,
                                           unsigned number) const {
  auto it = std::ranges::find(buffers, number, &Buffer::argument);
  if (it == buffers.end())
    return invalidArgument(std::string(option) + ": argument " +
                           std::to_string(number) + " is not a buffer");
  return *it;
}

Status Arguments::dump(const DumpSpec &dump) const {
  ErrorOr<Buffer> buffer = find("--dump", dump.argument);
  if (!buffer)
    return buffer.getStatus();
  return writeOutput(dump.path,
                     {reinterpret_cast<const char *>(buffer->bytes.data()),
                      buffer->bytes.size()},
                     Content::Binary);
}

/// Whether `got` is within the tolerance of `wanted`; NaN equals NaN.
static bool isClose(double got, double wanted, double tolerance) {
  if (std::isnan(got) || std::isnan(wanted))
    return std::isnan(got) && std::isnan(wanted);
  return got == wanted ||
         std::fabs(got - wanted) <= tolerance * std::fabs(wanted);
}

ErrorOr<std::string> Arguments::compare(const CompareSpec &compare) const {
  ErrorOr<Buffer> buffer = find("--compare", compare.argument);
  if (!buffer)
    return buffer.getStatus();
  ErrorOr<std::vector<uint8_t>> file = readFile(compare.path);
  if (!file)
    return file.getStatus();
  std::string name = "argument " + std::to_string(compare.argument);
  if (file->size() != buffer->bytes.size())
    return name + " has " + std::to_string(buffer->bytes.size()) +
           " bytes, but '" + compare.path + "' has " +
           std::to_string(file->size());
  unsigned step = compare.tolerance ? getElementBytes(buffer->type) : 1;
  size_t differing = 0, first = 0, count = file->size() / step;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t *got = buffer->bytes.data() + i * step;
    const uint8_t *wanted = file->data() + i * step;
    bool isSame = compare.tolerance ? isClose(getElement(got, buffer->type),
                                              getElement(wanted, buffer->type),
                                              *compare.tolerance)
                                    : *got == *wanted;
    if (!isSame && differing++ == 0)
      first = i;
  }
  if (!differing)
    return std::string();
  ElementType type = compare.tolerance ? buffer->type : ElementType::I8;
  char values[80];
  std::snprintf(values, sizeof values, "%g, but %g is wanted",
                getElement(buffer->bytes.data() + first * step, type),
                getElement(file->data() + first * step, type));
  return name + " differs from '" + compare.path + "' in " +
         std::to_string(differing) + " of " + std::to_string(count) +
         (compare.tolerance ? " elements" : " bytes") + ", first at " +
         std::to_string(first) + ": " + values;
}

std::string Arguments::describe(uint64_t address) const {
  for (const Buffer &buffer : buffers) {
    auto begin = reinterpret_cast<uint64_t>(buffer.bytes.data());
    uint64_t end = begin + buffer.bytes.size();
    std::string name = "argument " + std::to_string(buffer.argument) +
                       ", a buffer of " + std::to_string(buffer.bytes.size()) +
                       " bytes";
    if (address >= begin && address < end)
      return std::to_string(address - begin) + " bytes into " + name;
    if (address >= end && address - end < kNear)
      return std::to_string(address - end) + " bytes past the end of " + name;
    if (address < begin && begin - address <= kNear)
      return std::to_string(begin - address) + " bytes before " + name;
  }
  return {};
}
