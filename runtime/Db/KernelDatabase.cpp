//===- KernelDatabase.cpp - Kernels that outlive the process --------------===//

#include "runtime/Db/KernelDatabase.h"

#include "runtime/Base/Log.h"
#include "runtime/Db/KernelRow.h"
#include "runtime/Db/Schema.h"

#include <fcntl.h>
#include <sys/file.h>
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

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Number of the file at `path`, or 0.
static uint64_t getInode(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

/// Whether several machines may see the file. SQLite's write-ahead log keeps
/// an index in shared memory, which they cannot share.
static bool isOnNetwork(const std::string &directory) {
  // linux/magic.h, and for the last three the file systems' own sources.
  static constexpr uint32_t networkTypes[] = {
      0x6969 /*NFS*/,        0xff534d42 /*CIFS*/, 0xfe534d42 /*SMB2*/,
      0x00c36400 /*Ceph*/,   0x5346414f /*AFS*/,  0x01021997 /*9p*/,
      0x0bd00bd0 /*Lustre*/, 0x47504653 /*GPFS*/, 0x19830326 /*BeeGFS*/};
  struct statfs info;
  return statfs(directory.c_str(), &info) == 0 &&
         std::find(std::begin(networkTypes), std::end(networkTypes),
                   static_cast<uint32_t>(info.f_type)) !=
             std::end(networkTypes);
}

namespace {
/// Keeps other processes out while a damaged file is put aside. Without the
/// lock, if it cannot be had, two of them may at worst put two files aside.
class FileLock {
public:
  explicit FileLock(const std::string &path)
      : file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (file >= 0)
      (void)flock(file, LOCK_EX);
  }
  ~FileLock() {
    if (file >= 0)
      ::close(file); // Unlocks.
  }
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;

private:
  int file;
};
} // namespace

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
// The database
//===----------------------------------------------------------------------===//

/// Whether `status` shows that the file is not what we wrote. SQLite notices
/// some damage itself; else our statements, which are right for a sound file,
/// fail as wrong ones do ("no such column").
static bool isDamage(const SqliteDatabase &database, const Status &status) {
  return database.isDamaged() || status.getCode() == StatusCode::Internal;
}

KernelDatabase::KernelDatabase(std::string directory)
    : directory(std::move(directory)), path(this->directory + "/kernels.db") {
  std::lock_guard lock(mutex);
  Status status = tryOpen();
  if (database && isDamage(*database, status))
    status = replaceDamagedFile();
  if (!status.isOk())
    close(status.getMessage());
}

KernelDatabase::~KernelDatabase() = default;

bool KernelDatabase::isOpen() {
  std::lock_guard lock(mutex);
  return database.has_value();
}

void KernelDatabase::close(const std::string &why) {
  database.reset();
  logMessage(LogLevel::Warning, "kernels are not cached on disk: " + why);
}

static Status prepareFile(SqliteDatabase &database, bool isOnNetwork) {
  database.setBusyTimeout(kBusyTimeoutMs);
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

Status KernelDatabase::tryOpen() {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return unavailable("cannot create directory '" + directory +
                       "': " + error.message());
  ErrorOr<SqliteDatabase> opened = SqliteDatabase::open(path);
  if (!opened)
    return opened.getStatus();
  database = std::move(*opened);
  inode = getInode(path);
  return prepareFile(*database, isOnNetwork(directory)).withContext(path);
}

Status KernelDatabase::replaceDamagedFile() {
  database.reset();
  FileLock lock(path + ".lock");
  // Else another process has replaced it already.
  if (getInode(path) == inode) {
    std::string newName = putAside(path);
    if (newName.empty())
      return unavailable(path + " is damaged and cannot be renamed");
    logMessage(LogLevel::Warning,
               "the kernel database was damaged; it is kept as " + newName +
                   ", and a new one is begun");
  }
  return tryOpen();
}

void KernelDatabase::run(const char *what,
                         const std::function<Status(SqliteDatabase &)> &work) {
  std::lock_guard lock(mutex);
  if (!database)
    return;
  Status status = work(*database);
  if (isDamage(*database, status)) {
    if (Status mended = replaceDamagedFile(); !mended.isOk())
      return close(mended.getMessage());
    status = work(*database);
  }
  if (status.isOk() || status.getCode() == StatusCode::NotFound)
    return;
  // A full disk fails every time; once is enough to know.
  logMessage(hasWarned ? LogLevel::Info : LogLevel::Warning,
             std::string("cannot ") + what + " a kernel in " + path + ": " +
                 status.getMessage());
  hasWarned = true;
}

std::optional<Kernel> KernelDatabase::find(const KernelKey &key) {
  std::optional<Kernel> found;
  run("find", [&](SqliteDatabase &database) {
    ErrorOr<Kernel> kernel = readKernelRow(database, key);
    if (kernel)
      found = std::move(*kernel);
    return kernel.getStatus();
  });
  return found;
}

void KernelDatabase::store(const KernelKey &key, const Kernel &kernel) {
  run("store", [&](SqliteDatabase &database) {
    Status status = writeKernelRow(database, key, kernel);
    if (!status.isOk())
      return status;
    // A damaged index swallows rows without a word.
    status = readKernelRow(database, key).getStatus();
    return status.getCode() == StatusCode::NotFound
               ? internalError("what was stored is not found")
               : status;
  });
}
