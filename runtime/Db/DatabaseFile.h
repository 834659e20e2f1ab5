//===- DatabaseFile.h - One SQLite file that may break ---------*- C++ -*-===//
//
// An optimisation and never a reason to fail: whatever happens to the file, the
// answer is at worst "not found". A damaged file of the user is put aside and
// begun anew, a damaged package is not used; the user hears of it once, as a
// warning.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_DATABASEFILE_H
#define TESSERA_RUNTIME_DB_DATABASEFILE_H

#include "runtime/Db/Sqlite.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace tessera {

/// A file of tables and the connection to it. Shared by those who read and
/// write its tables; every method may be called from several threads, and
/// other processes may use the same file.
class DatabaseFile {
public:
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

  const std::string &getPath() const { return path; }
  bool isWritable() const { return use != Use::Package; }

  bool isOpen();
  /// Why the file is closed; ok while it is open.
  Status getFailure();

  /// Calls `work` with the connection, twice if the first time shows damage
  /// that could be mended. Unavailable if the file is closed. A failure other
  /// than NotFound is told to the user as "cannot <what>", the first time as a
  /// warning.
  Status run(const std::string &what,
             const std::function<Status(SqliteDatabase &)> &work);

private:
  Status tryOpen();
  Status openCache();
  Status openForReading(const Status &why);
  Status putAsideIfOurs();
  Status replaceDamagedFile();
  void close(const Status &why);
  bool isDamage(const Status &status) const;

  const std::string path;
  /// Changes only while the file is opened: a file of the user that cannot be
  /// written is read as a package is.
  Use use;
  std::mutex mutex; ///< Guards what follows.
  std::optional<SqliteDatabase> database;
  Status failure; ///< Why there is no database.
  /// Tells whether the file at `path` is still the one that we opened.
  uint64_t inode = 0;
  bool hasWarned = false;
};

/// The file whose bytes processes lock that use the database at `path`.
std::string getLockFile(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_DATABASEFILE_H
