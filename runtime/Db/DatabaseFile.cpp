//===- DatabaseFile.cpp - One SQLite file that may break ------------------===//

#include "runtime/Db/DatabaseFile.h"

#include "runtime/Base/Log.h"
#include "runtime/Db/ByteLock.h"
#include "runtime/Db/CacheFolder.h"
#include "runtime/Db/Schema.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace tessera;
using namespace std::chrono_literals;

/// How long a call waits for other processes. They hold a lock while they write
/// one row, so this is ample; a process that holds it longer will not release
/// it soon.
static constexpr auto kPatience = 600ms;
/// How long a tool waits that was told to work on a file.
static constexpr auto kToolPatience = 5s;
/// How often a lock is tried again after a wait was in vain.
static constexpr auto kRetryInterval = 100ms;
/// The number of kernels that may wait in memory. Each has some tens of KB.
static constexpr size_t kMaxPending = 256;

/// The byte of the lock file that is held while a file is opened, replaced or
/// closed.
static constexpr uint64_t kOpeningByte = 0;

std::string tessera::getLockFile(const std::string &path) {
  return path + ".claims";
}

static void setPatience(SqliteDatabase &database,
                        std::chrono::milliseconds patience) {
  database.setBusyTimeout(static_cast<int>(std::max(patience, 0ms).count()));
}

//===----------------------------------------------------------------------===//
// The files of this process
//===----------------------------------------------------------------------===//

namespace {
/// The list is never destroyed: its files may be in use until the process ends.
struct OpenFiles {
  std::mutex mutex; ///< Locked before the mutex of any file.
  std::vector<DatabaseFile *> files;
};
} // namespace

static OpenFiles &getOpenFiles() {
  static OpenFiles &open = *new OpenFiles;
  return open;
}

/// Closes the files at the end of the process, because nobody else may do it:
/// the engine of the library lives as long as the process. A thread that is
/// still running may use a file; the process does not hang because of it.
void DatabaseFile::leaveAll() {
  OpenFiles &open = getOpenFiles();
  const std::lock_guard lock(open.mutex);
  const Clock::time_point end = Clock::now() + kPatience;
  for (DatabaseFile *file : open.files) {
    bool isHeld = file->mutex.try_lock();
    while (!isHeld && Clock::now() < end) {
      std::this_thread::sleep_for(1ms);
      isHeld = file->mutex.try_lock();
    }
    if (!isHeld)
      continue;
    file->leave();
    file->failure = unavailable("the process is ending");
    file->mutex.unlock();
  }
}

/// Whether another object of this process has the file open. SQLite's locks
/// belong to the process: they are lost as soon as the process closes any
/// descriptor of the file that SQLite does not count, such as that of a
/// snapshot.
bool DatabaseFile::isOpenElsewhere(uint64_t number) const {
  OpenFiles &open = getOpenFiles();
  const std::lock_guard lock(open.mutex);
  return std::ranges::any_of(open.files, [&](const DatabaseFile *file) {
    return file != this && file->inode == number;
  });
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

DatabaseFile::DatabaseFile(std::string path, Use use)
    : path(std::move(path)), owner(getpid()), use(use) {
  if (use == Use::Cache) {
    OpenFiles &open = getOpenFiles();
    const std::lock_guard lock(open.mutex);
    static const int isRegistered = std::atexit(leaveAll);
    (void)isRegistered;
    open.files.push_back(this);
  }
  const std::lock_guard lock(mutex);
  Status status = use == Use::Cache ? makeFolderOf(this->path) : openAsItIs();
  if (use == Use::Cache && status.isOk())
    status = openCache(kPatience);
  if (isLockedOut)
    return;
  if (use == Use::Cache && status.getCode() == StatusCode::Unavailable)
    status = openForReading(status);
  if (!status.isOk())
    close(status);
}

DatabaseFile::DatabaseFile(std::string path, const Status &refusal)
    : path(std::move(path)), owner(getpid()), use(Use::Cache) {
  close(refusal);
}

DatabaseFile::~DatabaseFile() {
  {
    OpenFiles &open = getOpenFiles();
    const std::lock_guard lock(open.mutex);
    std::erase(open.files, this);
  }
  const std::lock_guard lock(mutex);
  leave();
}

Status DatabaseFile::openAsItIs() {
  ErrorOr<SqliteDatabase> opened =
      SqliteDatabase::open(path, use == Use::Package ? SqliteAccess::Immutable
                                                     : SqliteAccess::Write);
  if (!opened)
    return opened.getStatus();
  database = std::move(*opened);
  setPatience(*database, kToolPatience);
  return checkSchema(*database).withContext(path);
}

/// A home that is mounted read-only may still hold kernels. If another user
/// writes there while we read, we may see damage, but never a wrong row.
Status DatabaseFile::openForReading(const Status &why) {
  if (!isReadOnly(path))
    return why;
  database.reset();
  use = Use::Package;
  if (!openAsItIs().isOk()) {
    use = Use::Cache;
    return why;
  }
  logMessage(LogLevel::Warning,
             "kernels are found on disk but not kept: " + why.getMessage());
  return Status::ok();
}

/// Opens without a lock, because nothing else can read the file in this state.
/// A process that has locked it may write meanwhile: we may then see damage,
/// but never a wrong row.
void DatabaseFile::openSnapshot() {
  database.reset();
  if (isOpenElsewhere(getInode(path)))
    return;
  ErrorOr<SqliteDatabase> opened =
      SqliteDatabase::open(path, SqliteAccess::Immutable);
  if (!opened || !checkSchema(*opened).isOk())
    return;
  database = std::move(*opened);
  isSnapshot = true;
}

static Status prepareFile(SqliteDatabase &database, bool isOnNetwork) {
  ErrorOr<int64_t> version = database.queryInt("PRAGMA user_version");
  if (!version)
    return version.getStatus();
  // A new file has nothing to lose: should the machine stop now, the next
  // process finds damage and begins anew. On a disk this saves some 60 ms.
  if (*version == 0)
    (void)database.execute("PRAGMA synchronous = OFF");
  // This comes first, because it refuses files that we must not touch.
  if (Status status = migrate(database); !status.isOk())
    return status;
  // With a write-ahead log, readers and a writer do not wait for each other,
  // and a commit needs no fsync. Another process may prevent the change; the
  // file works in either mode.
  (void)database.execute(isOnNetwork ? "PRAGMA journal_mode = TRUNCATE"
                                     : "PRAGMA journal_mode = WAL");
  return database.execute("PRAGMA synchronous = NORMAL");
}

/// Looks at the file without a lock and leaves no trace. The content of a
/// journal is not seen, and need not be: our journals begin when the file has
/// its tables.
static Status refuseForeign(const std::string &path) {
  if (!hasContent(path))
    return Status::ok();
  ErrorOr<SqliteDatabase> opened =
      SqliteDatabase::open(path, SqliteAccess::Immutable);
  return opened ? checkOwner(*opened, hasContent(path + "-wal"))
                : Status::ok(); // Others report the damage.
}

Status DatabaseFile::openFile(Clock::time_point end) {
  isSnapshot = false;
  Status status = checkIsFile(path);
  if (status.isOk() && !isOpenElsewhere(getInode(path)))
    status = refuseForeign(path).withContext(path);
  if (!status.isOk())
    return status;
  ErrorOr<SqliteDatabase> opened = SqliteDatabase::open(path);
  if (!opened)
    return opened.getStatus();
  database = std::move(*opened);
  inode = getInode(path);
  setPatience(*database,
              std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()));
  status = prepareFile(*database, isOnNetwork(path)).withContext(path);
  const bool isBusy = database->takeBusy();
  setPatience(*database, kPatience);
  if (status.isOk() || !isBusy)
    return status;
  openSnapshot();
  return lockOut(status);
}

Status DatabaseFile::putAsideIfOurs() {
  // If the inode differs, another process has already replaced the file.
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

/// Opens the user's file; a damaged one is replaced by a new one.
Status DatabaseFile::openCache(std::chrono::milliseconds patience,
                               bool isDamaged) {
  const Clock::time_point end = Clock::now() + patience;
  // Processes open one after another: the first makes the file, and nobody
  // opens one that is being put aside. Where there are no locks, those of
  // SQLite must do.
  const ByteLock opening(getLockFile(path), kOpeningByte, patience);
  if (opening.getState() == ByteLock::State::TimedOut) {
    if (isDamaged)
      database.reset();
    return lockOut(unavailable("other processes are opening " + path));
  }
  // The cause of the damage may spoil the new file too, but hardly for ever.
  constexpr int attempts = 3;
  Status status;
  for (int attempt = 0; attempt <= attempts; ++attempt) {
    if (isDamaged)
      status = putAsideIfOurs();
    // The file is closed only here: while it is open, no other file gets its
    // inode number.
    database.reset();
    if (status.isOk())
      status = openFile(end);
    isDamaged = !isLockedOut && isDamage(status);
    if (!isDamaged)
      break;
    if (attempt < attempts)
      status = Status::ok();
  }
  return status;
}

bool DatabaseFile::isOpen() {
  std::lock_guard lock(mutex);
  return database.has_value() || isLockedOut;
}

bool DatabaseFile::isLocked() {
  std::lock_guard lock(mutex);
  return isLockedOut;
}

Status DatabaseFile::getFailure() {
  std::lock_guard lock(mutex);
  return isLockedOut ? Status::ok() : failure;
}

/// Whether `status` shows that the file is not what we wrote. SQLite notices
/// some damage itself. In other cases our statements, which are right for a
/// sound file, fail as wrong ones do ("no such column").
bool DatabaseFile::isDamage(const Status &status) const {
  return database &&
         (database->isDamaged() || status.getCode() == StatusCode::Internal);
}

//===----------------------------------------------------------------------===//
// Using
//===----------------------------------------------------------------------===//

Status DatabaseFile::run(const std::string &what, const Work &work) {
  std::lock_guard lock(mutex);
  resume();
  return runNow(what, work);
}

Status DatabaseFile::write(const std::string &what, Work work) {
  std::lock_guard lock(mutex);
  resume();
  Status status = isLockedOut ? failure : runNow(what, work);
  if (isLockedOut && pending.size() < kMaxPending)
    pending.push_back({what, std::move(work)});
  return status;
}

Status DatabaseFile::runNow(const std::string &what, const Work &work) {
  if (!database)
    return failure;
  (void)database->takeBusy();
  Status status = work(*database);
  if (isSnapshot) // A snapshot says nothing reliable about the file.
    return status.isOk() ? status : failure;
  if (use != Use::Named && isDamage(status)) {
    Status mended = use == Use::Cache
                        ? openCache(kPatience, true)
                        : status.withContext(path + " is damaged");
    if (isLockedOut)
      return mended;
    if (!mended.isOk()) {
      close(mended);
      return mended;
    }
    status = work(*database);
  }
  if (status.isOk() || status.getCode() == StatusCode::NotFound ||
      use == Use::Named)
    return status;
  if (use == Use::Cache && database->takeBusy())
    return lockOut(status);
  // A full disk fails every time; one warning is enough.
  logMessage(hasWarned ? LogLevel::Info : LogLevel::Warning,
             "cannot " + what + " in " + path + ": " + status.getMessage());
  hasWarned = true;
  return status;
}

//===----------------------------------------------------------------------===//
// Locked by others
//===----------------------------------------------------------------------===//

/// Another process holds the file, and this one has waited for it: it does not
/// wait again until it has had the lock.
Status DatabaseFile::lockOut(const Status &why) {
  isLockedOut = true;
  retryAt = Clock::now() + kRetryInterval;
  failure = why;
  if (database)
    setPatience(*database, 0ms);
  if (!std::exchange(hasWarnedOfLock, true))
    logMessage(
        LogLevel::Warning,
        "kernels are kept in memory for now, because another process has "
        "locked the kernel database: " +
            why.getMessage());
  return why;
}

/// Tries the lock again from time to time, without waiting.
void DatabaseFile::resume() {
  if (!isLockedOut || Clock::now() < retryAt)
    return;
  isLockedOut = false;
  Status status;
  if (!database || isSnapshot) {
    status = openCache(0ms);
    if (!isLockedOut && !status.isOk())
      close(status);
    if (!database)
      return;
  } else {
    (void)database->takeBusy();
    status = database->execute("BEGIN IMMEDIATE");
    if (status.isOk())
      status = database->execute("ROLLBACK");
    if (database->takeBusy())
      (void)lockOut(status);
  }
  if (isLockedOut)
    return;
  failure = Status::ok();
  setPatience(*database, kPatience);
  writePending();
}

void DatabaseFile::writePending() {
  while (!isLockedOut && !pending.empty()) {
    Pending next = std::move(pending.front());
    pending.pop_front();
    (void)runNow(next.what, next.work);
    if (isLockedOut)
      pending.push_front(std::move(next));
  }
}

//===----------------------------------------------------------------------===//
// Closing
//===----------------------------------------------------------------------===//

void DatabaseFile::close(const Status &why) {
  database.reset();
  inode = 0;
  pending.clear();
  failure = why;
  if (use == Use::Cache)
    logMessage(LogLevel::Warning,
               "kernels are not cached on disk: " + why.getMessage());
  // Folders of packages hold MIOpen's databases too, about which there is
  // nothing to warn of.
  if (use == Use::Package)
    logMessage(why.getCode() == StatusCode::NotFound ? LogLevel::Info
                                                     : LogLevel::Warning,
               "a package of kernels is not used: " + why.getMessage());
}

/// Releases the file if it is open. The last process deletes the journals.
void DatabaseFile::leave() {
  if (owner != getpid()) {
    // A forked child must not close the connection of its parent, as SQLite
    // demands.
    if (database)
      (void)new SqliteDatabase(std::move(*database));
  } else if (use == Use::Cache && (database || isLockedOut)) {
    retryAt = {};
    resume();
    if (!pending.empty())
      logMessage(LogLevel::Warning, std::to_string(pending.size()) +
                                        " kernels or tunings are not kept: " +
                                        failure.getMessage());
    // Without the lock, two processes that close at once would each see the
    // other, and neither would be the last.
    const ByteLock closing(getLockFile(path), kOpeningByte, kPatience);
    database.reset();
  }
  database.reset();
  isLockedOut = false;
  pending.clear();
  inode = 0;
}
