//===- CompilerLibrary.cpp - Entry point of libtessera-compiler.so --------===//

#include "compiler/Driver/JitCompiler.h"
#include "compiler/Driver/Revision.h"

#include <string_view>
#include <type_traits>

using namespace tessera;

extern "C" __attribute__((visibility("default"))) KernelCompiler *
tesseraCreateCompiler(const char *revision, const char **own) {
  *own = getCompilerRevision();
  return std::string_view(revision) == *own ? createJitCompiler().release()
                                            : nullptr;
}

// The runtime looks the entry point up by this name and calls it with this
// type.
static_assert(
    std::is_same_v<decltype(tesseraCreateCompiler), CreateCompilerFunction>);
static_assert(std::string_view(kCreateCompilerName) == "tesseraCreateCompiler");
