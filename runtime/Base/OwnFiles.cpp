//===- OwnFiles.cpp - Where our other files lie ---------------------------===//

#include "runtime/Base/OwnFiles.h"

#include <dlfcn.h>
#include <filesystem>

using namespace tessera;

/// The loader knows a program that was found in PATH only by its bare name.
std::string tessera::getFileOf(const void *symbol) {
  Dl_info info;
  if (!symbol || !dladdr(symbol, &info) || !info.dli_fname)
    return "";
  std::string file = info.dli_fname;
  if (file.find('/') != file.npos)
    return file;
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

static std::string getFolder(const std::string &file) {
  const size_t slash = file.rfind('/');
  return slash == file.npos ? "." : file.substr(0, slash);
}

std::vector<std::string> tessera::getOwnLibraryFolders() {
  const std::string own =
      getFileOf(reinterpret_cast<const void *>(&getOwnLibraryFolders));
  std::vector<std::string> folders = {getFolder(own),
                                      getFolder(own) + "/../lib"};
  std::error_code error;
  const std::string target = std::filesystem::canonical(own, error).string();
  if (!error && getFolder(target) != getFolder(own)) {
    folders.push_back(getFolder(target));
    folders.push_back(getFolder(target) + "/../lib");
  }
  return folders;
}
