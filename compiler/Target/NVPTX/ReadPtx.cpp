//===- ReadPtx.cpp - Read the kernels of a PTX text -----------------------===//
//
// Arguments, block size and shared memory are directives of the text, each on a
// line of its own; only the driver knows the registers of a kernel.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVPTX/NvptxTarget.h"

#include <charconv>
#include <optional>

using namespace tessera;

static constexpr uint32_t kWarpSize = 32;

/// Returns the text after `prefix` if `line` begins with it; indentation is
/// ignored.
static std::optional<std::string_view> takePrefix(std::string_view line,
                                                  std::string_view prefix) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with(prefix))
    return std::nullopt;
  return line.substr(prefix.size());
}

/// Returns the number that `text` begins with, or 0.
static uint32_t readNumber(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" "), text.size()));
  uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Returns the number of bytes of, for example, ".align 16 .b8 name[2048]".
static uint32_t readArrayBytes(std::string_view text) {
  size_t bracket = text.rfind('[');
  return bracket == text.npos ? 0 : readNumber(text.substr(bracket + 1));
}

/// Parses an argument: ".param .u64 .ptr .global .align 1 name" is a pointer of
/// 64 bits, ".param .align 64 .b8 name[128]" a value of 128 bytes.
static KernelArgLayout readArg(std::string_view text, uint32_t offset) {
  if (uint32_t bytes = readArrayBytes(text))
    return {offset, bytes, "by_value"};
  size_t digits = text.find_first_of("0123456789");
  uint32_t bits = digits == text.npos ? 0 : readNumber(text.substr(digits));
  bool isPointer = text.find(".ptr") != text.npos;
  return {offset, bits / 8, isPointer ? "global_buffer" : "by_value"};
}

ErrorOr<std::vector<KernelMetadata>> tessera::readPtx(std::string_view ptx) {
  std::vector<KernelMetadata> kernels;
  uint32_t sharedByAll = 0;
  while (!ptx.empty()) {
    std::string_view line = ptx.substr(0, ptx.find('\n'));
    ptx.remove_prefix(std::min(line.size() + 1, ptx.size()));
    if (auto shared = takePrefix(line, ".shared "))
      (kernels.empty() ? sharedByAll : kernels.back().resources.ldsBytes) +=
          readArrayBytes(*shared);
    // Dynamic shared memory is declared as external, but needs no library.
    if (takePrefix(line, ".extern ") && !takePrefix(line, ".extern .shared "))
      return internalError("the PTX needs a library: " + std::string(line));
    if (auto name = takePrefix(line, ".visible .entry ")) {
      KernelMetadata &kernel = kernels.emplace_back();
      kernel.name = name->substr(0, name->find('('));
      kernel.waveSize = kWarpSize;
      kernel.resources.ldsBytes = sharedByAll;
    }
    if (kernels.empty())
      continue;
    KernelMetadata &kernel = kernels.back();
    if (auto arg = takePrefix(line, ".param ")) {
      kernel.args.push_back(readArg(*arg, kernel.kernargBytes));
      kernel.kernargBytes += kernel.args.back().bytes;
    }
    if (auto threads = takePrefix(line, ".maxntid "))
      kernel.maxBlockSize = readNumber(*threads);
  }
  if (kernels.empty())
    return invalidArgument("the PTX has no kernel");
  return kernels;
}
