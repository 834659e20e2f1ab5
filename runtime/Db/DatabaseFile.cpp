//===- DatabaseFile.cpp - One SQLite file that may break ------------------===//

#include "runtime/Db/DatabaseFile.h"

#include "runtime/Base/Log.h"
#include "runtime/Db/ByteLock.h"
#include "runtime/Db/Schema.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

using namespace tessera;
namespace fs = std::filesystem;

/// Writers hold the lock for as long as one row takes, so this is ample; a
/// process that gives up compiles for itself.
static constexpr int kBusyTimeoutMs = 5000;

/// The byte of the lock file that is held while a file is opened or replaced.
static constexpr uint64_t kOpeningByte = 0;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string tessera::getLockFile(const std::string &path) {
  return path + ".claims";
}

/// Number of the file at `path`, or 0.
static uint64_t getInode(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

/// Whether several machines may see the file. SQLite's write-ahead log keeps
/// an index in shared memory, which they cannot share.
static bool isOnNetwork(const std::string &path) {
  // linux/magic.h, and for the last three the file systems' own sources.
  static constexpr uint32_t networkTypes[] = {
      0x6969 /*NFS*/,        0xff534d42 /*CIFS*/, 0xfe534d42 /*SMB2*/,
      0x00c36400 /*Ceph*/,   0x5346414f /*AFS*/,  0x01021997 /*9p*/,
      0x0bd00bd0 /*Lustre*/, 0x47504653 /*GPFS*/, 0x19830326 /*BeeGFS*/};
  struct statfs info;
  return statfs(path.c_str(), &info) == 0 &&
         std::find(std::begin(networkTypes), std::end(networkTypes),
                   static_cast<uint32_t>(info.f_type)) !=
             std::end(networkTypes);
}

/// Renames the file to kernels.db.corrupt-<n> and drops its journals. Returns
/// the new name; empty if that failed.
static std::string putAside(const std::string &path) {
  std::error_code error;
  std::string name;
  int n = 1;
  do
    name = path + ".corrupt-" + std::to_string(n++);
  while (fs::exists(name, error));
  fs::rename(path, name, error);
  if (error)
    return "";
  // They belong to the damaged file; the new one must not replay them.
  for (const char *suffix : {"-wal", "-shm", "-journal"})
    fs::remove(path + suffix, error);
  return name;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

DatabaseFile::DatabaseFile(std::string path, Use use)
    : path(std::move(path)), use(use) {
  std::lock_guard lock(mutex);
  Status status = tryOpen();
  if (use == Use::Cache && isDamage(status))
    status = replaceDamagedFile();
  if (use == Use::Cache && status.getCode() == StatusCode::Unavailable)
    status = openForReading(status);
  if (!status.isOk())
    close(status);
}

/// Whether the file is there, and neither it nor its folder can be written.
static bool isReadOnly(const std::string &path) {
  std::error_code error;
  const std::string folder = fs::absolute(path, error).parent_path();
  return fs::is_regular_file(path, error) &&
         (access(path.c_str(), W_OK) != 0 || access(folder.c_str(), W_OK) != 0);
}

/// A home that is mounted read-only may hold kernels all the same. Another user
/// who writes there while we read may give us damage to see, and no wrong row.
Status DatabaseFile::openForReading(const Status &why) {
  if (!isReadOnly(path))
    return why;
  database.reset();
  use = Use::Package;
  if (!tryOpen().isOk()) {
    use = Use::Cache;
    return why;
  }
  logMessage(LogLevel::Warning,
             "kernels are found on disk but not kept: " + why.getMessage());
  return Status::ok();
}

bool DatabaseFile::isOpen() {
  std::lock_guard lock(mutex);
  return database.has_value();
}

Status DatabaseFile::getFailure() {
  std::lock_guard lock(mutex);
  return failure;
}

/// Whether `status` shows that the file is not what we wrote. SQLite notices
/// some damage itself; else our statements, which are right for a sound file,
/// fail as wrong ones do ("no such column").
bool DatabaseFile::isDamage(const Status &status) const {
  return database &&
         (database->isDamaged() || status.getCode() == StatusCode::Internal);
}

void DatabaseFile::close(const Status &why) {
  database.reset();
  failure = why;
  if (use == Use::Cache)
    logMessage(LogLevel::Warning,
               "kernels are not cached on disk: " + why.getMessage());
  // Folders of packages hold MIOpen's databases too, which are in nobody's way.
  if (use == Use::Package)
    logMessage(why.getCode() == StatusCode::NotFound ? LogLevel::Info
                                                     : LogLevel::Warning,
               "a package of kernels is not used: " + why.getMessage());
}

Status DatabaseFile::tryOpen() {
  if (use == Use::Cache) {
    std::error_code error;
    const std::string folder = fs::absolute(path, error).parent_path();
    fs::create_directories(folder, error);
    if (error)
      return unavailable("cannot create directory '" + folder +
                         "': " + error.message());
    // One after the other: the first makes the file, and nobody opens one that
    // is being put aside. Where there are no locks, SQLite's own must do.
    ByteLock opening(getLockFile(path), kOpeningByte,
                     std::chrono::milliseconds(kBusyTimeoutMs));
    return openCache();
  }
  ErrorOr<SqliteDatabase> opened =
      SqliteDatabase::open(path, use == Use::Package ? SqliteAccess::Immutable
                                                     : SqliteAccess::Write);
  if (!opened)
    return opened.getStatus();
  database = std::move(*opened);
  database->setBusyTimeout(kBusyTimeoutMs);
  return checkSchema(*database).withContext(path);
}

static Status prepareFile(SqliteDatabase &database, bool isOnNetwork) {
  database.setBusyTimeout(kBusyTimeoutMs);
  // A new file has nothing to lose: should the machine stop now, the next
  // process finds damage and begins anew. On a disk this saves some 60 ms.
  ErrorOr<int64_t> version = database.queryInt("PRAGMA user_version");
  if (version && *version == 0)
    (void)database.execute("PRAGMA synchronous = OFF");
  // First, because it refuses files that we must not touch.
  if (Status status = migrate(database); !status.isOk())
    return status;
  // With a write-ahead log readers and a writer do not wait for each other,
  // and a commit needs no fsync. Another process may be in the way of the
  // change; the file works in either mode.
  (void)database.execute(isOnNetwork ? "PRAGMA journal_mode = TRUNCATE"
                                     : "PRAGMA journal_mode = WAL");
  return database.execute("PRAGMA synchronous = NORMAL");
}

Status DatabaseFile::openCache() {
  ErrorOr<SqliteDatabase> opened = SqliteDatabase::open(path);
  if (!opened)
    return opened.getStatus();
  database = std::move(*opened);
  inode = getInode(path);
  return prepareFile(*database, isOnNetwork(path)).withContext(path);
}

Status DatabaseFile::putAsideIfOurs() {
  // Else another process has replaced it already.
  if (getInode(path) != inode)
    return Status::ok();
  std::string newName = putAside(path);
  if (newName.empty())
    return unavailable(path + " is damaged and cannot be renamed");
  logMessage(LogLevel::Warning,
             "the kernel database was damaged; it is kept as " + newName +
                 ", and a new one is begun");
  return Status::ok();
}

Status DatabaseFile::replaceDamagedFile() {
  database.reset();
  ByteLock opening(getLockFile(path), kOpeningByte,
                   std::chrono::milliseconds(kBusyTimeoutMs));
  // What spoils files may spoil the new one too, but hardly for ever.
  constexpr int attempts = 3;
  Status status;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (status = putAsideIfOurs(); !status.isOk())
      return status;
    if (status = openCache(); !isDamage(status))
      return status;
    database.reset();
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Using
//===----------------------------------------------------------------------===//

Status DatabaseFile::run(const std::string &what,
                         const std::function<Status(SqliteDatabase &)> &work) {
  std::lock_guard lock(mutex);
  if (!database)
    return failure;
  Status status = work(*database);
  if (use != Use::Named && isDamage(status)) {
    Status mended = use == Use::Cache
                        ? replaceDamagedFile()
                        : status.withContext(path + " is damaged");
    if (!mended.isOk()) {
      close(mended);
      return mended;
    }
    status = work(*database);
  }
  if (status.isOk() || status.getCode() == StatusCode::NotFound ||
      use == Use::Named)
    return status;
  // A full disk fails every time; once is enough to know.
  logMessage(hasWarned ? LogLevel::Info : LogLevel::Warning,
             "cannot " + what + " in " + path + ": " + status.getMessage());
  hasWarned = true;
  return status;
}
