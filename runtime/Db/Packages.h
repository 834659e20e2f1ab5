//===- Packages.h - Where packages of kernels lie --------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_PACKAGES_H
#define TESSERA_RUNTIME_DB_PACKAGES_H

#include <string>
#include <vector>

namespace tessera {

/// The packages that a process searches, in order: those that TESSERA_SYSTEM_DB
/// and MIOPEN_SYSTEM_DB_PATH name, each a file or a folder of files *.db, then
/// those in share/tessera/db beside the library's folder. There are none if
/// MIOPEN_DISABLE_CACHE is on.
std::vector<std::string> findPackages();

/// The path itself, or the files *.db of the folder, by name.
std::vector<std::string> listPackages(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_PACKAGES_H
