//===- DatabaseFile.h - One SQLite file that may break ---------*- C++ -*-===//
//
// An optimisation and never a reason to fail: whatever happens to the file, the
// answer is at worst "not found". A damaged file of the user is put aside and
// begun anew, a damaged package is not used; the user hears of it once, as a
// warning. A file that another process has locked costs a moment, once; what
// would be written is kept in memory until it is free.
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

/// A file of tables and the connection to it. Shared by those who read and
/// write its tables; every method may be called from several threads, and
/// other processes may use the same file. The user's file is closed when the
/// process exits, whoever owns this then, so that its journals go.
class DatabaseFile {
public:
  using Work = std::function<Status(SqliteDatabase &)>;

  enum class Use {
    /// The user's: made with its folder if it is not there, brought to the
    /// newest schema, put aside when it is damaged. Only read where nothing can
    /// be written.
    Cache,
    /// A package: nobody writes it. Nothing is written beside it either.
    Package,
    /// What a tool was told to work on: must be there, and is never replaced.
    Named,
  };

  /// A file that cannot be used is closed from the start, after a warning
  /// (Named: getFailure() alone tells).
  explicit DatabaseFile(std::string path, Use use = Use::Cache);

  /// A file of the user that must not be used: closed, after a warning.
  DatabaseFile(std::string path, const Status &refusal);

  ~DatabaseFile();
  DatabaseFile(const DatabaseFile &) = delete;
  DatabaseFile &operator=(const DatabaseFile &) = delete;

  const std::string &getPath() const { return path; }
  bool isWritable() const { return use != Use::Package; }

  /// Also while another process has locked the file.
  bool isOpen();
  /// Whether another process has locked the file, so that what this one makes
  /// reaches no other for now.
  bool isLocked();
  /// Why the file is closed; ok while it is open.
  Status getFailure();

  /// Calls `work` with the connection, twice if the first time shows damage
  /// that could be mended. Unavailable if the file is closed. A failure other
  /// than NotFound is told to the user as "cannot <what>", the first time as a
  /// warning.
  Status run(const std::string &what, const Work &work);

  /// The same for work that only writes and owns what it needs: in a file of
  /// the user that another process has locked it is done later, at the next
  /// call after the lock is gone or when the process exits. Ok if it is done.
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
  /// written is read as a package is.
  Use use;
  std::mutex mutex; ///< Guards what follows.
  std::optional<SqliteDatabase> database;
  Status failure; ///< Why there is no database, or only a snapshot.
  /// Of the file that we opened: tells whether that at `path` is still the
  /// same. 0 when it is closed. Read by other objects.
  std::atomic<uint64_t> inode = 0;
  bool hasWarned = false, hasWarnedOfLock = false;

  // While another process has locked the file:
  bool isLockedOut = false;
  bool isSnapshot = false;   ///< `database` reads the file without its locks.
  Clock::time_point retryAt; ///< When the lock is tried again.
  std::deque<Pending> pending;
};

/// The file whose bytes processes lock that use the database at `path`.
std::string getLockFile(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_DATABASEFILE_H
