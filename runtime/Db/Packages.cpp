//===- Packages.cpp - Where packages of kernels lie -----------------------===//

#include "runtime/Db/Packages.h"

#include "runtime/Base/Env.h"
#include "runtime/Base/OwnFiles.h"

#include <algorithm>
#include <filesystem>

using namespace tessera;
namespace fs = std::filesystem;

std::vector<std::string> tessera::listPackages(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return {path};
  std::vector<std::string> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".db")
      files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The folders of an installation in /opt/x/lib, and of one in
/// /usr/lib/x86_64-linux-gnu.
static std::vector<std::string> getInstalledFolders() {
  std::vector<std::string> folders;
  for (const std::string &library : getOwnLibraryFolders())
    for (const char *up : {"/..", "/../.."}) {
      std::error_code error;
      const fs::path folder =
          fs::canonical(library + up + "/share/tessera/db", error);
      if (!error)
        folders.push_back(folder);
    }
  return folders;
}

std::vector<std::string> tessera::findPackages() {
  if (getEnvBool("MIOPEN_DISABLE_CACHE").value_or(false))
    return {};
  std::vector<std::string> paths;
  for (const char *name : {"TESSERA_SYSTEM_DB", "MIOPEN_SYSTEM_DB_PATH"})
    if (std::string path = getEnvText(name).value_or(""); !path.empty()) {
      if (std::error_code error; fs::exists(path, error))
        paths.push_back(path);
      else
        reportEnvValue(name, "a package of kernels, or a folder of packages, "
                             "that is there");
    }
  for (const std::string &folder : getInstalledFolders())
    paths.push_back(folder);
  std::vector<std::string> packages;
  for (const std::string &path : paths)
    for (const std::string &file : listPackages(path))
      if (std::find(packages.begin(), packages.end(), file) == packages.end())
        packages.push_back(file);
  return packages;
}
