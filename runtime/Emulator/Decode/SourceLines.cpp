//===- SourceLines.cpp - From a pc to a line of source --------------------===//

#include "runtime/Emulator/Decode/SourceLines.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <algorithm>
#include <mutex>
#include <string_view>

using namespace tessera::emulator;

struct SourceLines::Implementation {
  std::string file;
  std::mutex mutex;
  bool isRead = false;
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;

  void read() {
    isRead = true;
    auto opened = llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef(file, "code object"));
    if (!opened) {
      llvm::consumeError(opened.takeError());
      return;
    }
    object = std::move(*opened);
    auto ignore = [](llvm::Error error) {
      llvm::consumeError(std::move(error));
    };
    context = llvm::DWARFContext::create(
        *object, llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr,
        "", ignore, ignore);
  }
};

SourceLines::SourceLines(std::span<const uint8_t> file)
    : implementation(std::make_unique<Implementation>()) {
  implementation->file.assign(file.begin(), file.end());
}
SourceLines::~SourceLines() = default;

std::shared_ptr<const SourceLines>
SourceLines::load(std::span<const uint8_t> file) {
  // The section's name occurs in the file if the section does.
  constexpr std::string_view kSection = ".debug_line";
  if (std::ranges::search(file, kSection).empty())
    return nullptr;
  return std::shared_ptr<const SourceLines>(new SourceLines(file));
}

std::string SourceLines::find(uint64_t pc) const {
  std::lock_guard lock(implementation->mutex);
  if (!implementation->isRead)
    implementation->read();
  if (!implementation->context)
    return "";
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  auto line = implementation->context->getLineInfoForAddress(
      {pc, llvm::object::SectionedAddress::UndefSection},
      llvm::DILineInfoSpecifier(Kind::BaseNameOnly));
  if (!line || line->Line == 0)
    return "";
  return line->FileName + ":" + std::to_string(line->Line);
}
