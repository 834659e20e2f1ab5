//===- OwnFiles.h - Where our other files lie ------------------*- C++ -*--===//
//
// The library opens other libraries of ours (devices, the compiler) and runs a
// program. They lie beside it, wherever the installation was moved.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_OWNFILES_H
#define TESSERA_RUNTIME_BASE_OWNFILES_H

#include <string>
#include <vector>

namespace tessera {

/// The path of the library or program that `symbol` is in; "" if unknown.
std::string getFileOf(const void *symbol);

/// The folders, best first, of libraries that belong to the binary with this
/// code: its own folder, and lib/ beside it in case it is a program in bin/;
/// then the same two of the file that its path links to.
std::vector<std::string> getOwnLibraryFolders();

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_OWNFILES_H
