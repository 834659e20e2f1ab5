//===- PackageWriter.cpp - Kernels to ship --------------------------------===//

#include "runtime/Db/PackageWriter.h"

#include "runtime/Db/KernelRow.h"
#include "runtime/Db/Schema.h"
#include "runtime/Db/TuningRow.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

using namespace tessera;
namespace fs = std::filesystem;

PackageWriter::PackageWriter(std::string path, std::string unfinished,
                             SqliteDatabase database)
    : path(std::move(path)), unfinished(std::move(unfinished)),
      database(std::move(database)) {}

PackageWriter::~PackageWriter() {
  database.reset();
  std::error_code error;
  fs::remove(unfinished, error);
}

ErrorOr<std::unique_ptr<PackageWriter>>
PackageWriter::create(const std::string &path) {
  const std::string unfinished =
      path + ".unfinished-" + std::to_string(getpid());
  std::error_code error;
  fs::remove(unfinished, error); // Left by a dead process with our number.
  ErrorOr<SqliteDatabase> database = SqliteDatabase::open(unfinished);
  if (!database)
    return database.getStatus();
  std::unique_ptr<PackageWriter> writer(
      new PackageWriter(path, unfinished, std::move(*database)));
  // A crash loses the unfinished file anyway, so no journal is kept; one
  // transaction holds all rows.
  SqliteDatabase &file = *writer->database;
  Status status = file.execute("PRAGMA journal_mode = OFF;"
                               "PRAGMA synchronous = OFF");
  if (status.isOk())
    status = migrate(file);
  if (status.isOk())
    status = file.execute("BEGIN");
  if (!status.isOk())
    return status.withContext("cannot write '" + path + "'");
  return writer;
}

Status PackageWriter::add(const KernelKey &key, const Kernel &kernel) {
  return writeKernelRow(*database, key, kernel).withContext(path);
}

Status PackageWriter::add(const KernelRow &row) {
  return writeKernelRow(*database, row).withContext(path);
}

Status PackageWriter::add(const TuningKey &key, const Tuning &tuning) {
  return writeTuningRow(*database, key, tuning).withContext(path);
}

static Status flushFile(const std::string &path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  const bool isDone = file >= 0 && fsync(file) == 0;
  const int failure = errno;
  if (file >= 0)
    close(file);
  if (isDone)
    return Status::ok();
  return unavailable(std::string("cannot flush: ") + strerror(failure));
}

Status PackageWriter::complete() {
  if (Status status = database->execute("COMMIT; VACUUM"); !status.isOk())
    return status;
  database.reset();
  if (Status status = flushFile(unfinished); !status.isOk())
    return status;
  std::error_code error;
  fs::rename(unfinished, path, error);
  if (error)
    return unavailable("cannot rename: " + error.message());
  return Status::ok();
}

Status PackageWriter::finish() {
  return complete().withContext("cannot complete '" + path + "'");
}
