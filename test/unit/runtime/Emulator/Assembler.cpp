//===- Assembler.cpp - AMDGPU assembly for tests --------------------------===//

#include "test/unit/runtime/Emulator/Assembler.h"

#include "runtime/Emulator/Chip.h"

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace tessera::emulator;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

/// Assembles a whole file into a relocatable object.
static std::string makeObject(const std::string &chip,
                              const std::string &text) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(
      target->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> info(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, chip, ""));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text),
                             llvm::SMLoc());
  llvm::MCContext context(triple, info.get(), registers.get(), subtarget.get(),
                          &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> file(
      target->createMCObjectFileInfo(context, true));
  context.setObjectFileInfo(file.get());
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  std::unique_ptr<llvm::MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer =
      backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(
      target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *info));
  std::unique_ptr<llvm::MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  EXPECT_FALSE(parser->Run(false)) << "does not assemble for " << chip << ":\n"
                                   << text;
  return bytes.str().str();
}

std::vector<uint8_t> tessera::emulator::assemble(const std::string &chip,
                                                 const std::string &text) {
  std::string object = makeObject(chip, text);
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, "test"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return {};
  }
  for (const llvm::object::SectionRef &section : (*file)->sections())
    if (section.isText()) {
      llvm::StringRef contents = llvm::cantFail(section.getContents());
      return {contents.bytes_begin(), contents.bytes_end()};
    }
  return {};
}

static std::string makeMetadata(const KernelSource &source) {
  std::string args;
  unsigned offset = 0;
  auto add = [&](unsigned bytes, const std::string &kind) {
    args += "      - .offset: " + std::to_string(offset) +
            "\n        .size: " + std::to_string(bytes) +
            "\n        .value_kind: " + kind + "\n";
    offset += bytes;
  };
  while (offset < source.argumentBytes)
    add(8, "global_buffer");
  for (const auto &[kind, bytes] : source.hidden)
    add(bytes, kind);
  return ".amdgpu_metadata\n---\namdhsa.kernels:\n  - .name: " + source.name +
         "\n    .symbol: " + source.name + ".kd\n" +
         (args.empty() ? "" : "    .args:\n" + args) +
         "    .kernarg_segment_size: " + std::to_string(offset) +
         "\n    .kernarg_segment_align: 8"
         "\n    .group_segment_fixed_size: " +
         std::to_string(source.ldsBytes) +
         "\n    .private_segment_fixed_size: " +
         std::to_string(source.scratchBytes) + "\n    .wavefront_size: " +
         (source.chip.starts_with("gfx1") ? "32" : "64") +
         "\n    .sgpr_count: 32\n    .vgpr_count: 64"
         "\n    .max_flat_workgroup_size: 1024"
         "\namdhsa.version: [1, 2]\n...\n.end_amdgpu_metadata\n";
}

static std::string makeText(const KernelSource &source) {
  unsigned hidden = 0;
  for (const auto &[kind, bytes] : source.hidden)
    hidden += bytes;
  std::string text =
      ".amdgcn_target \"amdgcn-amd-amdhsa--" + source.chip +
      "\"\n.amdhsa_code_object_version 5\n.text\n.globl " + source.name +
      "\n.p2align 8\n.type " + source.name + ",@function\n" + source.name +
      ":\n" + source.body + "\ns_endpgm\n.Lend:\n.size " + source.name +
      ", .Lend-" + source.name + "\n.rodata\n.p2align 6\n.amdhsa_kernel " +
      source.name + "\n.amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 32\n";
  auto directive = [&](const std::string &name, unsigned value) {
    text += ".amdhsa_" + name + " " + std::to_string(value) + "\n";
  };
  if (findChip(source.chip)->accumulation == AccumulationFile::Unified)
    directive("accum_offset", 32);
  directive("group_segment_fixed_size", source.ldsBytes);
  directive("private_segment_fixed_size", source.scratchBytes);
  directive("kernarg_size", source.argumentBytes + hidden);
  directive("user_sgpr_kernarg_segment_ptr", 1);
  return text + source.directives + ".end_amdhsa_kernel\n" +
         makeMetadata(source);
}

std::vector<uint8_t>
tessera::emulator::assembleKernel(const KernelSource &source) {
  std::string stem =
      ::testing::TempDir() + "tessera-emulator-" + std::to_string(getpid());
  std::string object = makeObject(source.chip, makeText(source));
  std::ofstream(stem + ".o", std::ios::binary) << object;
  std::string command =
      "ld.lld-22 -shared " + stem + ".o -o " + stem + ".hsaco";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(stem + ".hsaco", std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  std::remove((stem + ".o").c_str());
  std::remove((stem + ".hsaco").c_str());
  return bytes;
}
