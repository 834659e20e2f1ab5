//===- KernelDatabase.cpp - Kernels that outlive the process --------------===//

#include "runtime/Db/KernelDatabase.h"

#include "runtime/Base/Log.h"
#include "runtime/Db/KernelRow.h"

#include <set>

using namespace tessera;

KernelDatabase::KernelDatabase(std::shared_ptr<DatabaseFile> file)
    : file(std::move(file)) {}

void KernelDatabase::deleteRows(const KernelKey &key,
                                const std::vector<int64_t> &ids) {
  const bool isWritable = file->isWritable();
  if (isWritable || !hasWarned.exchange(true))
    logMessage(LogLevel::Warning,
               "a stored kernel has a wrong checksum and is " +
                   std::string(isWritable ? "deleted" : "not used") + ": " +
                   key.networkConfig + " in " + getPath());
  if (!isWritable)
    return;
  (void)file->run("delete a kernel", [&](SqliteDatabase &database) {
    for (int64_t id : ids)
      if (Status status = deleteKernelRow(database, id); !status.isOk())
        return status;
    return Status::ok();
  });
}

std::optional<Kernel> KernelDatabase::find(const KernelKey &key) {
  std::optional<Kernel> found;
  std::vector<int64_t> wrongRows;
  (void)file->run("find a kernel", [&](SqliteDatabase &database) {
    wrongRows.clear();
    ErrorOr<Kernel> kernel = readKernelRow(database, key, wrongRows);
    if (kernel)
      found = std::move(*kernel);
    return kernel.getStatus();
  });
  if (!wrongRows.empty())
    deleteRows(key, wrongRows);
  return found;
}

void KernelDatabase::store(const KernelKey &key, const Kernel &kernel) {
  if (!file->isWritable())
    return;
  (void)file->write("store a kernel", [key, kernel](SqliteDatabase &database) {
    Status status = database.transact(
        [&] { return writeKernelRow(database, key, kernel); });
    if (!status.isOk())
      return status;
    // A damaged index can hide rows without an error.
    std::vector<int64_t> wrongRows;
    status = readKernelRow(database, key, wrongRows).getStatus();
    return status.getCode() == StatusCode::NotFound
               ? internalError("what was stored is not found")
               : status;
  });
}

void KernelDatabase::remove(const KernelKey &key) {
  if (!file->isWritable())
    return;
  (void)file->write("delete kernels", [key](SqliteDatabase &database) {
    std::vector<int64_t> ids;
    Status status =
        visitKernelRows(database, key.networkConfig, [&](KernelRow &row) {
          if (isAnswer(row, key))
            ids.push_back(row.id);
          return Visit::Continue;
        });
    for (int64_t id : ids)
      if (status.isOk())
        status = deleteKernelRow(database, id);
    return status;
  });
}

//===----------------------------------------------------------------------===//
// Why nothing was found
//===----------------------------------------------------------------------===//

namespace {
/// The reasons why the rows of a problem are not the answer.
struct Obstacles {
  bool isFound = false;
  std::string fault;
  std::set<std::string> targets, revisions, formats;

  void add(const KernelRow &row, const KernelKey &key) {
    if (row.key.target != key.target)
      targets.insert(row.key.target);
    else if (!row.fault.empty())
      fault = row.fault;
    else if (row.format != kKernelFormat)
      formats.insert(std::to_string(row.format));
    else if (!isAnswer(row, key))
      revisions.insert(row.key.revision);
    else
      isFound = true;
  }

  /// Describes the obstacle of the row that is nearest to an answer.
  std::string toText(const KernelKey &key) const;
};
} // namespace

static std::string join(const std::set<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string Obstacles::toText(const KernelKey &key) const {
  if (isFound)
    return "found";
  if (!fault.empty())
    return "damaged: there is a kernel, but " + fault;
  if (!revisions.empty())
    return "other revision: there are kernels of " + join(revisions) +
           ", but this compiler is " + key.revision;
  if (!formats.empty())
    return "other format: there are kernels of format " + join(formats) +
           ", but this library launches format " +
           std::to_string(kKernelFormat);
  if (!targets.empty())
    return "other target: there are kernels for " + join(targets) +
           ", but none for " + key.target;
  return "no row: there is no kernel for this problem";
}

std::string KernelDatabase::explain(const KernelKey &key) {
  Obstacles obstacles;
  Status status = file->run("explain a kernel", [&](SqliteDatabase &database) {
    obstacles = {};
    return visitKernelRows(database, key.networkConfig, [&](KernelRow &row) {
      obstacles.add(row, key);
      return Visit::Continue;
    });
  });
  if (!status.isOk())
    return "closed: " + status.getMessage();
  return obstacles.toText(key);
}
