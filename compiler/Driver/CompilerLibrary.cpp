//===- CompilerLibrary.cpp - The way into libtessera-compiler.so ----------===//

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

// Who loads the library looks for this name and this type.
static_assert(
    std::is_same_v<decltype(tesseraCreateCompiler), CreateCompilerFunction>);
static_assert(std::string_view(kCreateCompilerName) == "tesseraCreateCompiler");
