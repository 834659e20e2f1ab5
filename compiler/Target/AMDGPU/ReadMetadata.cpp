//===- ReadMetadata.cpp - Read the metadata of a code object --------------===//
//
// Registers, spills and the argument layout are known only after code
// generation; LLVM writes them into the metadata note (AMDGPU usage guide,
// "Code Object V5 Metadata").
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"

using namespace tessera;
using llvm::Expected;
using llvm::StringRef;
namespace ELF = llvm::ELF;
namespace msgpack = llvm::msgpack;
namespace object = llvm::object;

/// The number at `key`, or 0, since LLVM omits some keys whose value is 0.
static uint32_t getNumber(msgpack::MapDocNode &map, StringRef key) {
  auto entry = map.find(key);
  if (entry == map.end() || entry->second.getKind() != msgpack::Type::UInt)
    return 0;
  return static_cast<uint32_t>(entry->second.getUInt());
}

static std::string getString(msgpack::MapDocNode &map, StringRef key) {
  auto entry = map.find(key);
  if (entry == map.end() || !entry->second.isString())
    return {};
  return entry->second.getString().str();
}

static std::vector<KernelArgLayout> readArgs(msgpack::MapDocNode &kernel) {
  std::vector<KernelArgLayout> args;
  auto entry = kernel.find(".args");
  if (entry == kernel.end() || !entry->second.isArray())
    return args;
  for (msgpack::DocNode &node : entry->second.getArray()) {
    if (!node.isMap())
      continue;
    msgpack::MapDocNode &arg = node.getMap();
    args.push_back({getNumber(arg, ".offset"), getNumber(arg, ".size"),
                    getString(arg, ".value_kind")});
  }
  return args;
}

static KernelMetadata readKernel(msgpack::MapDocNode &kernel) {
  KernelMetadata metadata;
  metadata.name = getString(kernel, ".name");
  metadata.resources = {getNumber(kernel, ".vgpr_count"),
                        getNumber(kernel, ".agpr_count"),
                        getNumber(kernel, ".sgpr_count"),
                        getNumber(kernel, ".vgpr_spill_count"),
                        getNumber(kernel, ".sgpr_spill_count"),
                        getNumber(kernel, ".group_segment_fixed_size"),
                        getNumber(kernel, ".private_segment_fixed_size")};
  metadata.kernargBytes = getNumber(kernel, ".kernarg_segment_size");
  metadata.waveSize = getNumber(kernel, ".wavefront_size");
  metadata.maxBlockSize = getNumber(kernel, ".max_flat_workgroup_size");
  metadata.args = readArgs(kernel);
  return metadata;
}

static ErrorOr<std::vector<KernelMetadata>> readNote(StringRef blob) {
  msgpack::Document document;
  if (!document.readFromBlob(blob, /*Multi=*/false) ||
      !document.getRoot().isMap())
    return invalidArgument("the metadata note is damaged");
  msgpack::MapDocNode &root = document.getRoot().getMap();
  auto entry = root.find("amdhsa.kernels");
  if (entry == root.end() || !entry->second.isArray())
    return invalidArgument("the metadata note lists no kernels");
  std::vector<KernelMetadata> kernels;
  for (msgpack::DocNode &node : entry->second.getArray())
    if (node.isMap())
      kernels.push_back(readKernel(node.getMap()));
  return kernels;
}

/// Finds the note by its section, because object files have sections but no
/// segments.
static Expected<StringRef> findNote(const object::ELF64LEFile &file) {
  Expected<object::ELF64LE::ShdrRange> sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const object::ELF64LE::Shdr &section : *sections) {
    if (section.sh_type != ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    StringRef found;
    for (const object::ELF64LE::Note note : file.notes(section, error))
      if (note.getName() == "AMDGPU" &&
          note.getType() == ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(section.sh_addralign);
    if (error)
      return std::move(error);
    if (!found.empty())
      return found;
  }
  return StringRef();
}

ErrorOr<std::vector<KernelMetadata>>
tessera::readMetadata(std::span<const char> codeObject) {
  StringRef bytes(codeObject.data(), codeObject.size());
  Expected<object::ELF64LEFile> file = object::ELF64LEFile::create(bytes);
  if (!file)
    return invalidArgument("not an ELF file: " + toString(file.takeError()));
  Expected<StringRef> note = findNote(*file);
  if (!note)
    return invalidArgument("the ELF file is damaged: " +
                           toString(note.takeError()));
  if (note->empty())
    return invalidArgument("the code object has no AMDGPU metadata note");
  return readNote(*note);
}
