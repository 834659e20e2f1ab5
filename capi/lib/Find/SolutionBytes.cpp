//===- SolutionBytes.cpp - Solutions as clients save them -----------------===//
//
// Clients keep these bytes in files, for years. The bytes that are read may
// come from another release, be truncated, or be made by an attacker. Therefore
// the reader refuses the whole if bytes are missing or a number is out of
// range.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Find/Solution.h"

#include "runtime/Base/Hash.h"
#include "runtime/Db/KernelKey.h"
#include "runtime/Db/KernelText.h"

#include <bit>
#include <concepts>

using namespace tessera;
using namespace tessera::capi;

/// Must be incremented when visitData() changes; kKernelFormat is the version
/// of the kernel inside.
static constexpr uint64_t kVersion = 2;
/// "TESSOLUT" as a number.
static constexpr uint64_t kMagic = 0x54554c4f53534554;
/// The header has magic number, version, kKernelFormat and checksum.
static constexpr size_t kHeaderBytes = 4 * sizeof(uint64_t);

namespace {
/// Appends numbers as 8 bytes, little-endian, and texts with their length.
class Writer {
public:
  void visit(const uint64_t &number) {
    for (int byte = 0; byte < 8; ++byte)
      bytes.push_back(static_cast<char>(number >> (8 * byte) & 0xff));
  }
  void visit(const std::string &text) {
    visit(uint64_t(text.size()));
    bytes += text;
  }
  std::string bytes;
};

/// Reads numbers and texts from the front of the bytes. After the first failure
/// every number reads as 0.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}

  void visit(uint64_t &number) {
    number = 0;
    if (bytes.size() < 8) {
      isGood = false;
      return;
    }
    for (int byte = 7; byte >= 0; --byte)
      number = number << 8 | static_cast<unsigned char>(bytes[byte]);
    bytes.remove_prefix(8);
  }
  void visit(std::string &text) {
    uint64_t size = 0;
    visit(size);
    if (size > bytes.size()) {
      isGood = false;
      return;
    }
    text = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  bool isAtEnd() const { return isGood && bytes.empty(); }
  /// Reads the number of elements of a list. A number that the remaining bytes
  /// cannot hold is a failure, so that nobody allocates for it.
  uint64_t takeCount() {
    uint64_t count = 0;
    visit(count);
    if (count <= bytes.size() / 8)
      return count;
    isGood = false;
    return 0;
  }

private:
  std::string_view bytes;
  bool isGood = true;
};
} // namespace

/// Writes or reads a number that has fewer than 64 bits, as 64 bits.
template <typename Number>
static void visitNumber(Writer &writer, const Number &number) {
  writer.visit(static_cast<uint64_t>(number));
}
template <typename Number>
static void visitNumber(Reader &reader, Number &number) {
  uint64_t wide = 0;
  reader.visit(wide);
  number = static_cast<Number>(wide);
}

static void visitScalar(Writer &writer, double scalar) {
  writer.visit(std::bit_cast<uint64_t>(scalar));
}
static void visitScalar(Reader &reader, double &scalar) {
  uint64_t bits = 0;
  reader.visit(bits);
  scalar = std::bit_cast<double>(bits);
}

/// Writes or reads the size of a vector, whose elements follow.
template <typename T>
static void visitCount(Writer &writer, const std::vector<T> &values) {
  writer.visit(uint64_t(values.size()));
}
template <typename T>
static void visitCount(Reader &reader, std::vector<T> &values) {
  values.resize(reader.takeCount());
}

template <typename Visitor, typename Lengths>
static void visitLengths(Visitor &visitor, Lengths &lengths) {
  visitCount(visitor, lengths);
  for (auto &length : lengths)
    visitNumber(visitor, length);
}

/// Writes or reads everything but the time, the launches and the code object.
/// One function does both, so that the orders cannot differ.
template <typename Visitor, typename Data>
static void visitData(Visitor &visitor, Data &data) {
  visitor.visit(data.networkConfig);
  visitor.visit(data.target);
  visitor.visit(data.kernel.tile);
  visitor.visit(data.id);
  visitCount(visitor, data.tensors);
  for (auto &tensor : data.tensors) {
    visitNumber(visitor, tensor.id);
    visitNumber(visitor, tensor.arg);
    visitNumber(visitor, tensor.desc.dataType);
    visitLengths(visitor, tensor.desc.lengths);
    visitLengths(visitor, tensor.desc.strides);
  }
  visitCount(visitor, data.scalars);
  for (auto &scalar : data.scalars)
    visitScalar(visitor, scalar);
  visitColumns(data.kernel,
               [&](auto &number) { visitNumber(visitor, number); });
}

static uint64_t getChecksum(std::string_view bytes) {
  Fnv1a hash;
  hash.addField(bytes);
  return hash.get();
}

std::string capi::saveSolution(const SolutionData &data) {
  Writer body;
  visitData(body, data);
  body.visit(std::bit_cast<uint32_t>(data.timeMs));
  body.visit(toText(data.kernel.launches));
  body.visit(std::string(data.kernel.codeObject.begin(),
                         data.kernel.codeObject.end()));
  Writer whole;
  whole.visit(kMagic);
  whole.visit(kVersion);
  whole.visit(uint64_t(kKernelFormat));
  whole.visit(getChecksum(body.bytes));
  whole.bytes += body.bytes;
  return std::move(whole.bytes);
}

/// Whether `arg` may be the argument of a tensor in a solution. Saved bytes
/// could name any other.
static bool isTensor(KernelArg arg) {
  return arg == KernelArg::X || arg == KernelArg::W || arg == KernelArg::Y ||
         isRowTensor(arg);
}

/// Reads the bytes behind the header; false if they are not valid.
static bool readBody(std::string_view bytes, SolutionData &data) {
  Reader reader(bytes);
  uint64_t time = 0;
  std::string launches, codeObject;
  visitData(reader, data);
  reader.visit(time);
  reader.visit(launches);
  reader.visit(codeObject);
  std::optional<std::vector<LaunchRecipe>> parsed = parseLaunches(launches);
  if (!reader.isAtEnd() || !parsed || parsed->empty())
    return false;
  for (const SolutionTensor &tensor : data.tensors)
    if (tensor.desc.lengths.size() != tensor.desc.strides.size() ||
        !isTensor(tensor.arg))
      return false;
  if (data.scalars.size() > kMaxScalars)
    return false;
  data.timeMs = std::bit_cast<float>(static_cast<uint32_t>(time));
  data.kernel.launches = std::move(*parsed);
  data.kernel.codeObject.assign(codeObject.begin(), codeObject.end());
  return true;
}

ApiResult capi::loadSolution(std::string_view bytes, SolutionData &data) {
  Reader header(bytes.substr(0, kHeaderBytes));
  uint64_t magic, version, format, checksum;
  header.visit(magic);
  header.visit(version);
  header.visit(format);
  header.visit(checksum);
  if (magic != kMagic)
    return {miopenStatusInvalidValue, "the bytes are not a saved solution"};
  if (version != kVersion || format != uint64_t(kKernelFormat))
    return {miopenStatusVersionMismatch,
            "the solution was saved in format " + std::to_string(version) +
                "." + std::to_string(format) + ", but this release reads " +
                std::to_string(kVersion) + "." + std::to_string(kKernelFormat)};
  const std::string_view body = bytes.substr(kHeaderBytes);
  if (getChecksum(body) != checksum || !readBody(body, data))
    return {miopenStatusInvalidValue, "the saved solution is damaged"};
  return Status::ok();
}
