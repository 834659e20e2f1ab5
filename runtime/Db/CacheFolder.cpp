//===- CacheFolder.cpp - Where a database lies ----------------------------===//

#include "runtime/Db/CacheFolder.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

using namespace tessera;
namespace fs = std::filesystem;

static std::string getFolder(const std::string &path) {
  std::error_code error;
  return fs::absolute(path, error).parent_path();
}

//===----------------------------------------------------------------------===//
// Permissions
//===----------------------------------------------------------------------===//

Status tessera::makeFolderOf(const std::string &path) {
  const std::string folder = getFolder(path);
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  if (!error && mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    error.assign(errno, std::generic_category());
  if (error)
    return unavailable("cannot create directory '" + folder +
                       "': " + error.message());
  return Status::ok();
}

/// Whether somebody else may replace a file. Where the sticky bit is set,
/// others may add files but not replace ours. A group whose number is that of
/// its user is that user's own, as most distributions make one for each.
static bool mayOthersWrite(const struct stat &info) {
  if (info.st_mode & S_ISVTX)
    return false;
  const bool isOwnGroup = info.st_gid == info.st_uid;
  return (info.st_mode & S_IWOTH) || ((info.st_mode & S_IWGRP) && !isOwnGroup);
}

static Status checkWriters(const std::string &path, const char *what) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return Status::ok();
  const std::string name = std::string(what) + " '" + path + "'";
  constexpr const char *kAdvice =
      ", or name another folder with MIOPEN_CUSTOM_CACHE_DIR";
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return notSupported("the " + name + " belongs to another user (" +
                        std::to_string(info.st_uid) +
                        "), who could put kernels there; make it yours" +
                        kAdvice);
  if (mayOthersWrite(info))
    return notSupported("other users may write the " + name +
                        " and could put kernels there; forbid it (chmod go-w)" +
                        kAdvice);
  return Status::ok();
}

Status tessera::checkNobodyElseWrites(const std::string &path) {
  Status status = checkWriters(getFolder(path), "folder");
  for (const char *suffix : {"", "-wal", "-shm", "-journal"})
    if (status.isOk())
      status = checkWriters(path + suffix, "file");
  return status;
}

Status tessera::checkIsFile(const std::string &path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0)
    return Status::ok();
  if (S_ISLNK(info.st_mode) && stat(path.c_str(), &info) != 0)
    return notSupported(
        "'" + path + "' is a symbolic link whose end is missing (" +
        std::strerror(errno) + "); delete it, or make the file that it names");
  return S_ISREG(info.st_mode)
             ? Status::ok()
             : notSupported("'" + path + "' is no file; move it away");
}

//===----------------------------------------------------------------------===//
// Kinds of files
//===----------------------------------------------------------------------===//

uint64_t tessera::getInode(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

bool tessera::hasContent(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

bool tessera::isReadOnly(const std::string &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) &&
         (access(path.c_str(), W_OK) != 0 ||
          access(getFolder(path).c_str(), W_OK) != 0);
}

bool tessera::isOnNetwork(const std::string &path) {
  // From linux/magic.h; the last three are from the file systems' own sources.
  static constexpr uint32_t networkTypes[] = {
      0x6969 /*NFS*/,        0xff534d42 /*CIFS*/, 0xfe534d42 /*SMB2*/,
      0x00c36400 /*Ceph*/,   0x5346414f /*AFS*/,  0x01021997 /*9p*/,
      0x0bd00bd0 /*Lustre*/, 0x47504653 /*GPFS*/, 0x19830326 /*BeeGFS*/};
  struct statfs info;
  return statfs(path.c_str(), &info) == 0 &&
         std::ranges::find(networkTypes, static_cast<uint32_t>(info.f_type)) !=
             std::end(networkTypes);
}

//===----------------------------------------------------------------------===//
// Damaged files
//===----------------------------------------------------------------------===//

/// A free name, or the name of the file that was put aside first: a rename
/// updates the time of the last status change.
static std::string getNameAside(const std::string &path) {
  std::string oldest;
  timespec since = {};
  for (int n = 1; n <= kMaxPutAside; ++n) {
    const std::string name = path + ".corrupt-" + std::to_string(n);
    struct stat info;
    if (lstat(name.c_str(), &info) != 0)
      return name;
    const timespec &time = info.st_ctim;
    if (oldest.empty() || std::pair(time.tv_sec, time.tv_nsec) <
                              std::pair(since.tv_sec, since.tv_nsec)) {
      oldest = name;
      since = time;
    }
  }
  return oldest;
}

std::string tessera::putAside(const std::string &path) {
  std::error_code error;
  const std::string name = getNameAside(path);
  fs::rename(path, name, error);
  if (error)
    return "";
  // The journals belong to the damaged file; the new one must not replay them.
  for (const char *suffix : {"-wal", "-shm", "-journal"})
    fs::remove(path + suffix, error);
  return name;
}
