//===- Library.cpp - The library that runs the problems -------------------===//

#include "capi/hipdnn/Library.h"
#include "runtime/Base/OwnFiles.h"

#include <dlfcn.h>

#include <string>

using namespace tessera;
using namespace tessera::hipdnn;

/// hipDNN looks for plugins in a folder two levels below the libraries; other
/// clients' plugins lie beside the library.
static void *open(std::string &tried) {
  for (const std::string &folder : getOwnLibraryFolders())
    for (const char *where : {"/../../", "/"}) {
      const std::string path = folder + where + "libMIOpen.so.1";
      void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library && dlsym(library, "tesseraRunProblem"))
        return library;
      tried += (tried.empty() ? "" : ", ") + path;
      if (library)
        dlclose(library); // AMD's, in whose folder somebody has put the plugin.
    }
  return nullptr;
}

static ErrorOr<Library> load() {
  std::string tried;
  void *library = open(tried);
  if (!library)
    return unavailable(
        "Tessera's library is not where its plugin looks for it: " + tried);
  Library functions{};
  const auto find = [&](auto &function, const char *name) {
    using Function = std::remove_reference_t<decltype(function)>;
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  };
  if (!find(functions.create, "miopenCreateWithStream") ||
      !find(functions.destroy, "miopenDestroy") ||
      !find(functions.setStream, "miopenSetStream") ||
      !find(functions.getInfo, "tesseraGetProblemKernelInfo") ||
      !find(functions.run, "tesseraRunProblem") ||
      !find(functions.saveKernel, "tesseraSaveKernel") ||
      !find(functions.loadKernel, "tesseraLoadKernel") ||
      !find(functions.getMessage, "tesseraGetLastErrorMessage"))
    return unavailable(
        "Tessera's library is of another release than its plugin");
  return functions;
}

const ErrorOr<Library> &tessera::hipdnn::getLibrary() {
  // Never closed: handles may live until the process ends.
  static const ErrorOr<Library> &library = *new ErrorOr<Library>(load());
  return library;
}
