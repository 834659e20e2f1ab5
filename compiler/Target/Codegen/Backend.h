//===- Backend.h - The vendors' parts of code generation -------*- C++ -*--===//
//
// All chips share the steps from the gpu dialect to machine code; a Backend has
// what differs between vendors.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_CODEGEN_BACKEND_H
#define TESSERA_COMPILER_TARGET_CODEGEN_BACKEND_H

#include "runtime/Base/GpuTarget.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir {
class ConversionTarget;
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace tessera {

struct Backend {
  const char *triple;
  /// Passes that end optimizeModule(), in the syntax of opt, or "".
  const char *lastPasses;
  /// Registers the backend with LLVM; called once.
  void (*initialize)();
  /// The chip as LLVM's -mcpu spells it.
  std::string (*getCpu)(const GpuTarget &target);
  /// Features of LLVM's subtarget, as "+ptx86", or "".
  const char *(*getFeatures)(const GpuTarget &target);
  /// Adds the patterns that replace gpu ops by others before the conversion.
  void (*addRewrites)(mlir::RewritePatternSet &patterns,
                      const GpuTarget &target);
  /// Adds what converts gpu ops and those of the vendor's dialects.
  void (*addConversion)(mlir::LLVMTypeConverter &converter,
                        mlir::RewritePatternSet &patterns,
                        mlir::ConversionTarget &legal, const GpuTarget &target);
  /// Adds to a translated module the flags and attributes that the vendor's
  /// backend and driver need.
  void (*finishModule)(llvm::Module &module, const GpuTarget &target);
};

extern const Backend kAmdgpuBackend;
extern const Backend kNvptxBackend;

inline const Backend &getBackend(const GpuTarget &target) {
  return target.vendor == Vendor::Nvidia ? kNvptxBackend : kAmdgpuBackend;
}

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_CODEGEN_BACKEND_H
