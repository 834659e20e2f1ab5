//===- EndlessKernel.cpp - A kernel that never ends -----------------------===//

#include "runtime/Worker/EndlessKernel.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>

using namespace tessera;

/// The encoding of s_branch -1, from the manuals of the chips.
static uint32_t getJump(std::string_view target) {
  const bool isLate =
      target.starts_with("gfx11") || target.starts_with("gfx12");
  return isLate ? 0xbfa0ffff : 0xbf82ffff;
}

template <typename T>
static T read(const std::vector<char> &code, uint64_t offset) {
  T value{};
  if (offset <= code.size() && sizeof value <= code.size() - offset)
    std::memcpy(&value, code.data() + offset, sizeof value);
  return value;
}

static Elf64_Shdr getSection(const std::vector<char> &code,
                             const Elf64_Ehdr &head, uint64_t index) {
  return read<Elf64_Shdr>(code, head.e_shoff + index * sizeof(Elf64_Shdr));
}

static bool spoilElf(std::vector<char> &code, uint32_t jump) {
  const auto head = read<Elf64_Ehdr>(code, 0);
  bool isDone = false;
  for (uint64_t index = 0; index < head.e_shnum; ++index) {
    const Elf64_Shdr table = getSection(code, head, index);
    if (table.sh_type != SHT_DYNSYM && table.sh_type != SHT_SYMTAB)
      continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size;
         at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(code, table.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
        continue;
      const Elf64_Shdr text = getSection(code, head, symbol.st_shndx);
      const uint64_t offset = symbol.st_value - text.sh_addr + text.sh_offset;
      if (offset > code.size() || sizeof jump > code.size() - offset)
        continue;
      std::memcpy(code.data() + offset, &jump, sizeof jump);
      isDone = true;
    }
  }
  return isDone;
}

static bool spoilPtx(std::vector<char> &code) {
  constexpr std::string_view kLoop = "\n{ $endless: bra.uni $endless; }\n";
  std::string text(code.begin(), code.end());
  bool isDone = false;
  for (size_t at = 0; (at = text.find(".entry", at)) != text.npos;) {
    at = text.find('{', at);
    if (at == text.npos)
      break;
    text.insert(at + 1, kLoop);
    isDone = true;
  }
  code.assign(text.begin(), text.end());
  return isDone;
}

bool tessera::makeEndless(std::vector<char> &code, std::string_view target) {
  const bool isElf = code.size() >= sizeof(Elf64_Ehdr) &&
                     std::memcmp(code.data(), ELFMAG, SELFMAG) == 0;
  return isElf ? spoilElf(code, getJump(target)) : spoilPtx(code);
}
