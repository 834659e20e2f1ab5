//===- CodeObject.cpp - An AMDGPU code object in memory -------------------===//

#include "runtime/Emulator/Decode/CodeObject.h"

#include "runtime/Emulator/Decode/MessagePack.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace tessera;
using namespace tessera::emulator;

// Values that the system's elf.h lacks, from llvm/BinaryFormat/ELF.h.
static constexpr uint16_t kMachineAmdgpu = 224;
static constexpr uint8_t kOsAbiHsa = 64;
static constexpr uint32_t kNoteMetadata = 32;
static constexpr uint64_t kMaxFileBytes = 1u << 30;
static constexpr uint64_t kPage = 4096;
enum AmdgpuRelocation : uint32_t {
  kAbs32Lo = 1,
  kAbs32Hi = 2,
  kAbs64 = 3,
  kRelative64 = 13
};

namespace tessera::emulator {
/// The state that load() needs only while it reads.
class CodeObjectReader {
public:
  CodeObjectReader(std::span<const uint8_t> file, const Chip &chip,
                   MemoryMap &memory)
      : file(file), chip(chip), memory(memory) {}

  ErrorOr<std::shared_ptr<const CodeObject>> read();

private:
  Status checkHeader();
  Status loadSegments(CodeObject &object);
  Status readDynamic(CodeObject &object);
  Status relocate(CodeObject &object);
  Status readSymbols(CodeObject &object);
  Status readMetadata(CodeObject &object);
  void readKernelMetadata(CodeObject &object, const MessagePackValue &entry);

  template <typename T>
  const T *at(uint64_t offset, uint64_t count = 1) const {
    if (offset > file.size() || (file.size() - offset) / sizeof(T) < count)
      return nullptr;
    return reinterpret_cast<const T *>(file.data() + offset);
  }
  /// Returns bytes of the image in device memory, or nullptr if they are out of
  /// its bounds.
  uint8_t *locate(CodeObject &object, uint64_t address, uint64_t bytes) const {
    if (address > imageBytes || imageBytes - address < bytes)
      return nullptr;
    return reinterpret_cast<uint8_t *>(object.base + address);
  }
  std::string_view getSymbolName(CodeObject &object, uint32_t offset) const;

  std::span<const uint8_t> file;
  const Chip &chip;
  MemoryMap &memory;
  const Elf64_Ehdr *header = nullptr;
  std::span<const Elf64_Phdr> segments;
  uint64_t imageBytes = 0;
  uint64_t symbolTable = 0, stringTable = 0, stringBytes = 0;
  uint64_t relocations = 0, relocationBytes = 0, symbolCount = 0;
};
} // namespace tessera::emulator

Status CodeObjectReader::checkHeader() {
  header = at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return invalidArgument("not an ELF file");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_machine != kMachineAmdgpu ||
      header->e_ident[EI_OSABI] != kOsAbiHsa || header->e_type != ET_DYN)
    return invalidArgument("not an AMDGPU code object");
  const Chip *madeFor = findChipByElfMachine(header->e_flags);
  if (madeFor != &chip)
    return notSupported("the code object is for " +
                        std::string(madeFor ? madeFor->name : "another chip") +
                        ", but the device is " + std::string(chip.name));
  const auto *table = at<Elf64_Phdr>(header->e_phoff, header->e_phnum);
  if (!table)
    return invalidArgument("the program headers are cut off");
  segments = {table, header->e_phnum};
  return Status::ok();
}

Status CodeObjectReader::loadSegments(CodeObject &object) {
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD) {
      if (segment.p_memsz > (1u << 30) || segment.p_vaddr > (1u << 30) ||
          segment.p_filesz > segment.p_memsz)
        return invalidArgument("a segment is larger than a code object can be");
      imageBytes = std::max(imageBytes, segment.p_vaddr + segment.p_memsz);
    }
  if (!imageBytes)
    return invalidArgument("no segment to load");
  void *image = memory.allocate(imageBytes, MemoryKind::Code);
  if (!image)
    return {StatusCode::ResourceExhausted, "no memory for the code object"};
  std::memset(image, 0, imageBytes);
  object.base = reinterpret_cast<uint64_t>(image);
  object.allocations.emplace_back(object.base, MemoryKind::Code);
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_LOAD)
      continue;
    const auto *bytes = at<uint8_t>(segment.p_offset, segment.p_filesz);
    if (!bytes)
      return invalidArgument("a segment is cut off");
    uint8_t *to = locate(object, segment.p_vaddr, segment.p_memsz);
    std::memcpy(to, bytes, segment.p_filesz);
    if (segment.p_flags & PF_X)
      object.text = {to, segment.p_filesz}; // The zeros behind are not code.
    // Linkers place each segment on pages of its own, in ascending order.
    uint64_t begin = object.base + segment.p_vaddr / kPage * kPage;
    if (segment.p_flags & PF_W && begin > object.allocations.back().first) {
      memory.split(begin, MemoryKind::Global);
      object.allocations.emplace_back(begin, MemoryKind::Global);
    }
  }
  return Status::ok();
}

Status CodeObjectReader::readDynamic(CodeObject &object) {
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_DYNAMIC)
      continue;
    for (uint64_t i = 0; i < segment.p_filesz / sizeof(Elf64_Dyn); ++i) {
      auto *entry = reinterpret_cast<const Elf64_Dyn *>(locate(
          object, segment.p_vaddr + i * sizeof(Elf64_Dyn), sizeof(Elf64_Dyn)));
      if (!entry || entry->d_tag == DT_NULL)
        break;
      switch (entry->d_tag) {
      case DT_SYMTAB:
        symbolTable = entry->d_un.d_ptr;
        break;
      case DT_STRTAB:
        stringTable = entry->d_un.d_ptr;
        break;
      case DT_STRSZ:
        stringBytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        relocations = entry->d_un.d_ptr;
        break;
      case DT_RELASZ:
        relocationBytes = entry->d_un.d_val;
        break;
      case DT_HASH: {
        // The table is { buckets, chains, ... } and has one chain for each
        // symbol.
        auto *hash = reinterpret_cast<const uint32_t *>(
            locate(object, entry->d_un.d_ptr, 8));
        symbolCount = hash ? hash[1] : 0;
        break;
      }
      default:
        break;
      }
    }
  }
  if (!symbolTable || !stringTable || !symbolCount)
    return invalidArgument("no dynamic symbol table");
  return Status::ok();
}

Status CodeObjectReader::relocate(CodeObject &object) {
  for (uint64_t i = 0; i < relocationBytes / sizeof(Elf64_Rela); ++i) {
    auto *entry = reinterpret_cast<const Elf64_Rela *>(locate(
        object, relocations + i * sizeof(Elf64_Rela), sizeof(Elf64_Rela)));
    uint8_t *target = entry ? locate(object, entry->r_offset, 8) : nullptr;
    if (!target)
      return invalidArgument("a relocation is out of the image");
    uint64_t value = object.base + static_cast<uint64_t>(entry->r_addend);
    uint32_t type = ELF64_R_TYPE(entry->r_info);
    if (type != kRelative64) {
      auto *symbol = reinterpret_cast<const Elf64_Sym *>(locate(
          object, symbolTable + ELF64_R_SYM(entry->r_info) * sizeof(Elf64_Sym),
          sizeof(Elf64_Sym)));
      if (!symbol || symbol->st_shndx == SHN_UNDEF)
        return invalidArgument("a symbol is undefined");
      value += symbol->st_value;
    }
    if (type == kAbs32Hi)
      value >>= 32;
    if (type != kAbs32Lo && type != kAbs32Hi && type != kAbs64 &&
        type != kRelative64)
      return invalidArgument("unknown relocation type " + std::to_string(type));
    std::memcpy(target, &value, type == kAbs32Lo || type == kAbs32Hi ? 4 : 8);
  }
  return Status::ok();
}

std::string_view CodeObjectReader::getSymbolName(CodeObject &object,
                                                 uint32_t offset) const {
  const uint8_t *table = locate(object, stringTable, stringBytes);
  if (!table || offset >= stringBytes)
    return {};
  const char *text = reinterpret_cast<const char *>(table) + offset;
  return {text, strnlen(text, stringBytes - offset)};
}

static KernelDescriptor unpackDescriptor(const uint8_t *bytes) {
  auto read = [&](unsigned offset, auto &field) {
    std::memcpy(&field, bytes + offset, sizeof field);
  };
  KernelDescriptor result;
  read(0, result.ldsBytes);
  read(4, result.scratchBytes);
  read(8, result.kernargBytes);
  read(16, result.entryOffset);
  read(44, result.rsrc3);
  read(48, result.rsrc1);
  read(52, result.rsrc2);
  read(56, result.properties);
  read(58, result.kernargPreload);
  return result;
}

Status CodeObjectReader::readSymbols(CodeObject &object) {
  auto *symbols = reinterpret_cast<const Elf64_Sym *>(
      locate(object, symbolTable, symbolCount * sizeof(Elf64_Sym)));
  if (!symbols)
    return invalidArgument("the symbol table is out of the image");
  for (uint64_t i = 0; i < symbolCount; ++i) {
    const Elf64_Sym &symbol = symbols[i];
    std::string_view name = getSymbolName(object, symbol.st_name);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT ||
        symbol.st_shndx == SHN_UNDEF)
      continue;
    uint8_t *bytes = locate(object, symbol.st_value, symbol.st_size);
    if (!bytes)
      return invalidArgument("a symbol is out of the image");
    if (!name.ends_with(".kd")) {
      object.globals.push_back(
          {std::string(name), object.base + symbol.st_value, symbol.st_size});
      continue;
    }
    if (symbol.st_size != 64)
      return invalidArgument("a kernel descriptor is not 64 bytes");
    KernelImage kernel;
    kernel.name = name.substr(0, name.size() - 3);
    kernel.descriptor = unpackDescriptor(bytes);
    kernel.entry = object.base + symbol.st_value +
                   static_cast<uint64_t>(kernel.descriptor.entryOffset);
    uint64_t textEnd = object.getTextAddress() + object.text.size();
    if (kernel.entry < object.getTextAddress() || kernel.entry >= textEnd)
      return invalidArgument("the entry of a kernel is not in the code");
    object.kernels.push_back(std::move(kernel));
  }
  for (uint64_t i = 0; i < symbolCount; ++i)
    for (KernelImage &kernel : object.kernels)
      if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
          object.base + symbols[i].st_value == kernel.entry)
        kernel.codeBytes = symbols[i].st_size;
  return Status::ok();
}

void CodeObjectReader::readKernelMetadata(CodeObject &object,
                                          const MessagePackValue &entry) {
  std::string symbol = entry.getText(".symbol");
  for (KernelImage &kernel : object.kernels) {
    if (symbol != kernel.name + ".kd")
      continue;
    kernel.maxWorkgroupSize = static_cast<uint32_t>(
        entry.getInteger(".max_flat_workgroup_size", 1024));
    const MessagePackValue *required = entry.find(".reqd_workgroup_size");
    for (size_t d = 0; required && d < 3 && d < required->items.size(); ++d)
      kernel.requiredGroupSize[d] =
          static_cast<uint32_t>(required->items[d].integer);
    kernel.vgprCount =
        static_cast<uint32_t>(entry.getInteger(".vgpr_count", 0));
    kernel.agprCount =
        static_cast<uint32_t>(entry.getInteger(".agpr_count", 0));
    kernel.sgprCount =
        static_cast<uint32_t>(entry.getInteger(".sgpr_count", 0));
    // Old compilers leave the descriptor's size 0; then only the metadata has
    // it.
    kernel.descriptor.kernargBytes = std::max(
        kernel.descriptor.kernargBytes,
        static_cast<uint32_t>(entry.getInteger(".kernarg_segment_size", 0)));
    const MessagePackValue *arguments = entry.find(".args");
    if (!arguments)
      continue;
    for (const MessagePackValue &argument : arguments->items)
      kernel.arguments.push_back(
          {static_cast<uint32_t>(argument.getInteger(".offset", 0)),
           static_cast<uint32_t>(argument.getInteger(".size", 0)),
           argument.getText(".value_kind")});
  }
}

Status CodeObjectReader::readMetadata(CodeObject &object) {
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_NOTE)
      continue;
    uint64_t offset = segment.p_offset;
    const uint64_t end = segment.p_offset + segment.p_filesz;
    while (const auto *note = at<Elf64_Nhdr>(offset)) {
      uint64_t nameAt = offset + sizeof(Elf64_Nhdr);
      uint64_t bodyAt = nameAt + (uint64_t(note->n_namesz) + 3) / 4 * 4;
      offset = bodyAt + (uint64_t(note->n_descsz) + 3) / 4 * 4;
      const auto *body = at<uint8_t>(bodyAt, note->n_descsz);
      if (offset > end || !body)
        break;
      if (note->n_type != kNoteMetadata)
        continue;
      auto metadata = parseMessagePack({body, note->n_descsz});
      const MessagePackValue *list =
          metadata ? metadata->find("amdhsa.kernels") : nullptr;
      if (!list)
        return invalidArgument("the metadata note cannot be read");
      for (const MessagePackValue &entry : list->items)
        readKernelMetadata(object, entry);
      return Status::ok();
    }
  }
  return invalidArgument("no metadata note");
}

ErrorOr<std::shared_ptr<const CodeObject>> CodeObjectReader::read() {
  if (Status status = checkHeader(); !status.isOk())
    return status;
  std::shared_ptr<CodeObject> object(new CodeObject(memory));
  for (auto step :
       {&CodeObjectReader::loadSegments, &CodeObjectReader::readDynamic,
        &CodeObjectReader::relocate, &CodeObjectReader::readSymbols,
        &CodeObjectReader::readMetadata})
    if (Status status = (this->*step)(*object); !status.isOk())
      return status;
  object->lines = SourceLines::load(file);
  return std::shared_ptr<const CodeObject>(std::move(object));
}

ErrorOr<std::shared_ptr<const CodeObject>> CodeObject::load(const void *bytes,
                                                            size_t size,
                                                            const Chip &chip,
                                                            MemoryMap &memory) {
  // Copy the file, because ELF structures need alignment and the caller's
  // buffer may be freed.
  const auto *first = static_cast<const uint8_t *>(bytes);
  std::vector<uint8_t> copy(first, first + size);
  return CodeObjectReader(copy, chip, memory).read();
}

CodeObject::~CodeObject() {
  for (auto [begin, kind] : allocations)
    memory.free(reinterpret_cast<void *>(begin), kind);
}

const KernelImage *CodeObject::findKernel(std::string_view name) const {
  auto it = std::ranges::find(kernels, name, &KernelImage::name);
  return it == kernels.end() ? nullptr : &*it;
}

const GlobalImage *CodeObject::findGlobal(std::string_view name) const {
  auto it = std::ranges::find(globals, name, &GlobalImage::name);
  return it == globals.end() ? nullptr : &*it;
}

size_t tessera::emulator::getElfSize(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(header.e_ident, image, SELFMAG);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return 0;
  std::memcpy(&header, image, sizeof header);
  // Linkers put the program headers right behind the ELF header. Any other file
  // is refused, so that offsets in garbage are never followed.
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != kMachineAmdgpu ||
      header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phoff != sizeof header || header.e_phnum > 64)
    return 0;
  size_t size = sizeof header;
  const auto *bytes = static_cast<const uint8_t *>(image);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + i * sizeof segment,
                sizeof segment);
    if (segment.p_offset > kMaxFileBytes || segment.p_filesz > kMaxFileBytes)
      return 0;
    size = std::max<size_t>(size, segment.p_offset + segment.p_filesz);
  }
  size = std::max<size_t>(size,
                          header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr));
  return size;
}
