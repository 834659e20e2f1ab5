//===- CacheFolder.h - Where a database lies -------------------*- C++ -*--===//
//
// Checks of the file system before a database is opened: a kernel that somebody
// else has put there would run with the user's rights, and a file that belongs
// to another program is not ours to change.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_CACHEFOLDER_H
#define TESSERA_RUNTIME_DB_CACHEFOLDER_H

#include "runtime/Base/Status.h"

#include <cstdint>
#include <string>

namespace tessera {

/// Makes the folder of `path` if it does not exist. Only its owner may write
/// it, whatever the process's umask is.
Status makeFolderOf(const std::string &path);

/// Whether only the user and root may write the database at `path` or replace
/// it; NotSupported if others may. A path that does not exist is ok.
Status checkNobodyElseWrites(const std::string &path);

/// Whether `path` is a file or does not exist. NotSupported for a dangling
/// symbolic link, through which a file would be made elsewhere, and for a pipe,
/// a device or a folder.
Status checkIsFile(const std::string &path);

/// Inode number of the file at `path`, or 0.
uint64_t getInode(const std::string &path);

/// Whether the file exists and is not empty.
bool hasContent(const std::string &path);

/// Whether the file exists, and neither it nor its folder can be written.
bool isReadOnly(const std::string &path);

/// Whether several machines may see the file. SQLite's write-ahead log keeps
/// an index in shared memory, which they cannot share.
bool isOnNetwork(const std::string &path);

/// Renames the file to <path>.corrupt-<n> and deletes its journals. There are
/// at most kMaxPutAside such files: a further one replaces the one that was put
/// aside first. Returns the new name; empty if that failed.
std::string putAside(const std::string &path);

inline constexpr int kMaxPutAside = 4;

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_CACHEFOLDER_H
