//===- Decoder.cpp - From bytes to the text of an instruction -------------===//

#include "runtime/Emulator/Decode/Decoder.h"

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Decode/EffectsReader.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

#include <cstring>
#include <mutex>

using namespace tessera::emulator;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

static const llvm::Target &getAmdgpuTarget(const llvm::Triple &triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  std::string error;
  return *llvm::TargetRegistry::lookupTarget(triple, error);
}

struct Decoder::Implementation {
  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  const llvm::Target &target = getAmdgpuTarget(triple);
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers{
      target.createMCRegInfo(triple)};
  std::unique_ptr<llvm::MCAsmInfo> assembly{
      target.createMCAsmInfo(*registers, triple, options)};
  std::unique_ptr<llvm::MCInstrInfo> instructions{target.createMCInstrInfo()};
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  /// Created when it is first needed.
  std::unique_ptr<EffectsReader> effects;

  Implementation(const Chip &chip, unsigned waveSize)
      : subtarget(target.createMCSubtargetInfo(
            triple, llvm::StringRef(chip.name.data(), chip.name.size()),
            chip.isGfx9()    ? ""
            : waveSize == 64 ? "-wavefrontsize32,+wavefrontsize64"
                             : "+wavefrontsize32,-wavefrontsize64")),
        context(std::make_unique<llvm::MCContext>(
            triple, assembly.get(), registers.get(), subtarget.get())),
        disassembler(target.createMCDisassembler(*subtarget, *context)),
        printer(target.createMCInstPrinter(triple, 0, *assembly, *instructions,
                                           *registers)) {}
};

Decoder::Decoder(const Chip &chip, unsigned waveSize)
    : chip(chip), waveSize(waveSize),
      implementation(std::make_unique<Implementation>(chip, waveSize)) {}
Decoder::~Decoder() = default;

/// LLVM 22's disassembler crashes on a VOP3 instruction of gfx9 with source
/// 255, which means that a literal follows; gfx9 does not have this form.
static bool crashesLlvm(const Chip &chip, std::span<const uint8_t> bytes) {
  if (!chip.isGfx9() || bytes.size() < 8)
    return false;
  uint32_t words[2];
  std::memcpy(words, bytes.data(), sizeof words);
  constexpr uint32_t kVop3 = 0b110100, kLiteral = 255, kMask = 0x1ff;
  return words[0] >> 26 == kVop3 && ((words[1] & kMask) == kLiteral ||
                                     (words[1] >> 9 & kMask) == kLiteral ||
                                     (words[1] >> 18 & kMask) == kLiteral);
}

unsigned Decoder::decode(std::span<const uint8_t> bytes, uint64_t address,
                         std::string &text) {
  if (crashesLlvm(chip, bytes))
    return 0;
  llvm::MCInst instruction;
  uint64_t size = 0;
  auto status = implementation->disassembler->getInstruction(
      instruction, size, llvm::ArrayRef(bytes.data(), bytes.size()), address,
      llvm::nulls());
  if (status != llvm::MCDisassembler::Success || size == 0)
    return 0;
  text.clear();
  llvm::raw_string_ostream stream(text);
  implementation->printer->printInst(&instruction, address, "",
                                     *implementation->subtarget, stream);
  text.erase(0, text.find_first_not_of(" \t"));
  if (size_t tab = text.find('\t'); tab != std::string::npos)
    text[tab] = ' ';
  text.erase(text.find_last_not_of(" \t") + 1);
  return static_cast<unsigned>(size);
}

Effects Decoder::readEffects(std::span<const uint8_t> bytes) {
  llvm::MCInst instruction;
  uint64_t size = 0;
  auto status = implementation->disassembler->getInstruction(
      instruction, size, llvm::ArrayRef(bytes.data(), bytes.size()), 0,
      llvm::nulls());
  if (status != llvm::MCDisassembler::Success)
    return {};
  if (!implementation->effects)
    implementation->effects = std::make_unique<EffectsReader>(
        chip, waveSize, *implementation->registers,
        *implementation->instructions);
  return implementation->effects->read(instruction);
}
