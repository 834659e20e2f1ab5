//===- DatabaseFile.h - One SQLite file that may break ---------*- C++ -*--===//
//
// The database is an optimisation and never a reason to fail: whatever happens
// to the file, the answer is at worst "not found". A damaged file of the user
// is put aside and begun anew, a damaged package is not used; the user hears of
// it once, as a warning. A file that another process has locked delays this one
// once, by a moment; rows that are to be written are kept in memory until it is
// free.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_DATABASEFILE_H
#define TESSERA_RUNTIME_DB_DATABASEFILE_H

#include "runtime/Db/Sqlite.h"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace tessera {

/// A file of tables and the connection to it. Readers and writers of its tables
/// share it; every method may be called from several threads, and other
/// processes may use the same file. The user's file is closed when the process
/// exits, whoever owns this object then, so that its journals are deleted.
class DatabaseFile {
public:
  using Work = std::function<Status(SqliteDatabase &)>;

  enum class Use {
    /// The user's file: created with its folder if it does not exist, migrated
    /// to the newest schema, put aside when it is damaged. It is opened for
    /// reading where nothing can be written.
    Cache,
    /// A package, which is never written. Nothing is written beside it either.
    Package,
    /// The file that a tool was told to work on: it must exist, and is never
    /// replaced.
    Named,
  };

  /// A file that cannot be used is closed from the start, after a warning
  /// (Named: only getFailure() tells).
  explicit DatabaseFile(std::string path, Use use = Use::Cache);

  /// A file of the user that must not be used because of `refusal`: closed,
  /// after a warning.
  DatabaseFile(std::string path, const Status &refusal);

  ~DatabaseFile();
  DatabaseFile(const DatabaseFile &) = delete;
  DatabaseFile &operator=(const DatabaseFile &) = delete;

  const std::string &getPath() const { return path; }
  bool isWritable() const { return use != Use::Package; }

  /// Whether the file can be used. True also while another process has locked
  /// it.
  bool isOpen();
  /// Whether another process has locked the file, so that rows that this one
  /// writes do not reach others yet.
  bool isLocked();
  /// Why the file is closed; ok while it is open.
  Status getFailure();

  /// Calls `work` with the connection, twice if the first time shows damage
  /// that could be repaired. Unavailable if the file is closed. A failure other
  /// than NotFound is reported to the user as "cannot <what>", the first time
  /// as a warning.
  Status run(const std::string &what, const Work &work);

  /// Like run(), for work that only writes and owns what it needs. If another
  /// process has locked the user's file, the work is postponed to the next call
  /// after the lock is free, or to the exit of the process. Ok if it is done.
  Status write(const std::string &what, Work work);

private:
  using Clock = std::chrono::steady_clock;
  struct Pending {
    std::string what;
    Work work;
  };

  Status openAsItIs();
  Status openCache(std::chrono::milliseconds patience, bool isDamaged = false);
  Status openFile(Clock::time_point end);
  Status openForReading(const Status &why);
  void openSnapshot();
  Status putAsideIfOurs();
  bool isOpenElsewhere(uint64_t number) const;

  Status runNow(const std::string &what, const Work &work);
  Status lockOut(const Status &why);
  void resume();
  void writePending();

  void close(const Status &why);
  void leave();
  static void leaveAll();
  bool isDamage(const Status &status) const;

  const std::string path;
  const pid_t owner; ///< The process that may use the connection.
  /// Changes only while the file is opened: a file of the user that cannot be
  /// written is read like a package.
  Use use;
  std::mutex mutex; ///< Guards what follows.
  std::optional<SqliteDatabase> database;
  Status failure; ///< Why there is no database, or only a snapshot.
  /// Inode of the file that we opened, which tells whether the file at `path`
  /// is still the same. 0 when it is closed. Other objects read it.
  std::atomic<uint64_t> inode = 0;
  bool hasWarned = false, hasWarnedOfLock = false;

  // These are used while another process has locked the file:
  bool isLockedOut = false;
  bool isSnapshot = false;   ///< `database` reads the file without its locks.
  Clock::time_point retryAt; ///< When the lock is tried again.
  std::deque<Pending> pending;
};

/// The lock file, whose bytes are locked by processes that use the database at
/// `path`.
std::string getLockFile(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_DATABASEFILE_H
