//===- OffloadBundle.cpp - Code objects of several chips in one -----------===//

#include "runtime/Emulator/Decode/OffloadBundle.h"

#include "runtime/Emulator/Decode/CodeObject.h"

#include "llvm/Support/Compression.h"
#include "llvm/Support/Error.h"

#include <cstring>

using namespace tessera;
using namespace tessera::emulator;

static constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
static constexpr std::string_view kCompressedMagic = "CCOB";
static constexpr uint64_t kMaxBytes = uint64_t(1) << 32;
static constexpr uint64_t kMaxEntries = 1024;
static constexpr uint64_t kMaxNameBytes = 256;

namespace {
/// Reads numbers one after another, never beyond `limit`.
class Cursor {
public:
  Cursor(const uint8_t *begin, uint64_t limit) : begin(begin), limit(limit) {}

  const uint8_t *take(uint64_t bytes) {
    if (limit - at < bytes) {
      failed = true;
      return nullptr;
    }
    const uint8_t *here = begin + at;
    at += bytes;
    return here;
  }
  template <typename T>
  T read() {
    T value = 0;
    if (const uint8_t *from = take(sizeof value))
      std::memcpy(&value, from, sizeof value);
    return value;
  }
  bool hasFailed() const { return failed; }

private:
  const uint8_t *begin;
  uint64_t limit;
  uint64_t at = 0;
  bool failed = false;
};
} // namespace

static bool startsWith(const uint8_t *bytes, uint64_t limit,
                       std::string_view magic) {
  return limit >= magic.size() &&
         std::memcmp(bytes, magic.data(), magic.size()) == 0;
}

bool tessera::emulator::isCompatibleTarget(std::string_view target,
                                           std::string_view archName) {
  auto takeWord = [](std::string_view &text) {
    std::string_view word = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  };
  if (takeWord(target) != takeWord(archName))
    return false;
  // The code runs with either setting of a feature that it does not mention; a
  // feature that the device does not have cannot be required.
  while (!target.empty()) {
    std::string_view wanted = takeWord(target), rest = archName;
    bool found = false;
    while (!rest.empty())
      found |= takeWord(rest) == wanted;
    if (!found)
      return false;
  }
  return true;
}

/// Returns "gfx942:xnack-" for "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-". The
/// host's entry has no such part.
static std::string_view getTargetOfEntry(std::string_view name) {
  if (!name.starts_with("hip"))
    return {};
  size_t at = name.rfind("-gfx");
  return at == name.npos ? std::string_view{} : name.substr(at + 1);
}

static ErrorOr<std::vector<uint8_t>>
selectEntry(const uint8_t *bundle, uint64_t limit, const Chip &chip) {
  Cursor cursor(bundle, limit);
  (void)cursor.take(kMagic.size());
  auto count = cursor.read<uint64_t>();
  if (count > kMaxEntries)
    return invalidArgument("the offload bundle has too many entries");
  std::string others;
  for (uint64_t i = 0; i < count; ++i) {
    auto offset = cursor.read<uint64_t>();
    auto size = cursor.read<uint64_t>();
    auto nameBytes = cursor.read<uint64_t>();
    const uint8_t *name =
        nameBytes > kMaxNameBytes ? nullptr : cursor.take(nameBytes);
    if (!name || cursor.hasFailed() || offset > limit || limit - offset < size)
      return invalidArgument("the offload bundle is cut off");
    std::string_view target =
        getTargetOfEntry({reinterpret_cast<const char *>(name), nameBytes});
    if (target.empty() || !size)
      continue;
    if (isCompatibleTarget(target, chip.archName))
      return std::vector<uint8_t>(bundle + offset, bundle + offset + size);
    others += (others.empty() ? "" : ", ") + std::string(target);
  }
  return notSupported("the code is for " +
                      (others.empty() ? "no GPU" : others) +
                      ", but the device is " + std::string(chip.archName));
}

// Version 2 has 32-bit sizes, version 3 has 64-bit ones, and version 1 did not
// store its length. The uncompressed size and a hash follow; the hash is not
// needed.
static ErrorOr<std::vector<uint8_t>>
selectCompressed(const uint8_t *bundle, uint64_t limit, const Chip &chip) {
  Cursor cursor(bundle, limit);
  (void)cursor.take(kCompressedMagic.size());
  auto version = cursor.read<uint16_t>();
  auto method = cursor.read<uint16_t>();
  if (version != 2 && version != 3)
    return notSupported("a compressed offload bundle of version " +
                        std::to_string(version));
  bool isWide = version == 3;
  uint64_t total = isWide ? cursor.read<uint64_t>() : cursor.read<uint32_t>();
  uint64_t bytes = isWide ? cursor.read<uint64_t>() : cursor.read<uint32_t>();
  (void)cursor.read<uint64_t>();
  uint64_t headerBytes = isWide ? 32 : 24;
  if (cursor.hasFailed() || total > limit || total < headerBytes ||
      bytes > kMaxBytes)
    return invalidArgument("the compressed offload bundle is cut off");
  auto format = static_cast<llvm::compression::Format>(method);
  if (method > 1 || llvm::compression::getReasonIfUnsupported(format))
    return notSupported("a compressed offload bundle of method " +
                        std::to_string(method));
  llvm::SmallVector<uint8_t, 0> plain;
  if (llvm::Error error = llvm::compression::decompress(
          format, {bundle + headerBytes, total - headerBytes}, plain, bytes))
    return invalidArgument("the compressed offload bundle is broken: " +
                           llvm::toString(std::move(error)));
  if (!startsWith(plain.data(), plain.size(), kMagic))
    return invalidArgument("a compressed file that is no offload bundle");
  return selectEntry(plain.data(), plain.size(), chip);
}

static ErrorOr<std::vector<uint8_t>>
selectWithin(const uint8_t *bytes, uint64_t limit, const Chip &chip) {
  if (startsWith(bytes, limit, kCompressedMagic))
    return selectCompressed(bytes, limit, chip);
  if (startsWith(bytes, limit, kMagic))
    return selectEntry(bytes, limit, chip);
  return invalidArgument("neither an AMDGPU ELF file nor an offload bundle");
}

ErrorOr<std::vector<uint8_t>>
tessera::emulator::selectCodeObject(const void *image, const Chip &chip) {
  const auto *bytes = static_cast<const uint8_t *>(image);
  if (size_t size = getElfSize(image))
    return std::vector<uint8_t>(bytes, bytes + size);
  return selectWithin(bytes, kMaxBytes, chip);
}

ErrorOr<std::vector<uint8_t>>
tessera::emulator::selectCodeObject(std::span<const uint8_t> file,
                                    const Chip &chip) {
  if (startsWith(file.data(), file.size(), "\177ELF"))
    return std::vector<uint8_t>(file.begin(), file.end());
  return selectWithin(file.data(), file.size(), chip);
}
