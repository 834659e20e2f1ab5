//===- OwnFiles.h - Where our other files lie ------------------*- C++ -*-===//
//
// The library opens others of ours (devices, the compiler) and runs a program.
// They lie beside it, wherever somebody has put the whole.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_OWNFILES_H
#define TESSERA_RUNTIME_BASE_OWNFILES_H

#include <string>
#include <vector>

namespace tessera {

/// The path of the library or program that `symbol` is in; "" if unknown.
std::string getFileOf(const void *symbol);

/// The folders, best first, of libraries that belong to the binary that this
/// code is in: its own, and lib/ beside it, should it be a program in bin/;
/// then the same of the file that its path links to.
std::vector<std::string> getOwnLibraryFolders();

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_OWNFILES_H
