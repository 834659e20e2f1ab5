//===- AssembleText.cpp - From assembly to an object file -----------------===//
//
// A compilation that starts from the text of stage `isa` needs LLVM's assembler
// only.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/AMDGPU/AmdgpuTarget.h"
#include "compiler/Target/Codegen/Backend.h"

#include "llvm/ADT/SmallVector.h"
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
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

/// Stores the first message, with its line, in the string to which `context`
/// points.
static void keepFirstMessage(const llvm::SMDiagnostic &diagnostic,
                             void *context) {
  auto &message = *static_cast<std::string *>(context);
  if (message.empty())
    message = "line " + std::to_string(diagnostic.getLineNo()) + ": " +
              diagnostic.getMessage().str();
}

ErrorOr<ObjectBytes> tessera::assembleText(std::string_view text,
                                           const GpuTarget &target) {
  ErrorOr<const llvm::Target *> found = findLlvmTarget(target);
  if (!found)
    return found.getStatus();
  const llvm::Target &backend = **found;
  llvm::Triple triple(getBackend(target).triple);
  llvm::StringRef chip(target.name);
  llvm::MCTargetOptions options;

  std::string message;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text), "isa"),
      llvm::SMLoc());
  sources.setDiagHandler(keepFirstMessage, &message);

  std::unique_ptr<llvm::MCRegisterInfo> registers(
      backend.createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> syntax(
      backend.createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(backend.createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      backend.createMCSubtargetInfo(triple, chip, ""));
  llvm::MCContext context(triple, syntax.get(), registers.get(),
                          subtarget.get(), &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> sections(
      backend.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());

  llvm::SmallVector<char, 0> output;
  llvm::raw_svector_ostream stream(output);
  std::unique_ptr<llvm::MCAsmBackend> encoder(
      backend.createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer =
      encoder->createObjectWriter(stream);
  std::unique_ptr<llvm::MCStreamer> streamer(backend.createMCObjectStreamer(
      triple, context, std::move(encoder), std::move(writer),
      std::unique_ptr<llvm::MCCodeEmitter>(
          backend.createMCCodeEmitter(*instructions, context)),
      *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *syntax));
  std::unique_ptr<llvm::MCTargetAsmParser> dialect(
      backend.createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*dialect);

  if (parser->Run(/*NoInitialTextSection=*/false) || !message.empty())
    return invalidArgument("cannot assemble: " + message);
  return ObjectBytes(output.begin(), output.end());
}
